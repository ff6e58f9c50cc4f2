//! What was measured of round trips.

use dumbbell_cc::fetch;
use dumbbell_net::Histogram;

/// RTT samples of a flow.
#[derive(Clone, Debug)]
pub(crate) struct RttMeter {
    pub(crate) rtt_us: Histogram,
    pub(crate) sum_us: u64,
    /// Extremes, exact; `u32::MAX` and 0 without a sample.
    pub(crate) min_us: u32,
    pub(crate) max_us: u32,
}

impl RttMeter {
    /// No sample yet.
    pub(crate) fn new() -> Self {
        Self {
            rtt_us: Histogram::new(),
            sum_us: 0,
            min_us: u32::MAX,
            max_us: 0,
        }
    }

    /// Asks for the memory in which a sample like `rtt_us` is counted.
    #[inline]
    pub(crate) fn fetch_ahead(&self, rtt_us: u32) {
        if let Some(count) = self.rtt_us.count_of(u64::from(rtt_us)) {
            fetch(count);
        }
    }

    /// Notes a sample.
    #[inline]
    pub(crate) fn note(&mut self, rtt_us: u32) {
        self.sum_us += u64::from(rtt_us);
        self.min_us = self.min_us.min(rtt_us);
        self.max_us = self.max_us.max(rtt_us);
        self.rtt_us.record(u64::from(rtt_us));
    }
}
