//! IP headers of captured packets (RFC 791, RFC 8200), with everything up to the TCP header.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::dissect::Unread;

const TCP: u8 = 6;

/// The fields of an IP header, and its payload.
pub(crate) struct IpPacket<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) ecn: u8,
    pub(crate) id: Option<u16>,
    pub(crate) ttl: u8,
    /// The captured part of the TCP segment, without what follows it.
    pub(crate) segment: &'a [u8],
    /// Length of the segment on the wire.
    pub(crate) segment_bytes: usize,
}

impl<'a> IpPacket<'a> {
    /// Reads `packet`, which was `wire_bytes` long before it was cut. If offload left the length in
    /// the header 0, the length on the wire is used.
    #[inline]
    pub(crate) fn parse(packet: &'a [u8], wire_bytes: usize) -> Result<Self, Unread> {
        match packet.first().map(|first| first >> 4) {
            Some(4) => Self::parse_v4(packet, wire_bytes),
            Some(6) => Self::parse_v6(packet, wire_bytes),
            Some(_) => Err(Unread::NotIp),
            None => Err(Unread::CutHeader),
        }
    }

    #[inline]
    fn parse_v4(packet: &'a [u8], wire_bytes: usize) -> Result<Self, Unread> {
        let header = packet.first_chunk::<20>().ok_or(Unread::CutHeader)?;
        let &[first, tos, l0, l1, i0, i1, f0, f1, ttl, protocol, _, _, ..] = header;
        let header_bytes = usize::from(first & 0xf) * 4;
        let total_bytes = match u16::from_be_bytes([l0, l1]) {
            0 => wire_bytes,
            length => usize::from(length),
        };
        if header_bytes < header.len() || total_bytes < header_bytes {
            return Err(Unread::BadLength);
        }
        // More fragments, or not the first.
        if u16::from_be_bytes([f0, f1]) & 0x3fff != 0 {
            return Err(Unread::Fragment);
        }
        if protocol != TCP {
            return Err(Unread::NotTcp);
        }
        let captured = &packet[..packet.len().min(total_bytes)];
        let segment = captured.get(header_bytes..).ok_or(Unread::CutHeader)?;
        let &[.., s0, s1, s2, s3, d0, d1, d2, d3] = header;
        Ok(Self {
            source: IpAddr::V4(Ipv4Addr::new(s0, s1, s2, s3)),
            destination: IpAddr::V4(Ipv4Addr::new(d0, d1, d2, d3)),
            ecn: tos & 3,
            id: Some(u16::from_be_bytes([i0, i1])),
            ttl,
            segment,
            segment_bytes: total_bytes - header_bytes,
        })
    }

    fn parse_v6(packet: &'a [u8], wire_bytes: usize) -> Result<Self, Unread> {
        let (header, behind) = packet.split_first_chunk::<40>().ok_or(Unread::CutHeader)?;
        let &[_, second, _, _, l0, l1, next_header, ttl, ..] = header;
        let payload_bytes = match u16::from_be_bytes([l0, l1]) {
            // Offload, or a jumbogram (RFC 2675), whose length is that of the record too.
            0 => wire_bytes.checked_sub(header.len()),
            length => Some(usize::from(length)),
        };
        let payload_bytes = payload_bytes.ok_or(Unread::BadLength)?;
        let payload = &behind[..behind.len().min(payload_bytes)];
        let extension_bytes = extension_bytes(next_header, payload)?;
        let segment_bytes = payload_bytes.checked_sub(extension_bytes);
        let segment_bytes = segment_bytes.ok_or(Unread::BadLength)?;
        let (addresses, _) = header[8..].as_chunks::<16>();
        Ok(Self {
            source: IpAddr::V6(Ipv6Addr::from(addresses[0])),
            destination: IpAddr::V6(Ipv6Addr::from(addresses[1])),
            ecn: (second >> 4) & 3,
            id: None,
            ttl,
            segment: payload.get(extension_bytes..).ok_or(Unread::CutHeader)?,
            segment_bytes,
        })
    }
}

/// Number of bytes of extension headers before the TCP header.
fn extension_bytes(first: u8, payload: &[u8]) -> Result<usize, Unread> {
    /// Numbers of extension headers: <https://www.iana.org/assignments/ipv6-parameters>.
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    const MOBILITY: u8 = 135;
    const HIP: u8 = 139;
    const SHIM6: u8 = 140;

    let mut next_header = first;
    let mut at = 0;
    while next_header != TCP {
        let header: Option<&[u8; 4]> = payload.get(at..).and_then(<[u8]>::first_chunk);
        let length = |&[_, length, ..]: &[u8; 4]| usize::from(length);
        let bytes = match (next_header, header) {
            (HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6, Some(header)) => {
                (length(header) + 1) * 8
            }
            // RFC 4302 §2.2: in words, without two.
            (AUTHENTICATION, Some(header)) => (length(header) + 2) * 4,
            // Offset 0 and no more fragments is a whole packet (RFC 6946).
            (FRAGMENT, Some([_, _, offset, flags])) if (*offset, flags & 0xf9) == (0, 0) => 8,
            (FRAGMENT, Some(_)) => return Err(Unread::Fragment),
            (
                HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6 | AUTHENTICATION
                | FRAGMENT,
                None,
            ) => return Err(Unread::CutHeader),
            _ => return Err(Unread::NotTcp),
        };
        next_header = header.map_or(next_header, |header| header[0]);
        at += bytes;
    }
    Ok(at)
}
