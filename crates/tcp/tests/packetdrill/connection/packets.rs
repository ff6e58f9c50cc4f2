//! Packets of a script as this crate has them, and the other way round.

use dumbbell_net::{Ecn, Packet};
use dumbbell_tcp::{
    AccEcnCounters, AccEcnFeedback, AccEcnOption, AckHeader, AckInfo, AckKind, DATA_HEADER_BYTES,
    DataHeader, DataInfo, EcnMode, Offload, SackBlock, SackBlocks, SackSlot, Segment, SegmentKind,
};

use super::Connection;
use crate::script::{AccEcnFields, Flags, PacketSpec};

/// A packet as the host sent it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) time_ns: u64,
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) ecn: Ecn,
    /// TSval and TSecr, ms.
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) sack: Vec<(u32, u32)>,
    pub(crate) accecn: Option<AccEcnFields>,
    /// Its three flags count marked packets.
    pub(crate) counts_marks: bool,
}

impl Connection {
    /// A packet's ACK, in segments.
    pub(super) fn ack_header(&self, packet: &PacketSpec) -> AckHeader {
        let window_bytes = packet.window.unwrap_or(self.last_window) << self.opening.window_scale;
        let (ts_val_ms, ts_ecr_ms) = packet.timestamps().unwrap_or_default();
        AckHeader {
            ack: self.outbound.whole_below(packet.ack.unwrap_or(0)),
            rwnd_bytes: window_bytes,
            ts_val_ms,
            ts_ecr_ms,
            sack: SackSlot::NONE,
            info: AckInfo::new(AckKind::Ack, 0).ece(packet.flags.ece),
        }
    }

    /// The header of a segment of data, or of one without.
    pub(super) fn data_header(
        &self,
        seq: u32,
        kind: SegmentKind,
        packet: &PacketSpec,
    ) -> DataHeader {
        let (ts_val_ms, ts_ecr_ms) = packet.timestamps().unwrap_or_default();
        DataHeader {
            seq,
            ts_val_ms,
            ts_ecr_ms,
            info: DataInfo::new(kind, 0).cwr(packet.flags.cwr),
            offload: Offload::NONE,
        }
    }

    /// RFC 2883 §4: the first block is a duplicate's if the ACK or the next block covers it.
    pub(super) fn sack_blocks(&self, packet: &PacketSpec, ack: u32) -> SackBlocks {
        let blocks = packet.sack();
        let has_dsack = match blocks {
            [first, ..] if first.1 <= ack => true,
            [first, second, ..] => second.0 <= first.0 && first.1 <= second.1,
            _ => false,
        };
        let block = |&(start, end): &(u32, u32)| {
            let (start, end) = self.outbound.whole_within(start, end);
            (start < end).then_some(SackBlock { start, end })
        };
        let (dsack, received) = blocks.split_at(usize::from(has_dsack));
        let received: Vec<SackBlock> = received.iter().filter_map(block).collect();
        SackBlocks::new(dsack.first().and_then(block), &received)
    }

    /// The blocks, and what the packet says by Accurate ECN, if that was agreed or asked for.
    pub(super) fn feedback(&self, packet: &PacketSpec, blocks: SackBlocks) -> SackBlocks {
        if !matches!(self.opening.ecn, EcnMode::AccEcn(_)) {
            return blocks;
        }
        let option = packet.accecn().map(|fields| AccEcnOption {
            counters: counters(&fields),
            ect0_bytes: fields.ect0_bytes.unwrap_or_default(),
            ce_bytes: fields.ce_bytes.unwrap_or_default(),
            ect1_bytes: fields.ect1_bytes.unwrap_or_default(),
        });
        let ace = packet.flags.ace();
        blocks.with_accecn(AccEcnFeedback { ace, option })
    }

    fn is_accurate(&self) -> bool {
        matches!(self.sender.agreed_ecn(), EcnMode::AccEcn(_))
    }

    /// What the sender sends, in bytes.
    pub(super) fn take_from_sender(&mut self, now_ns: u64, packet: &Packet<Segment>) {
        let Segment::Data(header) = packet.header else {
            return;
        };
        let kind = header.kind();
        let payload_bytes = packet.wire_bytes.saturating_sub(DATA_HEADER_BYTES);
        let fin = matches!(kind, SegmentKind::LastData | SegmentKind::Fin);
        let is_data = header.is_data() || fin;
        if is_data && header.seq == self.outbound.segments() {
            self.outbound.push(payload_bytes + u32::from(fin));
        }
        self.is_ack_carried |= is_data;
        if fin {
            self.receiver.on_own_fin(now_ns);
        }
        let syn = kind == SegmentKind::Syn;
        let accurate = self.is_accurate();
        let ace = match kind {
            SegmentKind::Syn if header.cwr() => 0b011,
            SegmentKind::Syn | SegmentKind::HandshakeAck => header.ace(),
            _ if accurate => (header.ace() + self.receiver.accecn_ce_pkts() as u8) & 7,
            _ => u8::from(header.cwr()) << 1,
        };
        let flags = Flags {
            syn,
            fin,
            ack: !syn,
            ..Flags::default()
        };
        self.sent.push_back(Sent {
            time_ns: now_ns,
            flags: flags.with_ace(ace),
            seq: match kind {
                SegmentKind::Syn => 0,
                SegmentKind::WindowProbe => self.outbound.start_of(header.seq) - 1,
                _ => self.outbound.start_of(header.seq),
            },
            payload_bytes: if is_data { payload_bytes } else { 0 },
            ack: (!syn).then_some(self.ack),
            ecn: packet.ecn,
            timestamps: self.timestamps(header.ts_val_ms, header.ts_ecr_ms),
            sack: Vec::new(),
            accecn: self
                .receiver
                .accecn_option()
                .filter(|_| !syn && self.peer_has_option && self.sends_option)
                .map(fields),
            counts_marks: accurate,
        });
    }

    /// What the receiver sends, unless data has carried the same ACK.
    pub(super) fn take_from_receiver(&mut self, now_ns: u64, packet: &Packet<Segment>) {
        let Segment::Ack(header) = packet.header else {
            return;
        };
        let sack = *self.sacks.get(header.sack);
        self.sacks.free(header.sack);
        let syn = header.kind() == AckKind::SynAck;
        if self.is_ack_carried && sack.is_empty() && !syn {
            return;
        }
        let bytes = |block: &SackBlock| {
            let byte = |segment| self.inbound.start_of(segment);
            (byte(block.start), byte(block.end))
        };
        let ace = match sack.accecn() {
            Some(feedback) if syn => feedback.ace,
            Some(feedback) => (feedback.ace + self.sender_ce_pkts as u8) & 7,
            None => u8::from(header.ece()),
        };
        let flags = Flags {
            syn,
            ack: true,
            ..Flags::default()
        };
        self.sent.push_back(Sent {
            time_ns: now_ns,
            flags: flags.with_ace(ace),
            seq: if syn { 0 } else { self.outbound.end() },
            payload_bytes: 0,
            ack: Some(self.inbound.start_of(header.ack)),
            ecn: packet.ecn,
            // The receiver of a connection's second half has not seen the SYN.
            timestamps: self
                .timestamps(header.ts_val_ms, header.ts_ecr_ms.max(self.peer_syn_ts_ms)),
            sack: sack.all().iter().map(bytes).collect(),
            accecn: sack
                .accecn()
                .and_then(|own| own.option)
                .filter(|_| syn || (self.peer_has_option && self.sends_option))
                .map(fields),
            counts_marks: sack.accecn().is_some(),
        });
    }

    fn timestamps(&self, val_ms: u32, ecr_ms: u32) -> Option<(u32, u32)> {
        self.opening.timestamps.then_some((val_ms, ecr_ms))
    }
}

fn fields(option: AccEcnOption) -> AccEcnFields {
    let has = |least| option.counters >= least;
    AccEcnFields {
        ect0_bytes: has(AccEcnCounters::All).then_some(option.ect0_bytes),
        ce_bytes: has(AccEcnCounters::Ect1AndCe).then_some(option.ce_bytes),
        ect1_bytes: has(AccEcnCounters::Ect1).then_some(option.ect1_bytes),
    }
}

/// Which counters an option has. One that has that of ECT(0) counts as having all; those that it leaves out are 0
/// then, which is taken for older than what is known.
fn counters(fields: &AccEcnFields) -> AccEcnCounters {
    match (fields.ect1_bytes, fields.ce_bytes, fields.ect0_bytes) {
        (None, None, None) => AccEcnCounters::None,
        (Some(_), None, None) => AccEcnCounters::Ect1,
        (_, Some(_), None) => AccEcnCounters::Ect1AndCe,
        (_, _, Some(_)) => AccEcnCounters::All,
    }
}

pub(super) fn ecn_field(name: Option<&str>) -> Ecn {
    match name {
        Some("ect0") => Ecn::Ect0,
        Some("ect1") => Ecn::Ect1,
        Some("ce") => Ecn::Ce,
        _ => Ecn::NotEct,
    }
}
