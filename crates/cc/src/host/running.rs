//! The call that is in progress in an algorithm, for crash reports and the watchdog.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dumbbell_cc_abi::{CALLBACKS, MODULE_CALLBACKS};

/// The callback called; a value is its place in [`CALLBACKS`], continued by [`MODULE_CALLBACKS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    Ssthresh,
    CongAvoid,
    SetState,
    CwndEvent,
    CwndEventTxStart,
    InAckEvent,
    PktsAcked,
    MinTsoSegs,
    CongControl,
    UndoCwnd,
    SndbufExpand,
    Init,
    Release,
    TsoSegs,
    SkbMarkedLost,
}

impl Op {
    pub(crate) fn name(self) -> &'static str {
        callback(self as usize)
    }
}

/// The name of a callback by its number; empty if there is none of that number.
fn callback(number: usize) -> &'static str {
    let mut names = CALLBACKS.iter().chain(&MODULE_CALLBACKS);
    names.nth(number).copied().unwrap_or_default()
}

/// Set in [`Running::word`] during a call.
const INSIDE: u64 = 1 << 40;
/// Set in [`Running::word`] once there was a call.
const CALLED: u64 = 1 << 41;

/// The latest call of an instance. Written by the run's thread with plain stores; a signal handler
/// in that thread, or a watchdog in another, reads it.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// Flow in the low 32 bits, the op above it, then the flags.
    word: AtomicU64,
    /// Simulated time of the call, ns.
    now_ns: AtomicU64,
}

/// A call into a congestion control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The instance, in the order of loading: in a run, the group's number.
    pub instance: usize,
    /// Name of the callback.
    pub op: &'static str,
    /// Number of the flow.
    pub flow: u32,
    /// Whether it has not returned yet; otherwise it is the latest that did.
    pub is_under_way: bool,
    /// Simulated time, ns.
    pub now_ns: u64,
}

impl Running {
    #[inline]
    pub(crate) fn enter(&self, op: Op, flow: u32, now_ns: u64) {
        self.now_ns.store(now_ns, Ordering::Relaxed);
        self.word
            .store(INSIDE | Self::done(op, flow), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn leave(&self, op: Op, flow: u32) {
        self.word.store(Self::done(op, flow), Ordering::Relaxed);
    }

    #[inline]
    fn done(op: Op, flow: u32) -> u64 {
        CALLED | (op as u64) << 32 | u64::from(flow)
    }

    pub(crate) fn call(&self, instance: usize) -> Option<Call> {
        let word = self.word.load(Ordering::Relaxed);
        (word & CALLED != 0).then(|| Call {
            instance,
            op: callback((word >> 32) as usize & 0xff),
            flow: word as u32,
            is_under_way: word & INSIDE != 0,
            now_ns: self.now_ns.load(Ordering::Relaxed),
        })
    }
}

/// The call that is in progress among instances, else the latest of them.
pub(crate) fn latest<'a>(instances: impl IntoIterator<Item = &'a Running>) -> Option<Call> {
    instances
        .into_iter()
        .enumerate()
        .filter_map(|(index, running)| running.call(index))
        .max_by_key(|call| (call.is_under_way, call.now_ns))
}

/// Shared by an instance and its watcher.
pub(crate) type SharedRunning = Arc<Running>;
