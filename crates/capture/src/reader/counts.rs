//! Counts of what was read of a capture, and of what could not be read.

use std::collections::BTreeMap;

use crate::error::Unread;
use crate::link_layer::LinkType;

/// Counts of packets. Every packet is counted once in [`packets`](Self::packets) and once in one of the others
/// up to [`unknown_link_type`](Self::unknown_link_type).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Packets in the capture.
    pub packets: u64,
    /// TCP packets, which were returned.
    pub tcp_pkts: u64,
    /// Neither IPv4 nor IPv6: ARP, for one.
    pub not_ip: u64,
    /// IP, but not TCP.
    pub not_tcp: u64,
    /// Fragments of TCP packets of which others are missing.
    pub fragments: u64,
    /// Fragments that were put together, without the last of each packet, which is among the TCP packets.
    pub joined_fragments: u64,
    /// Cut before the end of the first 20 bytes of the TCP header.
    pub cut_headers: u64,
    /// Lengths in the record or in the headers contradict each other.
    pub bad_lengths: u64,
    /// Frames of an unsupported link type.
    pub unknown_link_type: u64,
    /// What was not read, by name: protocols, EtherTypes and link types.
    pub unread: BTreeMap<String, u64>,
    /// Where reading had to end before the end of the file.
    pub damage: Option<Damage>,
}

/// Where a capture is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes before it: before the damaged record, in what a compressed file holds.
    pub offset: u64,
    /// What is wrong, in a few words.
    pub what: String,
}

impl ReadCounts {
    #[cold]
    pub(super) fn count_unread(&mut self, reason: Unread, link_type: LinkType) {
        let name = match reason {
            Unread::NotIp(ether_type) => Some(name_of_type(ether_type)),
            Unread::NotTcp(protocol) => Some(name_of_protocol(protocol)),
            Unread::UnknownLinkType => Some(link_type.to_string()),
            Unread::Fragment | Unread::CutHeader | Unread::BadLength => None,
        };
        if let Some(name) = name {
            *self.unread.entry(name).or_default() += 1;
        }
        *match reason {
            Unread::NotIp(_) => &mut self.not_ip,
            Unread::NotTcp(_) => &mut self.not_tcp,
            Unread::Fragment => &mut self.fragments,
            Unread::CutHeader => &mut self.cut_headers,
            Unread::BadLength => &mut self.bad_lengths,
            Unread::UnknownLinkType => &mut self.unknown_link_type,
        } += 1;
    }
}

/// Name of a protocol by its number: <https://www.iana.org/assignments/protocol-numbers>.
fn name_of_protocol(protocol: u8) -> String {
    let name = match protocol {
        1 => "ICMP",
        2 => "IGMP",
        17 => "UDP",
        47 => "GRE",
        50 => "ESP",
        51 => "AH",
        58 => "ICMPv6",
        59 => "no next header",
        88 => "EIGRP",
        89 => "OSPF",
        103 => "PIM",
        112 => "VRRP",
        115 => "L2TP",
        132 => "SCTP",
        136 => "UDP-Lite",
        _ => return format!("protocol {protocol}"),
    };
    name.to_owned()
}

/// Name of an EtherType: <https://www.iana.org/assignments/ieee-802-numbers>.
fn name_of_type(ether_type: u16) -> String {
    let name = match ether_type {
        0 => "frames without IP",
        1..0x0600 => "LLC",
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x8809 => "LACP",
        0x8863 => "PPPoE discovery",
        0x8864 => "PPPoE without IP",
        0x8847 | 0x8848 => "MPLS without IP",
        0x888e => "EAPOL",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88f7 => "PTP",
        _ => return format!("EtherType 0x{ether_type:04x}"),
    };
    name.to_owned()
}
