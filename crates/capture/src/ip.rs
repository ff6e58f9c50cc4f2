//! IP headers of captured packets (RFC 791, RFC 8200), with everything up to the transport header.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::dissect::Unread;

/// Protocol number of TCP.
pub(crate) const TCP: u8 = 6;

/// The fields of an IP header, and its payload.
pub(crate) struct IpPacket<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) ecn: u8,
    pub(crate) id: Option<u16>,
    pub(crate) ttl: u8,
    /// Of the payload, behind IPv6's extension headers.
    pub(crate) protocol: u8,
    /// A part of a packet that was cut in pieces; the payload may begin in the middle of anything.
    pub(crate) is_fragment: bool,
    /// The captured part of the payload, without what follows it.
    pub(crate) segment: &'a [u8],
    /// Length of the payload on the wire.
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
        let captured = &packet[..packet.len().min(total_bytes)];
        let &[.., s0, s1, s2, s3, d0, d1, d2, d3] = header;
        Ok(Self {
            source: IpAddr::V4(Ipv4Addr::new(s0, s1, s2, s3)),
            destination: IpAddr::V4(Ipv4Addr::new(d0, d1, d2, d3)),
            ecn: tos & 3,
            id: Some(u16::from_be_bytes([i0, i1])),
            ttl,
            protocol,
            // More fragments, or not the first.
            is_fragment: u16::from_be_bytes([f0, f1]) & 0x3fff != 0,
            segment: captured_behind(captured, header_bytes, protocol)?,
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
        let Extensions {
            bytes,
            protocol,
            is_fragment,
        } = Extensions::parse(next_header, payload)?;
        let segment_bytes = match payload_bytes.checked_sub(bytes) {
            Some(segment_bytes) => segment_bytes,
            None if protocol == TCP && !is_fragment => return Err(Unread::BadLength),
            None => 0,
        };
        let (addresses, _) = header[8..].as_chunks::<16>();
        Ok(Self {
            source: IpAddr::V6(Ipv6Addr::from(addresses[0])),
            destination: IpAddr::V6(Ipv6Addr::from(addresses[1])),
            ecn: (second >> 4) & 3,
            id: None,
            ttl,
            protocol,
            is_fragment,
            segment: captured_behind(payload, bytes, protocol)?,
            segment_bytes,
        })
    }
}

/// What was captured behind the first `bytes`; of TCP there must be something.
#[inline]
fn captured_behind(captured: &[u8], bytes: usize, protocol: u8) -> Result<&[u8], Unread> {
    match captured.get(bytes..) {
        None if protocol == TCP => Err(Unread::CutHeader),
        segment => Ok(segment.unwrap_or_default()),
    }
}

/// IPv6's extension headers.
struct Extensions {
    bytes: usize,
    /// What follows them.
    protocol: u8,
    is_fragment: bool,
}

impl Extensions {
    /// Reads those at the beginning of `payload`, the first of the kind `first`; a fragment's end there.
    fn parse(first: u8, payload: &[u8]) -> Result<Self, Unread> {
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
        };
        while found.protocol != TCP && !found.is_fragment {
            let header: Option<&[u8; 4]> = payload.get(found.bytes..).and_then(<[u8]>::first_chunk);
            let length = |&[_, length, ..]: &[u8; 4]| usize::from(length);
            found.bytes += match (found.protocol, header) {
                (HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6, Some(header)) => {
                    (length(header) + 1) * 8
                }
                // RFC 4302 §2.2: in words, without two.
                (AUTHENTICATION, Some(header)) => (length(header) + 2) * 4,
                (FRAGMENT, Some([_, _, offset, flags])) => {
                    // Offset 0 and no more fragments is a whole packet (RFC 6946).
                    found.is_fragment = (*offset, flags & 0xf9) != (0, 0);
                    8
                }
                (
                    HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6 | AUTHENTICATION
                    | FRAGMENT,
                    None,
                ) => return Err(Unread::CutHeader),
                _ => break,
            };
            found.protocol = header.map_or(found.protocol, |header| header[0]);
        }
        Ok(found)
    }
}
