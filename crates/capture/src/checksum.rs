//! TCP checksums of captured segments (RFC 9293 §3.1, RFC 1071).

use std::net::IpAddr;

use crate::ip::IpPacket;
use crate::packet::Checksum;

/// Where the checksum is in a TCP header.
const CHECKSUM_AT: usize = 16;

/// Whether a segment's checksum is right; unknown if the segment is cut.
pub(crate) fn tcp_checksum(ip: &IpPacket<'_>) -> Checksum {
    let field = ip.segment.get(CHECKSUM_AT..).and_then(<[u8]>::first_chunk);
    let Some(field) = field.filter(|_| ip.segment.len() == ip.segment_bytes) else {
        return Checksum::Unknown;
    };
    // Addresses, TCP's number and the length; after folding their width does not matter.
    let pseudo_header =
        address_sum(ip.source) + address_sum(ip.destination) + 6 + ip.segment_bytes as u64;
    if fold(pseudo_header + sum(ip.segment)) == 0xffff {
        Checksum::Good
    } else if u16::from_be_bytes(*field) == fold(pseudo_header) {
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

/// Sum of the big-endian 16-bit words; an odd byte at the end is a word's upper half. The sum of a
/// capture's packet never reaches 64 bits.
fn sum(bytes: &[u8]) -> u64 {
    let (words, odd) = bytes.as_chunks::<2>();
    let words: u64 = words
        .iter()
        .map(|word| u64::from(u16::from_be_bytes(*word)))
        .sum();
    words + odd.first().map_or(0, |&byte| u64::from(byte) << 8)
}

/// One's-complement sum in 16 bits.
fn fold(sum: u64) -> u16 {
    let mut sum = sum;
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}
