//! Histograms of times in µs, counted once a packet. Where nanoseconds or captures are counted,
//! `hdrhistogram` does it, with a precision and a range of choice, at four times the instructions.

/// Buckets per doubling of the time: a bucket is at most 1/128 of its times wide.
const PER_DOUBLING: u64 = 128;
/// Longer times count as this, µs: 4.8 hours, four times what an RTT sample can be (32 bits). A
/// doubling more would cost each flow 512 bytes.
const LONGEST_US: u64 = (1 << 34) - 1;

/// How often each time occurred, µs, with a relative error below 1 %: of a time's binary digits
/// the highest eight count.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u32>,
}

impl Histogram {
    /// A histogram of nothing yet.
    pub fn new() -> Self {
        Self {
            counts: vec![0; index_of(LONGEST_US) + 1],
        }
    }

    /// Counts a time.
    #[inline]
    pub fn record(&mut self, time_us: u64) {
        let count = &mut self.counts[index_of(time_us.min(LONGEST_US))];
        *count = count.saturating_add(1);
    }

    /// Times counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The longest time of the bucket that a share `quantile` of the times does not exceed, µs, but
    /// no more than the longest that was recorded, `max_us`; 0 if there are none. It is never below
    /// the shortest, which is in that bucket or an earlier one.
    pub fn quantile(&self, quantile: f64, max_us: u64) -> u64 {
        let wanted = ((quantile * self.count() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let reaches = |&count: &u32| {
            seen += u64::from(count);
            seen >= wanted
        };
        let index = self.counts.iter().position(reaches);
        index.map_or(0, |index| longest_of(index as u64).min(max_us))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The bucket of a time: its eight highest binary digits, and above them how many follow.
#[inline]
fn index_of(time_us: u64) -> usize {
    let digits = u64::BITS - (time_us | PER_DOUBLING).leading_zeros();
    let dropped = digits - (2 * PER_DOUBLING).trailing_zeros();
    (u64::from(dropped) * PER_DOUBLING + (time_us >> dropped)) as usize
}

/// The longest time of a bucket, µs.
fn longest_of(index: u64) -> u64 {
    let dropped = (index / PER_DOUBLING).saturating_sub(1);
    ((index - dropped * PER_DOUBLING + 1) << dropped) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_where_the_next_begins_and_is_narrow() {
        for index in 0..index_of(LONGEST_US) {
            let longest_us = longest_of(index as u64);
            assert_eq!(index_of(longest_us), index);
            assert_eq!(index_of(longest_us + 1), index + 1);
        }
        for time_us in [255, 256, 1000, 40_000, 123_456_789] {
            let longest_us = longest_of(index_of(time_us) as u64);
            assert!(longest_us >= time_us && (longest_us - time_us) * PER_DOUBLING <= time_us);
        }
    }

    #[test]
    fn quantiles_are_of_the_times_counted() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.count(), histogram.quantile(0.5, 0)), (0, 0));
        (1..=200).for_each(|time_us| histogram.record(time_us));
        let quantiles = [0.0, 0.5, 0.95, 1.0].map(|quantile| histogram.quantile(quantile, 200));
        assert_eq!((histogram.count(), quantiles), (200, [1, 100, 190, 200]));
        histogram.record(u64::MAX);
        assert_eq!(histogram.quantile(1.0, u64::MAX), LONGEST_US);
    }

    #[test]
    fn no_quantile_is_outside_of_what_was_recorded() {
        for (min_us, max_us) in [
            (40_001, 40_001),
            (40_001, 40_003),
            (256, 257),
            (5, 1_000_000),
        ] {
            let mut histogram = Histogram::new();
            histogram.record(min_us);
            histogram.record(max_us);
            for quantile in [0.0, 0.5, 0.95, 0.99, 1.0] {
                let time_us = histogram.quantile(quantile, max_us);
                assert!((min_us..=max_us).contains(&time_us), "{time_us}");
            }
        }
    }
}
