//! IP headers of captured packets, which may be cut, with everything up to the transport header.

use std::net::IpAddr;

use dumbbell_wire::ip::PROTOCOL_TCP;
use dumbbell_wire::ipv4::{self, Ipv4};
use dumbbell_wire::ipv6::{self, Extensions, Ipv6};

use crate::error::Unread;

/// The fields of an IP header, and its payload.
pub(crate) struct IpPacket<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) ecn: u8,
    pub(crate) id: Option<u16>,
    pub(crate) ttl: u8,
    /// Protocol number of the payload, behind IPv6's extension headers.
    pub(crate) protocol: u8,
    /// Its place in a packet that was cut in pieces; the payload may begin in the middle of anything.
    pub(crate) fragment: Option<FragmentPlace>,
    /// The captured part of the payload, without what follows it.
    pub(crate) segment: &'a [u8],
    /// Length of the payload on the wire.
    pub(crate) segment_bytes: usize,
}

/// Where a fragment's payload belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FragmentPlace {
    pub(crate) offset_bytes: u16,
    pub(crate) has_more: bool,
    /// What the fragments of a packet have in common.
    pub(crate) id: u32,
}

impl<'a> IpPacket<'a> {
    /// Reads `packet`, which was `wire_bytes` long before it was cut. If offload left the length in
    /// the header 0, the length on the wire is used.
    #[inline]
    pub(crate) fn parse(packet: &'a [u8], wire_bytes: usize) -> Result<Self, Unread> {
        match packet.first().map(|first| first >> 4) {
            Some(4) => Self::parse_v4(packet, wire_bytes),
            Some(6) => Self::parse_v6(packet, wire_bytes),
            Some(_) => Err(Unread::NotIp(0)),
            None => Err(Unread::CutHeader),
        }
    }

    #[inline]
    fn parse_v4(packet: &'a [u8], wire_bytes: usize) -> Result<Self, Unread> {
        let header = Ipv4::new(packet).ok_or(Unread::CutHeader)?;
        let header_bytes = header.header_bytes();
        let total_bytes = match header.total_bytes() {
            0 => wire_bytes,
            length => usize::from(length),
        };
        if header_bytes < ipv4::HEADER_BYTES || total_bytes < header_bytes {
            return Err(Unread::BadLength);
        }
        let captured = &packet[..packet.len().min(total_bytes)];
        let protocol = header.protocol();
        Ok(Self {
            source: header.source().into(),
            destination: header.destination().into(),
            ecn: header.ecn(),
            id: Some(header.identification()),
            ttl: header.ttl(),
            protocol,
            fragment: header.is_fragment().then(|| FragmentPlace {
                offset_bytes: header.fragment_offset_bytes(),
                has_more: header.has_more_fragments(),
                id: header.identification().into(),
            }),
            segment: captured_behind(captured, header_bytes, protocol)?,
            segment_bytes: total_bytes - header_bytes,
        })
    }

    fn parse_v6(packet: &'a [u8], wire_bytes: usize) -> Result<Self, Unread> {
        let header = Ipv6::new(packet).ok_or(Unread::CutHeader)?;
        let behind = &packet[ipv6::HEADER_BYTES..];
        let payload_bytes = match header.payload_bytes() {
            // Offload, or a jumbogram (RFC 2675), whose length is that of the record too.
            0 => wire_bytes.checked_sub(ipv6::HEADER_BYTES),
            length => Some(usize::from(length)),
        };
        let payload_bytes = payload_bytes.ok_or(Unread::BadLength)?;
        let payload = &behind[..behind.len().min(payload_bytes)];
        let extensions =
            Extensions::parse(header.next_header(), payload, false).ok_or(Unread::CutHeader)?;
        let Extensions {
            bytes,
            protocol,
            is_fragment,
            ..
        } = extensions;
        let segment_bytes = match payload_bytes.checked_sub(bytes) {
            Some(segment_bytes) => segment_bytes,
            None if protocol == PROTOCOL_TCP && !is_fragment => return Err(Unread::BadLength),
            None => 0,
        };
        Ok(Self {
            source: header.source().into(),
            destination: header.destination().into(),
            ecn: header.ecn(),
            id: None,
            ttl: header.hop_limit(),
            protocol,
            fragment: is_fragment.then_some(FragmentPlace {
                offset_bytes: extensions.fragment_offset_bytes,
                has_more: extensions.has_more_fragments,
                id: extensions.fragment_id,
            }),
            segment: captured_behind(payload, bytes, protocol)?,
            segment_bytes,
        })
    }
}

/// What was captured behind the first `bytes`; of TCP there must be something.
#[inline]
fn captured_behind(captured: &[u8], bytes: usize, protocol: u8) -> Result<&[u8], Unread> {
    match captured.get(bytes..) {
        None if protocol == PROTOCOL_TCP => Err(Unread::CutHeader),
        segment => Ok(segment.unwrap_or_default()),
    }
}
