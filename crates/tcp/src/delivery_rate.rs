//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation, now in
//! draft-ietf-ccwg-bbr §4.1): how fast the path delivered what this ACK acknowledges.

use dumbbell_cc::{RateSample, Sock};

use crate::segments::{APP_LIMITED, DeliveredCe, EVER_RETRANS, SAMPLED, Segment};

/// A sample under construction while one ACK is processed.
#[derive(Debug)]
pub(crate) struct RateSampler {
    pub(crate) sample: RateSample,
    has_prior: bool,
    prior_ce: DeliveredCe,
    /// Segment number of the newest-sent segment seen, for ties in send time.
    newest_seq: u32,
}

impl RateSampler {
    pub(crate) fn new(prior_in_flight: u32) -> Self {
        Self {
            sample: RateSample {
                prior_mstamp: 0,
                prior_delivered: 0,
                prior_delivered_ce: 0,
                delivered: -1,
                delivered_ce: 0,
                interval_us: -1,
                snd_interval_us: 0,
                rcv_interval_us: 0,
                rtt_us: -1,
                losses: 0,
                acked_sacked: 0,
                prior_in_flight,
                last_end_seq: 0,
                is_app_limited: false,
                is_retrans: false,
                is_ack_delayed: false,
            },
            has_prior: false,
            prior_ce: DeliveredCe::default(),
            newest_seq: 0,
        }
    }

    /// A segment is delivered: the one sent last speaks for the ACK.
    #[inline]
    pub(crate) fn on_delivered(&mut self, sock: &mut Sock, seq: u32, segment: &mut Segment) {
        if segment.has(SAMPLED) {
            return;
        }
        segment.flags |= SAMPLED;
        let sent_us = segment.sent_us;
        if self.has_prior && (sent_us, seq) <= (sock.first_tx_mstamp, self.newest_seq) {
            return;
        }
        self.has_prior = true;
        self.newest_seq = seq;
        let rs = &mut self.sample;
        rs.prior_delivered = segment.delivered;
        rs.prior_delivered_ce = segment.delivered_ce.low_bits();
        self.prior_ce = segment.delivered_ce;
        rs.prior_mstamp = segment.delivered_us;
        rs.is_app_limited = segment.has(APP_LIMITED);
        rs.is_retrans = segment.has(EVER_RETRANS);
        rs.last_end_seq = (seq + 1).wrapping_mul(sock.mss_cache);
        sock.first_tx_mstamp = sent_us;
        rs.interval_us = sent_us.saturating_sub(segment.first_tx_us) as i64;
    }

    /// Completes the sample with `delivered` packets newly acknowledged and `losses` newly lost.
    pub(crate) fn finish(&mut self, sock: &mut Sock, delivered: u32, losses: u32) {
        if sock.app_limited != 0 && sock.delivered > sock.app_limited {
            sock.app_limited = 0; // the bubble left the path
        }
        if delivered > 0 {
            sock.delivered_mstamp = sock.tcp_mstamp;
        }
        let rs = &mut self.sample;
        rs.acked_sacked = delivered;
        rs.losses = losses as i32;
        if !self.has_prior {
            rs.delivered = -1;
            rs.interval_us = -1;
            return;
        }
        rs.delivered = (sock.delivered - rs.prior_delivered) as i32;
        rs.delivered_ce = self.prior_ce.until(sock.delivered_ce) as i32;
        // The slower of the send and the ACK phase: neither bursts nor ACK compression count.
        let send_us = rs.interval_us;
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

    /// Whether RACK may adapt its window by this ACK: something was delivered.
    pub(crate) fn prior_delivered(&self) -> Option<u32> {
        self.has_prior.then_some(self.sample.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_cc::{Instance, Request};

    use super::*;

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
        let mut segment = Segment {
            sent_us: 50_000,
            first_tx_us: 45_000,
            delivered_us: 40_000,
            delivered: 5,
            delivered_ce: DeliveredCe::default(),
            flags: 0,
        };
        let mut sampler = RateSampler::new(3);
        sampler.on_delivered(sock, 9, &mut segment);
        sampler.finish(sock, 2, 0);
        (sampler.sample, sock.rate_delivered)
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
