//! A TCP packet as captured: the fields of its headers.

use std::net::IpAddr;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// IPv4 or IPv6 address.
    pub address: IpAddr,
    /// TCP port.
    pub port: u16,
}

/// The flags of a TCP header (RFC 9293 §3.1; AE: RFC 9768), lowest bit FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: u16 = 0x001;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 0x002;
    /// Reset the connection.
    pub const RST: u16 = 0x004;
    /// Push.
    pub const PSH: u16 = 0x008;
    /// The acknowledgment number is valid.
    pub const ACK: u16 = 0x010;
    /// The urgent pointer is valid.
    pub const URG: u16 = 0x020;
    /// ECN echo (RFC 3168).
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u16 = 0x080;
    /// Accurate ECN (RFC 9768).
    pub const AE: u16 = 0x100;

    /// Whether any flag of `mask` is set.
    #[inline]
    pub fn has(self, mask: u16) -> bool {
        self.0 & mask != 0
    }
}

/// SACK blocks of a packet (RFC 2018), in the order of the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u32, u32); Self::MAX],
}

impl SackBlocks {
    /// As many as the 40 bytes of options hold (RFC 2018 §3).
    pub const MAX: usize = 4;

    /// Adds left and right edge; a block that does not fit is omitted.
    #[inline]
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (start, end);
            self.count += 1;
        }
    }

    /// The blocks: left edge, right edge.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// What is known of a TCP checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Not checked, or the packet was cut.
    #[default]
    Unknown,
    /// Right.
    Good,
    /// Wrong.
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
    /// Where it comes from.
    pub source: Endpoint,
    /// Where it goes.
    pub destination: Endpoint,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number; valid if the flag ACK is set.
    pub ack: u32,
    /// Flags.
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
    /// MSS option.
    pub mss: Option<u16>,
    /// Window-scale option (RFC 7323).
    pub window_scale: Option<u8>,
    /// SACK-permitted option.
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// The capture marks it as dropped by a link.
    pub is_marked_dropped: bool,
    /// What is known of its TCP checksum.
    pub checksum: Checksum,
}
