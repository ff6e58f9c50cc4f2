//! How links and flows are, for those who look on while a run goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dumbbell_net::{Link, LinkMeter};

use crate::packet::frame::Frame;

/// How often a thread publishes its links, ns.
pub(crate) const PUBLISH_NS: u64 = 10_000_000;

/// A link at a moment; counts are since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkNow {
    /// On the clock; 0: not known yet.
    pub(crate) at_ns: u64,
    pub(crate) link_rate_bps: u64,
    /// Put on the wire.
    pub(crate) taken_pkts: u64,
    pub(crate) taken_bytes: u64,
    pub(crate) dropped_pkts: u64,
    pub(crate) marked_pkts: u64,
    /// Packets that wait.
    pub(crate) backlog_pkts: u64,
    pub(crate) backlog_bytes: u64,
}

/// All links and flows, by their numbers.
#[derive(Debug)]
pub(crate) struct LivePath {
    links: Vec<Mutex<LinkNow>>,
    /// Wire bytes of the data packets that reached each flow's receiver.
    arrived_bytes: Vec<AtomicU64>,
}

impl LivePath {
    /// Makes a table of this many links and flows.
    pub(crate) fn new(links: usize, flows: usize) -> Self {
        Self {
            links: (0..links).map(|_| Mutex::default()).collect(),
            arrived_bytes: (0..flows).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// A data packet has reached its receiver. Of each flow one thread counts.
    #[inline]
    pub(crate) fn note_arrival(&self, flow: u32, wire_bytes: u32) {
        if let Some(bytes) = self.arrived_bytes.get(flow as usize) {
            bytes.fetch_add(u64::from(wire_bytes), Ordering::Relaxed);
        }
    }

    /// Wire bytes of a flow's data that have arrived so far.
    pub(crate) fn arrived_bytes(&self, flow: usize) -> u64 {
        self.arrived_bytes[flow].load(Ordering::Relaxed)
    }

    /// A link as it was published last.
    pub(crate) fn link(&self, index: usize) -> LinkNow {
        *self.links[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A link as it is at `now_ns`. A thread in real time does not wait for who looks on: the next time is soon.
    pub(crate) fn publish(&self, index: usize, now_ns: u64, link: &Link<Frame>, meter: &LinkMeter) {
        if let Ok(mut now) = self.links[index].try_lock() {
            *now = LinkNow {
                at_ns: now_ns,
                link_rate_bps: link.link_rate_bps(),
                taken_pkts: meter.taken_pkts,
                taken_bytes: meter.taken_bytes,
                dropped_pkts: meter.dropped_pkts,
                marked_pkts: meter.marked_pkts,
                backlog_pkts: link.backlog_pkts(),
                backlog_bytes: link.backlog_bytes(),
            };
        }
    }
}
