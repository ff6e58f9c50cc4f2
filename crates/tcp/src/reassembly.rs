//! The receiver's record of segments that arrived out of order, and the SACK blocks it sends.

use crate::sack_store::SackBlock;

/// Most blocks that any host remembers.
const MOST_BLOCKS: usize = 6;

/// What becomes of a segment above `rcv_nxt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    Held,
    /// It was held already.
    Duplicate,
    /// It was refused, because the limit of held segments was reached.
    Refused,
}

/// The segments above `rcv_nxt` that have arrived: a bit each, in a ring of words.
#[derive(Debug)]
pub(crate) struct Reassembly {
    words: Vec<u64>,
    /// Number of segments held.
    held: u32,
    /// Most of them.
    limit: u32,
    /// Most recent first (RFC 2018 §4), as Linux extends and merges them.
    blocks: [SackBlock; MOST_BLOCKS],
    block_count: usize,
    /// How many are remembered.
    most_blocks: usize,
}

impl Reassembly {
    /// Holds `limit` segments at most; `None`: any number. Remembers `most_blocks` blocks.
    pub(crate) fn new(limit: Option<u32>, most_blocks: usize) -> Self {
        Self {
            words: vec![0; 4],
            held: 0,
            limit: limit.unwrap_or(u32::MAX),
            blocks: [SackBlock::default(); MOST_BLOCKS],
            block_count: 0,
            most_blocks: most_blocks.clamp(1, MOST_BLOCKS),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Number of segments held.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.held
    }

    #[inline]
    pub(crate) fn has_no_blocks(&self) -> bool {
        self.block_count == 0
    }

    #[inline]
    pub(crate) fn blocks(&self) -> &[SackBlock] {
        &self.blocks[..self.block_count]
    }

    /// Holds `seq` (above `rcv_nxt`), if it is not held already. Its block is reported first, unless
    /// it is refused (RFC 2018 §4; next to a D-SACK, RFC 2883 §4).
    pub(crate) fn insert(&mut self, rcv_nxt: u32, seq: u32) -> Insertion {
        if self.held >= self.limit && !self.holds(rcv_nxt, seq) {
            return Insertion::Refused;
        }
        while (seq - rcv_nxt) as usize >= self.words.len() * 64 - 64 {
            self.grow(rcv_nxt);
        }
        let (word, bit) = self.locate(seq);
        self.report(seq);
        if self.words[word] & bit != 0 {
            return Insertion::Duplicate;
        }
        self.words[word] |= bit;
        self.held += 1;
        Insertion::Held
    }

    /// The place of the block that `seq` would extend, the most recent first; how many there are if none.
    pub(crate) fn place_of(&self, seq: u32) -> usize {
        let touches = |block: &SackBlock| block.start <= seq + 1 && seq <= block.end;
        let place = self.blocks().iter().position(touches);
        place.unwrap_or(self.block_count)
    }

    #[cold]
    pub(crate) fn holds(&self, rcv_nxt: u32, seq: u32) -> bool {
        let (word, bit) = self.locate(seq);
        ((seq - rcv_nxt) as usize) < self.words.len() * 64 - 64 && self.words[word] & bit != 0
    }

    /// Advances over what is held from `rcv_nxt` on and returns the new `rcv_nxt`.
    pub(crate) fn advance(&mut self, mut rcv_nxt: u32) -> u32 {
        while self.held > 0 {
            let (word, bit) = self.locate(rcv_nxt);
            if self.words[word] & bit == 0 {
                break;
            }
            self.words[word] &= !bit;
            self.held -= 1;
            rcv_nxt += 1;
        }
        self.forget_below(rcv_nxt);
        rcv_nxt
    }

    #[inline]
    fn locate(&self, seq: u32) -> (usize, u64) {
        (
            (seq as usize / 64) & (self.words.len() - 1),
            1 << (seq % 64),
        )
    }

    #[cold]
    fn grow(&mut self, rcv_nxt: u32) {
        let old = std::mem::take(&mut self.words);
        self.words = vec![0; old.len() * 2];
        let first_word = rcv_nxt as usize / 64;
        for word in first_word..first_word + old.len() {
            let new_index = word & (self.words.len() - 1);
            self.words[new_index] = old[word & (old.len() - 1)];
        }
    }

    /// Puts the block with `seq` first: extends one it touches, else starts one.
    fn report(&mut self, seq: u32) {
        let mut index = self.place_of(seq);
        if index < self.block_count {
            let block = &mut self.blocks[index];
            block.start = block.start.min(seq);
            block.end = block.end.max(seq + 1);
            if self.block_count == 1 {
                return; // nothing to move, and nothing to merge with
            }
        } else {
            // If there is no room the oldest block is forgotten.
            index = index.min(self.most_blocks - 1);
            self.blocks[index] = SackBlock {
                start: seq,
                end: seq + 1,
            };
            self.block_count = index + 1;
        }
        self.blocks[..=index].rotate_right(1);
        self.merge_into_first();
    }

    fn merge_into_first(&mut self) {
        let mut index = 1;
        while index < self.block_count {
            let (first, other) = (self.blocks[0], self.blocks[index]);
            if first.start <= other.end && other.start <= first.end {
                self.blocks[0] = SackBlock {
                    start: first.start.min(other.start),
                    end: first.end.max(other.end),
                };
                self.blocks.copy_within(index + 1..self.block_count, index);
                self.block_count -= 1;
            } else {
                index += 1;
            }
        }
    }

    fn forget_below(&mut self, rcv_nxt: u32) {
        let mut kept = 0;
        for index in 0..self.block_count {
            if self.blocks[index].start >= rcv_nxt {
                self.blocks[kept] = self.blocks[index];
                kept += 1;
            }
        }
        self.block_count = kept;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn block(start: u32, end: u32) -> SackBlock {
        SackBlock { start, end }
    }

    #[test]
    fn the_newest_block_comes_first_and_neighbours_merge() {
        let mut held = Reassembly::new(None, 4);
        for seq in [5, 9, 6] {
            assert_eq!(held.insert(0, seq), Insertion::Held);
        }
        assert_eq!(held.blocks(), [block(5, 7), block(9, 10)]);
        held.insert(0, 8);
        held.insert(0, 7);
        assert_eq!(held.blocks(), [block(5, 10)]);
        assert_eq!(held.insert(0, 6), Insertion::Duplicate, "it is reported");
    }

    proptest! {
        #[test]
        fn advances_over_exactly_what_is_held(
            seqs in prop::collection::vec(1_u32..2000, 1..300),
            limit in prop::option::of(1_u32..100),
        ) {
            let (mut held, mut model) = (Reassembly::new(limit, 4), BTreeSet::new());
            for &seq in &seqs {
                let want = if model.contains(&seq) {
                    Insertion::Duplicate
                } else if limit.is_some_and(|limit| model.len() >= limit as usize) {
                    Insertion::Refused
                } else {
                    model.insert(seq);
                    Insertion::Held
                };
                prop_assert_eq!(held.insert(0, seq), want);
                for b in held.blocks() {
                    prop_assert!((b.start..b.end).all(|s| model.contains(&s)));
                }
            }
            let mut rcv_nxt = 0;
            while !held.is_empty() {
                let mut want = rcv_nxt + 1;
                while model.contains(&want) { want += 1; }
                rcv_nxt = held.advance(rcv_nxt + 1);
                prop_assert_eq!(rcv_nxt, want);
            }
        }
    }
}
