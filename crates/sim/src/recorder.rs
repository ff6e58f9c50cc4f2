//! Time series: columns filled at every sampling instant.

use std::rc::Rc;

use dumbbell_cc::{Instance, Sock};
use dumbbell_net::{Link, LinkMeter};
use dumbbell_results::{FlowSamples, QueueSamples, StateSamples, TimeSeries, per_second};
use dumbbell_tcp::{Segment, Sender};

use crate::endpoints::Endpoints;

/// Takes the samples of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    interval_ns: u64,
    flows: FlowSamples,
    states: Vec<StateSamples>,
    queue: QueueSamples,
}

impl Recorder {
    /// A recorder that will take a sample of each flow every `interval_ns` until `end_ns`.
    pub(crate) fn new(interval_ns: u64, end_ns: u64, groups: &[(Rc<Instance>, usize)]) -> Self {
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
            queue: QueueSamples::default(),
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
        links: &[Link<Segment>],
        meters: &mut [LinkMeter],
    ) {
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
        for ((index, link), meter) in (0..).zip(links).zip(meters) {
            self.queue.sample(now_ns, index, link, meter);
        }
    }

    /// Appends a row per active flow, column by column: that writes to one place at a time.
    fn sample_flows(&mut self, time_us: i64, active: &[&Endpoints]) {
        let samples = &mut self.flows;
        let times_us = std::iter::repeat_n(time_us, active.len());
        samples.time_us.extend(times_us);
        let senders = || active.iter().map(|flow| &flow.sender);
        let socks = || senders().map(Sender::sock);
        samples.flow.extend(senders().map(Sender::flow));
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
        samples.delivery_rate_bps.extend(socks().map(|sock| {
            let bits = u64::from(sock.rate_delivered) * u64::from(sock.mss_cache) * 8;
            per_second(bits, u64::from(sock.rate_interval_us), 1_000_000)
        }));
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

    /// The same for the congestion controls' private states.
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
