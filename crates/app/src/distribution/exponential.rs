//! The exponential distribution.

use dumbbell_declare::settings;

use super::{DistributionSettings, Quantiles, truncated::truncated};
use crate::fixed_point::{ONE, minus_ln_above};

settings! {
    /// Exponentially distributed, as what happens independently is.
    pub struct Config {
        /// Mean.
        mean: u64 = 0, in 1..=1 << 50;
        /// Larger values are drawn again.
        max: Option<u64> = None, in 1..=1 << 50;
    }
}

impl DistributionSettings for Config {
    fn quantiles(&self) -> Box<dyn Quantiles> {
        truncated(Exponential { mean: self.mean }, None, self.max)
    }
}

#[derive(Debug)]
struct Exponential {
    mean: u64,
}

impl Quantiles for Exponential {
    fn at(&self, rank: u64) -> u64 {
        let value = i128::from(self.mean) * minus_ln_above(rank) + ONE / 2;
        u64::try_from(value / ONE).unwrap_or(u64::MAX)
    }

    fn known_mean_milli(&self) -> Option<u128> {
        Some(u128::from(self.mean) * 1000)
    }
}
