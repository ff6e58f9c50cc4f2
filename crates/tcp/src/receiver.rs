//! The receiving endpoint: what arrives. When and how it acknowledges is in `acknowledge`, its part in handshake and
//! close in `passive`.

mod acknowledge;
mod config;
mod counters;

use std::collections::BTreeMap;

use dumbbell_net::{Ecn, Packet};

pub use self::config::ReceiverConfig;
pub use self::counters::ReceiverCounters;
use crate::delayed_ack::DelayedAck;
use crate::ecn_echo::EcnEcho;
use crate::gro::{Gro, Place};
use crate::outbox::Outbox;
use crate::packet::{DATA_HEADER_BYTES, DataHeader, OPTIONS_BYTES, Segment, TIMESTAMPS_BYTES};
use crate::passive::{Passive, State};
use crate::reassembly::{Insertion, Reassembly};
use crate::receive_buffer::ReceiveBuffer;
use crate::receiver_rules::ReceiverRules;
use crate::sack_store::{SackBlock, SackBlocks, SackStore};
use crate::sender::Half;

/// A TCP receiver whose application reads everything at once.
#[derive(Debug)]
pub struct Receiver {
    pub(crate) config: ReceiverConfig,
    pub(crate) passive: Passive,
    pub(crate) ecn: EcnEcho,
    pub(crate) now_ns: u64,
    pub(crate) rcv_nxt: u32,
    /// `rcv_nxt` of the last ACK sent.
    pub(crate) last_ack_sent: u32,
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
    /// Whether it is open and has nothing that few connections have; [`Receiver::open_for_data`] finds out.
    is_usual: bool,
    pub(crate) gro: Option<Box<Gro>>,
    /// When what receive offload holds goes up, ns; `u64::MAX`: nothing is held.
    pub(crate) flush_due_ns: u64,
    /// Where the segment that is received now stands.
    pub(crate) place: Place,
    /// What out-of-order data leave of the window, where they are counted.
    pub(crate) buffer: Option<Box<ReceiveBuffer>>,
    /// What SACK and AccECN options have room in, bytes.
    pub(crate) option_room_bytes: u32,
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
            is_usual: false,
            gro: Gro::new(config.gro_ns),
            flush_due_ns: u64::MAX,
            place: Place::Alone,
            buffer: None,
            option_room_bytes: OPTIONS_BYTES - TIMESTAMPS_BYTES,
            outbox: Outbox::default(),
            sacks: Vec::new(),
            counters: ReceiverCounters::default(),
        }
    }

    /// Asks for memory that the next packet will need beyond this one's own, which must be there already.
    #[inline]
    pub fn fetch_ahead(&self) {
        self.outbox.fetch_ahead();
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

    /// A packet arrives.
    pub fn on_packet(&mut self, now_ns: u64, header: &DataHeader, wire_bytes: u32, ecn: Ecn) {
        if self.is_plain(header) {
            self.receive_as::<true>(now_ns, header, wire_bytes, ecn);
        } else {
            self.on_any_packet(now_ns, header, wire_bytes, ecn);
        }
    }

    /// Both ends may send from now on. What few connections have is known by now: ECN, receive offload, a limited buffer,
    /// rules that are not today's Linux's.
    pub(crate) fn open_for_data(&mut self) {
        self.passive.state = State::Established;
        self.is_usual = self.has_no_options();
    }

    fn has_no_options(&self) -> bool {
        let config = &self.config;
        (config.delayed_ack && config.rules != ReceiverRules::FreeBsd)
            && (self.gro.is_none() && self.buffer.is_none())
            && !self.ecn.is_ok
    }

    /// Whether nearly all packets are like it: a segment of data on an open connection without options.
    #[inline]
    fn is_plain(&self, header: &DataHeader) -> bool {
        debug_assert!(
            !self.is_usual || self.has_no_options(),
            "set when it was open"
        );
        self.is_usual && header.is_plain() && self.passive.is_open()
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
                self.delayed.on_timeout(self.passive.rto_ns);
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
            let (rto_ns, rwnd_bytes) = (self.passive.rto_ns, self.config.rwnd_bytes);
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
        // Those that came up together are reported together; of two that are apart the first is (`tcp_dsack_extend`).
        let mut block = SackBlock {
            start: seq,
            end: seq + 1,
        };
        if let Some(pending) = self.pending_dsack {
            let end = if pending.end == seq {
                block.end
            } else {
                pending.end
            };
            block = SackBlock { end, ..pending };
        }
        self.pending_dsack = Some(block);
        if self.place == Place::Inner {
            return; // what follows may be new, and is answered as such
        }
        if seq < self.rcv_nxt
            && let Some(counts) = &mut self.ecn.accecn
        {
            counts.note_duplicate(seq);
        }
        self.delayed.on_duplicate(self.config.rwnd_bytes);
        self.emit_ack();
    }

    /// A FIN ends the reports of duplicates (`tcp_sack_reset`).
    pub(crate) fn forget_duplicate(&mut self) {
        self.pending_dsack = None;
    }

    /// The next ACK waits for an answer of this host.
    pub(crate) fn await_answer(&mut self) {
        self.delayed.await_answer();
    }

    /// Counts what reassembly released from `from` up to `rcv_nxt`.
    fn count_released(&mut self, from: u32) {
        let mut bytes = u64::from(self.rcv_nxt - from) * u64::from(self.config.mss_bytes);
        while let Some(short) = self.held_short.first_entry()
            && *short.key() < self.rcv_nxt
        {
            bytes = bytes + u64::from(short.remove()) - u64::from(self.config.mss_bytes);
        }
        self.counters.received_bytes += bytes;
    }

    /// This host has measured a round trip, by the handshake.
    pub(crate) fn note_rtt(&mut self, rtt_ns: u64) {
        self.passive.note_rtt(rtt_ns);
        self.delayed.note_rtt(rtt_ns);
    }

    /// The next `quickacks` ACKs are not delayed.
    pub(crate) fn enter_quickack_mode(&mut self, quickacks: u32) {
        self.delayed.enter_quickack_mode(quickacks);
    }
}
