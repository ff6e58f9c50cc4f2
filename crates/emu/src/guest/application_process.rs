//! The processes in a guest that run applications: one runs them all, with the code of the kernel engine, and enters hosts by way
//! of the others.

use std::io::{self, Read as _, Write as _};
use std::sync::{Arc, Mutex};

use dumbbell_scenario::Scenario;
use rustix::process::{Pid, Signal, getpid, kill_process};

use super::conversation::{Said, SampledUser, Setup, Task};
use crate::applications::{
    Applications, Beside, LiveUser, LiveUsers, OPENING_PORTS, Ports, Setup as Users,
};
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::hosts::namespace::Namespace;
use crate::machine::clock::stand_still;
use crate::machine::file_limit::raise_file_limit;
use crate::machine::readiness::Readiness;
use crate::sampling::reading::{no_connection, read_user};
use crate::sockets::socket;
use crate::sockets::tcp_info::TcpInfo;

/// How often it is asked whether programs have ended the run, ns.
const ASK_EVERY_NS: u64 = 10_000_000;

/// Does what the engine asks this process of a guest for; its status.
pub fn run_process() -> i32 {
    let failed = match task() {
        Ok(Task::Door) => open_door(),
        Ok(Task::Run(setup)) => run(*setup),
        Err(error) => Err(error),
    };
    match failed {
        Ok(()) => 0,
        Err(error) => {
            // The engine sees the status at least.
            let _ = say(&Said::Failed(error.to_string()));
            1
        }
    }
}

fn task() -> Result<Task, Error> {
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text).map_err(cannot_talk)?;
    serde_json::from_slice(&text).map_err(|error| cannot_talk(error.into()))
}

/// Says something to the engine, which has heard it when this returns.
fn say(said: &Said) -> Result<(), Error> {
    let mut line = serde_json::to_vec(said).map_err(|error| cannot_talk(error.into()))?;
    line.push(b'\n');
    io::stdout().write_all(&line).map_err(cannot_talk)
}

fn cannot_talk(source: io::Error) -> Error {
    Error::System {
        what: "a process of the applications cannot talk to the engine".to_owned(),
        source,
    }
}

/// Waits in its host to be ended.
fn open_door() -> Result<(), Error> {
    say(&Said::Open {
        process: getpid().as_raw_nonzero().get().cast_unsigned(),
    })?;
    loop {
        std::thread::park();
    }
}

fn run(setup: Setup) -> Result<(), Error> {
    let scenario = Arc::new(setup.scenario);
    let users = LiveUsers::new(&scenario);
    let beside = Sampler {
        next_ns: setup.interval_ns,
        interval_ns: setup.interval_ns,
        has_programs: scenario.groups.iter().any(|it| it.program.is_some()),
        asked_ns: 0,
        latest: vec![no_connection(); users.lock().len()],
        is_bbr: (scenario.groups.iter())
            .map(|it| it.cc.name == "linux/bbr")
            .collect(),
    };
    let users = Users {
        hosts: Arc::new(enter(&scenario, &setup.doors)?),
        scenario,
        kernel_ccs: setup.kernel_ccs,
        at_receivers: setup.at_receivers,
        live: users,
    };
    // Both ends of as many connections as a group has.
    raise_file_limit(2 * u64::from(OPENING_PORTS))?;
    stand_still();
    let readiness = Readiness::new().map_err(Error::waiting)?;
    let ports = Arc::new(PortsOfEngine);
    let applications = Applications::new(readiness, users, ports, None, setup.epoch_ns);
    match applications {
        Some(applications) => say(&Said::Done(applications.run_beside(Box::new(beside))?)),
        None => Ok(()),
    }
}

/// The hosts, of which only the namespaces are used, and those only of groups with applications. The doors are closed behind it.
fn enter(scenario: &Scenario, doors: &[(u32, u32)]) -> Result<Hosts, Error> {
    let mut hosts = Hosts::of_guest(scenario, &Arc::new(Mutex::default()))?;
    for &(number, process) in doors {
        let side = match number % 2 {
            0 => &mut hosts.senders,
            _ => &mut hosts.receivers,
        };
        side[number as usize / 2].namespace = Namespace::of_process(process)?;
        if let Some(door) = Pid::from_raw(process.cast_signed()) {
            // One that has ended needs no end.
            let _ = kill_process(door, Signal::KILL);
        }
    }
    Ok(hosts)
}

/// Lets the engine know whose packets it sees.
struct PortsOfEngine;

impl Ports for PortsOfEngine {
    fn give(&self, group: usize, port: u16, flow: u32) {
        // What cannot be said now cannot be said at the end either, which fails.
        let _ = say(&Said::Port { group, port, flow });
    }
}

/// Samples users, and asks whether programs have ended the run.
struct Sampler {
    next_ns: u64,
    interval_ns: u64,
    has_programs: bool,
    asked_ns: u64,
    /// What each user's latest connection reported last.
    latest: Vec<TcpInfo>,
    /// Whether each group's algorithm is the kernel's BBR.
    is_bbr: Vec<bool>,
}

impl Beside for Sampler {
    fn next_ns(&self) -> u64 {
        match self.has_programs {
            true => self.next_ns.min(self.asked_ns + ASK_EVERY_NS),
            false => self.next_ns,
        }
    }

    fn look(&mut self, now_ns: u64, users: &LiveUsers) -> Result<bool, Error> {
        while self.next_ns <= now_ns {
            for (user, latest) in users.lock().iter().zip(&mut self.latest) {
                if user.has_started {
                    let is_bbr = self.is_bbr[user.group];
                    say(&Said::Sampled(sampled(user, latest, self.next_ns, is_bbr)?))?;
                }
            }
            self.next_ns += self.interval_ns;
        }
        if !self.has_programs {
            return Ok(true);
        }
        self.asked_ns = now_ns;
        // At the end of the run there is something to read again.
        Ok(io::stdin().read(&mut [0; 1]).map_err(cannot_talk)? == 0)
    }
}

fn sampled(
    user: &LiveUser,
    latest: &mut TcpInfo,
    instant_ns: u64,
    is_bbr: bool,
) -> Result<SampledUser, Error> {
    let reading = read_user(user, latest)?;
    let mut answer = [0; 64];
    let sender = user.senders.values().next_back();
    let cc = sender.filter(|_| is_bbr);
    let cc = cc.map_or(Ok(&[][..]), |it| socket::cc_info(&it.socket, &mut answer));
    Ok(SampledUser {
        instant_ns,
        flow: user.flow,
        info: reading.info,
        cwnd_max_pkts: reading.cwnd_max_pkts,
        syn_retransmits: reading.syn_retransmits,
        received_bytes: user.received_bytes,
        port: sender.map_or(0, |sender| sender.port),
        cc: cc
            .map_err(|source| Error::System {
                what: format!("flow {} did not report its bbr state", user.flow),
                source,
            })?
            .to_vec(),
    })
}
