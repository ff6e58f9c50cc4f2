//! Turns a captured frame into the header fields of its TCP packet.
//!
//! Headers are not parsed by etherparse, which writes ours: it rejects a TCP header whose options
//! are cut, as snap lengths do, does not support loopback and cooked v2 frames, and takes ten times
//! as long.

use crate::checksum::tcp_checksum;
use crate::ip::{IpPacket, TCP};
use crate::link_layer::LinkType;
use crate::packet::{Checksum, Endpoint, TcpPacket};
use crate::tcp::TcpHeader;

/// Why a frame contains no usable TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// IP, but not TCP.
    NotTcp,
    /// A fragment of an IP packet.
    Fragment,
    /// Cut before the end of the first 20 bytes of the TCP header.
    CutHeader,
    /// Lengths contradict each other.
    BadLength,
    /// Not a supported link type.
    UnknownLinkType,
}

/// Reads the headers of `frame`, which was `wire_bytes` long before the capture cut it. Fields that
/// depend on the capture (interface, time, mark) remain 0.
#[inline]
pub fn dissect(
    link_type: LinkType,
    frame: &[u8],
    wire_bytes: u32,
    checks_checksum: bool,
) -> Result<TcpPacket, Unread> {
    let packet = link_type.ip_packet(frame)?;
    let link_bytes = frame.len() - packet.len();
    let ip_wire_bytes = (wire_bytes as usize).max(frame.len()) - link_bytes;
    let ip = IpPacket::parse(packet, ip_wire_bytes)?;
    if ip.is_fragment {
        return Err(Unread::Fragment);
    }
    if ip.protocol != TCP {
        return Err(Unread::NotTcp);
    }
    let tcp = TcpHeader::parse(ip.segment, ip.segment_bytes)?;
    let payload_bytes = ip.segment_bytes - tcp.bytes;
    Ok(TcpPacket {
        interface: 0,
        time_ns: 0,
        wire_bytes,
        source: Endpoint {
            address: ip.source,
            port: tcp.source_port,
        },
        destination: Endpoint {
            address: ip.destination,
            port: tcp.destination_port,
        },
        seq: tcp.seq,
        ack: tcp.ack,
        flags: tcp.flags,
        window: tcp.window,
        // At most the length on the wire or that of an IP header, each of at most 32 bits.
        payload_bytes: payload_bytes as u32,
        ecn: ip.ecn,
        ip_id: ip.id,
        ttl: ip.ttl,
        mss: tcp.options.mss,
        window_scale: tcp.options.window_scale,
        sack_permitted: tcp.options.sack_permitted,
        timestamps: tcp.options.timestamps,
        sack: tcp.options.sack,
        is_marked_dropped: false,
        checksum: if checks_checksum {
            tcp_checksum(&ip)
        } else {
            Checksum::Unknown
        },
    })
}
