//! Undoes a reduction of the window that proves spurious: Eifel by timestamps (RFC 4015), D-SACK (RFC 3708).

use dumbbell_cc::CaState;

use crate::packet::AckHeader;
use crate::segments::LOST;
use crate::sender::Sender;

impl Sender {
    /// Copies the undo state to the socket, where a congestion control algorithm reads it.
    pub(crate) fn publish_recovery(&mut self) {
        let undo_marker = self
            .recovery
            .undo_marker
            .map_or(0, |una| self.stream.byte_seq(una));
        let sock = &mut self.cc.sock;
        sock.undo_marker = undo_marker;
        sock.undo_retrans = self.recovery.undo_retrans;
        sock.retrans_stamp = self.recovery.retrans_stamp_ms.unwrap_or(0);
    }

    fn undo_cwnd_reduction(&mut self, unmark_lost: bool) {
        if unmark_lost {
            self.unmark_lost();
        }
        if self.cc.sock.prior_ssthresh > 0 {
            self.publish_recovery();
            self.cc.sock.snd_cwnd = self.cc.undo_cwnd();
            let sock = &mut self.cc.sock;
            if sock.prior_ssthresh > sock.snd_ssthresh {
                sock.snd_ssthresh = sock.prior_ssthresh;
                self.withdraw_cwr();
            }
        }
        self.cc.sock.snd_cwnd_stamp = self.now_ms;
        self.recovery.undo_marker = None;
        self.publish_recovery();
        self.rack.advanced = true; // check again what is still missing
    }

    /// Nothing is lost; RACK starts over. Proportional to the window, once per undo.
    fn unmark_lost(&mut self) {
        for seq in self.una..self.nxt {
            self.segments.get_mut(seq).flags &= !LOST;
        }
        self.cc.sock.lost_out = 0;
        self.scoreboard.forget_losses(self.una);
    }

    /// The end of recovery, spurious or not. Returns whether the state is kept all the same.
    pub(crate) fn try_undo_recovery(&mut self, ack: &AckHeader) -> bool {
        if self.recovery.may_undo(ack) {
            if self.cc.sock.ca_state() == CaState::Loss {
                self.counters.spurious_rto_count += 1;
            } else {
                self.counters.spurious_recovery_count += 1;
            }
            self.undo_cwnd_reduction(false);
        } else {
            self.rack.reo_wnd_persist = self.rack.reo_wnd_persist.saturating_sub(1);
        }
        if self.keeps_state_without_sack() {
            return true;
        }
        self.cc.set_state(CaState::Open);
        false
    }

    /// RFC 6582 §4: without SACK nothing is open until something above `high_seq` is acknowledged, or
    /// late duplicate ACKs would begin recovery again.
    fn keeps_state_without_sack(&mut self) -> bool {
        if self.scoreboard.has_sack || self.una != self.recovery.high_seq {
            return false;
        }
        if !self.any_retransmission_done() {
            self.recovery.retrans_stamp_ms = None;
        }
        true
    }

    pub(crate) fn try_undo_dsack(&mut self) -> bool {
        if self.recovery.undo_marker.is_none() || self.recovery.undo_retrans != 0 {
            return false;
        }
        self.rack.reo_wnd_persist = (self.rack.reo_wnd_persist + 1).min(16);
        self.counters.spurious_recovery_count += 1;
        self.undo_cwnd_reduction(false);
        true
    }

    /// A partial ACK that the original caused: no loss. Returns whether processing is complete.
    pub(crate) fn try_undo_partial(&mut self, ack: &AckHeader, prior_una: u32) -> bool {
        if self.recovery.undo_marker.is_none() || !self.recovery.packet_was_delayed(ack) {
            return false;
        }
        if prior_una < self.scoreboard.fack {
            self.check_reordering(prior_una, self.scoreboard.fack);
        }
        if self.cc.sock.retrans_out > 0 {
            return true; // wait for what is still out
        }
        if !self.any_retransmission_done() {
            self.recovery.retrans_stamp_ms = None;
        }
        self.counters.spurious_recovery_count += 1;
        self.undo_cwnd_reduction(true);
        self.try_keep_open();
        false
    }

    pub(crate) fn try_undo_loss(&mut self, ack: &AckHeader, by_frto: bool) -> bool {
        if !by_frto && !self.recovery.may_undo(ack) {
            return false;
        }
        self.counters.spurious_rto_count += 1;
        self.undo_cwnd_reduction(true);
        self.cc.sock.icsk_retransmits = 0;
        if self.keeps_state_without_sack() {
            return true;
        }
        if by_frto || self.scoreboard.has_sack {
            self.cc.set_state(CaState::Open);
        }
        true
    }
}
