//! IPv4's header (RFC 791).

use std::net::Ipv4Addr;

use crate::bytes::{put_u16, read_u16, read_u32};
use crate::checksum::internet_checksum;

/// Bytes of a header without options.
pub const HEADER_BYTES: usize = 20;

/// Offset of the DSCP and the ECN field.
pub const TOS: usize = 1;
/// Offset of the packet's length.
pub const TOTAL_LENGTH: usize = 2;
/// Offset of the identification.
pub const IDENTIFICATION: usize = 4;
const FRAGMENT: usize = 6;
const TTL: usize = 8;
const PROTOCOL: usize = 9;
/// Offset of the header's checksum.
pub const CHECKSUM: usize = 10;
pub(crate) const SOURCE: usize = 12;
pub(crate) const DESTINATION: usize = 16;

/// TTL of a packet that no router has touched, as Linux sets it.
const INITIAL_TTL: u8 = 64;
const DONT_FRAGMENT: u16 = 0x4000;

/// View of a header.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4<'a>(&'a [u8; HEADER_BYTES]);

impl<'a> Ipv4<'a> {
    /// The header at the start of `packet`; `None` if its fixed part is cut.
    #[inline]
    pub fn new(packet: &'a [u8]) -> Option<Self> {
        packet.first_chunk().map(Self)
    }

    /// Length of the header with its options, bytes.
    #[inline]
    pub fn header_bytes(self) -> usize {
        usize::from(self.0[0] & 0x0f) * 4
    }

    /// The ECN field, two bits.
    #[inline]
    pub fn ecn(self) -> u8 {
        self.0[TOS] & 0b11
    }

    /// Length of the packet, bytes; of a super-packet it may be 0.
    #[inline]
    pub fn total_bytes(self) -> u16 {
        read_u16(self.0, TOTAL_LENGTH)
    }

    /// Identification of the packet, which its fragments have in common.
    #[inline]
    pub fn identification(self) -> u16 {
        read_u16(self.0, IDENTIFICATION)
    }

    /// Whether it is a part of a larger packet: not the first, or more follow.
    #[inline]
    pub fn is_fragment(self) -> bool {
        read_u16(self.0, FRAGMENT) & 0x3fff != 0
    }

    /// Whether it is a part of a larger packet and not the first.
    #[inline]
    pub fn is_later_fragment(self) -> bool {
        read_u16(self.0, FRAGMENT) & 0x1fff != 0
    }

    /// Where its payload is in that of the larger packet, bytes.
    #[inline]
    pub fn fragment_offset_bytes(self) -> u16 {
        (read_u16(self.0, FRAGMENT) & 0x1fff) * 8
    }

    /// Whether further parts of the larger packet follow.
    #[inline]
    pub fn has_more_fragments(self) -> bool {
        read_u16(self.0, FRAGMENT) & 0x2000 != 0
    }

    /// Time to live, hops.
    #[inline]
    pub fn ttl(self) -> u8 {
        self.0[TTL]
    }

    /// Protocol number of the payload.
    #[inline]
    pub fn protocol(self) -> u8 {
        self.0[PROTOCOL]
    }

    /// Address of the host that sent it.
    #[inline]
    pub fn source(self) -> Ipv4Addr {
        Ipv4Addr::from(read_u32(self.0, SOURCE))
    }

    /// Address of the host that it goes to.
    #[inline]
    pub fn destination(self) -> Ipv4Addr {
        Ipv4Addr::from(read_u32(self.0, DESTINATION))
    }
}

/// Fields of a header without options, of a packet that must not be fragmented and that no router has touched.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4Fields {
    /// Address of the host that sends it.
    pub source: Ipv4Addr,
    /// Address of the host that it goes to.
    pub destination: Ipv4Addr,
    /// DSCP and, in the low two bits, the ECN field.
    pub tos: u8,
    /// Identification of the packet.
    pub identification: u16,
    /// Protocol number of the payload.
    pub protocol: u8,
    /// Bytes that follow the header.
    pub payload_bytes: u16,
}

impl Ipv4Fields {
    /// The header, with its checksum.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[0] = 0x45;
        header[TOS] = self.tos;
        put_u16(
            &mut header,
            TOTAL_LENGTH,
            HEADER_BYTES as u16 + self.payload_bytes,
        );
        put_u16(&mut header, IDENTIFICATION, self.identification);
        put_u16(&mut header, FRAGMENT, DONT_FRAGMENT);
        header[TTL] = INITIAL_TTL;
        header[PROTOCOL] = self.protocol;
        header[SOURCE..DESTINATION].copy_from_slice(&self.source.octets());
        header[DESTINATION..].copy_from_slice(&self.destination.octets());
        let checksum = checksum(&header);
        put_u16(&mut header, CHECKSUM, checksum);
        header
    }
}

/// Checksum of a header, without the field that it goes to.
#[inline]
pub fn checksum(header: &[u8]) -> u16 {
    internet_checksum([&header[..CHECKSUM], &header[CHECKSUM + 2..]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xde, 0xad, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xb861);
    }
}
