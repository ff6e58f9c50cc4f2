//! Turns a captured frame into the header fields of its TCP packet.

use dumbbell_wire::ip::PROTOCOL_TCP;
use dumbbell_wire::tcp::{HEADER_BYTES, Tcp};
use dumbbell_wire::tcp_options::TcpOption;

use crate::checksum::tcp_checksum;
use crate::error::Unread;
use crate::ip::IpPacket;
use crate::link_layer::LinkType;
use crate::network::NetworkId;
use crate::packet::{Checksum, Endpoint, SackBlocks, TcpPacket};
use crate::tunnel::{DEPTH_MAX, inner_packet};

/// Reads the headers of `frame`, which was `wire_bytes` long before the capture cut it. Fields that
/// depend on the capture (interface, time, mark) remain 0.
#[inline]
pub fn dissect(
    link_type: LinkType,
    frame: &[u8],
    wire_bytes: u32,
    checks_checksum: bool,
) -> Result<TcpPacket, Unread> {
    match dissect_plain(link_type, frame, wire_bytes, checks_checksum) {
        Err(Unread::NotTcp(_)) => dissect_tunnel(link_type, frame, wire_bytes, checks_checksum),
        plain => plain,
    }
}

/// The same of whole packets of TCP that are in no tunnel.
#[inline(always)]
pub(crate) fn dissect_plain(
    link_type: LinkType,
    frame: &[u8],
    wire_bytes: u32,
    checks_checksum: bool,
) -> Result<TcpPacket, Unread> {
    let mut network = NetworkId::NONE;
    let ip = outer(link_type, frame, wire_bytes, &mut network)?;
    if ip.protocol != PROTOCOL_TCP {
        return Err(Unread::NotTcp(ip.protocol));
    }
    if ip.fragment.is_some() {
        return Err(Unread::Fragment);
    }
    tcp_packet(&ip, network, wire_bytes, checks_checksum)
}

/// The same of packets in tunnels.
#[cold]
pub(crate) fn dissect_tunnel(
    link_type: LinkType,
    frame: &[u8],
    wire_bytes: u32,
    checks_checksum: bool,
) -> Result<TcpPacket, Unread> {
    let mut network = NetworkId::NONE;
    let outer = outer(link_type, frame, wire_bytes, &mut network)?;
    let (ip, network) = inner(outer, network)?;
    if ip.fragment.is_some() {
        return Err(Unread::Fragment);
    }
    tcp_packet(&ip, network, wire_bytes, checks_checksum)
}

/// The IP packet of a frame, and the virtual network that it is in.
#[inline(always)]
fn outer<'a>(
    link_type: LinkType,
    frame: &'a [u8],
    wire_bytes: u32,
    network: &mut NetworkId,
) -> Result<IpPacket<'a>, Unread> {
    let packet = link_type.ip_packet(frame, network)?;
    let frame_bytes = (wire_bytes as usize).max(frame.len());
    IpPacket::parse(packet, frame_bytes - (frame.len() - packet.len()))
}

/// A fragment of TCP, through tunnels, and the virtual network that it is in; of the first one also its headers.
#[cold]
pub(crate) fn tcp_fragment(
    link_type: LinkType,
    frame: &[u8],
    wire_bytes: u32,
) -> Result<(IpPacket<'_>, NetworkId, Option<TcpPacket>), Unread> {
    let mut network = NetworkId::NONE;
    let outer = outer(link_type, frame, wire_bytes, &mut network)?;
    let (ip, network) = inner(outer, network)?;
    let is_first = ip.fragment.is_some_and(|place| place.offset_bytes == 0);
    let packet = is_first
        .then(|| tcp_packet(&ip, network, wire_bytes, false))
        .transpose()?;
    Ok((ip, network, packet))
}

/// The IP packet in tunnels. A tunnel's first fragment has the inner headers.
#[cold]
fn inner(outer: IpPacket<'_>, around: NetworkId) -> Result<(IpPacket<'_>, NetworkId), Unread> {
    let mut ip = outer;
    let mut network = around;
    for _ in 0..=DEPTH_MAX {
        if ip.protocol == PROTOCOL_TCP {
            return Ok((ip, network));
        }
        let is_later_fragment = ip.fragment.is_some_and(|place| place.offset_bytes > 0);
        let packet = match inner_packet(ip.protocol, ip.segment, &mut network) {
            Some(packet) if !is_later_fragment => packet?,
            _ => return Err(Unread::NotTcp(ip.protocol)),
        };
        let before_bytes = ip.segment.len() - packet.len();
        ip = IpPacket::parse(packet, ip.segment_bytes.saturating_sub(before_bytes))?;
    }
    Err(Unread::NotTcp(ip.protocol))
}

/// The header fields of a packet of TCP, or of the first of its fragments.
#[inline(always)]
fn tcp_packet(
    ip: &IpPacket<'_>,
    network: NetworkId,
    wire_bytes: u32,
    checks_checksum: bool,
) -> Result<TcpPacket, Unread> {
    let tcp = tcp_header(ip)?;
    let mut packet = TcpPacket {
        interface: 0,
        time_ns: 0,
        wire_bytes,
        network,
        source: Endpoint {
            address: ip.source,
            port: tcp.source_port(),
        },
        destination: Endpoint {
            address: ip.destination,
            port: tcp.destination_port(),
        },
        seq: tcp.sequence(),
        ack: tcp.acknowledgment(),
        flags: tcp.flags(),
        window: tcp.window(),
        // At most the length on the wire or that of an IP header, each of at most 32 bits.
        payload_bytes: (ip.segment_bytes - tcp.header_bytes()) as u32,
        ecn: ip.ecn,
        ip_id: ip.id,
        ttl: ip.ttl,
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks::default(),
        is_marked_dropped: false,
        has_cut_options: ip.segment.len() < tcp.header_bytes(),
        checksum: if checks_checksum {
            tcp_checksum(ip)
        } else {
            Checksum::Unknown
        },
    };
    set_options(&mut packet, tcp);
    Ok(packet)
}

/// The TCP header in a segment; the options may be cut.
#[inline(always)]
fn tcp_header<'a>(ip: &IpPacket<'a>) -> Result<Tcp<'a>, Unread> {
    match Tcp::new(ip.segment) {
        Some(tcp) if (HEADER_BYTES..=ip.segment_bytes).contains(&tcp.header_bytes()) => Ok(tcp),
        None if ip.segment_bytes >= HEADER_BYTES => Err(Unread::CutHeader),
        _ => Err(Unread::BadLength),
    }
}

#[inline(always)]
fn set_options(packet: &mut TcpPacket, tcp: Tcp<'_>) {
    for option in tcp.options() {
        match option {
            TcpOption::Mss(mss) => packet.mss = Some(mss),
            // More than 14 counts as 14 (RFC 7323 §2.3).
            TcpOption::WindowScale(shift) => packet.window_scale = Some(shift.min(14)),
            TcpOption::SackPermitted => packet.sack_permitted = true,
            TcpOption::Sack(blocks) => packet.sack.push_bytes(blocks),
            TcpOption::Timestamps(value, echo) => packet.timestamps = Some((value, echo)),
            TcpOption::Other | TcpOption::Damaged => {}
        }
    }
}
