//! What travels on a path.
//!
//! A queue may ask a header which hosts it is between, which DSCP it has and what its pure ACK acknowledges. A frame
//! reads its bytes. A simulated segment has no room for addresses: what all packets of a route have in common is in a
//! table, found by the packet's hop (`route_facts`, `Site::facts`). Its SACK blocks lie in a store that a queue does
//! not see, so the number of their slot also says whether they cover those of an earlier ACK.

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

    /// How the SACK blocks of this pure ACK are to those of `earlier`, a pure ACK of the same connection
    /// and direction with the same ACK number or a lower one.
    fn sack_order(&self, _earlier: &Self) -> SackOrder {
        SackOrder::Same
    }

    /// The hosts it goes between, as numbers of the driver's choice: from, to. `None` where the header
    /// does not say it: [`RouteFacts`] do then.
    fn hosts(&self) -> Option<(u32, u32)> {
        None
    }

    /// The differentiated services codepoint of its IP header (RFC 2474): 6 bits. `None` as above.
    fn dscp(&self) -> Option<u8> {
        None
    }

    /// Its IP packet, where it has bytes.
    fn ip_packet(&self) -> &[u8] {
        &[]
    }

    /// Makes one of the first bytes of its payload wrong, by a random number, where its receiver's checksum does not show
    /// it; whether it has any bytes.
    fn garble(&mut self, _draw: u64) -> bool {
        false
    }

    /// A copy that goes on by itself, where an impairment duplicates packets.
    fn copy(&self) -> Self {
        self.clone()
    }

    /// TCP segments that the packet carries: more than one where it is a super-packet, which a host's
    /// network card or a link later splits.
    fn segments(&self) -> u32 {
        1
    }

    /// Segment number `index` of a super-packet of `wire_bytes` as a packet of its own, and its wire bytes.
    #[must_use]
    fn segment(&self, _index: u32, wire_bytes: u32) -> (Self, u32) {
        (self.clone(), wire_bytes)
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureAck {
    /// ACK number modulo 2³²: all below has arrived. In a frame it counts bytes, in the simulator segments.
    pub number: u32,
    /// TSval and TSecr of the timestamps option (RFC 7323); 0 without.
    pub ts_val: u32,
    /// Time that the ACK echoes (TSecr); 0 without timestamps.
    pub ts_ecr: u32,
    /// The TCP header's AE, CWR and ECE, as bits 2, 1 and 0.
    pub ecn_flags: u8,
    /// Whether it has SACK blocks (RFC 2018).
    pub has_sack: bool,
    /// Whether it has options other than timestamps and SACK, or flags that no RFC gives a pure ACK: what
    /// it says is then not all here.
    pub says_more: bool,
}

impl PureAck {
    /// Whether its ACK number is above that of `other`, an ACK of the same connection and direction
    /// (RFC 9293 §3.4: modulo 2³²).
    #[inline]
    pub fn is_after(&self, other: &Self) -> bool {
        is_after(self.number, other.number)
    }
}

/// Whether `a` comes after `b`, both modulo 2³² (RFC 9293 §3.4, RFC 7323 §5.2).
#[inline]
pub(crate) fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

/// What the SACK blocks of an ACK are to those of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackOrder {
    /// The earlier one has a block that this one does not cover, or reports a duplicate (RFC 2883).
    Less,
    /// They cover the same.
    Same,
    /// This one covers all of the earlier one's, and more.
    More,
}

/// A packet in the network, with any header that the network's driver gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<H> {
    /// Number of its flow; queues that schedule by flow use it.
    pub flow: u32,
    /// Size on the wire with every header, bytes; of a super-packet with those of each segment, as Linux's
    /// queue disciplines count it (`qdisc_pkt_len_init`).
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

impl<H: Header> Packet<H> {
    /// A copy that goes on by itself.
    pub(crate) fn copy(&self) -> Self {
        Self {
            header: self.header.copy(),
            ..*self
        }
    }

    /// Segment number `index` of a super-packet as a packet of its own.
    pub(crate) fn segment(&self, index: u32) -> Self {
        let (header, wire_bytes) = self.header.segment(index, self.wire_bytes);
        Self {
            header,
            wire_bytes,
            ..*self
        }
    }
}
