//! What TCP endpoints exchange: the headers the simulated path carries.
//!
//! Sequence numbers count segments, not bytes: a bulk sender's segments are all of
//! one MSS, so segment `n` carries payload bytes `n·mss..(n+1)·mss` and byte numbers
//! follow by multiplication.

pub use dumbbell_path::DATA_HEADER_BYTES;
use dumbbell_path::{ETHERNET_HEADER_BYTES, Header, IPV4_HEADER_BYTES, TCP_HEADER_BYTES};

/// MSS, SACK-permitted, timestamps and window scale on a SYN as Linux packs them, bytes.
const SYN_OPTIONS_BYTES: u32 = 20;

/// Wire bytes of a SYN.
pub const SYN_BYTES: u32 =
    ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + SYN_OPTIONS_BYTES;

/// SACK blocks that fit beside timestamps in the 40 option bytes (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A range of segments, `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First segment.
    pub start: u32,
    /// One past the last segment.
    pub end: u32,
}

/// From sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Segment number; 0 on a SYN.
    pub seq: u32,
    /// TSval: the sender's clock when it left, ms.
    pub ts_val_ms: u32,
    /// Opens the connection and carries no data.
    pub syn: bool,
    /// Sent before.
    pub is_retransmission: bool,
}

impl Header for DataHeader {
    #[inline]
    fn is_data(&self) -> bool {
        !self.syn
    }
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
    /// TSecr: the echoed timestamp, ms.
    pub ts_ecr_ms: u32,
    /// Used entries of `sack`.
    pub sack_count: u8,
    /// The first entry of `sack` reports a duplicate (D-SACK, RFC 2883).
    pub has_dsack: bool,
    /// Answers a SYN.
    pub syn: bool,
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
