//! What the sampler sees of users: their live senders' sockets, and what arrived.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dumbbell_scenario::Scenario;

/// A sender's socket of a connection that is established.
#[derive(Clone, Debug)]
pub(crate) struct LiveSender {
    pub(crate) socket: Arc<OwnedFd>,
    /// From which its connection was opened.
    pub(crate) port: u16,
    /// SYNs that it sent again.
    pub(crate) syn_retransmits: u32,
}

/// A user as the sampler sees it.
#[derive(Debug)]
pub(crate) struct LiveUser {
    pub(crate) flow: u32,
    pub(crate) group: usize,
    pub(crate) start_ns: u64,
    pub(crate) has_started: bool,
    /// Senders by the application's number of their connection.
    pub(crate) senders: BTreeMap<u32, LiveSender>,
    /// Retransmissions of the connections that are over.
    pub(crate) retransmitted_pkts: u64,
    /// Payload of all.
    pub(crate) received_bytes: u64,
}

/// All users, in flow order. The thread of the applications writes, the sampler's reads; either holds the lock for
/// as long as it looks at one user's sockets.
#[derive(Debug)]
pub(crate) struct LiveUsers(Mutex<Vec<LiveUser>>);

impl LiveUsers {
    /// The users of `scenario`, none of which has started.
    pub(crate) fn new(scenario: &Scenario) -> Arc<Self> {
        let mut first_flow = 0;
        let mut users = Vec::new();
        for (index, group) in scenario.groups.iter().enumerate() {
            let flows = first_flow..first_flow + group.flows;
            first_flow = flows.end;
            if !group.traffic.is_bulk() {
                users.extend(flows.map(|flow| LiveUser {
                    flow,
                    group: index,
                    start_ns: group.start_of(scenario.seed, flow),
                    has_started: false,
                    senders: BTreeMap::new(),
                    retransmitted_pkts: 0,
                    received_bytes: 0,
                }));
            }
        }
        Arc::new(Self(Mutex::new(users)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<LiveUser>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
