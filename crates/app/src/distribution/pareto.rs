//! The Pareto distribution.

use dumbbell_declare::settings;

use super::{DistributionSettings, Quantiles, truncated::truncated};
use crate::fixed_point::{minus_log2_above, times_power_of_2};

settings! {
    /// Pareto: a share of (scale/x)^shape is larger than x.
    pub struct Config {
        /// Shape; the smaller, the heavier the tail. There is a mean only above 1, or with a `max`.
        shape_milli: u64 = 0, in 100..=100_000;
        /// Smallest value.
        scale: u64 = 0, in 1..=1 << 50;
        /// Larger values are drawn again.
        max: Option<u64> = None, in 1..=1 << 50;
        /// Whether the smallest value is subtracted from each, so that they begin at 0.
        from_zero: bool = false;
    }
}

impl DistributionSettings for Config {
    fn check_together(&self) -> Result<(), String> {
        match self.max {
            None if self.shape_milli <= 1000 => Err(format!(
                "there is no mean with `shape_milli` {}; use more than 1000, or set `max`",
                self.shape_milli
            )),
            Some(max) if max <= self.scale => Err(format!(
                "`max` is {max}; use more than `scale`, {}",
                self.scale
            )),
            _ => Ok(()),
        }
    }

    fn quantiles(&self) -> Box<dyn Quantiles> {
        let pareto = Pareto {
            shape_milli: self.shape_milli,
            scale: self.scale,
        };
        if self.from_zero {
            Box::new(FromZero {
                values: truncated(pareto, None, self.max),
                scale: self.scale,
            })
        } else {
            truncated(pareto, None, self.max)
        }
    }
}

#[derive(Debug)]
struct Pareto {
    shape_milli: u64,
    scale: u64,
}

impl Quantiles for Pareto {
    fn at(&self, rank: u64) -> u64 {
        let exponent = minus_log2_above(rank) * 1000 / i128::from(self.shape_milli);
        times_power_of_2(self.scale, exponent)
    }

    fn known_mean_milli(&self) -> Option<u128> {
        let above_1 = u128::from(self.shape_milli.checked_sub(1000)?);
        let product = u128::from(self.scale) * u128::from(self.shape_milli) * 1000;
        product.checked_div(above_1)
    }
}

#[derive(Debug)]
struct FromZero {
    values: Box<dyn Quantiles>,
    scale: u64,
}

impl Quantiles for FromZero {
    fn at(&self, rank: u64) -> u64 {
        self.values.at(rank) - self.scale
    }

    fn known_mean_milli(&self) -> Option<u128> {
        let mean_milli = self.values.known_mean_milli()?;
        Some(mean_milli - u128::from(self.scale) * 1000)
    }
}
