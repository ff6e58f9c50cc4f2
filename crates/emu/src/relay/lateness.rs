//! How late packets reach their hosts.

use hdrhistogram::Histogram;

/// Longest lateness that is distinguished, ns: a minute.
const MAX_NS: u64 = 60_000_000_000;

/// Lateness of every packet written: the time its write returned, less the time it was due. The
/// write includes what the host's TCP does with the packet.
///
/// Not in it: how long a packet waited between the host's TCP and the read that let it enter the
/// path. The device reports no time of arrival, and a thread that sleeps cannot know; the base RTT
/// measured by the calibration, and every RTT sample of TCP, contains it.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    histogram_ns: Histogram<u32>,
}

impl Lateness {
    /// Nothing written yet.
    pub(crate) fn new() -> Self {
        Self {
            histogram_ns: Histogram::new_with_bounds(1, MAX_NS, 2).expect("the bounds are valid"),
        }
    }

    /// A packet that was due at `due_ns` was written at `written_ns`.
    #[inline]
    pub(crate) fn note(&mut self, due_ns: u64, written_ns: u64) {
        self.histogram_ns
            .saturating_record(written_ns.saturating_sub(due_ns));
    }

    /// Adds the other direction's.
    pub(crate) fn add(&mut self, other: &Self) {
        self.histogram_ns
            .add(&other.histogram_ns)
            .expect("both have the same bounds");
    }

    /// Number of packets written.
    pub(crate) fn written_pkts(&self) -> u64 {
        self.histogram_ns.len()
    }

    /// The lateness that a share `quantile` of the packets did not exceed, µs; 0 without packets.
    pub(crate) fn quantile_us(&self, quantile: f64) -> f64 {
        if self.histogram_ns.is_empty() {
            return 0.0;
        }
        self.histogram_ns.value_at_quantile(quantile) as f64 / 1e3
    }

    /// Packets that were later than `lateness_ns`.
    pub(crate) fn later_than_pkts(&self, lateness_ns: u64) -> u64 {
        let in_time = self.histogram_ns.count_between(0, lateness_ns.min(MAX_NS));
        self.written_pkts().saturating_sub(in_time)
    }

    /// The largest, µs.
    pub(crate) fn max_us(&self) -> f64 {
        self.histogram_ns.max() as f64 / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_both_directions_together() {
        let (mut forward, mut reverse) = (Lateness::new(), Lateness::new());
        assert_eq!((forward.quantile_us(0.5), forward.max_us()), (0.0, 0.0));
        for _ in 0..99 {
            forward.note(1_000_000, 1_010_000);
        }
        reverse.note(1_000_000, 3_000_000);
        forward.add(&reverse);
        assert_eq!(forward.written_pkts(), 100);
        assert!((forward.quantile_us(0.5) - 10.0).abs() < 0.2);
        assert!((forward.max_us() - 2000.0).abs() < 20.0);
    }
}
