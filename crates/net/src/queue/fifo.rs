//! Drop-tail: Linux's `bfifo` and `pfifo`.

use std::collections::VecDeque;

use super::{DropReason, Effects, Facts, Head, Queue};
use crate::{Header, Packet};

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `bfifo`: wire bytes.
    Bytes(u64),
    /// A number of packets (`pfifo`).
    Packets(u64),
}

impl Limit {
    /// It in wire bytes, where packets have `packet_bytes`.
    pub fn bytes(self, packet_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Packets(packets) => packets.saturating_mul(packet_bytes),
        }
    }

    /// It in packets of `packet_bytes`.
    pub fn packets(self, packet_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes / packet_bytes.max(1),
            Self::Packets(packets) => packets,
        }
    }
}

/// First in, first out; a packet that does not fit is dropped.
///
/// As in Linux the packet being transmitted has left the queue and does not count.
#[derive(Clone, Debug)]
pub struct Fifo<H> {
    limit: Limit,
    packets: VecDeque<Packet<H>>,
    backlog_bytes: u64,
}

impl<H> Fifo<H> {
    /// What drop-tail is.
    pub(super) const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: false,
        holds_back: false,
        series: &[],
    };

    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            packets: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    /// Whether `packet` fits.
    #[inline(always)]
    pub(super) fn has_room(&self, packet: &Packet<H>) -> bool {
        self.is_within(self.limit, packet)
    }

    /// Whether the backlog stays within `limit` with `packet` in it.
    #[inline(always)]
    pub(super) fn is_within(&self, limit: Limit, packet: &Packet<H>) -> bool {
        match limit {
            Limit::Bytes(bytes) => self.backlog_bytes + u64::from(packet.wire_bytes) <= bytes,
            Limit::Packets(packets) => (self.packets.len() as u64) < packets,
        }
    }
}

impl<H: Header> Queue<H> for Fifo<H> {
    #[inline(always)]
    fn enqueue(&mut self, _now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        if self.has_room(&packet) {
            self.backlog_bytes += u64::from(packet.wire_bytes);
            self.packets.push_back(packet);
        } else {
            effects.refuse(packet, DropReason::Overflow);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _now_ns: u64, _effects: &mut Effects<H>) -> Option<Packet<H>> {
        let packet = self.packets.pop_front()?;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    #[inline(always)]
    fn backlog_pkts(&self) -> u64 {
        self.packets.len() as u64
    }

    fn drop_tail_limit(&self) -> Option<Limit> {
        Some(self.limit)
    }

    fn head(&self) -> Option<Head> {
        self.packets.front().map(Head::of)
    }

    #[inline(always)]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.packets.iter().for_each(look);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Ecn;

    fn packet(wire_bytes: u32) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    #[test]
    fn bfifo_takes_the_last_byte_and_not_one_more() {
        let mut queue = Fifo::new(Limit::Bytes(3000));
        let mut effects = Effects::new();
        queue.enqueue(0, packet(1514), &mut effects);
        queue.enqueue(0, packet(1486), &mut effects);
        assert_eq!((queue.backlog_bytes(), effects.drops().count()), (3000, 0));
        queue.enqueue(0, packet(1), &mut effects);
        assert_eq!((queue.backlog_bytes(), effects.drops().count()), (3000, 1));
    }

    #[test]
    fn pfifo_counts_packets_whatever_their_size() {
        let mut queue = Fifo::new(Limit::Packets(2));
        let mut effects = Effects::new();
        for bytes in [66, 1514, 66] {
            queue.enqueue(0, packet(bytes), &mut effects);
        }
        assert_eq!((queue.backlog_pkts(), effects.drops().count()), (2, 1));
        assert_eq!(
            effects.drops().next().map(|packet| packet.wire_bytes),
            Some(66),
            "the newcomer is the one dropped"
        );
    }

    proptest! {
        #[test]
        fn packets_are_conserved_in_order_and_within_the_limit(
            limit in 1514_u64..10_000,
            steps in prop::collection::vec((any::<bool>(), 60_u32..1515), 0..200),
        ) {
            let mut queue = Fifo::new(Limit::Bytes(limit));
            let (mut effects, mut out) = (Effects::new(), Vec::new());
            let mut offered = 0_usize;
            for (arrives, bytes) in steps {
                if arrives {
                    let arrived_ns = offered as u64;
                    queue.enqueue(arrived_ns, Packet { arrived_ns, ..packet(bytes) }, &mut effects);
                    offered += 1;
                } else {
                    out.extend(queue.dequeue(0, &mut effects));
                }
                prop_assert!(queue.backlog_bytes() <= limit);
                prop_assert_eq!(offered, out.len() + effects.drops().count() + queue.backlog_pkts() as usize);
            }
            prop_assert!(out.windows(2).all(|pair| pair[0].arrived_ns < pair[1].arrived_ns));
        }
    }
}
