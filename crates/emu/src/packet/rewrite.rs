//! Changes of UDP packets on their way: addresses, ports and payload, with the checksums that cover them.

use std::net::{IpAddr, SocketAddr};

use dumbbell_wire::bytes::{put_u16, read_u16};
use dumbbell_wire::checksum::Changes;
use dumbbell_wire::ip::{Ip, PROTOCOL_UDP, Version};
use dumbbell_wire::{ipv4, transport, udp};

/// Bytes of a payload of which one is made wrong: there QUIC has its header.
const GARBLED_BYTES: u64 = 50;

/// One of a packet's two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Source,
    Destination,
}

/// The IP header of a whole datagram of UDP.
fn datagram(packet: &[u8]) -> Option<Ip> {
    let ip = Ip::parse(packet)?;
    let is_whole = ip.protocol == PROTOCOL_UDP
        && !ip.is_fragment
        && packet.len() >= ip.header_bytes + udp::HEADER_BYTES;
    is_whole.then_some(ip)
}

/// Source and destination of a whole datagram of UDP.
pub(crate) fn datagram_ends(packet: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let ip = datagram(packet)?;
    let (source, destination) = ip.hosts(packet)?;
    let ports = transport::ports(&packet[ip.header_bytes..])?;
    Some((
        SocketAddr::new(source, ports[0]),
        SocketAddr::new(destination, ports[1]),
    ))
}

/// Writes another source or destination, of the same version of IP, into a whole datagram of UDP. `is_partial`: its
/// checksum is the sum over the pseudo-header alone, which the network card completes.
pub(crate) fn set_datagram_end(packet: &mut [u8], end: End, to: SocketAddr, is_partial: bool) {
    let Some(ip) = datagram(packet) else {
        return;
    };
    let mut changes = Changes::default();
    let address_at = ip.address_offsets()[end as usize];
    match (ip.version, to.ip()) {
        (Version::V4, IpAddr::V4(address)) => {
            changes.replace(packet, address_at, &address.octets());
            changes.apply(packet, ipv4::CHECKSUM);
        }
        (Version::V6, IpAddr::V6(address)) => {
            changes.replace(packet, address_at, &address.octets());
        }
        _ => return,
    }
    let port_at = ip.header_bytes + 2 * end as usize;
    if is_partial {
        // The pseudo-header has no ports.
        changes.apply_to_sum(packet, ip.header_bytes + udp::CHECKSUM);
        put_u16(packet, port_at, to.port());
    } else {
        changes.replace(packet, port_at, &to.port().to_be_bytes());
        apply_to_datagram(changes, packet, &ip);
    }
}

/// Makes one of the first bytes of a datagram's payload wrong, which one and how by a random number; the checksum is
/// right afterwards. QUIC's version negotiation is left alone (RFC 9000 §17.2.1: version 0): it is the answer to a wrong
/// version, and has no protection.
pub(crate) fn garble_datagram(packet: &mut [u8], draw: u64, is_partial: bool) {
    let Some(ip) = datagram(packet) else {
        return;
    };
    let payload = ip.header_bytes + udp::HEADER_BYTES;
    let bytes = packet.len() - payload;
    let negotiates = packet[payload..]
        .first()
        .is_some_and(|first| first & 0x80 != 0)
        && packet.get(payload + 1..payload + 5) == Some(&[0; 4][..]);
    if bytes == 0 || negotiates {
        return;
    }
    let at = payload + (draw % GARBLED_BYTES.min(bytes as u64)) as usize;
    // Any but none of its bits.
    let flipped = 1 + ((draw >> 32) % 255) as u8;
    // The word that the checksum adds up, with 0 for the other byte, which stays.
    let word = |byte: u8| match (at - payload) % 2 {
        0 => u16::from_be_bytes([byte, 0]),
        _ => u16::from_be_bytes([0, byte]),
    };
    let mut changes = Changes::default();
    changes.note(word(packet[at]), word(packet[at] ^ flipped));
    packet[at] ^= flipped;
    if !is_partial {
        apply_to_datagram(changes, packet, &ip);
    }
}

/// Updates UDP's checksum, where 0 means that there is none and is written as its complement (RFC 768).
fn apply_to_datagram(changes: Changes, packet: &mut [u8], ip: &Ip) {
    let at = ip.header_bytes + udp::CHECKSUM;
    if read_u16(packet, at) == 0 {
        return;
    }
    changes.apply(packet, at);
    if read_u16(packet, at) == 0 {
        packet[at..at + 2].fill(0xff);
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_wire::checksum::internet_checksum;
    use proptest::prelude::*;

    use super::*;
    use crate::packet::test_packets::{v4, v6_header};

    /// From port 4433 to port 443.
    fn with_datagram(is_v6: bool, payload: &[u8]) -> Vec<u8> {
        let header = udp::header([4433, 443], payload.len() as u16);
        let datagram = [&header, payload].concat();
        let mut packet = if is_v6 {
            let header = v6_header(0, PROTOCOL_UDP, datagram.len() as u16);
            [header, datagram].concat()
        } else {
            v4(PROTOCOL_UDP, &datagram)
        };
        let checksum = expected_checksum(&packet);
        let at = packet.len() - payload.len() - 2;
        put_u16(&mut packet, at, checksum);
        packet
    }

    /// UDP's checksum, computed from nothing.
    fn expected_checksum(packet: &[u8]) -> u16 {
        let ip = Ip::parse(packet).expect("an IP packet");
        let mut datagram = packet[ip.header_bytes..].to_vec();
        datagram[udp::CHECKSUM..udp::CHECKSUM + 2].fill(0);
        let length = (datagram.len() as u32).to_be_bytes();
        let pseudo = [&length[..], &[0, 0, 0, PROTOCOL_UDP]].concat();
        match internet_checksum([ip.addresses(packet), &pseudo, &datagram]) {
            0 => 0xffff,
            checksum => checksum,
        }
    }

    fn check(packet: &[u8]) {
        let ip = Ip::parse(packet).expect("an IP packet");
        if ip.version == Version::V4 {
            assert_eq!(
                read_u16(packet, ipv4::CHECKSUM),
                ipv4::checksum(&packet[..20])
            );
        }
        let checksum = read_u16(packet, ip.header_bytes + udp::CHECKSUM);
        assert_eq!(checksum, expected_checksum(packet));
    }

    proptest! {
        #[test]
        fn ends_are_replaced_with_the_checksums(
            is_v6: bool, port in 1..=u16::MAX, host in 1..=254_u8, payload in prop::collection::vec(any::<u8>(), 0..40)
        ) {
            let mut packet = with_datagram(is_v6, &payload);
            check(&packet);
            let (source, destination) = datagram_ends(&packet).expect("a datagram");
            prop_assert_eq!((source.port(), destination.port()), (4433, 443));
            let to: SocketAddr = match is_v6 {
                true => format!("[fd00:cafe:cafe::{host:x}]:{port}"),
                false => format!("193.167.0.{host}:{port}"),
            }.parse().expect("an address");
            set_datagram_end(&mut packet, End::Source, to, false);
            prop_assert_eq!(datagram_ends(&packet), Some((to, destination)));
            check(&packet);
            set_datagram_end(&mut packet, End::Destination, to, false);
            prop_assert_eq!(datagram_ends(&packet), Some((to, to)));
            check(&packet);
            set_datagram_end(&mut packet, End::Source, source, false);
            set_datagram_end(&mut packet, End::Destination, destination, false);
            prop_assert_eq!(packet, with_datagram(is_v6, &payload));
        }

        #[test]
        fn one_byte_is_wrong_and_no_checksum_shows_it(is_v6: bool, draw: u64, mut payload in prop::collection::vec(any::<u8>(), 1..100)) {
            payload[0] &= 0x7f;
            let before = with_datagram(is_v6, &payload);
            let mut packet = before.clone();
            garble_datagram(&mut packet, draw, false);
            check(&packet);
            let start = packet.len() - payload.len();
            let wrong: Vec<usize> = (start..packet.len()).filter(|&at| packet[at] != before[at]).collect();
            prop_assert_eq!(wrong.len(), 1);
            prop_assert!(wrong[0] < start + 50);
        }
    }

    #[test]
    fn a_partial_checksum_is_that_of_the_pseudo_header() {
        let pseudo = |packet: &[u8]| {
            let ip = Ip::parse(packet).expect("an IP packet");
            let length = ((packet.len() - ip.header_bytes) as u32).to_be_bytes();
            !internet_checksum([ip.addresses(packet), &length, &[0, 0, 0, PROTOCOL_UDP]])
        };
        let mut packet = with_datagram(false, b"hello");
        let partial = pseudo(&packet).to_be_bytes();
        packet[26..28].copy_from_slice(&partial);
        let to: SocketAddr = "10.9.8.7:1234".parse().expect("an address");
        set_datagram_end(&mut packet, End::Source, to, true);
        assert_eq!(datagram_ends(&packet).map(|ends| ends.0), Some(to));
        assert_eq!(read_u16(&packet, 26), pseudo(&packet));
        let before = packet.clone();
        garble_datagram(&mut packet, 7, true);
        assert_eq!(packet[..28], before[..28]);
        assert_ne!(packet[28..], before[28..]);
    }

    #[test]
    fn version_negotiation_other_protocols_and_no_checksum_are_left_alone() {
        let negotiation = with_datagram(false, &[0x80, 0, 0, 0, 0, 1, 2, 3]);
        let mut packet = negotiation.clone();
        garble_datagram(&mut packet, 3, false);
        assert_eq!(packet, negotiation);
        let mut segment = negotiation;
        segment[9] = 6;
        let mut packet = segment.clone();
        garble_datagram(&mut packet, 3, false);
        set_datagram_end(
            &mut packet,
            End::Source,
            "1.2.3.4:5".parse().expect("an address"),
            false,
        );
        assert_eq!(packet, segment);
        assert_eq!(datagram_ends(&packet), None);
        let mut packet = with_datagram(false, b"hello");
        packet[26..28].fill(0);
        garble_datagram(&mut packet, 3, false);
        assert_eq!(read_u16(&packet, 26), 0, "none");
    }
}
