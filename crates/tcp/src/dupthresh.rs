//! Loss detection by counting, as Linux had it next to RACK up to 4.17: a segment is lost when at least
//! `reordering` segments above it were SACKed (RFC 6675 `IsLost`, in packets).

use crate::ack::Progress;
use crate::behaviour::Detection;
use crate::segments::{LOST, SACKED};
use crate::sender::Sender;

/// How far the count has come, so that an ACK costs what it reveals (Linux's `lost_skb_hint`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    /// All below are SACKed or marked lost.
    next: u32,
    /// How many of those are SACKed.
    sacked_below: u32,
}

impl Count {
    #[inline]
    pub(crate) fn note_sacked(&mut self, seq: u32) {
        self.sacked_below += u32::from(seq < self.next);
    }

    #[inline]
    pub(crate) fn note_acked(&mut self) {
        self.sacked_below = self.sacked_below.saturating_sub(1);
    }
}

impl Sender {
    /// Whether enough segments were SACKed that one below them is lost.
    #[inline]
    pub(crate) fn has_duplicates_enough(&self) -> bool {
        let sock = &self.cc.sock;
        self.config.behaviour.detection == Detection::DupthreshAndRack
            && self.scoreboard.has_sack
            && sock.sacked_out >= sock.reordering
    }

    /// Marks what the ACK shows to be lost in recovery; `is_partial`: a partial ACK of it, `has_begun`: it began
    /// with this ACK.
    pub(crate) fn mark_lost_by_count(
        &mut self,
        progress: &Progress,
        is_partial: bool,
        has_begun: bool,
    ) {
        if self.config.behaviour.detection != Detection::DupthreshAndRack
            || !self.scoreboard.has_sack
            || self.una == self.nxt
        {
            return;
        }
        let (sacked_out, reordering) = (self.cc.sock.sacked_out, self.cc.sock.reordering);
        let reaches_far = self.scoreboard.fack > self.una + reordering + 1;
        let is_duplicate =
            !(progress.una_advanced || progress.window_updated || progress.data_acked);
        let is_due = if is_partial {
            reaches_far
        } else {
            is_duplicate || progress.data_sacked && reaches_far
        };
        if !is_due {
            return;
        }
        if let Some(below) = sacked_out.checked_sub(reordering) {
            self.mark_below(below);
        } else if has_begun && self.segments.get(self.una).flags & (LOST | SACKED) == 0 {
            self.mark_lost(self.una); // RACK found a loss before the count did
        }
    }

    /// Marks lost what has at most `sacked` SACKed segments below it.
    fn mark_below(&mut self, sacked: u32) {
        if self.scoreboard.count.next < self.una {
            self.scoreboard.count = Count {
                next: self.una,
                sacked_below: 0,
            };
        }
        while self.scoreboard.count.next < self.nxt {
            let flags = self.segments.get(self.scoreboard.count.next).flags;
            let counted = self.scoreboard.count.sacked_below + u32::from(flags & SACKED != 0);
            if counted > sacked {
                break;
            }
            self.scoreboard.count.sacked_below = counted;
            if flags & (SACKED | LOST) == 0 {
                self.mark_lost(self.scoreboard.count.next);
            }
            self.scoreboard.count.next += 1;
        }
    }
}
