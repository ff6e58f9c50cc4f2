//! A TCP packet as captured: the fields of its headers.

use std::net::IpAddr;

use crate::network::NetworkId;

pub use dumbbell_wire::tcp::TcpFlags;
pub use dumbbell_wire::tcp_options::SackBlocks;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// IPv4 or IPv6 address.
    pub address: IpAddr,
    /// Port of its host.
    pub port: u16,
}

/// What is known of a TCP checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Not checked, or the packet was cut.
    #[default]
    Unknown,
    /// The checksum is right.
    Good,
    /// The checksum is wrong.
    Bad,
    /// The sum over the pseudo-header only: left to the network card, and captured before it.
    NotFilled,
}

/// A TCP packet: header fields, no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket {
    /// Number of the interface in the capture.
    pub interface: u32,
    /// When it was captured, ns since the Unix epoch.
    pub time_ns: u64,
    /// Length before the capture cut it, bytes.
    pub wire_bytes: u32,
    /// The virtual network that it is in.
    pub network: NetworkId,
    /// Where it comes from.
    pub source: Endpoint,
    /// Where it goes.
    pub destination: Endpoint,
    /// Sequence number of the first byte of payload.
    pub seq: u32,
    /// Acknowledgment number; valid if the flag ACK is set.
    pub ack: u32,
    /// Flags, from FIN to AE.
    pub flags: TcpFlags,
    /// Window field as it is on the wire, not scaled.
    pub window: u16,
    /// Payload by the IP length, or by the record's where offload left the IP length 0, bytes.
    pub payload_bytes: u32,
    /// ECN field of the IP header: 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Identification field; IPv6 has none.
    pub ip_id: Option<u16>,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Maximum segment size of the MSS option, bytes.
    pub mss: Option<u16>,
    /// Window-scale option (RFC 7323).
    pub window_scale: Option<u8>,
    /// Whether it has the SACK-permitted option.
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// Blocks of the SACK option.
    pub sack: SackBlocks,
    /// The capture marks it as dropped by a link.
    pub is_marked_dropped: bool,
    /// The capture cut it within its options.
    pub has_cut_options: bool,
    /// What is known of its TCP checksum.
    pub checksum: Checksum,
}

#[cfg(test)]
impl TcpPacket {
    /// A packet with nothing in it, of which a test changes what it is about.
    pub(crate) fn plain() -> Self {
        let end = Endpoint {
            address: IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
            port: 1,
        };
        Self {
            interface: 0,
            time_ns: 0,
            wire_bytes: 0,
            network: NetworkId::NONE,
            source: end,
            destination: end,
            seq: 0,
            ack: 0,
            flags: TcpFlags::default(),
            window: 0,
            payload_bytes: 0,
            ecn: 0,
            ip_id: None,
            ttl: 64,
            mss: None,
            window_scale: None,
            sack_permitted: false,
            timestamps: None,
            sack: SackBlocks::default(),
            is_marked_dropped: false,
            has_cut_options: false,
            checksum: Checksum::Unknown,
        }
    }
}
