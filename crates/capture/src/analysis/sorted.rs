//! Packets in the order of their times, of a capture that has them in another, and the lines of a tap as one point.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::source::PacketSource;
use crate::packet::TcpPacket;

/// Packets that are sorted at once: a packet may be this many places too late.
const WINDOW_PKTS: usize = 1 << 18;
/// Packets that are at most this many places too late are put where they belong, later ones into a heap.
const NEAR_PKTS: usize = 64;

/// A source whose packets are sorted within a window.
pub(crate) struct Sorted<'a, S> {
    source: &'a mut S,
    /// Names of points that count as one.
    joined: Vec<Vec<String>>,
    /// Interfaces seen, each with the one that stands for it, and whether its ACKs come before data.
    standing: BTreeMap<u32, (u32, bool)>,
    /// Waiting packets in order, and those that came late.
    in_order: VecDeque<Waiting>,
    late: BinaryHeap<Reverse<Waiting>>,
    next_number: u64,
}

/// A packet by its time, then by its place in the capture. Where points count as one, or a capture is out of order,
/// an ACK comes before data of the same time: what is acknowledged was sent earlier, and what is sent may answer the
/// ACK. A point next to joined ones says itself what came first: at a receiver the ACK answers the data.
struct Waiting {
    order: (u64, bool, u64),
    packet: TcpPacket,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

impl<'a, S> Sorted<'a, S> {
    pub(crate) fn new(source: &'a mut S, joined: Vec<Vec<String>>) -> Self {
        Self {
            source,
            joined,
            standing: BTreeMap::new(),
            in_order: VecDeque::new(),
            late: BinaryHeap::new(),
            next_number: 0,
        }
    }
}

impl<S: PacketSource> Sorted<'_, S> {
    /// Names of the points that count as one with an interface.
    fn joined_with(&self, interface: u32) -> Option<&Vec<String>> {
        let name = self.source.point_name(interface)?;
        self.joined.iter().find(|names| names.contains(&name))
    }

    /// Adds a packet to those that wait.
    fn wait(&mut self, packet: Waiting) {
        let near = self.in_order.iter().rev().take(NEAR_PKTS);
        let after = near.take_while(|&other| other > &packet).count();
        if after < NEAR_PKTS {
            self.in_order.insert(self.in_order.len() - after, packet);
        } else {
            self.late.push(Reverse(packet));
        }
    }

    /// The first of the packets that wait.
    fn first(&mut self) -> Option<Waiting> {
        let is_late = match (self.in_order.front(), self.late.peek()) {
            (Some(first), Some(Reverse(late))) => late < first,
            (first, _) => first.is_none(),
        };
        if is_late {
            return self.late.pop().map(|Reverse(packet)| packet);
        }
        self.in_order.pop_front()
    }

    /// The interface that stands for one: the first of those that count as one with it; whether ACKs come first.
    fn standing_for(&mut self, interface: u32) -> (u32, bool) {
        if let Some(&standing) = self.standing.get(&interface) {
            return standing;
        }
        let joined = self.joined_with(interface);
        let known = joined.and_then(|names| {
            let mut known = self.standing.iter();
            known.find(|&(&other, _)| self.joined_with(other) == Some(names))
        });
        let first = known.map_or(interface, |(_, &(first, _))| first);
        let standing = (first, joined.is_some() || self.joined.is_empty());
        self.standing.insert(interface, standing);
        standing
    }
}

impl<S: PacketSource> PacketSource for Sorted<'_, S> {
    type Error = S::Error;

    fn next_packet(&mut self) -> Result<Option<TcpPacket>, S::Error> {
        while self.in_order.len() + self.late.len() < WINDOW_PKTS {
            let Some(mut packet) = self.source.next_packet()? else {
                break;
            };
            let (interface, puts_acks_first) = self.standing_for(packet.interface);
            packet.interface = interface;
            let is_after_acks = puts_acks_first && packet.payload_bytes > 0;
            self.wait(Waiting {
                order: (packet.time_ns, is_after_acks, self.next_number),
                packet,
            });
            self.next_number += 1;
        }
        Ok(self.first().map(|first| first.packet))
    }

    fn point_name(&self, interface: u32) -> Option<String> {
        let joined = self.joined_with(interface);
        joined
            .map(|names| names.join("+"))
            .or_else(|| self.source.point_name(interface))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::source::PacketList;
    use super::*;

    /// Packets by time, whether they have data, and their place: `seq`.
    fn sorted(packets: &[(u64, bool)]) -> Vec<(u64, bool, u32)> {
        let packets = (0..)
            .zip(packets)
            .map(|(seq, &(time_ns, is_data))| TcpPacket {
                time_ns,
                payload_bytes: is_data.into(),
                seq,
                ..TcpPacket::plain()
            });
        let mut source = PacketList(packets);
        let mut sorted = Sorted::new(&mut source, Vec::new());
        let next = || match sorted.next_packet() {
            Ok(packet) => packet,
        };
        std::iter::from_fn(next)
            .map(|packet| (packet.time_ns, packet.payload_bytes > 0, packet.seq))
            .collect()
    }

    proptest! {
        /// Many more than are put where they belong one by one, some of them a little late and some very.
        #[test]
        fn all_come_out_in_order(packets in prop::collection::vec((0u64..700, any::<bool>()), 0..700), is_near in any::<bool>()) {
            let packets: Vec<_> = (0..)
                .zip(packets)
                .map(|(place, (time_ns, is_data))| (if is_near { place + time_ns / 20 } else { time_ns }, is_data))
                .collect();
            let mut expected: Vec<_> = (0..)
                .zip(&packets)
                .map(|(place, &(time_ns, is_data))| (time_ns, is_data, place))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(sorted(&packets), expected);
        }
    }
}
