//! A bucket of tokens.

const NS_PER_S: u64 = 1_000_000_000;

/// A bucket of tokens in bits/10⁹, exact at every rate; Linux's, in whole ns, are off by less than one
/// per packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    rate_bps: u64,
    size_nbits: i128,
    pub(crate) tokens_nbits: i128,
}

/// Converts bytes to bits/10⁹.
pub(crate) fn nbits(bytes: u64) -> i128 {
    i128::from(bytes) * 8 * i128::from(NS_PER_S)
}

impl TokenBucket {
    /// A full one.
    pub(crate) fn new(rate_bps: u64, size_bytes: u64) -> Self {
        Self {
            rate_bps,
            size_nbits: nbits(size_bytes),
            tokens_nbits: nbits(size_bytes),
        }
    }

    /// What flows in within `elapsed_ns`.
    pub(crate) fn fill(&mut self, elapsed_ns: u64) {
        let new_nbits = i128::from(elapsed_ns) * i128::from(self.rate_bps);
        self.tokens_nbits = (self.tokens_nbits + new_nbits).min(self.size_nbits);
    }

    /// How long it takes until it has tokens for `bytes`, ns.
    pub(crate) fn wait_ns(&self, bytes: u64) -> u64 {
        let missing = (nbits(bytes) - self.tokens_nbits).max(0) as u128;
        missing.div_ceil(u128::from(self.rate_bps)) as u64
    }
}
