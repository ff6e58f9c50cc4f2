//! Histograms of times in µs, counted once a packet. Where nanoseconds or captures are counted,
//! `hdrhistogram` does it, with a precision and a range of choice, at four times the instructions.

/// Buckets per doubling of the time: a bucket is at most 1/128 of its times wide.
const PER_DOUBLING: u64 = 128;
/// Longer times count as this, µs: 4.8 hours, four times what an RTT sample can be (32 bits).
const LONGEST_US: u64 = (1 << 34) - 1;
/// Counts begin and end at multiples of this many buckets: two cache lines.
const BUCKETS_PER_STEP: usize = 32;

/// How often each time occurred, µs, with a relative error below 1 %: of a time's binary digits
/// the highest eight count. It keeps counts only from the shortest to the longest time that
/// occurred: among many flows memory is what each of them costs.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Bucket of the first of `counts`.
    first: usize,
    counts: Vec<u32>,
}

impl Histogram {
    /// A histogram of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a time.
    #[inline]
    pub fn record(&mut self, time_us: u64) {
        let index = index_of(time_us.min(LONGEST_US));
        let place = index.wrapping_sub(self.first);
        match self.counts.get_mut(place) {
            Some(count) => *count = count.saturating_add(1),
            None => self.record_outside(index),
        }
    }

    /// What a time is counted in.
    #[inline]
    pub fn count_of(&self, time_us: u64) -> Option<&u32> {
        let index = index_of(time_us.min(LONGEST_US));
        self.counts.get(index.wrapping_sub(self.first))
    }

    /// Counts a time for whose bucket there is no count yet.
    #[cold]
    fn record_outside(&mut self, index: usize) {
        let step = index - index % BUCKETS_PER_STEP;
        let kept = self.first..self.first + self.counts.len();
        let (first, end) = if kept.is_empty() {
            (step, step + BUCKETS_PER_STEP)
        } else {
            (kept.start.min(step), kept.end.max(step + BUCKETS_PER_STEP))
        };
        let mut counts = vec![0; end - first];
        if !kept.is_empty() {
            counts[kept.start - first..kept.end - first].copy_from_slice(&self.counts);
        }
        counts[index - first] = 1;
        (self.first, self.counts) = (first, counts);
    }

    /// Adds what another has counted.
    pub fn add(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        let end = |of: &Self| of.first + of.counts.len();
        let (first, end) = match self.counts.is_empty() {
            true => (other.first, end(other)),
            false => (self.first.min(other.first), end(self).max(end(other))),
        };
        let mut counts = vec![0_u32; end - first];
        for each in [&*self, other] {
            for (bucket, &count) in (each.first..).zip(&each.counts) {
                counts[bucket - first] = counts[bucket - first].saturating_add(count);
            }
        }
        (self.first, self.counts) = (first, counts);
    }

    /// Number of times counted.
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
        index.map_or(0, |index| {
            longest_of((self.first + index) as u64).min(max_us)
        })
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
    fn counts_are_kept_from_the_shortest_to_the_longest_time_only() {
        let mut histogram = Histogram::new();
        for (time_us, buckets) in [(50_000, 32), (50_100, 32), (60_000, 64), (40_000, 128)] {
            histogram.record(time_us);
            assert_eq!(histogram.counts.len(), buckets, "with {time_us} µs");
        }
        assert_eq!(histogram.count(), 4);
        let is_close = |quantile, time_us: u64| {
            (time_us..time_us + time_us / PER_DOUBLING + 1)
                .contains(&histogram.quantile(quantile, u64::MAX))
        };
        assert!(is_close(0.25, 40_000) && is_close(0.5, 50_000));
        assert!(is_close(0.75, 50_100) && is_close(1.0, 60_000));
    }

    #[test]
    fn what_two_have_counted_is_what_one_would_have() {
        let (low, high) = ([40_000, 41_000, 55_000], [50_000, 900_000, u64::MAX]);
        let of = |times_us: &[u64]| {
            let mut histogram = Histogram::new();
            times_us.iter().for_each(|&us| histogram.record(us));
            histogram
        };
        let quantiles = |histogram: &Histogram| {
            [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|of| histogram.quantile(of, u64::MAX))
        };
        let expected = quantiles(&of(&[low, high].concat()));
        for (one, other) in [(&low[..], &high[..]), (&high, &low)] {
            let mut sum = of(one);
            sum.add(&of(other));
            sum.add(&Histogram::new());
            assert_eq!((sum.count(), quantiles(&sum)), (6, expected));
            let mut empty = Histogram::new();
            empty.add(&sum);
            assert_eq!((empty.count(), quantiles(&empty)), (6, expected));
        }
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
