//! One flow's two sockets, and the state that the threads using them share.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use dumbbell_scenario::{Scenario, UNLIMITED_BYTES};

use crate::error::Error;
use crate::sockets::tcp_info::TcpInfo;

/// A flow: what it has to do, its sockets and its progress. Times are of the monotonic clock, ns.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Number of the flow in the run.
    pub(crate) flow: u32,
    pub(crate) group: usize,
    /// The congestion control algorithm, as the scenario names it.
    pub(crate) cc: Arc<str>,
    /// After the start of the run.
    pub(crate) start_ns: u64,
    /// After the start of the run; `u64::MAX`: never.
    pub(crate) stop_ns: u64,
    /// `u64::MAX`: without end.
    pub(crate) size_bytes: u64,
    /// Limit of the send buffer, if there is one.
    pub(crate) sndbuf_bytes: Option<u64>,
    pub(crate) sender: OwnedFd,
    /// Once it is accepted.
    pub(crate) receiver: OnceLock<OwnedFd>,
    /// What the sender knew at the end of its handshake.
    pub(crate) established: OnceLock<Established>,
    /// When everything written was acknowledged, for flows with an end.
    pub(crate) finished_ns: OnceLock<u64>,
    pub(crate) written_bytes: AtomicU64,
}

/// The end of the handshake: nothing but SYNs had been sent until here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Established {
    pub(crate) time_ns: u64,
    pub(crate) info: TcpInfo,
}

impl Connection {
    pub(crate) fn new(
        scenario: &Scenario,
        group: usize,
        cc: &Arc<str>,
        flow: u32,
        sender: OwnedFd,
    ) -> Self {
        let config = &scenario.groups[group];
        Self {
            flow,
            group,
            cc: Arc::clone(cc),
            start_ns: config.start_of(scenario.seed, flow),
            stop_ns: config.stop_ns.unwrap_or(u64::MAX),
            sndbuf_bytes: Some(config.host.sndbuf_bytes).filter(|&bytes| bytes < UNLIMITED_BYTES),
            size_bytes: config.size_bytes.unwrap_or(u64::MAX),
            sender,
            receiver: OnceLock::new(),
            established: OnceLock::new(),
            finished_ns: OnceLock::new(),
            written_bytes: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_sndbuf_limited(&self) -> bool {
        self.sndbuf_bytes.is_some()
    }

    /// Whether there is anything to sample.
    pub(crate) fn is_active(&self) -> bool {
        self.established.get().is_some() && self.finished_ns.get().is_none()
    }

    /// An error of this flow; `what` ends with a remedy if there is one.
    pub(crate) fn failed(&self, what: &str, source: io::Error) -> Error {
        let (flow, cc, group) = (self.flow, &self.cc, self.group);
        Error::System {
            what: format!("flow {flow} (`{cc}`, group {group}) {what}"),
            source,
        }
    }

    /// Payload that the receiving application could have read: without the byte that TCP counts for a FIN.
    pub(crate) fn payload_bytes(&self, received_bytes: u64) -> u64 {
        received_bytes.min(self.written_bytes.load(Ordering::Acquire))
    }
}
