//! When measuring ends: as the scenario says, or earlier.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A time of the monotonic clock, ns, that all threads of a run look at; `u64::MAX`: not known yet.
#[derive(Clone, Debug)]
pub(crate) struct RunEnd(Arc<AtomicU64>);

impl RunEnd {
    /// At this time.
    pub(crate) fn at(time_ns: u64) -> Self {
        Self(Arc::new(AtomicU64::new(time_ns)))
    }

    /// Time of the end, ns.
    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends it at this time, unless it ends before.
    pub(crate) fn bring_forward(&self, time_ns: u64) {
        self.0.fetch_min(time_ns, Ordering::Relaxed);
    }
}

impl From<u64> for RunEnd {
    fn from(time_ns: u64) -> Self {
        Self::at(time_ns)
    }
}

impl From<&Self> for RunEnd {
    fn from(end: &Self) -> Self {
        end.clone()
    }
}
