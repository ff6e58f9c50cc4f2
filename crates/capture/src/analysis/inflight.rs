//! A quantity over time: its largest value and its time-weighted mean.

/// Bytes in flight by one definition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeWeighted {
    value: u64,
    max: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    /// Value × ns.
    integral: f64,
}

impl TimeWeighted {
    /// Sets it to `value` from `now_ns` on.
    #[inline]
    pub(crate) fn set(&mut self, now_ns: u64, value: u64) {
        if self.first_ns.is_none() {
            self.first_ns = Some(now_ns);
            self.last_ns = now_ns;
        }
        self.advance(now_ns);
        self.value = value;
        self.max = self.max.max(value);
    }

    #[inline]
    fn advance(&mut self, now_ns: u64) {
        let held_ns = now_ns.saturating_sub(self.last_ns);
        self.integral += self.value as f64 * held_ns as f64;
        self.last_ns = self.last_ns.max(now_ns);
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// Mean from the first value to `end_ns`; `None` over no time.
    pub(crate) fn mean_until(mut self, end_ns: u64) -> Option<f64> {
        self.advance(end_ns);
        let held_ns = self.last_ns - self.first_ns?;
        (held_ns > 0).then(|| self.integral / held_ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_over_time_by_hand() {
        let mut inflight = TimeWeighted::default();
        assert_eq!(inflight.mean_until(5), None);
        inflight.set(10, 100);
        inflight.set(20, 400);
        inflight.set(20, 200);
        // (10 × 100 + 30 × 200) / 40
        assert_eq!(inflight.mean_until(50), Some(175.0));
        assert_eq!(inflight.max(), 400);
    }
}
