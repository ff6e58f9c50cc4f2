//! Round-trip times of a direction's data: samples, their distribution, and the estimator that its
//! sender would have.

use hdrhistogram::Histogram;

/// Significant digits of percentiles: within 1 %.
const SIGNIFICANT_DIGITS: u8 = 2;
/// This many samples are kept one by one before there is a histogram.
const MAX_FEW: usize = 16;
/// Longer samples are hardly round trips: 13 days.
const LONGEST_NS: u64 = 1 << 50;
/// RTO of a sender without a sample (RFC 6298 §2.1).
const INITIAL_RTO_NS: u64 = 1_000_000_000;
/// Smallest distance of the RTO from srtt: Linux's `TCP_RTO_MIN`; RFC 6298 §2.4 has 1 s for the
/// RTO.
const MIN_RTO_MARGIN_NS: u64 = 200_000_000;

/// Count, extremes and moments of samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttSummary {
    pub(crate) count: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    sum_ns: u128,
    /// Mean and sum of squared distances from it (Welford).
    mean_ns: f64,
    squares_ns2: f64,
}

impl RttSummary {
    #[inline]
    pub(crate) fn record(&mut self, rtt_ns: u64) {
        self.min_ns = if self.count == 0 {
            rtt_ns
        } else {
            self.min_ns.min(rtt_ns)
        };
        self.max_ns = self.max_ns.max(rtt_ns);
        self.count += 1;
        self.sum_ns += u128::from(rtt_ns);
        let distance = rtt_ns as f64 - self.mean_ns;
        self.mean_ns += distance / self.count as f64;
        self.squares_ns2 += distance * (rtt_ns as f64 - self.mean_ns);
    }

    /// Mean, if there is a sample.
    pub(crate) fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Sample standard deviation (n − 1), for two samples or more.
    pub(crate) fn stddev_ns(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares_ns2 / (self.count - 1) as f64).sqrt())
    }
}

/// srtt and rttvar by RFC 6298 §2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttEstimator {
    srtt_ns: u64,
    rttvar_ns: u64,
}

impl RttEstimator {
    #[inline]
    pub(crate) fn record(&mut self, rtt_ns: u64) {
        if self.srtt_ns == 0 {
            self.srtt_ns = rtt_ns.max(1);
            self.rttvar_ns = rtt_ns / 2;
            return;
        }
        let deviation_ns = self.srtt_ns.abs_diff(rtt_ns);
        self.rttvar_ns = self.rttvar_ns - self.rttvar_ns / 4 + deviation_ns / 4;
        self.srtt_ns = (self.srtt_ns - self.srtt_ns / 8 + rtt_ns / 8).max(1);
    }

    /// 0 without a sample.
    pub(crate) fn srtt_ns(&self) -> u64 {
        self.srtt_ns
    }

    /// Retransmission timeout as Linux computes it, without backoff.
    pub(crate) fn rto_ns(&self) -> u64 {
        if self.srtt_ns == 0 {
            return INITIAL_RTO_NS;
        }
        self.srtt_ns + (4 * self.rttvar_ns).max(MIN_RTO_MARGIN_NS)
    }
}

/// Distribution of samples. A histogram takes several kilobytes, and most connections of a busy
/// server have a handful of samples; so the first few are kept as they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distribution {
    few_ns: Vec<u64>,
    histogram: Option<Histogram<u32>>,
    max_ns: u64,
}

impl Distribution {
    #[inline]
    pub(crate) fn record(&mut self, value_ns: u64) {
        let value_ns = value_ns.min(LONGEST_NS);
        self.max_ns = self.max_ns.max(value_ns);
        match &mut self.histogram {
            Some(histogram) => add(histogram, value_ns),
            None if self.few_ns.len() < MAX_FEW => self.few_ns.push(value_ns),
            None => {
                let mut histogram = histogram_of(&self.few_ns);
                add(&mut histogram, value_ns);
                self.histogram = Some(histogram);
                self.few_ns = Vec::new();
            }
        }
    }

    /// Memory of the samples.
    #[inline]
    pub(crate) fn held_bytes(&self) -> usize {
        let histogram = self.histogram.as_ref();
        self.few_ns.capacity() * size_of::<u64>()
            + histogram.map_or(0, |histogram| {
                histogram.distinct_values() * size_of::<u32>()
            })
    }

    /// The value that a share of `quantile` does not exceed, at most the largest.
    pub(crate) fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let quantile_ns = match &self.histogram {
            Some(histogram) => histogram.value_at_quantile(quantile),
            None if self.few_ns.is_empty() => return None,
            None => histogram_of(&self.few_ns).value_at_quantile(quantile),
        };
        // A bin reports its upper end.
        Some(quantile_ns.min(self.max_ns))
    }
}

fn histogram_of(values_ns: &[u64]) -> Histogram<u32> {
    let mut histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("0 to 5 digits");
    for &value_ns in values_ns {
        add(&mut histogram, value_ns);
    }
    histogram
}

#[inline]
fn add(histogram: &mut Histogram<u32>, value_ns: u64) {
    let is_recorded = histogram.record(value_ns).is_ok();
    debug_assert!(is_recorded, "it grows as far as that");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_by_hand() {
        let mut summary = RttSummary::default();
        assert!(summary.mean_ns().is_none());
        for rtt_ns in [10, 20, 60] {
            summary.record(rtt_ns);
        }
        assert_eq!((summary.count, summary.min_ns, summary.max_ns), (3, 10, 60));
        assert_eq!(summary.mean_ns(), Some(30.0));
        // (400 + 100 + 900) / 2 = 700
        let stddev_ns = summary.stddev_ns().expect("three samples");
        assert!((stddev_ns - 700f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn estimator_by_rfc_6298() {
        let mut estimator = RttEstimator::default();
        assert_eq!(estimator.rto_ns(), INITIAL_RTO_NS, "§2.1");
        estimator.record(80_000_000);
        assert_eq!(
            (estimator.srtt_ns, estimator.rttvar_ns),
            (80_000_000, 40_000_000),
            "§2.2"
        );
        estimator.record(160_000_000);
        assert_eq!(
            (estimator.srtt_ns, estimator.rttvar_ns),
            (90_000_000, 50_000_000),
            "§2.3"
        );
        assert_eq!(estimator.rto_ns(), 290_000_000);
    }

    #[test]
    fn quantiles_are_within_a_percent() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.quantile_ns(0.5), None);
        for value_ns in 1..=1000 {
            distribution.record(value_ns * 1_000_000);
        }
        let p95_ns = distribution.quantile_ns(0.95).expect("there are samples");
        assert!(p95_ns.abs_diff(950_000_000) < 9_500_000, "{p95_ns}");
    }
    #[test]
    fn a_quantile_is_never_above_the_largest_sample() {
        let mut distribution = Distribution::default();
        for sample in 0..2 * MAX_FEW as u64 {
            distribution.record(40_123_457 + sample);
            let max_ns = 40_123_457 + sample;
            assert_eq!(distribution.quantile_ns(1.0), Some(max_ns));
        }
    }

    #[test]
    fn few_samples_have_the_quantiles_of_a_histogram() {
        let mut distribution = Distribution::default();
        let mut values_ns = Vec::new();
        for sample in 0..MAX_FEW as u64 {
            values_ns.push((sample * 7_919 + 13) * 1_000_003);
            distribution.record(values_ns[sample as usize]);
            let histogram = histogram_of(&values_ns);
            for quantile in [0.0, 0.5, 0.95] {
                let expected = histogram.value_at_quantile(quantile);
                let found = distribution
                    .quantile_ns(quantile)
                    .expect("there are samples");
                assert_eq!(found, expected.min(distribution.max_ns));
            }
        }
    }
}
