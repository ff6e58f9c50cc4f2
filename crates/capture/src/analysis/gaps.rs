//! Gaps: what the sender must have sent and the capture has not seen, until it is seen or given up.

use super::flight::{Flight, Sent, SentOutcome};
use super::segment_ring::Segment;
use super::sequence::is_before;

/// Largest number of pieces into which one gap is cut beforehand, so that filling it needs no
/// cutting.
const MAX_GAP_PIECES: u64 = 1 << 8;
/// Reordering is over after this long, if timestamps are not available (as in Wireshark).
const REORDERING_NS: u64 = 3_000_000;

impl Flight {
    /// The sender must have sent everything up to `end`.
    pub(super) fn push_unseen(&mut self, end: u64, now_ns: u64, tsval: Option<u32>) {
        let piece = ((end - self.highest) / MAX_GAP_PIECES).max(u64::from(self.mss_bytes.max(1)));
        while self.highest < end {
            let len = (end - self.highest).min(piece) as u32;
            self.push_new(Segment::unseen(
                self.highest,
                len,
                now_ns,
                tsval,
                self.epoch,
            ));
        }
    }

    /// Marks gaps in `start..end` as seen; returns their number of bytes.
    pub(super) fn fill_gaps(
        &mut self,
        sent: &Sent,
        start: u64,
        end: u64,
        outcome: &mut SentOutcome,
    ) -> u64 {
        let mut filled = 0;
        let mut at = start;
        while at < end {
            let Some(index) = self.ring.find(at) else {
                break;
            };
            let Some(segment) = self.ring.get(index).copied() else {
                break;
            };
            let until = segment.end().min(end);
            if segment.is_unseen() {
                filled += until - at;
                outcome.is_of_unseen_original |= self.is_sent_later(sent, &segment);
                let index = self.split_at(index, at);
                self.split_at(index, until);
                self.see(index, sent);
            }
            at = until;
        }
        filled
    }

    /// Whether a packet was sent later than those around the gap it fills.
    fn is_sent_later(&self, sent: &Sent, gap: &Segment) -> bool {
        if let (Some(tsval), Some(of_gap)) = (sent.tsval, gap.timestamp())
            && tsval != of_gap
        {
            return is_before(of_gap, tsval);
        }
        let reordering_ns = REORDERING_NS.max(self.estimator.srtt_ns() / 2);
        sent.now_ns.saturating_sub(gap.sent_ns) > reordering_ns
    }

    fn see(&mut self, index: usize, sent: &Sent) {
        let epoch = self.epoch;
        if let Some(segment) = self.ring.get_mut(index) {
            let before = segment.bytes_in_network(epoch);
            segment.set_sent(sent.now_ns, sent.tsval);
            segment.epoch = epoch;
            segment.copies = u8::from(!segment.is_sacked());
            self.in_network_bytes =
                self.in_network_bytes - before + segment.bytes_in_network(epoch);
        }
    }
}
