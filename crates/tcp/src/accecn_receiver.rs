//! Accurate ECN (RFC 9768) at the receiver: it counts what arrives and reports the counters.

use dumbbell_net::Ecn;

use crate::accecn::{
    ACE_CLASSIC_REQUEST, ACE_MASK, AccEcn, AccEcnCounters, AccEcnFeedback, AccEcnOption,
    CE_PACKETS_START, COUNTER_MASK, ECT_BYTES_START, OPTION_BASE_BYTES, OPTION_COUNTER_BYTES,
    handshake_ace,
};
use crate::packet::{AckKind, DataHeader, OPTIONS_BYTES, SegmentKind, sack_option_bytes};
use crate::receiver::Receiver;

/// CE packets after which an ACK is sent at once if data waits for one (RFC 9768 §3.2.2.5.1).
const CE_PACKETS_PER_ACK: u32 = 2;
/// SACK blocks that an ACK keeps next to an option that is needed; of more, one makes room for it (`tcp_options_fit_accecn`).
const SACK_BLOCKS_KEPT: usize = 2;
/// The two no-operations that align the SACK option, in which the end of this one has room, bytes.
const SACK_ALIGNMENT_BYTES: u32 = 2;

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
    /// Counters that have changed since the last option (Linux's `accecn_minlen`).
    needed: AccEcnCounters,
    /// The duplicate that the last option went with.
    option_duplicate: Option<u32>,
    /// The path clears or loses the flags: what this host sends is not ECN-capable (Linux's `TCP_ACCECN_ACE_FAIL_*`).
    pub(crate) is_bleached: bool,
    /// Options do not arrive (Linux's `TCP_ACCECN_OPT_FAIL_SEND`).
    loses_options: bool,
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
            needed: AccEcnCounters::None,
            is_bleached: false,
            option_duplicate: None,
            loses_options: false,
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
            self.needed = self.needed.max(AccEcnCounters::with(ecn));
        }
        is_change || self.ce_since_ack >= CE_PACKETS_PER_ACK
    }

    /// Another SYN arrived, with these flags and this ECN field, which the answer reports (Linux's `tcp_check_req`).
    pub(crate) fn note_syn(&mut self, ace: u8, syn: Ecn) {
        self.syn = syn;
        self.is_bleached |= ace == 0;
    }

    /// The handshake is over: with this ACE, which a path has cleared if it is 0 (RFC 9768 §3.2.2.1), and after that many
    /// SYN-ACKs, of which the third had no flags.
    pub(crate) fn finish_handshake(&mut self, ace: u8, syn_acks: u32) {
        self.is_bleached |= ace == 0 || syn_acks > 2;
    }

    /// A segment arrived that had arrived before. If the ACK that said so had an option and was lost, as the option
    /// may be why, none is sent any more (Linux's `tcp_rcv_spurious_retrans`).
    pub(crate) fn note_duplicate(&mut self, seq: u32) {
        self.loses_options |= self.option_duplicate == Some(seq);
    }

    /// What a packet that leaves now says.
    fn report(
        &mut self,
        kind: AckKind,
        counters: Option<AccEcnCounters>,
        duplicate: Option<u32>,
    ) -> AccEcnFeedback {
        let ace = if kind == AckKind::SynAck {
            handshake_ace(self.syn)
        } else {
            self.ce_since_ack = 0;
            (self.received_ce.wrapping_add(CE_PACKETS_START) & ACE_MASK) as u8
        };
        self.option_duplicate = duplicate.filter(|_| counters.is_some());
        AccEcnFeedback {
            ace,
            option: counters.map(|counters| self.option(counters)),
        }
    }

    fn option(&mut self, counters: AccEcnCounters) -> AccEcnOption {
        self.needed = AccEcnCounters::None;
        AccEcnOption {
            counters,
            ect0_bytes: self.ect0_bytes.wrapping_add(ECT_BYTES_START) & COUNTER_MASK,
            ce_bytes: self.ce_bytes & COUNTER_MASK,
            ect1_bytes: self.ect1_bytes.wrapping_add(ECT_BYTES_START) & COUNTER_MASK,
        }
    }

    /// What of the option an ACK has, whose options have that much room, and how many of its SACK blocks stay: as many
    /// counters as fit next to all blocks, if those that changed are among them; otherwise next to one block less, but not
    /// less than two; otherwise none (`tcp_options_fit_accecn`).
    fn fit(&self, room_bytes: u32, sack_blocks: usize) -> Option<(AccEcnCounters, usize)> {
        let fewest_blocks = sack_blocks.min(SACK_BLOCKS_KEPT);
        (fewest_blocks..=sack_blocks).rev().find_map(|blocks| {
            let left_bytes = room_bytes - sack_option_bytes(blocks);
            AccEcnCounters::MOST_FIRST
                .into_iter()
                .find(|&counters| option_bytes(counters, blocks) <= left_bytes)
                .filter(|&counters| counters >= self.needed)
                .map(|counters| (counters, blocks))
        })
    }

    /// Whether packets have the option: all in which it has room, as with Linux's default `tcp_ecn_option`, 2.
    fn has_options(&self) -> bool {
        self.config.option && !self.loses_options
    }
}

/// What the option adds to an ACK with that many SACK blocks, bytes: it is aligned to four.
pub(crate) fn option_bytes(counters: AccEcnCounters, sack_blocks: usize) -> u32 {
    let bytes = OPTION_BASE_BYTES + OPTION_COUNTER_BYTES * counters.count();
    let past = bytes % 4;
    if sack_blocks > 0 && past <= SACK_ALIGNMENT_BYTES {
        bytes - past
    } else {
        bytes.next_multiple_of(4)
    }
}

/// Whether a SYN with these flags asks for Accurate ECN (RFC 9768 §3.1.2: other combinations than
/// those of today's TCPs are for the future, and count as asking).
pub(crate) fn asks_for_accecn(ace: u8) -> bool {
    ace != 0 && ace != ACE_CLASSIC_REQUEST
}

impl Receiver {
    /// Counts the ECN field of a packet, if it is acceptable: in Linux one is not that ends before the last ACK sent
    /// (`tcp_sequence`).
    pub(crate) fn count_field(&mut self, header: &DataHeader, payload_bytes: u32, ecn: Ecn) {
        let is_handshake = matches!(header.kind(), SegmentKind::Syn | SegmentKind::WindowProbe);
        if is_handshake || header.seq + 1 < self.last_ack_sent {
            return;
        }
        if let Some(counts) = &mut self.ecn.accecn {
            self.ack_now |= counts.count(ecn, payload_bytes) && payload_bytes > 0;
        }
    }

    /// What a packet that leaves now says by Accurate ECN, of which `duplicate` is the segment that its D-SACK reports,
    /// and how many of its SACK blocks stay; `None` without it.
    pub(crate) fn accecn_feedback(
        &mut self,
        kind: AckKind,
        sack_blocks: usize,
        duplicate: Option<u32>,
    ) -> Option<(AccEcnFeedback, usize)> {
        let (syn_acks, room_bytes) = (self.passive.syn_acks(), self.option_room_bytes);
        let counts = self.ecn.accecn.as_mut()?;
        if kind == AckKind::SynAck && syn_acks > 2 {
            // RFC 9768 §3.1.4.2: the flags may be what keeps it from arriving.
            return Some((AccEcnFeedback::default(), sack_blocks));
        }
        let fitted = match kind {
            AckKind::SynAck => {
                (counts.config.option && syn_acks == 1).then_some((AccEcnCounters::All, 0))
            }
            _ if counts.has_options() => counts.fit(room_bytes, sack_blocks),
            _ => None,
        };
        let (counters, blocks) = fitted.map_or((None, sack_blocks), |(counters, blocks)| {
            (Some(counters), blocks)
        });
        Some((counts.report(kind, counters, duplicate), blocks))
    }

    /// The peer has no timestamps: its ACKs have more room.
    pub fn disable_timestamps(&mut self) {
        self.option_room_bytes = OPTIONS_BYTES;
    }

    /// The option of what the host sends now besides ACKs, which Linux puts on every packet.
    pub fn accecn_option(&mut self) -> Option<AccEcnOption> {
        let counts = self.ecn.accecn.as_mut()?;
        counts
            .has_options()
            .then(|| counts.option(AccEcnCounters::All))
    }

    /// Packets with CE that it has counted by Accurate ECN.
    pub fn accecn_ce_pkts(&self) -> u32 {
        self.ecn
            .accecn
            .as_ref()
            .map_or(0, |counts| counts.received_ce)
    }
}
