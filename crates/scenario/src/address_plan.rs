//! Addresses and ports of the dumbbell's hosts: the same on both engines, so that their captures
//! look alike.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4};

use dumbbell_app::End;

/// Where receivers listen.
pub const RECEIVER_PORT: u16 = 5001;

/// Source port of the first flow of a group; the others follow.
pub const FIRST_FLOW_PORT: u16 = 10_000;

/// Addresses of a group's sender and receiver.
pub fn host_addresses(group_index: u16) -> (Ipv4Addr, Ipv4Addr) {
    let [high, low] = group_index.to_be_bytes();
    (
        Ipv4Addr::new(10, high, low, 1),
        Ipv4Addr::new(10, high, low, 2),
    )
}

/// IPv6 addresses of a group's sender and receiver, unique local ones (RFC 4193): a prefix of ours, and behind it the
/// IPv4 address.
pub fn host_addresses6(group_index: u16) -> (Ipv6Addr, Ipv6Addr) {
    const PREFIX: u128 = 0xfd64_756d_6262 << 80;
    let (sender, receiver) = host_addresses(group_index);
    let behind_prefix = |address: Ipv4Addr| Ipv6Addr::from(PREFIX | u128::from(u32::from(address)));
    (behind_prefix(sender), behind_prefix(receiver))
}

/// Addresses and ports of the sender and the receiver of a group's flow `number`.
pub fn flow_addresses(group_index: u16, number: u32) -> (SocketAddrV4, SocketAddrV4) {
    let (sender, receiver) = host_addresses(group_index);
    let port = FIRST_FLOW_PORT.wrapping_add(number as u16);
    (
        SocketAddrV4::new(sender, port),
        SocketAddrV4::new(receiver, RECEIVER_PORT),
    )
}

/// Ports of the hosts that open connections.
const OPENING_PORTS: u32 = (u16::MAX - FIRST_FLOW_PORT) as u32 + 1;

/// Addresses and ports of the sender and the receiver of connection number `number` of a group whose
/// applications open connections: of each number others. The host that opens has ports from
/// [`FIRST_FLOW_PORT`] on, one after the other, and the other listens at [`RECEIVER_PORT`]; when all
/// ports are used it listens at the next.
pub fn connection_addresses(
    group_index: u16,
    number: u32,
    opener: End,
) -> (SocketAddrV4, SocketAddrV4) {
    let opening_port = FIRST_FLOW_PORT + (number % OPENING_PORTS) as u16;
    let listening_port = RECEIVER_PORT.wrapping_add((number / OPENING_PORTS) as u16);
    let (sender_port, receiver_port) = match opener {
        End::Sender => (opening_port, listening_port),
        End::Receiver => (listening_port, opening_port),
    };
    let (sender, receiver) = host_addresses(group_index);
    (
        SocketAddrV4::new(sender, sender_port),
        SocketAddrV4::new(receiver, receiver_port),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_connections_of_a_group_have_the_same_addresses() {
        let openers = [End::Sender, End::Receiver];
        let numbers = (0..200_000).map(|number| (number, openers[number as usize % 2]));
        let addresses: BTreeSet<_> = numbers
            .map(|(number, opener)| connection_addresses(3, number, opener))
            .collect();
        assert_eq!(addresses.len(), 200_000);
    }

    #[test]
    fn groups_have_addresses_of_their_own() {
        let (sender, receiver) = host_addresses(258);
        assert_eq!(sender, Ipv4Addr::new(10, 1, 2, 1));
        assert_eq!(receiver, Ipv4Addr::new(10, 1, 2, 2));
        let (sender, receiver) = host_addresses6(258);
        assert_eq!(sender.to_string(), "fd64:756d:6262::a01:201");
        assert_eq!(receiver.to_string(), "fd64:756d:6262::a01:202");
    }
}
