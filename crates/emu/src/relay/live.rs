//! How the links are, for those who look on while a run goes on.

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
    /// What waits.
    pub(crate) backlog_pkts: u64,
    pub(crate) backlog_bytes: u64,
}

/// All links, by their number in the network.
#[derive(Debug)]
pub(crate) struct LivePath {
    links: Vec<Mutex<LinkNow>>,
}

impl LivePath {
    /// Of so many links.
    pub(crate) fn new(links: usize) -> Self {
        Self {
            links: (0..links).map(|_| Mutex::default()).collect(),
        }
    }

    /// A link as it was published last.
    #[cfg_attr(not(test), allow(dead_code, reason = "nobody looks on yet"))]
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
