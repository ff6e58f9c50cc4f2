//! IPv6's header and its extension headers (RFC 8200).

use std::net::Ipv6Addr;

use crate::bytes::{put_u16, read_u16};

/// Bytes of the header without extension headers.
pub const HEADER_BYTES: usize = 40;

/// Offset of the length of what follows the header.
pub const PAYLOAD_LENGTH: usize = 4;
/// Offset of the kind of header that follows.
pub const NEXT_HEADER: usize = 6;
const HOP_LIMIT: usize = 7;
pub(crate) const SOURCE: usize = 8;
pub(crate) const DESTINATION: usize = 24;

/// View of a header.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6<'a>(&'a [u8; HEADER_BYTES]);

impl<'a> Ipv6<'a> {
    /// The header at the start of `packet`; `None` if it is cut.
    #[inline]
    pub fn new(packet: &'a [u8]) -> Option<Self> {
        packet.first_chunk().map(Self)
    }

    /// The ECN field, two bits.
    #[inline]
    pub fn ecn(self) -> u8 {
        self.0[1] >> 4 & 0b11
    }

    /// Bytes that follow the header; of a super-packet and a jumbogram it may be 0.
    #[inline]
    pub fn payload_bytes(self) -> u16 {
        read_u16(self.0, PAYLOAD_LENGTH)
    }

    /// Kind of the header that follows: a protocol number.
    #[inline]
    pub fn next_header(self) -> u8 {
        self.0[NEXT_HEADER]
    }

    /// Hop limit, hops.
    #[inline]
    pub fn hop_limit(self) -> u8 {
        self.0[HOP_LIMIT]
    }

    /// Address of the host that sent it.
    #[inline]
    pub fn source(self) -> Ipv6Addr {
        self.address(SOURCE)
    }

    /// Address of the host that it goes to.
    #[inline]
    pub fn destination(self) -> Ipv6Addr {
        self.address(DESTINATION)
    }

    #[inline]
    fn address(self, at: usize) -> Ipv6Addr {
        let mut octets = [0; 16];
        octets.copy_from_slice(&self.0[at..at + 16]);
        Ipv6Addr::from(octets)
    }
}

/// A header of a packet that no router has touched, with an arbitrary flow label.
pub fn header(
    traffic_class: u8,
    next_header: u8,
    payload_bytes: u16,
    [source, destination]: [Ipv6Addr; 2],
) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&[
        0x60 | traffic_class >> 4,
        traffic_class << 4 | 0x0a,
        0xbc,
        0xde,
    ]);
    put_u16(&mut header, PAYLOAD_LENGTH, payload_bytes);
    header[NEXT_HEADER] = next_header;
    header[HOP_LIMIT] = 64;
    header[SOURCE..DESTINATION].copy_from_slice(&source.octets());
    header[DESTINATION..].copy_from_slice(&destination.octets());
    header
}

/// Where extension headers lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    /// Bytes of all of them, by their length fields.
    pub bytes: usize,
    /// Protocol number of what follows them.
    pub protocol: u8,
    /// Whether the packet is a part of a larger one. An atomic fragment (RFC 6946) is a whole packet.
    pub is_fragment: bool,
    /// Whether it is a part of a larger packet and not the first.
    pub is_later_fragment: bool,
    /// Where the payload of a part is in that of the larger packet, bytes.
    pub fragment_offset_bytes: u16,
    /// Whether further parts follow.
    pub has_more_fragments: bool,
    /// What the parts of a packet have in common.
    pub fragment_id: u32,
}

impl Extensions {
    /// Follows the headers at the start of `payload`, the first of the kind `first`; `None` if one is cut before its
    /// length. Those of a later fragment end with its fragment header, and those of the first too unless `passes_first`.
    pub fn parse(first: u8, payload: &[u8], passes_first: bool) -> Option<Self> {
        /// Numbers of extension headers: <https://www.iana.org/assignments/ipv6-parameters>.
        const HOP_BY_HOP: u8 = 0;
        const ROUTING: u8 = 43;
        const FRAGMENT: u8 = 44;
        const AUTHENTICATION: u8 = 51;
        const DESTINATION: u8 = 60;
        const MOBILITY: u8 = 135;
        const HIP: u8 = 139;
        const SHIM6: u8 = 140;

        let mut found = Self {
            bytes: 0,
            protocol: first,
            is_fragment: false,
            is_later_fragment: false,
            fragment_offset_bytes: 0,
            has_more_fragments: false,
            fragment_id: 0,
        };
        loop {
            let is_extension = matches!(
                found.protocol,
                HOP_BY_HOP
                    | ROUTING
                    | FRAGMENT
                    | AUTHENTICATION
                    | DESTINATION
                    | MOBILITY
                    | HIP
                    | SHIM6
            );
            if !is_extension || found.is_later_fragment || (found.is_fragment && !passes_first) {
                return Some(found);
            }
            let &[next, length, offset, flags] = payload.get(found.bytes..)?.first_chunk()?;
            found.bytes += match found.protocol {
                FRAGMENT => {
                    // The offset in units of 8 bytes, two reserved bits, and the bit that says that more follows.
                    let place = u16::from_be_bytes([offset, flags]);
                    found.is_fragment = place & 0xfff9 != 0;
                    found.is_later_fragment = place & 0xfff8 != 0;
                    found.fragment_offset_bytes = place & 0xfff8;
                    found.has_more_fragments = place & 1 != 0;
                    let id = payload.get(found.bytes + 4..).and_then(<[u8]>::first_chunk);
                    found.fragment_id = id.map_or(0, |id| u32::from_be_bytes(*id));
                    8
                }
                // RFC 4302 §2.2: in words, without two.
                AUTHENTICATION => (usize::from(length) + 2) * 4,
                _ => (usize::from(length) + 1) * 8,
            };
            found.protocol = next;
        }
    }
}
