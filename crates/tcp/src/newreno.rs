//! A peer that does not permit SACK: each duplicate ACK stands for a segment that arrived, and one
//! segment at a time is found lost (RFC 5681 §3.2, NewReno of RFC 6582), as Linux emulates it.

use dumbbell_cc::CaState;

use crate::ack::Progress;
use crate::sack::MAX_REORDERING;
use crate::segments::LOST;
use crate::sender::Sender;

impl Sender {
    /// The peer does not permit SACK: losses are found by duplicate ACKs, and no tail loss probes
    /// are sent, which need SACK (RFC 8985 §7.2).
    pub fn disable_sack(&mut self) {
        self.scoreboard.has_sack = false;
        self.recovery.sends_loss_probes = false;
    }

    /// A duplicate ACK: one more segment has arrived, whichever it is (Linux's `tcp_add_reno_sack`).
    pub(crate) fn count_duplicate_ack(&mut self, progress: &Progress) {
        if !progress.is_dup_ack() {
            return;
        }
        let prior_sacked = self.cc.sock.sacked_out;
        self.cc.sock.sacked_out += 1;
        self.limit_duplicate_acks(0);
        let sock = &mut self.cc.sock;
        sock.delivered += sock.sacked_out.saturating_sub(prior_sacked);
    }

    /// Data is acknowledged: one segment filled the hole, and the others were counted by duplicate
    /// ACKs before (Linux's `tcp_remove_reno_sacks`).
    #[cold]
    pub(crate) fn forget_duplicate_acks(&mut self, acked: u32, progress: &mut Progress) {
        let Some(behind_hole) = acked.checked_sub(1) else {
            return;
        };
        let sock = &mut self.cc.sock;
        let counted = sock.sacked_out.min(behind_hole);
        sock.sacked_out -= counted;
        sock.delivered -= counted;
        self.limit_duplicate_acks(acked);
        if progress.retrans_data_acked {
            // Which of the two arrived is not known.
            progress.orig_sack_acked = false;
        }
    }

    /// No more segments can have arrived than are not lost; duplicate ACKs beyond them show
    /// reordering (Linux's `tcp_check_reno_reordering`).
    fn limit_duplicate_acks(&mut self, acked: u32) {
        let sock = &mut self.cc.sock;
        let holes = sock.lost_out.max(1).min(sock.packets_out);
        if sock.sacked_out + holes <= sock.packets_out {
            return;
        }
        sock.sacked_out = sock.packets_out - holes;
        sock.reordering = (sock.packets_out + acked).min(MAX_REORDERING);
        sock.reord_seen += 1;
        self.scoreboard.reord_seen = true;
    }

    /// The head is lost: of a first window after as many duplicate ACKs as the threshold, of recovery
    /// with each partial ACK (RFC 6582 §3.2).
    pub(crate) fn mark_head_lost(&mut self, una_advanced: bool) {
        let sock = &self.cc.sock;
        let is_proven = match sock.ca_state() {
            CaState::Recovery => una_advanced,
            CaState::Loss => false,
            _ => sock.sacked_out >= sock.reordering,
        };
        if is_proven && !self.segments.get(self.una).has(LOST) {
            self.mark_lost(self.una);
        }
    }
}
