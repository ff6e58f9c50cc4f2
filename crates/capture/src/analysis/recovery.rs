//! Infers why a sender retransmitted: documented heuristics on what the capture shows.
//!
//! In this order:
//! 1. During recovery from a timeout every retransmission belongs to it (RFC 6298 §5.4, RFC 6582
//!    §4): from the timeout until what had been sent by then is acknowledged.
//! 2. Evidence of loss was there: something sent later had been delivered (RFC 8985 §6.2), or
//!    duplicate ACKs had come (RFC 5681 §3.2; RFC 5827 with few packets outstanding), or a partial
//!    ACK in recovery (RFC 6582 §3.2). Then it is a fast retransmission, unless nothing had
//!    been delivered for a whole RTO: then it is a timeout.
//! 3. No evidence, and it is the last segment sent, the first such since anything was delivered: a
//!    tail loss probe (RFC 8985 §7.2), if SACK is in use, which it requires, and if it is not later than probes are.
//! 4. No evidence, and it is the oldest outstanding segment: a timeout, unless it is younger
//!    than a round trip.

use super::flight::{Flight, Sent};
use super::retransmission::RetransmissionKind;
use super::segment_ring::Segment;

/// Duplicate ACKs that stand for a loss (RFC 5681 §3.2, RFC 6675 §2 DupThresh).
pub(super) const DUP_THRESH: u32 = 3;

/// How long a receiver may delay an ACK, as RFC 8985 §7.2 has it for Linux, ns.
const MAX_ACK_DELAY_NS: u64 = 200_000_000;

/// State of a sender's loss recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recovery {
    /// End of what had been sent when fast recovery began.
    fast_until: Option<u64>,
    /// End of what had been sent when the last timeout expired.
    timeout_until: Option<u64>,
    /// Whether a tail loss probe was sent since anything was delivered.
    has_probed: bool,
    /// When the timer was last started: by a first transmission, a probe, an ACK that advances (RFC 6298
    /// §5.3), or a SACK of what was sent before the oldest segment was last sent (as in Linux:
    /// other SACKs would postpone the timeout of a lost retransmission).
    timer_start_ns: u64,
    /// Timeouts so far, without those of SYNs.
    pub(crate) rto_count: u64,
}

impl Recovery {
    #[inline]
    pub(super) fn start_timer(&mut self, now_ns: u64) {
        self.timer_start_ns = now_ns;
    }

    /// Something was acknowledged or SACKed.
    #[inline]
    pub(super) fn on_delivery(&mut self) {
        self.has_probed = false;
    }

    /// Everything below `acked` is acknowledged.
    #[inline]
    pub(super) fn on_ack(&mut self, acked: u64) {
        if self.fast_until.is_some_and(|until| acked >= until) {
            self.fast_until = None;
        }
        if self.timeout_until.is_some_and(|until| acked >= until) {
            self.timeout_until = None;
        }
    }

    /// The timeout was spurious (RFC 4015): no recovery is needed.
    pub(super) fn undo_timeout(&mut self) {
        self.timeout_until = None;
    }

    pub(super) fn is_fast(&self) -> bool {
        self.fast_until.is_some()
    }
}

impl Flight {
    /// Classifies a retransmission of `start..end`; enters recovery accordingly.
    pub(super) fn classify(&mut self, sent: &Sent, start: u64, end: u64) -> RetransmissionKind {
        if sent.is_probe {
            return RetransmissionKind::Unexplained;
        }
        let kind = self.kind_of(sent, start, end);
        match kind {
            RetransmissionKind::Fast if !self.recovery.is_fast() => {
                self.recovery.fast_until = Some(self.highest);
            }
            RetransmissionKind::Timeout if self.is_timer_expired(sent.now_ns) => {
                self.on_timeout(sent.now_ns);
            }
            RetransmissionKind::Timeout if self.recovery.timeout_until.is_none() => {
                self.on_timeout(sent.now_ns);
            }
            RetransmissionKind::Probe => self.recovery.has_probed = true,
            _ => {}
        }
        kind
    }

    fn kind_of(&self, sent: &Sent, start: u64, end: u64) -> RetransmissionKind {
        if self.recovery.timeout_until.is_some() {
            return RetransmissionKind::Timeout;
        }
        let first = self
            .ring
            .find(start.max(self.base()))
            .and_then(|index| self.ring.get(index));
        let Some(segment) = first.filter(|segment| segment.start < end) else {
            return self.kind_of_acknowledged();
        };
        let is_oldest = start <= self.acked;
        if self.has_evidence(segment, is_oldest) {
            return if is_oldest && self.is_timer_expired(sent.now_ns) {
                RetransmissionKind::Timeout
            } else {
                RetransmissionKind::Fast
            };
        }
        let is_round_trip_over =
            sent.now_ns.saturating_sub(segment.sent_ns) >= self.estimator.srtt_ns();
        let may_probe =
            self.sack.is_permitted && !self.recovery.is_fast() && !self.recovery.has_probed;
        if end >= self.highest
            && may_probe
            && is_round_trip_over
            && self.is_time_of_probe(segment, sent.now_ns)
        {
            RetransmissionKind::Probe
        } else if is_oldest && is_round_trip_over {
            RetransmissionKind::Timeout
        } else {
            RetransmissionKind::Unexplained
        }
    }

    /// Sent again although the capture has seen its ACK, as happens in captures away from the
    /// sender.
    fn kind_of_acknowledged(&self) -> RetransmissionKind {
        if self.recovery.is_fast() {
            RetransmissionKind::Fast
        } else {
            RetransmissionKind::Unexplained
        }
    }

    fn has_evidence(&self, segment: &Segment, is_oldest: bool) -> bool {
        if self.sack.is_overtaken(segment) {
            return true;
        }
        // Duplicate and partial ACKs refer to the oldest segment, and are answered once.
        if !is_oldest || segment.transmissions > 1 {
            return false;
        }
        let outstanding = u32::try_from(self.ring.len()).unwrap_or(u32::MAX);
        let threshold = DUP_THRESH.min(outstanding.saturating_sub(1).max(1));
        let is_partial_ack = self.recovery.is_fast() && !self.sack.is_permitted;
        self.dup_ack_run >= threshold || is_partial_ack
    }

    /// Whether new data are a tail loss probe: where there are any, the probe is of these (RFC 8985 §7.3), two round trips
    /// after the last packet or ACK; where one segment is out, the longest delay of an ACK later (§7.2). An eighth is for
    /// the estimate's error.
    pub(super) fn is_probe_of_new_data(&self, now_ns: u64) -> bool {
        let srtt_ns = self.estimator.srtt_ns();
        let segments = self.ring.len();
        let Some(last) = segments.checked_sub(1).and_then(|last| self.ring.get(last)) else {
            return false;
        };
        let is_alone = segments == 1;
        let earliest_ns =
            2 * (srtt_ns + self.near_rtt_ns) + if is_alone { MAX_ACK_DELAY_NS } else { 0 };
        let since_ns = last.sent_ns.max(self.recovery.timer_start_ns);
        (self.sack.is_permitted && srtt_ns > 0)
            && now_ns.saturating_sub(since_ns) >= earliest_ns - earliest_ns / 8
    }

    /// A probe is sent two round trips after the last packet or ACK, and the receiver's longest delay of an ACK; without
    /// a round trip after a second (RFC 8985 §7.2). An eighth is for the estimate's error.
    fn is_time_of_probe(&self, segment: &Segment, now_ns: u64) -> bool {
        let latest_ns = match self.estimator.srtt_ns() {
            0 => 1_000_000_000,
            srtt_ns => 2 * (srtt_ns + self.near_rtt_ns) + MAX_ACK_DELAY_NS,
        };
        let since_ns = segment.sent_ns.max(self.recovery.timer_start_ns);
        now_ns.saturating_sub(since_ns) <= latest_ns + latest_ns / 8
    }

    /// Nothing was delivered for an RTO, less an eighth for the estimate's error.
    fn is_timer_expired(&self, now_ns: u64) -> bool {
        let rto_ns = self.estimator.rto_ns();
        now_ns.saturating_sub(self.recovery.timer_start_ns) >= rto_ns - rto_ns / 8
    }

    /// Everything outstanding counts as lost (RFC 5681 §3.1, RFC 8985 §6.3).
    fn on_timeout(&mut self, now_ns: u64) {
        self.recovery.rto_count += 1;
        self.recovery.timeout_until = Some(self.highest);
        self.recovery.fast_until = None;
        self.recovery.start_timer(now_ns);
        self.epoch = self.epoch.wrapping_add(1);
        self.in_network_bytes = 0;
        self.sack.on_timeout(self.ring.len());
    }

    /// `start..end` is in the network once more.
    pub(super) fn send_again(
        &mut self,
        sent: &Sent,
        start: u64,
        end: u64,
        kind: RetransmissionKind,
    ) {
        let base = self.base();
        let number = self
            .retransmissions
            .push(start, end, sent.now_ns, sent.tsval, self.acked);
        if start < base {
            // Samples of what was sent before this and acknowledged after it would be too long.
            self.acked_sent_ns = self.acked_sent_ns.max(sent.now_ns);
        }
        let mut at = start.max(base);
        while at < end {
            let Some(index) = self.ring.find(at) else {
                return;
            };
            let index = self.split_at(index, at);
            self.split_at(index, end);
            at = self.repeat(index, sent, number, kind).max(at + 1);
        }
    }

    /// Segment `index` is sent again, unless it was first seen just now; returns its end.
    fn repeat(&mut self, index: usize, sent: &Sent, number: u32, kind: RetransmissionKind) -> u64 {
        let epoch = self.epoch;
        let Some(segment) = self.ring.get_mut(index) else {
            return u64::MAX;
        };
        let is_new = segment.transmissions == 1 && segment.sent_ns == sent.now_ns;
        if segment.is_unseen() || is_new {
            return segment.end();
        }
        let before = segment.bytes_in_network(epoch);
        if segment.transmissions == 1 {
            segment.first_retransmission = number;
        }
        segment.set_sent(sent.now_ns, sent.tsval);
        segment.transmissions = segment.transmissions.saturating_add(1);
        let others = if kind == RetransmissionKind::Probe && segment.epoch == epoch {
            segment.copies.min(1)
        } else {
            0
        };
        segment.epoch = epoch;
        segment.copies = if segment.is_sacked() || segment.is_control() {
            0
        } else {
            1 + others
        };
        self.in_network_bytes = self.in_network_bytes - before + segment.bytes_in_network(epoch);
        segment.end()
    }
}
