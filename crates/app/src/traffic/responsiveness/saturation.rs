//! When a load fills a link: its goodput no longer changes.

/// Intervals of a moving average, and moving averages that are compared.
const DISTANCE: usize = 4;
/// Largest standard deviation of these, in percent of the latest.
const TOLERANCE_PERCENT: u128 = 5;

/// Goodput by intervals.
#[derive(Clone, Debug, Default)]
pub(super) struct Saturation {
    /// Bytes of the last intervals, the latest last.
    intervals_bytes: Vec<u64>,
    /// Sums over the last intervals, which are moving averages, bytes.
    sums_bytes: Vec<u64>,
}

impl Saturation {
    /// Ends an interval in which `bytes` arrived; returns whether the goodput is stable.
    pub(super) fn add_interval(&mut self, bytes: u64) -> bool {
        push_latest(&mut self.intervals_bytes, bytes);
        if self.intervals_bytes.len() == DISTANCE {
            push_latest(&mut self.sums_bytes, self.intervals_bytes.iter().sum());
        }
        self.sums_bytes.len() == DISTANCE && self.is_stable()
    }

    /// n·Σx² − (Σx)² is n² times the variance: compared without dividing.
    fn is_stable(&self) -> bool {
        let count = self.sums_bytes.len() as u128;
        let sums = self.sums_bytes.iter().map(|&bytes| u128::from(bytes));
        let sum: u128 = sums.clone().sum();
        let squares: u128 = sums.map(|bytes| bytes * bytes).sum();
        let variance = count * squares - sum * sum;
        let latest = u128::from(self.sums_bytes[self.sums_bytes.len() - 1]);
        let tolerated = count * latest * TOLERANCE_PERCENT;
        latest > 0 && variance * 100 * 100 < tolerated * tolerated
    }
}

/// Keeps as many as are compared.
fn push_latest(values: &mut Vec<u64>, value: u64) {
    if values.len() == DISTANCE {
        values.remove(0);
    }
    values.push(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a goodput was found to be stable, by intervals.
    fn stable_after(intervals_bytes: impl IntoIterator<Item = u64>) -> Option<usize> {
        let mut saturation = Saturation::default();
        intervals_bytes
            .into_iter()
            .position(|bytes| saturation.add_interval(bytes))
    }

    #[test]
    fn a_constant_goodput_is_stable_once_four_averages_are_known() {
        assert_eq!(stable_after([1_000_000; 20]), Some(6));
        assert_eq!(stable_after([0; 20]), None);
    }

    #[test]
    fn a_goodput_that_grows_is_not() {
        assert_eq!(
            stable_after((1..20).map(|interval| interval * 1_000_000)),
            None
        );
        // It doubles from 1 to 16 and stays: four sums that differ by little take seven intervals of 16.
        let growing = [1, 2, 4, 8].into_iter().chain([16; 20]);
        assert!(stable_after(growing).is_some_and(|after| after >= 4 + 6 - 1));
    }
}
