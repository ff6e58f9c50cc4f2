//! Where retransmission goes on, with the defect that Linux had up to 5.4 (corrected by "tcp: fix marked lost packets
//! not being retransmitted", 5.5): when what it points to is acknowledged, and the same ACK reveals a loss, it points to
//! that loss, and what was marked lost before and still waits for cwnd is skipped until a timeout.

use crate::segments::{LOST, RETRANS, SACKED};
use crate::sender::Sender;
use crate::timers::XmitTimer;

impl Sender {
    /// A segment is marked lost: retransmission goes on no later than there.
    pub(crate) fn lower_retransmit_hint(&mut self, seq: u32) {
        let hint = self
            .scoreboard
            .retransmit_hint
            .filter(|&hint| hint >= self.una);
        self.scoreboard.retransmit_hint = Some(hint.map_or(seq, |hint| hint.min(seq)));
    }

    /// Lost segments from the hint on, as far as cwnd and pacing allow. Walks what is out, as Linux does.
    #[cold]
    pub(crate) fn retransmit_from_hint(&mut self) {
        let hint = self
            .scoreboard
            .retransmit_hint
            .filter(|&hint| hint >= self.una);
        let mut has_hole = false;
        let max_segs = self.max_burst_pkts();
        for seq in hint.unwrap_or(self.una)..self.nxt {
            if self.is_paced_out() {
                return;
            }
            if !has_hole {
                self.scoreboard.retransmit_hint = Some(seq);
            }
            let sock = &self.cc.sock;
            let room = sock.snd_cwnd.saturating_sub(sock.packets_in_flight());
            if room == 0 || sock.retrans_out >= sock.lost_out {
                return;
            }
            let flags = self.segments.get(seq).flags;
            if flags & LOST == 0 {
                // Not lost yet, it may be later: go on from here then.
                has_hole |= flags & (RETRANS | SACKED) == 0;
            } else if flags & (RETRANS | SACKED) == 0 {
                let segments = self.lost_together(seq, room.min(max_segs));
                self.retransmit_segments(seq, segments);
                if self.in_cwnd_reduction() {
                    self.cc.sock.prr_out += segments;
                }
                if seq == self.una && self.timers.pending() != Some(XmitTimer::Reo) {
                    self.arm_paced_timer(XmitTimer::Rto, self.rto_us());
                }
            }
        }
    }
}
