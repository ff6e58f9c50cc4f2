//! SACK blocks of the ACKs that are on their way.
//!
//! Most ACKs have none, so packets do not carry the blocks but a slot's number, and the blocks lie here
//! until the ACK is delivered or dropped.

/// SACK blocks that fit next to timestamps in the 40 option bytes (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A range of segments, `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First segment.
    pub start: u32,
    /// One past the last segment.
    pub end: u32,
}

/// What an ACK's SACK option reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    count: u8,
    /// The first block reports a duplicate (D-SACK, RFC 2883).
    has_dsack: bool,
}

impl SackBlocks {
    /// A duplicate, if one arrived, and as many of `received`, most recently received first (RFC
    /// 2018 §4), as there is room for.
    pub fn new(dsack: Option<SackBlock>, received: &[SackBlock]) -> Self {
        let mut sack = Self {
            has_dsack: dsack.is_some(),
            ..Self::default()
        };
        for (place, block) in sack.blocks.iter_mut().zip(dsack.iter().chain(received)) {
            *place = *block;
            sack.count += 1;
        }
        sack
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
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

    /// The block that reports a duplicate, if there is one.
    #[inline]
    pub fn dsack(&self) -> Option<SackBlock> {
        self.has_dsack.then(|| self.blocks[0])
    }
}

/// Where a [`SackStore`] keeps an ACK's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackSlot(u32);

impl SackSlot {
    /// Of an ACK without blocks.
    pub const NONE: Self = Self(0);
}

/// The blocks of all ACKs on their way. Whoever takes an ACK off its way, delivered or dropped,
/// frees its slot.
#[derive(Debug)]
pub struct SackStore {
    /// The first stays empty: it is [`SackSlot::NONE`]'s.
    slots: Vec<SackBlocks>,
    free: Vec<SackSlot>,
}

impl SackStore {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self {
            slots: vec![SackBlocks::default()],
            free: Vec::new(),
        }
    }

    /// Keeps `blocks` until their slot is freed; no blocks take no slot.
    pub fn keep(&mut self, blocks: SackBlocks) -> SackSlot {
        if blocks.is_empty() {
            return SackSlot::NONE;
        }
        if let Some(slot) = self.free.pop() {
            self.slots[slot.0 as usize] = blocks;
            return slot;
        }
        self.slots.push(blocks);
        SackSlot((self.slots.len() - 1) as u32)
    }

    /// The blocks in `slot`.
    #[inline]
    pub fn get(&self, slot: SackSlot) -> &SackBlocks {
        &self.slots[slot.0 as usize]
    }

    /// Their ACK is on its way no longer.
    #[inline]
    pub fn free(&mut self, slot: SackSlot) {
        if slot != SackSlot::NONE {
            debug_assert!(!self.free.contains(&slot), "freed twice");
            self.free.push(slot);
        }
    }

    /// Slots in use.
    pub fn used(&self) -> usize {
        self.slots.len() - 1 - self.free.len()
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
        assert_eq!(store.keep(SackBlocks::default()), SackSlot::NONE);
        store.free(SackSlot::NONE);
        assert!(store.get(SackSlot::NONE).is_empty() && store.used() == 0);
        let first = store.keep(SackBlocks::new(None, &[block(1)]));
        let second = store.keep(SackBlocks::new(None, &[block(2)]));
        assert_eq!(store.used(), 2);
        store.free(first);
        assert_eq!(store.keep(SackBlocks::new(None, &[block(3)])), first);
        assert_eq!(store.get(first).all(), [block(3)]);
        assert_eq!(store.get(second).all(), [block(2)]);
    }
}
