//! The uniform distribution.

use dumbbell_declare::settings;

use super::{DistributionSettings, Quantiles};

settings! {
    /// Every value of a range is as likely as any other.
    pub struct Config {
        /// Smallest value.
        min: u64 = 0, in 0..=1 << 50;
        /// Largest value.
        max: u64 = 0, in 1..=1 << 50;
    }
}

impl DistributionSettings for Config {
    fn check_together(&self) -> Result<(), String> {
        if self.max < self.min {
            return Err(format!(
                "`max` is {}; use at least `min`, {}",
                self.max, self.min
            ));
        }
        Ok(())
    }

    fn quantiles(&self) -> Box<dyn Quantiles> {
        Box::new(Uniform {
            min: self.min,
            values: self.max - self.min + 1,
        })
    }
}

#[derive(Debug)]
struct Uniform {
    min: u64,
    values: u64,
}

impl Quantiles for Uniform {
    fn at(&self, rank: u64) -> u64 {
        self.min + ((u128::from(rank) * u128::from(self.values)) >> 64) as u64
    }

    fn known_mean_milli(&self) -> Option<u128> {
        Some((2 * u128::from(self.min) + u128::from(self.values) - 1) * 500)
    }
}
