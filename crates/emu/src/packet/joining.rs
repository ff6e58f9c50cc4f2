//! Joins two segments of a flow that follow one another into a super-packet, which the kernel receives by one
//! write: about half the work of two.
//!
//! This is what a network card's receive offload does (Linux's `tcp_gro_receive`), with two differences. A
//! super-packet has two segments and no more, because Linux acknowledges once per super-packet, and TCP
//! acknowledges at least every second segment (RFC 9293 §3.8.6.3). And none of the two is marked CE,
//! because the receiver counts a super-packet of a TUN device as one packet.

use super::ip::{
    IPV4_CHECKSUM, IPV4_HEADER_BYTES, IPV6_HEADER_BYTES, PROTOCOL_TCP, Version, traffic_class,
    version,
};
use super::super_packet::{
    GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, TCP_CHECKSUM_OFFSET, VNET_HEADER_BYTES,
};
use super::wire::{ipv4_header_checksum, read_u32, tcp_flag};

/// Largest header of IPv4, which is larger than IPv6's without extension headers, and largest of TCP.
const MAX_HEADER_BYTES: usize = VNET_HEADER_BYTES + 60 + 60;

/// Where fields are in an IPv4, an IPv6 and a TCP header.
const IPV4_TOTAL_LENGTH: usize = 2;
const IPV6_PAYLOAD_LENGTH: usize = 4;
const IPV6_NEXT_HEADER: usize = 6;
const TCP_SEQUENCE: usize = 4;
const TCP_FLAGS: usize = 13;
const TCP_CHECKSUM: usize = 16;

/// ECN's field of the IP header, and Congestion Experienced in it.
const CE: u8 = 0b11;

/// Two segments as one: its headers, and both payloads.
#[derive(Debug)]
pub(crate) struct Joined<'a> {
    headers: [u8; MAX_HEADER_BYTES],
    header_bytes: usize,
    payloads: [&'a [u8]; 2],
}

impl<'a> Joined<'a> {
    /// `second` after `first`, both data segments of one flow and preceded by a virtio-net header; `None` if
    /// they are not the two halves of what one header can say.
    pub(crate) fn new(first: &'a [u8], second: &'a [u8]) -> Option<Self> {
        let (ip_bytes, header_bytes) = header_bytes(first)?;
        if second.len() < VNET_HEADER_BYTES + header_bytes {
            return None;
        }
        let (first_headers, first_payload) = first.split_at(VNET_HEADER_BYTES + header_bytes);
        let (second_headers, second_payload) = second.split_at(VNET_HEADER_BYTES + header_bytes);
        let follows = is_same_but_for_place(
            &first_headers[VNET_HEADER_BYTES..],
            &second_headers[VNET_HEADER_BYTES..],
            ip_bytes,
        );
        let tcp = |headers: &'a [u8]| &headers[VNET_HEADER_BYTES + ip_bytes..];
        let is_next = read_u32(tcp(second_headers), TCP_SEQUENCE)
            == read_u32(tcp(first_headers), TCP_SEQUENCE).wrapping_add(first_payload.len() as u32);
        let packet_bytes = header_bytes + first_payload.len() + second_payload.len();
        let is_possible = first_headers[0] & second_headers[0] & NEEDS_CSUM != 0
            && (1..=first_payload.len()).contains(&second_payload.len())
            && packet_bytes <= usize::from(u16::MAX);
        if !(follows && is_next && is_possible) {
            return None;
        }

        let mut headers = [0; MAX_HEADER_BYTES];
        headers[..first_headers.len()].copy_from_slice(first_headers);
        let (vnet_header, packet) = headers.split_at_mut(VNET_HEADER_BYTES);
        vnet_header[0] = NEEDS_CSUM;
        let version = version(packet);
        vnet_header[1] = match version {
            Version::V4 => GSO_TCPV4,
            Version::V6 => GSO_TCPV6,
        };
        for (field, value) in [
            (2, header_bytes as u16),
            (4, first_payload.len() as u16),
            (6, ip_bytes as u16),
            (8, TCP_CHECKSUM_OFFSET),
        ] {
            vnet_header[field..field + 2].copy_from_slice(&value.to_ne_bytes());
        }
        let (ip, tcp_out) = packet.split_at_mut(ip_bytes);
        match version {
            Version::V4 => {
                ip[IPV4_TOTAL_LENGTH..][..2].copy_from_slice(&(packet_bytes as u16).to_be_bytes());
                let checksum = ipv4_header_checksum(ip);
                ip[IPV4_CHECKSUM..][..2].copy_from_slice(&checksum.to_be_bytes());
            }
            Version::V6 => {
                let payload_bytes = (packet_bytes - IPV6_HEADER_BYTES) as u16;
                ip[IPV6_PAYLOAD_LENGTH..][..2].copy_from_slice(&payload_bytes.to_be_bytes());
            }
        }
        tcp_out[TCP_FLAGS] |= tcp(second_headers)[TCP_FLAGS];
        Some(Self {
            headers,
            header_bytes: first_headers.len(),
            payloads: [first_payload, second_payload],
        })
    }

    /// Its bytes, in three parts that follow one another.
    #[inline]
    pub(crate) fn parts(&self) -> [&[u8]; 3] {
        let [first, second] = self.payloads;
        [&self.headers[..self.header_bytes], first, second]
    }
}

/// Bytes of the IP header of a packet with its virtio-net header, and of both its headers; `None` if it is
/// not TCP or not complete, or has extension headers of IPv6.
#[inline]
fn header_bytes(frame: &[u8]) -> Option<(usize, usize)> {
    let packet = frame.get(VNET_HEADER_BYTES..)?;
    let ip_bytes = match version(packet) {
        Version::V4 => usize::from(packet.first()? & 0x0f) * 4,
        Version::V6 if packet.get(IPV6_NEXT_HEADER) == Some(&PROTOCOL_TCP) => IPV6_HEADER_BYTES,
        Version::V6 => return None,
    };
    let tcp_bytes = usize::from(packet.get(ip_bytes + 12)? >> 4) * 4;
    let header_bytes = ip_bytes + tcp_bytes;
    (ip_bytes >= IPV4_HEADER_BYTES && tcp_bytes >= 20 && packet.len() > header_bytes)
        .then_some((ip_bytes, header_bytes))
}

/// Whether the headers differ only in what the place of a segment in its flow decides, and neither says
/// anything that a super-packet would lose.
#[inline]
fn is_same_but_for_place(first: &[u8], second: &[u8], ip_bytes: usize) -> bool {
    // Neither length, identification and checksum of IP nor number, flags and checksum of TCP.
    let (first_ip, first_tcp) = first.split_at(ip_bytes);
    let (second_ip, second_tcp) = second.split_at(ip_bytes);
    let same_ip = match version(first_ip) {
        Version::V4 => {
            first_ip[..IPV4_TOTAL_LENGTH] == second_ip[..IPV4_TOTAL_LENGTH]
                && first_ip[6..IPV4_CHECKSUM] == second_ip[6..IPV4_CHECKSUM]
                && first_ip[IPV4_CHECKSUM + 2..] == second_ip[IPV4_CHECKSUM + 2..]
        }
        Version::V6 => {
            first_ip[..IPV6_PAYLOAD_LENGTH] == second_ip[..IPV6_PAYLOAD_LENGTH]
                && first_ip[IPV6_NEXT_HEADER..] == second_ip[IPV6_NEXT_HEADER..]
        }
    };
    let same_tcp = first_tcp[..TCP_SEQUENCE] == second_tcp[..TCP_SEQUENCE]
        && first_tcp[8..TCP_FLAGS] == second_tcp[8..TCP_FLAGS]
        && first_tcp[TCP_FLAGS + 1..TCP_CHECKSUM] == second_tcp[TCP_FLAGS + 1..TCP_CHECKSUM]
        && first_tcp[TCP_CHECKSUM + 2..] == second_tcp[TCP_CHECKSUM + 2..];
    same_ip
        && same_tcp
        && traffic_class(first_ip).is_some_and(|class| class & CE != CE)
        // What ends a write is at the end of a super-packet; anything else is not joined.
        && first_tcp[TCP_FLAGS] == tcp_flag::ACK
        && second_tcp[TCP_FLAGS] & !tcp_flag::PSH == tcp_flag::ACK
}

#[cfg(test)]
mod tests {
    use super::super::super_packet::SuperPacket;
    use super::super::super_packet::tests::{RECEIVER, over_v6, split, super_packet};
    use super::super::wire::read_u16 as u16_at;
    use super::*;

    fn joined(first: &[u8], second: &[u8]) -> Option<Vec<u8>> {
        Joined::new(first, second).map(|joined| joined.parts().concat())
    }

    #[test]
    fn two_halves_are_the_super_packet_that_they_were_split_from() {
        let flags = tcp_flag::ACK | tcp_flag::PSH;
        for payload_bytes in [2000, 1700, 1001] {
            let halves = split(&super_packet(payload_bytes, 1000, flags, 7, 0xffff_ff00));
            let whole = joined(&halves[0], &halves[1]).expect("they follow one another");
            let expected = super_packet(payload_bytes, 1000, flags, 7, 0xffff_ff00);
            assert_eq!(whole, expected);
            let parsed = SuperPacket::parse(&whole, &RECEIVER).expect("a packet of ours");
            assert_eq!(parsed.packets(), 2);
            let ip = &whole[VNET_HEADER_BYTES..];
            assert_eq!(u16_at(ip, IPV4_CHECKSUM), ipv4_header_checksum(&ip[..20]));
        }
    }

    #[test]
    fn halves_over_ipv6_are_joined_too() {
        let flags = tcp_flag::ACK | tcp_flag::PSH;
        let read = over_v6(&super_packet(1700, 1000, flags, 7, 9));
        let mut halves = split(&read);
        assert_eq!(joined(&halves[0], &halves[1]), Some(read));
        // Another traffic class of the second, and CE of both.
        halves[1][VNET_HEADER_BYTES + 1] |= 0x30;
        assert_eq!(joined(&halves[0], &halves[1]), None);
        halves[0][VNET_HEADER_BYTES + 1] |= 0x30;
        assert_eq!(joined(&halves[0], &halves[1]), None);
    }

    #[test]
    fn nothing_else_is_joined() {
        let ack = tcp_flag::ACK;
        let packets = |flags| split(&super_packet(4000, 1000, flags, 7, 9));
        let of = packets(ack);
        assert!(joined(&of[0], &of[1]).is_some());
        assert!(joined(&of[1], &of[2]).is_some());
        assert_eq!(joined(&of[0], &of[2]), None, "a gap");
        assert_eq!(joined(&of[1], &of[0]), None, "the wrong order");
        let with_cwr = packets(ack | tcp_flag::CWR);
        assert_eq!(joined(&with_cwr[0], &with_cwr[1]), None, "CWR is of one");
        let with_fin = packets(ack | tcp_flag::FIN);
        assert_eq!(joined(&with_fin[2], &with_fin[3]), None, "FIN");
        let larger = split(&super_packet(2000, 500, ack, 7, 9));
        let after = split(&super_packet(2000, 1000, ack, 7, 509));
        assert_eq!(joined(&larger[0], &after[0]), None, "the second is larger");
        for (byte, what) in [
            (VNET_HEADER_BYTES + 1, "CE"),
            (VNET_HEADER_BYTES + 8, "TTL"),
        ] {
            let changed: Vec<Vec<u8>> = of[..2]
                .iter()
                .map(|packet| {
                    let mut packet = packet.clone();
                    packet[byte] = 0b11;
                    packet
                })
                .collect();
            let both = joined(&changed[0], &changed[1]);
            assert_eq!(both.is_none(), what == "CE", "both with another {what}");
            assert_eq!(joined(&of[0], &changed[1]), None, "another {what}");
        }
        // The timestamps option: the second was sent at another time.
        let mut later = of[1].clone();
        later[VNET_HEADER_BYTES + 20 + 20 + 4] ^= 1;
        assert_eq!(joined(&of[0], &later), None);
    }

    #[test]
    fn a_packet_longer_than_ip_allows_is_not_made() {
        let halves = split(&super_packet(65_000, 60_000, tcp_flag::ACK, 7, 9));
        assert_eq!(halves.len(), 2);
        assert!(joined(&halves[0], &halves[1]).is_some());
        let halves = split(&super_packet(40_000, 40_000, tcp_flag::ACK, 7, 9));
        let after = split(&super_packet(40_000, 40_000, tcp_flag::ACK, 7, 40_009));
        assert_eq!(joined(&halves[0], &after[0]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_looked_at_without_panic(
            first in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
            second in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        ) {
            joined(&first, &second);
        }
    }
}
