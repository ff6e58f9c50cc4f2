//! A congestion control algorithm fed with hand-made delivery-rate samples, one ACK per round.
use dumbbell_cc::{Flow, RateSample};

use crate::ack_clock::{MSS_BYTES, no_sample, series};
use crate::common::load;

/// Round trip of the path, µs.
pub(crate) const RTT_US: u32 = 40_000;

/// A flow fed with hand-made samples, one ACK per round of `RTT_US`.
pub(crate) struct Rounds {
    pub(crate) flow: Flow,
}

impl Rounds {
    pub(crate) fn start(name: &str, params: &[(&str, i64)]) -> Self {
        let mut flow = load(name, params).new_flow();
        flow.sock.mss_cache = MSS_BYTES;
        flow.sock.snd_cwnd = 100;
        flow.sock.srtt_us = RTT_US << 3;
        flow.sock.rtt_min.samples = [(0, RTT_US); 3];
        flow.sock.packets_out = 50;
        let mut rounds = Self { flow };
        rounds.advance(1_000_000);
        rounds.flow.init();
        rounds
    }

    pub(crate) fn advance(&mut self, us: u64) {
        self.flow.sock.tcp_mstamp += us;
        self.flow.sock.tcp_clock_cache += 1000 * us;
        self.flow.sock.delivered_mstamp = self.flow.sock.tcp_mstamp;
    }

    /// A round in which `delivered` packets arrive and `lost` do not; `edit` can change the sample.
    pub(crate) fn round(&mut self, delivered: u32, lost: u32, edit: impl FnOnce(&mut RateSample)) {
        self.advance(u64::from(RTT_US));
        let sock = &mut self.flow.sock;
        let prior_delivered = sock.delivered;
        sock.delivered += delivered;
        sock.lost += lost;
        let mut rs = RateSample {
            prior_delivered,
            delivered: delivered as i32,
            interval_us: i64::from(RTT_US),
            rtt_us: i64::from(RTT_US),
            losses: lost as i32,
            acked_sacked: delivered,
            prior_in_flight: 50,
            ..no_sample()
        };
        edit(&mut rs);
        self.flow.cong_control(0, 0, &rs);
    }

    pub(crate) fn series(&self, name: &str) -> u64 {
        series(&self.flow, name)
    }
}

/// Bandwidth of `pkts` packets per round, bit/s.
pub(crate) fn bps(pkts: u32) -> f64 {
    f64::from(pkts * MSS_BYTES * 8) / (f64::from(RTT_US) * 1e-6)
}
