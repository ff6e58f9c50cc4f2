//! Amounts per time.

/// Bits per second of `bytes` in `time_ns`; 0 without time.
pub fn bits_per_second(bytes: u64, time_ns: u64) -> f64 {
    ratio(bytes as f64 * 8e9, time_ns as f64)
}

/// `amount / of`, 0 where there is nothing to divide by.
pub fn ratio(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 0.0 }
}
