//! Connections of programs: numbered as their first packets come.
//!
//! A group with a program has hosts that take any protocol over IPv4 and IPv6. Its connections get numbers when their
//! first packets come, above all other numbers. One table serves all threads; each thread keeps the numbers that it has
//! seen, so it takes the lock once per connection. Vectors indexed by connection grow then. The group's first number
//! stands for packets without ports. Both hosts have one address of each version, so version, protocol and two ports
//! identify a connection; and behind a gateway the address there. `connections` counts by these numbers and makes the report's list.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use dumbbell_scenario::Way;

use crate::hosts::host::Host;
use crate::packet::frame::GroupRoute;
use crate::packet::super_packet::SuperPacket;
use dumbbell_wire::ip::Version;

/// Connections that are distinguished. Later ones count with what has no ports, so that a program that tries every port
/// does not fill the memory.
const MAX_CONNECTIONS: usize = 1 << 20;

/// What distinguishes a connection of programs from the others. Its hosts have one address of each version of IP, so that the
/// version says the addresses, unless there is a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tuple {
    pub(crate) group: u16,
    pub(crate) version: Version,
    pub(crate) protocol: u8,
    /// At the group's sender, and at its receiver.
    pub(crate) ports: [u16; 2],
    /// The address at the sender's end, of what is behind a sender that is a gateway.
    pub(crate) beyond: Option<IpAddr>,
}

impl Tuple {
    /// Reads a packet on `route`; `None` of fragments, which have no ports or belong to one that has none, and of
    /// protocols other than TCP and UDP.
    #[inline]
    pub(crate) fn of(
        route: GroupRoute,
        packets: &SuperPacket,
        gateway: Option<&Host>,
    ) -> Option<Self> {
        if packets.ip.is_fragment {
            return None;
        }
        let [source, destination] = packets.ports()?;
        let beyond = gateway.and_then(|gateway| {
            let (source, destination) = packets.hosts()?;
            let far = match route.way {
                Way::There => source,
                Way::Back => destination,
            };
            let is_own = match far {
                IpAddr::V4(far) => far == gateway.address,
                IpAddr::V6(far) => Some(far) == gateway.address6,
            };
            (!is_own).then_some(far)
        });
        Some(Self {
            group: route.group,
            version: packets.ip.version,
            protocol: packets.ip.protocol,
            ports: match route.way {
                Way::There => [source, destination],
                Way::Back => [destination, source],
            },
            beyond,
        })
    }
}

/// What a number of a connection stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbered {
    /// All packets of a group that have no ports.
    Rest(u16),
    /// The first packet of a connection.
    Connection(Tuple),
}

/// The numbers of all threads.
#[derive(Debug)]
pub(crate) struct Numbering {
    first: u32,
    /// Groups of programs: the first numbers are of their packets without ports.
    groups: Vec<u16>,
    numbered: Mutex<(HashMap<Tuple, u32>, Vec<Tuple>)>,
}

impl Numbering {
    /// From `first` on; of these groups.
    pub(crate) fn new(first: u32, groups: Vec<u16>) -> Arc<Self> {
        Arc::new(Self {
            first,
            groups,
            numbered: Mutex::default(),
        })
    }

    /// The first number; `u32::MAX` if no group runs programs.
    pub(crate) fn first(&self) -> u32 {
        match self.groups.is_empty() {
            true => u32::MAX,
            false => self.first,
        }
    }

    /// What a number stands for.
    pub(crate) fn of(&self, number: u32) -> Option<Numbered> {
        let index = number.checked_sub(self.first)? as usize;
        if let Some(&group) = self.groups.get(index) {
            return Some(Numbered::Rest(group));
        }
        let numbered = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        let tuple = numbered.1.get(index - self.groups.len()).copied();
        tuple.map(Numbered::Connection)
    }

    /// The number of a connection, which may be new.
    fn number_of(&self, tuple: Tuple) -> Option<u32> {
        let mut numbered = self.numbered.lock().unwrap_or_else(PoisonError::into_inner);
        let (numbers, tuples) = &mut *numbered;
        if let Some(&number) = numbers.get(&tuple) {
            return Some(number);
        }
        if tuples.len() == MAX_CONNECTIONS {
            return None;
        }
        let number = self.first + (self.groups.len() + tuples.len()) as u32;
        tuples.push(tuple);
        numbers.insert(tuple, number);
        Some(number)
    }
}

/// The numbers that a thread knows: only of a new connection it asks what all share.
#[derive(Debug)]
pub(crate) struct Known {
    numbering: Arc<Numbering>,
    numbers: HashMap<Tuple, u32>,
    /// Connection of the packet before.
    latest: Option<(Tuple, u32)>,
}

impl Known {
    pub(crate) fn new(numbering: Arc<Numbering>) -> Self {
        Self {
            numbering,
            numbers: HashMap::new(),
            latest: None,
        }
    }

    pub(crate) fn numbering(&self) -> &Arc<Numbering> {
        &self.numbering
    }

    /// The number of a connection; `None`: there are too many.
    #[inline]
    pub(crate) fn number_of(&mut self, tuple: Tuple) -> Option<u32> {
        if let Some((latest, number)) = self.latest
            && latest == tuple
        {
            return Some(number);
        }
        let number = match self.numbers.get(&tuple) {
            Some(&number) => number,
            None => {
                let number = self.numbering.number_of(tuple)?;
                self.numbers.insert(tuple, number);
                number
            }
        };
        self.latest = Some((tuple, number));
        Some(number)
    }
}

/// For another thread, which has seen nothing yet.
impl Clone for Known {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.numbering))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_wire::ip::{PROTOCOL_TCP, PROTOCOL_UDP};

    const TUPLE: Tuple = Tuple {
        group: 1,
        version: Version::V4,
        protocol: PROTOCOL_TCP,
        ports: [80, 40_000],
        beyond: None,
    };

    #[test]
    fn threads_give_a_connection_one_number() {
        let numbering = Numbering::new(10, vec![1, 3]);
        let mut here = Known::new(Arc::clone(&numbering));
        let mut there = here.clone();
        assert_eq!(here.number_of(TUPLE), Some(12), "10 and 11 have no ports");
        assert_eq!(there.number_of(TUPLE), Some(12));
        let others = [
            Tuple { group: 3, ..TUPLE },
            Tuple {
                version: Version::V6,
                ..TUPLE
            },
            Tuple {
                protocol: PROTOCOL_UDP,
                ..TUPLE
            },
            Tuple {
                ports: [40_000, 80],
                ..TUPLE
            },
        ];
        for (number, tuple) in (13..).zip(others) {
            assert_eq!(there.number_of(tuple), Some(number));
            assert_eq!(here.number_of(TUPLE), Some(12));
            assert_eq!(here.number_of(tuple), Some(number));
            assert_eq!(numbering.of(number), Some(Numbered::Connection(tuple)));
        }
        assert_eq!(numbering.of(11), Some(Numbered::Rest(3)));
        assert_eq!((numbering.of(9), numbering.of(17)), (None, None));
    }

    #[test]
    fn what_tries_every_port_does_not_fill_the_memory() {
        let mut known = Known::new(Numbering::new(0, vec![0]));
        let tuple = |number: u32| Tuple {
            ports: [(number >> 16) as u16, number as u16],
            ..TUPLE
        };
        let most = MAX_CONNECTIONS as u32;
        for number in 0..most {
            assert_eq!(known.number_of(tuple(number)), Some(number + 1));
        }
        assert_eq!(known.number_of(tuple(most)), None);
        assert_eq!(known.number_of(tuple(7)), Some(8));
    }
}
