//! The headers that TCP endpoints exchange over the simulated path.
//!
//! Sequence numbers count segments, not bytes: a bulk sender's segments are all of
//! one MSS, so segment `n` carries payload bytes `n·mss..(n+1)·mss` and byte numbers
//! follow by multiplication.

pub use dumbbell_path::DATA_HEADER_BYTES;
use dumbbell_path::{ETHERNET_HEADER_BYTES, Ecn, Header, IPV4_HEADER_BYTES, TCP_HEADER_BYTES};

/// MSS, SACK-permitted, timestamps and window scale on a SYN as Linux packs them, bytes.
const SYN_OPTIONS_BYTES: u32 = 20;

/// Wire bytes of a SYN.
pub const SYN_BYTES: u32 =
    ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + SYN_OPTIONS_BYTES;

/// SACK blocks that fit next to timestamps in the 40 option bytes (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A range of segments, `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First segment.
    pub start: u32,
    /// One past the last segment.
    pub end: u32,
}

/// The purpose of a segment from sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens the connection.
    Syn,
    /// Answers a SYN-ACK: the third packet of the handshake.
    HandshakeAck,
    /// Carries payload.
    Data,
    /// Carries the last payload and the FIN.
    LastData,
    /// The FIN alone: a segment after the last payload, with one sequence number and no bytes.
    Fin,
    /// Answers the receiver's FIN: the last packet of the close.
    LastAck,
}

/// From sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Segment number, or that of the next segment for packets without one; 0 on a SYN.
    pub seq: u32,
    /// TSval: the sender's clock when it left, ms.
    pub ts_val_ms: u32,
    /// TSecr: the receiver's clock as last received, ms; none on a SYN.
    pub ts_ecr_ms: u32,
    /// Identification of the IP packet: each is one more than the sender's previous one.
    pub ip_id: u16,
    /// What it is for.
    pub kind: SegmentKind,
    /// Sent before.
    pub is_retransmission: bool,
    /// CWR flag: the window was reduced because of an echoed mark (RFC 3168 §6.1.2). On a SYN,
    /// together with ECE, it requests ECN.
    pub cwr: bool,
}

impl Header for DataHeader {
    #[inline]
    fn is_data(&self) -> bool {
        matches!(self.kind, SegmentKind::Data | SegmentKind::LastData)
    }
}

/// The purpose of a packet from receiver to sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// Answers a SYN.
    SynAck,
    /// Acknowledges data.
    Ack,
    /// Acknowledges the sender's FIN and carries the receiver's own.
    FinAck,
    /// Acknowledges what arrives after that.
    AfterFin,
}

/// From receiver to sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The flow it belongs to.
    pub flow: u32,
    /// Next segment expected: all below are received (cumulative ACK).
    pub ack: u32,
    /// Receive window from `ack` on, segments.
    pub rwnd_pkts: u32,
    /// TSval: the receiver's clock when it left, ms.
    pub ts_val_ms: u32,
    /// TSecr: the echoed timestamp, ms.
    pub ts_ecr_ms: u32,
    /// Identification of the IP packet: each is one more than the receiver's previous one.
    pub ip_id: u16,
    /// What it is for.
    pub kind: AckKind,
    /// Used entries of `sack`.
    pub sack_count: u8,
    /// ECE flag: a marked packet arrived; on a SYN-ACK: agreed to ECN (RFC 3168 §6.1.1, §6.1.3).
    pub ece: bool,
    /// The IP header's ECN field.
    pub ecn: Ecn,
    /// The first entry of `sack` reports a duplicate (D-SACK, RFC 2883).
    pub has_dsack: bool,
    /// SACK blocks, most recently received first (RFC 2018 §4).
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
}

impl Ack {
    /// The blocks that report received data above the cumulative ACK.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[usize::from(self.has_dsack)..usize::from(self.sack_count)]
    }

    /// The block that reports a duplicate, if there is one.
    pub fn dsack(&self) -> Option<SackBlock> {
        self.has_dsack.then(|| self.sack[0])
    }
}
