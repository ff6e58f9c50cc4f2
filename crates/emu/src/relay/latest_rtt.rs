//! The latest RTT sample of a flow, for others to look at.

use std::sync::atomic::{AtomicU64, Ordering};

/// The latest sample of a flow, and whether it is another one than when last looked at.
#[derive(Debug, Default)]
pub(crate) struct LatestRtt {
    /// The sample in µs; above it the lowest bits of the number of samples.
    stamp: AtomicU64,
}

/// When a sample was taken, compared with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// The sample, µs; 0 before the first.
    pub(crate) fn rtt_us(self) -> u32 {
        self.0 as u32
    }
}

impl LatestRtt {
    /// `rtt_us` is the sample with this number.
    #[inline]
    pub(crate) fn note(&self, rtt_us: u32, number: u64) {
        let stamp = (number << 32) | u64::from(rtt_us);
        self.stamp.store(stamp, Ordering::Relaxed);
    }

    /// The latest sample.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp(self.stamp.load(Ordering::Relaxed))
    }

    /// The latest sample, µs; 0 before the first.
    pub(crate) fn rtt_us(&self) -> u32 {
        self.stamp().rtt_us()
    }

    /// The latest sample, µs; 0 if it is the one of `seen`, which it then becomes.
    pub(crate) fn new_rtt_us(&self, seen: &mut Stamp) -> u32 {
        let stamp = self.stamp();
        if std::mem::replace(seen, stamp) == stamp {
            0
        } else {
            stamp.rtt_us()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LatestRtt, Stamp};

    #[test]
    fn a_sample_is_new_once_and_one_of_the_same_length_is_new_again() {
        let (latest, mut seen) = (LatestRtt::default(), Stamp::default());
        assert_eq!(latest.new_rtt_us(&mut seen), 0);
        latest.note(30_000, 1);
        assert_eq!(latest.new_rtt_us(&mut seen), 30_000);
        assert_eq!(latest.new_rtt_us(&mut seen), 0, "nothing was measured");
        assert_eq!(latest.rtt_us(), 30_000, "it is still the latest");
        latest.note(30_000, 2);
        assert_eq!(latest.new_rtt_us(&mut seen), 30_000);
    }
}
