//! Accurate ECN (RFC 9768) at the receiver: it counts what arrives and reports the counters.

use dumbbell_net::Ecn;

use crate::accecn::{
    ACE_CLASSIC_REQUEST, ACE_MASK, AccEcn, AccEcnFeedback, AccEcnOption, CE_PACKETS_START,
    COUNTER_MASK, ECT_BYTES_START, handshake_ace,
};
use crate::packet::{AckKind, DataHeader, SegmentKind};
use crate::receiver::Receiver;

/// CE packets after which an ACK is sent at once if data waits for one (RFC 9768 §3.2.2.5.1).
const CE_PACKETS_PER_ACK: u32 = 2;
/// ACKs in a row that have the option after the ECN field changed or was CE (Linux's
/// `accecn_opt_demand`).
const OPTIONS_PER_CHANGE: u8 = 2;
/// `tcp_ecn_option_beacon`: options per round trip (RFC 9768 §3.2.3.3).
const OPTIONS_PER_RTT: u64 = 3;
/// SACK blocks next to which the option has room in the 40 bytes, timestamps included.
const SACK_BLOCKS_WITH_OPTION: usize = 1;

/// The receiver's counters.
#[derive(Debug)]
pub(crate) struct AccEcnCounts {
    pub(crate) config: AccEcn,
    /// ECN field of the SYN.
    syn: Ecn,
    /// ECN field of the last packet with payload.
    last: Ecn,
    /// Packets with CE (Linux's `received_ce`).
    received_ce: u32,
    ce_since_ack: u32,
    ect0_bytes: u32,
    ect1_bytes: u32,
    ce_bytes: u32,
    options_due: u8,
    last_option_ns: u64,
}

impl AccEcnCounts {
    /// A SYN with this ECN field asked for Accurate ECN.
    pub(crate) fn new(config: AccEcn, syn: Ecn) -> Self {
        Self {
            config,
            syn,
            last: syn,
            received_ce: 0,
            ce_since_ack: 0,
            ect0_bytes: 0,
            ect1_bytes: 0,
            ce_bytes: 0,
            options_due: OPTIONS_PER_CHANGE,
            last_option_ns: 0,
        }
    }

    /// A packet that the receiver accepts; returns whether it is to be acknowledged at once.
    fn count(&mut self, ecn: Ecn, payload_bytes: u32) -> bool {
        let counter = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(&mut self.ect0_bytes),
            Ecn::Ect1 => Some(&mut self.ect1_bytes),
            Ecn::Ce => Some(&mut self.ce_bytes),
        };
        if let Some(bytes) = counter {
            *bytes = bytes.wrapping_add(payload_bytes);
        }
        let is_marked = ecn == Ecn::Ce;
        self.received_ce = self.received_ce.wrapping_add(u32::from(is_marked));
        self.ce_since_ack += u32::from(is_marked);
        let is_change = payload_bytes > 0 && ecn != self.last;
        if payload_bytes > 0 {
            self.last = ecn;
        }
        if is_change || is_marked {
            self.options_due = OPTIONS_PER_CHANGE;
        }
        is_change || self.ce_since_ack >= CE_PACKETS_PER_ACK
    }

    /// What a packet that leaves now says.
    fn report(&mut self, now_ns: u64, kind: AckKind, has_option: bool) -> AccEcnFeedback {
        let ace = if kind == AckKind::SynAck {
            handshake_ace(self.syn)
        } else {
            self.ce_since_ack = 0;
            (self.received_ce.wrapping_add(CE_PACKETS_START) & ACE_MASK) as u8
        };
        if has_option {
            self.options_due = self.options_due.saturating_sub(1);
            self.last_option_ns = now_ns;
        }
        AccEcnFeedback {
            ace,
            option: has_option.then_some(AccEcnOption {
                ect0_bytes: self.ect0_bytes.wrapping_add(ECT_BYTES_START) & COUNTER_MASK,
                ce_bytes: self.ce_bytes & COUNTER_MASK,
                ect1_bytes: self.ect1_bytes.wrapping_add(ECT_BYTES_START) & COUNTER_MASK,
            }),
        }
    }

    /// Whether an option is wanted now: after a change, and a few times per round trip.
    fn wants_option(&self, now_ns: u64, rtt_ns: u64) -> bool {
        self.config.option
            && (self.options_due > 0 || (now_ns - self.last_option_ns) * OPTIONS_PER_RTT >= rtt_ns)
    }
}

/// Whether a SYN with these flags asks for Accurate ECN (RFC 9768 §3.1.2: other combinations than
/// those of today's TCPs are for the future, and count as asking).
pub(crate) fn asks_for_accecn(ace: u8) -> bool {
    ace != 0 && ace != ACE_CLASSIC_REQUEST
}

impl Receiver {
    /// Counts the ECN field of a packet, if it is acceptable (RFC 9293 §3.10.7.4): one that is old is not.
    pub(crate) fn count_field(&mut self, header: &DataHeader, payload_bytes: u32, ecn: Ecn) {
        let is_handshake = matches!(header.kind(), SegmentKind::Syn | SegmentKind::WindowProbe);
        if is_handshake || header.seq < self.rcv_nxt {
            return;
        }
        if let Some(counts) = &mut self.ecn.accecn {
            self.ack_now |= counts.count(ecn, payload_bytes) && payload_bytes > 0;
        }
    }

    /// What a packet that leaves now says by Accurate ECN; `None` without it.
    pub(crate) fn accecn_feedback(
        &mut self,
        kind: AckKind,
        sack_blocks: usize,
    ) -> Option<AccEcnFeedback> {
        let (now_ns, rtt_ns) = (self.now_ns(), self.rtt_ns());
        let syn_acks = self.passive.syn_acks();
        let counts = self.ecn.accecn.as_mut()?;
        if kind == AckKind::SynAck && syn_acks > 2 {
            // RFC 9768 §3.1.4.2: the flags may be what keeps it from arriving.
            return Some(AccEcnFeedback::default());
        }
        let has_option = match kind {
            AckKind::SynAck => counts.config.option && syn_acks == 1,
            _ => sack_blocks <= SACK_BLOCKS_WITH_OPTION && counts.wants_option(now_ns, rtt_ns),
        };
        Some(counts.report(now_ns, kind, has_option))
    }

    /// Packets with CE that it has counted by Accurate ECN.
    pub fn accecn_ce_pkts(&self) -> u32 {
        self.ecn
            .accecn
            .as_ref()
            .map_or(0, |counts| counts.received_ce)
    }
}
