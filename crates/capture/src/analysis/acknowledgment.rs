//! What an acknowledgment reveals about the data that it acknowledges.

use super::flight::Flight;
use super::segment_ring::Segment;
use super::sequence::{MAX_WINDOW_BYTES, unwrap};
use crate::packet::SackBlocks;

/// The acknowledging part of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgment<'a> {
    pub(crate) now_ns: u64,
    pub(crate) ack: u32,
    pub(crate) sack: &'a SackBlocks,
    /// The echoed timestamp (TSecr).
    pub(crate) echoed: Option<u32>,
    /// Neither payload nor SYN, FIN or RST, and the window is unchanged.
    pub(crate) may_be_duplicate: bool,
}

/// RTT samples that an acknowledgment gave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Samples {
    /// RTT sample by Karn's algorithm.
    pub(crate) rtt_ns: Option<u64>,
    /// RTT sample by timestamps.
    pub(crate) rtt_ts_ns: Option<u64>,
}

impl Flight {
    /// An acknowledgment of this direction's data.
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgment<'_>) -> Samples {
        let offset = unwrap(self.highest, ack.ack);
        let mut samples = Samples::default();
        let is_plausible = offset >= self.floor
            && (offset <= self.highest || offset - self.highest <= MAX_WINDOW_BYTES);
        if !is_plausible {
            return samples;
        }
        if offset > self.highest {
            self.push_unseen(offset, ack.now_ns, None);
        }
        let mut is_delivery = false;
        if !self.has_ack || offset > self.acked {
            is_delivery = self.advance(offset, ack, &mut samples);
        } else if offset == self.acked && ack.may_be_duplicate && self.highest > self.acked {
            let is_of_probe = self.ring.front().is_some_and(Segment::is_probe);
            if !is_of_probe {
                self.on_duplicate_ack();
            }
        }
        if !ack.sack.as_slice().is_empty() {
            is_delivery |= self.on_sack(ack.ack, ack.sack, ack.now_ns);
        }
        if is_delivery {
            self.recovery.on_delivery();
            self.find_losses();
        }
        self.record_samples(&samples);
        samples
    }

    /// RFC 5681 §2: outstanding data, no payload, no SYN or FIN, the greatest ACK, the same
    /// window.
    fn on_duplicate_ack(&mut self) {
        self.dup_ack_run = self.dup_ack_run.saturating_add(1);
        self.dup_acks += 1;
        if self.dup_ack_run == super::recovery::DUP_THRESH {
            self.triple_dup_acks += 1;
        }
    }

    /// The cumulative ACK moves to `offset`; returns whether it acknowledged anything.
    #[inline]
    fn advance(&mut self, offset: u64, ack: &Acknowledgment<'_>, samples: &mut Samples) -> bool {
        self.has_ack = true;
        self.acked = offset;
        self.dup_ack_run = 0;
        let mut is_first = true;
        while let Some(segment) = self.ring.front().copied() {
            if segment.start >= offset {
                break;
            }
            if is_first {
                self.look_for_undo(&segment, ack);
            }
            self.sample_by_timestamp(&segment, ack, samples);
            self.on_acknowledged(&segment, offset, ack.now_ns, samples);
            is_first = false;
            if segment.end() > offset {
                self.trim_front(&segment, offset);
                break;
            }
            self.ring.pop();
            self.settle(&segment);
        }
        self.recovery.on_ack(offset);
        if !is_first {
            self.recovery.start_timer(ack.now_ns);
        }
        !is_first
    }

    /// Eifel detection: the segment at the left edge is the one whose arrival moved the edge, so
    /// the echo is of its timestamp (RFC 7323 §4.3).
    fn look_for_undo(&mut self, segment: &Segment, ack: &Acknowledgment<'_>) {
        if let Some(echoed) = ack.echoed.filter(|_| segment.transmissions > 1)
            && self
                .retransmissions
                .on_echo(segment.first_retransmission, echoed)
        {
            self.recovery.undo_timeout();
        }
    }

    /// One sample per ACK, of the first segment it newly acknowledges that carried the echoed
    /// timestamp when it was last sent.
    #[inline]
    fn sample_by_timestamp(
        &self,
        segment: &Segment,
        ack: &Acknowledgment<'_>,
        samples: &mut Samples,
    ) {
        let is_echoed = ack.echoed.is_some() && segment.timestamp() == ack.echoed;
        if samples.rtt_ts_ns.is_none() && is_echoed && !segment.is_unseen() && !segment.is_sacked()
        {
            samples.rtt_ts_ns = Some(ack.now_ns.saturating_sub(segment.sent_ns));
        }
    }

    /// A sample by Karn's algorithm: the ACK ends where the segment ends (or inside it, if the
    /// network card cuts it), it was sent once, and nothing before it was sent later.
    #[inline]
    fn on_acknowledged(
        &mut self,
        segment: &Segment,
        offset: u64,
        now_ns: u64,
        samples: &mut Samples,
    ) {
        if !segment.is_sacked() {
            self.sack.on_delivered(segment, now_ns, self.rtt_min_ns);
        }
        if segment.is_unseen() {
            return;
        }
        let is_cut = segment.end() > offset;
        let is_exact = segment.end() == offset || is_cut && segment.len > self.mss_bytes;
        if is_exact && segment.transmissions == 1 && segment.sent_ns >= self.acked_sent_ns {
            samples.rtt_ns = Some(now_ns.saturating_sub(segment.sent_ns));
        }
        self.acked_sent_ns = self.acked_sent_ns.max(segment.sent_ns);
    }

    /// Part of the first segment is acknowledged.
    fn trim_front(&mut self, segment: &Segment, offset: u64) {
        let bytes = offset - segment.start;
        self.sack.on_trim(segment, bytes);
        let before = segment.bytes_in_network(self.epoch);
        if segment.is_unseen() {
            self.missing.add(segment.start, offset);
        }
        self.ring.trim_front(offset);
        let after = self
            .ring
            .front()
            .map_or(0, |rest| rest.bytes_in_network(self.epoch));
        self.in_network_bytes = self.in_network_bytes - before + after;
    }

    #[inline]
    fn record_samples(&mut self, samples: &Samples) {
        if let Some(rtt_ns) = samples.rtt_ns {
            self.rtt.record(rtt_ns);
        }
        if let Some(rtt_ns) = samples.rtt_ns.or(samples.rtt_ts_ns) {
            self.estimate_rtt(rtt_ns);
        }
        if let Some(rtt_ns) = samples.rtt_ts_ns {
            self.rtt_ts.record(rtt_ns);
        }
    }

    /// Samples for the sender's timer and RACK: they include SACKed segments, as in Linux; those of
    /// the tables do not.
    #[inline]
    pub(super) fn estimate_rtt(&mut self, rtt_ns: u64) {
        self.rtt_min_ns = match self.rtt_min_ns {
            0 => rtt_ns,
            least => least.min(rtt_ns),
        };
        self.estimator.record(rtt_ns);
    }
}
