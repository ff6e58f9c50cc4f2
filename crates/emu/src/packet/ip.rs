//! IP headers as they are on the wire: IPv4 (RFC 791) and IPv6 (RFC 8200).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use dumbbell_net::Ecn;

use crate::packet::wire::{read_u16, read_u32};

/// Protocol number of TCP.
pub(crate) const PROTOCOL_TCP: u8 = 6;

/// Protocol number of UDP.
pub(crate) const PROTOCOL_UDP: u8 = 17;

/// Smallest IPv4 header, and IPv6's without extension headers, bytes.
pub(crate) const IPV4_HEADER_BYTES: usize = 20;
pub(crate) const IPV6_HEADER_BYTES: usize = 40;

/// Where an IPv4 header has the fields that are read or written here.
const IPV4_TOS: usize = 1;
const IPV4_FRAGMENT: usize = 6;
const IPV4_PROTOCOL: usize = 9;
pub(crate) const IPV4_CHECKSUM: usize = 10;
const IPV4_SOURCE: usize = 12;
const IPV4_DESTINATION: usize = 16;

/// The same of an IPv6 header.
const IPV6_NEXT_HEADER: usize = 6;
const IPV6_SOURCE: usize = 8;
const IPV6_DESTINATION: usize = 24;

/// Extension headers of IPv6 that another header follows (RFC 8200 §4, RFC 4302), by their protocol numbers.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Version {
    V4,
    V6,
}

/// The version that the first byte of a packet says; IPv4 unless it is IPv6's.
#[inline]
pub(crate) fn version(packet: &[u8]) -> Version {
    match packet.first() {
        Some(first) if first >> 4 == 6 => Version::V6,
        _ => Version::V4,
    }
}

/// The parts of an IP header that the path needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip {
    pub(crate) version: Version,
    /// Up to the transport header: with IPv4's options and IPv6's extension headers.
    pub(crate) header_bytes: usize,
    /// Of the transport header.
    pub(crate) protocol: u8,
    /// A part of a larger packet.
    pub(crate) is_fragment: bool,
    /// Not the first part: no transport header follows.
    pub(crate) is_later_fragment: bool,
}

impl Ip {
    /// Reads the header at the start of `packet`; `None` if it is not a whole IP header.
    ///
    /// The length field is not compared: a super-packet's may be anything.
    #[inline]
    pub(crate) fn parse(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::parse_v4(packet),
            6 => Self::parse_v6(packet),
            _ => None,
        }
    }

    #[inline]
    fn parse_v4(packet: &[u8]) -> Option<Self> {
        if packet.len() < IPV4_HEADER_BYTES {
            return None;
        }
        let header_bytes = usize::from(packet[0] & 0x0f) * 4;
        if header_bytes < IPV4_HEADER_BYTES || header_bytes > packet.len() {
            return None;
        }
        // The offset in units of 8 bytes, and the bit that says that more follows.
        let fragment = read_u16(packet, IPV4_FRAGMENT);
        Some(Self {
            version: Version::V4,
            header_bytes,
            protocol: packet[IPV4_PROTOCOL],
            is_fragment: fragment & 0x3fff != 0,
            is_later_fragment: fragment & 0x1fff != 0,
        })
    }

    fn parse_v6(packet: &[u8]) -> Option<Self> {
        let mut ip = Self {
            version: Version::V6,
            header_bytes: IPV6_HEADER_BYTES,
            protocol: *packet.get(IPV6_NEXT_HEADER)?,
            is_fragment: false,
            is_later_fragment: false,
        };
        loop {
            let rest = packet.get(ip.header_bytes..)?;
            let length = usize::from(rest.get(1).copied().unwrap_or(0));
            let bytes = match ip.protocol {
                HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => 8 + 8 * length,
                FRAGMENT => 8,
                AUTHENTICATION => 8 + 4 * length,
                _ => return Some(ip),
            };
            let extension = rest.get(..bytes)?;
            if ip.protocol == FRAGMENT {
                // The offset in units of 8 bytes, two reserved bits, and the bit that says that more follows. An
                // atomic fragment (RFC 6946) is the whole packet.
                let fragment = read_u16(extension, 2);
                ip.is_fragment = fragment & 0xfff9 != 0;
                ip.is_later_fragment = fragment & 0xfff8 != 0;
            }
            ip.protocol = extension[0];
            ip.header_bytes += bytes;
            if ip.is_later_fragment {
                return Some(ip);
            }
        }
    }

    /// Source and destination address of the packet that it was read from, one after the other.
    #[inline]
    pub(crate) fn addresses<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        match self.version {
            Version::V4 => &packet[IPV4_SOURCE..IPV4_HEADER_BYTES],
            Version::V6 => &packet[IPV6_SOURCE..IPV6_HEADER_BYTES],
        }
    }

    /// The same as addresses.
    pub(crate) fn host_addresses(&self, packet: &[u8]) -> (IpAddr, IpAddr) {
        let (source, destination) = self.addresses(packet).split_at(match self.version {
            Version::V4 => 4,
            Version::V6 => 16,
        });
        let address = |bytes: &[u8]| match <[u8; 16]>::try_from(bytes) {
            Ok(octets) => IpAddr::V6(Ipv6Addr::from(octets)),
            Err(_) => IpAddr::V4(Ipv4Addr::from(read_u32(bytes, 0))),
        };
        (address(source), address(destination))
    }

    /// The destination address of the packet that it was read from.
    #[inline]
    pub(crate) fn destination<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        match self.version {
            Version::V4 => &packet[IPV4_DESTINATION..IPV4_HEADER_BYTES],
            Version::V6 => &packet[IPV6_DESTINATION..IPV6_HEADER_BYTES],
        }
    }
}

/// IPv4's type of service, IPv6's traffic class: the DSCP and, in the low two bits, the ECN field.
#[inline]
pub(crate) fn traffic_class(packet: &[u8]) -> Option<u8> {
    match *packet {
        [first, second, ..] if first >> 4 == 6 => Some(first << 4 | second >> 4),
        [_, second, ..] => Some(second),
        _ => None,
    }
}

/// Numbers of the packet's hosts: an IPv4 address as it is, and of an IPv6 address its words, each added to the others
/// by XOR, as Linux does where it needs 32 bits (`ipv6_addr_hash`).
#[inline]
pub(crate) fn hosts(packet: &[u8]) -> Option<(u32, u32)> {
    match version(packet) {
        Version::V4 => (packet.len() >= IPV4_HEADER_BYTES).then(|| {
            (
                read_u32(packet, IPV4_SOURCE),
                read_u32(packet, IPV4_DESTINATION),
            )
        }),
        Version::V6 => (packet.len() >= IPV6_HEADER_BYTES).then(|| {
            let folded = |at: usize| {
                let words = (at..at + 16).step_by(4).map(|word| read_u32(packet, word));
                words.fold(0, std::ops::BitXor::bitxor)
            };
            (folded(IPV6_SOURCE), folded(IPV6_DESTINATION))
        }),
    }
}

/// Writes the ECN field into the IP header at the start of `packet`. IPv4's checksum is updated by the difference
/// (RFC 1624 §3, equation 3); IPv6 has none, and those of transports do not cover the field.
#[inline]
pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if version(packet) == Version::V6 {
        packet[1] = packet[1] & !(Ecn::Ce.bits() << 4) | ecn.bits() << 4;
        return;
    }
    let word = |ip: &[u8], at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
    let (before, checksum) = (word(packet, 0), word(packet, IPV4_CHECKSUM));
    packet[IPV4_TOS] = packet[IPV4_TOS] & !Ecn::Ce.bits() | ecn.bits();
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(word(packet, 0));
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    packet[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of fd64:756d:6262::a00:1 and fd64:756d:6262::a00:2.
    pub(crate) fn v6_header(traffic_class: u8, next_header: u8, payload_bytes: u16) -> Vec<u8> {
        let mut header = vec![
            0x60 | traffic_class >> 4,
            traffic_class << 4 | 0x0a,
            0xbc,
            0xde,
        ];
        header.extend(payload_bytes.to_be_bytes());
        header.extend([next_header, 64]);
        for host in [1, 2] {
            header.extend([0xfd, 0x64, 0x75, 0x6d, 0x62, 0x62, 0, 0]);
            header.extend([0, 0, 0, 0, 10, 0, 0, host]);
        }
        header
    }

    fn of_v6(next_header: u8, after: &[u8]) -> Option<(usize, u8, bool, bool)> {
        let mut packet = v6_header(0, next_header, after.len() as u16);
        packet.extend(after);
        let ip = Ip::parse(&packet)?;
        Some((
            ip.header_bytes,
            ip.protocol,
            ip.is_fragment,
            ip.is_later_fragment,
        ))
    }

    #[test]
    fn extension_headers_are_passed() {
        assert_eq!(of_v6(PROTOCOL_TCP, &[0; 20]), Some((40, 6, false, false)));
        assert_eq!(of_v6(58, &[]), Some((40, 58, false, false)), "ICMPv6");
        // Hop-by-hop of 16 bytes, routing of 8, authentication of 12 + 12, destination options of 8.
        let mut chain = vec![ROUTING, 1];
        chain.resize(16, 0);
        chain.extend([AUTHENTICATION, 0, 0, 0, 0, 0, 0, 0]);
        chain.extend([DESTINATION_OPTIONS, 4]);
        chain.resize(16 + 8 + 24, 0);
        chain.extend([PROTOCOL_UDP, 0, 0, 0, 0, 0, 0, 0]);
        let found = Some((40 + chain.len(), PROTOCOL_UDP, false, false));
        assert_eq!(of_v6(HOP_BY_HOP, &chain), found);
        assert_eq!(of_v6(HOP_BY_HOP, &chain[..chain.len() - 1]), None, "cut");
    }

    #[test]
    fn fragments_are_known_by_their_header() {
        let fragment = |offset_and_flags: u16| {
            let [high, low] = offset_and_flags.to_be_bytes();
            of_v6(FRAGMENT, &[PROTOCOL_UDP, 0, high, low, 0, 0, 0, 7])
        };
        assert_eq!(fragment(0), Some((48, 17, false, false)), "an atomic one");
        assert_eq!(fragment(1), Some((48, 17, true, false)), "the first");
        assert_eq!(fragment(8 | 1), Some((48, 17, true, true)));
        assert_eq!(fragment(16), Some((48, 17, true, true)), "the last");
        let mut v4 = vec![0x45, 0, 0, 20, 0, 7, 0x20, 0, 64, 17, 0, 0];
        v4.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        let facts =
            |packet: &[u8]| Ip::parse(packet).map(|ip| (ip.is_fragment, ip.is_later_fragment));
        assert_eq!(facts(&v4), Some((true, false)), "more follow");
        v4[7] = 1;
        assert_eq!(facts(&v4), Some((true, true)));
        v4[6..8].fill(0);
        assert_eq!(facts(&v4), Some((false, false)));
    }

    #[test]
    fn the_ecn_field_of_ipv6_is_changed_and_nothing_else() {
        for (before, ecn) in [
            (0b10, Ecn::Ce),
            (0xb9, Ecn::Ce),
            (0xba, Ecn::Ect1),
            (3, Ecn::NotEct),
        ] {
            let mut packet = v6_header(before, PROTOCOL_TCP, 20);
            assert_eq!(traffic_class(&packet), Some(before));
            set_ecn(&mut packet, ecn);
            let after = before & !0b11 | ecn.bits();
            assert_eq!(packet, v6_header(after, PROTOCOL_TCP, 20));
        }
    }

    #[test]
    fn hosts_are_the_folded_addresses() {
        let prefix = 0xfd64_756d ^ 0x6262_0000;
        let expected = (prefix ^ 0x0a00_0001, prefix ^ 0x0a00_0002);
        assert_eq!(hosts(&v6_header(0, PROTOCOL_TCP, 0)), Some(expected));
        assert_eq!(hosts(&v6_header(0, PROTOCOL_TCP, 0)[..39]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(mut packet in prop::collection::vec(any::<u8>(), 0..120), is_v6: bool) {
            if let (true, Some(first)) = (is_v6, packet.first_mut()) {
                *first = 0x60;
            }
            if let Some(ip) = Ip::parse(&packet) {
                prop_assert!(ip.header_bytes <= packet.len());
                ip.addresses(&packet);
                ip.destination(&packet);
            }
            traffic_class(&packet);
            hosts(&packet);
        }
    }
}
