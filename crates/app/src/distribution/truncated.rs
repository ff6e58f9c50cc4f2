//! Distributions of which only a range is drawn.

use super::Quantiles;

/// A distribution without its values outside of a range: one of them is drawn again.
#[derive(Debug)]
struct Truncated<Q> {
    all: Q,
    /// First and last rank that are drawn.
    first: u64,
    last: u64,
}

impl<Q: Quantiles> Quantiles for Truncated<Q> {
    fn at(&self, rank: u64) -> u64 {
        let ranks = u128::from(self.last - self.first) + 1;
        let kept = (u128::from(rank) * ranks) >> 64;
        self.all.at(self.first + kept as u64)
    }
}

/// `all` without its values below `min` and above `max`.
pub(super) fn truncated<Q: Quantiles + 'static>(
    all: Q,
    min: Option<u64>,
    max: Option<u64>,
) -> Box<dyn Quantiles> {
    if min.is_none() && max.is_none() {
        return Box::new(all);
    }
    let first = min.map_or(0, |min| ranks_with(|rank| all.at(rank) < min));
    let end = max.map_or(u64::MAX, |max| ranks_with(|rank| all.at(rank) <= max));
    let last = end.saturating_sub(u64::from(max.is_some())).max(first);
    Box::new(Truncated { all, first, last })
}

/// How many ranks from 0 on are as `is_within` says; it is false from some rank on.
fn ranks_with(is_within: impl Fn(u64) -> bool) -> u64 {
    let (mut within, mut beyond) = (0_u128, u128::from(u64::MAX));
    while within < beyond {
        let middle = (within + beyond) / 2;
        if is_within(middle as u64) {
            within = middle + 1;
        } else {
            beyond = middle;
        }
    }
    within as u64
}
