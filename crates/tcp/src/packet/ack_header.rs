//! What goes from receiver to sender.

use super::{DATA_HEADER_BYTES, SYN_BYTES};
use crate::sack_store::SackSlot;

/// Wire bytes of an ACK without SACK blocks.
pub const ACK_BYTES: u32 = DATA_HEADER_BYTES;

/// Kind and length of the SACK option and the two NOPs that Linux aligns it with, bytes.
const SACK_OPTION_BYTES: u32 = 4;

/// Two sequence numbers, bytes (RFC 2018 §3).
const SACK_BLOCK_BYTES: u32 = 8;

/// The purpose of a packet from receiver to sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// Answers a SYN.
    SynAck,
    /// An ACK of data.
    Ack,
    /// Acknowledges the sender's FIN and carries the receiver's own.
    FinAck,
    /// Acknowledges what arrives after that.
    AfterFin,
}

/// What else an ACK says, in one word (see [`Segment`]): 20 bits in a word that never has more than
/// 21, so that [`Segment`] can use the values beyond for what is no ACK.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AckInfo(char);

impl AckInfo {
    const KIND_SHIFT: u32 = 16;
    const ECE: u32 = 1 << 18;
    const REVERSE: u32 = 1 << 19;
    /// Added to the bits: above it lie as many values as 20 bits have, all of them valid.
    const FIRST: u32 = 0x1_0000;

    /// An ACK of `kind`, and the identification of its IP packet.
    #[inline]
    pub fn new(kind: AckKind, ip_id: u16) -> Self {
        Self::of_bits((kind as u32) << Self::KIND_SHIFT | u32::from(ip_id))
    }

    #[inline]
    fn of_bits(bits: u32) -> Self {
        Self(char::from_u32(Self::FIRST + (bits & 0xf_ffff)).unwrap_or(char::MAX))
    }

    #[inline]
    fn bits(self) -> u32 {
        self.0 as u32 - Self::FIRST
    }

    /// The ECE flag.
    #[inline]
    #[must_use]
    pub fn ece(self, ece: bool) -> Self {
        if ece {
            Self::of_bits(self.bits() | Self::ECE)
        } else {
            self
        }
    }

    /// Whether it goes from the flow's sender to its receiver.
    #[inline]
    #[must_use]
    pub fn reverse(self, is_reverse: bool) -> Self {
        if is_reverse {
            Self::of_bits(self.bits() | Self::REVERSE)
        } else {
            self
        }
    }
}

/// From receiver to sender.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AckHeader {
    /// Next segment expected: all below are received (cumulative ACK).
    pub ack: u32,
    /// Receive window from `ack` on, bytes.
    pub rwnd_bytes: u32,
    /// TSval: the receiver's clock when it left, ms.
    pub ts_val_ms: u32,
    /// TSecr: the echoed timestamp, ms; 0: none.
    pub ts_ecr_ms: u32,
    /// Where its SACK blocks are kept.
    pub sack: SackSlot,
    /// Its kind and flags.
    pub info: AckInfo,
}

impl AckHeader {
    /// What it is for.
    #[inline]
    pub fn kind(&self) -> AckKind {
        match (self.info.bits() >> AckInfo::KIND_SHIFT) & 3 {
            0 => AckKind::SynAck,
            1 => AckKind::Ack,
            2 => AckKind::FinAck,
            _ => AckKind::AfterFin,
        }
    }

    /// Identification of the IP packet: each is one more than the receiver's previous one.
    #[inline]
    pub fn ip_id(&self) -> u16 {
        self.info.bits() as u16
    }

    /// ECE flag: a marked packet arrived; on a SYN-ACK: agreed to ECN (RFC 3168 §6.1.1, §6.1.3). Accurate
    /// ECN's flags are with the SACK blocks.
    #[inline]
    pub fn ece(&self) -> bool {
        self.info.bits() & AckInfo::ECE != 0
    }

    /// Whether it acknowledges a [`Half::Reverse`](crate::Half::Reverse) and goes from the flow's
    /// sender to its receiver.
    #[inline]
    pub fn is_reverse(&self) -> bool {
        self.info.bits() & AckInfo::REVERSE != 0
    }

    /// Whether it echoes a time before `time_ms`. As in Linux, an echo of 0 says nothing.
    #[inline]
    pub(crate) fn echoes_before(&self, time_ms: u32) -> bool {
        self.ts_ecr_ms != 0 && self.ts_ecr_ms < time_ms
    }

    /// Wire bytes of an ACK of this kind with `sack_blocks` blocks.
    #[inline]
    pub fn wire_bytes(kind: AckKind, sack_blocks: usize) -> u32 {
        if kind == AckKind::SynAck {
            return SYN_BYTES;
        }
        ACK_BYTES + sack_option_bytes(sack_blocks)
    }
}

impl std::fmt::Debug for AckHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AckHeader")
            .field("kind", &self.kind())
            .field("ack", &self.ack)
            .field("rwnd_bytes", &self.rwnd_bytes)
            .field("ts_val_ms", &self.ts_val_ms)
            .field("ts_ecr_ms", &self.ts_ecr_ms)
            .field("ip_id", &self.ip_id())
            .field("ece", &self.ece())
            .field("is_reverse", &self.is_reverse())
            .field("sack", &self.sack)
            .finish()
    }
}

/// What a SACK option with that many blocks takes, bytes.
#[inline]
pub(crate) fn sack_option_bytes(blocks: usize) -> u32 {
    if blocks == 0 {
        return 0;
    }
    SACK_OPTION_BYTES + SACK_BLOCK_BYTES * blocks as u32
}
