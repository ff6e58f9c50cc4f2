//! One connection of the host under test: this crate's [`Sender`] and [`Receiver`], and what lies
//! between them and a script.
//!
//! Played here and not by the crate: the handshake's options, byte numbers, ACKs that ride on data (this
//! TCP sends them apart), and that a host's packets count what both of its ends received (RFC 9768).

mod opening;
mod packets;

use std::collections::VecDeque;

use dumbbell_net::{Ecn, Packet};
use dumbbell_tcp::{
    AckHeader, AckInfo, AckKind, DATA_HEADER_BYTES, DataHeader, Offload, Receiver, SYN_BYTES,
    SackBlocks, SackStore, Segment, SegmentKind, Sender,
};

pub(crate) use opening::Opening;
pub(crate) use packets::Sent;

use crate::byte_map::ByteMap;
use crate::script::PacketSpec;
use crate::settings::Settings;
use packets::ecn_field;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SynSent,
    SynReceived,
    Established,
}

#[derive(Debug)]
pub(crate) struct Connection {
    sender: Sender,
    receiver: Receiver,
    sacks: SackStore,
    opening: Opening,
    /// Packets with CE that arrived for the sender alone.
    sender_ce_pkts: u32,
    peer_has_option: bool,
    /// `tcp_ecn_option` now.
    pub(crate) sends_option: bool,
    phase: Phase,
    /// What the peer sends.
    inbound: ByteMap,
    outbound: ByteMap,
    /// Next byte expected from the peer.
    ack: u32,
    /// Sent data carried that number.
    is_ack_carried: bool,
    last_window: u32,
    /// The application has closed it, and not only shut it down.
    is_abandoned: bool,
    /// TSval of the peer's SYN.
    peer_syn_ts_ms: u32,
    pub(crate) sent: VecDeque<Sent>,
    /// When payload last arrived, ns.
    pub(crate) last_data_ns: u64,
}

impl Connection {
    /// A connection whose SYN leaves (`is_active`) or arrives now.
    pub(crate) fn open(
        now_ns: u64,
        opening: Opening,
        settings: &Settings,
        inbound: ByteMap,
        syn: Option<&PacketSpec>,
    ) -> Result<Self, String> {
        let mut connection = Self {
            sender: opening.sender(now_ns, settings)?,
            receiver: opening.receiver(),
            sacks: SackStore::new(),
            opening,
            sender_ce_pkts: 0,
            peer_has_option: false,
            sends_option: settings.accecn_option,
            phase: if opening.is_active {
                Phase::SynSent
            } else {
                Phase::SynReceived
            },
            inbound,
            outbound: ByteMap::new(),
            ack: 1,
            is_ack_carried: false,
            last_window: 0,
            is_abandoned: false,
            peer_syn_ts_ms: 0,
            sent: VecDeque::new(),
            last_data_ns: now_ns,
        };
        if let Some(syn) = syn {
            connection.receive_syn(now_ns, syn);
        }
        connection.collect(now_ns);
        Ok(connection)
    }

    /// RFC 3168 §6.1.1: ECE and CWR ask for ECN; RFC 9768 §3.1.2: other combinations for the accurate one.
    fn receive_syn(&mut self, now_ns: u64, syn: &PacketSpec) {
        let header = self.data_header(0, SegmentKind::Syn, syn);
        let (ace, is_classic) = (syn.flags.ace(), syn.flags.ace() == 0b011);
        let header = DataHeader {
            info: header
                .info
                .cwr(is_classic)
                .ace(if is_classic { 0 } else { ace }),
            ..header
        };
        let ecn = ecn_field(syn.ecn.as_deref());
        self.receiver.on_packet(now_ns, &header, SYN_BYTES, ecn);
    }

    pub(crate) fn is_established(&self) -> bool {
        self.phase == Phase::Established
    }

    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Payload received in order, bytes.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.receiver.counters().received_bytes
    }

    /// Whether the peer's FIN has arrived, with all before it.
    pub(crate) fn has_peer_fin(&self) -> bool {
        self.receiver.has_received_all()
    }

    /// Both FINs have been sent and are acknowledged.
    pub(crate) fn is_over(&self) -> bool {
        self.has_peer_fin() && self.sender.is_closed()
    }

    pub(crate) fn mss_bytes(&self) -> u32 {
        self.opening.mss_bytes
    }

    /// When to call [`Connection::run_timers`], ns.
    pub(crate) fn next_timer_ns(&self) -> u64 {
        match self.phase {
            Phase::SynReceived => self.receiver.next_timer_ns(),
            Phase::SynSent => self.sender.next_timer_ns(),
            Phase::Established => self
                .sender
                .next_timer_ns()
                .min(self.receiver.next_timer_ns()),
        }
    }

    /// Timers that are due now.
    pub(crate) fn run_timers(&mut self, now_ns: u64) {
        if self.phase != Phase::SynReceived && self.sender.next_timer_ns() <= now_ns {
            self.sender.on_timer(now_ns);
        }
        if self.receiver.next_timer_ns() <= now_ns {
            self.receiver.on_timer(now_ns);
        }
        self.collect(now_ns);
    }

    /// Moves counters on to now.
    pub(crate) fn settle(&mut self, now_ns: u64) {
        self.sender.settle(now_ns);
    }

    /// The application writes; with `more`, it will soon write more (`MSG_MORE`).
    pub(crate) fn write(&mut self, now_ns: u64, bytes: u32, more: bool) {
        self.sender.settle(now_ns);
        if more {
            self.sender.write_more(u64::from(bytes));
        } else {
            self.sender.write(u64::from(bytes));
        }
        self.collect(now_ns);
    }

    /// `TCP_NODELAY` is set.
    pub(crate) fn set_nagle(&mut self, now_ns: u64, is_on: bool) {
        self.sender.settle(now_ns);
        self.sender.set_nagle(is_on);
        self.collect(now_ns);
    }

    /// `TCP_CORK` is set.
    pub(crate) fn set_cork(&mut self, now_ns: u64, is_corked: bool) {
        self.sender.settle(now_ns);
        self.sender.set_cork(is_corked);
        self.collect(now_ns);
    }

    /// Something written is not acknowledged.
    pub(crate) fn is_busy(&self) -> bool {
        !self.sender.is_finished()
    }

    /// The application neither reads nor writes any more.
    pub(crate) fn abandon(&mut self) {
        self.is_abandoned = true;
        self.follow_close();
    }

    fn follow_close(&mut self) {
        if self.is_abandoned && self.sender.is_closed() {
            self.receiver.on_own_close();
        }
    }

    pub(crate) fn close(&mut self, now_ns: u64) {
        self.sender.settle(now_ns);
        self.sender.close();
        self.collect(now_ns);
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, now_ns: u64, packet: &PacketSpec) {
        self.note_option(packet);
        match self.phase {
            Phase::SynSent if packet.flags.syn && packet.flags.ack => {
                self.receive_syn_ack(now_ns, packet);
                let srtt_us = self.sender.sock().srtt_us >> 3;
                self.receiver.open(self.sender.agreed_ecn(), srtt_us);
                self.establish(now_ns, packet);
            }
            Phase::Established if packet.flags.syn && packet.flags.ack => {
                self.receive_syn_ack(now_ns, packet);
            }
            Phase::SynReceived if packet.flags.syn && !packet.flags.ack => {
                self.receive_syn(now_ns, packet);
            }
            Phase::SynReceived if packet.flags.ack && !packet.flags.syn => {
                let header = self.data_header(0, SegmentKind::HandshakeAck, packet);
                let header = DataHeader {
                    info: header.info.ace(packet.flags.ace()),
                    ..header
                };
                self.receiver
                    .on_packet(now_ns, &header, DATA_HEADER_BYTES, Ecn::NotEct);
                self.sender.open(
                    now_ns,
                    self.receiver.handshake_rtt_us(),
                    self.ack_header(packet).rwnd_bytes,
                    self.receiver.agreed_ecn(),
                );
                self.hear(now_ns, packet);
                self.establish(now_ns, packet);
            }
            Phase::Established if packet.flags.ack => self.hear(now_ns, packet),
            // RFC 9293 §3.10.7.4, "fifth": a segment without ACK is dropped.
            _ => {}
        }
        self.collect(now_ns);
    }

    /// The peer has shown that it has the AccECN option.
    fn note_option(&mut self, packet: &PacketSpec) {
        self.peer_has_option |= packet.accecn().is_some();
    }

    fn receive_syn_ack(&mut self, now_ns: u64, packet: &PacketSpec) {
        let header = AckHeader {
            info: AckInfo::new(AckKind::SynAck, 0).ece(packet.flags.ece),
            rwnd_bytes: packet.window.unwrap_or(0), // not scaled (RFC 7323 §2.2)
            ..self.ack_header(packet)
        };
        self.note_field(&header, packet);
        self.sender.on_ack(
            now_ns,
            &header,
            &self.feedback(packet, SackBlocks::default()),
        );
        self.peer_syn_ts_ms = header.ts_val_ms;
    }

    /// The ECN field of what only the sender receives.
    fn note_field(&mut self, header: &AckHeader, packet: &PacketSpec) {
        let ecn = ecn_field(packet.ecn.as_deref());
        self.sender_ce_pkts += u32::from(ecn == Ecn::Ce);
        self.sender.note_field(header, ecn);
    }

    fn establish(&mut self, now_ns: u64, packet: &PacketSpec) {
        self.phase = Phase::Established;
        self.last_data_ns = now_ns;
        self.last_window = packet.window.unwrap_or(0);
    }

    /// A packet on an established connection: its ACK, then its payload.
    fn hear(&mut self, now_ns: u64, packet: &PacketSpec) {
        let ack = packet.ack.unwrap_or(0);
        let is_pure = packet.payload_bytes == 0 && !packet.flags.fin;
        let window = packet.window.unwrap_or(self.last_window);
        // RFC 5681 §2: what carries data is no duplicate ACK.
        let is_news = self.acked_segments() < self.outbound.whole_below(ack)
            || !packet.sack().is_empty()
            || window != self.last_window;
        if is_pure || is_news {
            self.last_window = window;
            let header = self.ack_header(packet);
            if is_pure {
                self.note_field(&header, packet);
            }
            let mut said = self.sack_blocks(packet, ack);
            if self.is_established() {
                said = self.feedback(packet, said); // the handshake's ACE is no counter
            }
            self.sender.on_ack(now_ns, &header, &said);
            self.follow_close();
        }
        if is_pure {
            return;
        }
        self.last_data_ns = now_ns;
        self.is_ack_carried = false;
        let (first, end) = self.inbound.whole_within(packet.seq, packet.seq_end());
        let lens: Vec<u32> = (first..end)
            .map(|segment| self.inbound.start_of(segment + 1) - self.inbound.start_of(segment))
            .collect();
        // Where others begin or end in the middle of a packet it is several segments here, which arrive as one if all but
        // the last have one length.
        let before_last = lens.split_last().map_or(&[][..], |(_, others)| others);
        let is_one = before_last.windows(2).all(|pair| pair[0] == pair[1]);
        let mut segment = first;
        for lens in lens.chunks(if is_one { lens.len().max(1) } else { 1 }) {
            let next = segment + lens.len() as u32;
            self.hear_segments(now_ns, packet, segment, lens, next == end);
            segment = next;
        }
    }

    /// Segments of these lengths arrive as one packet, with the FIN if they are a packet's last and it has one.
    fn hear_segments(
        &mut self,
        now_ns: u64,
        packet: &PacketSpec,
        first: u32,
        lens: &[u32],
        is_last: bool,
    ) {
        let fin = is_last && packet.flags.fin;
        let (last_len, segments) = (lens[lens.len() - 1], lens.len() as u32);
        let kind = match (fin, last_len) {
            (false, _) => SegmentKind::Data,
            (true, 1) => SegmentKind::Fin,
            (true, _) => SegmentKind::LastData,
        };
        let header = DataHeader {
            offload: Offload::new(segments, lens[0]),
            ..self.data_header(first, kind, packet)
        };
        let payload_bytes = lens.iter().sum::<u32>() - u32::from(fin);
        let wire_bytes = payload_bytes + segments * DATA_HEADER_BYTES;
        let ecn = ecn_field(packet.ecn.as_deref());
        self.receiver.on_packet(now_ns, &header, wire_bytes, ecn);
    }

    fn acked_segments(&self) -> u32 {
        self.outbound.segments() - self.sender.outstanding_pkts()
    }

    /// Takes what both ends decided to send.
    fn collect(&mut self, now_ns: u64) {
        let acks: Vec<Packet<Segment>> = self.receiver.poll_transmit(&mut self.sacks).to_vec();
        let received = self.received_bytes() as u32 + u32::from(self.has_peer_fin());
        self.ack = self.ack.max(1 + received);
        for packet in &acks {
            if let Segment::Ack(header) = packet.header {
                self.ack = self.ack.max(self.inbound.start_of(header.ack));
            }
        }
        if self.phase != Phase::SynReceived {
            let packets: Vec<Packet<Segment>> = self.sender.poll_transmit(now_ns).to_vec();
            for packet in &packets {
                self.take_from_sender(now_ns, packet);
            }
        }
        for packet in &acks {
            self.take_from_receiver(now_ns, packet);
        }
    }
}
