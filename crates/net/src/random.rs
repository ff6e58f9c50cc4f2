//! Random numbers of an element: its own, so that they do not depend on what else is in the network.

/// Probability of one, in parts per billion.
pub(crate) const CERTAIN_PPB: u64 = 1_000_000_000;

/// splitmix64 (Steele, Lea, Flood 2014). Any seed is good.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        finalize(self.state)
    }

    /// A number from 0 to `bound` − 1; `bound` is not 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether something happens that has a probability of `ppb` parts per billion; what never happens or
    /// always does draws nothing.
    #[inline]
    pub(crate) fn happens(&mut self, ppb: u64) -> bool {
        ppb >= CERTAIN_PPB || ppb > 0 && self.below(CERTAIN_PPB) < ppb
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// An exponentially distributed time, ns, exact to 2⁻³².
    pub(crate) fn exponential_ns(&mut self, mean_ns: u64) -> u64 {
        let value = (u128::from(mean_ns) * u128::from(minus_ln_q32(self.bits()))) >> 32;
        value as u64
    }
}

/// −ln((`bits` + 1) / 2⁶⁴) in units of 2⁻³².
fn minus_ln_q32(bits: u64) -> u64 {
    /// ln 2 in units of 2⁻³².
    const LN_2_Q32: u128 = 2_977_044_472;
    let Some(value) = bits.checked_add(1) else {
        return 0;
    };
    let whole = u64::from(value.leading_zeros()) + 1;
    // log₂ of the mantissa, in [1, 2), a bit at a time: squaring doubles the logarithm.
    let mut mantissa = value << (whole - 1);
    let mut log2_q32 = 0_u64;
    for bit in (0..32).rev() {
        let square = u128::from(mantissa) * u128::from(mantissa);
        if square >> 127 == 1 {
            log2_q32 |= 1 << bit;
            mantissa = (square >> 64) as u64;
        } else {
            mantissa = (square >> 63) as u64;
        }
    }
    let log2 = (whole << 32) - log2_q32;
    ((u128::from(log2) * LN_2_Q32) >> 32) as u64
}

/// splitmix64's finaliser: every bit of the result depends on every bit of `z`.
#[inline]
pub(crate) fn finalize(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_exact_to_a_billionth() {
        let mut random = Random::new(1);
        for shift in 0..63 {
            let bits = random.bits() >> shift;
            let exact = -((bits as f64 + 1.0) / 2.0_f64.powi(64)).ln();
            let ours = minus_ln_q32(bits) as f64 / 2.0_f64.powi(32);
            assert!((ours - exact).abs() < 2e-8, "{bits}: {ours}, {exact}");
        }
        assert_eq!(minus_ln_q32(u64::MAX), 0);
    }

    /// The mean of 100,000 draws has a standard deviation of 0.32 %.
    #[test]
    fn exponential_times_have_their_mean() {
        let mut random = Random::new(7);
        let sum: u64 = (0..100_000).map(|_| random.exponential_ns(1_000_000)).sum();
        assert!((98_700_000_000..101_300_000_000).contains(&sum), "{sum}");
    }
}
