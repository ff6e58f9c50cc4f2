//! Histograms of times.

use hdrhistogram::Histogram;

/// A histogram of µs up to 10,000 s with a relative error of 1 %.
pub fn histogram_us() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 10_000_000_000, 2).expect("the bounds are valid")
}

/// The value that a share `quantile` of the samples does not exceed; 0 without samples.
pub fn quantile(histogram: &Histogram<u32>, quantile: f64) -> u64 {
    histogram.value_at_quantile(quantile)
}
