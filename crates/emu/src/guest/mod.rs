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
//! | `applications`, `application_process` | applications, on either side of their `conversation` |
//! | `processes` | the kernel's questions about its processes, and its news of them |
//! | `series` | samples of the flows |
//! | `outcome` | what the run leaves |

mod algorithms;
mod application_process;
mod applications;
pub(crate) mod conversation;
pub mod files;
mod kernel_facts;
mod outcome;
mod plan;
mod processes;
mod programs;
mod qdiscs;
mod requested;
mod series;
mod socket_fields;
pub(crate) mod time_of_day;

use std::sync::{Arc, Mutex};

use dumbbell_capture::CaptureConfig;
pub use dumbbell_net::KernelQueue;
use dumbbell_scenario::{Scenario, Way};

use crate::bpf::congestion_controls::{KERNELS_DEFAULT, KERNELS_OWN, KernelCc};
use crate::capture::{DrivenCapture, Tap};
use crate::error::Error;
use crate::hosts::device::Device;
use crate::hosts::host::{Hosts, mtu_bytes};
use crate::hosts::port::{Outgoing, locked};
use crate::machine::clock::{monotonic_ns, set_virtual_ns};
use crate::machine::kernel::set_guests_release;
use crate::packet::super_packet::MAX_READ_BYTES;
use crate::relay::driven::Driven;
use crate::run_end::RunEnd;
use crate::sockets::tcp_info::TcpInfo;
use algorithms::Algorithms;
pub use algorithms::{Call, PlannedCc};
pub use application_process::run_process;
use applications::Applications;
pub use kernel_facts::KernelFacts;
pub use plan::{PlannedFlow, PlannedHost, check, first_with_accecn};
pub use programs::PlannedProgram;
use programs::Programs;
pub use qdiscs::PlannedQdisc;
pub use requested::{RequestedProgram, RequestedPrograms};
use series::Series;
pub use series::State;
pub use socket_fields::KernelField;

/// The engine's name.
const ENGINE: &str = "uml";

/// What a guest's sockets run unless they choose: `CONFIG_DEFAULT_TCP_CONG` of its kernel.
const GUESTS_DEFAULT: &str = "cubic";

/// How often a capture is written, ns: its ring has room for 2 s.
const WRITE_EVERY_NS: u64 = 20_000_000;

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
    applications: Applications,
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
            .map(|config| {
                DrivenCapture::start(config, &scenario, (ENGINE, time_of_day::start_ns()))
            })
            .transpose()?
            .unzip();
        let programs = programs
            .map(|requested| Programs::new(requested, &scenario))
            .transpose()?;
        // All processes share a directory, and applications need none.
        let of_programs = programs.iter().flat_map(Programs::planned).next();
        let directory = of_programs.map_or_else(|| c"/".to_owned(), |it| it.directory.clone());
        Ok(Self {
            ccs: Arc::new(ccs),
            algorithms,
            hosts: Arc::new(hosts),
            series: Series::new(&scenario),
            programs,
            applications: Applications::new(&scenario, directory)?,
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

    /// The programs, by number: those of the user, then the processes of applications.
    pub fn programs(&self) -> Vec<PlannedProgram> {
        let of_user = self.programs.iter().flat_map(Programs::planned);
        of_user
            .chain(self.applications.planned())
            .cloned()
            .collect()
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
            &self.applications.ports,
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

    /// No more is measured; when the network is due next.
    pub fn over(&mut self, now_ns: u64) -> u64 {
        set_virtual_ns(now_ns);
        self.end.bring_forward(now_ns);
        self.applications.over();
        self.with_relay(|relay| relay.advance(now_ns))
    }

    /// Why the run cannot go on, if it cannot.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The state of a flow at the end.
    pub fn final_state(&mut self, flow: u32, state: &State<'_>) {
        self.series.end(flow, state);
    }
}

/// An answer of TCP_INFO; of a kernel that is too old, nothing.
fn tcp_info(answer: &[u8]) -> TcpInfo {
    TcpInfo::parse(answer).unwrap_or_default()
}
