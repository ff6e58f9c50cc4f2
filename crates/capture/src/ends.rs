//! What identifies a connection, and a view of it.

use std::net::IpAddr;

use crate::network::NetworkId;
use crate::packet::TcpPacket;

/// The two ends of a connection, in the same order for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    low: (u128, u16),
    high: (u128, u16),
}

impl Ends {
    /// The ends that no connection has.
    pub(crate) const NONE: Self = Self {
        low: (0, 0),
        high: (0, 0),
    };

    /// The ends of a packet, and which of its connection's directions it belongs to.
    #[inline]
    pub(crate) fn of(packet: &TcpPacket) -> (Self, usize) {
        let source = (bits(packet.source.address), packet.source.port);
        let destination = (bits(packet.destination.address), packet.destination.port);
        if source <= destination {
            (
                Self {
                    low: source,
                    high: destination,
                },
                0,
            )
        } else {
            (
                Self {
                    low: destination,
                    high: source,
                },
                1,
            )
        }
    }
}

/// An address as a number; an IPv4 address as mapped to IPv6.
#[inline]
fn bits(address: IpAddr) -> u128 {
    const MAPPED: u128 = 0xffff_0000_0000;
    match address {
        IpAddr::V4(address) => MAPPED | u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

/// What identifies a view while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ViewKey {
    pub(crate) ends: Ends,
    pub(crate) interface: u32,
    pub(crate) network: NetworkId,
}

impl ViewKey {
    /// Where it is seen.
    pub(crate) fn place(self) -> (u32, NetworkId) {
        (self.interface, self.network)
    }

    /// The key of the latest view there, in any network.
    pub(crate) fn in_any_network(self) -> Self {
        Self {
            network: NetworkId::ANY,
            ..self
        }
    }
}
