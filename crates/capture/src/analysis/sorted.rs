//! Packets in the order of their times, of a capture that has them in another, and the lines of a tap as one point.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::source::PacketSource;
use crate::packet::TcpPacket;

/// Packets that are sorted at once: a packet may be this many places too late.
const WINDOW_PKTS: usize = 1 << 18;

/// A source whose packets are sorted within a window.
pub(crate) struct Sorted<'a, S> {
    source: &'a mut S,
    /// Names of points that count as one.
    joined: Vec<Vec<String>>,
    /// Interfaces seen, each with the one that stands for it.
    standing: BTreeMap<u32, u32>,
    window: BinaryHeap<Reverse<Waiting>>,
    next_number: u64,
}

/// A packet by its time, then by its place in the capture. At the same time an ACK comes before data: what is
/// acknowledged was sent earlier, and what is sent may answer the ACK.
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
            window: BinaryHeap::new(),
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

    /// The interface that stands for one: the first of those that count as one with it.
    fn standing_for(&mut self, interface: u32) -> u32 {
        if let Some(&standing) = self.standing.get(&interface) {
            return standing;
        }
        let joined = self.joined_with(interface);
        let known = joined.and_then(|names| {
            let mut known = self.standing.iter();
            known.find(|&(&other, _)| self.joined_with(other) == Some(names))
        });
        let standing = known.map_or(interface, |(_, &standing)| standing);
        self.standing.insert(interface, standing);
        standing
    }
}

impl<S: PacketSource> PacketSource for Sorted<'_, S> {
    type Error = S::Error;

    fn next_packet(&mut self) -> Result<Option<TcpPacket>, S::Error> {
        while self.window.len() < WINDOW_PKTS {
            let Some(mut packet) = self.source.next_packet()? else {
                break;
            };
            packet.interface = self.standing_for(packet.interface);
            self.window.push(Reverse(Waiting {
                order: (packet.time_ns, packet.payload_bytes > 0, self.next_number),
                packet,
            }));
            self.next_number += 1;
        }
        Ok(self.window.pop().map(|Reverse(first)| first.packet))
    }

    fn point_name(&self, interface: u32) -> Option<String> {
        let joined = self.joined_with(interface);
        joined
            .map(|names| names.join("+"))
            .or_else(|| self.source.point_name(interface))
    }
}
