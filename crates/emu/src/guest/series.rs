//! Samples of a guest's flows: the same rows as those of the kernel engine's sampler.

use std::sync::atomic::Ordering;

use dumbbell_results::{FlowSamples, StateSamples, UNKNOWN, per_second};
use dumbbell_scenario::{Scenario, UNLIMITED_BYTES};

use super::conversation::SampledUser;
use super::tcp_info;
use crate::machine::clock::monotonic_ns;
use crate::relay::driven::Driven;
use crate::relay::latest_rtt::{LatestRtt, Stamp};
use crate::sampling::flow_report::Course;
use crate::sampling::reading::{Reading, unknown_info};
use crate::sampling::sampler::{FlowEnd, MEANS_INTERVAL_NS, Means, Row};
use crate::sockets::bbr_info::BbrInfo;
use crate::sockets::connection::Established;
use crate::sockets::tcp_info::TcpInfo;

/// A flow as the guest's kernel reports it. Without a socket an answer is empty.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// TCP_INFO of the sender.
    pub sender: &'a [u8],
    /// TCP_INFO of the receiver.
    pub receiver: &'a [u8],
    /// TCP_CC_INFO of the sender.
    pub cc: &'a [u8],
    /// The congestion control algorithm that the sender runs, by the kernel's name.
    pub name: &'a str,
    /// Payload that was written.
    pub written_bytes: u64,
    /// Packets that were declared lost.
    pub lost_pkts: u32,
    /// What `init` returned for the sender's algorithm, if it is ours.
    pub handle: u32,
}

/// A row that is complete when the instant is known.
struct Pending {
    flow: u32,
    info: TcpInfo,
    received_bytes: u64,
    rtt_us: u32,
    lost_pkts: u32,
    is_of_program: bool,
}

/// What is known of the flows.
pub(super) struct Series {
    interval_ns: u64,
    is_recording: bool,
    courses: Vec<Course>,
    is_sndbuf_limited: Vec<bool>,
    means: Vec<Means>,
    ends: Vec<FlowEnd>,
    samples: FlowSamples,
    bbr: Vec<Option<BbrInfo>>,
    pending: Vec<Pending>,
    /// The flows of programs, and the RTT sample of each that was seen last.
    programs: Vec<(u32, Stamp)>,
    /// Packets of each flow that were declared lost.
    lost_pkts: Vec<u32>,
}

/// Samples, the state of the kernel's own bbr by group, and of each flow its course, its end, its means and its losses.
type Parts = (
    FlowSamples,
    Vec<Option<StateSamples>>,
    Vec<Course>,
    Vec<FlowEnd>,
    Vec<Means>,
    Vec<u32>,
);

impl Series {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let flows = scenario.flow_count();
        let is_recording = scenario.sample_interval_ns > 0;
        let instants = (scenario.duration_ns)
            .checked_div(scenario.sample_interval_ns)
            .unwrap_or(0) as usize;
        let groups = || scenario.groups.iter().enumerate();
        let of_flows = groups()
            .flat_map(|(number, group)| std::iter::repeat_n((number, group), group.flows as usize));
        Self {
            interval_ns: if is_recording {
                scenario.sample_interval_ns
            } else {
                MEANS_INTERVAL_NS
            },
            is_recording,
            courses: (0..)
                .zip(of_flows.clone())
                .map(|(flow, (number, group))| Course {
                    flow,
                    group: number,
                    start_ns: group.start_of(scenario.seed, flow),
                    established: None,
                    finished_ns: None,
                    written_bytes: 0,
                })
                .collect(),
            is_sndbuf_limited: of_flows
                .clone()
                .map(|(_, group)| group.host.sndbuf_bytes < UNLIMITED_BYTES)
                .collect(),
            means: vec![Means::default(); flows],
            ends: vec![FlowEnd::default(); flows],
            samples: FlowSamples::with_capacity(instants * flows),
            bbr: groups()
                .map(|(_, group)| BbrInfo::of_group(group, instants))
                .collect(),
            pending: Vec::with_capacity(flows),
            programs: (0..)
                .zip(of_flows)
                .filter(|(_, (_, group))| group.program.is_some())
                .map(|(flow, _)| (flow, Stamp::default()))
                .collect(),
            lost_pkts: vec![0; flows],
        }
    }

    /// Whether there are tables.
    pub(super) fn is_recording(&self) -> bool {
        self.is_recording
    }

    pub(super) fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    pub(super) fn established(&mut self, flow: u32, info: &[u8]) {
        self.courses[flow as usize].established = Some(Established {
            time_ns: monotonic_ns(),
            info: tcp_info(info),
        });
    }

    pub(super) fn finished(&mut self, flow: u32) {
        self.courses[flow as usize].finished_ns = Some(monotonic_ns());
    }

    /// A flow is sampled; its group.
    pub(super) fn sample(&mut self, flow: u32, state: &State<'_>, latest: &[LatestRtt]) -> usize {
        let course = &mut self.courses[flow as usize];
        course.written_bytes = state.written_bytes;
        let received_bytes = course.payload_bytes(tcp_info(state.receiver).received_bytes);
        if let Some(bbr) = (self.bbr[course.group].as_mut()).filter(|_| self.is_recording) {
            bbr.push(state.cc);
        }
        self.pending.push(Pending {
            flow,
            info: tcp_info(state.sender),
            received_bytes,
            rtt_us: latest[flow as usize].rtt_us(),
            lost_pkts: state.lost_pkts,
            is_of_program: false,
        });
        course.group
    }

    /// The flows of programs are sampled: what has arrived of them.
    pub(super) fn sample_programs(&mut self, epoch_ns: u64, relay: &Driven) {
        for (flow, seen) in &mut self.programs {
            let place = *flow as usize;
            if monotonic_ns() <= epoch_ns.saturating_add(self.courses[place].start_ns) {
                continue;
            }
            self.pending.push(Pending {
                flow: *flow,
                info: unknown_info(),
                received_bytes: relay.received_bytes[place].load(Ordering::Relaxed),
                rtt_us: relay.latest_rtts[place].new_rtt_us(seen),
                lost_pkts: UNKNOWN,
                is_of_program: true,
            });
        }
        self.pending.sort_by_key(|sample| sample.flow);
    }

    /// A user is sampled; `latest` has the RTT of each flow. Its group.
    pub(super) fn sample_user(
        &mut self,
        epoch_ns: u64,
        user: &SampledUser,
        latest: &[LatestRtt],
    ) -> usize {
        let place = user.flow as usize;
        let course = &self.courses[place];
        let group = course.group;
        let reading = Reading::of_guests_user(course, user);
        let means = &mut self.means[place];
        let elapsed_ns = means.note(epoch_ns + user.instant_ns, &reading, epoch_ns);
        if !self.is_recording {
            return group;
        }
        if let Some(bbr) = &mut self.bbr[course.group] {
            bbr.push(&user.cc);
        }
        let new_bytes = user.received_bytes.saturating_sub(means.received_bytes);
        means.received_bytes = user.received_bytes;
        let row = Row {
            time_us: (user.instant_ns / 1000) as i64,
            flow: user.flow,
            rtt_us: latest[place].rtt_us(),
            goodput_bps: per_second(new_bytes * 8, elapsed_ns, 1_000_000_000),
            syn_retransmits: user.syn_retransmits,
            lost_pkts: UNKNOWN,
        };
        self.samples.extend(&[row.with(&user.info)]);
        group
    }

    pub(super) fn sampled(&mut self, epoch_ns: u64, instant_ns: u64) {
        for sample in self.pending.drain(..) {
            let flow = sample.flow as usize;
            let course = &self.courses[flow];
            let means = &mut self.means[flow];
            let reading = Reading::of_guest(course, sample.info, self.is_sndbuf_limited[flow]);
            let elapsed_ns = if sample.is_of_program {
                means.pass(monotonic_ns(), &reading, epoch_ns)
            } else {
                means.note(monotonic_ns(), &reading, epoch_ns)
            };
            if !self.is_recording {
                continue;
            }
            let new_bytes = sample.received_bytes.saturating_sub(means.received_bytes);
            means.received_bytes = sample.received_bytes;
            let row = Row {
                time_us: (instant_ns / 1000) as i64,
                flow: sample.flow,
                rtt_us: sample.rtt_us,
                goodput_bps: per_second(new_bytes * 8, elapsed_ns, 1_000_000_000),
                syn_retransmits: course.syn_retransmits(),
                lost_pkts: sample.lost_pkts,
            };
            self.samples.extend(&[row.with(&sample.info)]);
        }
    }

    pub(super) fn end(&mut self, flow: u32, state: &State<'_>) {
        let course = &mut self.courses[flow as usize];
        course.written_bytes = state.written_bytes;
        let is_established = course.established.is_some();
        self.lost_pkts[flow as usize] = state.lost_pkts;
        let sender = tcp_info(state.sender);
        self.ends[flow as usize] = FlowEnd {
            sender: Some(sender).filter(|info| is_established || info.has_started()),
            receiver: (!state.receiver.is_empty()).then(|| tcp_info(state.receiver)),
            kernel_cc: state.name.to_owned(),
        };
    }

    pub(super) fn into_parts(self) -> Parts {
        let bbr = self.bbr.into_iter();
        (
            // Users come in when they like.
            self.samples.in_order(),
            bbr.map(|state| state.map(|state| state.0)).collect(),
            self.courses,
            self.ends,
            self.means,
            self.lost_pkts,
        )
    }
}
