//! The sequence space between the oldest byte still outstanding and the highest one: a ring of
//! segments without a gap between them. Data that the capture has not seen is a segment, too.

use std::collections::VecDeque;

/// Above this many segments none is split any more: a part counts as the whole, so that no packet
/// costs more than moving this many.
const MAX_SPLIT_LEN: usize = 1 << 15;

/// A piece of sequence space, sent together and with the same fate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// Offset of the first byte.
    pub(crate) start: u64,
    /// When it was last sent, as the capture saw it; of an unseen one, when that was noticed.
    pub(crate) sent_ns: u64,
    /// Length in sequence numbers.
    pub(crate) len: u32,
    /// TSval of its last transmission; of an unseen one, of the packet that revealed it.
    pub(crate) tsval: u32,
    /// Number in the retransmission log of its first retransmission, if it has one.
    pub(crate) first_retransmission: u32,
    /// For a SACKed segment, the distance to the next that may not be SACKed.
    skip: u32,
    /// The timeout whose outstanding data includes it; see `copies`.
    pub(crate) epoch: u32,
    /// How often it was sent, at most 255.
    pub(crate) transmissions: u8,
    /// How many of its copies are in the network, as far as the sender knows.
    pub(crate) copies: u8,
    flags: u8,
}

impl Segment {
    const SACKED: u8 = 1;
    const UNSEEN: u8 = 2;
    const CONTROL: u8 = 4;
    const HAS_TIMESTAMP: u8 = 8;
    const PROBE: u8 = 16;

    /// A segment that is sent for the first time.
    #[inline]
    pub(crate) fn sent(start: u64, len: u32, sent_ns: u64, tsval: Option<u32>, epoch: u32) -> Self {
        Self {
            start,
            sent_ns,
            len,
            tsval: tsval.unwrap_or(0),
            first_retransmission: 0,
            skip: 1,
            epoch,
            transmissions: 1,
            copies: 1,
            flags: if tsval.is_some() {
                Self::HAS_TIMESTAMP
            } else {
                0
            },
        }
    }

    /// One that the sender must have sent, and the capture has not seen.
    pub(crate) fn unseen(
        start: u64,
        len: u32,
        noticed_ns: u64,
        tsval: Option<u32>,
        epoch: u32,
    ) -> Self {
        let mut segment = Self::sent(start, len, noticed_ns, tsval, epoch);
        segment.flags |= Self::UNSEEN;
        segment
    }

    /// The same, for a FIN: a sequence number without payload.
    pub(crate) fn control(mut self) -> Self {
        self.flags |= Self::CONTROL;
        self.copies = 0;
        self
    }

    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    #[inline]
    pub(crate) fn is_sacked(&self) -> bool {
        self.flags & Self::SACKED != 0
    }

    #[inline]
    pub(crate) fn is_unseen(&self) -> bool {
        self.flags & Self::UNSEEN != 0
    }

    #[inline]
    pub(crate) fn is_control(&self) -> bool {
        self.flags & Self::CONTROL != 0
    }

    /// Whether it was only sent to learn whether a closed window has opened.
    #[inline]
    pub(crate) fn is_probe(&self) -> bool {
        self.flags & Self::PROBE != 0
    }

    /// TSval of the last transmission.
    #[inline]
    pub(crate) fn timestamp(&self) -> Option<u32> {
        (self.flags & Self::HAS_TIMESTAMP != 0).then_some(self.tsval)
    }

    /// Bytes of it in the network, if `epoch` is the current one.
    #[inline]
    pub(crate) fn bytes_in_network(&self, epoch: u32) -> u64 {
        if self.epoch == epoch {
            u64::from(self.copies) * u64::from(self.len)
        } else {
            0
        }
    }

    #[inline]
    pub(crate) fn set_sacked(&mut self) {
        self.flags |= Self::SACKED;
        self.skip = 1;
    }

    /// It is sent again, or seen at last.
    pub(crate) fn set_sent(&mut self, sent_ns: u64, tsval: Option<u32>) {
        self.sent_ns = sent_ns;
        self.tsval = tsval.unwrap_or(0);
        self.flags &= !(Self::HAS_TIMESTAMP | Self::UNSEEN);
        if tsval.is_some() {
            self.flags |= Self::HAS_TIMESTAMP;
        }
    }
}

/// Segments by sequence.
#[derive(Debug, Default)]
pub(crate) struct SegmentRing {
    segments: VecDeque<Segment>,
}

impl SegmentRing {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Segment> {
        self.segments.front()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Segment> {
        self.segments.get(index)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Segment> {
        self.segments.get_mut(index)
    }

    #[inline]
    pub(crate) fn push(&mut self, segment: Segment) {
        debug_assert!(
            self.segments
                .back()
                .is_none_or(|last| last.end() == segment.start)
        );
        self.segments.push_back(segment);
    }

    /// The last one is a window probe.
    pub(crate) fn mark_last_probe(&mut self) {
        if let Some(last) = self.segments.back_mut() {
            last.flags |= Segment::PROBE;
        }
    }

    /// The last one, if it is a window probe, is sent in earnest and for the first time; returns whether it is.
    pub(crate) fn send_last_probe(&mut self, sent_ns: u64, tsval: Option<u32>) -> bool {
        let last = self.segments.back_mut().filter(|last| last.is_probe());
        let Some(last) = last else {
            return false;
        };
        last.set_sent(sent_ns, tsval);
        last.transmissions = 1;
        last.flags &= !Segment::PROBE;
        true
    }

    /// Removes the first one; frees memory when that was the last of many.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Segment> {
        const KEPT: usize = 1 << 10;
        let first = self.segments.pop_front();
        if self.segments.is_empty() && self.segments.capacity() > 4 * KEPT {
            self.segments.shrink_to(KEPT);
        }
        first
    }

    /// Cuts the first one: it starts at `offset`, which lies inside it.
    pub(crate) fn trim_front(&mut self, offset: u64) {
        if let Some(first) = self.segments.front_mut() {
            first.len = (first.end() - offset) as u32;
            first.start = offset;
        }
    }

    /// The segment that `offset` lies in. Segments mostly have the same length, so try a guess
    /// first.
    pub(crate) fn find(&self, offset: u64) -> Option<usize> {
        let first = self.segments.front()?;
        let guess = (offset.checked_sub(first.start)? / u64::from(first.len.max(1))) as usize;
        for index in [guess, guess.wrapping_add(1), guess.wrapping_sub(1)] {
            let near = self.segments.get(index);
            if near.is_some_and(|s| s.start <= offset && offset < s.end()) {
                return Some(index);
            }
        }
        let index = self.segments.partition_point(|s| s.end() <= offset);
        (index < self.segments.len()).then_some(index)
    }

    /// Makes a segment start at `offset`, which lies in segment `index`; returns the index of the
    /// one that starts there and whether one was added. A `skip` across the cut now ends one before
    /// its target, which is still a SACKed one.
    pub(crate) fn split(&mut self, index: usize, offset: u64) -> (usize, bool) {
        let count = self.segments.len();
        let Some(segment) = self.segments.get_mut(index) else {
            return (index, false);
        };
        if segment.start >= offset || offset >= segment.end() || count >= MAX_SPLIT_LEN {
            return (index, false);
        }
        let mut rest = *segment;
        segment.len = (offset - segment.start) as u32;
        rest.len -= segment.len;
        rest.start = offset;
        self.segments.insert(index + 1, rest);
        (index + 1, true)
    }

    /// The first segment at or after `index` that is not SACKed. Segments passed once are skipped
    /// the next time.
    pub(crate) fn next_not_sacked(&mut self, index: usize) -> usize {
        let mut end = index;
        while let Some(segment) = self.segments.get(end).filter(|s| s.is_sacked()) {
            end += segment.skip as usize;
        }
        let mut at = index;
        while let Some(segment) = self.segments.get_mut(at).filter(|s| s.is_sacked()) {
            let skip = segment.skip as usize;
            segment.skip = (end - at) as u32;
            at += skip;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(count: u64) -> SegmentRing {
        let mut ring = SegmentRing::default();
        for index in 0..count {
            ring.push(Segment::sent(1000 + index * 100, 100, index, None, 0));
        }
        ring
    }

    #[test]
    fn finds_by_offset_whatever_the_lengths() {
        let mut ring = ring(50);
        ring.split(3, 1310);
        ring.split(20, 2950);
        for offset in 1000..6000 {
            let index = ring.find(offset).expect("it lies in the ring");
            let segment = ring.get(index).expect("it is there");
            assert!(segment.start <= offset && offset < segment.end());
        }
        assert_eq!(ring.find(999), None);
        assert_eq!(ring.find(6000), None);
    }

    #[test]
    fn a_split_leaves_no_gap() {
        let mut ring = ring(3);
        assert_eq!(ring.split(1, 1140), (2, true));
        assert_eq!(ring.split(1, 1100), (1, false), "it starts there already");
        let edges: Vec<_> = (0..4)
            .filter_map(|i| ring.get(i).map(|s| (s.start, s.len)))
            .collect();
        assert_eq!(edges, [(1000, 100), (1100, 40), (1140, 60), (1200, 100)]);
    }

    #[test]
    fn sacked_runs_are_skipped_also_after_the_front_is_gone() {
        let mut ring = ring(10);
        for index in [2, 3, 4, 6] {
            ring.get_mut(index).expect("it is there").set_sacked();
        }
        assert_eq!(ring.next_not_sacked(2), 5);
        ring.get_mut(5).expect("it is there").set_sacked();
        assert_eq!(ring.next_not_sacked(3), 7);
        ring.pop();
        ring.pop();
        assert_eq!(ring.next_not_sacked(0), 5);
        assert_eq!(ring.next_not_sacked(5), 5);
    }
}
