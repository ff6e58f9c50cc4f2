//! Time series: rows taken at every sampling instant, and written to columns [`ROWS`] at a time.

use std::rc::Rc;

use dumbbell_cc::{Instance, Sock, TCP_INFINITE_SSTHRESH};
use dumbbell_net::{Link, LinkMeter};
use dumbbell_results::{
    FlowRow, FlowSamples, QueueSamples, StateSamples, TimeSeries, UNKNOWN, per_second,
};
use dumbbell_scenario::Scenario;
use dumbbell_tcp::{Segment, Sender};

use crate::applications::Applications;
use crate::endpoints::Endpoints;
use crate::quic_flow::QuicFlow;

/// Rows that wait to be written to columns: as many as a first cache holds with their states.
const ROWS: usize = 128;

/// Takes the samples of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    interval_ns: u64,
    /// Rows that are not in `flows` yet.
    rows: Vec<FlowRow>,
    /// For each group, the states that are not in `states` yet, row by row.
    raws: Vec<Vec<u64>>,
    flows: FlowSamples,
    states: Vec<StateSamples>,
    queue: QueueSamples,
}

impl Recorder {
    /// A recorder that will take a sample of each flow and link at the scenario's interval until its end.
    pub(crate) fn new(scenario: &Scenario, groups: &[(Rc<Instance>, usize)]) -> Self {
        let (interval_ns, end_ns) = (scenario.sample_interval_ns, scenario.duration_ns);
        // Room for all rows at once: it costs address space only until it is used.
        let samples = end_ns.checked_div(interval_ns).unwrap_or(0) as usize;
        let flows: usize = groups.iter().map(|(_, flows)| flows).sum();
        Self {
            interval_ns,
            rows: Vec::with_capacity(ROWS),
            raws: vec![Vec::new(); groups.len()],
            flows: FlowSamples::with_capacity(samples * flows),
            states: groups
                .iter()
                .map(|(instance, flows)| {
                    StateSamples::with_capacity(instance.name(), instance.series(), samples * flows)
                })
                .collect(),
            queue: QueueSamples::new(scenario),
        }
    }

    /// All that was sampled.
    pub(crate) fn into_series(mut self) -> TimeSeries {
        self.write();
        TimeSeries {
            flows: self.flows,
            queue: self.queue,
            states: self.states,
        }
    }

    /// Writes the rows that wait.
    fn write(&mut self) {
        self.flows.extend(&self.rows);
        self.rows.clear();
        for (state, raws) in self.states.iter_mut().zip(&mut self.raws) {
            state.extend(raws);
            raws.clear();
        }
    }

    /// Appends a row of a flow of `group`; returns the place of its state, zeros.
    #[inline]
    fn append(&mut self, group: u32, row: FlowRow) -> &mut [u64] {
        if self.rows.len() == ROWS {
            self.write();
        }
        self.rows.push(row);
        let (group, raws) = (group as usize, &mut self.raws[group as usize]);
        let place = raws.len();
        raws.resize(place + self.states[group].columns.len(), 0);
        &mut raws[place..]
    }

    /// Samples everything as it stands at `now_ns`.
    pub(crate) fn sample(
        &mut self,
        now_ns: u64,
        flows: &mut [Endpoints],
        applications: &mut Applications,
        links: &[Link<Segment>],
        meters: &mut [LinkMeter],
    ) {
        if applications.is_empty() {
            self.sample_transfers(now_ns, flows);
        } else {
            self.sample_by_group(now_ns, flows, applications);
        }
        for ((index, link), meter) in (0..).zip(links).zip(meters) {
            self.queue.sample((0, now_ns), index, link, meter);
        }
    }

    /// Appends a row per flow, in the order of their numbers: a group's flows are users or none is.
    fn sample_by_group(
        &mut self,
        now_ns: u64,
        flows: &mut [Endpoints],
        applications: &mut Applications,
    ) {
        let mut transfers = flows.chunk_by_mut(|a, b| a.group == b.group).peekable();
        let mut user = 0;
        for group in 0..self.states.len() as u32 {
            if let Some(flows) = transfers.next_if(|flows| flows[0].group == group) {
                self.sample_transfers(now_ns, flows);
            }
            while applications
                .users
                .get(user)
                .is_some_and(|it| it.group == group)
            {
                self.sample_user(now_ns, applications, user);
                user += 1;
            }
            let quic = applications.quic.flows.iter_mut();
            for flow in quic.filter(|flow| flow.group == group) {
                self.sample_quic(now_ns, flow);
            }
        }
    }

    /// Appends the row of a user, if it has started: sums over its connections, and for the rest the
    /// latest connection's state.
    fn sample_user(&mut self, now_ns: u64, applications: &mut Applications, index: usize) {
        let user = &applications.users[index];
        if !user.has_started {
            return;
        }
        let mut latest = None;
        let (mut cwnd_pkts, mut inflight_pkts, mut outstanding_pkts) = (0, 0, 0);
        let mut retransmitted_pkts = user.books.sent.retransmitted_pkts;
        let mut lost_pkts = user.books.sent.lost_pkts;
        for connection in applications.established(user) {
            let sender = &connection.data.sender;
            cwnd_pkts = u32::saturating_add(cwnd_pkts, sender.sock().snd_cwnd);
            inflight_pkts += sender.sock().packets_in_flight();
            outstanding_pkts += sender.outstanding_pkts();
            retransmitted_pkts += sender.counters().retransmitted_pkts;
            lost_pkts += sender.counters().lost_pkts;
            latest = Some(sender);
        }
        let latest = latest.map(LatestState::of);
        let user = &mut applications.users[index];
        user.latest = latest.unwrap_or_else(|| std::mem::take(&mut user.latest));
        let new_bits = (user.received_bytes - user.sampled_bytes) * 8;
        user.sampled_bytes = user.received_bytes;
        let latest = &user.latest;
        let row = FlowRow {
            time_us: (now_ns / 1000) as i64,
            flow: user.flow,
            cwnd_pkts,
            ssthresh_pkts: latest.ssthresh_pkts,
            inflight_pkts,
            outstanding_pkts,
            srtt_us: latest.srtt_us,
            rtt_us: user.latest_rtt_us.unwrap_or(UNKNOWN),
            min_rtt_us: latest.min_rtt_us,
            delivery_rate_bps: latest.delivery_rate_bps,
            goodput_bps: per_second(new_bits, self.interval_ns, 1_000_000_000),
            pacing_rate_bps: latest.pacing_rate_bps,
            retransmitted_pkts: retransmitted_pkts as u32,
            lost_pkts: lost_pkts as u32,
            ca_state: latest.ca_state,
        };
        let raws = self.append(user.group, row);
        for (raw, &value) in raws.iter_mut().zip(&latest.series) {
            *raw = value;
        }
    }

    /// Appends the row of a QUIC flow, from its handshake to the first sample that finds all acknowledged.
    fn sample_quic(&mut self, now_ns: u64, flow: &mut QuicFlow) {
        if !flow.is_established() || flow.has_ended {
            return;
        }
        flow.ask();
        flow.has_ended = flow.finished_ns.is_some();
        let received_bytes = flow.arrived.received_bytes;
        let new_bits =
            (received_bytes - std::mem::replace(&mut flow.sampled_bytes, received_bytes)) * 8;
        let state = &flow.state;
        let sock = flow.own_flow().map(|own| &own.sock);
        let row = FlowRow {
            time_us: (now_ns / 1000) as i64,
            flow: flow.flow,
            cwnd_pkts: flow.cwnd_pkts(),
            ssthresh_pkts: flow.ssthresh_pkts(),
            inflight_pkts: flow.inflight_pkts(),
            outstanding_pkts: flow.inflight_pkts(),
            srtt_us: state.srtt_us,
            rtt_us: state.latest_rtt_us,
            min_rtt_us: flow.rtt.min_us,
            delivery_rate_bps: sock.map_or(0, delivery_rate_bps),
            goodput_bps: per_second(new_bits, self.interval_ns, 1_000_000_000),
            pacing_rate_bps: state
                .pacing_rate
                .map_or(u64::MAX, |rate| rate.saturating_mul(8)),
            retransmitted_pkts: state.lost_pkts as u32,
            lost_pkts: state.lost_pkts as u32,
            ca_state: sock.map_or(0, |sock| sock.ca_state() as u8),
        };
        let raws = self.append(flow.group, row);
        match flow.own_flow() {
            Some(own) => own.read_series(|series, raw| raws[series] = raw),
            None => {
                for (raw, value) in raws.iter_mut().zip(dumbbell_quic::series_of(state)) {
                    *raw = value;
                }
            }
        }
    }

    /// Appends a row per flow that is one transfer and active: not before the handshake, nor after the first
    /// sample that finds both directions closed, whose row has what was received last.
    fn sample_transfers(&mut self, now_ns: u64, flows: &mut [Endpoints]) {
        for flow in flows {
            if flow.sender.is_established() && !flow.has_ended {
                self.sample_transfer(now_ns, flow);
            }
            flow.has_ended |= flow.sender.is_closed();
        }
    }

    fn sample_transfer(&mut self, now_ns: u64, flow: &mut Endpoints) {
        let received_bytes = flow.receiver.counters().received_bytes;
        let new_bits =
            (received_bytes - std::mem::replace(&mut flow.sampled_bytes, received_bytes)) * 8;
        let sender = &flow.sender;
        let (sock, counters) = (sender.sock(), sender.counters());
        let row = FlowRow {
            time_us: (now_ns / 1000) as i64,
            flow: flow.flow,
            cwnd_pkts: sock.snd_cwnd,
            ssthresh_pkts: sock.snd_ssthresh,
            inflight_pkts: sock.packets_in_flight(),
            outstanding_pkts: sender.outstanding_pkts(),
            srtt_us: sock.srtt_us >> 3,
            rtt_us: sender.latest_rtt_us(),
            min_rtt_us: sock.min_rtt_us(),
            delivery_rate_bps: delivery_rate_bps(sock),
            goodput_bps: per_second(new_bits, self.interval_ns, 1_000_000_000),
            pacing_rate_bps: sock.sk_pacing_rate.saturating_mul(8),
            retransmitted_pkts: counters.retransmitted_pkts as u32,
            lost_pkts: counters.lost_pkts as u32,
            ca_state: sock.ca_state() as u8,
        };
        let raws = self.append(flow.group, row);
        let cc = sender.congestion_control();
        cc.read_series(|series, raw| raws[series] = raw);
    }
}

fn delivery_rate_bps(sock: &Sock) -> u64 {
    let bits = u64::from(sock.rate_delivered) * u64::from(sock.mss_cache) * 8;
    per_second(bits, u64::from(sock.rate_interval_us), 1_000_000)
}

/// What a user's row has of its latest connection.
#[derive(Clone, Debug)]
pub(crate) struct LatestState {
    ssthresh_pkts: u32,
    srtt_us: u32,
    min_rtt_us: u32,
    delivery_rate_bps: u64,
    pacing_rate_bps: u64,
    ca_state: u8,
    /// The congestion control algorithm's series; none before the first connection.
    series: Vec<u64>,
}

impl Default for LatestState {
    /// Before the first connection.
    fn default() -> Self {
        Self {
            ssthresh_pkts: TCP_INFINITE_SSTHRESH,
            srtt_us: 0,
            min_rtt_us: 0,
            delivery_rate_bps: 0,
            pacing_rate_bps: u64::MAX,
            ca_state: 0,
            series: Vec::new(),
        }
    }
}

impl LatestState {
    fn of(sender: &Sender) -> Self {
        let (sock, cc) = (sender.sock(), sender.congestion_control());
        let mut series = vec![0; cc.instance().series().len()];
        cc.read_series(|index, raw| series[index] = raw);
        Self {
            ssthresh_pkts: sock.snd_ssthresh,
            srtt_us: sock.srtt_us >> 3,
            min_rtt_us: sock.min_rtt_us(),
            delivery_rate_bps: delivery_rate_bps(sock),
            pacing_rate_bps: sock.sk_pacing_rate.saturating_mul(8),
            ca_state: sock.ca_state() as u8,
            series,
        }
    }
}
