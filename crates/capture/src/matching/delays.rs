//! One-way delays between two points.

/// Delays kept for the percentiles.
const SAMPLE: usize = 1 << 12;

/// Delays of a direction. They may be negative: the clocks may differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    count: u64,
    min_ns: i64,
    max_ns: i64,
    sum_ns: i128,
    /// A uniform sample of all (Vitter's algorithm R).
    sample_ns: Vec<i64>,
    random: u64,
}

impl Delays {
    pub(super) fn record(&mut self, delay_ns: i64) {
        if self.count == 0 {
            (self.min_ns, self.max_ns) = (delay_ns, delay_ns);
        }
        self.min_ns = self.min_ns.min(delay_ns);
        self.max_ns = self.max_ns.max(delay_ns);
        self.sum_ns += i128::from(delay_ns);
        self.count += 1;
        if self.sample_ns.len() < SAMPLE {
            self.sample_ns.push(delay_ns);
            return;
        }
        let place = (self.next_random() % self.count) as usize;
        if let Some(kept) = self.sample_ns.get_mut(place) {
            *kept = delay_ns;
        }
    }

    /// Numerical Recipes' linear congruential generator: the same sample every time.
    fn next_random(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random >> 20
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn min_ns(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min_ns as f64)
    }

    pub(super) fn max_ns(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max_ns as f64)
    }

    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The delay that 95 of 100 do not exceed, from the sample.
    pub(super) fn p95_ns(&self) -> Option<f64> {
        let mut sorted = self.sample_ns.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * 95).div_ceil(100);
        Some(*sorted.get(rank.checked_sub(1)?)? as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_by_hand() {
        let mut delays = Delays::default();
        assert_eq!((delays.mean_ns(), delays.p95_ns()), (None, None));
        for delay_ns in (-50..50).rev() {
            delays.record(delay_ns);
        }
        assert_eq!(
            (delays.min_ns(), delays.max_ns()),
            (Some(-50.0), Some(49.0))
        );
        assert_eq!(
            (delays.mean_ns(), delays.p95_ns()),
            (Some(-0.5), Some(44.0))
        );
    }

    #[test]
    fn the_sample_stands_for_all() {
        let mut delays = Delays::default();
        for delay_ns in 0..1_000_000 {
            delays.record(delay_ns);
        }
        assert_eq!(delays.sample_ns.len(), SAMPLE);
        let p95_ns = delays.p95_ns().expect("there are some");
        assert!((p95_ns - 950_000.0).abs() < 15_000.0, "{p95_ns}");
    }
}
