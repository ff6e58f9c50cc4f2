//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation, now in
//! draft-ietf-ccwg-bbr §4.1): how fast the path delivered what this ACK acknowledges.

use dumbbell_cc::{RateSample, Sock};

use crate::boundaries::Boundaries;
use crate::segments::{APP_LIMITED, EVER_RETRANS, SAMPLED, Segment, Segments};

/// What one ACK delivers, according to the most recently sent segment.
#[derive(Debug)]
pub struct RateSampler {
    prior_in_flight: u32,
    has_prior: bool,
    /// Number of that segment, for ties in send time.
    newest_seq: u32,
    newest: Segment,
}

/// What a sample measured: packets, µs; -1: nothing.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    delivered: i32,
    interval_us: i64,
    snd_interval_us: u32,
    rcv_interval_us: u32,
}

impl RateSampler {
    /// Before anything is delivered by an ACK, with `prior_in_flight` packets in flight.
    pub fn new(prior_in_flight: u32) -> Self {
        Self {
            prior_in_flight,
            has_prior: false,
            newest_seq: 0,
            newest: Segment::default(),
        }
    }

    /// Adds what kernels patched for BBRv2 and BBRv3 sample: the state of the connection when the
    /// segment left.
    pub(crate) fn add_transmit_state(&self, segments: &Segments, sock: &Sock, rs: &mut RateSample) {
        if self.has_prior {
            let state = segments.transmit_state(self.newest_seq);
            rs.prior_lost = state.lost;
            rs.tx_in_flight = state.in_flight;
            rs.lost = sock.lost.wrapping_sub(state.lost) as i32;
        }
    }

    /// A segment is delivered: the most recently sent one determines the ACK's sample.
    #[inline]
    pub fn on_delivered(&mut self, sock: &mut Sock, seq: u32, segment: &Segment) {
        if segment.has(SAMPLED) {
            return;
        }
        let is_newer = (segment.sent_us, seq) > (sock.first_tx_mstamp, self.newest_seq);
        if is_newer || !self.has_prior {
            self.has_prior = true;
            self.newest_seq = seq;
            self.newest = *segment;
            sock.first_tx_mstamp = segment.sent_us;
        }
    }

    /// Takes the ACK's sample, which the socket keeps if it is good; `delivered` packets were newly acknowledged.
    #[inline]
    pub fn measure(&self, sock: &mut Sock, delivered: u32) -> Measured {
        if sock.app_limited != 0 && sock.delivered > sock.app_limited {
            sock.app_limited = 0; // the bubble left the path
        }
        if delivered > 0 {
            sock.delivered_mstamp = sock.tcp_mstamp;
        }
        let mut measured = Measured {
            delivered: -1,
            interval_us: -1,
            snd_interval_us: 0,
            rcv_interval_us: 0,
        };
        if !self.has_prior {
            return measured;
        }
        let newest = &self.newest;
        measured.delivered = (sock.delivered - newest.delivered) as i32;
        // The slower of the send and the ACK phase: neither bursts nor ACK compression count.
        let send_us = newest.sent_us.saturating_sub(newest.first_tx_us) as i64;
        let ack_us = (sock.tcp_mstamp - newest.delivered_us) as i64;
        let interval_us = send_us.max(ack_us);
        measured.snd_interval_us = send_us as u32;
        measured.rcv_interval_us = ack_us as u32;
        if interval_us < i64::from(sock.min_rtt_us()) {
            return measured; // cannot be a round trip's worth
        }
        measured.interval_us = interval_us;
        let is_app_limited = newest.has(APP_LIMITED);
        let rate_is_higher = measured.delivered as u64 * u64::from(sock.rate_interval_us)
            >= u64::from(sock.rate_delivered) * interval_us as u64;
        if !is_app_limited || rate_is_higher {
            sock.rate_delivered = measured.delivered as u32;
            sock.rate_interval_us = interval_us as u32;
            sock.set_rate_app_limited(is_app_limited);
        }
        measured
    }

    /// The sample as the congestion control algorithm sees it: with the ACK's RTT, what it `acked`, and what it showed to be
    /// lost, packets.
    #[inline(always)]
    pub fn sample(
        &self,
        sock: &Sock,
        boundaries: &Boundaries,
        measured: Measured,
        rtt_us: Option<u32>,
        (acked, losses): (u32, u32),
    ) -> RateSample {
        // All zero without a segment.
        let newest = &self.newest;
        let (mut delivered_ce, mut last_end_seq) = (0, 0);
        if self.has_prior {
            delivered_ce = newest.delivered_ce.until(sock.delivered_ce) as i32;
            last_end_seq = boundaries.bytes_before(self.newest_seq + 1) as u32;
        }
        RateSample {
            prior_mstamp: newest.delivered_us,
            prior_delivered: newest.delivered,
            prior_delivered_ce: newest.delivered_ce.low_bits(),
            delivered: measured.delivered,
            delivered_ce,
            interval_us: measured.interval_us,
            snd_interval_us: measured.snd_interval_us,
            rcv_interval_us: measured.rcv_interval_us,
            rtt_us: rtt_us.map_or(-1, i64::from),
            losses: losses as i32,
            acked_sacked: acked,
            prior_in_flight: self.prior_in_flight,
            last_end_seq,
            is_app_limited: newest.has(APP_LIMITED),
            is_retrans: newest.has(EVER_RETRANS),
            ..RateSample::default()
        }
    }

    /// `delivered` when that segment left, packets; 0 without one.
    #[inline]
    pub fn delivered_at_sending(&self) -> u32 {
        self.newest.delivered
    }

    /// Whether RACK may adapt its window by this ACK: something was delivered.
    pub(crate) fn prior_delivered(&self) -> Option<u32> {
        self.has_prior.then_some(self.newest.delivered)
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_cc::{Instance, Request};

    use super::*;
    use crate::segments::DeliveredCe;

    /// A segment that left at 50 ms after a delivery at 40 ms is delivered at `now_us`, on a path
    /// of 100 ms: the sample, and the rate that the socket keeps.
    fn sample(now_us: u64) -> (RateSample, u32) {
        let request = Request {
            name: "reno".to_owned(),
            ..Request::default()
        };
        let instance = Instance::load(&request, 1).expect("reno is built in");
        let mut flow = instance.new_flow();
        let sock = &mut flow.sock;
        sock.rtt_min.samples[0] = (0, 100_000);
        sock.tcp_mstamp = now_us;
        sock.delivered = 7;
        let segment = Segment {
            sent_us: 50_000,
            first_tx_us: 45_000,
            delivered_us: 40_000,
            delivered: 5,
            delivered_ce: DeliveredCe::default(),
            flags: 0,
        };
        let mut sampler = RateSampler::new(3);
        sampler.on_delivered(sock, 9, &segment);
        let boundaries = Boundaries::new(1448);
        let measured = sampler.measure(sock, 2);
        let sample = sampler.sample(sock, &boundaries, measured, None, (2, 0));
        (sample, sock.rate_delivered)
    }

    /// draft-ietf-ccwg-bbr §4.1.2.3: no sample can span less than the minimum RTT.
    #[test]
    fn an_interval_below_min_rtt_is_discarded() {
        let (sample_ok, kept) = sample(140_000);
        assert_eq!(
            (sample_ok.interval_us, sample_ok.delivered, kept),
            (100_000, 2, 2)
        );
        let (too_short, kept) = sample(139_999);
        assert_eq!((too_short.interval_us, kept), (-1, 0));
    }
}
