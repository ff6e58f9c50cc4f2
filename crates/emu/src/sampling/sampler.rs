//! The time series: at every sampling instant, what the kernel reports about each flow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dumbbell_cc::TCP_INFINITE_SSTHRESH;
use dumbbell_results::{FlowRow, FlowSamples, UNKNOWN, per_second};
use dumbbell_scenario::Scenario;
use hdrhistogram::Histogram;

use crate::applications::LiveUsers;
use crate::error::Error;
use crate::machine::clock::monotonic_ns;
use crate::machine::readiness::sleep_until;
use crate::machine::realtime::{Priority, make_realtime};
use crate::relay::latest_rtt::{LatestRtt, Stamp};
use crate::run_end::RunEnd;
use crate::sampling::reading::{FlowReader, Reading, sender_info};
use crate::sockets::bbr_info::BbrInfo;
use crate::sockets::connection::Connection;
use crate::sockets::socket;
use crate::sockets::tcp_info::TcpInfo;

/// Interval when the scenario requests no time series: the means still need samples.
pub(crate) const MEANS_INTERVAL_NS: u64 = 10_000_000;

/// Longest sleep without checking whether to stop.
const LONGEST_SLEEP_NS: u64 = 20_000_000;

/// Pacing rates from here on mean not paced: the kernel reports all ones in 32 or 64 bits.
const UNPACED_BYTES_PER_S: u64 = u64::MAX >> 3;

/// What the path says of flows, by flow.
#[derive(Debug)]
pub(crate) struct PathSeries {
    /// Latest RTT sample.
    pub(crate) latest_rtts: Arc<Vec<LatestRtt>>,
    /// Payload that arrived; of programs.
    pub(crate) received_bytes: Arc<Vec<AtomicU64>>,
}

/// Reads the private state of congestion control algorithms that were loaded into the kernel.
pub(crate) trait StateSource: Send {
    /// Called once per sampling instant, right after TCP_INFO of the flows in `active` (in flow
    /// order) was read: appends a row per flow to its own columns. `lost_pkts`, one per active
    /// flow, are unknown until it fills in how many packets each flow has declared lost.
    fn sample(&mut self, active: &[u32], lost_pkts: &mut [u32]) -> Result<(), Error>;
}

/// The result of sampling.
#[derive(Debug)]
pub(crate) struct Sampled {
    /// Empty when the scenario requests no time series.
    pub(crate) flows: FlowSamples,
    /// For each group, the state of the kernel's own bbr, where that runs.
    pub(crate) bbr: Vec<Option<BbrInfo>>,
    /// Means of each flow.
    pub(crate) means: Vec<Means>,
    /// For each connection of flows without an application, its state at the end of the run.
    pub(crate) ends: Vec<FlowEnd>,
    /// From the sampling instant to the first flow's sample, ns.
    pub(crate) jitter_ns: Histogram<u32>,
    /// Instants that were over before they could be sampled: they have no rows.
    pub(crate) missed_instants: u64,
}

/// Time averages over a flow's life so far, and extremes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Means {
    /// When the flow was last sampled.
    since_ns: u64,
    active_ns: u64,
    cwnd_pkt_ns: u128,
    inflight_pkt_ns: u128,
    outstanding_pkt_ns: u128,
    sndbuf_limited_ns: u64,
    pub(crate) cwnd_max_pkts: u32,
    /// Largest ssthresh apart from "unlimited".
    pub(crate) ssthresh_max_pkts: u32,
    /// Payload received when the time series was last sampled.
    pub(crate) received_bytes: u64,
}

/// A flow at the end of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowEnd {
    pub(crate) sender: Option<TcpInfo>,
    pub(crate) receiver: Option<TcpInfo>,
    /// The congestion control algorithm that the socket runs, by the kernel's name; read back.
    pub(crate) kernel_cc: String,
}

/// Takes the samples of a run.
pub(crate) struct Sampler {
    connections: Arc<Vec<Connection>>,
    reader: FlowReader,
    latest_rtts: Arc<Vec<LatestRtt>>,
    /// The latest sample of each flow when the flows were last sampled.
    seen_rtts: Vec<Stamp>,
    states: Option<Box<dyn StateSource>>,
    epoch_ns: u64,
    end: RunEnd,
    interval_ns: u64,
    is_recording: bool,
    sampled: Sampled,
    /// Flows sampled at this instant.
    active: Vec<u32>,
    readings: Vec<Reading>,
}

impl Sampler {
    pub(crate) fn new(
        scenario: &Scenario,
        connections: &Arc<Vec<Connection>>,
        users: Arc<LiveUsers>,
        path: PathSeries,
        states: Option<Box<dyn StateSource>>,
        epoch_ns: u64,
        end: &RunEnd,
    ) -> Self {
        let flows = scenario.flow_count();
        let is_recording = scenario.sample_interval_ns > 0;
        // Room for all rows at once: only address space until it is used.
        let instants = scenario
            .duration_ns
            .checked_div(scenario.sample_interval_ns)
            .unwrap_or(0) as usize;
        Self {
            latest_rtts: path.latest_rtts,
            seen_rtts: vec![Stamp::default(); flows],
            states,
            epoch_ns,
            end: end.clone(),
            interval_ns: if is_recording {
                scenario.sample_interval_ns
            } else {
                MEANS_INTERVAL_NS
            },
            is_recording,
            sampled: Sampled {
                flows: FlowSamples::with_capacity(instants * flows),
                bbr: scenario
                    .groups
                    .iter()
                    .map(|group| BbrInfo::of_group(group, instants))
                    .collect(),
                means: vec![Means::default(); flows],
                ends: Vec::new(),
                jitter_ns: histogram_ns(),
                missed_instants: 0,
            },
            active: Vec::with_capacity(flows),
            readings: Vec::with_capacity(flows),
            reader: FlowReader::new(scenario, connections, users, path.received_bytes, epoch_ns),
            connections: Arc::clone(connections),
        }
    }

    /// Samples until the end of the run, and takes the flows' final state there; or until `stopped`.
    pub(crate) fn run(mut self, stopped: &AtomicBool) -> Result<Sampled, Error> {
        // Priority below the relay, which must not wait for it, and above everything else.
        make_realtime(Priority::Sampler);
        let mut instant_ns = self.interval_ns;
        while instant_ns <= self.duration_ns() {
            match sleep(self.epoch_ns + instant_ns, &self.end, stopped) {
                Woken::Due => {}
                Woken::Over => break,
                Woken::Stopped => return Ok(self.sampled),
            }
            let began_ns = monotonic_ns();
            self.sample(instant_ns)?;
            let late_ns = began_ns.saturating_sub(self.epoch_ns + instant_ns);
            self.sampled.jitter_ns.saturating_record(late_ns);
            let ended_ns = monotonic_ns();
            // Instants that are already over are skipped: a row with their time would be wrong.
            let passed = (ended_ns - self.epoch_ns - instant_ns) / self.interval_ns;
            let last = self.duration_ns().saturating_sub(instant_ns) / self.interval_ns;
            self.sampled.missed_instants += passed.min(last);
            instant_ns += (1 + passed) * self.interval_ns;
        }
        if sleep(u64::MAX, &self.end, stopped) != Woken::Stopped {
            self.sampled.ends = self.final_states()?;
        }
        Ok(self.sampled)
    }

    /// From the start of the run to its end, ns.
    fn duration_ns(&self) -> u64 {
        self.end.ns().saturating_sub(self.epoch_ns)
    }

    /// Samples all active flows, as of `instant_ns` of the run.
    fn sample(&mut self, instant_ns: u64) -> Result<(), Error> {
        self.reader.read(&mut self.readings)?;
        self.active.clear();
        self.active
            .extend(self.readings.iter().map(|reading| reading.flow));
        let first_row = self.sampled.flows.time_us.len();
        for reading in &self.readings {
            let flow = reading.flow as usize;
            let means = &mut self.sampled.means[flow];
            let elapsed_ns = if reading.is_of_program() {
                means.pass(monotonic_ns(), reading, self.epoch_ns)
            } else {
                means.note(monotonic_ns(), reading, self.epoch_ns)
            };
            if !self.is_recording {
                continue;
            }
            let received_bytes = self.reader.received_bytes(reading)?;
            let new_bytes = received_bytes.saturating_sub(means.received_bytes);
            means.received_bytes = received_bytes;
            // Programs may be silent for long: only what was measured since the last sample counts.
            let latest = &self.latest_rtts[flow];
            let rtt_us = if reading.is_of_program() {
                latest.new_rtt_us(&mut self.seen_rtts[flow])
            } else {
                latest.rtt_us()
            };
            let row = Row {
                time_us: (instant_ns / 1000) as i64,
                flow: reading.flow,
                rtt_us,
                goodput_bps: per_second(new_bytes * 8, elapsed_ns, 1_000_000_000),
                syn_retransmits: reading.syn_retransmits,
                lost_pkts: UNKNOWN,
            };
            self.sampled.flows.extend(&[row.with(&reading.info)]);
            if let Some(bbr) = &mut self.sampled.bbr[reading.group] {
                bbr.sample(self.reader.sender(reading))
                    .map_err(|source| Error::System {
                        what: format!("flow {flow} did not report its bbr state"),
                        source,
                    })?;
            }
        }
        if let Some(states) = self.states.as_mut().filter(|_| self.is_recording) {
            let lost_pkts = &mut self.sampled.flows.lost_pkts[first_row..];
            states.sample(&self.active, lost_pkts)?;
        }
        Ok(())
    }

    /// Senders first, as close to the end as can be.
    fn final_states(&mut self) -> Result<Vec<FlowEnd>, Error> {
        let mut ends = Vec::with_capacity(self.connections.len());
        for connection in self.connections.iter() {
            // A connection that is over has a closed socket, like one that has not started.
            let is_established = connection.established.get().is_some();
            ends.push(FlowEnd {
                sender: Some(sender_info(connection)?)
                    .filter(|info| is_established || info.has_started()),
                ..FlowEnd::default()
            });
        }
        for (connection, end) in self.connections.iter().zip(&mut ends) {
            if let Some(receiver) = connection.receiver.get() {
                let info = socket::tcp_info(receiver)
                    .map_err(|error| connection.failed("could not be inspected", error))?;
                end.receiver = Some(info);
            }
            end.kernel_cc = socket::congestion_control(&connection.sender).map_err(|error| {
                connection.failed("did not report its congestion control", error)
            })?;
        }
        Ok(ends)
    }
}

impl Means {
    /// The time since the last sample.
    pub(crate) fn pass(&mut self, now_ns: u64, reading: &Reading, epoch_ns: u64) -> u64 {
        if self.since_ns == 0 {
            self.since_ns = epoch_ns + reading.start_ns;
        }
        let elapsed_ns = now_ns.saturating_sub(self.since_ns);
        self.since_ns = now_ns;
        elapsed_ns
    }

    /// Weights this sample's values by the time since the last one; returns that time.
    pub(crate) fn note(&mut self, now_ns: u64, reading: &Reading, epoch_ns: u64) -> u64 {
        let info = &reading.info;
        let elapsed_ns = self.pass(now_ns, reading, epoch_ns);
        let over_time = |pkts: u32| u128::from(pkts) * u128::from(elapsed_ns);
        self.active_ns += elapsed_ns;
        self.cwnd_max_pkts = self.cwnd_max_pkts.max(reading.cwnd_max_pkts);
        if info.snd_ssthresh_pkts < TCP_INFINITE_SSTHRESH {
            self.ssthresh_max_pkts = self.ssthresh_max_pkts.max(info.snd_ssthresh_pkts);
        }
        self.cwnd_pkt_ns += over_time(info.snd_cwnd_pkts);
        self.inflight_pkt_ns += over_time(info.inflight_pkts());
        self.outstanding_pkt_ns += over_time(info.unacked_pkts);
        // Everything written is sent, and cwnd has room: since the writers never stop, the limited
        // buffer held them back. Linux reports that only for applications that write until they
        // block.
        if reading.is_sndbuf_limited
            && info.notsent_bytes < info.snd_mss_bytes
            && info.inflight_pkts() < info.snd_cwnd_pkts
        {
            self.sndbuf_limited_ns += elapsed_ns;
        }
        elapsed_ns
    }

    pub(crate) fn cwnd_pkts(&self) -> f64 {
        self.mean(self.cwnd_pkt_ns)
    }

    pub(crate) fn inflight_pkts(&self) -> f64 {
        self.mean(self.inflight_pkt_ns)
    }

    pub(crate) fn outstanding_pkts(&self) -> f64 {
        self.mean(self.outstanding_pkt_ns)
    }

    /// According to the samples.
    pub(crate) fn sndbuf_limited_us(&self) -> u64 {
        self.sndbuf_limited_ns / 1000
    }

    fn mean(&self, pkt_ns: u128) -> f64 {
        dumbbell_results::ratio(pkt_ns as f64, self.active_ns as f64)
    }
}

/// What a row has in addition to the sender's TCP_INFO.
pub(crate) struct Row {
    pub(crate) time_us: i64,
    pub(crate) flow: u32,
    /// 0: none yet; of programs, none since the last row.
    pub(crate) rtt_us: u32,
    pub(crate) goodput_bps: u64,
    pub(crate) syn_retransmits: u32,
    pub(crate) lost_pkts: u32,
}

impl Row {
    /// The whole row, with what the kernel reports.
    pub(crate) fn with(&self, info: &TcpInfo) -> FlowRow {
        FlowRow {
            time_us: self.time_us,
            flow: self.flow,
            cwnd_pkts: info.snd_cwnd_pkts,
            ssthresh_pkts: info.snd_ssthresh_pkts,
            inflight_pkts: info.inflight_pkts(),
            outstanding_pkts: info.unacked_pkts,
            srtt_us: info.rtt_us,
            rtt_us: if self.rtt_us == 0 {
                UNKNOWN
            } else {
                self.rtt_us
            },
            min_rtt_us: info.min_rtt_us,
            delivery_rate_bps: info.delivery_rate_bytes_per_s.saturating_mul(8),
            goodput_bps: self.goodput_bps,
            pacing_rate_bps: pacing_rate_bps(info),
            retransmitted_pkts: info.total_retrans_pkts.saturating_sub(self.syn_retransmits),
            lost_pkts: self.lost_pkts,
            ca_state: info.ca_state,
        }
    }
}

/// `u64::MAX`: not paced.
fn pacing_rate_bps(info: &TcpInfo) -> u64 {
    let rate = info.pacing_rate_bytes_per_s;
    if rate >= UNPACED_BYTES_PER_S || rate == u64::from(u32::MAX) {
        u64::MAX
    } else {
        rate * 8
    }
}

/// Why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    Due,
    Over,
    Stopped,
}

/// Sleeps until `due_ns`, or the end if that comes first, or until `stopped` is set.
fn sleep(due_ns: u64, end: &RunEnd, stopped: &AtomicBool) -> Woken {
    loop {
        let end_ns = end.ns();
        let now_ns = monotonic_ns();
        if stopped.load(Ordering::Acquire) {
            return Woken::Stopped;
        }
        if now_ns >= due_ns && due_ns <= end_ns {
            return Woken::Due;
        }
        if now_ns >= end_ns {
            return Woken::Over;
        }
        sleep_until(due_ns.min(end_ns).min(now_ns + LONGEST_SLEEP_NS));
    }
}

/// A histogram of ns up to 10 s with a relative error of 1 %.
pub(crate) fn histogram_ns() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 10_000_000_000, 2).expect("the bounds are valid")
}
