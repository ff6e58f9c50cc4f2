//! The receiving endpoint: reassembly, SACK, D-SACK and Linux's delayed ACKs. Its part in handshake
//! and close is in `passive`.

use std::collections::BTreeMap;

use dumbbell_net::{Ecn, Packet};

use crate::accecn::OPTION_BYTES;
use crate::delayed_ack::DelayedAck;
use crate::ecn::EcnMode;
use crate::ecn_echo::EcnEcho;
use crate::gro::{Gro, Place};
use crate::outbox::Outbox;
use crate::packet::{AckHeader, AckInfo, AckKind, DATA_HEADER_BYTES, DataHeader, Segment};
use crate::passive::Passive;
use crate::reader::Reader;
use crate::reassembly::{Insertion, Reassembly};
use crate::receive_buffer::ReceiveBuffer;
use crate::receiver_rules::ReceiverRules;
use crate::sack_store::{SackBlock, SackBlocks, SackSlot, SackStore};
use crate::sender::Half;
use crate::timer_wheel::expiry_ns;

/// `tcp_comp_sack_delay_ns`: longest delay of SACKs beyond the third duplicate ACK, ns.
const COMPRESSED_SACK_DELAY_NS: u64 = 1_000_000;
/// `tcp_comp_sack_slack_ns`: by how much later the timer fires where no other lets it fire earlier, ns.
const COMPRESSED_SACK_SLACK_NS: u64 = 100_000;
/// `tcp_comp_sack_nr`: most SACKs compressed into one.
const COMPRESSED_SACK_PKTS: u32 = 44;
/// Duplicate ACKs sent at once, so that a sender without RACK sees three (RFC 5681 §3.2).
const DUP_ACK_THRESHOLD: u32 = 3;
/// `TCP_SACK_BLOCKS_EXPECTED`: blocks for which every ACK is sure to have room.
const SACK_BLOCKS_EXPECTED: usize = 2;

/// How a receiver acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// The flow it belongs to.
    pub flow: u32,
    /// The half it receives.
    pub half: Half,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Receive window, bytes.
    pub rwnd_bytes: u32,
    /// How its application reads.
    pub reader: Reader,
    /// Delay ACKs; off: one ACK per segment.
    pub delayed_ack: bool,
    /// Receive offload: how long a segment may wait for those that follow it, ns; 0: there is none.
    pub gro_ns: u64,
    /// The operating system whose rules it follows.
    pub rules: ReceiverRules,
    /// Segments it holds above a hole at most, as FreeBSD's `net.inet.tcp.reass.maxqueuelen`; `None`: as
    /// many as the window.
    pub ooo_limit_pkts: Option<u32>,
    /// The path's round trip as measured by the handshake, ns; bounds SACK compression. Linux's
    /// falls with the path's, using timestamps of later data; this one does not change.
    pub rtt_ns: u64,
    /// The tick of the host's timers, ns; 0: they are exact.
    pub tick_ns: u64,
    /// What it agrees to if the SYN requests it.
    pub ecn: EcnMode,
}

impl ReceiverConfig {
    /// Linux's defaults for a connection with segments of `mss_bytes` over a path of `rtt_ns`, whose window never limits.
    pub fn new(flow: u32, mss_bytes: u32, rtt_ns: u64) -> Self {
        Self {
            flow,
            half: Half::Only,
            mss_bytes,
            rwnd_bytes: u32::MAX,
            reader: Reader::PROMPT,
            delayed_ack: true,
            gro_ns: 0,
            rules: ReceiverRules::Linux,
            ooo_limit_pkts: None,
            rtt_ns,
            tick_ns: 0,
            ecn: EcnMode::Off,
        }
    }
}

/// What arrived, in packets and payload bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverCounters {
    /// Data packets, duplicates included.
    pub arrived_pkts: u64,
    /// Data packets marked CE.
    pub ce_pkts: u64,
    /// Data packets that had arrived before.
    pub duplicate_pkts: u64,
    /// Data packets above a hole that were dropped because enough were held.
    pub ooo_dropped_pkts: u64,
    /// Payload delivered to the application in order, bytes.
    pub received_bytes: u64,
}

impl ReceiverCounters {
    /// Adds another connection's.
    pub fn add(&mut self, other: &Self) {
        self.arrived_pkts += other.arrived_pkts;
        self.ce_pkts += other.ce_pkts;
        self.duplicate_pkts += other.duplicate_pkts;
        self.ooo_dropped_pkts += other.ooo_dropped_pkts;
        self.received_bytes += other.received_bytes;
    }
}

/// A TCP receiver whose application reads everything at once.
#[derive(Debug)]
pub struct Receiver {
    pub(crate) config: ReceiverConfig,
    pub(crate) passive: Passive,
    pub(crate) ecn: EcnEcho,
    now_ns: u64,
    pub(crate) rcv_nxt: u32,
    /// `rcv_nxt` of the last ACK sent.
    last_ack_sent: u32,
    pub(crate) held: Reassembly,
    /// Payload of the held segments that are not full, bytes.
    held_short: BTreeMap<u32, u32>,
    /// `received_bytes` at the last ACK sent (Linux's `rcv_wup`).
    acked_bytes: u64,
    delayed: DelayedAck,
    pub(crate) ts_recent_ms: u32,
    /// Identification of the last IP packet.
    ip_id: u16,
    pending_dsack: Option<SackBlock>,
    dup_ack_rcv_nxt: u32,
    dup_acks: u32,
    compressed_acks: u32,
    /// This packet is acknowledged at once.
    pub(crate) ack_now: bool,
    /// Deadline of the delayed ACK or of the compressed SACK, ns.
    pub(crate) ack_due_ns: u64,
    /// Whether it may have what few connections have: ECN, receive offload, a limited buffer, rules that are not
    /// today's Linux's; until it is open it may.
    has_options: bool,
    pub(crate) gro: Option<Box<Gro>>,
    /// When what receive offload holds goes up, ns; `u64::MAX`: nothing is held.
    pub(crate) flush_due_ns: u64,
    /// Where the segment that is received now stands.
    pub(crate) place: Place,
    /// What out-of-order data leave of the window, where they are counted.
    pub(crate) buffer: Option<Box<ReceiveBuffer>>,
    outbox: Outbox,
    /// SACK blocks of packets in `outbox`, with their positions.
    sacks: Vec<(usize, SackBlocks)>,
    counters: ReceiverCounters,
}

impl Receiver {
    /// A listening receiver.
    pub fn new(config: ReceiverConfig) -> Self {
        Self {
            config,
            passive: Passive::new(),
            ecn: EcnEcho::new(config.ecn),
            now_ns: 0,
            rcv_nxt: 0,
            last_ack_sent: 0,
            held: Reassembly::new(config.ooo_limit_pkts, config.rules.sack_blocks()),
            held_short: BTreeMap::new(),
            acked_bytes: 0,
            delayed: DelayedAck::new(config.mss_bytes),
            ts_recent_ms: 0,
            ip_id: 0,
            pending_dsack: None,
            dup_ack_rcv_nxt: 0,
            dup_acks: 0,
            compressed_acks: 0,
            ack_now: false,
            ack_due_ns: u64::MAX,
            has_options: true,
            gro: Gro::new(config.gro_ns),
            flush_due_ns: u64::MAX,
            place: Place::Alone,
            buffer: None,
            outbox: Outbox::default(),
            sacks: Vec::new(),
            counters: ReceiverCounters::default(),
        }
    }

    /// The half it receives.
    pub(crate) fn half(&self) -> Half {
        self.config.half
    }

    /// This host sends data of the connection's other half at `now_ns`. In Linux that packet carries
    /// the ACK that is due; here it leaves as a packet of its own. A host that answers at once is
    /// taken to do so again: its ACKs wait for the answer (Linux's pingpong mode).
    /// [`Receiver::poll_transmit`] must follow.
    pub fn on_answer(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.delayed.on_answer(now_ns);
        if self.is_ack_delayed() {
            self.emit_ack();
        }
    }

    /// Counts of what arrived so far.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// When to call [`Receiver::on_timer`], ns; `u64::MAX`: never.
    #[inline]
    pub fn next_timer_ns(&self) -> u64 {
        (self.ack_due_ns.min(self.passive.due_ns)).min(self.flush_due_ns)
    }

    /// Whether [`Receiver::poll_transmit`] returns any.
    #[inline]
    pub fn has_packets(&self) -> bool {
        self.outbox.has_packets()
    }

    /// The ACKs that the last calls decided to send: at most one per call, two with DCTCP's
    /// feedback, and as many again where receive offload passes up what it held. Their SACK blocks go to `store`.
    #[inline]
    pub fn poll_transmit(&mut self, store: &mut SackStore) -> &[Packet<Segment>] {
        if !self.sacks.is_empty() {
            self.store_sacks(store);
        }
        self.outbox.fetch()
    }

    fn store_sacks(&mut self, store: &mut SackStore) {
        let waiting = self.outbox.waiting();
        for (position, blocks) in &self.sacks {
            if let Segment::Ack(header) = &mut waiting[*position].header {
                header.sack = store.keep(blocks);
            }
        }
        self.sacks.clear();
    }

    /// What the connection has is settled.
    pub(crate) fn settle_options(&mut self) {
        self.has_options = self.gro.is_some()
            || self.buffer.is_some()
            || self.ecn.is_ok
            || self.ecn.accecn.is_some()
            || self.config.rules == ReceiverRules::FreeBsd
            || !self.config.delayed_ack;
    }

    /// A packet arrives.
    pub fn on_packet(&mut self, now_ns: u64, header: &DataHeader, wire_bytes: u32, ecn: Ecn) {
        if self.is_plain(header) {
            self.receive_as::<true>(now_ns, header, wire_bytes, ecn);
        } else {
            self.on_any_packet(now_ns, header, wire_bytes, ecn);
        }
    }

    /// Whether nearly all packets are like it: a segment of data on an open connection without options.
    #[inline]
    fn is_plain(&self, header: &DataHeader) -> bool {
        !self.has_options && header.is_plain() && self.passive.is_open()
    }

    #[inline(never)]
    fn on_any_packet(&mut self, now_ns: u64, header: &DataHeader, wire_bytes: u32, ecn: Ecn) {
        if header.segments() > 1 {
            self.receive_super_packet(now_ns, header, wire_bytes, ecn);
        } else if self.gro.is_some() {
            self.coalesce(now_ns, header, wire_bytes, ecn);
        } else {
            self.receive(now_ns, header, wire_bytes, ecn);
        }
    }

    /// A packet reaches TCP.
    #[inline(never)]
    pub(crate) fn receive(&mut self, now_ns: u64, header: &DataHeader, wire_bytes: u32, ecn: Ecn) {
        self.receive_as::<false>(now_ns, header, wire_bytes, ecn);
    }

    /// Compiled twice: for packets that are plain most of it goes away.
    #[inline(always)]
    fn receive_as<const IS_PLAIN: bool>(
        &mut self,
        now_ns: u64,
        header: &DataHeader,
        wire_bytes: u32,
        ecn: Ecn,
    ) {
        self.now_ns = now_ns;
        if !IS_PLAIN && self.ecn.accecn.is_some() {
            self.count_field(header, wire_bytes.saturating_sub(DATA_HEADER_BYTES), ecn);
        }
        if !IS_PLAIN && !self.follow_connection(now_ns, header, ecn) {
            return;
        }
        // None: a FIN alone, which is received like a segment but not counted.
        let payload_bytes = wire_bytes - DATA_HEADER_BYTES;
        if IS_PLAIN || self.place == Place::Alone {
            self.count_arrival(payload_bytes, ecn);
        }
        if !IS_PLAIN {
            self.accept_cwr(header, payload_bytes);
        }
        if header.seq <= self.last_ack_sent {
            // RFC 7323 §4.3: only a segment that touches the last ACK may update ts_recent, never
            // backwards.
            self.ts_recent_ms = self.ts_recent_ms.max(header.ts_val_ms);
        }
        if !IS_PLAIN && let Some(buffer) = &mut self.buffer {
            buffer.on_data();
        }
        if header.seq == self.rcv_nxt {
            self.on_in_order::<IS_PLAIN>(now_ns, header, payload_bytes, ecn);
        } else if header.seq > self.rcv_nxt {
            self.check_mark::<IS_PLAIN>(ecn);
            self.on_out_of_order::<IS_PLAIN>(now_ns, header.seq, payload_bytes);
        } else {
            self.on_duplicate(header.seq, payload_bytes);
        }
    }

    #[inline]
    pub(crate) fn count_arrival(&mut self, payload_bytes: u32, ecn: Ecn) {
        self.counters.arrived_pkts += u64::from(payload_bytes > 0);
        self.counters.ce_pkts += u64::from(payload_bytes > 0 && ecn == Ecn::Ce);
    }

    /// A delayed ACK, a compressed SACK, an unacknowledged SYN-ACK or FIN, or what receive offload
    /// holds is due. The last may be received bytes.
    pub fn on_timer(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if now_ns >= self.flush_due_ns {
            self.flush(now_ns);
        } else if now_ns >= self.passive.due_ns {
            self.repeat(now_ns);
        } else if now_ns >= self.ack_due_ns {
            if self.compressed_acks == 0 {
                self.delayed.on_timeout();
            }
            self.emit_ack();
        }
    }

    #[inline(always)]
    fn on_in_order<const IS_PLAIN: bool>(
        &mut self,
        now_ns: u64,
        header: &DataHeader,
        payload_bytes: u32,
        ecn: Ecn,
    ) {
        let (seq, psh) = (header.seq, header.psh());
        self.counters.received_bytes += u64::from(payload_bytes);
        self.rcv_nxt += 1;
        if payload_bytes > 0 {
            let (rto_ns, rwnd_bytes) = (self.rto_ns(), self.config.rwnd_bytes);
            self.delayed
                .on_data(now_ns, payload_bytes, psh, rto_ns, rwnd_bytes);
            self.check_mark::<IS_PLAIN>(ecn);
        }
        let filled_gap = !self.held.is_empty();
        if filled_gap {
            self.rcv_nxt = self.held.advance(self.rcv_nxt);
            self.count_released(seq + 1);
        }
        if self.rcv_nxt == self.passive.fin_end {
            return self.on_fin(now_ns);
        }
        if filled_gap && self.held.is_empty() {
            // RFC 5681 §4.2: SHOULD acknowledge at once when a gap is filled.
            return self.emit_ack();
        }
        self.acknowledge::<IS_PLAIN>(now_ns);
    }

    #[inline(never)]
    fn on_out_of_order<const IS_PLAIN: bool>(&mut self, now_ns: u64, seq: u32, payload_bytes: u32) {
        let is_flushed = self.compressed_acks > 0 && self.flush_compressed_sack(seq);
        match self.held.insert(self.rcv_nxt, seq) {
            Insertion::Held => {
                if payload_bytes != self.config.mss_bytes {
                    self.held_short.insert(seq, payload_bytes);
                }
                if !is_flushed {
                    self.acknowledge::<IS_PLAIN>(now_ns);
                }
            }
            Insertion::Duplicate => self.on_duplicate(seq, payload_bytes),
            Insertion::Refused => self.on_refused(payload_bytes),
        }
    }

    /// A segment that moves back blocks beyond those for which an ACK is sure to have room, while no ACK has reported them:
    /// they are reported first, and the segment itself asks for no ACK (`tcp_sack_compress_send_ack`, from 5.8 on).
    #[cold]
    fn flush_compressed_sack(&mut self, seq: u32) -> bool {
        let is_new = !self.held.holds(self.rcv_nxt, seq);
        let flushes = is_new && self.held.place_of(seq) >= SACK_BLOCKS_EXPECTED;
        if flushes {
            self.emit_ack();
        }
        flushes
    }

    /// FreeBSD's `tcp_reass` drops it and sends an ACK at once that says nothing of it.
    #[cold]
    fn on_refused(&mut self, payload_bytes: u32) {
        self.counters.ooo_dropped_pkts += u64::from(payload_bytes > 0);
        self.emit_ack();
    }

    /// RFC 2883 §4: the duplicate is reported at once.
    fn on_duplicate(&mut self, seq: u32, payload_bytes: u32) {
        self.counters.duplicate_pkts += u64::from(payload_bytes > 0);
        if self.config.rules == ReceiverRules::FreeBsd {
            return self.emit_ack();
        }
        let end = seq + 1;
        // Those that came up together are reported together.
        let start = (self.pending_dsack)
            .filter(|block| block.end == seq)
            .map_or(seq, |block| block.start);
        self.pending_dsack = Some(SackBlock { start, end });
        self.delayed.on_duplicate(self.config.rwnd_bytes);
        self.emit_ack();
    }

    /// Counts what reassembly released from `from` up to `rcv_nxt`.
    fn count_released(&mut self, from: u32) {
        let mut bytes = u64::from(self.rcv_nxt - from) * u64::from(self.config.mss_bytes);
        while let Some(short) = self.held_short.first_entry()
            && *short.key() < self.rcv_nxt
        {
            bytes -= u64::from(self.config.mss_bytes - short.remove());
        }
        self.counters.received_bytes += bytes;
    }

    /// RTO of what this host would send, ns: Linux measures pauses by it.
    fn rto_ns(&self) -> u64 {
        u64::from(crate::rtt::RTO_MIN_US) * 1000 + self.config.rtt_ns
    }

    /// The next `quickacks` ACKs are not delayed.
    pub(crate) fn enter_quickack_mode(&mut self, quickacks: u32) {
        self.delayed.enter_quickack_mode(quickacks);
    }

    /// Decides between an ACK now, a delayed one and a compressed SACK.
    #[inline(always)]
    fn acknowledge<const IS_PLAIN: bool>(&mut self, now_ns: u64) {
        if !IS_PLAIN && self.place == Place::Inner {
            return;
        }
        if !IS_PLAIN && self.config.rules == ReceiverRules::FreeBsd {
            return self.acknowledge_as_freebsd(now_ns);
        }
        // RFC 5681 §4.2: at least every second full-sized segment.
        let unacked_bytes = self.counters.received_bytes - self.acked_bytes;
        let is_second = unacked_bytes > u64::from(self.delayed.mss_bytes);
        let has_read = self.config.reader.reads(self.counters.received_bytes);
        let mut is_due = is_second || self.delayed.is_quick(has_read) || self.ack_now;
        is_due |= !IS_PLAIN && !self.config.delayed_ack;
        if !is_due && self.held.is_empty() {
            let delay_ns = self.delayed.delay_ns();
            // An ACK that is about to leave anyway leaves at once.
            is_due = self.is_ack_delayed() && self.ack_due_ns <= now_ns + delay_ns / 4;
            if !is_due {
                let expiry_ns = expiry_ns(now_ns, delay_ns, self.config.tick_ns);
                self.ack_due_ns = self.ack_due_ns.min(expiry_ns);
                return;
            }
        }
        if is_due || !self.is_compressed(now_ns) {
            self.emit_as::<IS_PLAIN>(if IS_PLAIN {
                AckKind::Ack
            } else {
                self.passive.ack_kind()
            });
        }
    }

    /// RFC 5681 §4.2 wants an ACK for every out-of-order segment; Linux sends the first
    /// three at once and then compresses, because RACK needs no more. Returns whether this one waits.
    #[inline]
    fn is_compressed(&mut self, now_ns: u64) -> bool {
        if self.config.rules != ReceiverRules::Linux || self.compressed_acks >= COMPRESSED_SACK_PKTS
        {
            return false;
        }
        if self.dup_ack_rcv_nxt != self.rcv_nxt {
            self.dup_ack_rcv_nxt = self.rcv_nxt;
            self.dup_acks = 0;
        }
        if self.dup_acks < DUP_ACK_THRESHOLD {
            self.dup_acks += 1;
            return false;
        }
        self.compressed_acks += 1;
        let delay_ns =
            COMPRESSED_SACK_DELAY_NS.min(self.config.rtt_ns / 20) + COMPRESSED_SACK_SLACK_NS;
        self.ack_due_ns = self.ack_due_ns.min(now_ns + delay_ns);
        true
    }

    pub(crate) fn emit_ack(&mut self) {
        if self.place == Place::Inner {
            self.ack_now = true;
            return;
        }
        self.emit(self.passive.ack_kind());
    }

    /// Whether an in-order segment waits for its ACK.
    pub(crate) fn is_ack_delayed(&self) -> bool {
        self.ack_due_ns != u64::MAX && self.compressed_acks == 0
    }

    /// An ACK up to `ack`, with the ECN state of that time. It does not end the delay: another
    /// follows.
    pub(crate) fn flush_delayed_ack(&mut self, ack: u32) {
        self.send_ack::<false>(self.passive.ack_kind(), ack);
    }

    #[inline(never)]
    pub(crate) fn emit(&mut self, kind: AckKind) {
        self.emit_as::<false>(kind);
    }

    #[inline(always)]
    fn emit_as<const IS_PLAIN: bool>(&mut self, kind: AckKind) {
        self.send_ack::<IS_PLAIN>(kind, self.rcv_nxt);
        self.delayed.on_ack_sent();
        self.compressed_acks = 0;
        self.ack_now = false;
        self.ack_due_ns = u64::MAX;
        self.last_ack_sent = self.rcv_nxt;
        self.acked_bytes = self.counters.received_bytes;
    }

    #[inline(always)]
    fn send_ack<const IS_PLAIN: bool>(&mut self, kind: AckKind, ack: u32) {
        let sack_blocks = self.prepare_sack();
        let mut wire_bytes = AckHeader::wire_bytes(kind, sack_blocks);
        if !IS_PLAIN && self.ecn.accecn.is_some() {
            wire_bytes += self.add_feedback(kind, sack_blocks);
        }
        self.ip_id = self.ip_id.wrapping_add(1);
        let ece = match kind {
            _ if IS_PLAIN => false,
            AckKind::SynAck => self.ecn.is_ok && self.ecn.accecn.is_none(),
            _ => self.ecn.ece(),
        };
        let ecn = if IS_PLAIN {
            Ecn::NotEct
        } else {
            self.ecn.ecn_of_acks(kind)
        };
        let received_bytes = self.counters.received_bytes;
        let rwnd_bytes = match &mut self.buffer {
            Some(buffer) if !IS_PLAIN => buffer.offer(received_bytes, self.held.len()),
            _ => self.config.rwnd_bytes,
        };
        self.outbox.push(Packet {
            flow: self.config.flow,
            wire_bytes,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: Segment::Ack(AckHeader {
                ack,
                rwnd_bytes,
                ts_val_ms: (self.now_ns / 1_000_000) as u32,
                ts_ecr_ms: self.ts_recent_ms,
                sack: SackSlot::NONE, // until it is polled
                info: AckInfo::new(kind, self.ip_id)
                    .ece(ece)
                    .reverse(self.config.half == Half::Reverse),
            }),
        });
    }

    /// What Accurate ECN adds to the next ACK; returns the bytes that takes.
    fn add_feedback(&mut self, kind: AckKind, sack_blocks: usize) -> u32 {
        let Some(feedback) = self.accecn_feedback(kind, sack_blocks) else {
            return 0;
        };
        if sack_blocks == 0 {
            self.sacks
                .push((self.outbox.waiting().len(), SackBlocks::default()));
        }
        if let Some((_, blocks)) = self.sacks.last_mut() {
            *blocks = blocks.with_accecn(feedback);
        }
        if feedback.option.is_some() {
            OPTION_BYTES
        } else {
            0
        }
    }

    /// The clock of the last call, ns.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The path's round trip, ns.
    pub(crate) fn rtt_ns(&self) -> u64 {
        self.config.rtt_ns
    }

    /// The blocks of the next ACK; returns how many there are.
    #[inline(always)]
    fn prepare_sack(&mut self) -> usize {
        if self.pending_dsack.is_none() && self.held.has_no_blocks() {
            return 0;
        }
        self.queue_sack()
    }

    #[inline(never)]
    fn queue_sack(&mut self) -> usize {
        // Written where they are read from.
        let position = self.outbox.waiting().len();
        self.sacks.push((position, SackBlocks::default()));
        let Some((_, blocks)) = self.sacks.last_mut() else {
            return 0;
        };
        blocks.fill(self.pending_dsack.take(), self.held.blocks());
        blocks.all().len()
    }
}
