//! Turns a captured frame into the header fields of its TCP packet.

use dumbbell_wire::ip::PROTOCOL_TCP;
use dumbbell_wire::tcp::{HEADER_BYTES, Tcp};
use dumbbell_wire::tcp_options::TcpOption;

use crate::checksum::tcp_checksum;
use crate::error::Unread;
use crate::ip::IpPacket;
use crate::link_layer::LinkType;
use crate::packet::{Checksum, Endpoint, SackBlocks, TcpPacket};

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
    if ip.protocol != PROTOCOL_TCP {
        return Err(Unread::NotTcp);
    }
    let tcp = tcp_header(&ip)?;
    let mut packet = TcpPacket {
        interface: 0,
        time_ns: 0,
        wire_bytes,
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
        checksum: if checks_checksum {
            tcp_checksum(&ip)
        } else {
            Checksum::Unknown
        },
    };
    set_options(&mut packet, tcp);
    Ok(packet)
}

/// The TCP header in a segment; the options may be cut.
#[inline]
fn tcp_header<'a>(ip: &IpPacket<'a>) -> Result<Tcp<'a>, Unread> {
    match Tcp::new(ip.segment) {
        Some(tcp) if (HEADER_BYTES..=ip.segment_bytes).contains(&tcp.header_bytes()) => Ok(tcp),
        None if ip.segment_bytes >= HEADER_BYTES => Err(Unread::CutHeader),
        _ => Err(Unread::BadLength),
    }
}

#[inline]
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
