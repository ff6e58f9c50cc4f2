//! Time series: columns filled at every sampling instant.

use std::rc::Rc;

use dumbbell_cc::Instance;

use crate::bottleneck::Bottleneck;
use crate::endpoints::Endpoints;

/// Samples of all flows, row by row in time and flow order.
#[derive(Debug, Default)]
pub(crate) struct FlowSamples {
    pub(crate) time_us: Vec<i64>,
    pub(crate) flow: Vec<u32>,
    pub(crate) cwnd_pkts: Vec<u32>,
    pub(crate) ssthresh_pkts: Vec<u32>,
    pub(crate) inflight_pkts: Vec<u32>,
    pub(crate) outstanding_pkts: Vec<u32>,
    pub(crate) srtt_us: Vec<u32>,
    pub(crate) rtt_us: Vec<u32>,
    pub(crate) min_rtt_us: Vec<u32>,
    pub(crate) delivery_rate_bps: Vec<u64>,
    pub(crate) goodput_bps: Vec<u64>,
    pub(crate) pacing_rate_bps: Vec<u64>,
    pub(crate) retransmitted_pkts: Vec<u32>,
    pub(crate) lost_pkts: Vec<u32>,
    pub(crate) ca_state: Vec<u8>,
}

/// Samples of one group's private state: raw values, one column per series.
#[derive(Debug)]
pub(crate) struct StateSamples {
    pub(crate) instance: Rc<Instance>,
    pub(crate) time_us: Vec<i64>,
    pub(crate) flow: Vec<u32>,
    pub(crate) columns: Vec<Vec<u64>>,
}

/// Samples of the bottleneck.
#[derive(Debug, Default)]
pub(crate) struct QueueSamples {
    pub(crate) time_us: Vec<i64>,
    pub(crate) backlog_bytes: Vec<u64>,
    pub(crate) backlog_pkts: Vec<u32>,
    pub(crate) sojourn_us: Vec<u32>,
    pub(crate) forwarded_pkts: Vec<u64>,
    pub(crate) dropped_pkts: Vec<u64>,
}

/// Takes the samples of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    interval_ns: u64,
    pub(crate) flows: FlowSamples,
    pub(crate) states: Vec<StateSamples>,
    pub(crate) queue: QueueSamples,
    scratch: Vec<u64>,
}

impl Recorder {
    /// A recorder for `flows` flows whose groups run `instances`.
    pub(crate) fn new(interval_ns: u64, instances: &[Rc<Instance>]) -> Self {
        let states = instances
            .iter()
            .map(|instance| StateSamples {
                instance: Rc::clone(instance),
                time_us: Vec::new(),
                flow: Vec::new(),
                columns: vec![Vec::new(); instance.series().len()],
            })
            .collect();
        Self {
            interval_ns,
            flows: FlowSamples::default(),
            states,
            queue: QueueSamples::default(),
            scratch: Vec::new(),
        }
    }

    /// Samples everything as it stands at `now_ns`.
    pub(crate) fn sample(&mut self, now_ns: u64, flows: &mut [Endpoints], bottleneck: &Bottleneck) {
        let time_us = (now_ns / 1000) as i64;
        for (index, flow) in flows.iter_mut().enumerate() {
            if flow.sender.is_established() {
                self.sample_flow(time_us, index as u32, flow);
                self.sample_state(time_us, index as u32, flow);
            }
        }
        self.queue.time_us.push(time_us);
        self.queue.backlog_bytes.push(bottleneck.backlog_bytes());
        self.queue.backlog_pkts.push(bottleneck.backlog_pkts() as u32);
        self.queue.sojourn_us.push(bottleneck.last_sojourn_us);
        self.queue.forwarded_pkts.push(bottleneck.taken_pkts);
        self.queue.dropped_pkts.push(bottleneck.dropped_pkts);
    }

    fn sample_flow(&mut self, time_us: i64, index: u32, flow: &mut Endpoints) {
        let sock = flow.sender.sock();
        let counters = flow.sender.counters();
        let received_bytes = flow.receiver.counters().received_bytes;
        let new_bits = (received_bytes - flow.sampled_bytes) * 8;
        let rate_bits = u64::from(sock.rate_delivered) * u64::from(sock.mss_cache) * 8;
        let samples = &mut self.flows;
        samples.time_us.push(time_us);
        samples.flow.push(index);
        samples.cwnd_pkts.push(sock.snd_cwnd);
        samples.ssthresh_pkts.push(sock.snd_ssthresh);
        samples.inflight_pkts.push(sock.packets_in_flight());
        samples.outstanding_pkts.push(flow.sender.outstanding_pkts());
        samples.srtt_us.push(sock.srtt_us >> 3);
        samples.rtt_us.push(flow.sender.latest_rtt_us());
        samples.min_rtt_us.push(sock.min_rtt_us());
        samples.delivery_rate_bps.push(per_second(rate_bits, u64::from(sock.rate_interval_us), 1_000_000));
        samples.goodput_bps.push(per_second(new_bits, self.interval_ns, 1_000_000_000));
        samples.pacing_rate_bps.push(sock.sk_pacing_rate.saturating_mul(8));
        samples.retransmitted_pkts.push(counters.retransmitted_pkts as u32);
        samples.lost_pkts.push(counters.lost_pkts as u32);
        samples.ca_state.push(sock.ca_state() as u8);
        flow.sampled_bytes = received_bytes;
    }

    fn sample_state(&mut self, time_us: i64, index: u32, flow: &Endpoints) {
        let state = &mut self.states[flow.group as usize];
        if state.columns.is_empty() {
            return;
        }
        state.time_us.push(time_us);
        state.flow.push(index);
        self.scratch.clear();
        flow.sender.congestion_control().read_series(&mut self.scratch);
        for (column, &raw) in state.columns.iter_mut().zip(&self.scratch) {
            column.push(raw);
        }
    }
}

/// `amount` per `interval`, of which `per_s` make a second; 0 without an interval.
fn per_second(amount: u64, interval: u64, per_s: u64) -> u64 {
    (u128::from(amount) * u128::from(per_s)).checked_div(u128::from(interval)).unwrap_or(0) as u64
}
