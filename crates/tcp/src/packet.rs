//! The headers that TCP endpoints exchange over the simulated path.
//!
//! Sequence numbers count segments, not bytes. Nearly all segments carry one MSS; where others
//! begin and end, [`Boundaries`](crate::Boundaries) knows.

mod ack_header;
mod data_header;
mod datagram_header;
mod offload;

pub use dumbbell_net::DATA_HEADER_BYTES;
use dumbbell_net::{
    ETHERNET_HEADER_BYTES, Header, IPV4_HEADER_BYTES, Packet, PureAck, SackOrder, TCP_HEADER_BYTES,
};

pub(crate) use self::ack_header::sack_option_bytes;
pub use self::ack_header::{ACK_BYTES, AckHeader, AckInfo, AckKind};
pub use self::data_header::{DataHeader, DataInfo, SegmentKind};
pub use self::datagram_header::{DATAGRAM_HEADER_BYTES, DatagramHeader};
pub use self::offload::Offload;

/// MSS, SACK-permitted, timestamps and window scale on a SYN or SYN-ACK as Linux packs them, bytes.
const SYN_OPTIONS_BYTES: u32 = 20;

/// Wire bytes of a SYN or SYN-ACK.
pub const SYN_BYTES: u32 =
    ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + SYN_OPTIONS_BYTES;

/// Options of a TCP header at most (RFC 9293 §3.1), bytes.
pub(crate) const OPTIONS_BYTES: u32 = 40;

/// Timestamps, aligned (RFC 7323 appendix A), bytes.
pub(crate) const TIMESTAMPS_BYTES: u32 = 12;

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
        match self {
            Self::Datagram(header) => header.garble(draw),
            Self::Data(_) | Self::Ack(_) => false,
        }
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
    use crate::sack_store::SackSlot;

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
