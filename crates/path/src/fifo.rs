//! Drop-tail: Linux's `bfifo` and `pfifo`.

use std::collections::VecDeque;

use crate::{Packet, Queue};

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `bfifo`: wire bytes.
    Bytes(u64),
    /// `pfifo`: packets.
    Packets(u64),
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
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            packets: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    fn fits(&self, packet: &Packet<H>) -> bool {
        match self.limit {
            Limit::Bytes(bytes) => self.backlog_bytes + u64::from(packet.wire_bytes) <= bytes,
            Limit::Packets(packets) => (self.packets.len() as u64) < packets,
        }
    }
}

impl<H> Queue<H> for Fifo<H> {
    #[inline]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, dropped: &mut Vec<Packet<H>>) {
        packet.arrived_ns = now_ns;
        if self.fits(&packet) {
            self.backlog_bytes += u64::from(packet.wire_bytes);
            self.packets.push_back(packet);
        } else {
            dropped.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now_ns: u64, _dropped: &mut Vec<Packet<H>>) -> Option<Packet<H>> {
        let packet = self.packets.pop_front()?;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.packets.len() as u64
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(wire_bytes: u32) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes,
            arrived_ns: 0,
            header: (),
        }
    }

    #[test]
    fn bfifo_takes_the_last_byte_and_not_one_more() {
        let mut queue = Fifo::new(Limit::Bytes(3000));
        let mut dropped = Vec::new();
        queue.enqueue(0, packet(1514), &mut dropped);
        queue.enqueue(0, packet(1486), &mut dropped);
        assert_eq!((queue.backlog_bytes(), dropped.len()), (3000, 0));
        queue.enqueue(0, packet(1), &mut dropped);
        assert_eq!((queue.backlog_bytes(), dropped.len()), (3000, 1));
    }

    #[test]
    fn pfifo_counts_packets_whatever_their_size() {
        let mut queue = Fifo::new(Limit::Packets(2));
        let mut dropped = Vec::new();
        for bytes in [66, 1514, 66] {
            queue.enqueue(0, packet(bytes), &mut dropped);
        }
        assert_eq!((queue.backlog_pkts(), dropped.len()), (2, 1));
        assert_eq!(dropped[0].wire_bytes, 66, "the newcomer is the one dropped");
    }

    proptest! {
        #[test]
        fn packets_are_conserved_in_order_and_within_the_limit(
            limit in 1514_u64..10_000,
            steps in prop::collection::vec((any::<bool>(), 60_u32..1515), 0..200),
        ) {
            let mut queue = Fifo::new(Limit::Bytes(limit));
            let (mut dropped, mut out) = (Vec::new(), Vec::new());
            let mut offered = 0_usize;
            for (arrives, bytes) in steps {
                if arrives {
                    queue.enqueue(offered as u64, packet(bytes), &mut dropped);
                    offered += 1;
                } else {
                    out.extend(queue.dequeue(0, &mut dropped));
                }
                prop_assert!(queue.backlog_bytes() <= limit);
                prop_assert_eq!(offered, out.len() + dropped.len() + queue.backlog_pkts() as usize);
            }
            prop_assert!(out.windows(2).all(|pair| pair[0].arrived_ns < pair[1].arrived_ns));
        }
    }
}
