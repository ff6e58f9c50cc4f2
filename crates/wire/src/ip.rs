//! What the headers of IPv4 and IPv6 have in common, with everything up to the transport header.

use std::net::IpAddr;

use crate::bytes::{put_u16, read_u16, read_u32};
use crate::checksum::Changes;
use crate::ipv4::{self, Ipv4};
use crate::ipv6::{self, Extensions, Ipv6};

/// Protocol number of TCP.
pub const PROTOCOL_TCP: u8 = 6;

/// Protocol number of UDP.
pub const PROTOCOL_UDP: u8 = 17;

/// Bits of the ECN field (RFC 3168 §5); all of them set is Congestion Experienced.
pub const ECN_BITS: u8 = 0b11;

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// IPv4, RFC 791.
    V4,
    /// IPv6, RFC 8200.
    V6,
}

/// The version that the first byte of a packet says; IPv4 unless it is IPv6's.
#[inline]
pub fn version(packet: &[u8]) -> Version {
    match packet.first() {
        Some(first) if first >> 4 == 6 => Version::V6,
        _ => Version::V4,
    }
}

/// Where the transport header of a packet begins, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// IPv4 or IPv6.
    pub version: Version,
    /// Bytes up to the transport header: with IPv4's options and IPv6's extension headers.
    pub header_bytes: usize,
    /// Protocol number of the transport header.
    pub protocol: u8,
    /// Whether it is a part of a larger packet.
    pub is_fragment: bool,
    /// Whether it is not the first part: no transport header follows.
    pub is_later_fragment: bool,
}

impl Ip {
    /// Reads the header at the start of `packet`; `None` if it is not a whole IP header.
    ///
    /// The length field is not compared: a super-packet's may be anything.
    #[inline]
    pub fn parse(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::parse_v4(packet),
            6 => Self::parse_v6(packet),
            _ => None,
        }
    }

    #[inline]
    fn parse_v4(packet: &[u8]) -> Option<Self> {
        let ip = Ipv4::new(packet)?;
        let header_bytes = ip.header_bytes();
        if header_bytes < ipv4::HEADER_BYTES || header_bytes > packet.len() {
            return None;
        }
        Some(Self {
            version: Version::V4,
            header_bytes,
            protocol: ip.protocol(),
            is_fragment: ip.is_fragment(),
            is_later_fragment: ip.is_later_fragment(),
        })
    }

    fn parse_v6(packet: &[u8]) -> Option<Self> {
        let ip = Ipv6::new(packet)?;
        let payload = &packet[ipv6::HEADER_BYTES..];
        let extensions = Extensions::parse(ip.next_header(), payload, true)?;
        (extensions.bytes <= payload.len()).then_some(Self {
            version: Version::V6,
            header_bytes: ipv6::HEADER_BYTES + extensions.bytes,
            protocol: extensions.protocol,
            is_fragment: extensions.is_fragment,
            is_later_fragment: extensions.is_later_fragment,
        })
    }

    /// Source and destination address of the packet that it was read from, one after the other.
    #[inline]
    pub fn addresses<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        match self.version {
            Version::V4 => &packet[ipv4::SOURCE..ipv4::HEADER_BYTES],
            Version::V6 => &packet[ipv6::SOURCE..ipv6::HEADER_BYTES],
        }
    }

    /// Source and destination of the packet that it was read from.
    pub fn hosts(&self, packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
        Some(match self.version {
            Version::V4 => {
                let ip = Ipv4::new(packet)?;
                (ip.source().into(), ip.destination().into())
            }
            Version::V6 => {
                let ip = Ipv6::new(packet)?;
                (ip.source().into(), ip.destination().into())
            }
        })
    }

    /// The destination address of the packet that it was read from.
    #[inline]
    pub fn destination<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        match self.version {
            Version::V4 => &packet[ipv4::DESTINATION..ipv4::HEADER_BYTES],
            Version::V6 => &packet[ipv6::DESTINATION..ipv6::HEADER_BYTES],
        }
    }

    /// Offsets of source and destination address.
    #[inline]
    pub fn address_offsets(&self) -> [usize; 2] {
        match self.version {
            Version::V4 => [ipv4::SOURCE, ipv4::DESTINATION],
            Version::V6 => [ipv6::SOURCE, ipv6::DESTINATION],
        }
    }

    /// Length of the whole packet by its length field, bytes.
    pub fn packet_bytes(&self, packet: &[u8]) -> usize {
        match self.version {
            Version::V4 => usize::from(read_u16(packet, ipv4::TOTAL_LENGTH)),
            Version::V6 => ipv6::HEADER_BYTES + usize::from(read_u16(packet, ipv6::PAYLOAD_LENGTH)),
        }
    }
}

/// Writes the length of the whole packet into its `header`, and IPv4's checksum, which covers it.
#[inline]
pub fn set_packet_bytes(version: Version, header: &mut [u8], packet_bytes: usize) {
    match version {
        Version::V4 => {
            put_u16(header, ipv4::TOTAL_LENGTH, packet_bytes as u16);
            let checksum = ipv4::checksum(header);
            put_u16(header, ipv4::CHECKSUM, checksum);
        }
        Version::V6 => {
            let payload_bytes = packet_bytes - ipv6::HEADER_BYTES;
            put_u16(header, ipv6::PAYLOAD_LENGTH, payload_bytes as u16);
        }
    }
}

/// IPv4's type of service, IPv6's traffic class: the DSCP and, in the low two bits, the ECN field.
#[inline]
pub fn traffic_class(packet: &[u8]) -> Option<u8> {
    match *packet {
        [first, second, ..] if first >> 4 == 6 => Some(first << 4 | second >> 4),
        [_, second, ..] => Some(second),
        _ => None,
    }
}

/// Numbers of the packet's hosts: an IPv4 address as it is, and of an IPv6 address its words, each added to the others
/// by XOR, as Linux does where it needs 32 bits (`ipv6_addr_hash`).
#[inline]
pub fn host_numbers(packet: &[u8]) -> Option<(u32, u32)> {
    match version(packet) {
        Version::V4 => Ipv4::new(packet).map(|ip| (ip.source().into(), ip.destination().into())),
        Version::V6 => (packet.len() >= ipv6::HEADER_BYTES).then(|| {
            let folded = |at: usize| {
                let words = (at..at + 16).step_by(4).map(|word| read_u32(packet, word));
                words.fold(0, std::ops::BitXor::bitxor)
            };
            (folded(ipv6::SOURCE), folded(ipv6::DESTINATION))
        }),
    }
}

/// Writes the ECN field into the IP header at the start of `packet`. IPv4's checksum is updated by the difference
/// (RFC 1624); IPv6 has none, and those of transports do not cover the field.
#[inline]
pub fn set_ecn(packet: &mut [u8], ecn: u8) {
    if version(packet) == Version::V6 {
        packet[1] = packet[1] & !(ECN_BITS << 4) | ecn << 4;
        return;
    }
    let tos = packet[ipv4::TOS] & !ECN_BITS | ecn;
    let mut changes = Changes::default();
    changes.replace(packet, 0, &[packet[0], tos]);
    changes.apply(packet, ipv4::CHECKSUM);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use proptest::prelude::*;

    use super::*;

    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION_OPTIONS: u8 = 60;

    fn v6_header(traffic_class: u8, next_header: u8, payload_bytes: u16) -> Vec<u8> {
        let host = |host| Ipv6Addr::new(0xfd64, 0x756d, 0x6262, 0, 0, 0, 0x0a00, host);
        ipv6::header(traffic_class, next_header, payload_bytes, [1, 2].map(host)).to_vec()
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
        assert_eq!(of_v6(0, &chain), found);
        assert_eq!(of_v6(0, &chain[..chain.len() - 1]), None, "cut");
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
        for (before, ecn) in [(0b10, 0b11), (0xb9, 0b11), (0xba, 0b01), (3, 0)] {
            let mut packet = v6_header(before, PROTOCOL_TCP, 20);
            assert_eq!(traffic_class(&packet), Some(before));
            set_ecn(&mut packet, ecn);
            assert_eq!(packet, v6_header(before & !0b11 | ecn, PROTOCOL_TCP, 20));
        }
    }

    #[test]
    fn hosts_are_the_folded_addresses() {
        let prefix = 0xfd64_756d ^ 0x6262_0000;
        let expected = (prefix ^ 0x0a00_0001, prefix ^ 0x0a00_0002);
        assert_eq!(host_numbers(&v6_header(0, PROTOCOL_TCP, 0)), Some(expected));
        assert_eq!(host_numbers(&v6_header(0, PROTOCOL_TCP, 0)[..39]), None);
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
                prop_assert!(ip.hosts(&packet).is_some());
            }
            traffic_class(&packet);
            host_numbers(&packet);
        }
    }
}
