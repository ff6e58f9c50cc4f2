//! Times at a constant rate.

use super::NS_PER_S;

/// Times that are a period apart, without an error that grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Periodic {
    /// Nanoseconds that `periods` take.
    ns: u128,
    periods: u128,
    start_ns: u64,
    /// Periods that have begun.
    begun: u64,
    next_ns: u64,
}

impl Periodic {
    /// A schedule with an event every `period_ns`.
    pub(super) fn every(period_ns: u64) -> Self {
        Self {
            ns: period_ns.into(),
            periods: 1,
            start_ns: 0,
            begun: 0,
            next_ns: u64::MAX,
        }
    }

    /// A schedule in which units of `bytes` make `rate_bps`.
    pub(super) fn at_rate(bytes: u64, rate_bps: u64) -> Self {
        Self {
            ns: u128::from(bytes) * 8 * u128::from(NS_PER_S),
            periods: rate_bps.into(),
            ..Self::every(0)
        }
    }

    /// The first is at `now_ns`.
    pub(super) fn start(&mut self, now_ns: u64) {
        (self.start_ns, self.next_ns) = (now_ns, now_ns);
    }

    /// There are no more.
    pub(super) fn stop(&mut self) {
        self.next_ns = u64::MAX;
    }

    /// The next, ns; `u64::MAX`: there are no more.
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// A period, rounded down, ns.
    pub(super) fn period_ns(&self) -> u64 {
        u64::try_from(self.ns / self.periods).unwrap_or(u64::MAX)
    }

    /// Takes the next if it is due.
    pub(super) fn takes_due(&mut self, now_ns: u64) -> bool {
        if self.next_ns > now_ns {
            return false;
        }
        self.begun += 1;
        let since_start_ns = u128::from(self.begun) * self.ns / self.periods;
        let next_ns = u128::from(self.start_ns) + since_start_ns;
        self.next_ns = u64::try_from(next_ns).unwrap_or(u64::MAX);
        true
    }
}
