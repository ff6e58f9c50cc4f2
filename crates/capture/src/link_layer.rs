//! Headers before the IP header of a captured frame: <https://www.tcpdump.org/linktypes.html>.

use std::fmt;

use dumbbell_wire::ethernet::{HEADER_BYTES, TYPE};

use crate::error::Unread;
use crate::ether_type::{by_ether_type, by_llc, by_ppp, ip_of, pppoe};
use crate::network::NetworkId;
use crate::wifi;

/// Number of a link type in capture files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: address family in the byte order of the capturing machine.
    pub const NULL: Self = Self(0);
    /// Ethernet, with or without tags.
    pub const ETHERNET: Self = Self(1);
    /// Token ring, IEEE 802.5.
    pub const TOKEN_RING: Self = Self(6);
    /// SLIP, with a header that libpcap puts before it.
    pub const SLIP: Self = Self(8);
    /// PPP, with or without HDLC's address.
    pub const PPP: Self = Self(9);
    /// FDDI, with LLC behind its header.
    pub const FDDI: Self = Self(10);
    /// Raw IP, in files of some BSDs.
    pub const RAW_12: Self = Self(12);
    /// Raw IP, in files of OpenBSD.
    pub const RAW_14: Self = Self(14);
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: Self = Self(50);
    /// PPP over Ethernet, without Ethernet.
    pub const PPPOE: Self = Self(51);
    /// ATM with LLC (RFC 2684).
    pub const ATM_LLC: Self = Self(100);
    /// Raw IP, in files of every other system.
    pub const RAW: Self = Self(101);
    /// Cisco's HDLC, with an EtherType.
    pub const CISCO_HDLC: Self = Self(104);
    /// IEEE 802.11, from its header on.
    pub const WIFI: Self = Self(105);
    /// Frame relay, from its address on.
    pub const FRAME_RELAY: Self = Self(107);
    /// OpenBSD loopback: address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture, as of the interface `any`.
    pub const LINUX_SLL: Self = Self(113);
    /// IEEE 802.11 behind Prism's header.
    pub const WIFI_PRISM: Self = Self(119);
    /// IEEE 802.11 behind radiotap's header.
    pub const WIFI_RADIOTAP: Self = Self(127);
    /// ARCNET as Linux captures it.
    pub const ARCNET_LINUX: Self = Self(129);
    /// IEEE 802.11 behind the AVS header.
    pub const WIFI_AVS: Self = Self(163);
    /// PPP with a byte for the direction, of pppd.
    pub const PPP_PPPD: Self = Self(166);
    /// Multilink frame relay (FRF.16.1).
    pub const MULTILINK_FRAME_RELAY: Self = Self(182);
    /// IEEE 802.11 and others behind a per-packet information header.
    pub const PPI: Self = Self(192);
    /// PPP with a byte for the direction.
    pub const PPP_DIRECTION: Self = Self(204);
    /// Raw IP, version 4 only.
    pub const IPV4: Self = Self(228);
    /// Raw IP, version 6 only.
    pub const IPV6: Self = Self(229);
    /// Packets of Linux's netfilter log.
    pub const NFLOG: Self = Self(239);
    /// IP over InfiniBand.
    pub const IPOIB: Self = Self(242);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);

    /// The frame from its IP header on; enters the virtual networks that it passes.
    #[inline]
    pub(crate) fn ip_packet<'a>(
        self,
        frame: &'a [u8],
        network: &mut NetworkId,
    ) -> Result<&'a [u8], Unread> {
        match self {
            Self::ETHERNET => by_ether_type(frame, TYPE, HEADER_BYTES, network),
            Self::LINUX_SLL => by_ether_type(frame, 14, 16, network),
            Self::LINUX_SLL2 => by_ether_type(frame, 0, 20, network),
            Self::RAW | Self::IPV4 | Self::IPV6 | Self::RAW_12 | Self::RAW_14 => Ok(frame),
            Self::NULL | Self::LOOP => by_address_family(frame),
            _ => self.ip_packet_of_rare(frame, network),
        }
    }

    #[cold]
    fn ip_packet_of_rare<'a>(
        self,
        frame: &'a [u8],
        network: &mut NetworkId,
    ) -> Result<&'a [u8], Unread> {
        let behind = |bytes: usize| frame.get(bytes..).ok_or(Unread::CutHeader);
        match self {
            // Direction, and 15 bytes of the header as it was compressed.
            Self::SLIP => behind(16),
            Self::PPP | Self::PPP_HDLC => by_ppp(frame, network),
            Self::PPP_PPPD | Self::PPP_DIRECTION => {
                by_ppp(behind(1)?.strip_prefix(&[3]).unwrap_or(behind(1)?), network)
            }
            Self::PPPOE => pppoe(frame, network),
            // Frame control, two addresses.
            Self::FDDI => by_llc(behind(13)?, network),
            Self::TOKEN_RING => token_ring(frame, network),
            Self::ATM_LLC => by_llc(frame, network),
            Self::CISCO_HDLC => by_ether_type(frame, 2, 4, network),
            Self::FRAME_RELAY => frame_relay(frame, network),
            Self::MULTILINK_FRAME_RELAY => multilink(frame, network),
            Self::ARCNET_LINUX => arcnet(frame),
            Self::NFLOG => netfilter_log(frame),
            // The global route header, then the EtherType (RFC 4391 §6).
            Self::IPOIB => by_ether_type(frame, 40, 44, network),
            Self::WIFI | Self::WIFI_PRISM | Self::WIFI_RADIOTAP | Self::WIFI_AVS | Self::PPI => {
                wifi::ip_packet(self, frame, network)
            }
            _ => Err(Unread::UnknownLinkType),
        }
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::NULL | Self::LOOP => "loopback",
            Self::ETHERNET => "Ethernet",
            Self::TOKEN_RING => "token ring",
            Self::SLIP => "SLIP",
            Self::PPP | Self::PPP_HDLC | Self::PPP_PPPD | Self::PPP_DIRECTION => "PPP",
            Self::PPPOE => "PPPoE",
            Self::FDDI => "FDDI",
            Self::RAW | Self::RAW_12 | Self::RAW_14 => "raw IP",
            Self::ATM_LLC => "ATM",
            Self::CISCO_HDLC => "Cisco HDLC",
            Self::FRAME_RELAY | Self::MULTILINK_FRAME_RELAY => "frame relay",
            Self::WIFI | Self::WIFI_PRISM | Self::WIFI_RADIOTAP | Self::WIFI_AVS => "802.11",
            Self::PPI => "per-packet information",
            Self::ARCNET_LINUX => "ARCNET",
            Self::NFLOG => "netfilter log",
            Self::IPOIB => "IP over InfiniBand",
            Self::LINUX_SLL => "Linux cooked",
            Self::LINUX_SLL2 => "Linux cooked v2",
            Self::IPV4 => "raw IPv4",
            Self::IPV6 => "raw IPv6",
            Self(number) => return write!(f, "link type {number}"),
        };
        f.write_str(name)
    }
}

/// Loopback frames begin with the address family as a 32-bit number: AF_INET is 2 everywhere,
/// AF_INET6 is 10, 24, 28 or 30 by system. Its byte order follows from which bytes are 0.
fn by_address_family(frame: &[u8]) -> Result<&[u8], Unread> {
    let (family, packet) = frame.split_first_chunk::<4>().ok_or(Unread::CutHeader)?;
    let family = match *family {
        [family, 0, 0, 0] | [0, 0, 0, family] => family,
        _ => return Err(Unread::NotIp(0)),
    };
    match family {
        2 | 10 | 24 | 28 | 30 => Ok(packet),
        _ => Err(Unread::NotIp(0)),
    }
}

/// Access and frame control, two addresses, and a route if the source's first bit is set.
fn token_ring<'a>(frame: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    let &[_, _, _, _, _, _, _, _, source, .., route] =
        frame.first_chunk::<15>().ok_or(Unread::CutHeader)?;
    let route_bytes = if source & 0x80 == 0 {
        0
    } else {
        usize::from(route & 0x1f)
    };
    by_llc(
        frame.get(14 + route_bytes..).ok_or(Unread::CutHeader)?,
        network,
    )
}

/// An address of bytes whose last has its lowest bit set, then Cisco's EtherType or a protocol (RFC 2427).
fn frame_relay<'a>(frame: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    let last = frame.iter().take(4).position(|byte| byte & 1 == 1);
    let after = frame
        .get(last.ok_or(Unread::CutHeader)? + 1..)
        .unwrap_or_default();
    match after {
        [0x08, 0x00, ..] | [0x86, 0xdd, ..] => by_ether_type(after, 0, 2, network),
        [0x03, 0xcc | 0x8e, packet @ ..] => Ok(packet),
        // Padded to an even length, SNAP, its organisation.
        [0x03, 0x00, 0x80, 0, 0, 0, snap @ ..] | [0x03, 0x80, 0, 0, 0, snap @ ..] => {
            by_ether_type(snap, 0, 2, network)
        }
        _ if after.len() < 6 => Err(Unread::CutHeader),
        _ => Err(Unread::NotIp(0)),
    }
}

/// Reads a fragment that is a whole frame: begin and end are set. The header's fourth bit says how long it is.
fn multilink<'a>(frame: &'a [u8], network: &mut NetworkId) -> Result<&'a [u8], Unread> {
    const BEGIN_AND_END: u8 = 0xc0;
    let &first = frame.first().ok_or(Unread::CutHeader)?;
    if first & BEGIN_AND_END != BEGIN_AND_END {
        return Err(Unread::NotIp(0));
    }
    frame_relay(frame.get(2..).ok_or(Unread::CutHeader)?, network)
}

/// Two addresses, an offset of two bytes, the protocol; then by RFC 1201 a flag and a sequence number.
fn arcnet(frame: &[u8]) -> Result<&[u8], Unread> {
    let &[_, _, _, _, protocol, split] = frame.first_chunk::<6>().ok_or(Unread::CutHeader)?;
    match (protocol, split) {
        (212 | 196, 0) => frame.get(8..).ok_or(Unread::CutHeader),
        (240, _) => Ok(&frame[5..]),
        _ => Err(Unread::NotIp(0)),
    }
}

/// Family, version and group, then attributes with their lengths in the byte order of the machine; one is the packet.
fn netfilter_log(frame: &[u8]) -> Result<&[u8], Unread> {
    const PAYLOAD: u16 = 9;
    let mut rest = frame.get(4..).ok_or(Unread::CutHeader)?;
    loop {
        let (&[a, b, c, d], behind) = rest.split_first_chunk::<4>().ok_or(Unread::CutHeader)?;
        let (little, big) = (
            [[a, b], [c, d]].map(u16::from_le_bytes),
            [[a, b], [c, d]].map(u16::from_be_bytes),
        );
        // Numbers of attributes are small.
        let [length, kind] = if little[1] <= big[1] { little } else { big };
        let length = usize::from(length);
        if kind == PAYLOAD {
            return ip_of(behind);
        }
        if length < 4 {
            return Err(Unread::BadLength);
        }
        rest = rest
            .get(length.next_multiple_of(4)..)
            .ok_or(Unread::CutHeader)?;
    }
}
