//! Times of probes.

/// Share of the times, the longest ones, that a mean leaves out, in percent.
const TRIMMED_PERCENT: usize = 5;
const US_PER_MIN: u64 = 60_000_000;

/// Times of probes of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    times_us: Vec<u64>,
}

impl RoundTrips {
    pub(super) fn add(&mut self, time_ns: u64) {
        self.times_us.push(time_ns / 1000);
    }

    /// The mean without the longest 5 %, µs.
    pub(super) fn trimmed_mean_us(&self) -> Option<u64> {
        let mut times_us = self.times_us.clone();
        times_us.sort_unstable();
        let kept = times_us.len() - times_us.len() * TRIMMED_PERCENT / 100;
        times_us[..kept]
            .iter()
            .sum::<u64>()
            .checked_div(kept as u64)
    }
}

/// How many round trips of `time_us` fit in a minute.
pub(super) fn per_minute(time_us: u64) -> u64 {
    US_PER_MIN / time_us.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_twentieth_is_left_out() {
        let mut round_trips = RoundTrips::default();
        assert_eq!(round_trips.trimmed_mean_us(), None);
        (0..95).for_each(|_| round_trips.add(20_000_000));
        (0..5).for_each(|_| round_trips.add(9_000_000_000));
        assert_eq!(round_trips.trimmed_mean_us(), Some(20_000));
        assert_eq!(per_minute(20_000), 3000);
    }
}
