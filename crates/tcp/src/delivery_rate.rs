//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation, now in
//! draft-ietf-ccwg-bbr §4.1): how fast the path delivered what this ACK acknowledges.

use dumbbell_cc::{RateSample, Sock};

use crate::boundaries::Boundaries;
use crate::segments::{APP_LIMITED, EVER_RETRANS, SAMPLED, Segment, Segments};

/// What one ACK delivers, according to the most recently sent segment.
#[derive(Debug)]
pub(crate) struct RateSampler {
    prior_in_flight: u32,
    has_prior: bool,
    /// Number of that segment, for ties in send time.
    newest_seq: u32,
    newest: Segment,
}

impl RateSampler {
    pub(crate) fn new(prior_in_flight: u32) -> Self {
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
    pub(crate) fn on_delivered(&mut self, sock: &mut Sock, seq: u32, segment: &Segment) {
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

    /// The sample, with `delivered` packets newly acknowledged and `losses` newly lost.
    #[inline]
    pub(crate) fn finish(
        &self,
        sock: &mut Sock,
        boundaries: &Boundaries,
        delivered: u32,
        losses: u32,
        rtt_us: Option<u32>,
    ) -> RateSample {
        if sock.app_limited != 0 && sock.delivered > sock.app_limited {
            sock.app_limited = 0; // the bubble left the path
        }
        if delivered > 0 {
            sock.delivered_mstamp = sock.tcp_mstamp;
        }
        let mut rs = RateSample {
            delivered: -1,
            interval_us: -1,
            rtt_us: rtt_us.map_or(-1, i64::from),
            losses: losses as i32,
            acked_sacked: delivered,
            prior_in_flight: self.prior_in_flight,
            ..RateSample::default()
        };
        if self.has_prior {
            self.measure(sock, &mut rs);
            rs.last_end_seq = boundaries.bytes_before(self.newest_seq + 1) as u32;
        }
        rs
    }

    fn measure(&self, sock: &mut Sock, rs: &mut RateSample) {
        let newest = &self.newest;
        rs.prior_delivered = newest.delivered;
        rs.prior_delivered_ce = newest.delivered_ce.low_bits();
        rs.prior_mstamp = newest.delivered_us;
        rs.is_app_limited = newest.has(APP_LIMITED);
        rs.is_retrans = newest.has(EVER_RETRANS);
        rs.delivered = (sock.delivered - rs.prior_delivered) as i32;
        rs.delivered_ce = newest.delivered_ce.until(sock.delivered_ce) as i32;
        // The slower of the send and the ACK phase: neither bursts nor ACK compression count.
        let send_us = newest.sent_us.saturating_sub(newest.first_tx_us) as i64;
        let ack_us = (sock.tcp_mstamp - rs.prior_mstamp) as i64;
        rs.interval_us = send_us.max(ack_us);
        rs.snd_interval_us = send_us as u32;
        rs.rcv_interval_us = ack_us as u32;
        if rs.interval_us < i64::from(sock.min_rtt_us()) {
            rs.interval_us = -1; // cannot be a round trip's worth
            return;
        }
        let rate_is_higher = rs.delivered as u64 * u64::from(sock.rate_interval_us)
            >= u64::from(sock.rate_delivered) * rs.interval_us as u64;
        if !rs.is_app_limited || rate_is_higher {
            sock.rate_delivered = rs.delivered as u32;
            sock.rate_interval_us = rs.interval_us as u32;
            let limited = rs.is_app_limited;
            sock.set_rate_app_limited(limited);
        }
    }

    /// `delivered` when that segment left, packets; 0 without one.
    #[inline]
    pub(crate) fn delivered_at_sending(&self) -> u32 {
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
        let sample = sampler.finish(sock, &boundaries, 2, 0, None);
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
