//! RACK: loss detection by time (RFC 8985 §6).
//!
//! Linux keeps a list of segments in sending order; here it is two queues: originals, which were
//! sent in sequence order, and retransmissions. Each entry is queued once and leaves when it is
//! delivered or found lost, so the work per ACK is proportional to what the ACK reveals, never to
//! the window.

use dumbbell_cc::{CaState, LostSegment};

use crate::ack::Progress;
use crate::behaviour::RackWindow;
use crate::scoreboard::Retransmission;
use crate::segments::{APP_LIMITED, EVER_RETRANS, LOST, RETRANS, SACKED, SAMPLED};
use crate::sender::Sender;
use crate::timers::{TIMEOUT_MIN_US, XmitTimer};

/// `TCP_RACK_RECOVERY_THRESH`: number of recoveries for which a widened window is kept (RFC 8985
/// §6.2, step 4).
const REO_WND_PERSIST: u8 = 16;
/// The least window before RFC 8985 (draft-ietf-tcpm-rack-01; Linux 4.4 to 4.17), µs.
const EARLIER_REO_WND_US: u64 = 1000;

/// State of RFC 8985 §5.2.
#[derive(Debug)]
pub(crate) struct Rack {
    /// Send time of the most recently sent segment that was delivered, µs (RACK.xmit_ts).
    mstamp_us: u64,
    /// That segment (RACK.end_seq).
    seq: u32,
    /// Whether it was sent again.
    is_retransmission: bool,
    /// Its RTT, µs (RACK.rtt).
    rtt_us: u64,
    /// Something was delivered since the last search for losses.
    pub(crate) advanced: bool,
    pub(crate) dsack_seen: bool,
    /// RFC 8985's RACK.reo_wnd_mult.
    reo_wnd_steps: u8,
    pub(crate) reo_wnd_persist: u8,
    /// `delivered` when the window was last widened: once per round trip.
    last_delivered: u32,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            mstamp_us: 0,
            seq: 0,
            is_retransmission: false,
            rtt_us: 0,
            advanced: false,
            dsack_seen: false,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            last_delivered: 0,
        }
    }

    /// Whether the delivered segment was sent after the given one (RACK_sent_after()).
    #[inline]
    fn sent_after(&self, sent_us: u64, seq: u32) -> bool {
        (self.mstamp_us, self.seq) > (sent_us, seq)
    }

    /// Whether it was sent after a retransmission. ACKs that arrive together are processed in no time here, where each takes
    /// Linux a while, so that what they let out has times of its own there: new data that one ACK let out are not after
    /// what a later ACK of that instant let out again.
    #[inline]
    fn sent_after_retransmission(&self, other: &Retransmission) -> bool {
        if self.mstamp_us != other.sent_us {
            self.mstamp_us > other.sent_us
        } else if self.is_retransmission {
            self.seq > other.seq
        } else {
            self.seq >= other.nxt
        }
    }
}

/// `TCPCB_LOST` of Linux: the segment is declared lost, and no retransmission is in flight.
const TCPCB_LOST: u8 = 4;

impl Sender {
    /// §6.2 step 2: the most recently sent delivered segment and its RTT.
    #[inline]
    pub(crate) fn rack_advance(&mut self, seq: u32, flags: u8, sent_us: u64) {
        let rtt_us = self.cc.sock.tcp_mstamp - sent_us;
        if flags & EVER_RETRANS != 0 && rtt_us < u64::from(self.cc.sock.min_rtt_us()) {
            return; // faster than the path: it is the original that arrived
        }
        let rack = &mut self.rack;
        rack.advanced = true;
        rack.rtt_us = rtt_us;
        if (sent_us, seq) > (rack.mstamp_us, rack.seq) {
            rack.mstamp_us = sent_us;
            rack.seq = seq;
            rack.is_retransmission = flags & EVER_RETRANS != 0;
        }
    }

    /// §6.2 step 4: the reordering window widens by min_rtt/4 per round trip with a D-SACK.
    #[inline]
    pub(crate) fn rack_update_reo_wnd(&mut self, progress: &Progress) {
        let Some(prior_delivered) = progress.rate.prior_delivered() else {
            return;
        };
        let rack = &mut self.rack;
        if prior_delivered < rack.last_delivered {
            rack.dsack_seen = false; // less than a round trip ago
        }
        if rack.dsack_seen {
            rack.reo_wnd_steps = rack.reo_wnd_steps.saturating_add(1);
            rack.dsack_seen = false;
            rack.last_delivered = self.cc.sock.delivered;
            rack.reo_wnd_persist = REO_WND_PERSIST;
        } else if rack.reo_wnd_persist == 0 {
            rack.reo_wnd_steps = 1;
        }
    }

    /// How much later than its successor a segment may arrive, µs (RFC 8985 §6.2 step 4).
    pub(crate) fn rack_reo_wnd_us(&self) -> u64 {
        if self.config.behaviour.rack_window != RackWindow::Rfc8985 {
            return self.earlier_reo_wnd_us();
        }
        let sock = &self.cc.sock;
        if !self.scoreboard.reord_seen
            && (sock.ca_state() >= CaState::Recovery || sock.sacked_out >= sock.reordering)
        {
            return 0;
        }
        let settling_us = u64::from(sock.min_rtt_us() >> 2) * u64::from(self.rack.reo_wnd_steps);
        settling_us.min(u64::from(sock.srtt_us >> 3))
    }

    /// The same before RFC 8985: never less than 1 ms.
    #[cold]
    fn earlier_reo_wnd_us(&self) -> u64 {
        let sock = &self.cc.sock;
        let min_rtt_us = sock.min_rtt_us();
        let until_recovery = self.config.behaviour.rack_window == RackWindow::UntilRecovery;
        let is_early = if until_recovery {
            sock.ca_state() < CaState::Recovery
        } else {
            sock.lost_out == 0
        };
        if min_rtt_us == u32::MAX || !(self.scoreboard.reord_seen || is_early) {
            return EARLIER_REO_WND_US;
        }
        let quarter_us = u64::from(min_rtt_us >> 2);
        if until_recovery {
            let settling_us = quarter_us * u64::from(self.rack.reo_wnd_steps);
            settling_us
                .max(EARLIER_REO_WND_US)
                .min(u64::from(sock.srtt_us >> 3))
        } else {
            quarter_us.max(EARLIER_REO_WND_US)
        }
    }

    /// How long a segment sent at `sent_us` may still take, µs; `None`: it is lost.
    #[inline]
    pub(crate) fn rack_remaining_us(&self, sent_us: u64, reo_wnd_us: u64) -> Option<u64> {
        let due_us = sent_us + self.rack.rtt_us + reo_wnd_us;
        due_us
            .checked_sub(self.cc.sock.tcp_mstamp)
            .filter(|&left_us| left_us > 0)
    }

    /// Looks for losses if something was delivered (§6.2 step 5); returns whether the
    /// reordering timer was armed.
    pub(crate) fn rack_mark_lost(&mut self) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait_us = self.rack_detect_loss();
        if wait_us > 0 {
            self.arm_xmit_timer(XmitTimer::Reo, (wait_us + TIMEOUT_MIN_US) * 1000);
        }
        wait_us > 0
    }

    /// Marks segments that RACK finds lost; returns how long the others may still take, µs.
    pub(crate) fn rack_detect_loss(&mut self) -> u64 {
        let reo_wnd_us = self.rack_reo_wnd_us();
        self.collect_candidates();
        self.judge_originals(reo_wnd_us)
            .max(self.judge_retransmissions(reo_wnd_us))
    }

    /// Originals sent before the delivered segment and not delivered themselves.
    fn collect_candidates(&mut self) {
        self.scoreboard.rack_next = self.scoreboard.rack_next.max(self.una);
        while self.scoreboard.rack_next < self.nxt {
            let segment = self.segments.get(self.scoreboard.rack_next);
            if segment.flags & (SACKED | LOST | EVER_RETRANS) == 0 {
                if !self
                    .rack
                    .sent_after(segment.sent_us, self.scoreboard.rack_next)
                {
                    break;
                }
                self.scoreboard
                    .rack_candidates
                    .push_back(self.scoreboard.rack_next);
            }
            self.scoreboard.rack_next += 1;
        }
    }

    fn judge_originals(&mut self, reo_wnd_us: u64) -> u64 {
        while let Some(&seq) = self.scoreboard.rack_candidates.front() {
            if self.is_rack_candidate(seq) {
                let sent_us = self.segments.get(seq).sent_us;
                if self.rack_remaining_us(sent_us, reo_wnd_us).is_some() {
                    break;
                }
                self.mark_lost(seq);
            }
            self.scoreboard.rack_candidates.pop_front();
        }
        // The one sent last is awaited longest.
        while let Some(&seq) = self.scoreboard.rack_candidates.back() {
            if self.is_rack_candidate(seq) {
                let sent_us = self.segments.get(seq).sent_us;
                return self.rack_remaining_us(sent_us, reo_wnd_us).unwrap_or(0);
            }
            self.scoreboard.rack_candidates.pop_back();
        }
        0
    }

    fn is_rack_candidate(&self, seq: u32) -> bool {
        seq >= self.una && self.segments.get(seq).flags & (SACKED | LOST | EVER_RETRANS) == 0
    }

    fn judge_retransmissions(&mut self, reo_wnd_us: u64) -> u64 {
        while let Some(&sent) = self.scoreboard.retransmissions.front() {
            let Retransmission { seq, sent_us, .. } = sent;
            let segment = self.segments.get(seq);
            // Nor does a loss probe count as in flight in addition to its original: it is awaited
            // instead.
            let is_current = seq >= self.una
                && segment.sent_us == sent_us
                && !segment.has(SACKED)
                && segment.flags & (LOST | RETRANS) != LOST;
            if is_current {
                if !self.rack.sent_after_retransmission(&sent) {
                    return 0;
                }
                if let Some(left_us) = self.rack_remaining_us(sent_us, reo_wnd_us) {
                    return left_us;
                }
                self.mark_lost(seq);
            }
            self.scoreboard.retransmissions.pop_front();
        }
        0
    }

    /// Declares a segment, or its retransmission, lost.
    pub(crate) fn mark_lost(&mut self, seq: u32) {
        let segment = self.segments.get_mut(seq);
        let sock = &mut self.cc.sock;
        if segment.has(SACKED) || segment.flags & (LOST | RETRANS) == LOST {
            return; // arrived, or known to be lost
        }
        if segment.has(RETRANS) {
            segment.flags &= !RETRANS;
            sock.retrans_out -= 1;
        }
        if !segment.has(LOST) {
            segment.flags |= LOST;
            sock.lost_out += 1;
        }
        sock.lost += 1;
        if self.cc.has_skb_marked_lost() {
            self.report_lost(seq);
        }
        self.counters.lost_pkts += u64::from(seq < self.stream.end); // a FIN is not data
        if self.config.behaviour.has_hint_defect {
            self.lower_retransmit_hint(seq);
        } else {
            self.scoreboard.lost_queue.push(std::cmp::Reverse(seq));
        }
    }

    /// Reports a lost segment to a congestion control algorithm that was written for a kernel patched for
    /// BBRv2 or BBRv3.
    #[cold]
    fn report_lost(&mut self, seq: u32) {
        let segment = self.segments.get(seq);
        let state = self.segments.transmit_state(seq);
        // As in Linux, delivery clears what would be sampled.
        let is_sampled = segment.has(SAMPLED);
        let lost = LostSegment {
            seq: self.stream.byte_seq(seq),
            end_seq: self.stream.byte_seq(seq + 1),
            sacked: TCPCB_LOST,
            is_app_limited: segment.has(APP_LIMITED),
            delivered_ce: segment.delivered_ce.low_bits(),
            delivered: segment.delivered,
            lost: state.lost,
            first_tx_mstamp: segment.first_tx_us,
            delivered_mstamp: if is_sampled { 0 } else { segment.delivered_us },
            in_flight: state.in_flight,
            pcount: 1,
            ..LostSegment::default()
        };
        self.cc.skb_marked_lost(&lost);
    }
}
