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
//! | `series` | samples of the flows |

mod algorithms;
pub mod files;
mod plan;
mod series;
mod socket_fields;

use std::sync::{Arc, Mutex};

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Output;
use dumbbell_scenario::{Scenario, Way};

use crate::bpf::congestion_controls::{KERNELS_OWN, KernelCc};
use crate::calibration::Calibration;
use crate::capture::{DrivenCapture, Tap};
use crate::error::Error;
use crate::hosts::device::Device;
use crate::hosts::host::{Hosts, mtu_bytes};
use crate::hosts::port::{Outgoing, locked};
use crate::machine::clock::{monotonic_ns, set_virtual_ns};
use crate::machine::cpu::MachineCpu;
use crate::machine::kernel::set_guests_release;
use crate::measured::Measured;
use crate::packet::super_packet::MAX_READ_BYTES;
use crate::relay::driven::Driven;
use crate::sampling::flow_report::FlowReport;
use crate::sampling::sampler::histogram_ns;
use crate::sampling::states::Columns;
use crate::sockets::tcp_info::TcpInfo;
use crate::summarize;
use crate::traffic::TrafficReport;
use algorithms::Algorithms;
pub use algorithms::{Call, PlannedCc};
pub use plan::{PlannedFlow, PlannedHost, check};
use series::Series;
pub use series::State;
pub use socket_fields::KernelField;

/// The engine's name.
const ENGINE: &str = "uml";

/// The time of day at which a guest boots, in seconds since 1970: any, but always the same.
pub const START_S: u64 = 1_700_000_000;

/// How often a capture is written, ns: its ring has room for 2 s.
const WRITE_EVERY_NS: u64 = 20_000_000;

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
    failure: Option<Error>,
}

impl Guest {
    /// A run of `scenario` on this kernel, and a capture of it if one is asked for.
    ///
    /// # Errors
    ///
    /// A scenario that a guest cannot run, or a file that cannot be written.
    pub fn new(
        scenario: &Scenario,
        kernel: &KernelFacts<'_>,
        capture: Option<&CaptureConfig>,
    ) -> Result<Self, Error> {
        set_virtual_ns(0);
        set_guests_release(&kernel.release);
        check(scenario)?;
        let scenario = Arc::new(plan::as_guests_run_it(scenario));
        let algorithms = Algorithms::load(&scenario, kernel.fields.iter().copied(), kernel.hz)?;
        let ccs = scenario.groups.iter().enumerate().map(|(index, group)| {
            match algorithms.of_group(index) {
                Some((name, loaded)) => KernelCc::Hosted(name, Box::new(loaded)),
                None => KernelCc::Own(group.cc.name.trim_start_matches(KERNELS_OWN).to_owned()),
            }
        });
        let outgoing = Arc::default();
        let (capture, tap) = capture
            .map(|config| {
                DrivenCapture::start(config, &scenario, (ENGINE, START_S * 1_000_000_000))
            })
            .transpose()?
            .unzip();
        Ok(Self {
            ccs: Arc::new(ccs.collect()),
            algorithms,
            hosts: Arc::new(Hosts::of_guest(&scenario, &outgoing)?),
            series: Series::new(&scenario),
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
        plan::hosts(&self.scenario)
    }

    /// The flows, by number.
    pub fn flows(&self) -> Vec<PlannedFlow> {
        plan::flows(&self.scenario, &self.ccs)
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
        self.relay = Some(Driven::new(
            &self.hosts,
            &self.scenario,
            epoch_ns,
            self.tap.take(),
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
        let due_ns = relay.due_ns();
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
        let (host, frame) = locked(&self.outgoing).take(used)?;
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
        self.series.sampled(epoch_ns, instant_ns);
        if let Some(fault) = self.algorithms.fault() {
            self.failure.get_or_insert(Error::Refused(fault));
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
        let flows = courses.iter().zip(&ends).zip(&means);
        let traffic = TrafficReport {
            samples,
            bbr_states,
            flows: flows
                .map(|((course, end), means)| FlowReport::new(course, end, means, self.epoch_ns))
                .collect(),
            transfers: None,
            sample_jitter_ns: histogram_ns(),
            missed_instants: 0,
        };
        let measured = Measured {
            epoch_ns: self.epoch_ns,
            calibration: Calibration::not_made(&self.scenario),
            states: Columns {
                samples: self.algorithms.samples,
                lost_pkts: lost_pkts.into_iter().map(Some).collect(),
            },
            ccs: self.ccs,
            traffic,
            relay,
            capture,
            programs: Vec::new(),
            host_dropped_pkts: 0,
            machine_cpu: MachineCpu::default(),
            process_cpu_ns: 0,
            elapsed_ns: monotonic_ns() - self.epoch_ns,
        };
        let mut output = summarize::output(&self.scenario, measured)?;
        output.summary.engine = ENGINE;
        Ok(output)
    }
}

/// An answer of TCP_INFO; of a kernel that is too old, nothing.
fn tcp_info(answer: &[u8]) -> TcpInfo {
    TcpInfo::parse(answer).unwrap_or_default()
}
