//! What a controller is called with, for the engine to read while the stack owns the controller.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// No packet of the ACK had an RTT yet.
const NO_RTT: u32 = u32::MAX;
/// No recovery has begun.
const NEVER_NS: u64 = u64::MAX;

/// Counts and latest values. The connection must be `Send`, so these are atomic; one thread uses them.
#[derive(Debug)]
pub(crate) struct Gauges {
    /// What virtual time 0 is for the stack.
    base: Instant,
    mtu_bytes: AtomicU32,
    inflight_bytes: AtomicU64,
    /// RTT of what was sent last of what an ACK acknowledges.
    batch_rtt_us: AtomicU32,
    latest_rtt_us: AtomicU32,
    rtt_count: AtomicU32,
    congestion_events: AtomicU64,
    recoveries: AtomicU64,
    recovery_began_ns: AtomicU64,
}

impl Gauges {
    pub(crate) fn new(base: Instant) -> Arc<Self> {
        Arc::new(Self {
            base,
            mtu_bytes: AtomicU32::new(0),
            inflight_bytes: AtomicU64::new(0),
            batch_rtt_us: AtomicU32::new(NO_RTT),
            latest_rtt_us: AtomicU32::new(0),
            rtt_count: AtomicU32::new(0),
            congestion_events: AtomicU64::new(0),
            recoveries: AtomicU64::new(0),
            recovery_began_ns: AtomicU64::new(NEVER_NS),
        })
    }

    /// Virtual time, ns.
    pub(crate) fn ns(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.base).as_nanos() as u64
    }

    pub(crate) fn on_mtu(&self, mtu_bytes: u16) {
        self.mtu_bytes.store(mtu_bytes.into(), Ordering::Relaxed);
    }

    pub(crate) fn on_sent(&self, bytes: u64) {
        let inflight_bytes = self.inflight_bytes() + bytes;
        self.inflight_bytes.store(inflight_bytes, Ordering::Relaxed);
    }

    /// An ACK has a packet that was sent at `sent`.
    pub(crate) fn on_ack(&self, now: Instant, sent: Instant) {
        let rtt_us = now.saturating_duration_since(sent).as_micros() as u32;
        let least_us = self.batch_rtt_us.load(Ordering::Relaxed).min(rtt_us);
        self.batch_rtt_us.store(least_us, Ordering::Relaxed);
    }

    /// The stack counts `inflight_bytes` after an ACK.
    pub(crate) fn on_end_acks(&self, inflight_bytes: u64) {
        self.inflight_bytes.store(inflight_bytes, Ordering::Relaxed);
        let rtt_us = self.batch_rtt_us.load(Ordering::Relaxed);
        if rtt_us != NO_RTT {
            self.batch_rtt_us.store(NO_RTT, Ordering::Relaxed);
            self.latest_rtt_us.store(rtt_us, Ordering::Relaxed);
            let count = self.rtt_count.load(Ordering::Relaxed).wrapping_add(1);
            self.rtt_count.store(count, Ordering::Relaxed);
        }
    }

    /// Packets are lost or marked, of which the latest was sent at `sent`: a recovery begins if none had when it was sent
    /// (RFC 9002 §7.3.2).
    pub(crate) fn on_congestion_event(&self, now: Instant, sent: Instant, lost_bytes: u64) {
        let inflight_bytes = self.inflight_bytes().saturating_sub(lost_bytes);
        self.inflight_bytes.store(inflight_bytes, Ordering::Relaxed);
        let events = self.congestion_events() + 1;
        self.congestion_events.store(events, Ordering::Relaxed);
        let began_ns = self.recovery_began_ns.load(Ordering::Relaxed);
        if began_ns == NEVER_NS || self.ns(sent) > began_ns {
            let began_ns = self.ns(now);
            self.recovery_began_ns.store(began_ns, Ordering::Relaxed);
            let recoveries = self.recoveries() + 1;
            self.recoveries.store(recoveries, Ordering::Relaxed);
        }
    }

    /// Largest UDP payload, bytes; 0 before the connection has a controller.
    pub(crate) fn mtu_bytes(&self) -> u32 {
        self.mtu_bytes.load(Ordering::Relaxed)
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

    pub(crate) fn recoveries(&self) -> u64 {
        self.recoveries.load(Ordering::Relaxed)
    }

    pub(crate) fn congestion_events(&self) -> u64 {
        self.congestion_events.load(Ordering::Relaxed)
    }
}
