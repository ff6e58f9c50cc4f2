//! Watching and stopping a run from another thread.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

/// Shared between a run and the thread that waits for it. Does not influence the result, unless it cancels.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    /// Share of the run that has passed, parts per million.
    progress_ppm: AtomicU64,
    /// For the run's programs; 0: none.
    signal: AtomicI32,
}

impl Control {
    /// Asks the run to stop; it does within milliseconds.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`Control::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Sends the clients among the run's programs a signal, where the run's engine passes it on.
    pub fn send_signal(&self, signal: i32) {
        self.signal.store(signal, Ordering::Relaxed);
    }

    /// The signal that was sent since this was last asked.
    pub fn take_signal(&self) -> Option<i32> {
        Some(self.signal.swap(0, Ordering::Relaxed)).filter(|&signal| signal != 0)
    }

    /// Share of the run that has passed, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.progress_ppm.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Says that the run is at `now_ns` of `duration_ns`.
    pub fn set_progress(&self, now_ns: u64, duration_ns: u64) {
        let ppm = u128::from(now_ns) * 1_000_000 / u128::from(duration_ns.max(1));
        self.progress_ppm.store(ppm as u64, Ordering::Relaxed);
    }
}
