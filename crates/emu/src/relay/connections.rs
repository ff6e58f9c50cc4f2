//! What is counted of each connection of programs.

use std::net::{IpAddr, SocketAddr};

use dumbbell_net::{Header as _, Packet};
use dumbbell_results::{Connection, ConnectionEnds, WayCounts};
use dumbbell_scenario::Way;
use dumbbell_scenario::address_plan::{host_addresses, host_addresses6};

use super::program_connections::{Numbered, Numbering};
use crate::applications::NO_FLOW;
use crate::packet::frame::Frame;
use dumbbell_wire::ip::{PROTOCOL_TCP, Version};

/// What a part of the network counted of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// From the group's sender to its receiver, and back.
    pub(crate) there: WayCounts,
    pub(crate) back: WayCounts,
    /// When the first packet entered, and the last, on the clock, ns; `u64::MAX` and 0 without one.
    first_ns: u64,
    last_ns: u64,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            there: WayCounts::default(),
            back: WayCounts::default(),
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }
}

impl Counted {
    fn way(&mut self, packet: &Packet<Frame>) -> &mut WayCounts {
        match packet.header.way {
            Way::There => &mut self.there,
            Way::Back => &mut self.back,
        }
    }

    fn add(&mut self, other: &Self) {
        for (own, other) in [
            (&mut self.there, &other.there),
            (&mut self.back, &other.back),
        ] {
            own.pkts += other.pkts;
            own.bytes += other.bytes;
            own.dropped_pkts += other.dropped_pkts;
            own.marked_pkts += other.marked_pkts;
        }
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
    }
}

/// Counts the packets of connections of programs.
#[derive(Debug)]
pub(crate) struct ConnectionMeter {
    /// The number of the first; all others have lower ones.
    first: u32,
    counted: Vec<Counted>,
}

impl ConnectionMeter {
    /// Nothing is counted yet of connections from number `first` on; `u32::MAX`: there are none.
    pub(crate) fn new(first: u32) -> Self {
        Self {
            first,
            counted: Vec::new(),
        }
    }

    /// Counts of the connections by their number, from the first on.
    pub(crate) fn counted(&self) -> &[Counted] {
        &self.counted
    }

    /// A packet enters the path.
    #[inline]
    pub(crate) fn entered(&mut self, now_ns: u64, packet: &Packet<Frame>) {
        if let Some(counted) = self.of(packet) {
            counted.first_ns = counted.first_ns.min(now_ns);
            counted.last_ns = now_ns;
            let way = counted.way(packet);
            way.pkts += 1;
            way.bytes += u64::from(packet.wire_bytes);
        }
    }

    /// A link drops a packet.
    pub(crate) fn dropped(&mut self, packet: &Packet<Frame>) {
        if let Some(counted) = self.of(packet) {
            counted.way(packet).dropped_pkts += u64::from(packet.header.segments());
        }
    }

    /// A link marks a packet.
    pub(crate) fn marked(&mut self, packet: &Packet<Frame>) {
        if let Some(counted) = self.of(packet) {
            counted.way(packet).marked_pkts += u64::from(packet.header.segments());
        }
    }

    #[inline]
    fn of(&mut self, packet: &Packet<Frame>) -> Option<&mut Counted> {
        if packet.flow < self.first || packet.flow == NO_FLOW {
            return None;
        }
        let index = (packet.flow - self.first) as usize;
        if index >= self.counted.len() {
            self.counted.resize(index + 1, Counted::default());
        }
        self.counted.get_mut(index)
    }
}

/// The connections that had a packet, in the order of their numbers, from what each part counted by number.
pub(crate) fn connections_on_path<'a>(
    parts: impl Iterator<Item = &'a [Counted]>,
    numbering: &Numbering,
    epoch_ns: u64,
) -> Vec<Connection> {
    let mut all: Vec<Counted> = Vec::new();
    for part in parts {
        all.resize(all.len().max(part.len()), Counted::default());
        for (own, other) in all.iter_mut().zip(part) {
            own.add(other);
        }
    }
    let numbered = all.into_iter().zip(numbering.first()..);
    let with_packets = numbered.filter(|(counted, _)| counted.first_ns != u64::MAX);
    let connection = |(counted, number): (Counted, u32)| {
        let (group, ends) = match numbering.of(number)? {
            Numbered::Rest(group) => (group, None),
            Numbered::Connection(tuple) => {
                let (sender, receiver): (IpAddr, IpAddr) = match tuple.version {
                    Version::V4 => {
                        let (sender, receiver) = host_addresses(tuple.group);
                        (sender.into(), receiver.into())
                    }
                    Version::V6 => {
                        let (sender, receiver) = host_addresses6(tuple.group);
                        (sender.into(), receiver.into())
                    }
                };
                let ends = ConnectionEnds {
                    is_tcp: tuple.protocol == PROTOCOL_TCP,
                    server: SocketAddr::new(tuple.beyond.unwrap_or(sender), tuple.ports[0]),
                    client: SocketAddr::new(receiver, tuple.ports[1]),
                };
                (tuple.group, Some(ends))
            }
        };
        Some(Connection {
            group: u32::from(group),
            ends,
            down: counted.there,
            up: counted.back,
            first_ns: counted.first_ns.saturating_sub(epoch_ns),
            last_ns: counted.last_ns.saturating_sub(epoch_ns),
        })
    };
    with_packets.filter_map(connection).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::frame::test_packet;
    use crate::relay::program_connections::{Known, Tuple};
    use dumbbell_wire::ip::PROTOCOL_UDP;

    #[test]
    fn parts_are_added_and_what_had_no_packet_is_left_out() {
        let numbering = Numbering::new(5, vec![2]);
        let mut known = Known::new(std::sync::Arc::clone(&numbering));
        let tuple = |port| Tuple {
            group: 2,
            version: Version::V6,
            protocol: PROTOCOL_UDP,
            ports: [443, port],
            beyond: None,
        };
        let numbers = [1000, 1001].map(|port| known.number_of(tuple(port)));
        assert_eq!(numbers, [Some(6), Some(7)]);
        let mut meters = [ConnectionMeter::new(5), ConnectionMeter::new(5)];
        let packet = |flow, way| {
            let mut packet = test_packet(948);
            packet.flow = flow;
            packet.header.way = way;
            packet
        };
        meters[0].entered(1_700, &packet(7, Way::There));
        meters[0].entered(1_800, &packet(7, Way::There));
        meters[0].marked(&packet(7, Way::There));
        meters[1].entered(1_900, &packet(7, Way::Back));
        meters[1].dropped(&packet(7, Way::Back));
        meters[1].entered(2_000, &packet(5, Way::Back));
        for other in [4, NO_FLOW] {
            meters[1].entered(2_000, &packet(other, Way::Back));
        }
        let parts = meters.iter().map(ConnectionMeter::counted);
        let found = connections_on_path(parts, &numbering, 1_000);
        let counts = |pkts, dropped_pkts, marked_pkts| WayCounts {
            pkts,
            bytes: 1014 * pkts,
            dropped_pkts,
            marked_pkts,
        };
        let rest = Connection {
            group: 2,
            ends: None,
            down: counts(0, 0, 0),
            up: counts(1, 0, 0),
            first_ns: 1_000,
            last_ns: 1_000,
        };
        let connection = Connection {
            group: 2,
            ends: Some(ConnectionEnds {
                is_tcp: false,
                server: "[fd64:756d:6262::a00:201]:443".parse().expect("an address"),
                client: "[fd64:756d:6262::a00:202]:1001"
                    .parse()
                    .expect("an address"),
            }),
            down: counts(2, 0, 1),
            up: counts(1, 1, 0),
            first_ns: 700,
            last_ns: 900,
        };
        assert_eq!(found, [rest, connection]);
    }
}
