//! What goes from sender to receiver.

use super::Offload;

/// The purpose of a segment from sender to receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens the connection.
    Syn,
    /// Answers a SYN-ACK: the third packet of the handshake.
    HandshakeAck,
    /// The packet carries payload.
    Data,
    /// Carries the last payload and the FIN.
    LastData,
    /// The FIN alone: a segment after the last payload, with one sequence number and no bytes.
    Fin,
    /// Asks for the window: no payload, one byte before the first that is not acknowledged.
    WindowProbe,
    /// Answers the receiver's FIN: the last packet of the close.
    LastAck,
}

/// What else a segment from sender to receiver says, in one word (see [`Segment`]).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DataInfo(pub(super) u32);

impl DataInfo {
    pub(super) const KIND_SHIFT: u32 = 16;
    const RETRANSMISSION: u32 = 1 << 24;
    pub(super) const CWR: u32 = 1 << 25;
    pub(super) const PSH: u32 = 1 << 26;
    const REVERSE: u32 = 1 << 27;
    const ACE_SHIFT: u32 = 28;

    /// A segment of `kind`, sent for the first time, and the identification of its IP packet.
    #[inline]
    pub fn new(kind: SegmentKind, ip_id: u16) -> Self {
        Self((kind as u32) << Self::KIND_SHIFT | u32::from(ip_id))
    }

    /// Whether it was sent before.
    #[inline]
    #[must_use]
    pub fn retransmission(self, is_retransmission: bool) -> Self {
        Self(
            self.0
                | if is_retransmission {
                    Self::RETRANSMISSION
                } else {
                    0
                },
        )
    }

    /// The CWR flag.
    #[inline]
    #[must_use]
    pub fn cwr(self, cwr: bool) -> Self {
        Self(self.0 | if cwr { Self::CWR } else { 0 })
    }

    /// The flags AE, CWR and ECE of Accurate ECN, from high to low.
    #[inline]
    #[must_use]
    pub fn ace(self, ace: u8) -> Self {
        Self(self.0 | u32::from(ace & 7) << Self::ACE_SHIFT)
    }

    /// The PSH flag.
    #[inline]
    #[must_use]
    pub fn psh(self, psh: bool) -> Self {
        Self(self.0 | if psh { Self::PSH } else { 0 })
    }

    /// Whether it goes from the flow's receiver to its sender.
    #[inline]
    #[must_use]
    pub fn reverse(self, is_reverse: bool) -> Self {
        Self(self.0 | if is_reverse { Self::REVERSE } else { 0 })
    }
}

/// From sender to receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DataHeader {
    /// Segment number, or that of the next segment for packets without one; 0 on a SYN.
    pub seq: u32,
    /// TSval: the sender's clock when it left, ms.
    pub ts_val_ms: u32,
    /// TSecr: the receiver's clock as last received, ms; none on a SYN.
    pub ts_ecr_ms: u32,
    /// Its kind and flags.
    pub info: DataInfo,
    /// Segments that follow in the same packet, `seq` being the first one's number.
    pub offload: Offload,
}

impl DataHeader {
    /// What it is for.
    #[inline]
    pub fn kind(&self) -> SegmentKind {
        match (self.info.0 >> DataInfo::KIND_SHIFT) as u8 {
            0 => SegmentKind::Syn,
            1 => SegmentKind::HandshakeAck,
            2 => SegmentKind::Data,
            3 => SegmentKind::LastData,
            4 => SegmentKind::Fin,
            5 => SegmentKind::WindowProbe,
            _ => SegmentKind::LastAck,
        }
    }

    /// Whether it is one segment of data that says nothing else, but perhaps PSH.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        let usual = 0xffff | DataInfo::RETRANSMISSION | DataInfo::REVERSE | DataInfo::PSH;
        let said = self.info.0 & !usual;
        said == (SegmentKind::Data as u32) << DataInfo::KIND_SHIFT && self.offload == Offload::NONE
    }

    /// Identification of the IP packet: each is one more than the sender's previous one.
    #[inline]
    pub fn ip_id(&self) -> u16 {
        self.info.0 as u16
    }

    /// Whether the segment was sent before.
    #[inline]
    pub fn is_retransmission(&self) -> bool {
        self.info.0 & DataInfo::RETRANSMISSION != 0
    }

    /// CWR flag: the window was reduced because of an echoed mark (RFC 3168 §6.1.2). On a SYN,
    /// together with ECE, it requests ECN.
    #[inline]
    pub fn cwr(&self) -> bool {
        self.info.0 & DataInfo::CWR != 0
    }

    /// The flags AE, CWR and ECE of Accurate ECN (RFC 9768 §3.2.2), from high to low; 0 without it.
    #[inline]
    pub fn ace(&self) -> u8 {
        (self.info.0 >> DataInfo::ACE_SHIFT) as u8 & 7
    }

    /// PSH flag: it ends what the application has written so far.
    #[inline]
    pub fn psh(&self) -> bool {
        self.info.0 & DataInfo::PSH != 0
    }

    /// Whether it is of a [`Half::Reverse`](crate::Half::Reverse) and goes from the flow's receiver
    /// to its sender.
    #[inline]
    pub fn is_reverse(&self) -> bool {
        self.info.0 & DataInfo::REVERSE != 0
    }

    /// Whether it carries payload; SYNs and the like do not.
    #[inline]
    pub fn is_data(&self) -> bool {
        matches!(self.kind(), SegmentKind::Data | SegmentKind::LastData)
    }
}

impl std::fmt::Debug for DataHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataHeader")
            .field("kind", &self.kind())
            .field("seq", &self.seq)
            .field("ts_val_ms", &self.ts_val_ms)
            .field("ts_ecr_ms", &self.ts_ecr_ms)
            .field("ip_id", &self.ip_id())
            .field("is_retransmission", &self.is_retransmission())
            .field("cwr", &self.cwr())
            .field("ace", &self.ace())
            .field("psh", &self.psh())
            .field("is_reverse", &self.is_reverse())
            .field("segments", &self.segments())
            .finish()
    }
}
