//! The headers that TCP endpoints exchange over the simulated path.
//!
//! Sequence numbers count segments, not bytes. Nearly all segments carry one MSS; where others
//! begin and end, [`Boundaries`](crate::Boundaries) knows.

mod offload;

pub use dumbbell_net::DATA_HEADER_BYTES;
use dumbbell_net::{
    ETHERNET_HEADER_BYTES, Header, IPV4_HEADER_BYTES, Packet, PureAck, SackOrder, TCP_HEADER_BYTES,
};

pub use self::offload::Offload;
use crate::sack_store::SackSlot;

/// MSS, SACK-permitted, timestamps and window scale on a SYN or SYN-ACK as Linux packs them, bytes.
const SYN_OPTIONS_BYTES: u32 = 20;

/// Wire bytes of a SYN or SYN-ACK.
pub const SYN_BYTES: u32 =
    ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + SYN_OPTIONS_BYTES;

/// UDP header (RFC 768), bytes.
const UDP_HEADER_BYTES: u32 = 8;

/// Wire bytes of a datagram beyond its payload: 14 + 20 + 8.
pub const DATAGRAM_HEADER_BYTES: u32 = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

/// Wire bytes of an ACK without SACK blocks.
pub const ACK_BYTES: u32 = DATA_HEADER_BYTES;

/// Options of a TCP header at most (RFC 9293 §3.1), bytes.
pub(crate) const OPTIONS_BYTES: u32 = 40;

/// Timestamps, aligned (RFC 7323 appendix A), bytes.
pub(crate) const TIMESTAMPS_BYTES: u32 = 12;

/// Kind and length of the SACK option and the two NOPs that Linux aligns it with, bytes.
const SACK_OPTION_BYTES: u32 = 4;

/// Two sequence numbers, bytes (RFC 2018 §3).
const SACK_BLOCK_BYTES: u32 = 8;

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
pub struct DataInfo(u32);

impl DataInfo {
    const KIND_SHIFT: u32 = 16;
    const RETRANSMISSION: u32 = 1 << 24;
    const CWR: u32 = 1 << 25;
    const PSH: u32 = 1 << 26;
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

/// What a SACK option with that many blocks takes, bytes.
#[inline]
pub(crate) fn sack_option_bytes(blocks: usize) -> u32 {
    if blocks == 0 {
        return 0;
    }
    SACK_OPTION_BYTES + SACK_BLOCK_BYTES * blocks as u32
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

/// A datagram of another protocol: UDP's header without what the network does not look at. An application's goes from a
/// flow's sender to its receiver and has only a size; another transport's goes either way, and its bytes are kept
/// elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramHeader {
    /// Its number among the sender's; of one with bytes what [`DatagramHeader::kept`] makes of its place.
    pub number: u64,
    /// When it left, ns.
    pub sent_ns: u64,
}

impl DatagramHeader {
    const KEPT: u64 = 1 << 63;
    const REVERSE: u64 = 1 << 62;
    const GARBLED: u64 = 1 << 61;
    const FIRST_SHIFT: u32 = 58;
    const GARBLE_SHIFT: u32 = 32;
    /// Bits of the random number that says what is wrong.
    const GARBLE_BITS: u64 = 0xff_ffff;

    /// One whose bytes are kept at `place`; `is_reverse`: it goes from the flow's receiver to its sender.
    #[inline]
    pub fn kept(place: u32, is_reverse: bool, sent_ns: u64) -> Self {
        let reverse = if is_reverse { Self::REVERSE } else { 0 };
        Self {
            number: Self::KEPT | reverse | u64::from(place),
            sent_ns,
        }
    }

    /// One that shows of its first byte what encryption leaves readable: QUIC's three highest bits.
    #[inline]
    #[must_use]
    pub fn showing(mut self, first_byte: u8) -> Self {
        self.number |= u64::from(first_byte >> 5) << Self::FIRST_SHIFT;
        self
    }

    /// The readable bits of its first byte; `None`: it has only a size.
    #[inline]
    pub fn first_byte(&self) -> Option<u8> {
        let bits = (self.number >> Self::FIRST_SHIFT) as u8 & 7;
        self.place().map(|_| bits << 5)
    }

    /// Where its bytes are kept; `None`: it has only a size.
    #[inline]
    pub fn place(&self) -> Option<u32> {
        (self.number & Self::KEPT != 0).then_some(self.number as u32)
    }

    /// Whether it goes from the flow's receiver to its sender.
    #[inline]
    pub fn is_reverse(&self) -> bool {
        self.number & (Self::KEPT | Self::REVERSE) == Self::KEPT | Self::REVERSE
    }

    /// A random number that says which of its bytes is wrong, and how, if one is.
    pub fn garbled(&self) -> Option<u64> {
        let is_garbled = self.place().is_some() && self.number & Self::GARBLED != 0;
        is_garbled.then_some((self.number >> Self::GARBLE_SHIFT) & Self::GARBLE_BITS)
    }

    /// Wire bytes of a datagram with `payload_bytes` (Ethernet, IPv4, RFC 768).
    #[inline]
    pub fn wire_bytes(payload_bytes: u32) -> u32 {
        DATAGRAM_HEADER_BYTES + payload_bytes
    }
}

/// The header of a packet of either direction.
///
/// Its fields are whole words: what was just written byte by byte and is copied as a whole, as
/// packets are, makes the processor wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// From a half's sender to its receiver.
    Data(DataHeader),
    /// From a half's receiver to its sender.
    Ack(AckHeader),
    /// A datagram of another protocol.
    Datagram(DatagramHeader),
}

// Packets are moved by value, again and again.
const _: () = assert!(size_of::<Segment>() <= 24 && size_of::<Packet<Segment>>() <= 48);

impl Segment {
    /// Whether the sender's FIN is in it.
    #[inline]
    pub fn is_fin(&self) -> bool {
        matches!(self, Self::Data(header) if matches!(header.kind(), SegmentKind::LastData | SegmentKind::Fin))
    }
}

impl Header for Segment {
    #[inline]
    fn is_data(&self) -> bool {
        match self {
            Self::Data(header) => header.is_data(),
            Self::Ack(_) => false,
            Self::Datagram(header) => !header.is_reverse(),
        }
    }

    #[inline]
    fn is_forward(&self) -> bool {
        match self {
            Self::Data(header) => !header.is_reverse(),
            Self::Ack(header) => header.is_reverse(),
            Self::Datagram(header) => !header.is_reverse(),
        }
    }

    fn garble(&mut self, draw: u64) -> bool {
        let Self::Datagram(header) = self else {
            return false;
        };
        if header.place().is_some() {
            let garble = (draw & DatagramHeader::GARBLE_BITS) << DatagramHeader::GARBLE_SHIFT;
            header.number |= DatagramHeader::GARBLED | garble;
        }
        header.place().is_some()
    }

    /// Numbers count segments. Only ACKs of received data: what a sender says without data (the end of the
    /// handshake, window probes) has a meaning of its own.
    #[inline]
    fn pure_ack(&self) -> Option<PureAck> {
        match self {
            Self::Ack(ack) if matches!(ack.kind(), AckKind::Ack | AckKind::AfterFin) => {
                Some(PureAck {
                    number: ack.ack,
                    ts_val: ack.ts_val_ms,
                    ts_ecr: ack.ts_ecr_ms,
                    ecn_flags: u8::from(ack.ece()),
                    has_sack: ack.sack.has_blocks(),
                    says_more: ack.sack.has_accecn(),
                })
            }
            _ => None,
        }
    }

    #[inline]
    fn segments(&self) -> u32 {
        match self {
            Self::Data(header) => header.segments(),
            Self::Ack(_) | Self::Datagram(_) => 1,
        }
    }

    fn segment(&self, index: u32, wire_bytes: u32) -> (Self, u32) {
        match self {
            Self::Data(header) => {
                let (header, wire_bytes) = header.segment(index, wire_bytes);
                (Self::Data(header), wire_bytes)
            }
            Self::Ack(_) | Self::Datagram(_) => (*self, wire_bytes),
        }
    }

    /// Exact while the ACK number stays. When it rises, blocks may have been acknowledged, which the packet
    /// does not know: then as if the earlier ACK's were not covered, so that no ACK filter drops it.
    #[inline]
    fn sack_order(&self, earlier: &Self) -> SackOrder {
        let (Self::Ack(ack), Self::Ack(earlier)) = (self, earlier) else {
            return SackOrder::Less;
        };
        if earlier.sack.has_blocks() && ack.ack != earlier.ack {
            return SackOrder::Less;
        }
        ack.sack.order(earlier.sack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(kind: AckKind, ack: u32, sack: SackSlot) -> Segment {
        Segment::Ack(AckHeader {
            ack,
            rwnd_bytes: 1 << 20,
            ts_val_ms: 9,
            ts_ecr_ms: 7,
            sack,
            info: AckInfo::new(kind, 1).ece(true),
        })
    }

    #[test]
    fn what_acknowledges_data_alone_is_a_pure_ack() {
        let pure = ack(AckKind::Ack, 5, SackSlot::NONE).pure_ack();
        let expected = PureAck {
            number: 5,
            ts_val: 9,
            ts_ecr: 7,
            ecn_flags: 1,
            ..PureAck::default()
        };
        assert_eq!(pure, Some(expected));
        for kind in [AckKind::SynAck, AckKind::FinAck] {
            assert_eq!(ack(kind, 5, SackSlot::NONE).pure_ack(), None);
        }
        for kind in [
            SegmentKind::HandshakeAck,
            SegmentKind::Data,
            SegmentKind::WindowProbe,
        ] {
            let data = DataHeader {
                seq: 5,
                ts_val_ms: 0,
                ts_ecr_ms: 0,
                info: DataInfo::new(kind, 1),
                offload: Offload::NONE,
            };
            assert_eq!(Segment::Data(data).pure_ack(), None);
        }
    }

    #[test]
    fn sack_blocks_are_compared_while_the_ack_number_stays() {
        use crate::sack_store::{SackBlock, SackBlocks, SackStore};

        let mut store = SackStore::new();
        let mut keep = |end| store.keep(&SackBlocks::new(None, &[SackBlock { start: 9, end }]));
        let (small, large) = (keep(10), keep(12));
        let order = |(number, sack), (earlier_number, earlier)| {
            let earlier = ack(AckKind::Ack, earlier_number, earlier);
            ack(AckKind::Ack, number, sack).sack_order(&earlier)
        };
        assert_eq!(order((5, large), (5, small)), SackOrder::More);
        assert_eq!(order((6, large), (5, SackSlot::NONE)), SackOrder::More);
        assert_eq!(order((6, large), (5, small)), SackOrder::Less, "not known");
        assert_eq!(
            order((6, SackSlot::NONE), (5, SackSlot::NONE)),
            SackOrder::Same
        );
    }
}
