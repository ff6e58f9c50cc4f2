//! One Copa flow with hand-written ACKs.

use std::collections::BTreeMap;

use dumbbell_cc::{CaState, Flow, Instance, RateSample, Request};

/// TCP payload of a full segment with timestamps.
pub(crate) const MSS_BYTES: u32 = 1448;
/// Linux's initial window (RFC 6928).
pub(crate) const INIT_CWND: u32 = 10;
/// The round trip without queue.
pub(crate) const BASE_US: u64 = 40_000;

/// Every ACK decides, on its own RTT.
pub(crate) const PER_ACK: [(&str, i64); 2] = [("report_rtt_min_pct", 0), ("report_srtt_pct", 0)];
pub(crate) const DEFAULT_MODE_ONLY: (&str, i64) = ("mode_switching", 0);

pub(crate) fn copa(params: &[(&str, i64)]) -> Flow {
    let params: BTreeMap<_, _> = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    let request = Request {
        name: "copa".to_owned(),
        params,
    };
    Instance::load(&request, 1)
        .unwrap_or_else(|error| panic!("{error}"))
        .new_flow()
}

/// The content of one ACK.
#[derive(Clone, Copy)]
pub(crate) struct Ack {
    /// Packets newly acknowledged, cumulatively or by SACK.
    pub(crate) delivered: u32,
    pub(crate) rtt_us: u64,
    pub(crate) losses: i32,
    /// A sample too short for the path has none (`interval_us` is -1 then).
    pub(crate) has_rate_sample: bool,
}

impl Ack {
    pub(crate) fn of(delivered: u32, rtt_us: u64) -> Self {
        Self {
            delivered,
            rtt_us,
            losses: 0,
            has_rate_sample: true,
        }
    }

    pub(crate) fn with_losses(self, losses: i32) -> Self {
        Self { losses, ..self }
    }

    pub(crate) fn without_rate_sample(self) -> Self {
        Self {
            has_rate_sample: false,
            ..self
        }
    }
}

/// The end of the handshake.
pub(crate) fn start(flow: &mut Flow, now_us: u64) {
    set_clock(flow, now_us);
    flow.sock.mss_cache = MSS_BYTES;
    flow.sock.snd_cwnd = INIT_CWND;
    flow.init();
}

pub(crate) fn acknowledge(flow: &mut Flow, now_us: u64, ack: Ack) {
    set_clock(flow, now_us);
    flow.sock.delivered += ack.delivered;
    let rs = RateSample {
        prior_mstamp: now_us.saturating_sub(ack.rtt_us),
        prior_delivered: 0,
        prior_delivered_ce: 0,
        delivered: ack.delivered as i32,
        delivered_ce: 0,
        interval_us: if ack.has_rate_sample {
            ack.rtt_us as i64
        } else {
            -1
        },
        snd_interval_us: ack.rtt_us as u32,
        rcv_interval_us: ack.rtt_us as u32,
        rtt_us: ack.rtt_us as i64,
        losses: ack.losses,
        acked_sacked: ack.delivered,
        prior_in_flight: 0,
        last_end_seq: 0,
        is_app_limited: false,
        is_retrans: false,
        is_ack_delayed: false,
        ..RateSample::default()
    };
    flow.cong_control(0, 0, &rs);
}

fn set_clock(flow: &mut Flow, now_us: u64) {
    flow.sock.tcp_mstamp = now_us;
    flow.sock.tcp_clock_cache = now_us * 1000;
}

/// A series' value as reported.
pub(crate) fn series(flow: &Flow, name: &str) -> f64 {
    let declared = flow.instance().series();
    let index = declared
        .iter()
        .position(|series| series.name == name)
        .unwrap_or_else(|| panic!("copa has no series {name}"));
    let mut raw = Vec::new();
    flow.read_series(|_, value| raw.push(value));
    raw[index] as f64 * declared[index].mul as f64 / declared[index].div as f64
}

/// The label of a series' value.
pub(crate) fn state(flow: &Flow, name: &str) -> String {
    let value = series(flow, name) as usize;
    let declared = flow.instance().series();
    let series = declared
        .iter()
        .find(|series| series.name == name)
        .expect("series() found it");
    series.labels[value].clone()
}

/// A started flow and its clock.
pub(crate) struct Script {
    pub(crate) flow: Flow,
    pub(crate) now_us: u64,
}

impl Script {
    /// Starts at 1 s, so that nothing depends on a clock of zero.
    pub(crate) fn new(params: &[(&str, i64)]) -> Self {
        let mut flow = copa(params);
        let now_us = 1_000_000;
        start(&mut flow, now_us);
        Self { flow, now_us }
    }

    pub(crate) fn series(&self, name: &str) -> f64 {
        series(&self.flow, name)
    }

    pub(crate) fn mode(&self) -> String {
        state(&self.flow, "mode")
    }

    pub(crate) fn inv_delta(&self) -> f64 {
        self.series("inv_delta_pkts")
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.flow.sock.snd_cwnd
    }

    /// One ACK, `gap_us` after the previous one.
    pub(crate) fn ack(&mut self, gap_us: u64, ack: Ack) {
        self.now_us += gap_us;
        acknowledge(&mut self.flow, self.now_us, ack);
    }

    /// An ACK of one packet every ms until `duration_us` have passed.
    pub(crate) fn acks_for(&mut self, duration_us: u64, rtt_us: u64) {
        let end_us = self.now_us + duration_us;
        while self.now_us < end_us {
            self.ack(1000, Ack::of(1, rtt_us));
        }
    }

    /// One window acknowledged packet by packet, within one RTT.
    pub(crate) fn window(&mut self, rtt_us: u64) {
        let cwnd = u64::from(self.cwnd());
        for _ in 0..cwnd {
            self.ack(rtt_us / cwnd, Ack::of(1, rtt_us));
        }
    }

    /// Ends slow start at `cwnd_pkts` or more: ACKs without queue, then some behind a queue of
    /// `full_us`, which must be above the target.
    pub(crate) fn leave_slow_start_at(&mut self, cwnd_pkts: u32, full_us: u64) {
        while self.cwnd() < cwnd_pkts {
            self.ack(1000, Ack::of(1, BASE_US));
        }
        while self.series("slow_start") != 0.0 {
            self.ack(BASE_US, Ack::of(1, BASE_US + full_us));
        }
    }

    /// What the stack does at a retransmission timeout with nothing left in flight.
    pub(crate) fn retransmission_timeout(&mut self, gap_us: u64) {
        self.now_us += gap_us;
        set_clock(&mut self.flow, self.now_us);
        self.flow.sock.snd_cwnd = 1;
        self.flow.set_state(CaState::Loss);
    }
}
