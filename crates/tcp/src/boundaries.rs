//! Where segments begin in the byte stream.
//!
//! Sequence numbers count segments, and nearly all segments are full. Only those that are not are
//! remembered, so that byte numbers follow by one multiplication, and a bulk transfer, which has
//! at most one short segment, pays nothing.

use std::collections::VecDeque;

/// A segment that is not full.
#[derive(Clone, Copy, Debug)]
struct Short {
    seq: u32,
    /// What it and all short segments before it lack of full ones, bytes.
    missing_bytes: u64,
}

/// The byte numbers of a stream's segments, the first segment and the first byte being 0.
#[derive(Clone, Debug)]
pub struct Boundaries {
    mss_bytes: u32,
    /// In ascending order.
    short: VecDeque<Short>,
    /// What forgotten ones are short, bytes.
    forgotten_bytes: u64,
}

impl Boundaries {
    /// A stream in which every segment carries `mss_bytes`, until [`Boundaries::note`] says otherwise.
    pub fn new(mss_bytes: u32) -> Self {
        Self {
            mss_bytes,
            short: VecDeque::new(),
            forgotten_bytes: 0,
        }
    }

    /// Segment `seq`, which is beyond all that were noted before, carries `payload_bytes`.
    #[inline]
    pub fn note(&mut self, seq: u32, payload_bytes: u32) {
        if payload_bytes != self.mss_bytes {
            self.note_short(seq, payload_bytes);
        }
    }

    #[cold]
    fn note_short(&mut self, seq: u32, payload_bytes: u32) {
        let last = self.short.back();
        debug_assert!(last.is_none_or(|last| last.seq < seq), "noted backwards");
        let before_bytes = last.map_or(self.forgotten_bytes, |last| last.missing_bytes);
        let missing_bytes = before_bytes + u64::from(self.mss_bytes - payload_bytes);
        self.short.push_back(Short { seq, missing_bytes });
    }

    /// Bytes before segment `seq`.
    #[inline]
    pub fn bytes_before(&self, seq: u32) -> u64 {
        let missing_bytes = if self.short.is_empty() {
            self.forgotten_bytes
        } else {
            self.missing_before_segment(seq)
        };
        u64::from(seq) * u64::from(self.mss_bytes) - missing_bytes
    }

    #[cold]
    fn missing_before_segment(&self, seq: u32) -> u64 {
        self.missing_before(self.short_before(seq))
    }

    /// Payload of segment `seq`, bytes.
    #[inline]
    pub fn payload_bytes(&self, seq: u32) -> u32 {
        if self.short.is_empty() {
            self.mss_bytes
        } else {
            self.payload_of_few(seq)
        }
    }

    #[cold]
    fn payload_of_few(&self, seq: u32) -> u32 {
        let index = self.short_before(seq);
        match self.short.get(index) {
            Some(short) if short.seq == seq => {
                self.mss_bytes - (short.missing_bytes - self.missing_before(index)) as u32
            }
            _ => self.mss_bytes,
        }
    }

    /// Whether any short segment is remembered.
    #[inline]
    pub fn has_short(&self) -> bool {
        !self.short.is_empty()
    }

    /// Segments before `una` are not asked for any more, except where `una` begins.
    pub fn forget_before(&mut self, una: u32) {
        while let Some(short) = self.short.front()
            && short.seq < una
        {
            self.forgotten_bytes = short.missing_bytes;
            self.short.pop_front();
        }
    }

    /// Number of remembered short segments before `seq`.
    fn short_before(&self, seq: u32) -> usize {
        // Mostly asked for the newest.
        match self.short.back() {
            Some(last) if last.seq < seq => self.short.len(),
            _ => self.short.partition_point(|short| short.seq < seq),
        }
    }

    /// What the first `count` remembered ones and the forgotten ones are short, bytes.
    fn missing_before(&self, count: usize) -> u64 {
        match count.checked_sub(1) {
            Some(last) => self.short[last].missing_bytes,
            None => self.forgotten_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With segments of any size, byte numbers are the sums of what lies before, forgotten or not.
        #[test]
        fn byte_numbers_are_the_sums_of_the_payloads(
            sizes in prop::collection::vec(prop_oneof![Just(1448_u32), 0_u32..1448], 1..200),
            una in 0_usize..200,
        ) {
            let una = una.min(sizes.len() - 1);
            let mut boundaries = Boundaries::new(1448);
            for (seq, &size) in (0..).zip(&sizes) {
                boundaries.note(seq, size);
            }
            boundaries.forget_before(una as u32);
            for seq in una..sizes.len() {
                let sum = sizes[..seq].iter().map(|&size| u64::from(size)).sum::<u64>();
                prop_assert_eq!(boundaries.bytes_before(seq as u32), sum);
                prop_assert_eq!(boundaries.payload_bytes(seq as u32), sizes[seq]);
            }
        }
    }

    #[test]
    fn full_segments_are_not_remembered() {
        let mut boundaries = Boundaries::new(1000);
        for seq in 0..10 {
            boundaries.note(seq, 1000);
        }
        assert!(boundaries.short.is_empty());
        assert_eq!(boundaries.bytes_before(10), 10_000);
    }
}
