//! A distribution by points of its cumulative distribution function.

use dumbbell_declare::settings;

use super::{DistributionSettings, Quantiles};

settings! {
    /// Points of a cumulative distribution function, linear in between: of a file with a value and the
    /// share up to it in each line.
    pub struct Config {
        /// Values, and the shares up to them.
        points: Vec<(u64, u64)> = Vec::new();
    }
}

/// All, in parts per billion.
pub(super) const ALL_PPB: u64 = 1_000_000_000;
/// Largest value of a point.
const MAX: u64 = 1 << 50;

impl DistributionSettings for Config {
    fn check_together(&self) -> Result<(), String> {
        let Some(&(largest, all_ppb)) = self.points.last() else {
            return Err("there are no points; give at least one".to_owned());
        };
        for pair in self.points.windows(2) {
            let ((before, before_ppb), (after, after_ppb)) = (pair[0], pair[1]);
            if after < before || after_ppb < before_ppb {
                return Err(format!(
                    "the points {before} ({before_ppb} ppb) and {after} ({after_ppb} ppb) are not in \
                     order; sort them by value, with shares that do not fall"
                ));
            }
        }
        if all_ppb != ALL_PPB {
            return Err(format!(
                "the shares end at {all_ppb} ppb, not at {ALL_PPB}; the last point must have share 1"
            ));
        }
        if largest == 0 || largest > MAX {
            return Err(format!("the largest value is {largest}; use 1 to {MAX}"));
        }
        Ok(())
    }

    fn quantiles(&self) -> Box<dyn Quantiles> {
        Box::new(Points {
            points: self.points.clone().into(),
        })
    }
}

/// Points, in order; the last has all.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) points: std::borrow::Cow<'static, [(u64, u64)]>,
}

impl Quantiles for Points {
    fn at(&self, rank: u64) -> u64 {
        // In parts per billion, with 64 binary places.
        let share = u128::from(rank) * u128::from(ALL_PPB);
        let is_within = |&(_, share_ppb): &(u64, u64)| u128::from(share_ppb) << 64 <= share;
        let above = self.points.partition_point(is_within);
        let after = self.points[above.min(self.points.len() - 1)];
        let Some(before) = above.checked_sub(1).map(|index| self.points[index]) else {
            return after.0;
        };
        let width_ppb = u128::from(after.1 - before.1).max(1);
        let place = (share - (u128::from(before.1) << 64)) / width_ppb;
        let half = 1 << 63;
        before.0 + ((place * u128::from(after.0 - before.0) + half) >> 64) as u64
    }

    fn known_mean_milli(&self) -> Option<u128> {
        let atom = self
            .points
            .first()
            .map(|&(value, ppb)| 2 * u128::from(value) * u128::from(ppb));
        let pieces = self.points.windows(2).map(|pair| {
            let ((before, before_ppb), (after, after_ppb)) = (pair[0], pair[1]);
            (u128::from(before) + u128::from(after)) * u128::from(after_ppb - before_ppb)
        });
        let twice: u128 = atom.into_iter().chain(pieces).sum();
        Some(twice * 500 / u128::from(ALL_PPB))
    }
}
