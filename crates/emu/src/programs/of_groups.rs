//! The programs of a run: servers before it, clients when they are due, and all of them gone when it is over.

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dumbbell_results::ProgramSummary;
use dumbbell_scenario::{Control, Port, Program, Scenario};

use super::child::{Child, Command, Exit};
use super::names::Names;
use super::output::Output;
use super::ports::are_open;
use super::process::{Process, wait_for_reports};
use super::run_delay::RunDelay;
use super::spawner::Spawner;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::hosts::host::{Host, Hosts};
use crate::machine::clock::monotonic_ns;

/// How long a server may take until its ports are open.
pub(crate) const READY_WITHIN: Duration = Duration::from_secs(30);
/// How often that is looked at, and whatever else is not reported.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long programs have between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// How often the scheduler's times are read.
const DELAYS_EVERY: Duration = Duration::from_millis(100);

/// The host of a group that a program is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where data arrive.
    Client,
    /// Where they come from.
    Server,
}

impl Side {
    /// Name of the side.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    pub(crate) fn host(self, hosts: &Hosts, group: usize) -> &Host {
        match self {
            Self::Client => &hosts.receivers[group],
            Self::Server => &hosts.senders[group],
        }
    }
}

/// Standard input, output and errors of a program.
#[derive(Debug)]
pub(crate) enum Standard<'a> {
    /// Nothing comes in, and the last of what goes out is kept.
    Kept,
    /// The given descriptors.
    Given([BorrowedFd<'a>; 3]),
}

/// Programs in the hosts of an emulation. Dropped, all of them are killed.
#[derive(Debug)]
pub(crate) struct Programs {
    /// `None`: nothing can be started.
    spawner: Option<Spawner>,
    hosts: Arc<Hosts>,
    /// Names of each group's hosts.
    names: Vec<Names>,
    /// Clients that are not started yet, by when they are due in the run, ns.
    due: Vec<(u64, usize, Command)>,
    started: Vec<Started>,
    delays_read: Instant,
}

#[derive(Debug)]
struct Started {
    group: usize,
    side: Side,
    command: Command,
    process: Process,
    /// Unless it was given where to print.
    output: Option<Output>,
    delay: RunDelay,
    /// Whether it still ran when it was told to end.
    was_ended: bool,
}

impl Programs {
    /// Makes a list without programs.
    pub(crate) fn new(
        spawner: Option<Spawner>,
        hosts: &Arc<Hosts>,
        gateway: Option<&Gateway>,
    ) -> Self {
        let groups = hosts.senders.iter().zip(&hosts.receivers).enumerate();
        let names = groups.map(|(number, (server, client))| {
            let gateway = gateway.filter(|_| server.is_gateway);
            let servers = match gateway.and_then(|gateway| gateway.server) {
                Some(beyond) => vec![beyond.into()],
                None => server.addresses(),
            };
            let resolver = gateway.map(|gateway| gateway.resolver.as_str());
            Names::of_group(number, &servers, &client.addresses(), resolver)
        });
        Self {
            spawner,
            names: names.collect(),
            hosts: Arc::clone(hosts),
            due: Vec::new(),
            started: Vec::new(),
            delays_read: Instant::now(),
        }
    }

    /// Addresses of a group's host.
    pub(crate) fn addresses(&self, group: usize, side: Side) -> Vec<IpAddr> {
        side.host(&self.hosts, group).addresses()
    }

    /// Starts a program in a group's host.
    pub(crate) fn spawn(
        &mut self,
        group: usize,
        side: Side,
        command: Command,
        standard: Standard<'_>,
    ) -> Result<Process, Error> {
        let network = &side.host(&self.hosts, group).namespace;
        let (nothing, kept);
        let (standard, output) = match standard {
            Standard::Given(standard) => (standard, None),
            Standard::Kept => {
                nothing = File::open("/dev/null").map_err(|source| Error::System {
                    what: "cannot open /dev/null".to_owned(),
                    source,
                })?;
                let (output, write) = Output::open()?;
                kept = write;
                ([nothing.as_fd(), kept.as_fd(), kept.as_fd()], Some(output))
            }
        };
        let lingers = side == Side::Server;
        let names = &self.names[group];
        let spawner = self
            .spawner
            .as_ref()
            .ok_or_else(|| Error::Refused("this run was started without programs".to_owned()))?;
        let child = Child::start(spawner, &command, lingers, network, names, standard)?;
        let process = Process::new(child)?;
        self.started.push(Started {
            group,
            side,
            command,
            process: process.clone(),
            output,
            delay: RunDelay::default(),
            was_ended: false,
        });
        Ok(process)
    }

    /// Starts the servers of `scenario`, one after the other, each when the one before is ready.
    pub(crate) fn start_servers(
        &mut self,
        scenario: &Scenario,
        control: &Control,
    ) -> Result<(), Error> {
        for (group, program) in programs_of(scenario) {
            if program.server.is_empty() {
                continue;
            }
            let command = Command::new(&program.server);
            self.spawn(group, Side::Server, command, Standard::Kept)
                .map_err(|error| of(group, Side::Server, &error))?;
            self.await_ports(group, &program.ready, READY_WITHIN, control)?;
        }
        Ok(())
    }

    /// Waits until ports are open at a group's server.
    pub(super) fn await_ports(
        &self,
        group: usize,
        ports: &[Port],
        longest: Duration,
        control: &Control,
    ) -> Result<(), Error> {
        let until = Instant::now() + longest;
        loop {
            if control.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if self.are_open(group, ports)? {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(self.not_open(group, ports, longest));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether ports are open at a group's server; an error, if it has ended.
    pub(crate) fn are_open(&self, group: usize, ports: &[Port]) -> Result<bool, Error> {
        if are_open(ports, &Side::Server.host(&self.hosts, group).namespace)? {
            return Ok(true);
        }
        if let Some(server) = self.last_server(group)
            && let Some(exit) = server.process.poll()?
            && server.process.lock().is_gone()
        {
            return Err(Error::Refused(format!(
                "the server of group {group}, `{}`, {} before {} was open{}",
                server.command.words[0],
                described(exit),
                listed(ports),
                server.printed()
            )));
        }
        Ok(false)
    }

    /// The error for ports that were not opened within `longest`.
    pub(crate) fn not_open(&self, group: usize, ports: &[Port], longest: Duration) -> Error {
        let printed = self.last_server(group).map(Started::printed);
        Error::Refused(format!(
            "the server of group {group} did not open {} within {} s{}; change `ready`, or start the server in the foreground",
            listed(ports),
            longest.as_secs_f64(),
            printed.unwrap_or_default()
        ))
    }

    fn last_server(&self, group: usize) -> Option<&Started> {
        let mut latest_first = self.started.iter().rev();
        latest_first.find(|it| it.group == group && it.side == Side::Server)
    }

    /// Takes over the clients of `scenario`, which [`Programs::step`] starts when they are due.
    pub(crate) fn plan_clients(&mut self, scenario: &Scenario) {
        for (group, program) in programs_of(scenario) {
            if !program.client.is_empty() {
                let flow: u32 = scenario.groups[..group]
                    .iter()
                    .map(|group| group.flows)
                    .sum();
                let due_ns = scenario.groups[group].start_of(scenario.seed, flow);
                self.due
                    .push((due_ns, group, Command::new(&program.client)));
            }
        }
        self.due.sort_by_key(|&(due_ns, group, _)| (due_ns, group));
    }

    /// Starts the clients that are due at `run_ns` of the run, and looks at all that run.
    pub(crate) fn step(&mut self, run_ns: u64) -> Result<(), Error> {
        while self
            .due
            .first()
            .is_some_and(|&(due_ns, ..)| due_ns <= run_ns)
        {
            let (_, group, command) = self.due.remove(0);
            self.spawn(group, Side::Client, command, Standard::Kept)
                .map_err(|error| of(group, Side::Client, &error))?;
        }
        let reads_delays = self.delays_read.elapsed() >= DELAYS_EVERY;
        if reads_delays {
            self.delays_read = Instant::now();
        }
        for started in &mut self.started {
            started.process.poll()?;
            if reads_delays {
                started.read_delay();
            }
        }
        Ok(())
    }

    /// Whether there are clients, and all of them have ended.
    pub(crate) fn clients_are_over(&self) -> bool {
        let mut clients = self.clients().peekable();
        clients.peek().is_some()
            && self.due.is_empty()
            && clients.all(|client| client.process.lock().exit().is_some())
    }

    /// Waits until one of them reports something, a client is due, or for so long.
    pub(crate) fn wait(&self, run_ns: u64, longest: Duration) {
        let next = self.due.first().map(|&(due_ns, ..)| due_ns);
        let until_next = next.map(|due_ns| Duration::from_nanos(due_ns.saturating_sub(run_ns)));
        let longest = longest.min(until_next.unwrap_or(longest));
        let running: Vec<&Process> = self.started.iter().map(|it| &it.process).collect();
        wait_for_reports(&running, longest);
    }

    fn clients(&self) -> impl Iterator<Item = &Started> {
        let started = self.started.iter();
        started.filter(|it| it.side == Side::Client)
    }

    /// Ends all of them, clients first: with SIGTERM, and what is left with SIGKILL.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        self.due.clear();
        for side in [Side::Client, Side::Server] {
            for started in self.started.iter_mut().filter(|it| it.side == side) {
                started.read_delay();
                // What it has reported meanwhile.
                started.process.poll()?;
                let child = started.process.lock();
                started.was_ended = child.exit().is_none() || child.was_asked_to_end();
                child.signal_all(libc::SIGTERM);
            }
            self.await_end(side, GRACE)?;
            for started in self.started.iter().filter(|it| it.side == side) {
                started.process.lock().kill_all();
            }
            self.await_end(side, GRACE)?;
        }
        Ok(())
    }

    fn await_end(&self, side: Side, longest: Duration) -> Result<(), Error> {
        let until = Instant::now() + longest;
        let its: Vec<&Process> = (self.started.iter())
            .filter(|it| it.side == side)
            .map(|it| &it.process)
            .collect();
        loop {
            let mut are_gone = true;
            for process in &its {
                process.poll()?;
                are_gone &= process.lock().is_gone();
            }
            let left = until.saturating_duration_since(Instant::now());
            if are_gone || left.is_zero() {
                return Ok(());
            }
            wait_for_reports(&its, left.min(LOOK_EVERY));
        }
    }

    /// What became of them, in the order in which they started, in a run that began at `epoch_ns`.
    pub(crate) fn summaries(&self, epoch_ns: u64) -> Vec<ProgramSummary> {
        let started = self.started.iter();
        started.map(|it| it.summary(epoch_ns)).collect()
    }
}

impl Started {
    fn read_delay(&mut self) {
        let init = {
            let child = self.process.lock();
            if child.is_gone() { 0 } else { child.init() }
        };
        if init > 0 {
            self.delay.read(init);
        }
    }

    /// What it printed, all of it if nothing of it is left.
    fn output(&self) -> Option<&Output> {
        let output = self.output.as_ref()?;
        if self.process.lock().is_gone() {
            output.settle();
        }
        Some(output)
    }

    /// Its last words, for a message.
    fn printed(&self) -> String {
        let line = self.output().and_then(Output::last_line);
        line.map_or_else(String::new, |line| format!("; it printed `{line}`"))
    }

    fn summary(&self, epoch_ns: u64) -> ProgramSummary {
        let output = self.output().map(Output::text);
        let child = self.process.lock();
        let us = |at_ns: u64| (at_ns as i64 - epoch_ns as i64) / 1000;
        let end_ns = child.exited_ns().unwrap_or_else(monotonic_ns);
        let (exit_code, signal) = match child.exit() {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        ProgramSummary {
            group: self.group as u32,
            side: self.side.name(),
            command: self.command.words.clone(),
            start_us: us(child.started_ns()),
            end_us: us(end_ns),
            exit_code,
            signal: signal.map(i32::cast_unsigned),
            was_ended: self.was_ended,
            cpu_us: child.cpu_us(),
            run_delay_us: self.delay.total_us(),
            output,
            measured: None,
        }
    }
}

/// The groups with programs, by their numbers.
pub(crate) fn programs_of(scenario: &Scenario) -> impl Iterator<Item = (usize, &Program)> {
    let groups = scenario.groups.iter().enumerate();
    groups.filter_map(|(number, group)| Some((number, group.program.as_ref()?)))
}

fn of(group: usize, side: Side, error: &Error) -> Error {
    Error::Refused(format!("{} of group {group}: {error}", side.name()))
}

/// How a program ended, for a message.
pub(crate) fn described(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("ended with code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
    }
}

/// Ports, for a message.
pub(crate) fn listed(ports: &[Port]) -> String {
    let names: Vec<String> = ports.iter().map(|port| format!("`{port}`")).collect();
    names.join(" and ")
}
