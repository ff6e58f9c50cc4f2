//! What TCP and UDP have in common: ports, and a checksum that covers a pseudo-header.

use crate::bytes::{put_u16, read_u16};
use crate::checksum::internet_checksum;
use crate::ip::{Ip, PROTOCOL_TCP, PROTOCOL_UDP};
use crate::{tcp, udp};

/// Source and destination port at the start of a header of TCP or UDP; `None` if it is cut before them.
#[inline]
pub fn ports(header: &[u8]) -> Option<[u16; 2]> {
    let ports: &[u8; 4] = header.first_chunk()?;
    Some([read_u16(ports, 0), read_u16(ports, 2)])
}

/// Where a packet has the checksum of TCP or UDP; `None` of another protocol.
#[inline]
pub fn checksum_at(ip: &Ip) -> Option<usize> {
    match ip.protocol {
        PROTOCOL_TCP => Some(ip.header_bytes + tcp::CHECKSUM),
        PROTOCOL_UDP => Some(ip.header_bytes + udp::CHECKSUM),
        _ => None,
    }
}

/// The checksum of TCP or UDP in a packet of `packet_bytes` that begins with `packet` and continues with zeros; `None` of
/// another protocol, or if the header is cut.
pub fn checksum(ip: &Ip, packet: &[u8], packet_bytes: usize) -> Option<u16> {
    let field = checksum_at(ip)?;
    let behind = packet.get(field + 2..)?;
    let [high, low] = ((packet_bytes - ip.header_bytes) as u16).to_be_bytes();
    let checksum = internet_checksum([
        ip.addresses(packet),
        &[0, ip.protocol, high, low],
        &packet[ip.header_bytes..field],
        behind,
    ]);
    // UDP's 0 says that there is none (RFC 768).
    match (ip.protocol, checksum) {
        (PROTOCOL_UDP, 0) => Some(0xffff),
        _ => Some(checksum),
    }
}

/// Fills in the checksum of TCP or UDP in a packet of `packet_bytes` that begins with `packet` and continues with zeros.
pub fn fill_checksum(ip: &Ip, packet: &mut [u8], packet_bytes: usize) {
    if let (Some(at), Some(checksum)) = (checksum_at(ip), checksum(ip, packet, packet_bytes)) {
        put_u16(packet, at, checksum);
    }
}
