//! Opening the connection: the SYN crosses the same bottleneck as the data, so a late flow's first
//! RTT sample includes the existing queue.

use dumbbell_net::Packet;

use crate::accecn::AccEcnFeedback;
use crate::ecn::EcnMode;
use crate::packet::{
    AckHeader, DATA_HEADER_BYTES, DataHeader, DataInfo, Offload, SYN_BYTES, Segment, SegmentKind,
};
use crate::rtt::{RTO_INITIAL_US, empty_min, update_min_rtt};
use crate::segments::{EVER_RETRANS, PUSHED};
use crate::sender::{Half, Phase, Sender};
use crate::timers::XmitTimer;

/// `TCP_INIT_CWND` (RFC 6928), packets.
pub const INITIAL_CWND: u32 = 10;
/// `tcp_syn_linear_timeouts`: timeouts of the SYN that are not doubled.
const SYN_LINEAR_TIMEOUTS: u64 = 4;
/// Linux's initial duplicate threshold, `tcp_reordering`.
pub const INITIAL_REORDERING: u32 = 3;

impl Sender {
    /// Sends the SYN; [`Sender::poll_transmit`] returns it.
    pub fn start(&mut self, now_ns: u64) {
        self.set_now(now_ns);
        self.started_ns = now_ns;
        self.phase = Phase::SynSent;
        self.ask_for_ecn();
        self.send_control(SegmentKind::Syn);
        self.arm_xmit_timer(XmitTimer::Rto, u64::from(RTO_INITIAL_US) * 1000);
    }

    pub(crate) fn prepare_socket(&mut self) {
        let mss_bytes = self.config.mss_bytes;
        let sock = &mut self.cc.sock;
        sock.mss_cache = mss_bytes;
        sock.advmss = mss_bytes;
        sock.snd_cwnd = INITIAL_CWND;
        sock.reordering = INITIAL_REORDERING;
        sock.rtt_min = empty_min();
        // Room for the largest TSO burst after Linux's allowance for headers.
        sock.sk_gso_max_size = 65_536 - 1 - 320;
        if !self.config.tso {
            sock.sk_gso_max_segs = 1; // as of a device without it
        }
    }

    /// A packet without payload that takes no segment number.
    pub(crate) fn send_control(&mut self, kind: SegmentKind) {
        let bytes = match kind {
            SegmentKind::Syn => SYN_BYTES,
            _ => DATA_HEADER_BYTES,
        };
        self.send_packet(self.nxt, kind, bytes, 0);
    }

    /// A packet leaves now; a segment's `flags` say whether it was sent before and ends what was written.
    #[inline]
    pub(crate) fn send_packet(&mut self, seq: u32, kind: SegmentKind, wire_bytes: u32, flags: u8) {
        let is_retransmission = flags & EVER_RETRANS != 0;
        let ip_id = self.output.next_ip_id();
        let (ecn, cwr, ace) = self.ecn_of(kind, is_retransmission);
        self.output.outbox.push(Packet {
            flow: self.config.flow,
            wire_bytes,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: Segment::Data(DataHeader {
                seq,
                ts_val_ms: self.now_ms,
                ts_ecr_ms: self.ts_recent_ms,
                info: DataInfo::new(kind, ip_id)
                    .retransmission(is_retransmission)
                    .psh(flags & PUSHED != 0)
                    .reverse(self.config.half == Half::Reverse)
                    .cwr(cwr)
                    .ace(ace),
                offload: Offload::NONE,
            }),
        });
    }

    /// RFC 6298 §5.7: a lost SYN is sent again. Its timeout doubles; in Linux from 6.5 on not at first.
    pub(crate) fn on_syn_timeout(&mut self) {
        self.counters.syn_retransmits += 1;
        self.send_control(SegmentKind::Syn);
        let equal = if self.config.behaviour.doubles_syn_timeouts {
            0
        } else {
            SYN_LINEAR_TIMEOUTS
        };
        let backoff = self.counters.syn_retransmits.saturating_sub(equal).min(6);
        self.arm_xmit_timer(
            XmitTimer::Rto,
            (u64::from(RTO_INITIAL_US) * 1000) << backoff,
        );
    }

    /// The SYN-ACK: the first RTT sample, by timestamp, and the congestion control algorithm's start. It is
    /// acknowledged at once, before the data; also when it arrives again (RFC 9293 §3.10.7.4).
    pub(crate) fn on_syn_ack(
        &mut self,
        ack: &AckHeader,
        feedback: Option<&AccEcnFeedback>,
    ) -> Option<u32> {
        let is_first = self.phase == Phase::SynSent;
        if is_first {
            self.settle_ecn(ack, feedback); // Accurate ECN's answer to it says with which field it came
        }
        self.send_control(SegmentKind::HandshakeAck);
        if !is_first {
            return None;
        }
        self.cancel_xmit_timer();
        // Linux's `tcp_try_undo_spurious_syn`: it answers the first SYN, which was only late.
        let is_spurious = u64::from(ack.ts_ecr_ms) == self.started_ns / 1_000_000;
        let is_slow = self.counters.syn_retransmits > 1 && !is_spurious;
        let rtt_us = if self.counters.syn_retransmits == 0 {
            ((self.now_ns() - self.started_ns) / 1000) as u32
        } else {
            // Karn: only the echoed timestamp says which SYN this answers.
            self.now_ms.saturating_sub(ack.ts_ecr_ms).max(1) * 1000
        };
        self.establish(Some(rtt_us), ack.rwnd_bytes, is_slow);
        (self.counters.syn_retransmits == 0).then_some(rtt_us)
    }

    /// Opens the second half of a connection whose first half has done the handshake: the RTT that
    /// this side measured by it, if it did, the window that the peer offers, and what both agreed on as
    /// to ECN. [`Sender::poll_transmit`] must follow.
    pub fn open(&mut self, now_ns: u64, rtt_us: Option<u32>, rwnd_bytes: u32, ecn: EcnMode) {
        self.set_now(now_ns);
        self.started_ns = now_ns;
        self.take_ecn(ecn);
        self.establish(rtt_us, rwnd_bytes, false);
    }

    fn establish(&mut self, rtt_us: Option<u32>, rwnd_bytes: u32, is_slow: bool) {
        self.phase = Phase::Established;
        self.timers
            .note_progress(self.cc.sock.tcp_clock_cache, &mut self.counters);
        if let Some(rtt_us) = rtt_us {
            self.latest_rtt_us = rtt_us;
            update_min_rtt(&mut self.cc.sock, self.now_ms, rtt_us);
            self.rtt.sample(&mut self.cc.sock, rtt_us, 0, 0);
        }
        if is_slow {
            self.cc.sock.snd_cwnd = 1; // RFC 6298 §5.7, RFC 5681 §3.1
        }
        self.output.wnd_end_bytes = u64::from(rwnd_bytes);
        let sock = &mut self.cc.sock;
        sock.snd_wnd = rwnd_bytes;
        sock.snd_cwnd_stamp = self.now_ms;
        sock.lsndtime = self.now_ms; // what is sent first does not follow a pause
        sock.delivered = 1; // the SYN, as Linux counts it
        sock.delivered_mstamp = sock.tcp_mstamp;
        if !self.cc.has_cong_control() {
            self.update_pacing_rate();
        }
        self.cc.init();
    }
}
