//! Between a controller, which belongs to the stack, and the [`Datapath`](crate::datapath::Datapath) of an algorithm of ours:
//! reports go one way, window and pacing rate the other.

use std::mem;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dumbbell_cc::{MAX_CWND_PKTS, TCP_INFINITE_SSTHRESH};
use dumbbell_tcp::INITIAL_CWND;

/// A QUIC packet before a controller knows better, bytes (RFC 9000 §14).
pub(crate) const INITIAL_MTU_BYTES: u16 = 1200;
/// Bytes/s that no algorithm asks for: the stack paces by its own rule.
const BY_THE_STACK: u64 = u64::MAX;
/// Faster than any link, bytes/s: nothing waits.
const UNPACED: u64 = 1 << 40;

/// How fast the stack is to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pacing {
    /// At this rate, bytes/s.
    At(u64),
    /// The stack follows its own rule.
    ByTheStack,
    /// Sends as fast as cwnd allows.
    Unpaced,
}

impl Pacing {
    fn rate(self) -> u64 {
        match self {
            Self::At(rate) => rate,
            Self::ByTheStack => BY_THE_STACK,
            Self::Unpaced => UNPACED,
        }
    }
}

/// What a stack reports to its controller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Report {
    Sent {
        pn: u64,
        bytes: u16,
    },
    /// There was more to send than cwnd has room for.
    CwndLimited,
    Acked {
        pn: u64,
        bytes: u64,
        sent_ns: u64,
    },
    EndAcks {
        app_limited: bool,
    },
    Lost {
        pn: u64,
    },
    Congestion {
        sent_ns: u64,
        is_persistent: bool,
        is_ecn: bool,
    },
    /// What was declared lost has been acknowledged.
    Spurious,
}

/// Between a controller, which belongs to the stack, and its [`Datapath`]. One thread uses it.
#[derive(Debug)]
pub(crate) struct Mailbox {
    reports: Mutex<Vec<Report>>,
    mtu_bytes: AtomicU16,
    cwnd_pkts: AtomicU64,
    ssthresh_pkts: AtomicU64,
    pacing_rate: AtomicU64,
}

impl Mailbox {
    /// Makes that of a connection before its handshake.
    pub(crate) fn new(pacing: Pacing) -> Self {
        Self {
            reports: Mutex::default(),
            mtu_bytes: AtomicU16::new(INITIAL_MTU_BYTES),
            cwnd_pkts: AtomicU64::new(u64::from(INITIAL_CWND)),
            ssthresh_pkts: AtomicU64::new(u64::from(TCP_INFINITE_SSTHRESH)),
            pacing_rate: AtomicU64::new(pacing.rate()),
        }
    }

    /// Puts the reports since the last call into `reports`, which is empty.
    pub(crate) fn take(&self, reports: &mut Vec<Report>) {
        let mut own = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        mem::swap(reports, &mut own);
    }

    /// What the algorithm decided.
    pub(crate) fn publish(&self, cwnd_pkts: u32, ssthresh_pkts: u32, pacing: Pacing) {
        let cwnd_pkts = cwnd_pkts.clamp(1, MAX_CWND_PKTS);
        self.cwnd_pkts.store(cwnd_pkts.into(), Ordering::Relaxed);
        self.ssthresh_pkts
            .store(ssthresh_pkts.into(), Ordering::Relaxed);
        self.pacing_rate.store(pacing.rate(), Ordering::Relaxed);
    }

    /// UDP payload of a packet, bytes.
    pub(crate) fn mtu_bytes(&self) -> u16 {
        self.mtu_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn put(&self, report: Report) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(report);
    }

    pub(crate) fn set_mtu(&self, mtu_bytes: u16) {
        self.mtu_bytes.store(mtu_bytes, Ordering::Relaxed);
    }

    fn bytes(&self, pkts: &AtomicU64) -> u64 {
        pkts.load(Ordering::Relaxed) * u64::from(self.mtu_bytes())
    }

    /// Congestion window, bytes.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.bytes(&self.cwnd_pkts)
    }

    /// Slow-start threshold, bytes; `None`: none yet.
    pub(crate) fn ssthresh_bytes(&self) -> Option<u64> {
        let is_set = self.ssthresh_pkts.load(Ordering::Relaxed) < u64::from(TCP_INFINITE_SSTHRESH);
        is_set.then(|| self.bytes(&self.ssthresh_pkts))
    }

    /// Bytes/s; `None`: by the stack's own rule.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        Some(self.pacing_rate.load(Ordering::Relaxed)).filter(|&rate| rate != BY_THE_STACK)
    }
}
