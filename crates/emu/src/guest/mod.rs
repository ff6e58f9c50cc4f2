//! The engine's part in the process of a guest: User-mode Linux in virtual time, whose kernel calls it.
//!
//! The guest's kernel has the hosts, as network namespaces, and the flows, as sockets of kernel threads
//! (`python/dumbbell/kernels/driver`). What its devices send arrives here ([`Guest::enter`]), and what leaves the network
//! it fetches ([`Guest::take`]). It says what time it is; nothing here waits, starts a thread or reads a clock.
//!
//! | module | what |
//! |---|---|
//! | `files` | what the process of a guest reads and leaves |
//! | `socket_fields`, `algorithms` | congestion control algorithms of ours, which the kernel calls |
//! | `plan` | what the guest is to make: hosts and flows |
//! | `qdiscs` | queue disciplines of the guest's kernel |
//! | `requested`, `programs` | programs of the user in its hosts |
//! | `series` | samples of the flows |

mod algorithms;
pub mod files;
mod plan;
mod programs;
mod qdiscs;
mod requested;
mod series;
mod socket_fields;

use std::sync::{Arc, Mutex};

use dumbbell_capture::CaptureConfig;
pub use dumbbell_net::KernelQueue;
use dumbbell_results::Output;
use dumbbell_scenario::{Scenario, Way};

use crate::bpf::congestion_controls::{KERNELS_DEFAULT, KERNELS_OWN, KernelCc};
use crate::calibration::Calibration;
use crate::capture::{DrivenCapture, Tap};
use crate::error::Error;
use crate::flows_of_programs::flows_of_programs;
use crate::hosts::device::Device;
use crate::hosts::host::{Hosts, mtu_bytes};
use crate::hosts::port::{Outgoing, locked};
use crate::machine::clock::{monotonic_ns, set_virtual_ns};
use crate::machine::cpu::MachineCpu;
use crate::machine::kernel::set_guests_release;
use crate::measured::Measured;
use crate::packet::super_packet::MAX_READ_BYTES;
use crate::relay::driven::Driven;
use crate::run_end::RunEnd;
use crate::sampling::flow_report::FlowReport;
use crate::sampling::sampler::histogram_ns;
use crate::sampling::states::Columns;
use crate::sockets::tcp_info::TcpInfo;
use crate::summarize;
use crate::traffic::TrafficReport;
use algorithms::Algorithms;
pub use algorithms::{Call, PlannedCc};
pub use plan::{PlannedFlow, PlannedHost, check};
pub use programs::PlannedProgram;
use programs::Programs;
pub use qdiscs::PlannedQdisc;
pub use requested::{RequestedProgram, RequestedPrograms};
use series::Series;
pub use series::State;
pub use socket_fields::KernelField;

/// The engine's name.
const ENGINE: &str = "uml";

/// The time of day at which a guest boots, in seconds since 1970, unless the environment says another: any, but always the same.
pub const START_S: u64 = 1_700_000_000;

/// The variable that says another, as reproducible builds have it (<https://reproducible-builds.org/specs/source-date-epoch/>): for
/// programs that check certificates.
pub(crate) const START_VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// What a guest's sockets run unless they choose: `CONFIG_DEFAULT_TCP_CONG` of its kernel.
const GUESTS_DEFAULT: &str = "cubic";

/// How often a capture is written, ns: its ring has room for 2 s.
const WRITE_EVERY_NS: u64 = 20_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// When a guest boots, in seconds since 1970.
pub(crate) fn start_s() -> u64 {
    let said = std::env::var(START_VARIABLE).ok();
    let said = said.and_then(|text| text.parse().ok());
    // Beyond a clock of 64 bits of nanoseconds.
    said.filter(|&at_s| at_s < i64::MAX as u64 / NS_PER_S)
        .unwrap_or(START_S)
}

/// Facts of a guest's kernel.
#[derive(Clone, Debug)]
pub struct KernelFacts<'a> {
    /// The output of `uname -r`.
    pub release: String,
    /// Ticks a second.
    pub hz: u32,
    /// Where its sockets have the fields that algorithms see.
    pub fields: Vec<KernelField<'a>>,
}

impl KernelFacts<'_> {
    /// Whether its sockets have Accurate ECN, and its driver knows it: the driver names this field if they do.
    fn has_accecn(&self) -> bool {
        self.fields.iter().any(|field| field.name == "received_ce")
    }
}

/// A run in a guest.
pub struct Guest {
    scenario: Arc<Scenario>,
    ccs: Arc<Vec<KernelCc>>,
    outgoing: Arc<Mutex<Outgoing>>,
    hosts: Arc<Hosts>,
    /// From the beginning.
    relay: Option<Driven>,
    series: Series,
    algorithms: Algorithms,
    /// The buffer of the frame that was fetched last.
    taken: Vec<u8>,
    epoch_ns: u64,
    capture: Option<DrivenCapture>,
    /// Its tap, until the run begins.
    tap: Option<Tap>,
    next_write_ns: u64,
    programs: Option<Programs>,
    qdiscs: Vec<PlannedQdisc>,
    /// The queue of each of them.
    queues: Vec<Arc<dyn KernelQueue>>,
    end: RunEnd,
    failure: Option<Error>,
}

impl Guest {
    /// A run of `scenario` on this kernel, and a capture of it and programs if they are asked for.
    ///
    /// # Errors
    ///
    /// A scenario that a guest cannot run, or a file that cannot be written.
    pub fn new(
        scenario: &Scenario,
        kernel: &KernelFacts<'_>,
        capture: Option<&CaptureConfig>,
        programs: Option<RequestedPrograms>,
    ) -> Result<Self, Error> {
        set_virtual_ns(0);
        set_guests_release(&kernel.release);
        check(scenario)?;
        let scenario = Arc::new(plan::as_guests_run_it(scenario));
        let algorithms = Algorithms::load(&scenario, kernel.fields.iter().copied(), kernel.hz)?;
        let ccs = scenario.groups.iter().enumerate().map(|(index, group)| {
            match algorithms.of_group(index) {
                Some((name, loaded)) => KernelCc::Hosted(name, Box::new(loaded)),
                None if group.cc.name == KERNELS_DEFAULT => {
                    KernelCc::Own(GUESTS_DEFAULT.to_owned())
                }
                None => KernelCc::Own(group.cc.name.trim_start_matches(KERNELS_OWN).to_owned()),
            }
        });
        let ccs: Vec<KernelCc> = ccs.collect();
        plan::check_accecn(&scenario, &ccs, kernel)?;
        let outgoing = Arc::default();
        let mut hosts = Hosts::of_guest(&scenario, &outgoing)?;
        for (group, _) in (0..).zip(&ccs).filter(|(_, cc)| cc.sends_ect1()) {
            hosts.mark_as_l4s(group);
        }
        let (capture, tap) = capture
            .map(|config| DrivenCapture::start(config, &scenario, (ENGINE, start_s() * NS_PER_S)))
            .transpose()?
            .unzip();
        Ok(Self {
            ccs: Arc::new(ccs),
            algorithms,
            hosts: Arc::new(hosts),
            series: Series::new(&scenario),
            programs: programs
                .map(|requested| Programs::new(requested, &scenario))
                .transpose()?,
            qdiscs: qdiscs::planned(&scenario)?,
            queues: Vec::new(),
            end: RunEnd::at(u64::MAX),
            scenario,
            outgoing,
            relay: None,
            taken: Vec::new(),
            epoch_ns: 0,
            capture,
            tap,
            next_write_ns: 0,
            failure: None,
        })
    }

    /// The hosts, by number.
    pub fn hosts(&self) -> Vec<PlannedHost> {
        plan::hosts(&self.scenario, &self.ccs)
    }

    /// The flows that are not of programs.
    pub fn flows(&self) -> Vec<PlannedFlow> {
        plan::flows(&self.scenario, &self.ccs)
    }

    /// The programs, by number.
    pub fn programs(&self) -> &[PlannedProgram] {
        self.programs.as_ref().map_or(&[], Programs::planned)
    }

    /// The queue disciplines that the kernel is to make.
    pub fn qdiscs(&self) -> &[PlannedQdisc] {
        &self.qdiscs
    }

    /// The kernel's part of each of them, in the same order; before the run begins.
    pub fn give_queues(&mut self, queues: Vec<Arc<dyn KernelQueue>>) {
        self.queues = queues;
    }

    /// A queue discipline of the kernel wants to be asked for a packet; when the network is due next.
    pub fn queue_ready(&mut self, now_ns: u64, qdisc: u32) -> u64 {
        set_virtual_ns(now_ns);
        let Some(qdisc) = self.qdiscs.get(qdisc as usize) else {
            return u64::MAX;
        };
        let link = qdisc.link as usize;
        if let Some(relay) = &mut self.relay {
            relay.wake(link, now_ns);
        }
        self.relay.as_ref().map_or(u64::MAX, Driven::due_ns)
    }

    /// The algorithms that the kernel is to call, by number.
    pub fn algorithms(&self) -> Vec<PlannedCc> {
        self.algorithms.planned()
    }

    /// Does what the kernel asks an algorithm for; the callback's value, of `init` the handle.
    ///
    /// # Safety
    ///
    /// The socket is one of the kernel that said where its fields are, and it has no other user meanwhile.
    pub unsafe fn call(&mut self, call: &Call) -> u32 {
        // SAFETY: the caller says so.
        unsafe { self.algorithms.call(call) }
    }

    /// How long the run takes, ns.
    pub fn duration_ns(&self) -> u64 {
        self.scenario.duration_ns
    }

    /// Between samples of the flows, ns.
    pub fn sample_interval_ns(&self) -> u64 {
        self.series.interval_ns()
    }

    /// Bytes of the largest frame that a host sends.
    pub fn largest_frame_bytes(&self) -> usize {
        let largest = self.scenario.groups.iter().map(mtu_bytes).max();
        MAX_READ_BYTES.max(largest.unwrap_or(0) as usize)
    }

    /// Everything is made; the run starts at `epoch_ns`.
    ///
    /// # Errors
    ///
    /// No descriptor is left.
    pub fn begin(&mut self, now_ns: u64, epoch_ns: u64) -> Result<(), Error> {
        set_virtual_ns(now_ns);
        self.epoch_ns = epoch_ns;
        self.end = RunEnd::at(epoch_ns + self.scenario.duration_ns);
        let queues = self.qdiscs.iter().map(|qdisc| qdisc.link as usize);
        let queues = queues.zip(self.queues.iter().cloned()).collect();
        self.relay = Some(Driven::new(
            &self.hosts,
            &self.scenario,
            epoch_ns,
            &self.end,
            self.tap.take(),
            queues,
        )?);
        Ok(())
    }

    /// A host sends a frame; when the network is due next.
    pub fn enter(&mut self, now_ns: u64, host: u32, frame: &[u8]) -> u64 {
        set_virtual_ns(now_ns);
        let (group, way) = (
            (host / 2) as u16,
            [Way::There, Way::Back][host as usize % 2],
        );
        let Device::Guest(port) = &self.hosts.entrance(way, group).device else {
            return u64::MAX;
        };
        port.send(frame);
        self.with_relay(|relay| relay.arrive(group, way))
    }

    /// Everything happens that is due; when the network is due next.
    pub fn advance(&mut self, now_ns: u64) -> u64 {
        set_virtual_ns(now_ns);
        self.with_relay(|relay| relay.advance(now_ns))
    }

    fn with_relay(&mut self, work: impl FnOnce(&mut Driven) -> Result<(), Error>) -> u64 {
        let Some(relay) = &mut self.relay else {
            return u64::MAX;
        };
        if let Err(error) = work(relay) {
            self.failure.get_or_insert(error);
        }
        let due_ns = relay.due_ns().min(locked(&self.outgoing).due_ns());
        self.write_capture();
        due_ns
    }

    /// Once in a while: the ring has room for longer.
    fn write_capture(&mut self) {
        let now_ns = monotonic_ns();
        if let Some(capture) = self
            .capture
            .as_mut()
            .filter(|_| now_ns >= self.next_write_ns)
        {
            if let Err(error) = capture.write() {
                self.failure.get_or_insert(error);
            }
            self.next_write_ns = now_ns + WRITE_EVERY_NS;
        }
    }

    /// A frame that has left the network, and the number of the host that it reaches.
    pub fn take(&mut self) -> Option<(u32, &[u8])> {
        let used = std::mem::take(&mut self.taken);
        let (host, frame) = locked(&self.outgoing).take(monotonic_ns(), used)?;
        self.taken = frame;
        Some((host, &self.taken))
    }

    /// The handshake of a flow is done; `info` is its sender's TCP_INFO.
    pub fn established(&mut self, now_ns: u64, flow: u32, info: &[u8]) {
        set_virtual_ns(now_ns);
        self.series.established(flow, info);
    }

    /// Everything that a flow has written is acknowledged.
    pub fn finished(&mut self, now_ns: u64, flow: u32) {
        set_virtual_ns(now_ns);
        self.series.finished(flow);
    }

    /// A flow is sampled; [`Guest::sampled`] follows the last.
    pub fn sample(&mut self, now_ns: u64, flow: u32, state: &State<'_>) {
        set_virtual_ns(now_ns);
        if let Some(relay) = &self.relay {
            let group = self.series.sample(flow, state, &relay.latest_rtts);
            if self.series.is_recording() {
                self.algorithms.sample(group, state.handle);
            }
        }
    }

    /// All flows that are active were sampled for this instant, ns from the start of the run.
    pub fn sampled(&mut self, now_ns: u64, instant_ns: u64) {
        set_virtual_ns(now_ns);
        let epoch_ns = self.epoch_ns;
        if let Some(relay) = &self.relay {
            self.series.sample_programs(epoch_ns, relay);
        }
        self.series.sampled(epoch_ns, instant_ns);
        if let Some(fault) = self.algorithms.fault() {
            self.failure.get_or_insert(Error::Refused(fault));
        }
    }

    /// A program prints to its stream 1 or 2: how many bytes were taken, or an error of the kernel.
    pub fn write(&mut self, program: u32, stream: u32, bytes: &[u8]) -> i64 {
        let programs = self.programs.as_mut();
        programs.map_or(0, |programs| programs.write(program, stream, bytes))
    }

    /// A program reads its standard input: how many bytes there were, or an error of the kernel.
    pub fn read(&mut self, program: u32, buffer: &mut [u8]) -> i64 {
        let programs = self.programs.as_mut();
        programs.map_or(0, |programs| programs.read(program, buffer))
    }

    /// A program is started.
    pub fn program_started(&mut self, now_ns: u64, program: u32) {
        set_virtual_ns(now_ns);
        if let Some(programs) = &mut self.programs {
            programs.started(now_ns, program);
        }
    }

    /// A program has ended, by its status as wait(2) has it, or could not be started because of an error of the kernel. Whether it
    /// was the last client.
    ///
    /// # Errors
    ///
    /// The run cannot go on without it.
    pub fn program_ended(
        &mut self,
        now_ns: u64,
        program: u32,
        status: i32,
        error: i32,
    ) -> Result<bool, Error> {
        set_virtual_ns(now_ns);
        let has_begun = self.relay.is_some() && now_ns >= self.epoch_ns;
        match &mut self.programs {
            Some(programs) => programs.ended(now_ns, program, status, error, has_begun),
            None => Ok(false),
        }
    }

    /// The error for a server whose ports are not open in time.
    pub fn not_ready(&self, program: u32) -> Option<Error> {
        let programs = self.programs.as_ref();
        programs.map(|programs| programs.not_ready(program))
    }

    /// No more is measured; when the network is due next.
    pub fn over(&mut self, now_ns: u64) -> u64 {
        set_virtual_ns(now_ns);
        self.end.bring_forward(now_ns);
        self.with_relay(|relay| relay.advance(now_ns))
    }

    /// Programs are asked to end.
    pub fn ending(&mut self) {
        if let Some(programs) = &mut self.programs {
            programs.ending();
        }
    }

    /// Why the run cannot go on, if it cannot.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The state of a flow at the end.
    pub fn final_state(&mut self, flow: u32, state: &State<'_>) {
        self.series.end(flow, state);
    }

    /// The run is over: what was measured.
    ///
    /// # Errors
    ///
    /// The first failure during the run.
    pub fn end(mut self, now_ns: u64) -> Result<Output, Error> {
        self.advance(now_ns);
        if let Some(error) = self.failure {
            return Err(error);
        }
        let relay = (self.relay.ok_or(Error::Cancelled)?).finish()?;
        let capture = self.capture.map(DrivenCapture::finish).transpose()?;
        let (samples, bbr_states, courses, ends, means, lost_pkts) = self.series.into_parts();
        let mut scenario = Arc::unwrap_or_clone(self.scenario);
        scenario.duration_ns = (self.end.ns().saturating_sub(self.epoch_ns)).max(1);
        let is_of_program = |group: usize| scenario.groups[group].program.is_some();
        let programs = self.programs.map_or(Vec::new(), |programs| {
            programs.summaries(self.epoch_ns, now_ns)
        });
        let flows = courses.iter().zip(&ends).zip(&means);
        let mut flows: Vec<FlowReport> = flows
            .filter(|((course, _), _)| !is_of_program(course.group))
            .map(|((course, end), means)| FlowReport::new(course, end, means, self.epoch_ns))
            .collect();
        flows.extend(flows_of_programs(&scenario, &self.ccs, &relay, &programs));
        flows.sort_by_key(|report| report.flow);
        let lost_pkts = courses.iter().zip(lost_pkts);
        let traffic = TrafficReport {
            samples,
            bbr_states,
            flows,
            transfers: None,
            sample_jitter_ns: histogram_ns(),
            missed_instants: 0,
        };
        let measured = Measured {
            epoch_ns: self.epoch_ns,
            began_ns: (!programs.is_empty()).then(|| start_s() * NS_PER_S + self.epoch_ns),
            calibration: Calibration::not_made(&scenario),
            states: Columns {
                samples: self.algorithms.samples,
                lost_pkts: lost_pkts
                    .map(|(course, pkts)| (!is_of_program(course.group)).then_some(pkts))
                    .collect(),
            },
            ccs: self.ccs,
            traffic,
            relay,
            capture,
            programs,
            host_dropped_pkts: 0,
            machine_cpu: MachineCpu::default(),
            process_cpu_ns: 0,
            elapsed_ns: monotonic_ns() - self.epoch_ns,
        };
        let mut output = summarize::output(&scenario, measured)?;
        output.summary.engine = ENGINE;
        Ok(output)
    }
}

/// An answer of TCP_INFO; of a kernel that is too old, nothing.
fn tcp_info(answer: &[u8]) -> TcpInfo {
    TcpInfo::parse(answer).unwrap_or_default()
}
