//! When a receiver acknowledges, and what its ACKs say: delayed ACKs, compressed SACKs, SACK and D-SACK, as in Linux.

use dumbbell_net::{Ecn, Packet};

use super::Receiver;
use crate::accecn::AccEcnOption;
use crate::accecn_receiver::option_bytes;
use crate::gro::Place;
use crate::packet::{AckHeader, AckInfo, AckKind, Segment};
use crate::receiver_rules::ReceiverRules;
use crate::sack_store::{SackBlocks, SackSlot};
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

impl Receiver {
    /// Decides between an ACK now, a delayed one and a compressed SACK.
    #[inline(always)]
    pub(crate) fn acknowledge<const IS_PLAIN: bool>(&mut self, now_ns: u64) {
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
        let has_ecn = !IS_PLAIN && !self.is_in_time_wait();
        let wire_bytes = if has_ecn && self.ecn.accecn.is_some() {
            self.add_feedback(kind, sack_blocks)
        } else {
            AckHeader::wire_bytes(kind, sack_blocks)
        };
        self.ip_id = self.ip_id.wrapping_add(1);
        let ece = match kind {
            _ if !has_ecn => false,
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

    /// Adds to the next ACK what Accurate ECN says; returns its wire bytes.
    fn add_feedback(&mut self, kind: AckKind, sack_blocks: usize) -> u32 {
        let reported = self.sacks.last().filter(|_| sack_blocks > 0);
        let duplicate = reported.and_then(|(_, blocks)| Some(blocks.dsack()?.start));
        let Some((feedback, kept)) = self.accecn_feedback(kind, sack_blocks, duplicate) else {
            return AckHeader::wire_bytes(kind, sack_blocks);
        };
        if sack_blocks == 0 {
            self.sacks
                .push((self.outbox.waiting().len(), SackBlocks::default()));
        }
        if let Some((_, blocks)) = self.sacks.last_mut() {
            *blocks = blocks.first(kept).with_accecn(feedback);
        }
        let of_option = |option: AccEcnOption| option_bytes(option.counters, kept);
        AckHeader::wire_bytes(kind, kept) + feedback.option.map_or(0, of_option)
    }

    /// A segment that moves back blocks beyond those for which an ACK is sure to have room, while no ACK has reported them:
    /// they are reported first, and the segment itself asks for no ACK (`tcp_sack_compress_send_ack`, from 5.8 on).
    #[cold]
    pub(super) fn flush_compressed_sack(&mut self, seq: u32) -> bool {
        let is_new = !self.held.holds(self.rcv_nxt, seq);
        let flushes = is_new && self.held.place_of(seq) >= SACK_BLOCKS_EXPECTED;
        if flushes {
            self.emit_ack();
        }
        flushes
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
