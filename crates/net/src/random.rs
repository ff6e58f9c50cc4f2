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
}

/// splitmix64's finaliser: every bit of the result depends on every bit of `z`.
#[inline]
pub(crate) fn finalize(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
