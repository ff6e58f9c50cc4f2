//! TCP checksums of captured segments (RFC 9293 §3.1, RFC 1071).

use std::net::IpAddr;

use dumbbell_wire::bytes::read_u16;
use dumbbell_wire::checksum::{fold, sum};
use dumbbell_wire::tcp::CHECKSUM;

use crate::ip::IpPacket;
use crate::packet::Checksum;

/// Whether a segment's checksum is right; unknown if the segment is cut.
pub(crate) fn tcp_checksum(ip: &IpPacket<'_>) -> Checksum {
    if ip.segment.len() != ip.segment_bytes || ip.segment.len() < CHECKSUM + 2 {
        return Checksum::Unknown;
    }
    // Addresses, TCP's number and the length; after folding their width does not matter.
    let pseudo_header =
        address_sum(ip.source) + address_sum(ip.destination) + 6 + ip.segment_bytes as u64;
    if fold(pseudo_header + sum(ip.segment)) == 0xffff {
        Checksum::Good
    } else if read_u16(ip.segment, CHECKSUM) == fold(pseudo_header) {
        // Linux and others store the pseudo-header's sum there, from which the network card
        // continues.
        Checksum::NotFilled
    } else {
        Checksum::Bad
    }
}

fn address_sum(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => sum(&address.octets()),
        IpAddr::V6(address) => sum(&address.octets()),
    }
}
