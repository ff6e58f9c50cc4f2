//! A network with hosts, which runs until it is stopped: all that a run on the kernel consists of.

use std::net::IpAddr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Output;
use dumbbell_scenario::{Change, Control, Port, Scenario};

use crate::between::{Between, Rebound};
use crate::bpf::congestion_controls::KernelCc;
use crate::calibration::Calibration;
use crate::capture::Capture;
use crate::error::Error;
use crate::flows_of_programs::flows_of_programs;
use crate::gateway::Gateway;
use crate::hosts::host::Hosts;
use crate::machine::awake::spun_ns;
use crate::machine::clock::monotonic_ns;
use crate::machine::cpu::{MachineCpu, process_cpu_ns};
use crate::machine::readiness::sleep_until;
use crate::measured::Measured;
use crate::prepared::{Outside, Prepared};
use crate::programs::{Command, Process, Programs, Side, Spawner, Standard};
use crate::relay::{Relay, parts};
use crate::run_end::RunEnd;
use crate::sampling::states::States;
use crate::snapshot::Snapshot;
use crate::summarize;
use crate::traffic::{Path, RunningTraffic, Traffic};

/// From the moment that everything is ready to the start of the run, so that no thread misses it.
const LEAD_NS: u64 = 20_000_000;

/// From the moment that an earlier end is decided to that end, so that no thread has passed it.
const END_LEAD_NS: u64 = 1_000_000;

/// A running network. Dropped, everything ends: programs, flows, hosts.
pub struct Emulation {
    scenario: Arc<Scenario>,
    ccs: Arc<Vec<KernelCc>>,
    calibration: Calibration,
    states: States,
    programs: Programs,
    traffic: RunningTraffic,
    relay: Relay,
    capture: Option<Capture>,
    outside: Option<Outside>,
    hosts: Arc<Hosts>,
    epoch_ns: u64,
    end: RunEnd,
    before: Before,
}

/// What the machine had computed when the run began.
struct Before {
    machine: MachineCpu,
    spun_ns: u64,
    process_ns: u64,
    at_ns: u64,
}

impl Emulation {
    /// Starts the relay and the flows between hosts that are prepared.
    pub(crate) fn begin(
        prepared: Prepared,
        capture: Option<&CaptureConfig>,
    ) -> Result<Self, Error> {
        let Prepared {
            scenario,
            hosts,
            ccs,
            calibration,
            programs,
            outside,
        } = prepared;
        let kernel_names: Vec<String> = ccs.iter().map(|cc| cc.kernel_name().to_owned()).collect();
        let mut traffic = Traffic::prepare(&hosts, &scenario, &kernel_names)?;
        let at_receivers = |(_, cc): &(usize, &KernelCc)| cc.runs_at_receivers();
        for (group, cc) in ccs.iter().enumerate().filter(at_receivers) {
            traffic.run_at_receivers(group, cc.kernel_name())?;
        }
        let mut states = States::new(&scenario, &ccs, traffic.sender_sockets())?;
        let (capture, taps) = capture
            .map(|config| Capture::start(config, &scenario, parts(&scenario).len()))
            .transpose()?
            .unzip();
        let epoch_ns = monotonic_ns() + LEAD_NS;
        let end = RunEnd::at(epoch_ns + scenario.duration_ns);
        let nat = outside.as_ref().and_then(|outside| outside.nat.as_ref());
        let taps = taps.unwrap_or_default();
        let relay = Relay::start_behind(&hosts, &scenario, epoch_ns, &end, taps, nat)?;
        let before = Before {
            machine: MachineCpu::read()?,
            spun_ns: spun_ns(),
            process_ns: process_cpu_ns(),
            at_ns: monotonic_ns(),
        };
        let tags = states.tags();
        let path = Path::of(&relay);
        let traffic = traffic.start(epoch_ns, &end, path, states.source(), tags)?;
        Ok(Self {
            scenario,
            ccs,
            calibration,
            states,
            programs,
            traffic,
            relay,
            capture,
            outside,
            hosts,
            epoch_ns,
            end,
            before,
        })
    }

    /// Starts a network: its hosts, the relay between them, and the flows of the groups without programs. Programs are
    /// started by [`Emulation::spawn`] alone, also those that the scenario names. What is measured ends with the scenario's time
    /// or at [`Emulation::stop`]. With a `gateway` the first group's server may pass packets on, for which it has what it is
    /// given then.
    ///
    /// # Errors
    ///
    /// A scenario that cannot be run, a machine that cannot run it, a capture that cannot be written, or
    /// [`Error::Cancelled`].
    pub fn start(
        scenario: &Scenario,
        control: &Control,
        capture: Option<&CaptureConfig>,
        gateway: Option<&Gateway>,
    ) -> Result<Self, Error> {
        let spawner = Spawner::start()?;
        let prepared = Prepared::new(scenario, control, Some(spawner), gateway)?;
        Self::begin(prepared, capture)
    }

    /// Starts a network with the first group's hosts behind interfaces of this machine, and those of other groups made as
    /// usual.
    ///
    /// # Errors
    ///
    /// As of [`Emulation::start`]; there is no such interface, or no privilege for it.
    pub fn between(
        scenario: &Scenario,
        control: &Control,
        between: &Between,
    ) -> Result<Self, Error> {
        Self::begin(Prepared::between(scenario, control, between)?, None)
    }

    /// Bindings of the NAT that were replaced since this was last asked, and how many datagrams were sent to what was no
    /// binding.
    pub fn take_rebound(&self) -> (Vec<Rebound>, u64) {
        let nat = self
            .outside
            .as_ref()
            .and_then(|outside| outside.nat.as_ref());
        let Some(nat) = nat else {
            return (Vec::new(), 0);
        };
        let mut nat = nat.lock().unwrap_or_else(PoisonError::into_inner);
        (nat.take_rebound(), nat.unbound_pkts())
    }

    /// Starts a program in a group's host, with these standard input, output and errors.
    ///
    /// # Errors
    ///
    /// There is no such group of programs, or the program cannot be started.
    pub fn spawn(
        &mut self,
        group: usize,
        side: Side,
        command: Command,
        standard: [BorrowedFd<'_>; 3],
    ) -> Result<Process, Error> {
        self.check_group(group)?;
        self.programs
            .spawn(group, side, command, Standard::Given(standard))
    }

    /// Whether ports are open at a group's server.
    ///
    /// # Errors
    ///
    /// There is no such group of programs, or its server has ended.
    pub fn is_ready(&self, group: usize, ports: &[Port]) -> Result<bool, Error> {
        self.check_group(group)?;
        self.programs.are_open(group, ports)
    }

    /// The error for a group's server that has not opened ports within `longest`.
    pub fn not_ready(&self, group: usize, ports: &[Port], longest: Duration) -> Error {
        self.programs.not_open(group, ports, longest)
    }

    /// Addresses of a group's host.
    ///
    /// # Errors
    ///
    /// There is no such group of programs.
    pub fn addresses(&self, group: usize, side: Side) -> Result<Vec<IpAddr>, Error> {
        self.check_group(group)?;
        Ok(self.programs.addresses(group, side))
    }

    /// The network of a group's host, as long as the emulation is there.
    ///
    /// # Errors
    ///
    /// There is no such group of programs.
    pub fn network(&self, group: usize, side: Side) -> Result<BorrowedFd<'_>, Error> {
        self.check_group(group)?;
        Ok(side.host(&self.hosts, group).namespace.as_fd())
    }

    /// Changes the path from now on.
    ///
    /// # Errors
    ///
    /// There is no such link or group, or it cannot be so.
    pub fn change(&self, change: &Change) -> Result<(), Error> {
        self.relay.change(change)
    }

    /// How the path is now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.scenario, &self.relay, self.run_ns())
    }

    fn check_group(&self, group: usize) -> Result<(), Error> {
        let has_programs = |group: &dumbbell_scenario::Group| group.program.is_some();
        match self.scenario.groups.get(group) {
            Some(found) if has_programs(found) => Ok(()),
            Some(_) => Err(Error::Refused(format!(
                "group {group} is of our own flows; programs run in the hosts of a group with a `client`"
            ))),
            None => Err(Error::Refused(format!("there is no group {group}"))),
        }
    }

    /// Starts the clients that the scenario names when they are due, and waits until all have ended or its time is over.
    pub(crate) fn run_clients(&mut self, control: &Control) -> Result<(), Error> {
        self.programs.plan_clients(&self.scenario);
        while !self.is_over(control)? {
            self.programs.step(self.run_ns())?;
            if self.programs.clients_are_over() {
                self.end_soon();
            }
            let pause = self.traffic.until_next_look();
            self.programs.wait(self.run_ns(), pause);
        }
        Ok(())
    }

    /// Whether its time is over, or a part of it has stopped; [`Emulation::stop`] then says why.
    fn is_over(&self, control: &Control) -> Result<bool, Error> {
        Ok(!self.parts_run() || self.traffic.is_over(control)?)
    }

    fn parts_run(&self) -> bool {
        self.relay.is_running() && self.capture.as_ref().is_none_or(Capture::is_running)
    }

    /// Time since it began; 0 before.
    fn run_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.epoch_ns)
    }

    fn end_soon(&self) {
        self.end.bring_forward(monotonic_ns() + END_LEAD_NS);
    }

    /// Ends what is measured now, if its time is not over, and all programs: what was measured.
    ///
    /// # Errors
    ///
    /// A part of it has failed.
    pub fn stop(mut self) -> Result<Output, Error> {
        self.end_soon();
        while self.parts_run() && monotonic_ns() < self.end.ns() {
            sleep_until(self.end.ns());
        }
        if !self.relay.is_running() {
            // Any other failure is a consequence of this one.
            self.relay.stop()?;
            return Err(stopped("relay"));
        }
        if let Some(capture) = self.capture.take_if(|capture| !capture.is_running()) {
            capture.finish()?;
            return Err(stopped("capture"));
        }
        // A CPU that is only kept awake is idle.
        let spun_ns = spun_ns() - self.before.spun_ns;
        let machine_cpu = (MachineCpu::read()?.since(self.before.machine)).with_idle(spun_ns);
        let process_cpu_ns = (process_cpu_ns() - self.before.process_ns).saturating_sub(spun_ns);
        let elapsed_ns = monotonic_ns() - self.before.at_ns;
        let mut traffic = self.traffic.finish()?;
        // With the path still there, on which they may say that they end.
        self.programs.end()?;
        let programs = self.programs.summaries(self.epoch_ns);
        let relay = self.relay.stop()?;
        for capture in self
            .outside
            .into_iter()
            .flat_map(|outside| outside.captures)
        {
            capture.finish()?;
        }
        // What was changed is what the links could carry.
        let mut scenario = self.scenario.with_changes(&relay.changes);
        scenario.duration_ns = (self.end.ns().saturating_sub(self.epoch_ns)).max(1);
        let of_programs = flows_of_programs(&scenario, &self.ccs, &relay, &programs);
        traffic.flows.extend(of_programs);
        traffic.flows.sort_by_key(|report| report.flow);
        let measured = Measured {
            epoch_ns: self.epoch_ns,
            began_ns: None,
            ccs: self.ccs,
            calibration: self.calibration,
            traffic,
            states: self.states.take(),
            relay,
            capture: self.capture.map(Capture::finish).transpose()?,
            programs,
            host_dropped_pkts: self.hosts.dropped_pkts()?,
            machine_cpu,
            process_cpu_ns,
            elapsed_ns,
        };
        summarize::output(&scenario, measured)
    }
}

/// The error for a part that ended without an error before it was stopped.
fn stopped(what: &str) -> Error {
    Error::Refused(format!("the {what} stopped in the middle of the run"))
}
