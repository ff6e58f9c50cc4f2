//! Drop-tail: Linux's `bfifo` and `pfifo`, and the threshold above which a switch marks.

use std::collections::VecDeque;

use super::{DropReason, Effects, Facts, Queue};
use crate::{Header, Packet};

/// How much may wait, or wait before packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `bfifo`: wire bytes.
    Bytes(u64),
    /// `pfifo`: packets.
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
///
/// With an ECN threshold K (RFC 8257 §3.1: a fixed threshold on the instantaneous queue) a packet
/// with which the backlog exceeds K is marked CE if it is ECN-capable; others are left as they are,
/// and dropped only when the queue is full.
#[derive(Clone, Debug)]
pub struct Fifo<H> {
    limit: Limit,
    ecn_threshold: Option<Limit>,
    packets: VecDeque<Packet<H>>,
    backlog_bytes: u64,
}

impl<H> Fifo<H> {
    /// What drop-tail is.
    pub(super) const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: false,
        takes_ecn_threshold: true,
        series: &[],
    };

    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            ecn_threshold: None,
            packets: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    /// The same queue marking above `threshold`; `None`: not at all.
    pub fn marking_above(self, threshold: Option<Limit>) -> Self {
        Self {
            ecn_threshold: threshold,
            ..self
        }
    }

    /// Whether the backlog stays within `limit` with `packet` in it.
    #[inline(always)]
    fn is_within(&self, limit: Limit, packet: &Packet<H>) -> bool {
        match limit {
            Limit::Bytes(bytes) => self.backlog_bytes + u64::from(packet.wire_bytes) <= bytes,
            Limit::Packets(packets) => (self.packets.len() as u64) < packets,
        }
    }
}

impl<H: Header> Queue<H> for Fifo<H> {
    #[inline(always)]
    fn enqueue(&mut self, _now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        if self.is_within(self.limit, &packet) {
            if let Some(threshold) = self.ecn_threshold
                && packet.ecn.is_capable()
                && !self.is_within(threshold, &packet)
            {
                effects.mark(&mut packet);
            }
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

    fn with_ecn(ecn: Ecn) -> Packet<()> {
        Packet {
            ecn,
            ..packet(1514)
        }
    }

    /// What `queue` makes of packets that arrive one after the other, none leaving.
    fn marks(mut queue: Fifo<()>, arrivals: &[Ecn]) -> Vec<Ecn> {
        let mut effects = Effects::new();
        for &ecn in arrivals {
            queue.enqueue(0, with_ecn(ecn), &mut effects);
        }
        queue.packets.iter().map(|packet| packet.ecn).collect()
    }

    /// RFC 8257 §3.1: the instantaneous queue decides, and no average of it.
    #[test]
    fn the_packet_that_exceeds_the_threshold_is_marked_and_the_next_below_it_is_not() {
        let mut queue = Fifo::new(Limit::Packets(10)).marking_above(Some(Limit::Packets(2)));
        let mut effects = Effects::new();
        for _ in 0..3 {
            queue.enqueue(0, with_ecn(Ecn::Ect0), &mut effects);
        }
        let out: Vec<_> = std::iter::from_fn(|| queue.dequeue(1, &mut effects)).collect();
        let marks: Vec<_> = out.iter().map(|packet| packet.ecn).collect();
        assert_eq!(marks, [Ecn::Ect0, Ecn::Ect0, Ecn::Ce]);
        queue.enqueue(2, with_ecn(Ecn::Ect0), &mut effects);
        let next = queue.dequeue(3, &mut effects).expect("one waits");
        assert_eq!(next.ecn, Ecn::Ect0);
    }

    #[test]
    fn a_threshold_in_bytes_counts_the_packet_that_arrives() {
        let queue =
            |bytes| Fifo::new(Limit::Bytes(100_000)).marking_above(Some(Limit::Bytes(bytes)));
        let three = [Ecn::Ect0; 3];
        assert_eq!(marks(queue(3 * 1514), &three), three);
        assert_eq!(
            marks(queue(3 * 1514 - 1), &three),
            [Ecn::Ect0, Ecn::Ect0, Ecn::Ce]
        );
    }

    /// RFC 3168 §5: only packets that say they are capable may be marked; either codepoint says so.
    #[test]
    fn packets_that_are_not_ecn_capable_are_dropped_when_full_and_never_marked() {
        let queue = Fifo::new(Limit::Packets(3)).marking_above(Some(Limit::Packets(0)));
        let arrivals = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::NotEct];
        assert_eq!(marks(queue, &arrivals), [Ecn::NotEct, Ecn::Ce, Ecn::Ce]);
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
