//! What is known of the segments that are out: which arrived, which are lost, and in which order they were sent.
//!
//! The flags are in [`Segments`](crate::segments::Segments). Here is what makes an ACK cost what it reveals: how far
//! each search has come, and queues of what waits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::dupthresh::Count;
use crate::sack_store::SackBlock;

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    pub(crate) seq: u32,
    /// The first segment that had never been sent then.
    pub(crate) nxt: u32,
    pub(crate) sent_us: u64,
}

/// The scoreboard of a sender.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    /// One past the highest SACKed segment.
    pub(crate) fack: u32,
    /// Next original transmission that RACK has not checked.
    pub(crate) rack_next: u32,
    /// Original transmissions RACK passed over, in sending order.
    pub(crate) rack_candidates: VecDeque<u32>,
    /// Retransmissions in sending order; stale entries are skipped.
    pub(crate) retransmissions: VecDeque<Retransmission>,
    /// Lost segments to retransmit, lowest first; stale entries are skipped.
    pub(crate) lost_queue: BinaryHeap<Reverse<u32>>,
    /// SACK blocks of the previous ACK, which have been processed.
    sack_cache: [SackBlock; 3],
    /// How far detection by counting has come.
    pub(crate) count: Count,
    /// Where retransmission goes on, where that has Linux's defect; one below SND.UNA is none.
    pub(crate) retransmit_hint: Option<u32>,
    /// Duplicates that D-SACKs have reported, segments.
    pub(crate) dsack_dups: u32,
    /// Segments have arrived out of order on this path.
    pub(crate) reord_seen: bool,
    /// The peer permits SACK.
    pub(crate) has_sack: bool,
}

impl Scoreboard {
    /// Nothing is out.
    pub(crate) fn new() -> Self {
        Self {
            fack: 0,
            rack_next: 0,
            rack_candidates: VecDeque::new(),
            retransmissions: VecDeque::new(),
            lost_queue: BinaryHeap::new(),
            sack_cache: [SackBlock::default(); 3],
            count: Count::default(),
            retransmit_hint: None,
            dsack_dups: 0,
            reord_seen: false,
            has_sack: true,
        }
    }

    /// The blocks of the previous ACK, which have been processed, lowest first; those that stand for none are among them.
    #[inline]
    pub(crate) fn known_blocks(&self) -> [SackBlock; 3] {
        self.sack_cache
    }

    /// Blocks that have been processed, lowest first, for the next ACK.
    #[inline]
    pub(crate) fn remember(&mut self, blocks: [SackBlock; 3]) {
        self.sack_cache = blocks;
    }

    /// Counting and retransmission begin at the head again.
    pub(crate) fn forget_hints(&mut self) {
        self.count = Count::default();
        self.retransmit_hint = None;
    }

    /// Nothing is lost, and RACK starts again at `una`.
    pub(crate) fn forget_losses(&mut self, una: u32) {
        self.lost_queue.clear();
        self.forget_hints();
        self.rack_candidates.clear();
        self.rack_next = una;
    }
}
