//! Accurate ECN (RFC 9768) at the sender: how many of its packets were marked, from the receiver's
//! counters, also when ACKs were lost.

use dumbbell_net::Ecn;

use crate::accecn::{
    ACE_MASK, ACE_REQUEST, AccEcn, AccEcnCounters, AccEcnFeedback, AccEcnOption, CE_PACKETS_START,
    COUNTER_MASK, ECT_BYTES_START, handshake_ace, is_valid_transition, reported_field,
};
use crate::ecn::{ECN_MODES, EcnMode};
use crate::packet::{AckHeader, AckKind, SegmentKind};
use crate::sender::Sender;

/// Packets that must have been delivered, all of them sent with ECT, before counters that show none are
/// taken for a path that clears the ECN field: the default initial window.
const BLEACHED_PKTS: u32 = 10;

/// Linux's `ACK_COMP_THRESH`: if ACKs acknowledge more packets than this on average, one of many packets
/// is no sign that ACKs were lost.
const PKTS_PER_ACK: u32 = 4;
/// Binary places of that average, and of the weight of one ACK in it (Linux's `PKTS_ACKED_PREC`,
/// `PKTS_ACKED_WEIGHT`).
const AVERAGE_SHIFT: u32 = 6;

/// What the receiver's option has shown so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Options {
    /// None arrived: it is not sent, or removed on the way.
    NotSeen,
    /// Its counter of CE counts.
    Seen,
    /// The first was mangled: not used (RFC 9768 §3.2.3.2.1).
    Failed,
}

/// The sender's state.
#[derive(Debug)]
pub(crate) struct AccEcnSender {
    /// ECN field that the first SYN had.
    syn: Ecn,
    /// ECN field of the SYN-ACK.
    syn_ack: Ecn,
    /// The receiver's packets that arrived with CE.
    received_ce: u32,
    /// The path lets the ECN field pass.
    sends_ect: bool,
    /// The receiver's counter can be used.
    uses_ace: bool,
    has_checked_ace: bool,
    options: Options,
    /// Payload that arrived with CE, bytes.
    ce_bytes: u64,
    /// With ECT(0) and ECT(1), bytes.
    ect_bytes: [u64; 2],
    /// Moving average of packets that an ACK acknowledges, in 64ths.
    pkts_per_ack: u32,
}

impl AccEcnSender {
    pub(crate) fn new() -> Self {
        Self {
            syn: Ecn::NotEct,
            syn_ack: Ecn::NotEct,
            received_ce: 0,
            sends_ect: true,
            uses_ace: true,
            has_checked_ace: false,
            options: Options::NotSeen,
            ce_bytes: 0,
            ect_bytes: [0; 2],
            pkts_per_ack: 0,
        }
    }

    /// The handshake of the other half found that a path lets these fields pass.
    pub(crate) fn note_path(&mut self, ect: Ecn) {
        self.sends_ect &= ect != Ecn::NotEct;
    }

    /// Whether an ACK of this many packets may mean that others were lost, and the field has wrapped.
    fn may_have_wrapped(&mut self, delivered: u32) -> bool {
        if delivered > 0 {
            let sample = delivered << AVERAGE_SHIFT;
            self.pkts_per_ack = match self.pkts_per_ack {
                0 => sample,
                average => ((average << AVERAGE_SHIFT) - average + sample) >> AVERAGE_SHIFT,
            };
        }
        delivered > ACE_MASK && self.pkts_per_ack <= PKTS_PER_ACK << AVERAGE_SHIFT
    }

    /// Takes the option's counters; the counter of CE bytes is kept whole.
    fn take_option(&mut self, option: &AccEcnOption, delivered: u32) {
        if self.options == Options::NotSeen {
            let is_zeroed = option.ect0_bytes == 0 || option.ect1_bytes == 0;
            self.options = if is_zeroed {
                Options::Failed
            } else {
                Options::Seen
            };
        }
        if self.options == Options::Failed {
            return;
        }
        let [ect0_bytes, ect1_bytes] = &mut self.ect_bytes;
        let sent = [
            (ect1_bytes, option.ect1_bytes.wrapping_sub(ECT_BYTES_START)),
            (&mut self.ce_bytes, option.ce_bytes),
            (ect0_bytes, option.ect0_bytes.wrapping_sub(ECT_BYTES_START)),
        ];
        for (counter, reported) in sent.into_iter().take(option.counters.count() as usize) {
            let more = reported.wrapping_sub(*counter as u32) & COUNTER_MASK;
            if more <= COUNTER_MASK / 2 {
                *counter += u64::from(more); // otherwise it is older than the last
            }
        }
        let is_bleached = (option.ect0_bytes, option.ect1_bytes, self.ce_bytes)
            == (ECT_BYTES_START, ECT_BYTES_START, 0);
        if is_bleached && option.counters == AccEcnCounters::All && delivered > BLEACHED_PKTS {
            self.sends_ect = false; // RFC 9768 §3.2.2.3; the handshake may have had no ECT to test it
        }
    }
}

impl Sender {
    /// How Accurate ECN is used, if it was asked for.
    fn accecn_config(&self) -> AccEcn {
        match self.config.ecn {
            EcnMode::AccEcn(config) => config,
            _ => AccEcn::default(),
        }
    }

    /// ECN field and ACE of a packet that leaves now. As in Linux every packet of an open connection is
    /// ECN-capable: pure ACKs and retransmissions too, whose marks are counted like any other's.
    pub(crate) fn accecn_fields(&mut self, kind: SegmentKind) -> (Ecn, u8) {
        let config = self.accecn_config();
        if kind == SegmentKind::Syn {
            if self.asks_again_without_ecn() {
                return (Ecn::NotEct, 0);
            }
            let is_first = self.counters.syn_retransmits == 0;
            let ecn = if config.ect_on_syn && is_first {
                config.ect
            } else {
                Ecn::NotEct
            };
            self.accecn.syn = ecn;
            return (ecn, ACE_REQUEST);
        }
        let state = &self.accecn;
        let ecn = if state.sends_ect {
            config.ect
        } else {
            Ecn::NotEct
        };
        let ace = match kind {
            SegmentKind::HandshakeAck => handshake_ace(state.syn_ack),
            _ => (state.received_ce.wrapping_add(CE_PACKETS_START) & ACE_MASK) as u8,
        };
        (ecn, ace)
    }

    /// RFC 9768 §3.1.4.1: Accurate ECN is asked for once more when the first SYN is lost, then not.
    fn asks_again_without_ecn(&self) -> bool {
        self.counters.syn_retransmits > 1
    }

    /// The ECN field with which a packet of the receiver arrived; before [`Sender::on_ack`].
    #[inline]
    pub fn note_field(&mut self, ack: &AckHeader, ecn: Ecn) {
        if ecn != Ecn::NotEct {
            self.count_received(ack, ecn);
        }
    }

    fn count_received(&mut self, ack: &AckHeader, ecn: Ecn) {
        if ack.kind() == AckKind::SynAck {
            self.accecn.syn_ack = ecn;
        }
        self.accecn.received_ce += u32::from(ecn == Ecn::Ce);
    }

    /// The SYN-ACK answers a SYN that asked for Accurate ECN (RFC 9768 §3.1.2, table 2): the mode that
    /// the connection has then, as bits of `ecn_flags`.
    pub(crate) fn accecn_answer(
        &mut self,
        ack: &AckHeader,
        feedback: Option<&AccEcnFeedback>,
    ) -> u8 {
        let ace = match feedback {
            Some(feedback) => feedback.ace,
            None => u8::from(ack.ece()),
        };
        match ace {
            0b000 | 0b111 => 0,
            0b001 => ECN_MODES.classic,
            _ => {
                let is_bleached = reported_field(ace)
                    .is_some_and(|arrived| !is_valid_transition(self.accecn.syn, arrived));
                // RFC 9768 §3.2.2.3: the receiver still counts, but no packet is ECN-capable.
                self.accecn.sends_ect = !is_bleached;
                if let Some(option) = feedback.and_then(|feedback| feedback.option) {
                    self.accecn.take_option(&option, 0);
                }
                ECN_MODES.accurate
            }
        }
    }

    /// Counts the packets that an ACK newly reports as marked, of `delivered` that it newly acknowledges
    /// (Linux's `tcp_accecn_process`; RFC 9768 §3.2.2.5.2, appendix A). Returns whether there are any. An
    /// ACK that neither makes progress nor is newer may be an old one, whose counter is old.
    pub(crate) fn count_reported_ce(
        &mut self,
        feedback: &AccEcnFeedback,
        delivered: u32,
        is_newer: bool,
    ) -> bool {
        let state = &mut self.accecn;
        if !state.uses_ace || (delivered == 0 && !is_newer) {
            return false;
        }
        if !state.has_checked_ace {
            state.has_checked_ace = true;
            // The first three marked packets make it 0 too: then the option has counted them.
            let has_turned = feedback.option.is_some_and(|option| {
                option.counters >= AccEcnCounters::Ect1AndCe && option.ce_bytes > 0
            });
            if feedback.ace == 0 && !has_turned {
                // RFC 9768 §3.2.2.4: the path clears the flags, so marks would not be noticed.
                (state.uses_ace, state.sends_ect) = (false, false);
                return false;
            }
        }
        if let Some(option) = &feedback.option {
            state.take_option(option, self.cc.sock.delivered);
        }
        let known = self.cc.sock.delivered_ce;
        let reported = u32::from(feedback.ace).wrapping_sub(CE_PACKETS_START);
        let least = reported.wrapping_sub(known) & ACE_MASK;
        let may_have_wrapped = state.may_have_wrapped(delivered);
        let new = match state.options {
            Options::Seen => {
                // A marked packet has at most an MSS of marked payload: of the numbers that the field
                // allows, the first that is enough for all of it. What the option has not shown yet
                // is added when it does.
                let enough = state.ce_bytes.div_ceil(u64::from(self.config.mss_bytes)) as u32;
                let missing = enough.saturating_sub(known + least);
                least + missing.next_multiple_of(ACE_MASK + 1)
            }
            // RFC 9768 appendix A.2.1: the most that the field allows, if it may have wrapped.
            _ if may_have_wrapped => delivered - (delivered.wrapping_sub(least) & ACE_MASK),
            _ => least,
        };
        self.cc.sock.delivered_ce = known.wrapping_add(new);
        new > 0
    }

    /// Payload that the receiver's options report with ECT(0), ECT(1) and CE, bytes (TCP_INFO's `delivered_*_bytes`).
    pub fn accecn_bytes(&self) -> [u64; 3] {
        let [ect0_bytes, ect1_bytes] = self.accecn.ect_bytes;
        [ect0_bytes, ect1_bytes, self.accecn.ce_bytes]
    }

    /// Whether Accurate ECN found that the path clears the ECN field or the flags: packets are not
    /// ECN-capable any more.
    pub fn is_ecn_bleached(&self) -> bool {
        self.is_accurate() && !self.accecn.sends_ect
    }
}
