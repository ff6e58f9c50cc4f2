//! The congestion states: Open, Disorder, CWR, Recovery and Loss.
//!
//! Fast recovery with SACK and RACK (RFC 6675, RFC 8985) and the proportional rate reduction (RFC 9937), as Linux
//! combines them. What follows a timeout is in `loss`; undoing a reduction is in `undo`.

use dumbbell_cc::{CaEvent, CaState, TCP_INFINITE_SSTHRESH};

use crate::ack::Progress;
use crate::packet::AckHeader;
use crate::segments::EVER_RETRANS;
use crate::sender::Sender;

/// What loss recovery sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retransmit {
    /// Nothing is retransmitted.
    None,
    /// Only lost segments are.
    Lost,
    /// New data first: F-RTO probes whether the timeout was spurious (RFC 5682 §3.1 step 2b).
    New,
}

/// An episode of loss recovery: how far it reaches, what may prove it spurious, and what it sends next.
#[derive(Debug)]
pub(crate) struct Recovery {
    /// SND.NXT when the congestion state was entered.
    pub(crate) high_seq: u32,
    /// SND.UNA when the window was reduced, while the reduction may be undone.
    pub(crate) undo_marker: Option<u32>,
    /// Retransmissions not yet known to be spurious; -1: none made yet.
    pub(crate) undo_retrans: i32,
    /// Time of the first retransmission of this episode, ms.
    pub(crate) retrans_stamp_ms: Option<u32>,
    /// SND.NXT when a tail loss probe left, until it is resolved (RFC 8985 §7.4).
    pub(crate) tlp_high_seq: Option<u32>,
    /// The tail loss probe was a retransmission.
    pub(crate) tlp_retrans: bool,
    pub(crate) sends_loss_probes: bool,
    /// F-RTO (RFC 5682) watches whether this timeout was spurious.
    pub(crate) frto: bool,
    pub(crate) retransmit: Retransmit,
}

impl Recovery {
    /// No loss has been seen.
    pub(crate) fn new() -> Self {
        Self {
            high_seq: 0,
            undo_marker: None,
            undo_retrans: 0,
            retrans_stamp_ms: None,
            tlp_high_seq: None,
            tlp_retrans: false,
            sends_loss_probes: true,
            frto: false,
            retransmit: Retransmit::None,
        }
    }

    /// A reduction begins at `una`, with `retrans_out` retransmissions in flight.
    pub(crate) fn begin_undo(&mut self, una: u32, retrans_out: u32) {
        self.undo_marker = Some(una);
        let tlp_in_flight = self.tlp_high_seq.is_some() && self.tlp_retrans;
        self.undo_retrans = retrans_out as i32 + i32::from(tlp_in_flight);
        if self.undo_retrans == 0 {
            self.undo_retrans = -1; // 0 would mean that all were spurious
        }
    }

    /// A segment is retransmitted at `now_ms`.
    #[inline]
    pub(crate) fn note_retransmission(&mut self, now_ms: u32) {
        self.retrans_stamp_ms.get_or_insert(now_ms);
        self.undo_retrans = self.undo_retrans.max(0) + 1;
    }

    /// RFC 4015: the ACK echoes a time before the first retransmission, so the original arrived.
    pub(crate) fn packet_was_delayed(&self, ack: &AckHeader) -> bool {
        self.retrans_stamp_ms
            .is_none_or(|stamp_ms| ack.echoes_before(stamp_ms))
    }

    /// Whether everything since the reduction proves that it was spurious.
    pub(crate) fn may_undo(&self, ack: &AckHeader) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == 0 || self.packet_was_delayed(ack))
    }
}

impl Sender {
    /// Whether the window is being reduced.
    #[inline]
    pub(crate) fn in_cwnd_reduction(&self) -> bool {
        matches!(self.cc.sock.ca_state(), CaState::Cwr | CaState::Recovery)
    }

    /// Processes an ACK that is not simple progress, or any ACK outside Open.
    pub(crate) fn fast_retransmit_alert(
        &mut self,
        ack: &AckHeader,
        prior_una: u32,
        progress: &mut Progress,
    ) {
        if progress.ece {
            self.cc.sock.prior_ssthresh = 0; // congestion is proven: nothing to undo
        }
        match self.cc.sock.ca_state() {
            CaState::Open => self.recovery.retrans_stamp_ms = None,
            state if self.una >= self.recovery.high_seq && self.leave_reduction(state, ack) => {
                return;
            }
            _ => {}
        }
        let (mut is_partial, mut has_begun) = (false, false);
        match self.cc.sock.ca_state() {
            CaState::Recovery => {
                is_partial = progress.una_advanced;
                if progress.una_advanced {
                    if self.try_undo_partial(ack, prior_una) {
                        return;
                    }
                } else if !self.scoreboard.has_sack {
                    self.count_duplicate_ack(progress);
                }
                if self.try_undo_dsack() {
                    self.try_to_open(progress.ece);
                }
                self.identify_loss(progress);
                if self.cc.sock.ca_state() != CaState::Recovery {
                    if self.cc.sock.lost_out == 0 {
                        return;
                    }
                    self.enter_recovery(progress.ece);
                    has_begun = true;
                }
            }
            CaState::Loss => {
                self.process_loss(ack, progress);
                self.identify_loss(progress);
                if self.cc.sock.ca_state() != CaState::Open && !progress.lost_retrans {
                    return;
                }
                if !self.open_or_recover(progress) {
                    return;
                }
                has_begun = true;
            }
            _ => {
                if !self.open_or_recover(progress) {
                    return;
                }
                has_begun = true;
            }
        }
        self.mark_lost_by_count(progress, is_partial, has_begun);
        self.recovery.retransmit = Retransmit::Lost;
    }

    /// `high_seq` is acknowledged: the episode is over. Returns true if the ACK is finished:
    /// without SACK the sender stays in the state.
    fn leave_reduction(&mut self, state: CaState, ack: &AckHeader) -> bool {
        match state {
            CaState::Cwr if self.una != self.recovery.high_seq => {
                self.end_cwnd_reduction();
                self.cc.set_state(CaState::Open);
            }
            CaState::Recovery => {
                if !self.scoreboard.has_sack {
                    self.cc.sock.sacked_out = 0;
                }
                if self.try_undo_recovery(ack) {
                    return true;
                }
                self.end_cwnd_reduction_after_recovery();
            }
            _ => {}
        }
        false
    }

    /// Outside recovery: stays (nearly) open, or enters recovery when a loss is proven.
    /// Returns whether recovery was entered.
    fn open_or_recover(&mut self, progress: &mut Progress) -> bool {
        if !self.scoreboard.has_sack {
            if progress.una_advanced {
                self.cc.sock.sacked_out = 0;
            }
            self.count_duplicate_ack(progress);
        }
        if self.cc.sock.ca_state() <= CaState::Disorder {
            self.try_undo_dsack();
        }
        self.identify_loss(progress);
        if self.cc.sock.lost_out == 0 && !self.has_duplicates_enough() {
            self.try_to_open(progress.ece);
            return false;
        }
        self.enter_recovery(progress.ece);
        true
    }

    fn identify_loss(&mut self, progress: &mut Progress) {
        if self.una == self.nxt {
            return;
        }
        if !self.scoreboard.has_sack {
            return self.mark_head_lost(progress.una_advanced);
        }
        let prior_retrans = self.cc.sock.retrans_out;
        if self.rack_mark_lost() {
            progress.set_xmit_timer = false;
        }
        progress.lost_retrans |= prior_retrans > self.cc.sock.retrans_out;
    }

    /// Enters fast recovery: saves what to undo, calls ssthresh, starts PRR. If the ACK
    /// echoes an ECN mark, nothing is saved and the window is not restored later.
    pub(crate) fn enter_recovery(&mut self, ece: bool) {
        self.cc.sock.prior_ssthresh = 0;
        self.recovery.begin_undo(self.una, self.cc.sock.retrans_out);
        if !self.in_cwnd_reduction() {
            if !ece {
                self.cc.sock.prior_ssthresh = self.current_ssthresh();
            }
            self.init_cwnd_reduction();
        }
        self.counters.fast_recovery_count += 1;
        self.cc.set_state(CaState::Recovery);
    }

    pub(crate) fn init_cwnd_reduction(&mut self) {
        self.set_high_seq();
        self.recovery.tlp_high_seq = None;
        let sock = &mut self.cc.sock;
        sock.snd_cwnd_cnt = 0;
        sock.prior_cwnd = sock.snd_cwnd;
        sock.prr_delivered = 0;
        sock.prr_out = 0;
        self.publish_recovery();
        self.cc.sock.snd_ssthresh = self.cc.ssthresh();
        self.queue_cwr();
    }

    /// RFC 9937 §6: proportional rate reduction, one ACK. `is_safe`: below ssthresh, cwnd
    /// may grow as in slow start.
    pub(crate) fn reduce_cwnd(&mut self, delivered: u32, is_safe: bool) {
        let sock = &mut self.cc.sock;
        if delivered == 0 || sock.prior_cwnd == 0 {
            return;
        }
        let in_flight = sock.packets_in_flight();
        sock.prr_delivered += delivered;
        let (ssthresh, prior_cwnd) = (u64::from(sock.snd_ssthresh), u64::from(sock.prior_cwnd));
        let send = if in_flight > sock.snd_ssthresh {
            // Reduce in proportion to what was delivered: ⌈prr_delivered·ssthresh/RecoverFS⌉ − prr_out.
            let target = (ssthresh * u64::from(sock.prr_delivered)).div_ceil(prior_cwnd);
            target as i64 - i64::from(sock.prr_out)
        } else {
            // Below ssthresh: conservation, plus slow start while ACKs are safe (§6, SafeACK).
            let owed = i64::from(sock.prr_delivered) - i64::from(sock.prr_out);
            let send = if is_safe {
                owed.max(i64::from(delivered)) + 1
            } else if self.config.behaviour.conserves_packets {
                i64::from(delivered)
            } else {
                owed.max(i64::from(delivered))
            };
            send.min(i64::from(sock.snd_ssthresh) - i64::from(in_flight))
        };
        // The first ACK of recovery always allows the fast retransmit.
        let send = send.max(i64::from(sock.prr_out == 0)).max(0) as u32;
        sock.snd_cwnd = (in_flight + send).max(1);
    }

    /// The end of CWR, or the whole reduction at once after a tail loss probe repaired a loss
    /// (RFC 8985 §7.4.2).
    pub(crate) fn end_cwnd_reduction(&mut self) {
        self.settle_cwnd(true);
    }

    fn end_cwnd_reduction_after_recovery(&mut self) {
        self.settle_cwnd(self.recovery.undo_marker.is_some());
    }

    /// RFC 9937 §6: at the end of recovery cwnd is ssthresh, unless the reduction was undone.
    fn settle_cwnd(&mut self, reduced: bool) {
        if self.cc.has_cong_control() {
            return;
        }
        let sock = &mut self.cc.sock;
        if sock.snd_ssthresh < TCP_INFINITE_SSTHRESH && reduced {
            sock.snd_cwnd = sock.snd_ssthresh;
            sock.snd_cwnd_stamp = self.now_ms;
        }
        self.cc.cwnd_event(CaEvent::CompleteCwr);
    }

    /// ssthresh without a loss: at least three quarters of cwnd.
    pub(crate) fn current_ssthresh(&self) -> u32 {
        let sock = &self.cc.sock;
        if self.in_cwnd_reduction() {
            sock.snd_ssthresh
        } else {
            sock.snd_ssthresh
                .max((sock.snd_cwnd >> 1) + (sock.snd_cwnd >> 2))
        }
    }

    // Opening.

    fn try_to_open(&mut self, ece: bool) {
        if !self.any_retransmission_done() {
            self.recovery.retrans_stamp_ms = None;
        }
        if ece {
            self.enter_cwr();
        }
        if self.cc.sock.ca_state() != CaState::Cwr {
            self.try_keep_open();
        }
    }

    pub(crate) fn try_keep_open(&mut self) {
        let sock = &self.cc.sock;
        let is_disordered = sock.sacked_out + sock.lost_out > 0 || self.any_retransmission_done();
        let state = if is_disordered {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if sock.ca_state() != state {
            self.cc.set_state(state);
            self.set_high_seq();
        }
    }

    pub(crate) fn any_retransmission_done(&self) -> bool {
        self.cc.sock.retrans_out > 0
            || (self.una < self.nxt && self.segments.get(self.una).has(EVER_RETRANS))
    }

    pub(crate) fn set_high_seq(&mut self) {
        self.recovery.high_seq = self.nxt;
        self.cc.sock.high_seq = self.stream.byte_seq(self.nxt);
    }
}
