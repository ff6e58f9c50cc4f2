//! The header of Ethernet.

use std::net::IpAddr;

use crate::ip::Version;

/// Bytes of a header without tags.
pub const HEADER_BYTES: usize = 14;

/// Offset of the EtherType.
pub const TYPE: usize = 12;

/// EtherType of IPv4.
pub const TYPE_IPV4: u16 = 0x0800;

/// EtherType of IPv6.
pub const TYPE_IPV6: u16 = 0x86dd;

/// Header of a packet of IP between two link addresses.
pub fn header(destination: [u8; 6], source: [u8; 6], version: Version) -> [u8; HEADER_BYTES] {
    let ether_type = match version {
        Version::V4 => TYPE_IPV4,
        Version::V6 => TYPE_IPV6,
    };
    let mut header = [0; HEADER_BYTES];
    header[..6].copy_from_slice(&destination);
    header[6..TYPE].copy_from_slice(&source);
    header[TYPE..].copy_from_slice(&ether_type.to_be_bytes());
    header
}

/// Header of an IP packet between two hosts. Each host's address is locally administered and made of its IPv4 address,
/// or of the last four bytes of its IPv6 address.
pub fn header_of_hosts(source: IpAddr, destination: IpAddr) -> [u8; HEADER_BYTES] {
    let version = match source {
        IpAddr::V4(_) => Version::V4,
        IpAddr::V6(_) => Version::V6,
    };
    header(link_address(destination), link_address(source), version)
}

/// Bit 1 of the first byte: locally administered, not a manufacturer's.
fn link_address(host: IpAddr) -> [u8; 6] {
    let [a, b, c, d] = match host {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => {
            let [.., a, b, c, d] = address.octets();
            [a, b, c, d]
        }
    };
    [0b10, 0, a, b, c, d]
}
