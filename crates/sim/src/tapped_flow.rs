//! From what a flow's endpoints exchange to the frames of a capture.
//!
//! The simulated endpoints exchange facts, not bytes, and count segments. Frames have the addresses that
//! the kernel engine's hosts have, and bytes.

use std::net::SocketAddrV4;

use dumbbell_capture::{FrameFacts, TcpFlags};
use dumbbell_net::{DATA_HEADER_BYTES, Ecn, Packet, TIMESTAMPS_BYTES};
use dumbbell_scenario::address_plan::flow_addresses;
use dumbbell_scenario::{Group, random};
use dumbbell_tcp::{AckHeader, AckKind, Boundaries, DataHeader, SackBlocks, Segment, SegmentKind};

/// A Linux client's window on its SYN, and afterwards with its scale: it receives nothing but ACKs.
const SENDER_SYN_WINDOW: u16 = 64_240;
const SENDER_WINDOW_SCALE: u8 = 7;
const SENDER_WINDOW: u16 = 502;

/// The largest window scale there is (RFC 7323 §2.3).
const MAX_WINDOW_SCALE: u8 = 14;

/// What makes frames of a flow's facts: its addresses, where its numbers begin, and how many bytes its
/// segments are.
pub(crate) struct TappedFlow {
    pub(crate) group: u32,
    sender: SocketAddrV4,
    receiver: SocketAddrV4,
    mss_bytes: u32,
    /// Where its segments begin, of all sent so far.
    boundaries: Boundaries,
    sender_isn: u32,
    receiver_isn: u32,
    /// What the hosts' timestamp clocks show when the run begins, ms.
    sender_clock_ms: u32,
    receiver_clock_ms: u32,
    receiver_window_scale: u8,
    /// One past the highest segment of data sent so far.
    sent_segments: u32,
    /// Payload sent so far, bytes.
    sent_bytes: u64,
    /// One past the last segment, the FIN's; known when it is sent.
    fin_end: Option<u32>,
}

impl TappedFlow {
    /// Flow `number` of the group with `index`.
    pub(crate) fn new(index: u32, number: u32, group: &Group) -> Self {
        let (sender, receiver) = flow_addresses(index as u16, number);
        Self {
            group: index,
            sender,
            receiver,
            mss_bytes: group.mss_bytes,
            boundaries: Boundaries::new(group.mss_bytes),
            sender_isn: 0,
            receiver_isn: 0,
            sender_clock_ms: 0,
            receiver_clock_ms: 0,
            receiver_window_scale: window_scale(group.rwnd_bytes),
            sent_segments: 0,
            sent_bytes: 0,
            fin_end: None,
        }
    }

    /// RFC 6528, RFC 7323 §5.4: where sequence numbers and clocks begin is anyone's guess, but the same
    /// for the same seed.
    pub(crate) fn draw_numbers(&mut self, seed: u64, flow: u64) {
        let words = |name: &str| {
            let word = random::element_seed(seed, name, flow);
            (word as u32, (word >> 32) as u32)
        };
        (self.sender_isn, self.receiver_isn) = words("isn");
        (self.sender_clock_ms, self.receiver_clock_ms) = words("timestamp clock");
    }

    pub(crate) fn note_sent(&mut self, packet: &Packet<Segment>) {
        let Segment::Data(header) = &packet.header else {
            return;
        };
        match header.kind() {
            SegmentKind::Data | SegmentKind::LastData => {
                if header.seq >= self.sent_segments {
                    let payload_bytes = payload_bytes(header, packet.wire_bytes);
                    self.boundaries.note(header.seq, payload_bytes);
                    self.sent_segments = header.seq + 1;
                    self.sent_bytes = self.boundaries.bytes_before(self.sent_segments);
                }
            }
            SegmentKind::Syn
            | SegmentKind::HandshakeAck
            | SegmentKind::Fin
            | SegmentKind::LastAck => {}
        }
        if matches!(header.kind(), SegmentKind::LastData | SegmentKind::Fin) {
            self.fin_end = Some(header.seq + 1);
        }
    }

    /// Sequence number of a segment's first byte, or of what follows the last; a FIN takes one.
    fn seq_of(&self, segment: u32) -> u32 {
        let bytes = self.boundaries.bytes_before(segment);
        let is_after_fin = self.fin_end.is_some_and(|end| segment >= end);
        self.sender_isn
            .wrapping_add(1) // the SYN
            .wrapping_add(bytes.min(self.sent_bytes) as u32)
            .wrapping_add(u32::from(is_after_fin))
    }

    pub(crate) fn data_facts(&self, header: &DataHeader, wire_bytes: u32, ecn: Ecn) -> FrameFacts {
        let payload_bytes = payload_bytes(header, wire_bytes);
        let is_syn = header.kind() == SegmentKind::Syn;
        let received = match header.kind() {
            SegmentKind::LastAck => 2, // SYN and FIN
            _ => 1,
        };
        FrameFacts {
            source: self.sender,
            destination: self.receiver,
            ip_id: header.ip_id(),
            ecn: ecn.bits(),
            seq: if is_syn {
                self.sender_isn
            } else {
                self.seq_of(header.seq)
            },
            ack: if is_syn {
                0
            } else {
                self.receiver_isn.wrapping_add(received)
            },
            flags: segment_flags(header),
            window: if is_syn {
                SENDER_SYN_WINDOW
            } else {
                SENDER_WINDOW
            },
            mss: is_syn.then(|| self.mss_option()),
            sack_permitted: is_syn,
            timestamps: Some((
                self.sender_clock_ms.wrapping_add(header.ts_val_ms),
                if is_syn {
                    0
                } else {
                    self.receiver_clock_ms.wrapping_add(header.ts_ecr_ms)
                },
            )),
            window_scale: is_syn.then_some(SENDER_WINDOW_SCALE),
            sack: dumbbell_capture::SackBlocks::default(),
            payload_bytes: payload_bytes as u16,
        }
    }

    pub(crate) fn ack_facts(&self, ack: &AckHeader, blocks: &SackBlocks, ecn: Ecn) -> FrameFacts {
        let is_syn = ack.kind() == AckKind::SynAck;
        let (sent, flags) = match ack.kind() {
            AckKind::SynAck => (0, TcpFlags::SYN),
            AckKind::Ack => (1, 0),
            AckKind::FinAck => (1, TcpFlags::FIN),
            AckKind::AfterFin => (2, 0),
        };
        let window_bytes = u64::from(ack.rwnd_bytes);
        let scale = if is_syn {
            0
        } else {
            self.receiver_window_scale
        };
        let mut sack = dumbbell_capture::SackBlocks::default();
        for block in blocks.all() {
            sack.push(self.seq_of(block.start), self.seq_of(block.end));
        }
        FrameFacts {
            source: self.receiver,
            destination: self.sender,
            ip_id: ack.ip_id(),
            ecn: ecn.bits(),
            seq: self.receiver_isn.wrapping_add(sent),
            ack: self.seq_of(ack.ack),
            flags: TcpFlags(flags | TcpFlags::ACK | if_set(ack.ece(), TcpFlags::ECE)),
            window: u16::try_from(window_bytes >> scale).unwrap_or(u16::MAX),
            mss: is_syn.then(|| self.mss_option()),
            sack_permitted: is_syn,
            timestamps: Some((
                self.receiver_clock_ms.wrapping_add(ack.ts_val_ms),
                self.sender_clock_ms.wrapping_add(ack.ts_ecr_ms),
            )),
            window_scale: is_syn.then_some(self.receiver_window_scale),
            sack,
            payload_bytes: 0,
        }
    }

    /// RFC 6691: the option counts the payload and the options that take room from it.
    fn mss_option(&self) -> u16 {
        u16::try_from(self.mss_bytes + TIMESTAMPS_BYTES).unwrap_or(u16::MAX)
    }
}

fn if_set(is_set: bool, flag: u16) -> u16 {
    if is_set { flag } else { 0 }
}

fn segment_flags(header: &DataHeader) -> TcpFlags {
    let cwr = if_set(header.cwr(), TcpFlags::CWR);
    TcpFlags(
        cwr | match header.kind() {
            // RFC 3168 §6.1.1: an ECN-setup SYN has both.
            SegmentKind::Syn => TcpFlags::SYN | if_set(header.cwr(), TcpFlags::ECE),
            SegmentKind::HandshakeAck | SegmentKind::LastAck => TcpFlags::ACK,
            SegmentKind::Data if header.psh() => TcpFlags::ACK | TcpFlags::PSH,
            SegmentKind::Data => TcpFlags::ACK,
            SegmentKind::LastData => TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN,
            SegmentKind::Fin => TcpFlags::ACK | TcpFlags::FIN,
        },
    )
}

fn payload_bytes(header: &DataHeader, wire_bytes: u32) -> u32 {
    match header.kind() {
        SegmentKind::Data | SegmentKind::LastData => wire_bytes - DATA_HEADER_BYTES,
        _ => 0,
    }
}

/// The smallest scale with which a window of `rwnd_bytes` fits in the field.
fn window_scale(rwnd_bytes: u64) -> u8 {
    let fits = |scale: &u8| rwnd_bytes >> scale <= u64::from(u16::MAX);
    (0..MAX_WINDOW_SCALE).find(fits).unwrap_or(MAX_WINDOW_SCALE)
}
