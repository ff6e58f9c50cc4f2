//! The Loss state: what a timeout begins (RFC 5681 §3.1, RFC 8985 §6.3), and F-RTO (RFC 5682), which finds out
//! whether it was spurious.

use dumbbell_cc::{CaEvent, CaState};

use crate::ack::Progress;
use crate::establish::INITIAL_REORDERING;
use crate::packet::AckHeader;
use crate::recovery::Retransmit;
use crate::sender::Sender;

impl Sender {
    /// An ACK in Loss: F-RTO's verdict (RFC 5682 §3.1, with SACK), or continue retransmitting.
    pub(crate) fn process_loss(&mut self, ack: &AckHeader, progress: &Progress) {
        let recovered = self.una >= self.recovery.high_seq;
        if progress.una_advanced && self.try_undo_loss(ack, false) {
            return;
        }
        // Linux 4.10 to 4.15.10: it says of itself that this is F-RTO's step 3b whether F-RTO runs or not.
        if self.config.behaviour.undoes_on_any_sack
            && progress.orig_sack_acked
            && self.recovery.undo_marker.is_some()
            && self.try_undo_loss(ack, true)
        {
            return;
        }
        if self.recovery.frto {
            // Step 3b: data from before the timeout arrived without being retransmitted.
            if progress.orig_sack_acked && self.try_undo_loss(ack, true) {
                return;
            }
            if self.nxt > self.recovery.high_seq {
                if progress.data_sacked || progress.is_dup_ack() {
                    self.recovery.frto = false; // step 3a: the loss was real
                }
            } else if progress.una_advanced && !recovered {
                self.set_high_seq();
                if self.may_probe_with_new() {
                    self.recovery.retransmit = Retransmit::New; // step 2b
                    return;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(ack);
            return;
        }
        if !self.scoreboard.has_sack {
            if self.nxt > self.recovery.high_seq && progress.is_dup_ack() {
                self.count_duplicate_ack(progress); // new data of step 2b arrived
            } else if progress.una_advanced {
                self.cc.sock.sacked_out = 0;
            }
        }
        self.recovery.retransmit = Retransmit::Lost;
    }

    /// Whether there is something new that the receiver's window admits.
    fn may_probe_with_new(&self) -> bool {
        self.nxt < self.stream.segments_end()
            && (self.nxt >= self.stream.end && self.stream.sent_bytes < self.output.wnd_end_bytes
                || self.window_admits(1) > 0)
    }

    /// A retransmission timeout (RFC 5681 §3.1 (4), RFC 6582, RFC 8985 §6.3).
    pub(crate) fn enter_loss(&mut self) {
        let prior_state = self.cc.sock.ca_state();
        let is_new_recovery = prior_state < CaState::Recovery;
        self.mark_lost_on_timeout();
        let first_of_window = prior_state <= CaState::Disorder
            || self.recovery.high_seq <= self.una
            || (prior_state == CaState::Loss && self.cc.sock.icsk_retransmits == 0);
        if first_of_window {
            self.cc.sock.prior_ssthresh = self.current_ssthresh();
            self.cc.sock.prior_cwnd = self.cc.sock.snd_cwnd;
            self.publish_recovery();
            self.cc.sock.snd_ssthresh = self.cc.ssthresh();
            self.cc.cwnd_event(CaEvent::Loss);
            self.recovery.begin_undo(self.una, self.cc.sock.retrans_out);
        }
        let sock = &mut self.cc.sock;
        sock.snd_cwnd = if self.config.behaviour.rto_cwnd_one {
            1
        } else {
            sock.packets_in_flight() + 1
        };
        sock.snd_cwnd_cnt = 0;
        sock.snd_cwnd_stamp = self.now_ms;
        if prior_state <= CaState::Disorder && sock.sacked_out >= INITIAL_REORDERING {
            sock.reordering = sock.reordering.min(INITIAL_REORDERING);
        }
        self.cc.set_state(CaState::Loss);
        self.set_high_seq();
        self.recovery.tlp_high_seq = None;
        self.queue_cwr();
        self.scoreboard.forget_hints();
        self.recovery.frto = is_new_recovery || self.cc.sock.icsk_retransmits > 0;
    }

    /// RFC 8985 §6.3: on a timeout the head is lost, and what was sent long enough ago; in earlier releases all
    /// that was not SACKed.
    fn mark_lost_on_timeout(&mut self) {
        if !self.scoreboard.has_sack {
            self.cc.sock.sacked_out = 0;
        }
        let is_everything = self.config.behaviour.rto_marks_all;
        for seq in self.una..self.nxt {
            let sent_us = self.segments.get(seq).sent_us;
            if is_everything || seq == self.una || self.rack_remaining_us(sent_us, 0).is_none() {
                self.mark_lost(seq);
            }
        }
    }
}
