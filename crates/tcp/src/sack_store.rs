//! SACK blocks of the ACKs that are on their way, and what Accurate ECN adds to them.
//!
//! Most ACKs have neither, so packets do not carry them but a slot's number, and they lie here until
//! the ACK is delivered or dropped.

use crate::accecn::AccEcnFeedback;

use dumbbell_net::SackOrder;

/// SACK blocks that fit next to timestamps in the 40 option bytes (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A range of segments, `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// Number of the first segment.
    pub start: u32,
    /// One past the last segment.
    pub end: u32,
}

/// What an ACK's SACK option reports, and its feedback by Accurate ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    count: u8,
    /// The first block reports a duplicate (D-SACK, RFC 2883).
    has_dsack: bool,
    accecn: Option<AccEcnFeedback>,
}

impl SackBlocks {
    /// A duplicate, if one arrived, and as many of `received`, most recently received first (RFC
    /// 2018 §4), as there is room for.
    #[inline]
    pub fn new(dsack: Option<SackBlock>, received: &[SackBlock]) -> Self {
        let mut sack = Self::default();
        sack.fill(dsack, received);
        sack
    }

    /// Fills these, which are empty.
    #[inline]
    pub(crate) fn fill(&mut self, dsack: Option<SackBlock>, received: &[SackBlock]) {
        let first = usize::from(dsack.is_some());
        self.blocks[0] = dsack.unwrap_or_default();
        for (place, block) in self.blocks[first..].iter_mut().zip(received) {
            *place = *block;
        }
        self.count = (first + received.len()).min(MAX_SACK_BLOCKS) as u8;
        self.has_dsack = dsack.is_some();
    }

    /// The same with feedback by Accurate ECN.
    #[must_use]
    pub fn with_accecn(mut self, accecn: AccEcnFeedback) -> Self {
        self.accecn = Some(accecn);
        self
    }

    /// The first `count` of these.
    #[must_use]
    pub(crate) fn first(mut self, count: usize) -> Self {
        self.count = self.count.min(count as u8);
        self
    }

    /// The feedback by Accurate ECN, if the connection has it.
    #[inline]
    pub fn accecn(&self) -> Option<&AccEcnFeedback> {
        self.accecn.as_ref()
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether there is neither a block nor feedback by Accurate ECN.
    #[inline]
    pub(crate) fn says_nothing(&self) -> bool {
        self.is_empty() && self.accecn.is_none()
    }

    /// All blocks, as the option has them.
    #[inline]
    pub fn all(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }

    /// The blocks that report received data above the cumulative ACK.
    #[inline]
    pub fn received(&self) -> &[SackBlock] {
        &self.blocks[usize::from(self.has_dsack)..usize::from(self.count)]
    }

    /// These blocks, lowest first; the empty ones, which stand for none, may be anywhere.
    #[inline]
    pub(crate) fn in_order(&self) -> [SackBlock; MAX_SACK_BLOCKS] {
        let mut blocks = self.blocks;
        if self.has_dsack {
            blocks[0] = SackBlock::default();
        }
        for (one, other) in [(0, 1), (1, 2), (0, 1)] {
            if blocks[one].start > blocks[other].start {
                blocks.swap(one, other);
            }
        }
        blocks
    }

    /// The block that reports a duplicate, if there is one.
    #[inline]
    pub fn dsack(&self) -> Option<SackBlock> {
        self.has_dsack.then(|| self.blocks[0])
    }
}

/// Where a [`SackStore`] keeps an ACK's blocks, and what a queue that filters ACKs wants to know of them:
/// the queue does not see the store.
///
/// A slot's number has 22 bits. Above it are whether there is feedback by Accurate ECN, whether there are
/// blocks, whether one reports a duplicate, whether there may be more blocks than fitted, and how many segments
/// the blocks have, modulo 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackSlot(u32);

impl SackSlot {
    const NUMBER: u32 = (1 << 22) - 1;
    const ACCECN: u32 = 1 << 22;
    const BLOCKS: u32 = 1 << 23;
    const DSACK: u32 = 1 << 24;
    const FULL: u32 = 1 << 25;
    const COUNT_SHIFT: u32 = 26;

    /// The slot of an ACK without blocks.
    pub const NONE: Self = Self(0);

    /// # Panics
    ///
    /// If 4 million ACKs with SACK blocks are on their way.
    fn new(number: usize, blocks: &SackBlocks) -> Self {
        assert!(
            number <= Self::NUMBER as usize,
            "too many ACKs on their way"
        );
        // Empty places add nothing.
        let received = &blocks.blocks[usize::from(blocks.has_dsack)..];
        let segments = received.iter().fold(0_u32, |sum, block| {
            sum.wrapping_add(block.end.wrapping_sub(block.start))
        });
        let fact = |holds: bool, bit: u32| if holds { bit } else { 0 };
        Self(
            number as u32
                | fact(blocks.accecn.is_some(), Self::ACCECN)
                | fact(!blocks.is_empty(), Self::BLOCKS)
                | fact(blocks.has_dsack, Self::DSACK)
                | fact(usize::from(blocks.count) == MAX_SACK_BLOCKS, Self::FULL)
                | segments << Self::COUNT_SHIFT,
        )
    }

    /// Whether the ACK has SACK blocks.
    pub(crate) fn has_blocks(self) -> bool {
        self.0 & Self::BLOCKS != 0
    }

    /// Whether the ACK has feedback by Accurate ECN.
    pub(crate) fn has_accecn(self) -> bool {
        self.0 & Self::ACCECN != 0
    }

    fn number(self) -> usize {
        (self.0 & Self::NUMBER) as usize
    }

    /// How its blocks are to those of an `earlier` ACK of the same half with the same ACK number. In doubt
    /// [`SackOrder::Less`]: the earlier ACK is then not taken for one that says nothing new.
    pub(crate) fn order(self, earlier: Self) -> SackOrder {
        match (self.has_blocks(), earlier.has_blocks()) {
            (false, false) => SackOrder::Same,
            (true, false) => SackOrder::More,
            (false, true) => SackOrder::Less,
            // What the receiver holds grows as long as its ACK number stays, so all blocks cover those
            // that were reported before, if none was left out for want of room.
            _ if (earlier.0 & Self::DSACK) | (self.0 & Self::FULL) != 0 => SackOrder::Less,
            _ if self.0 >> Self::COUNT_SHIFT == earlier.0 >> Self::COUNT_SHIFT => SackOrder::Same,
            _ => SackOrder::More,
        }
    }
}

/// The blocks of all ACKs on their way. Code that takes an ACK off its way, delivered or dropped,
/// frees its slot.
#[derive(Debug)]
pub struct SackStore {
    /// The first stays empty: it is [`SackSlot::NONE`]'s.
    slots: Vec<SackBlocks>,
    free: Vec<u32>,
    /// A slot again for each copy of its ACK that is on its way.
    copies: Vec<SackSlot>,
}

impl SackStore {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self {
            slots: vec![SackBlocks::default()],
            free: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// Their ACK is on its way twice; each copy frees the slot.
    pub fn share(&mut self, slot: SackSlot) {
        if slot != SackSlot::NONE {
            self.copies.push(slot);
        }
    }

    /// Keeps `blocks` until their slot is freed; nothing takes no slot.
    #[inline]
    pub fn keep(&mut self, blocks: &SackBlocks) -> SackSlot {
        if blocks.says_nothing() {
            return SackSlot::NONE;
        }
        if let Some(number) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(number as usize)
        {
            *slot = *blocks;
            return SackSlot::new(number as usize, blocks);
        }
        self.keep_one_more(blocks)
    }

    #[cold]
    fn keep_one_more(&mut self, blocks: &SackBlocks) -> SackSlot {
        self.slots.push(*blocks);
        SackSlot::new(self.slots.len() - 1, blocks)
    }

    /// The blocks in `slot`.
    #[inline]
    pub fn get(&self, slot: SackSlot) -> &SackBlocks {
        &self.slots[slot.number()]
    }

    /// Their ACK is on its way no longer.
    #[inline]
    pub fn free(&mut self, slot: SackSlot) {
        if slot != SackSlot::NONE && (self.copies.is_empty() || !self.free_copy(slot)) {
            let number = slot.number() as u32;
            debug_assert!(!self.free.contains(&number), "freed twice");
            self.free.push(number);
        }
    }

    /// A copy is on its way no longer, if there was more than one.
    #[cold]
    fn free_copy(&mut self, slot: SackSlot) -> bool {
        let copy = self.copies.iter().position(|&copy| copy == slot);
        copy.map(|copy| self.copies.swap_remove(copy)).is_some()
    }

    /// Slots in use, once for each copy of their ACK.
    pub fn used(&self) -> usize {
        self.slots.len() - 1 - self.free.len() + self.copies.len()
    }
}

impl Default for SackStore {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: u32) -> SackBlock {
        SackBlock {
            start,
            end: start + 1,
        }
    }

    #[test]
    fn an_option_has_room_for_three_blocks_and_a_duplicate_goes_first() {
        let received = [block(5), block(7), block(9), block(11)];
        let plain = SackBlocks::new(None, &received);
        assert_eq!(
            (plain.all(), plain.dsack()),
            (&received[..3], None),
            "the most recent ones"
        );
        let duplicate = SackBlocks::new(Some(block(2)), &received);
        assert_eq!(
            (duplicate.dsack(), duplicate.received()),
            (Some(block(2)), &received[..2])
        );
    }

    #[test]
    fn a_freed_slot_is_used_again_and_no_blocks_need_none() {
        let mut store = SackStore::new();
        assert_eq!(store.keep(&SackBlocks::default()), SackSlot::NONE);
        store.free(SackSlot::NONE);
        assert!(store.get(SackSlot::NONE).is_empty() && store.used() == 0);
        let first = store.keep(&SackBlocks::new(None, &[block(1)]));
        let second = store.keep(&SackBlocks::new(None, &[block(2)]));
        assert_eq!(store.used(), 2);
        store.free(first);
        assert_eq!(store.keep(&SackBlocks::new(None, &[block(3)])), first);
        assert_eq!(store.get(first).all(), [block(3)]);
        assert_eq!(store.get(second).all(), [block(2)]);
    }

    #[test]
    fn slots_tell_whether_blocks_cover_those_of_an_earlier_ack() {
        let mut store = SackStore::new();
        let mut keep = |dsack, blocks: &[SackBlock]| store.keep(&SackBlocks::new(dsack, blocks));
        let (one, grown) = (keep(None, &[block(5)]), keep(None, &[block(7), block(5)]));
        let repeated = keep(Some(block(2)), &[block(5)]);
        let full = keep(None, &[block(9), block(7), block(5)]);
        for (slot, earlier, expected) in [
            (SackSlot::NONE, SackSlot::NONE, SackOrder::Same),
            (one, SackSlot::NONE, SackOrder::More),
            (SackSlot::NONE, one, SackOrder::Less),
            (one, one, SackOrder::Same),
            (grown, one, SackOrder::More),
            (grown, repeated, SackOrder::Less), // the duplicate is reported once
            (repeated, one, SackOrder::Same),
            (full, grown, SackOrder::Less), // a fourth block may have been left out
        ] {
            assert_eq!(slot.order(earlier), expected, "{slot:?} after {earlier:?}");
        }
    }

    #[test]
    fn a_slot_of_two_copies_is_free_when_both_are_gone() {
        let mut store = SackStore::new();
        let slot = store.keep(&SackBlocks::new(None, &[block(1)]));
        store.share(slot);
        store.share(SackSlot::NONE);
        assert_eq!(store.used(), 2);
        store.free(slot);
        assert_eq!(store.get(slot).all(), [block(1)]);
        let other = store.keep(&SackBlocks::new(None, &[block(2)]));
        assert_ne!(other.number(), slot.number());
        store.free(slot);
        let third = store.keep(&SackBlocks::new(None, &[block(3)]));
        assert_eq!(third.number(), slot.number());
    }
}
