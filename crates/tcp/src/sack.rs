//! The scoreboard: SACK (RFC 2018, RFC 6675) and D-SACK (RFC 2883).

use std::ops::Range;

use crate::ack::Progress;
use crate::sack_store::{SackBlock, SackBlocks};
use crate::segments::{EVER_RETRANS, LOST, RETRANS, SACKED, SAMPLED};
use crate::sender::Sender;

/// `tcp_max_reordering`: Linux's upper limit of reordering, segments.
pub(crate) const MAX_REORDERING: u32 = 300;

impl Sender {
    /// Marks what the ACK's blocks newly report. Work is proportional to the newly
    /// reported segments: what the previous ACK reported is skipped.
    pub(crate) fn process_sack(
        &mut self,
        sack: &SackBlocks,
        prior_una: u32,
        progress: &mut Progress,
    ) {
        if let Some(dsack) = sack.dsack() {
            self.process_dsack(dsack, prior_una, progress);
        }
        let blocks = sack.in_order();
        for block in blocks {
            if block.end > self.una {
                self.mark_block(block, progress);
            }
        }
        self.scoreboard.remember(blocks);
        if progress.reord < self.scoreboard.fack {
            self.check_reordering(progress.reord, self.scoreboard.fack);
        }
    }

    #[inline(never)]
    fn mark_block(&mut self, block: SackBlock, progress: &mut Progress) {
        let (mut seq, end) = (block.start.max(self.una), block.end.min(self.nxt));
        for known in self.scoreboard.known_blocks() {
            if seq >= end {
                break;
            }
            if seq < known.start {
                self.mark_range(seq..end.min(known.start), progress);
            }
            seq = seq.max(known.end);
        }
        if seq < end {
            self.mark_range(seq..end, progress);
        }
        self.scoreboard.fack = self.scoreboard.fack.max(end);
    }

    /// Apart, so that what the previous ACK reported is skipped without loading what only marking needs.
    #[inline(never)]
    fn mark_range(&mut self, segments: Range<u32>, progress: &mut Progress) {
        for seq in segments {
            self.mark_sacked(seq, progress);
        }
    }

    fn mark_sacked(&mut self, seq: u32, progress: &mut Progress) {
        let segment = self.segments.get_mut(seq);
        let (flags, sent_us) = (segment.flags, segment.sent_us);
        if flags & SACKED != 0 {
            return;
        }
        let sock = &mut self.cc.sock;
        let mut flags_now = flags | SACKED;
        if flags & LOST != 0 {
            // A retransmission marked lost is assumed to be the one that arrived; one not marked
            // lost may still be on its way and stays counted.
            flags_now &= !LOST;
            sock.lost_out -= 1;
            if flags & RETRANS != 0 {
                flags_now &= !RETRANS;
                sock.retrans_out -= 1;
            }
        }
        segment.flags = flags_now;
        sock.sacked_out += 1;
        self.scoreboard.count.note_sacked(seq);
        sock.delivered += 1;
        progress.data_sacked = true;
        if flags & EVER_RETRANS == 0 {
            if seq < self.scoreboard.fack {
                progress.reord = progress.reord.min(seq);
            }
            progress.orig_sack_acked |= seq < self.recovery.high_seq;
            let first_us = progress
                .sacked_sent_us
                .map_or(sent_us, |(first_us, _)| first_us);
            progress.sacked_sent_us = Some((first_us, sent_us));
        }
        progress.rate.on_delivered(sock, seq, segment);
        segment.flags |= SAMPLED;
        self.rack_advance(seq, flags, sent_us);
    }

    /// A duplicate arrived: a retransmission was unnecessary, or RACK was too early.
    #[inline(never)]
    fn process_dsack(&mut self, block: SackBlock, prior_una: u32, progress: &mut Progress) {
        let duplicates = block.end - block.start;
        progress.dsack_tlp = self.recovery.tlp_high_seq == Some(block.end);
        self.scoreboard.dsack_dups += duplicates;
        if self.scoreboard.dsack_dups > self.cc.sock.total_retrans {
            return; // the network duplicates packets; none of ours was spurious
        }
        progress.dsack = true;
        // A FIN is not among the retransmitted packets either.
        let data_pkts = block.end.min(self.stream.end).saturating_sub(block.start);
        self.counters.spurious_retransmits += u64::from(data_pkts);
        // The path delivered it, needed or not.
        self.cc.sock.delivered += duplicates;
        if self.scoreboard.reord_seen && !progress.dsack_tlp {
            self.rack.dsack_seen = true;
        }
        let was_forgotten = block.end <= prior_una;
        let was_retransmitted = was_forgotten || self.segments.get(block.start).has(EVER_RETRANS);
        let is_of_episode = self
            .recovery
            .undo_marker
            .is_some_and(|marker| block.end > marker);
        if self.recovery.undo_retrans > 0 && is_of_episode && was_retransmitted {
            self.recovery.undo_retrans = (self.recovery.undo_retrans - duplicates as i32).max(0);
        }
        if !was_forgotten && block.start >= self.una && block.start < self.nxt {
            let segment = self.segments.get_mut(block.start);
            if segment.has(RETRANS) {
                segment.flags &= !RETRANS;
                self.cc.sock.retrans_out -= 1;
            }
        }
    }

    /// A segment below `fack` arrived that was never retransmitted: remember how far apart.
    #[cold]
    pub(crate) fn check_reordering(&mut self, low: u32, fack: u32) {
        let distance = fack - low;
        let sock = &mut self.cc.sock;
        if distance > sock.reordering {
            sock.reordering = distance.min(MAX_REORDERING);
        }
        self.scoreboard.reord_seen = true;
        self.cc.sock.reord_seen += 1;
    }
}
