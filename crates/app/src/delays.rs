//! Delays of many packets or messages.

use dumbbell_net::Histogram;

const NS_PER_US: u64 = 1000;

/// One-way delays, and how they vary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    histogram: Histogram,
    sum_us: u64,
    max_us: u64,
    last_ns: Option<u64>,
    /// 16 times the jitter, ns.
    jitter_16_ns: u64,
}

impl Delays {
    pub(crate) fn record(&mut self, delay_ns: u64) {
        let delay_us = delay_ns / NS_PER_US;
        self.histogram.record(delay_us);
        self.sum_us += delay_us;
        self.max_us = self.max_us.max(delay_us);
        if let Some(last_ns) = self.last_ns.replace(delay_ns) {
            // RFC 3550 §6.4.1, as in A.8: J += (|D| − J)/16.
            let decay_ns = (self.jitter_16_ns + 8) >> 4;
            self.jitter_16_ns = self.jitter_16_ns - decay_ns + delay_ns.abs_diff(last_ns);
        }
    }

    /// The time that a share of the delays does not exceed, µs.
    pub(crate) fn quantile_us(&self, quantile: f64) -> u64 {
        self.histogram.quantile(quantile, self.max_us)
    }

    /// Interarrival jitter (RFC 3550 §6.4.1), µs.
    pub(crate) fn jitter_us(&self) -> u64 {
        (self.jitter_16_ns >> 4) / NS_PER_US
    }

    /// Delays in the form in which an application measures them; empty where nothing arrived.
    pub(crate) fn measurements(&self) -> Vec<(&'static str, i64)> {
        let count = self.histogram.count();
        let Some(mean_us) = self.sum_us.checked_div(count) else {
            return Vec::new();
        };
        [
            ("one_way_delay_mean_us", mean_us),
            ("one_way_delay_p50_us", self.quantile_us(0.5)),
            ("one_way_delay_p95_us", self.quantile_us(0.95)),
            ("one_way_delay_p99_us", self.quantile_us(0.99)),
            ("one_way_delay_max_us", self.max_us),
            ("jitter_us", self.jitter_us()),
        ]
        .map(|(name, value)| (name, value.cast_signed()))
        .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of 20 and 30 ms in turn differ by 10 ms each: the jitter goes there, by a sixteenth of
    /// what is missing at a time.
    #[test]
    fn jitter_is_the_smoothed_difference_of_delays() {
        let mut delays = Delays::default();
        for number in 0..=16_u64 {
            delays.record(20_000_000 + number % 2 * 10_000_000);
        }
        let expected_us = 10_000.0 * (1.0 - (15.0_f64 / 16.0).powi(16));
        assert!((delays.jitter_us() as f64 - expected_us).abs() <= 1.0);
        for number in 0..1000_u64 {
            delays.record(20_000_000 + number % 2 * 10_000_000);
        }
        assert!((9_999..=10_000).contains(&delays.jitter_us()));
        let measurements = delays.measurements();
        assert_eq!(measurements[2], ("one_way_delay_p95_us", 30_000));
        assert_eq!(measurements[4], ("one_way_delay_max_us", 30_000));
    }

    #[test]
    fn a_constant_delay_has_no_jitter_and_no_delays_have_no_measurements() {
        let mut delays = Delays::default();
        assert_eq!(delays.measurements(), []);
        (0..100).for_each(|_| delays.record(40_000_000));
        assert_eq!(delays.jitter_us(), 0);
        assert_eq!(delays.quantile_us(0.5), 40_000);
    }
}
