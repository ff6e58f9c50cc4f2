//! What a direction has sent and what is still in flight: the sequence space as captured, from
//! which everything about retransmissions and in-flight follows.

use super::inflight::TimeWeighted;
use super::missing::MissingRanges;
use super::recovery::Recovery;
use super::retransmission::{RetransmissionKind, RetransmissionLog};
use super::rtt::{Distribution, RttEstimator, RttSummary};
use super::sack::SackState;
use super::segment_ring::{Segment, SegmentRing};
use super::sequence::{MAX_WINDOW_BYTES, first_offset, unwrap};
use crate::series::BinSeries;

/// A packet that takes sequence numbers: payload or FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) now_ns: u64,
    /// Sequence number of the first payload byte.
    pub(crate) seq: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) is_fin: bool,
    pub(crate) tsval: Option<u32>,
    /// Sent to learn whether a closed window has opened.
    pub(crate) is_probe: bool,
}

/// What such a packet was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentOutcome {
    /// Payload never seen before.
    pub(crate) unique_bytes: u64,
    /// Some of it (payload or FIN) had been seen: a retransmission.
    pub(crate) retransmission: Option<RetransmissionKind>,
    /// None of it had been seen, although something after it had.
    pub(crate) is_out_of_order: bool,
    /// Out of order, and sent later than its neighbours: its original was lost before the capture
    /// point.
    pub(crate) is_of_unseen_original: bool,
}

/// The data of a direction.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) ring: SegmentRing,
    /// End of what was sent, a FIN included.
    pub(crate) highest: u64,
    /// Everything below is acknowledged.
    pub(crate) acked: u64,
    /// Whether an ACK has been seen.
    pub(crate) has_ack: bool,
    /// End of the payload that the capture has seen; an ACK may be captured before its data.
    seen_end: u64,
    /// No sequence number can be below: the SYN announced it.
    pub(crate) floor: u64,
    pub(super) fin: Option<u64>,
    pub(crate) missing: MissingRanges,
    pub(crate) retransmissions: RetransmissionLog,
    pub(crate) recovery: Recovery,
    pub(crate) sack: SackState,
    /// Bytes of `ring` that are in the network as far as the sender knows (RFC 6675's pipe).
    pub(crate) in_network_bytes: u64,
    /// Counts timeouts: what was sent before the last one counts as lost.
    pub(crate) epoch: u32,
    /// Payload of a full packet.
    pub(crate) mss_bytes: u32,
    /// Its upper bound, from the other side's option.
    mss_limit_bytes: u32,
    /// From the capture to the sender and back, by the handshake.
    pub(crate) near_rtt_ns: u64,
    /// Offset of the first byte.
    origin: u64,
    pub(crate) estimator: RttEstimator,
    /// Smallest RTT sample, 0 without one.
    pub(crate) rtt_min_ns: u64,
    pub(crate) rtt: Distribution,
    pub(crate) rtt_ts: RttSummary,
    /// Latest sending of anything acknowledged so far.
    pub(crate) acked_sent_ns: u64,
    pub(crate) dup_ack_run: u32,
    pub(crate) dup_acks: u64,
    pub(crate) triple_dup_acks: u64,
    pub(crate) inflight: TimeWeighted,
    pub(crate) inflight_sack: TimeWeighted,
    /// How often the sequence numbers jumped further than any window.
    pub(crate) jumps: u32,
    /// Whether segments were given up to save memory.
    pub(crate) is_forgetful: bool,
    pub(crate) series: BinSeries,
}

/// The start of a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlightStart {
    /// First sequence number of payload: after the SYN, or the first one seen.
    pub(crate) seq: u32,
    /// Whether that follows from a SYN.
    pub(crate) is_from_syn: bool,
    /// Whether there was a SYN, which announced other sequence numbers.
    pub(crate) is_unannounced: bool,
    /// Acknowledgment number that the other side has sent.
    pub(crate) acked: Option<u32>,
    /// RTT sample of the SYN.
    pub(crate) syn_rtt_ns: Option<u64>,
    /// The same, of the other side's SYN.
    pub(crate) near_rtt_ns: Option<u64>,
    /// Largest payload of a full packet, from the other side's option.
    pub(crate) mss_limit_bytes: u32,
    /// Whether both sides may use SACK; assumed if the SYNs were not seen.
    pub(crate) is_sack_permitted: bool,
}

impl Flight {
    /// Memory that it holds, without segments.
    #[inline]
    pub(crate) fn held_bytes(&self) -> usize {
        size_of::<Self>() + self.series.held_bytes() + self.rtt.held_bytes()
    }

    pub(crate) fn new(start: &FlightStart, series: BinSeries) -> Self {
        let first = first_offset(start.seq);
        let mut flight = Self {
            ring: SegmentRing::default(),
            highest: first,
            acked: first,
            has_ack: false,
            seen_end: first,
            floor: if start.is_from_syn { first } else { 0 },
            fin: None,
            missing: if start.is_from_syn {
                MissingRanges::default()
            } else {
                MissingRanges::before_capture(first, MAX_WINDOW_BYTES)
            },
            retransmissions: RetransmissionLog::default(),
            recovery: Recovery::default(),
            sack: SackState::new(start.is_sack_permitted),
            in_network_bytes: 0,
            epoch: 0,
            mss_bytes: 1,
            mss_limit_bytes: start.mss_limit_bytes,
            near_rtt_ns: start.near_rtt_ns.unwrap_or(0),
            origin: first,
            estimator: RttEstimator::default(),
            rtt_min_ns: start.syn_rtt_ns.unwrap_or(0),
            rtt: Distribution::default(),
            rtt_ts: RttSummary::default(),
            acked_sent_ns: 0,
            dup_ack_run: 0,
            dup_acks: 0,
            triple_dup_acks: 0,
            inflight: TimeWeighted::default(),
            inflight_sack: TimeWeighted::default(),
            jumps: u32::from(start.is_unannounced),
            is_forgetful: false,
            series,
        };
        if let Some(acked) = start.acked.map(|ack| unwrap(first, ack)) {
            flight.start_acknowledged(first, acked, start.is_from_syn);
        }
        if let Some(rtt_ns) = start.syn_rtt_ns {
            flight.estimator.record(rtt_ns);
            flight.rtt.record(rtt_ns);
        }
        flight
    }

    /// An ACK was seen before any data.
    fn start_acknowledged(&mut self, first: u64, acked: u64, is_from_syn: bool) {
        if acked > first + MAX_WINDOW_BYTES {
            return;
        }
        self.has_ack = true;
        // Data sent before the capture is in flight, up to a window.
        self.acked = acked.max(first - MAX_WINDOW_BYTES);
        if acked > first {
            self.highest = acked;
            if is_from_syn {
                self.missing.add(first, acked);
            } else {
                self.missing = MissingRanges::before_capture(acked, MAX_WINDOW_BYTES);
            }
        }
    }

    /// The lowest offset that the ring still holds.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.ring.front().map_or(self.highest, |first| first.start)
    }

    /// Cumulative in-flight: what was sent and not acknowledged, without a FIN.
    #[inline]
    pub(crate) fn inflight_bytes(&self) -> u64 {
        let end = match self.fin {
            Some(fin) if fin + 1 == self.highest => fin,
            _ => self.highest,
        };
        end.saturating_sub(self.acked)
    }

    /// Sequence number relative to the first byte, which is 1 (the SYN is 0).
    pub(crate) fn relative(&self, seq: u32) -> i64 {
        (unwrap(self.highest, seq) as i64)
            .wrapping_sub(self.origin as i64)
            .wrapping_add(1)
    }

    /// No more packets follow: frees memory that is not needed for the results.
    pub(crate) fn close(&mut self) {
        self.ring = SegmentRing::default();
        self.retransmissions.close();
        self.missing.close();
    }

    /// Whether an ACK has been seen.
    pub(crate) fn has_ack(&self) -> bool {
        self.has_ack
    }

    /// Number of segments held.
    #[inline]
    pub(crate) fn held_segments(&self) -> usize {
        self.ring.len()
    }

    /// A packet that takes sequence numbers.
    pub(crate) fn on_sent(&mut self, sent: &Sent) -> SentOutcome {
        let mut start = unwrap(self.highest, sent.seq);
        let is_announced = start + 1 >= self.floor;
        if start.abs_diff(self.highest) > MAX_WINDOW_BYTES || !is_announced {
            start = self.jump_to(start);
        }
        let end = start + u64::from(sent.payload_bytes);
        let mut outcome = SentOutcome::default();
        if sent.payload_bytes > 0 {
            self.on_payload(sent, start, end, &mut outcome);
        }
        if sent.is_fin {
            self.on_fin(sent, end, &mut outcome);
        }
        outcome
    }

    #[inline]
    fn on_payload(&mut self, sent: &Sent, start: u64, end: u64, outcome: &mut SentOutcome) {
        if sent.payload_bytes > self.mss_bytes {
            self.mss_bytes = sent.payload_bytes.min(self.mss_limit_bytes.max(1));
        }
        if start > self.highest {
            self.push_unseen(start, sent.now_ns, sent.tsval);
        }
        if start < self.highest && self.replaces_probe(sent, start) {
            // Nothing of it had been sent in earnest.
        } else if start < self.highest {
            outcome.unique_bytes = self.on_old(sent, start, end.min(self.highest), outcome);
            if outcome.unique_bytes < end.min(self.highest) - start {
                // A FIN that has been sent is sent again with it.
                let is_fin_old = sent.is_fin && self.fin == Some(end);
                let until = end.min(self.highest) + u64::from(is_fin_old);
                let kind = self.classify(sent, start, until);
                outcome.retransmission = Some(kind);
                self.send_again(sent, start, until, kind);
            }
        }
        if end > self.highest {
            let from = start.max(self.highest);
            outcome.unique_bytes += end - from;
            self.push_new(Segment::sent(
                from,
                (end - from) as u32,
                sent.now_ns,
                sent.tsval,
                self.epoch,
            ));
            if sent.is_probe {
                self.ring.mark_last_probe();
            }
        }
        self.seen_end = self.seen_end.max(end);
    }

    /// Whether a packet carries the byte of a window probe once more, now that the window is open: only then is it
    /// sent (RFC 9293 §3.8.6.1).
    fn replaces_probe(&mut self, sent: &Sent, start: u64) -> bool {
        if sent.is_probe || start + 1 != self.highest {
            return false;
        }
        self.ring.send_last_probe(sent.now_ns, sent.tsval)
    }

    #[inline]
    pub(super) fn push_new(&mut self, segment: Segment) {
        if self.ring.len() == 0 || self.is_probe_of_new_data(segment.sent_ns) {
            self.recovery.start_timer(segment.sent_ns);
        }
        self.highest = segment.end();
        self.in_network_bytes += segment.bytes_in_network(self.epoch);
        self.ring.push(segment);
    }

    /// The part of a packet that lies below the highest; returns its bytes not seen before.
    fn on_old(&mut self, sent: &Sent, start: u64, end: u64, outcome: &mut SentOutcome) -> u64 {
        let base = self.base();
        let mut unique_bytes = 0;
        if start < base {
            unique_bytes += self.missing.fill(start, end.min(base));
        }
        unique_bytes += self.fill_gaps(sent, start.max(base), end, outcome);
        outcome.is_out_of_order = unique_bytes == end - start && start < self.seen_end;
        outcome.is_of_unseen_original &= outcome.is_out_of_order;
        unique_bytes
    }

    /// Sequence numbers continue beyond any window: what was outstanding is forgotten. Returns the
    /// offset of `start` from now on; offsets never go back.
    fn jump_to(&mut self, start: u64) -> u64 {
        const LAP: u64 = 1 << 32;
        let start = if start < self.highest {
            start + LAP
        } else {
            start
        };
        self.jumps += 1;
        while self.ring.pop().is_some() {}
        self.in_network_bytes = 0;
        self.sack.forget();
        self.recovery = Recovery::default();
        self.highest = start;
        self.acked = start;
        self.fin = None;
        start
    }

    /// Splits, and updates the cursors into the ring; see [`SegmentRing::split`].
    pub(crate) fn split_at(&mut self, index: usize, offset: u64) -> usize {
        let (at, is_new) = self.ring.split(index, offset);
        if is_new {
            self.sack.on_insert(at);
        }
        at
    }

    /// Gives up the older half of what is held: it is treated as acknowledged, but not counted so.
    /// `is_reported` if that may change figures.
    pub(crate) fn forget_half(&mut self, is_reported: bool) {
        self.is_forgetful |= is_reported;
        for _ in 0..self.ring.len() / 2 {
            if let Some(segment) = self.ring.pop() {
                self.settle(&segment);
            }
        }
    }

    /// A segment leaves the ring.
    #[inline]
    pub(crate) fn settle(&mut self, segment: &Segment) {
        self.sack.on_pop(segment);
        self.in_network_bytes -= segment.bytes_in_network(self.epoch);
        if segment.is_unseen() && !segment.is_control() {
            self.missing.add(segment.start, segment.end());
        }
    }

    /// Records what is in flight now; unknown without a single ACK.
    #[inline]
    pub(crate) fn record_inflight(&mut self, now_ns: u64, since_ns: u64, window: Option<u64>) {
        let inflight_bytes = self.inflight_bytes();
        self.inflight.set(now_ns, inflight_bytes);
        self.inflight_sack.set(now_ns, self.in_network_bytes);
        let bin = self.series.at(since_ns);
        bin.inflight_bytes = inflight_bytes;
        bin.inflight_sack_bytes = self.in_network_bytes;
        bin.set_window(window);
    }
}
