//! Time series: columns filled at every sampling instant.

use std::rc::Rc;

use dumbbell_cc::{Instance, Sock, TCP_INFINITE_SSTHRESH};
use dumbbell_net::{Link, LinkMeter};
use dumbbell_results::{FlowSamples, QueueSamples, StateSamples, TimeSeries, UNKNOWN, per_second};
use dumbbell_scenario::Scenario;
use dumbbell_tcp::{Segment, Sender};

use crate::applications::Applications;
use crate::endpoints::Endpoints;
use crate::quic_flow::QuicFlow;

/// Takes the samples of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    interval_ns: u64,
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
    pub(crate) fn into_series(self) -> TimeSeries {
        TimeSeries {
            flows: self.flows,
            queue: self.queue,
            states: self.states,
        }
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
        let (samples, latest) = (&mut self.flows, &user.latest);
        samples.time_us.push((now_ns / 1000) as i64);
        samples.flow.push(user.flow);
        samples.cwnd_pkts.push(cwnd_pkts);
        samples.ssthresh_pkts.push(latest.ssthresh_pkts);
        samples.inflight_pkts.push(inflight_pkts);
        samples.outstanding_pkts.push(outstanding_pkts);
        samples.srtt_us.push(latest.srtt_us);
        samples.rtt_us.push(user.latest_rtt_us.unwrap_or(UNKNOWN));
        samples.min_rtt_us.push(latest.min_rtt_us);
        samples.delivery_rate_bps.push(latest.delivery_rate_bps);
        let goodput_bps = per_second(new_bits, self.interval_ns, 1_000_000_000);
        samples.goodput_bps.push(goodput_bps);
        samples.pacing_rate_bps.push(latest.pacing_rate_bps);
        samples.retransmitted_pkts.push(retransmitted_pkts as u32);
        samples.lost_pkts.push(lost_pkts as u32);
        samples.ca_state.push(latest.ca_state);
        let columns = &mut self.states[user.group as usize].columns;
        for (series, column) in columns.iter_mut().enumerate() {
            column.push(latest.series.get(series).copied().unwrap_or(0));
        }
    }

    /// Appends the row of a QUIC flow, from its handshake to the first sample that finds all acknowledged.
    fn sample_quic(&mut self, now_ns: u64, flow: &mut QuicFlow) {
        if !flow.is_established() || flow.has_ended {
            return;
        }
        flow.has_ended = flow.finished_ns.is_some();
        let received_bytes = flow.arrived.received_bytes;
        let new_bits =
            (received_bytes - std::mem::replace(&mut flow.sampled_bytes, received_bytes)) * 8;
        let (samples, state) = (&mut self.flows, &flow.state);
        let sock = flow.own_flow().map(|own| &own.sock);
        samples.time_us.push((now_ns / 1000) as i64);
        samples.flow.push(flow.flow);
        samples.cwnd_pkts.push(flow.cwnd_pkts());
        samples.ssthresh_pkts.push(flow.ssthresh_pkts());
        samples.inflight_pkts.push(flow.inflight_pkts());
        samples.outstanding_pkts.push(flow.inflight_pkts());
        samples.srtt_us.push(state.srtt_us);
        samples.rtt_us.push(state.latest_rtt_us);
        samples.min_rtt_us.push(flow.rtt.min_us);
        samples
            .delivery_rate_bps
            .push(sock.map_or(0, delivery_rate_bps));
        let goodput_bps = per_second(new_bits, self.interval_ns, 1_000_000_000);
        samples.goodput_bps.push(goodput_bps);
        let pacing_rate = state
            .pacing_rate
            .map_or(u64::MAX, |rate| rate.saturating_mul(8));
        samples.pacing_rate_bps.push(pacing_rate);
        samples.retransmitted_pkts.push(state.lost_pkts as u32);
        samples.lost_pkts.push(state.lost_pkts as u32);
        samples
            .ca_state
            .push(sock.map_or(0, |sock| sock.ca_state() as u8));
        let columns = &mut self.states[flow.group as usize].columns;
        match flow.own_flow() {
            Some(own) => own.read_series(|series, raw| columns[series].push(raw)),
            None => {
                for (column, raw) in columns.iter_mut().zip(dumbbell_quic::series_of(state)) {
                    column.push(raw);
                }
            }
        }
    }

    /// Appends a row per flow that is one transfer and active.
    fn sample_transfers(&mut self, now_ns: u64, flows: &mut [Endpoints]) {
        // Not before the handshake, nor after the first sample that finds both directions closed: its
        // row has what was received last.
        let is_active = |flow: &Endpoints| flow.sender.is_established() && !flow.has_ended;
        let interval_ns = self.interval_ns;
        let active = flows.iter_mut().filter(|flow| is_active(flow));
        self.flows.goodput_bps.extend(active.map(|flow| {
            let received_bytes = flow.receiver.counters().received_bytes;
            let new_bits = (received_bytes - flow.sampled_bytes) * 8;
            flow.sampled_bytes = received_bytes;
            per_second(new_bits, interval_ns, 1_000_000_000)
        }));
        let mut active = Vec::with_capacity(flows.len());
        active.extend(flows.iter().filter(|flow| is_active(flow)));
        self.sample_flows((now_ns / 1000) as i64, &active);
        self.sample_states(&active);
        for flow in flows.iter_mut() {
            flow.has_ended |= flow.sender.is_closed();
        }
    }

    /// Appends a row per active flow, column by column: that writes to one place at a time.
    fn sample_flows(&mut self, time_us: i64, active: &[&Endpoints]) {
        let samples = &mut self.flows;
        let times_us = std::iter::repeat_n(time_us, active.len());
        samples.time_us.extend(times_us);
        let senders = || active.iter().map(|flow| &flow.sender);
        let socks = || senders().map(Sender::sock);
        samples.flow.extend(active.iter().map(|flow| flow.flow));
        samples.cwnd_pkts.extend(socks().map(|sock| sock.snd_cwnd));
        samples
            .ssthresh_pkts
            .extend(socks().map(|sock| sock.snd_ssthresh));
        samples
            .inflight_pkts
            .extend(socks().map(Sock::packets_in_flight));
        samples
            .outstanding_pkts
            .extend(senders().map(Sender::outstanding_pkts));
        samples
            .srtt_us
            .extend(socks().map(|sock| sock.srtt_us >> 3));
        samples.rtt_us.extend(senders().map(Sender::latest_rtt_us));
        samples.min_rtt_us.extend(socks().map(Sock::min_rtt_us));
        samples
            .delivery_rate_bps
            .extend(socks().map(delivery_rate_bps));
        samples
            .pacing_rate_bps
            .extend(socks().map(|sock| sock.sk_pacing_rate.saturating_mul(8)));
        samples
            .retransmitted_pkts
            .extend(senders().map(|sender| sender.counters().retransmitted_pkts as u32));
        samples
            .lost_pkts
            .extend(senders().map(|sender| sender.counters().lost_pkts as u32));
        samples
            .ca_state
            .extend(socks().map(|sock| sock.ca_state() as u8));
    }

    /// The same for the congestion control algorithms' private states.
    fn sample_states(&mut self, active: &[&Endpoints]) {
        for group in active.chunk_by(|a, b| a.group == b.group) {
            let ccs = || group.iter().map(|flow| flow.sender.congestion_control());
            let columns = &mut self.states[group[0].group as usize].columns;
            let readers = group[0].sender.congestion_control().instance().readers();
            if readers.is_empty() {
                for cc in ccs() {
                    cc.read_series(|series, raw| columns[series].push(raw));
                }
            }
            for (column, &reader) in columns.iter_mut().zip(readers) {
                column.extend(ccs().map(|cc| cc.read(reader)));
            }
        }
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
