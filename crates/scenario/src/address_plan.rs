//! Addresses and ports of the dumbbell's hosts: the same on both engines, so that their captures
//! look alike.

use std::net::{Ipv4Addr, SocketAddrV4};

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

/// Addresses and ports of the sender and the receiver of a group's flow `number`.
pub fn flow_addresses(group_index: u16, number: u32) -> (SocketAddrV4, SocketAddrV4) {
    let (sender, receiver) = host_addresses(group_index);
    let port = FIRST_FLOW_PORT.wrapping_add(number as u16);
    (
        SocketAddrV4::new(sender, port),
        SocketAddrV4::new(receiver, RECEIVER_PORT),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_addresses_of_their_own() {
        let (sender, receiver) = host_addresses(258);
        assert_eq!(sender, Ipv4Addr::new(10, 1, 2, 1));
        assert_eq!(receiver, Ipv4Addr::new(10, 1, 2, 2));
    }
}
