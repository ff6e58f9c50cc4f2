//! Selective acknowledgments: what was delivered out of order, what is therefore lost, and what the
//! receiver got twice. Work per ACK is bounded by what it newly reports.

use super::flight::Flight;
use super::recovery::DUP_THRESH;
use super::segment_ring::Segment;
use super::sequence::{MAX_WINDOW_BYTES, unwrap};
use crate::packet::SackBlocks;

/// Left and right edge.
type Block = (u64, u64);

/// The SACK scoreboard of a ring of segments.
#[derive(Clone, Debug)]
pub(crate) struct SackState {
    /// Whether both sides may use SACK.
    pub(super) is_permitted: bool,
    sacked_bytes: u64,
    /// Blocks of the last ACK that had any: mostly repeated, and not processed again.
    last_blocks: [Block; SackBlocks::MAX],
    /// Sending time and end of the latest sent segment that was delivered (RFC 8985 §5.2,
    /// RACK.xmit_ts and RACK.end_seq).
    delivered_sent_ns: u64,
    delivered_end: u64,
    /// Index of the first segment that has not been checked for loss.
    next_original: usize,
}

impl SackState {
    pub(super) fn new(is_permitted: bool) -> Self {
        Self {
            is_permitted,
            sacked_bytes: 0,
            last_blocks: [(0, 0); SackBlocks::MAX],
            delivered_sent_ns: 0,
            delivered_end: 0,
            next_original: 0,
        }
    }

    /// The ring was emptied.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.is_permitted);
    }

    /// A segment was inserted at `index`.
    pub(super) fn on_insert(&mut self, index: usize) {
        if index <= self.next_original {
            self.next_original += 1;
        }
    }

    /// The first segment left the ring.
    #[inline]
    pub(super) fn on_pop(&mut self, segment: &Segment) {
        self.next_original = self.next_original.saturating_sub(1);
        if segment.is_sacked() {
            self.sacked_bytes -= u64::from(segment.len);
        }
    }

    /// The first segment was cut by `bytes`.
    pub(super) fn on_trim(&mut self, segment: &Segment, bytes: u64) {
        if segment.is_sacked() {
            self.sacked_bytes -= bytes;
        }
    }

    /// All of the ring's `count` segments are considered lost.
    pub(super) fn on_timeout(&mut self, count: usize) {
        self.next_original = count;
    }

    /// A segment was delivered. One that was sent more than once, the last time too recently, is
    /// ignored (RFC 8985 §6.2 step 2).
    #[inline]
    pub(super) fn on_delivered(&mut self, segment: &Segment, now_ns: u64, rtt_min_ns: u64) {
        if segment.is_unseen() {
            return;
        }
        let age_ns = now_ns.saturating_sub(segment.sent_ns);
        if segment.transmissions > 1 && age_ns < rtt_min_ns {
            return;
        }
        let is_later = segment.sent_ns > self.delivered_sent_ns
            || segment.sent_ns == self.delivered_sent_ns && segment.end() > self.delivered_end;
        if is_later {
            self.delivered_sent_ns = segment.sent_ns;
            self.delivered_end = segment.end();
        }
    }

    /// Whether something sent after this segment has been delivered.
    pub(super) fn is_overtaken(&self, segment: &Segment) -> bool {
        segment.sent_ns < self.delivered_sent_ns
            || segment.sent_ns == self.delivered_sent_ns && segment.end() < self.delivered_end
    }
}

/// The D-SACK among the blocks (RFC 2883 §4): the first, if it is below the cumulative ACK or
/// inside the second.
pub(crate) fn duplicate_block(blocks: &[(u32, u32)], ack: u32) -> Option<(u32, u32)> {
    let &(start, end) = blocks.first()?;
    let is_within = |low: u32, high: u32| {
        start.wrapping_sub(low).cast_signed() >= 0 && high.wrapping_sub(end).cast_signed() >= 0
    };
    let is_acknowledged = ack.wrapping_sub(end).cast_signed() >= 0;
    let is_in_second = blocks
        .get(1)
        .is_some_and(|&(low, high)| is_within(low, high));
    (is_acknowledged || is_in_second).then_some((start, end))
}

impl Flight {
    /// The SACK blocks of an ACK: whether they report anything new.
    pub(super) fn on_sack(&mut self, ack: u32, sack: &SackBlocks, now_ns: u64) -> bool {
        self.sack.is_permitted = true;
        let mut blocks = sack.as_slice();
        if let Some((start, end)) = duplicate_block(blocks, ack) {
            let (start, end) = (unwrap(self.highest, start), unwrap(self.highest, end));
            if start < end {
                self.retransmissions.on_duplicate_report(start, end);
            }
            blocks = &blocks[1..];
        }
        let mut reported = [(0, 0); SackBlocks::MAX];
        let mut is_new = false;
        for (&(start, end), kept) in blocks.iter().zip(&mut reported) {
            let block = (unwrap(self.highest, start), unwrap(self.highest, end));
            if block.0 >= block.1 || block.1 <= self.base() {
                continue;
            }
            if block.1 > self.highest {
                if block.1 - self.highest > MAX_WINDOW_BYTES {
                    continue;
                }
                self.push_unseen(block.1, now_ns, None);
            }
            *kept = block;
            is_new |= self.on_block(block, now_ns);
        }
        if !blocks.is_empty() {
            self.sack.last_blocks = reported;
        }
        is_new
    }

    /// Marks what a block adds to those of the previous ACK.
    fn on_block(&mut self, (start, end): Block, now_ns: u64) -> bool {
        let known = self
            .sack
            .last_blocks
            .iter()
            .find(|known| known.0 < end && start < known.1);
        let Some(&(from, to)) = known else {
            return self.mark_sacked(start, end, now_ns);
        };
        let mut is_new = false;
        if start < from {
            is_new |= self.mark_sacked(start, from, now_ns);
        }
        if to < end {
            is_new |= self.mark_sacked(to, end, now_ns);
        }
        is_new
    }

    fn mark_sacked(&mut self, start: u64, end: u64, now_ns: u64) -> bool {
        let start = start.max(self.base());
        let Some(mut index) = self.ring.find(start).filter(|_| start < end) else {
            return false;
        };
        if self
            .ring
            .get(index)
            .is_some_and(|segment| !segment.is_sacked())
        {
            index = self.split_at(index, start);
        }
        let (epoch, rtt_min_ns) = (self.epoch, self.rtt_min_ns);
        let mut is_new = false;
        let mut sample_ns = None;
        loop {
            index = self.ring.next_not_sacked(index);
            let Some(segment) = self.ring.get(index).filter(|segment| segment.start < end) else {
                break;
            };
            if segment.end() > end {
                self.split_at(index, end);
            }
            if let Some(segment) = self.ring.get_mut(index) {
                self.in_network_bytes -= segment.bytes_in_network(epoch);
                segment.copies = 0;
                segment.set_sacked();
                self.sack.sacked_bytes += u64::from(segment.len);
                let delivered = *segment;
                if delivered.transmissions == 1 && !delivered.is_unseen() {
                    sample_ns = Some(now_ns.saturating_sub(delivered.sent_ns));
                }
                self.sack.on_delivered(&delivered, now_ns, rtt_min_ns);
            }
            is_new = true;
            index += 1;
        }
        if let Some(rtt_ns) = sample_ns {
            self.estimate_rtt(rtt_ns);
            let oldest_ns = self.ring.front().map_or(0, |oldest| oldest.sent_ns);
            if now_ns.saturating_sub(rtt_ns) < oldest_ns {
                self.recovery.start_timer(now_ns);
            }
        }
        is_new
    }

    /// Removes from the network what is lost: what was sent before something delivered (RFC 8985
    /// §6.2), once three segments' worth are SACKed or in recovery. There is no reordering window,
    /// as in Linux until it has seen reordering.
    pub(super) fn find_losses(&mut self) {
        let threshold = u64::from(DUP_THRESH) * u64::from(self.mss_bytes);
        if self.sack.sacked_bytes >= threshold || self.recovery.is_fast() {
            self.find_lost_originals();
            self.find_lost_retransmissions();
        }
    }

    /// Originals are in the order of sending, so each is checked once.
    fn find_lost_originals(&mut self) {
        let epoch = self.epoch;
        loop {
            let index = self.ring.next_not_sacked(self.sack.next_original);
            self.sack.next_original = index;
            let Some(segment) = self.ring.get_mut(index) else {
                return;
            };
            if segment.transmissions == 1 {
                if !self.sack.is_overtaken(segment) {
                    return;
                }
                self.in_network_bytes -= segment.bytes_in_network(epoch);
                segment.copies = 0;
            }
            self.sack.next_original += 1;
        }
    }

    fn find_lost_retransmissions(&mut self) {
        while let Some(lost) = self
            .retransmissions
            .next_overtaken(self.sack.delivered_sent_ns)
        {
            let mut at = lost.start.max(self.base());
            while at < lost.end {
                let epoch = self.epoch;
                let found = self
                    .ring
                    .find(at)
                    .and_then(|index| self.ring.get_mut(index));
                let Some(segment) = found else {
                    break;
                };
                if segment.sent_ns == lost.sent_ns && segment.transmissions > 1 {
                    self.in_network_bytes -= segment.bytes_in_network(epoch);
                    segment.copies = 0;
                }
                at = segment.end();
            }
        }
    }
}
