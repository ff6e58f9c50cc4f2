//! What the processes that run a guest's applications, and the engine, say to each other: JSON, on standard input to the end, and
//! on standard output a line each.

use dumbbell_scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::applications::ApplicationsReport;
use crate::sockets::tcp_info::TcpInfo;

/// What a process is for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Its host is entered by way of it, then it is ended.
    Door,
    /// It runs all applications.
    Run(Box<Setup>),
}

/// What the process that runs applications needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    /// The scenario that the guest runs.
    pub(super) scenario: Scenario,
    /// On the guest's monotonic clock.
    pub(super) epoch_ns: u64,
    /// Time between two samples.
    pub(super) interval_ns: u64,
    /// The kernel's name of each group's algorithm.
    pub(super) kernel_ccs: Vec<String>,
    /// Whether a group's receivers run the algorithm too.
    pub(super) at_receivers: Vec<bool>,
    /// Hosts by number, and for each a process in it.
    pub(super) doors: Vec<(u32, u32)>,
}

/// What a process says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// A door is open: its number as a process.
    Open { process: u32 },
    /// From now on a port of a group is that of a connection of a flow.
    Port { group: usize, port: u16, flow: u32 },
    /// A user was sampled.
    Sampled(SampledUser),
    /// What the applications did.
    Done(ApplicationsReport),
    /// It cannot go on.
    Failed(String),
}

/// A user as it was at an instant.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SampledUser {
    /// From the start of the run.
    pub(super) instant_ns: u64,
    pub(super) flow: u32,
    /// Sums over its connections; what cannot be summed is the latest connection's.
    pub(crate) info: TcpInfo,
    /// Largest cwnd of one socket.
    pub(crate) cwnd_max_pkts: u32,
    pub(crate) syn_retransmits: u32,
    pub(crate) received_bytes: u64,
    /// The port from which the latest connection was opened; 0: there is none.
    pub(super) port: u16,
    /// TCP_CC_INFO of the latest connection.
    pub(super) cc: Vec<u8>,
}
