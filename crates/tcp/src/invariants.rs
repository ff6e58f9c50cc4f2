//! What must hold between any two events, for tests.

use dumbbell_cc::CaState;

use crate::segments::{EVER_RETRANS, LOST, RETRANS, SACKED};
use crate::sender::Sender;

impl Sender {
    /// Panics unless the counters equal the flags they count, every lost segment waits for its
    /// retransmission (unless that has Linux's defect), and a timer waits for all that is outstanding. Walks the window.
    #[doc(hidden)]
    pub fn check_invariants(&self) {
        let sock = &self.cc.sock;
        let count = |flag: u8| {
            (self.una..self.nxt)
                .filter(|&seq| self.segments.get(seq).has(flag))
                .count() as u32
        };
        assert_eq!(sock.packets_out, self.nxt - self.una, "packets_out");
        if self.scoreboard.has_sack {
            assert_eq!(sock.sacked_out, count(SACKED), "sacked_out");
        }
        assert_eq!(sock.lost_out, count(LOST), "lost_out");
        assert_eq!(sock.retrans_out, count(RETRANS), "retrans_out");
        let may_forget = self.config.behaviour.has_hint_defect;
        for seq in self.una..self.nxt {
            let segment = self.segments.get(seq);
            let is_queued = || {
                self.scoreboard
                    .lost_queue
                    .iter()
                    .any(|entry| entry.0 == seq)
            };
            assert!(
                !(segment.has(SACKED) && segment.has(LOST)),
                "{seq}: arrived and lost"
            );
            assert!(
                !segment.has(RETRANS) || segment.has(EVER_RETRANS),
                "{seq}: in flight again, though never retransmitted"
            );
            assert!(
                segment.flags & (LOST | RETRANS) != LOST || may_forget || is_queued(),
                "{seq}: lost and forgotten"
            );
        }
        assert!(
            self.scoreboard.fack <= self.nxt,
            "SACKed beyond what was sent"
        );
        let sent = (self.una..self.nxt).map(|seq| u64::from(self.payload_bytes(seq)));
        assert_eq!(
            self.stream.sent_bytes,
            self.stream.boundaries.bytes_before(self.nxt)
        );
        assert_eq!(
            self.stream.sent_bytes - self.stream.boundaries.bytes_before(self.una),
            sent.sum::<u64>(),
            "bytes out"
        );
        if sock.ca_state() == CaState::Open {
            assert_eq!(sock.retrans_out, 0, "retransmitting while Open");
        }
        if self.una < self.nxt {
            assert!(self.timers.pending().is_some(), "no timer for what is out");
        }
    }
}
