//! Time series: columns filled at every sampling instant.

use std::rc::Rc;

use dumbbell_cc::{Instance, Series, Sock};
use dumbbell_tcp::Sender;

use crate::bottleneck::Bottleneck;
use crate::endpoints::Endpoints;

/// Samples of all flows, row by row in time and flow order.
#[derive(Debug)]
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

/// Samples of one group's private state: raw values, one column per series. Time and flow of
/// each row are those of the group's rows in [`FlowSamples`], in the same order.
#[derive(Debug)]
pub(crate) struct StateSamples {
    pub(crate) instance: Rc<Instance>,
    pub(crate) columns: Vec<RawColumn>,
}

/// Raw values of one series, as narrow as the field that they come from.
#[derive(Debug)]
pub(crate) enum RawColumn {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
    Longs(Vec<u64>),
}

impl RawColumn {
    fn new(series: &Series, rows: usize) -> Self {
        match series.bytes() {
            1 if !series.signed => Self::Bytes(Vec::with_capacity(rows)),
            2 | 4 if !series.signed => Self::Words(Vec::with_capacity(rows)),
            _ => Self::Longs(Vec::with_capacity(rows)),
        }
    }

    #[inline]
    fn push(&mut self, raw: u64) {
        match self {
            Self::Bytes(values) => values.push(raw as u8),
            Self::Words(values) => values.push(raw as u32),
            Self::Longs(values) => values.push(raw),
        }
    }
}

/// Samples of the bottleneck.
#[derive(Debug, Default)]
pub(crate) struct QueueSamples {
    pub(crate) time_us: Vec<i64>,
    pub(crate) backlog_bytes: Vec<u64>,
    pub(crate) backlog_pkts: Vec<u32>,
    pub(crate) sojourn_us: Vec<Option<u32>>,
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
    /// Flows that are sampled, by number.
    active: Vec<usize>,
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
                .map(|(instance, flows)| StateSamples::with_capacity(instance, samples * flows))
                .collect(),
            queue: QueueSamples::default(),
            active: Vec::new(),
        }
    }

    /// Samples everything as it stands at `now_ns`.
    pub(crate) fn sample(
        &mut self,
        now_ns: u64,
        flows: &mut [Endpoints],
        bottleneck: &mut Bottleneck,
    ) {
        let time_us = (now_ns / 1000) as i64;
        self.active.clear();
        self.active
            .extend((0..flows.len()).filter(|&index| flows[index].sender.is_established()));
        self.flows
            .sample(time_us, self.interval_ns, &self.active, flows);
        for &index in &self.active {
            let flow = &flows[index];
            let columns = &mut self.states[flow.group as usize].columns;
            flow.sender
                .congestion_control()
                .read_series(|series, raw| columns[series].push(raw));
        }
        self.queue.sample(now_ns, bottleneck);
    }
}

impl QueueSamples {
    fn sample(&mut self, now_ns: u64, bottleneck: &mut Bottleneck) {
        self.time_us.push((now_ns / 1000) as i64);
        self.backlog_bytes.push(bottleneck.backlog_bytes());
        self.backlog_pkts.push(bottleneck.backlog_pkts() as u32);
        self.sojourn_us.push(bottleneck.take_last_sojourn_us());
        self.forwarded_pkts.push(bottleneck.forwarded(now_ns).0);
        self.dropped_pkts.push(bottleneck.dropped_pkts);
    }
}

impl FlowSamples {
    /// Appends a row per active flow, column by column: that writes to one place at a time.
    fn sample(
        &mut self,
        time_us: i64,
        interval_ns: u64,
        active: &[usize],
        flows: &mut [Endpoints],
    ) {
        let rows = active.len();
        self.time_us.extend(std::iter::repeat_n(time_us, rows));
        self.flow.extend(active.iter().map(|&index| index as u32));
        self.goodput_bps.extend(active.iter().map(|&index| {
            let flow = &mut flows[index];
            let received_bytes = flow.receiver.counters().received_bytes;
            let new_bits = (received_bytes - flow.sampled_bytes) * 8;
            flow.sampled_bytes = received_bytes;
            per_second(new_bits, interval_ns, 1_000_000_000)
        }));
        let senders = || active.iter().map(|&index| &flows[index].sender);
        let socks = || senders().map(Sender::sock);
        self.cwnd_pkts.extend(socks().map(|sock| sock.snd_cwnd));
        self.ssthresh_pkts
            .extend(socks().map(|sock| sock.snd_ssthresh));
        self.inflight_pkts
            .extend(socks().map(Sock::packets_in_flight));
        self.outstanding_pkts
            .extend(senders().map(Sender::outstanding_pkts));
        self.srtt_us.extend(socks().map(|sock| sock.srtt_us >> 3));
        self.rtt_us.extend(senders().map(Sender::latest_rtt_us));
        self.min_rtt_us.extend(socks().map(Sock::min_rtt_us));
        self.delivery_rate_bps.extend(socks().map(|sock| {
            let bits = u64::from(sock.rate_delivered) * u64::from(sock.mss_cache) * 8;
            per_second(bits, u64::from(sock.rate_interval_us), 1_000_000)
        }));
        self.pacing_rate_bps
            .extend(socks().map(|sock| sock.sk_pacing_rate.saturating_mul(8)));
        self.retransmitted_pkts
            .extend(senders().map(|sender| sender.counters().retransmitted_pkts as u32));
        self.lost_pkts
            .extend(senders().map(|sender| sender.counters().lost_pkts as u32));
        self.ca_state
            .extend(socks().map(|sock| sock.ca_state() as u8));
    }

    fn with_capacity(rows: usize) -> Self {
        Self {
            time_us: Vec::with_capacity(rows),
            flow: Vec::with_capacity(rows),
            cwnd_pkts: Vec::with_capacity(rows),
            ssthresh_pkts: Vec::with_capacity(rows),
            inflight_pkts: Vec::with_capacity(rows),
            outstanding_pkts: Vec::with_capacity(rows),
            srtt_us: Vec::with_capacity(rows),
            rtt_us: Vec::with_capacity(rows),
            min_rtt_us: Vec::with_capacity(rows),
            delivery_rate_bps: Vec::with_capacity(rows),
            goodput_bps: Vec::with_capacity(rows),
            pacing_rate_bps: Vec::with_capacity(rows),
            retransmitted_pkts: Vec::with_capacity(rows),
            lost_pkts: Vec::with_capacity(rows),
            ca_state: Vec::with_capacity(rows),
        }
    }
}

impl StateSamples {
    fn with_capacity(instance: &Rc<Instance>, rows: usize) -> Self {
        Self {
            instance: Rc::clone(instance),
            columns: instance
                .series()
                .iter()
                .map(|series| RawColumn::new(series, rows))
                .collect(),
        }
    }
}

/// `amount` per `interval`, of which `per_s` make a second; 0 without an interval.
#[inline]
fn per_second(amount: u64, interval: u64, per_s: u64) -> u64 {
    match amount.checked_mul(per_s) {
        Some(scaled) => scaled.checked_div(interval).unwrap_or(0),
        None => (u128::from(amount) * u128::from(per_s))
            .checked_div(u128::from(interval))
            .unwrap_or(0) as u64,
    }
}
