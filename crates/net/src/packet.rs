//! What travels on a path.

use crate::Ecn;

/// Ethernet header, bytes. The frame check sequence and preamble are not counted,
/// as Linux's queue disciplines do not count them: a full 1500-byte IP packet is
/// 1514 bytes on the wire.
pub const ETHERNET_HEADER_BYTES: u32 = 14;

/// IPv4 header without options, bytes.
pub const IPV4_HEADER_BYTES: u32 = 20;

/// TCP header without options, bytes.
pub const TCP_HEADER_BYTES: u32 = 20;

/// Timestamps option with its padding (RFC 7323), bytes.
pub const TIMESTAMPS_BYTES: u32 = 12;

/// Wire bytes of a data segment beyond its payload: 14 + 20 + 20 + 12.
pub const DATA_HEADER_BYTES: u32 =
    ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + TIMESTAMPS_BYTES;

/// What an element that counts wants to know of a header.
pub trait Header: Clone {
    /// Whether the packet carries data of its flow; SYNs and the like do not.
    fn is_data(&self) -> bool;

    /// Whether the packet is on its way from its flow's sender to the receiver.
    fn is_forward(&self) -> bool;

    /// What a pure ACK says: a TCP segment without data, SYN, FIN or RST; `None` of any other packet.
    fn pure_ack(&self) -> Option<PureAck> {
        None
    }

    /// Which hosts it goes between, as numbers of the driver's choice: from, to.
    fn hosts(&self) -> (u32, u32) {
        (0, 0)
    }

    /// The differentiated services codepoint of its IP header (RFC 2474): 6 bits.
    fn dscp(&self) -> u8 {
        0
    }
}

/// Nothing: of packets that only have a size.
impl Header for () {
    fn is_data(&self) -> bool {
        true
    }

    fn is_forward(&self) -> bool {
        true
    }
}

/// What a pure ACK says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PureAck {
    /// Bytes of the flow that it acknowledges, from the flow's start.
    pub acked_bytes: u64,
    /// Bytes beyond those that its SACK blocks cover.
    pub sacked_bytes: u64,
    /// The TCP header's AE, CWR and ECE, as bits 2, 1 and 0.
    pub ecn_flags: u8,
}

/// A packet in the network, with whatever header the network's driver gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<H> {
    /// Which flow it belongs to; queues that schedule by flow use it.
    pub flow: u32,
    /// Size on the wire with every header, bytes.
    pub wire_bytes: u32,
    /// The IP header's ECN field; a queue that marks sets it to CE.
    pub ecn: Ecn,
    /// Where on its route it is; the network's.
    pub hop: u32,
    /// When it arrived at the element that holds it, ns; the network's.
    pub arrived_ns: u64,
    /// The rest, opaque to the network.
    pub header: H,
}
