//! What a controller is called with, for the engine to read while the stack owns the controller.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Counts and latest values. The connection must be `Send`, so these are atomic; one thread uses them.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    inflight_bytes: AtomicU64,
    latest_rtt_us: AtomicU32,
    rtt_count: AtomicU32,
    congestion_events: AtomicU64,
    recoveries: AtomicU64,
}

impl Gauges {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn on_sent(&self, bytes: u64) {
        let inflight_bytes = self.inflight_bytes() + bytes;
        self.inflight_bytes.store(inflight_bytes, Ordering::Relaxed);
    }

    /// The stack counts `inflight_bytes` after an ACK.
    pub(crate) fn on_end_acks(&self, inflight_bytes: u64) {
        self.inflight_bytes.store(inflight_bytes, Ordering::Relaxed);
    }

    pub(crate) fn on_rtt(&self, rtt_us: u32) {
        self.latest_rtt_us.store(rtt_us, Ordering::Relaxed);
        let count = self.rtt_count.load(Ordering::Relaxed).wrapping_add(1);
        self.rtt_count.store(count, Ordering::Relaxed);
    }

    pub(crate) fn on_congestion_event(&self, lost_bytes: u64) {
        let inflight_bytes = self.inflight_bytes().saturating_sub(lost_bytes);
        self.inflight_bytes.store(inflight_bytes, Ordering::Relaxed);
        let events = self.congestion_events() + 1;
        self.congestion_events.store(events, Ordering::Relaxed);
    }

    pub(crate) fn inflight_bytes(&self) -> u64 {
        self.inflight_bytes.load(Ordering::Relaxed)
    }

    /// The latest RTT sample, and how many there were modulo 2³².
    pub(crate) fn rtt(&self) -> (u32, u32) {
        (
            self.latest_rtt_us.load(Ordering::Relaxed),
            self.rtt_count.load(Ordering::Relaxed),
        )
    }

    pub(crate) fn on_recovery(&self) {
        self.recoveries
            .store(self.recoveries() + 1, Ordering::Relaxed);
    }

    pub(crate) fn recoveries(&self) -> u64 {
        self.recoveries.load(Ordering::Relaxed)
    }

    pub(crate) fn congestion_events(&self) -> u64 {
        self.congestion_events.load(Ordering::Relaxed)
    }
}
