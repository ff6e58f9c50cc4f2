//! The lognormal distribution.

use dumbbell_declare::settings;

use super::{DistributionSettings, Quantiles, truncated::truncated};
use crate::fixed_point::{
    ONE, log2, normal_quantile, per_ln_2, ratio, square_root, times, times_power_of_2,
};

settings! {
    /// The logarithm is normally distributed: by mean and standard deviation, or by two percentiles.
    pub struct Config {
        /// Mean, before anything is drawn again.
        mean: Option<u64> = None, in 1..=1 << 50;
        /// Standard deviation, before anything is drawn again.
        sd: Option<u64> = None, in 1..=1 << 50;
        /// What 5 % do not exceed.
        p5: Option<u64> = None, in 1..=1 << 50;
        /// What 95 % do not exceed.
        p95: Option<u64> = None, in 1..=1 << 50;
        /// Smaller values are drawn again.
        min: Option<u64> = None, in 1..=1 << 50;
        /// Larger values are drawn again.
        max: Option<u64> = None, in 1..=1 << 50;
    }
}

/// Largest standard deviation, as a multiple of the mean.
const MAX_SD: u64 = 1 << 12;

impl DistributionSettings for Config {
    fn check_together(&self) -> Result<(), String> {
        match (self.mean, self.sd, self.p5, self.p95) {
            (Some(mean), Some(sd), None, None) if sd / mean >= MAX_SD => Err(format!(
                "`sd` is {sd}; use less than {MAX_SD} times the mean, {mean}"
            )),
            (Some(_), Some(_), None, None) => Ok(()),
            (None, None, Some(p5), Some(p95)) if p95 <= p5 => {
                Err(format!("`p95` is {p95}; use more than `p5`, {p5}"))
            }
            (None, None, Some(_), Some(_)) => Ok(()),
            _ => Err("set `mean` and `sd`, or `p5` and `p95`".to_owned()),
        }?;
        match (self.min, self.max) {
            (Some(min), Some(max)) if max <= min => {
                Err(format!("`max` is {max}; use more than `min`, {min}"))
            }
            _ => self.check_range(),
        }
    }

    fn quantiles(&self) -> Box<dyn Quantiles> {
        let of = |value: Option<u64>| log2(u128::from(value.unwrap_or(1).max(1)));
        let (median_log2, deviation_log2) = match (self.mean, self.sd) {
            (Some(mean), Some(sd)) => {
                // σ² = ln(1 + (sd/mean)²), the median is the mean·e^(−σ²/2).
                let relative = ratio(i128::from(sd), i128::from(mean.max(1)));
                let one_and_square = ONE + times(relative, relative);
                let variance_log2 = log2(one_and_square.unsigned_abs()) - log2(ONE.unsigned_abs());
                let median_log2 = of(self.mean) - variance_log2 / 2;
                (median_log2, square_root(per_ln_2(variance_log2)))
            }
            _ => {
                let (p5, p95) = (of(self.p5), of(self.p95));
                // The ranks of 5 % and 95 % are equally far from the median.
                let between = 2 * normal_quantile((u64::MAX / 20) * 19);
                ((p5 + p95) / 2, ratio(p95 - p5, between))
            }
        };
        let all = Lognormal {
            median_log2,
            deviation_log2,
        };
        truncated(all, self.min, self.max)
    }
}

impl Config {
    /// Refuses a range without values, of which none could be drawn.
    fn check_range(&self) -> Result<(), String> {
        let range = self.min.unwrap_or(0)..=self.max.unwrap_or(u64::MAX);
        let values = self.quantiles();
        if [0, u64::MAX]
            .iter()
            .all(|&rank| range.contains(&values.at(rank)))
        {
            return Ok(());
        }
        Err("no value is as large as `min` and as small as `max`; use a wider range".to_owned())
    }
}

/// Logarithms to base 2: of the median, and their standard deviation.
#[derive(Debug)]
struct Lognormal {
    median_log2: i128,
    deviation_log2: i128,
}

impl Quantiles for Lognormal {
    fn at(&self, rank: u64) -> u64 {
        let exponent = self.median_log2 + times(self.deviation_log2, normal_quantile(rank));
        times_power_of_2(1, exponent)
    }
}
