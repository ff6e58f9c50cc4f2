//! Joins two segments of a flow that follow one another into a super-packet, which the kernel receives by one
//! write: about half the work of two.
//!
//! This is what a network card's receive offload does (Linux's `tcp_gro_receive`), with two differences. A
//! super-packet has two segments and no more, because Linux acknowledges once per super-packet, and TCP
//! acknowledges at least every second segment (RFC 9293 §3.8.6.3). And none of the two is marked CE,
//! because the receiver counts a super-packet of a TUN device as one packet.

use dumbbell_wire::bytes::read_u32;
use dumbbell_wire::ip::{
    ECN_BITS, PROTOCOL_TCP, Version, set_packet_bytes, traffic_class, version,
};
use dumbbell_wire::ipv4::{self, Ipv4};
use dumbbell_wire::ipv6::{self, Ipv6};
use dumbbell_wire::tcp::{self, Tcp, TcpFlags};
use dumbbell_wire::tcp_options::MAX_BYTES;

use super::super_packet::{GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, VNET_HEADER_BYTES, vnet_header};

/// Largest header of IPv4, which is larger than IPv6's without extension headers, and largest of TCP.
const MAX_HEADER_BYTES: usize = VNET_HEADER_BYTES + 60 + tcp::HEADER_BYTES + MAX_BYTES;

/// The flags of a segment that ends no write, and the one that says that it does.
const ACK: u8 = TcpFlags::ACK as u8;
const PSH: u8 = TcpFlags::PSH as u8;

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
        let of_tcp = |headers: &'a [u8]| &headers[VNET_HEADER_BYTES + ip_bytes..];
        let is_next = read_u32(of_tcp(second_headers), tcp::SEQUENCE)
            == read_u32(of_tcp(first_headers), tcp::SEQUENCE)
                .wrapping_add(first_payload.len() as u32);
        let packet_bytes = header_bytes + first_payload.len() + second_payload.len();
        let is_possible = first_headers[0] & second_headers[0] & NEEDS_CSUM != 0
            && (1..=first_payload.len()).contains(&second_payload.len())
            && packet_bytes <= usize::from(u16::MAX);
        if !(follows && is_next && is_possible) {
            return None;
        }

        let mut headers = [0; MAX_HEADER_BYTES];
        headers[..first_headers.len()].copy_from_slice(first_headers);
        let (vnet_out, packet) = headers.split_at_mut(VNET_HEADER_BYTES);
        let version = version(packet);
        let gso = match version {
            Version::V4 => GSO_TCPV4,
            Version::V6 => GSO_TCPV6,
        };
        let lengths = [header_bytes, first_payload.len(), ip_bytes];
        vnet_out.copy_from_slice(&vnet_header(gso, lengths, tcp::CHECKSUM));
        let (ip, tcp_out) = packet.split_at_mut(ip_bytes);
        set_packet_bytes(version, ip, packet_bytes);
        tcp_out[tcp::FLAGS] |= of_tcp(second_headers)[tcp::FLAGS];
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
        Version::V4 => Ipv4::new(packet)?.header_bytes(),
        Version::V6 if Ipv6::new(packet)?.next_header() == PROTOCOL_TCP => ipv6::HEADER_BYTES,
        Version::V6 => return None,
    };
    let tcp_bytes = Tcp::new(packet.get(ip_bytes..)?)?.header_bytes();
    let header_bytes = ip_bytes + tcp_bytes;
    let is_whole = ip_bytes >= ipv4::HEADER_BYTES && tcp_bytes >= tcp::HEADER_BYTES;
    (is_whole && packet.len() > header_bytes).then_some((ip_bytes, header_bytes))
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
            first_ip[..ipv4::TOTAL_LENGTH] == second_ip[..ipv4::TOTAL_LENGTH]
                && first_ip[6..ipv4::CHECKSUM] == second_ip[6..ipv4::CHECKSUM]
                && first_ip[ipv4::CHECKSUM + 2..] == second_ip[ipv4::CHECKSUM + 2..]
        }
        Version::V6 => {
            first_ip[..ipv6::PAYLOAD_LENGTH] == second_ip[..ipv6::PAYLOAD_LENGTH]
                && first_ip[ipv6::NEXT_HEADER..] == second_ip[ipv6::NEXT_HEADER..]
        }
    };
    let same_tcp = first_tcp[..tcp::SEQUENCE] == second_tcp[..tcp::SEQUENCE]
        && first_tcp[tcp::ACKNOWLEDGMENT..tcp::FLAGS]
            == second_tcp[tcp::ACKNOWLEDGMENT..tcp::FLAGS]
        && first_tcp[tcp::FLAGS + 1..tcp::CHECKSUM] == second_tcp[tcp::FLAGS + 1..tcp::CHECKSUM]
        && first_tcp[tcp::CHECKSUM + 2..] == second_tcp[tcp::CHECKSUM + 2..];
    same_ip
        && same_tcp
        && traffic_class(first_ip).is_some_and(|class| class & ECN_BITS != ECN_BITS)
        // What ends a write is at the end of a super-packet; anything else is not joined.
        && first_tcp[tcp::FLAGS] == ACK
        && second_tcp[tcp::FLAGS] & !PSH == ACK
}

#[cfg(test)]
mod tests {
    use dumbbell_wire::bytes::read_u16;

    use super::super::super_packet::SuperPacket;
    use super::super::super_packet::tests::{RECEIVER, over_v6, split, super_packet};
    use super::*;

    fn joined(first: &[u8], second: &[u8]) -> Option<Vec<u8>> {
        Joined::new(first, second).map(|joined| joined.parts().concat())
    }

    #[test]
    fn two_halves_are_the_super_packet_that_they_were_split_from() {
        let flags = TcpFlags::ACK | TcpFlags::PSH;
        for payload_bytes in [2000, 1700, 1001] {
            let halves = split(&super_packet(payload_bytes, 1000, flags, 7, 0xffff_ff00));
            let whole = joined(&halves[0], &halves[1]).expect("they follow one another");
            let expected = super_packet(payload_bytes, 1000, flags, 7, 0xffff_ff00);
            assert_eq!(whole, expected);
            let parsed = SuperPacket::parse(&whole, &RECEIVER).expect("a packet of ours");
            assert_eq!(parsed.packets(), 2);
            let ip = &whole[VNET_HEADER_BYTES..];
            assert_eq!(read_u16(ip, ipv4::CHECKSUM), ipv4::checksum(&ip[..20]));
        }
    }

    #[test]
    fn halves_over_ipv6_are_joined_too() {
        let flags = TcpFlags::ACK | TcpFlags::PSH;
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
        let ack = TcpFlags::ACK;
        let packets = |flags| split(&super_packet(4000, 1000, flags, 7, 9));
        let of = packets(ack);
        assert!(joined(&of[0], &of[1]).is_some());
        assert!(joined(&of[1], &of[2]).is_some());
        assert_eq!(joined(&of[0], &of[2]), None, "a gap");
        assert_eq!(joined(&of[1], &of[0]), None, "the wrong order");
        let with_cwr = packets(ack | TcpFlags::CWR);
        assert_eq!(joined(&with_cwr[0], &with_cwr[1]), None, "CWR is of one");
        let with_fin = packets(ack | TcpFlags::FIN);
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
        let halves = split(&super_packet(65_000, 60_000, TcpFlags::ACK, 7, 9));
        assert_eq!(halves.len(), 2);
        assert!(joined(&halves[0], &halves[1]).is_some());
        let halves = split(&super_packet(40_000, 40_000, TcpFlags::ACK, 7, 9));
        let after = split(&super_packet(40_000, 40_000, TcpFlags::ACK, 7, 40_009));
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
