//! What the sockets of a flow report about its life.

use std::sync::atomic::Ordering;

use crate::applications::{ApplicationReport, UserReport};
use crate::sampling::sampler::{FlowEnd, Means};
use crate::sockets::connection::{Connection, Established};

/// One flow over its life. Times count from the start of the run; `None`: not reported by the
/// kernel.
#[derive(Clone, Debug)]
pub(crate) struct FlowReport {
    pub(crate) flow: u32,
    pub(crate) group: usize,
    pub(crate) start_ns: u64,
    /// When the sender's handshake was done.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    pub(crate) established_ns: Option<u64>,
    /// When everything that a flow with a size or a stop time had written was acknowledged.
    pub(crate) finished_ns: Option<u64>,
    /// Read back from the socket at the end, by the kernel's name.
    pub(crate) kernel_cc: String,
    /// Payload that the application passed to TCP.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    pub(crate) written_bytes: u64,
    /// Payload that arrived in order.
    pub(crate) received_bytes: u64,
    pub(crate) cwnd_mean_pkts: f64,
    pub(crate) cwnd_max_pkts: u64,
    /// Largest ssthresh apart from "unlimited".
    pub(crate) ssthresh_max_pkts: u64,
    pub(crate) inflight_mean_pkts: f64,
    pub(crate) outstanding_mean_pkts: f64,
    /// Data packets sent, retransmissions included.
    pub(crate) sent_pkts: u64,
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    pub(crate) arrived_pkts: u64,
    /// Packets that the receiver sent: ACKs, and its part of the handshake.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    pub(crate) receiver_sent_segs: u64,
    pub(crate) syn_retransmits: u64,
    /// Retransmissions that the receiver reported as duplicates.
    pub(crate) spurious_retransmits: Option<u64>,
    pub(crate) rto_count: Option<u64>,
    pub(crate) cwnd_limited_us: u64,
    pub(crate) rwnd_limited_us: u64,
    pub(crate) sndbuf_limited_us: u64,
    /// Only of a flow that has one.
    pub(crate) application: Option<ApplicationReport>,
}

/// What of a program's packets crossed the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    /// Data packets of both ends.
    pub(crate) entered_pkts: u64,
    /// Those that reached the client.
    pub(crate) arrived_pkts: u64,
    /// Payload that reached either end.
    pub(crate) received_bytes: u64,
}

/// What became of a connection, by those who use it. Times are of the monotonic clock, ns.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) flow: u32,
    pub(crate) group: usize,
    /// After the start of the run.
    pub(crate) start_ns: u64,
    pub(crate) established: Option<Established>,
    pub(crate) finished_ns: Option<u64>,
    pub(crate) written_bytes: u64,
}

impl From<&Connection> for Course {
    fn from(connection: &Connection) -> Self {
        Self {
            flow: connection.flow,
            group: connection.group,
            start_ns: connection.start_ns,
            established: connection.established.get().copied(),
            finished_ns: connection.finished_ns.get().copied(),
            written_bytes: connection.written_bytes.load(Ordering::Acquire),
        }
    }
}

impl Course {
    /// Payload that the receiving application could have read: without the byte that TCP counts for a FIN.
    pub(crate) fn payload_bytes(&self, received_bytes: u64) -> u64 {
        received_bytes.min(self.written_bytes)
    }

    /// SYNs sent again before the connection was established.
    pub(crate) fn syn_retransmits(&self) -> u32 {
        self.established
            .map_or(0, |established| established.info.total_retrans_pkts)
    }
}

impl FlowReport {
    pub(crate) fn new(course: &Course, end: &FlowEnd, means: &Means, epoch_ns: u64) -> Self {
        let established = course.established;
        let handshake = established.map(|established| established.info);
        let sender = end.sender.unwrap_or_default();
        let receiver = end.receiver.unwrap_or_default();
        // Until the handshake is done, all retransmissions are SYNs.
        let is_connecting = handshake.is_none();
        let syn_retransmits = if is_connecting {
            sender.total_retrans_pkts
        } else {
            course.syn_retransmits()
        };
        let since_handshake = |at_end: u64, at_handshake: u64| {
            if is_connecting {
                0
            } else {
                at_end.saturating_sub(at_handshake)
            }
        };
        let handshake = handshake.unwrap_or_default();
        let told_us = sender.sndbuf_limited_us.unwrap_or(0);
        let sndbuf_limited_us = told_us.max(means.sndbuf_limited_us());
        Self {
            flow: course.flow,
            group: course.group,
            start_ns: course.start_ns,
            established_ns: established.map(|established| established.time_ns - epoch_ns),
            finished_ns: course.finished_ns.map(|time_ns| time_ns - epoch_ns),
            kernel_cc: end.kernel_cc.clone(),
            written_bytes: course.written_bytes,
            received_bytes: course.payload_bytes(receiver.received_bytes),
            cwnd_mean_pkts: means.cwnd_pkts(),
            cwnd_max_pkts: u64::from(means.cwnd_max_pkts),
            ssthresh_max_pkts: u64::from(means.ssthresh_max_pkts),
            inflight_mean_pkts: means.inflight_pkts(),
            outstanding_mean_pkts: means.outstanding_pkts(),
            sent_pkts: u64::from(sender.sent_data_segs),
            arrived_pkts: u64::from(receiver.received_data_segs),
            receiver_sent_segs: u64::from(receiver.sent_segs),
            syn_retransmits: u64::from(syn_retransmits),
            spurious_retransmits: sender.dsack_dups.map(u64::from),
            rto_count: sender.rto_count.map(|count| {
                since_handshake(
                    u64::from(count),
                    u64::from(handshake.rto_count.unwrap_or(0)),
                )
            }),
            cwnd_limited_us: (sender.cwnd_limited_us().unwrap_or(0))
                .saturating_sub(sndbuf_limited_us.saturating_sub(told_us)),
            rwnd_limited_us: sender.rwnd_limited_us.unwrap_or(0),
            sndbuf_limited_us,
            application: None,
        }
    }

    /// Report of programs, whose sockets are not ours: what crossed the path, from `start_ns` until they ended, if they
    /// did.
    pub(crate) fn of_program(
        (flow, group): (u32, usize),
        kernel_cc: &str,
        crossed: Crossed,
        start_ns: u64,
        finished_ns: Option<u64>,
    ) -> Self {
        Self {
            flow,
            group,
            start_ns,
            established_ns: None,
            finished_ns,
            kernel_cc: kernel_cc.to_owned(),
            written_bytes: 0,
            received_bytes: crossed.received_bytes,
            cwnd_mean_pkts: 0.0,
            cwnd_max_pkts: 0,
            ssthresh_max_pkts: 0,
            inflight_mean_pkts: 0.0,
            outstanding_mean_pkts: 0.0,
            sent_pkts: crossed.entered_pkts,
            arrived_pkts: crossed.arrived_pkts,
            receiver_sent_segs: 0,
            syn_retransmits: 0,
            spurious_retransmits: None,
            rto_count: None,
            cwnd_limited_us: 0,
            rwnd_limited_us: 0,
            sndbuf_limited_us: 0,
            application: None,
        }
    }

    /// Data packets of both ends.
    pub(crate) fn sent_both_ways_pkts(&self) -> u64 {
        let application = self.application.as_ref();
        let requests = application.and_then(|application| application.requests);
        self.sent_pkts + requests.map_or(0, |requests| requests.sent_pkts)
    }

    /// Report of a flow with an application: sums over its connections.
    pub(crate) fn of_user(user: UserReport, means: &Means) -> Self {
        let books = user.books;
        Self {
            flow: user.flow,
            group: user.group,
            start_ns: user.start_ns,
            established_ns: user.established_ns,
            finished_ns: user.finished_ns,
            kernel_cc: user.kernel_cc,
            written_bytes: books.written_bytes,
            received_bytes: books.received_bytes,
            cwnd_mean_pkts: means.cwnd_pkts(),
            cwnd_max_pkts: u64::from(means.cwnd_max_pkts),
            ssthresh_max_pkts: u64::from(means.ssthresh_max_pkts),
            inflight_mean_pkts: means.inflight_pkts(),
            outstanding_mean_pkts: means.outstanding_pkts(),
            sent_pkts: books.sent_pkts,
            arrived_pkts: books.arrived_pkts,
            receiver_sent_segs: books.receiver_sent_segs,
            syn_retransmits: books.syn_retransmits,
            spurious_retransmits: books.spurious_retransmits,
            rto_count: books.rto_count,
            cwnd_limited_us: books.cwnd_limited_us,
            rwnd_limited_us: books.rwnd_limited_us,
            sndbuf_limited_us: books.sndbuf_limited_us,
            application: Some(user.application),
        }
    }
}
