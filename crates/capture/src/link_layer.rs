//! Headers before the IP header of a captured frame: <https://www.tcpdump.org/linktypes.html>.

use std::fmt;

use dumbbell_wire::ethernet::{HEADER_BYTES, TYPE, TYPE_IPV4, TYPE_IPV6};

use crate::error::Unread;

/// Number of a link type in capture files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: address family in the byte order of the capturing machine.
    pub const NULL: Self = Self(0);
    /// Ethernet, with or without tags.
    pub const ETHERNET: Self = Self(1);
    /// Raw IP, in files of some BSDs.
    pub const RAW_12: Self = Self(12);
    /// Raw IP, in files of OpenBSD.
    pub const RAW_14: Self = Self(14);
    /// Raw IP, in files of every other system.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback: address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture, as of the interface `any`.
    pub const LINUX_SLL: Self = Self(113);
    /// Raw IP, version 4 only.
    pub const IPV4: Self = Self(228);
    /// Raw IP, version 6 only.
    pub const IPV6: Self = Self(229);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);

    /// The frame from its IP header on.
    #[inline]
    pub(crate) fn ip_packet(self, frame: &[u8]) -> Result<&[u8], Unread> {
        match self {
            Self::ETHERNET => by_ether_type(frame, TYPE, HEADER_BYTES),
            Self::LINUX_SLL => by_ether_type(frame, 14, 16),
            Self::LINUX_SLL2 => by_ether_type(frame, 0, 20),
            Self::RAW | Self::IPV4 | Self::IPV6 | Self::RAW_12 | Self::RAW_14 => Ok(frame),
            Self::NULL | Self::LOOP => by_address_family(frame),
            _ => Err(Unread::UnknownLinkType),
        }
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::NULL | Self::LOOP => "loopback",
            Self::ETHERNET => "Ethernet",
            Self::RAW | Self::RAW_12 | Self::RAW_14 => "raw IP",
            Self::LINUX_SLL => "Linux cooked",
            Self::LINUX_SLL2 => "Linux cooked v2",
            Self::IPV4 => "raw IPv4",
            Self::IPV6 => "raw IPv6",
            Self(number) => return write!(f, "link type {number}"),
        };
        f.write_str(name)
    }
}

/// EtherTypes of tags: IEEE 802.1Q, 802.1ad, and an older one for the outer tag.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const TAG_BYTES: usize = 4;

/// Follows the EtherType at `type_at` and the tags that begin at `payload_at` to IP. The EtherType behind a tag
/// is in its last two bytes.
#[inline]
fn by_ether_type(frame: &[u8], type_at: usize, payload_at: usize) -> Result<&[u8], Unread> {
    let mut type_at = type_at;
    let mut payload_at = payload_at;
    loop {
        let ether_type = frame.get(type_at..).and_then(<[u8]>::first_chunk);
        let ether_type = u16::from_be_bytes(*ether_type.ok_or(Unread::CutHeader)?);
        match ether_type {
            TYPE_IPV4 | TYPE_IPV6 => return frame.get(payload_at..).ok_or(Unread::CutHeader),
            _ if TAGS.contains(&ether_type) => {
                type_at = payload_at + TAG_BYTES - 2;
                payload_at += TAG_BYTES;
            }
            _ => return Err(Unread::NotIp),
        }
    }
}

/// Loopback frames begin with the address family as a 32-bit number: AF_INET is 2 everywhere,
/// AF_INET6 is 10, 24, 28 or 30 by system. Its byte order follows from which bytes are 0.
fn by_address_family(frame: &[u8]) -> Result<&[u8], Unread> {
    let (family, packet) = frame.split_first_chunk::<4>().ok_or(Unread::CutHeader)?;
    let family = match *family {
        [family, 0, 0, 0] | [0, 0, 0, family] => family,
        _ => return Err(Unread::NotIp),
    };
    match family {
        2 | 10 | 24 | 28 | 30 => Ok(packet),
        _ => Err(Unread::NotIp),
    }
}
