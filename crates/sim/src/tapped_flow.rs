//! From what a flow's endpoints exchange to the frames of a capture.
//!
//! The simulated endpoints exchange facts, not bytes, and count segments. Frames have the addresses that
//! the kernel engine's hosts have, and bytes.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use dumbbell_capture::{AccEcnBytes, DatagramFacts, FrameFacts, TcpFlags};
use dumbbell_net::{DATA_HEADER_BYTES, Header as _, Packet, TIMESTAMPS_BYTES};
use dumbbell_scenario::{Group, random};
use dumbbell_tcp::{
    AckHeader, AckKind, Boundaries, DataHeader, DatagramHeader, SackStore, Segment, SegmentKind,
};

use crate::clock_offsets::clock_offsets_ms;

/// A Linux client's window on its SYN, and afterwards with its scale: it receives nothing but ACKs.
const SENDER_SYN_WINDOW: u16 = 64_240;
const SENDER_WINDOW_SCALE: u8 = 7;
const SENDER_WINDOW: u16 = 502;

/// The largest window scale there is (RFC 7323 §2.3).
const MAX_WINDOW_SCALE: u8 = 14;

/// What a capture shows of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame {
    Segment(FrameFacts),
    Datagram(DatagramFacts),
}

impl Frame {
    /// Replaces the content of `frame` by its headers and what is known of the payload.
    pub(crate) fn write_headers(&self, frame: &mut Vec<u8>) {
        match self {
            Self::Segment(facts) => facts.write_headers(frame),
            Self::Datagram(facts) => facts.write_headers(frame),
        }
    }

    /// Payload that follows that.
    pub(crate) fn payload_bytes(&self) -> u16 {
        match self {
            Self::Segment(facts) => facts.payload_bytes,
            Self::Datagram(facts) => facts.zero_bytes(),
        }
    }
}

/// What makes frames of a connection's facts: its addresses, where its numbers begin, and how many bytes
/// its segments are.
///
/// A header says what its half of the connection knows. Where both ends send data, a frame shows the
/// other half's number too, as it was when the packet left.
pub(crate) struct TappedFlow {
    pub(crate) group: u32,
    mss_bytes: u32,
    rwnd_bytes: u64,
    dscp: u8,
    sender: TappedEnd,
    receiver: TappedEnd,
    /// The other half's number of packets on their way, if both ends send data.
    answers: Option<BTreeMap<PacketName, u32>>,
}

/// What distinguishes a connection's packets on their way: its half, whether it is an ACK, and the
/// identification of its IP packet.
type PacketName = (bool, bool, u16);

/// An end of a connection.
struct TappedEnd {
    address: SocketAddrV4,
    isn: u32,
    /// What the host's timestamp clock shows when the run begins, ms.
    clock_ms: u32,
    /// Where the segments that it sent begin.
    boundaries: Boundaries,
    /// One past the highest segment of data sent so far.
    sent_segments: u32,
    /// Payload sent so far, bytes.
    sent_bytes: u64,
    /// One past the last segment, the FIN's; known when it is sent.
    fin_end: Option<u32>,
    /// One past the last segment of the other end that it acknowledged.
    acked_segments: u32,
}

impl TappedEnd {
    fn new(address: SocketAddrV4, mss_bytes: u32) -> Self {
        Self {
            address,
            isn: 0,
            clock_ms: 0,
            boundaries: Boundaries::new(mss_bytes),
            sent_segments: 0,
            sent_bytes: 0,
            fin_end: None,
            acked_segments: 0,
        }
    }

    /// Notes a segment that it sends.
    fn note_sent(&mut self, header: &DataHeader, wire_bytes: u32) {
        let end = header.seq + header.segments();
        if header.is_data() && header.seq >= self.sent_segments {
            let (last, wire_bytes) = header.segment(header.segments() - 1, wire_bytes);
            self.boundaries
                .note(last.seq, payload_bytes(&last, wire_bytes));
            self.sent_segments = end;
            self.sent_bytes = self.boundaries.bytes_before(self.sent_segments);
        }
        if matches!(header.kind(), SegmentKind::LastData | SegmentKind::Fin) {
            self.fin_end = Some(end);
        }
    }

    /// Sequence number of a segment's first byte, or of what follows the last; a FIN takes one.
    fn seq_of(&self, segment: u32) -> u32 {
        let bytes = self.boundaries.bytes_before(segment);
        let is_after_fin = self.fin_end.is_some_and(|end| segment >= end);
        self.isn
            .wrapping_add(1) // the SYN
            .wrapping_add(bytes.min(self.sent_bytes) as u32)
            .wrapping_add(u32::from(is_after_fin))
    }
}

impl TappedFlow {
    /// A connection of the group with `index` between the addresses of a sender and a receiver.
    pub(crate) fn new(
        index: u32,
        addresses: (SocketAddrV4, SocketAddrV4),
        has_requests: bool,
        group: &Group,
    ) -> Self {
        Self {
            group: index,
            mss_bytes: group.host.mss_bytes,
            rwnd_bytes: group.host.rwnd_bytes,
            dscp: group.dscp,
            sender: TappedEnd::new(addresses.0, group.host.mss_bytes),
            receiver: TappedEnd::new(addresses.1, group.host.mss_bytes),
            answers: has_requests.then(BTreeMap::new),
        }
    }

    /// RFC 6528, RFC 7323 §5.4: where sequence numbers and clocks begin is anyone's guess, but the same
    /// for the same seed.
    pub(crate) fn draw_numbers(&mut self, seed: u64, flow: u64) {
        let word = random::element_seed(seed, "isn", flow);
        (self.sender.isn, self.receiver.isn) = (word as u32, (word >> 32) as u32);
        (self.sender.clock_ms, self.receiver.clock_ms) = clock_offsets_ms(seed, flow);
    }

    /// The end that a packet is from, and the other.
    fn ends(&self, is_forward: bool) -> (&TappedEnd, &TappedEnd) {
        if is_forward {
            (&self.sender, &self.receiver)
        } else {
            (&self.receiver, &self.sender)
        }
    }

    pub(crate) fn note_sent(&mut self, packet: &Packet<Segment>) {
        let (source, destination) = if packet.header.is_forward() {
            (&mut self.sender, &self.receiver)
        } else {
            (&mut self.receiver, &self.sender)
        };
        let answer = match &packet.header {
            Segment::Data(header) => {
                source.note_sent(header, packet.wire_bytes);
                destination.seq_of(source.acked_segments)
            }
            Segment::Ack(ack) => {
                source.acked_segments = source.acked_segments.max(ack.ack);
                source.seq_of(source.fin_end.unwrap_or(source.sent_segments))
            }
            Segment::Datagram(_) => return,
        };
        if let Some(answers) = &mut self.answers {
            answers.extend(packet_names(packet).map(|name| (name, answer)));
        }
    }

    /// The packet is no longer on its way. Those that are dropped are forgotten when their name is used
    /// again.
    pub(crate) fn note_delivered(&mut self, packet: &Packet<Segment>) {
        if let Some(answers) = &mut self.answers {
            for name in packet_names(packet) {
                answers.remove(&name);
            }
        }
    }

    /// The other half's number when the packet left, if there is another half.
    fn answer(&self, header: &Segment) -> Option<u32> {
        let name = packet_name(header)?;
        self.answers.as_ref()?.get(&name).copied()
    }

    /// What a frame shows.
    pub(crate) fn facts(&self, packet: &Packet<Segment>, sacks: &SackStore) -> Frame {
        let (source, destination) = self.ends(packet.header.is_forward());
        match &packet.header {
            Segment::Data(header) => {
                Frame::Segment(self.data_facts(header, packet, source, destination))
            }
            Segment::Ack(header) => {
                Frame::Segment(self.ack_facts(header, packet, source, destination, sacks))
            }
            Segment::Datagram(header) => Frame::Datagram(DatagramFacts {
                source: source.address,
                destination: destination.address,
                ip_id: header.number as u16,
                dscp: self.dscp,
                ecn: packet.ecn.bits(),
                first_byte: header.first_byte(),
                payload_bytes: (packet.wire_bytes - DatagramHeader::wire_bytes(0)) as u16,
            }),
        }
    }

    fn data_facts(
        &self,
        header: &DataHeader,
        packet: &Packet<Segment>,
        source: &TappedEnd,
        destination: &TappedEnd,
    ) -> FrameFacts {
        let is_syn = header.kind() == SegmentKind::Syn;
        let received = match header.kind() {
            SegmentKind::LastAck => 2, // SYN and FIN
            _ => 1,
        };
        let only_half = destination.isn.wrapping_add(received);
        FrameFacts {
            source: source.address,
            destination: destination.address,
            ip_id: header.ip_id(),
            dscp: self.dscp,
            ecn: packet.ecn.bits(),
            seq: if is_syn {
                source.isn
            } else {
                let is_probe = header.kind() == SegmentKind::WindowProbe;
                source.seq_of(header.seq).wrapping_sub(u32::from(is_probe))
            },
            ack: if is_syn {
                0
            } else {
                self.answer(&packet.header).unwrap_or(only_half)
            },
            flags: segment_flags(header),
            window: match (is_syn, &self.answers) {
                (true, _) => SENDER_SYN_WINDOW,
                (false, None) => SENDER_WINDOW,
                (false, Some(_)) => scaled_window(self.rwnd_bytes, self.window_scale()),
            },
            mss: is_syn.then(|| self.mss_option()),
            sack_permitted: is_syn,
            timestamps: Some((
                source.clock_ms.wrapping_add(header.ts_val_ms),
                if is_syn {
                    0
                } else {
                    destination.clock_ms.wrapping_add(header.ts_ecr_ms)
                },
            )),
            window_scale: is_syn.then(|| match self.answers {
                None => SENDER_WINDOW_SCALE,
                Some(_) => self.window_scale(),
            }),
            sack: dumbbell_capture::SackBlocks::default(),
            accecn: None,
            payload_bytes: payload_bytes(header, packet.wire_bytes) as u16,
        }
    }

    fn ack_facts(
        &self,
        ack: &AckHeader,
        packet: &Packet<Segment>,
        source: &TappedEnd,
        destination: &TappedEnd,
        sacks: &SackStore,
    ) -> FrameFacts {
        let is_syn = ack.kind() == AckKind::SynAck;
        let (sent, flags) = match ack.kind() {
            AckKind::SynAck => (0, TcpFlags::SYN),
            AckKind::Ack => (1, 0),
            AckKind::FinAck => (1, TcpFlags::FIN),
            AckKind::AfterFin => (2, 0),
        };
        let only_half = source.isn.wrapping_add(sent);
        let scale = if is_syn { 0 } else { self.window_scale() };
        let mut sack = dumbbell_capture::SackBlocks::default();
        let reported = sacks.get(ack.sack);
        let feedback = reported.accecn().copied().unwrap_or_default();
        for block in reported.all() {
            sack.push(
                destination.seq_of(block.start),
                destination.seq_of(block.end),
            );
        }
        FrameFacts {
            source: source.address,
            destination: destination.address,
            ip_id: ack.ip_id(),
            dscp: self.dscp,
            ecn: packet.ecn.bits(),
            seq: match self.answer(&packet.header) {
                Some(seq) if !is_syn => seq,
                _ => only_half,
            },
            ack: destination.seq_of(ack.ack),
            flags: TcpFlags(
                flags
                    | TcpFlags::ACK
                    | if_set(ack.ece(), TcpFlags::ECE)
                    | accecn_flags(feedback.ace),
            ),
            window: scaled_window(u64::from(ack.rwnd_bytes), scale),
            mss: is_syn.then(|| self.mss_option()),
            sack_permitted: is_syn,
            timestamps: Some((
                source.clock_ms.wrapping_add(ack.ts_val_ms),
                destination.clock_ms.wrapping_add(ack.ts_ecr_ms),
            )),
            window_scale: is_syn.then(|| self.window_scale()),
            sack,
            accecn: feedback.option.map(|option| {
                let bytes = [option.ect1_bytes, option.ce_bytes, option.ect0_bytes]; // Linux's order
                AccEcnBytes::first(option.counters.count() as usize, bytes)
            }),
            payload_bytes: 0,
        }
    }

    /// The smallest scale with which the receive window fits in the field.
    fn window_scale(&self) -> u8 {
        let fits = |scale: &u8| self.rwnd_bytes >> scale <= u64::from(u16::MAX);
        (0..MAX_WINDOW_SCALE).find(fits).unwrap_or(MAX_WINDOW_SCALE)
    }

    /// RFC 6691: the option counts the payload and the options that take room from it.
    fn mss_option(&self) -> u16 {
        u16::try_from(self.mss_bytes + TIMESTAMPS_BYTES).unwrap_or(u16::MAX)
    }
}

/// Those of a packet and, where it is a super-packet, of what it may be cut into.
fn packet_names(packet: &Packet<Segment>) -> impl Iterator<Item = PacketName> {
    let segments = 0..packet.header.segments();
    segments.filter_map(|index| packet_name(&packet.header.segment(index, packet.wire_bytes).0))
}

fn packet_name(header: &Segment) -> Option<PacketName> {
    match header {
        Segment::Data(header) => Some((header.is_reverse(), false, header.ip_id())),
        Segment::Ack(ack) => Some((ack.is_reverse(), true, ack.ip_id())),
        Segment::Datagram(_) => None,
    }
}

fn scaled_window(window_bytes: u64, scale: u8) -> u16 {
    u16::try_from(window_bytes >> scale).unwrap_or(u16::MAX)
}

fn if_set(is_set: bool, flag: u16) -> u16 {
    if is_set { flag } else { 0 }
}

/// Accurate ECN's field is three flags (RFC 9768 §3.2.2).
fn accecn_flags(ace: u8) -> u16 {
    if_set(ace & 0b100 != 0, TcpFlags::AE)
        | if_set(ace & 0b010 != 0, TcpFlags::CWR)
        | if_set(ace & 0b001 != 0, TcpFlags::ECE)
}

fn segment_flags(header: &DataHeader) -> TcpFlags {
    let ecn = if_set(header.cwr(), TcpFlags::CWR) | accecn_flags(header.ace());
    TcpFlags(
        ecn | match header.kind() {
            // RFC 3168 §6.1.1: an ECN-setup SYN has both.
            SegmentKind::Syn => TcpFlags::SYN | if_set(header.cwr(), TcpFlags::ECE),
            SegmentKind::HandshakeAck | SegmentKind::WindowProbe | SegmentKind::LastAck => {
                TcpFlags::ACK
            }
            SegmentKind::Data if header.psh() => TcpFlags::ACK | TcpFlags::PSH,
            SegmentKind::Data => TcpFlags::ACK,
            SegmentKind::LastData => TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN,
            SegmentKind::Fin => TcpFlags::ACK | TcpFlags::FIN,
        },
    )
}

fn payload_bytes(header: &DataHeader, wire_bytes: u32) -> u32 {
    match header.kind() {
        SegmentKind::Data | SegmentKind::LastData => {
            wire_bytes - header.segments() * DATA_HEADER_BYTES
        }
        _ => 0,
    }
}
