//! The thread that runs all applications: it waits for their sockets and their timers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_app::{End, Event, Outcome};
use dumbbell_results::Transfers;
use dumbbell_scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::beside::Beside;
use super::books::UserReport;
use super::connection::Connection;
use super::hosts::{SocketMaker, failed};
use super::live::LiveUsers;
use super::port_table::Ports;
use super::user::User;
use crate::bpf::SocketTags;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::{go_on, monotonic_ns};
use crate::machine::readiness::Readiness;

/// How often acknowledged bytes are read where no socket reports them, ns, and how much longer for each such
/// socket.
const LOOK_EVERY_NS: u64 = 1_000_000;
const LOOK_EVERY_PER_SOCKET_NS: u64 = 10_000;

/// What applications need.
pub(crate) struct Setup {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) scenario: Arc<Scenario>,
    /// The kernel's name of each group's algorithm.
    pub(crate) kernel_ccs: Vec<String>,
    /// Whether a group's receivers run the algorithm too, because it needs ECN.
    pub(crate) at_receivers: Vec<bool>,
    pub(crate) live: Arc<LiveUsers>,
}

/// A socket that listens.
pub(super) struct Listener {
    pub(super) group: usize,
    pub(super) end: End,
    pub(super) socket: OwnedFd,
}

/// A socket at which datagrams of a group arrive.
pub(super) struct DatagramReceiver {
    pub(super) group: usize,
    pub(super) at: SocketAddrV4,
    pub(super) socket: OwnedFd,
}

/// All applications of a run, and their connections. Times count from the start of the run, if not said otherwise.
pub(crate) struct Applications {
    pub(super) readiness: Readiness,
    pub(super) scenario: Arc<Scenario>,
    pub(super) maker: SocketMaker,
    pub(super) ports: Arc<dyn Ports>,
    pub(super) live: Arc<LiveUsers>,
    pub(super) tags: Option<SocketTags>,
    /// On the monotonic clock.
    pub(super) epoch_ns: u64,
    pub(super) users: Vec<User>,
    /// When users are to be woken.
    pub(super) timers: BTreeSet<(u64, usize)>,
    /// Each user's entry in `timers`.
    pub(super) timer_of: Vec<u64>,
    pub(super) slots: Vec<Option<Connection>>,
    pub(super) free_slots: Vec<usize>,
    pub(super) generation: u32,
    /// Connections, and users' datagrams, by group and the port they come from.
    pub(super) slot_of: BTreeMap<(usize, u16), usize>,
    pub(super) user_of: BTreeMap<(usize, u16), usize>,
    /// Connections that were opened, by group.
    pub(super) opened: Vec<u32>,
    pub(super) listeners: Vec<Listener>,
    pub(super) listening: BTreeSet<(usize, Ipv4Addr, u16)>,
    pub(super) datagram_receivers: Vec<DatagramReceiver>,
    /// Ends whose last bytes are not acknowledged and whose socket does not tell when they are.
    pub(super) unacknowledged: BTreeSet<(usize, usize)>,
    pub(super) next_look_ns: u64,
    /// Ends that could write more when their turn ended.
    pub(super) unfinished_turns: Vec<(usize, End)>,
    /// What is to be reported to users, and when it happened.
    pub(super) events: VecDeque<(usize, u64, Event)>,
    pub(super) transfers: Transfers,
    beside: Option<Box<dyn Beside>>,
}

/// What applications did.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ApplicationsReport {
    pub(crate) users: Vec<UserReport>,
    pub(crate) transfers: Transfers,
}

impl Applications {
    /// Applications of the groups that have one; `None` if none has. The run starts at `epoch_ns` of the monotonic
    /// clock; senders' sockets are tagged with their flows in `tags`.
    pub(crate) fn new(
        readiness: Readiness,
        setup: Setup,
        ports: Arc<dyn Ports>,
        tags: Option<SocketTags>,
        epoch_ns: u64,
    ) -> Option<Self> {
        let scenario = setup.scenario;
        let live = setup.live.lock();
        let users: Vec<User> = live
            .iter()
            .map(|user| {
                let (group, cc) = (&scenario.groups[user.group], &setup.kernel_ccs[user.group]);
                User::new(&scenario, user.flow, user.group, group, cc)
            })
            .collect();
        drop(live);
        if users.is_empty() {
            return None;
        }
        let timer_of: Vec<u64> = users.iter().map(User::next_timer_ns).collect();
        let (hosts, ccs) = (&setup.hosts, &setup.kernel_ccs);
        Some(Self {
            readiness,
            maker: SocketMaker::new(hosts, &scenario, ccs, setup.at_receivers),
            ports,
            live: setup.live,
            tags,
            epoch_ns,
            timers: timer_of.iter().copied().zip(0..).collect(),
            timer_of,
            users,
            slots: Vec::new(),
            free_slots: Vec::new(),
            generation: 0,
            slot_of: BTreeMap::new(),
            user_of: BTreeMap::new(),
            opened: vec![0; scenario.groups.len()],
            listeners: Vec::new(),
            listening: BTreeSet::new(),
            datagram_receivers: Vec::new(),
            unacknowledged: BTreeSet::new(),
            next_look_ns: u64::MAX,
            unfinished_turns: Vec::new(),
            events: VecDeque::new(),
            transfers: Transfers::default(),
            beside: None,
            scenario,
        })
    }

    /// Runs until the end of the run, gives what was then, and keeps all as it is until `stopped` is set and the
    /// waker called.
    pub(crate) fn run(mut self, stopped: &AtomicBool) -> Result<ApplicationsReport, Error> {
        let report = self.run_to_end(stopped)?;
        self.readiness.wake_at(u64::MAX).map_err(Error::waiting)?;
        self.keep_until(stopped)?;
        Ok(report)
    }

    /// The same, and leaves when the run ends; something else is done beside it.
    pub(crate) fn run_beside(
        mut self,
        beside: Box<dyn Beside>,
    ) -> Result<ApplicationsReport, Error> {
        self.beside = Some(beside);
        self.run_to_end(&AtomicBool::new(false))
    }

    fn run_to_end(&mut self, stopped: &AtomicBool) -> Result<ApplicationsReport, Error> {
        let mut ready = Vec::new();
        while !stopped.load(Ordering::Acquire) {
            let now_ns = self.now_ns();
            let goes_on = match &mut self.beside {
                Some(beside) => beside.look(now_ns, &self.live)?,
                None => true,
            };
            if !goes_on || self.has_ended() {
                break;
            }
            self.run_due_timers()?;
            self.take_turns()?;
            self.set_timer()?;
            let may_sleep = self.unfinished_turns.is_empty();
            self.readiness
                .wait(may_sleep, &mut ready)
                .map_err(Error::waiting)?;
            go_on();
            for event in ready.drain(..) {
                if self.has_ended() {
                    break;
                }
                self.on_ready(event)?;
                self.tell_all()?;
            }
        }
        self.report()
    }

    /// The end of the run was reached; the thread waits until its sockets are no longer needed.
    fn keep_until(&mut self, stopped: &AtomicBool) -> Result<(), Error> {
        while !stopped.load(Ordering::Acquire) {
            // Edge-triggered sockets tell each event once; a full wait would spin on listeners.
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        Ok(())
    }

    /// Since the start of the run: 0 before it, and its length after its end, when the thread may still be at work
    /// on an event of before. A result has no later times.
    pub(super) fn now_ns(&self) -> u64 {
        let since_start_ns = monotonic_ns().saturating_sub(self.epoch_ns);
        since_start_ns.min(self.scenario.duration_ns)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.now_ns() >= self.scenario.duration_ns
    }

    fn run_due_timers(&mut self) -> Result<(), Error> {
        if monotonic_ns() < self.epoch_ns {
            return Ok(());
        }
        let now_ns = self.now_ns();
        while let Some(&(due_ns, user)) = self.timers.first() {
            if due_ns > now_ns {
                break;
            }
            self.wake_user(user, now_ns);
            self.tell_all()?;
        }
        if self.next_look_ns <= now_ns {
            for (slot, end) in self.unacknowledged.clone() {
                self.look_for_acknowledgment(slot, [End::Sender, End::Receiver][end])?;
            }
            self.next_look_ns = u64::MAX;
            self.tell_all()?;
        }
        Ok(())
    }

    fn wake_user(&mut self, index: usize, now_ns: u64) {
        let user = &mut self.users[index];
        if !user.has_started {
            user.has_started = true;
            self.live.lock()[index].has_started = true;
            self.note(index, Event::Start);
            return;
        }
        let is_due = user.application.next_timer_ns() <= now_ns;
        if user.is_to_stop(now_ns) {
            user.has_stopped = true;
            self.note(index, Event::Stop);
        }
        if is_due {
            self.note(index, Event::Timer);
        }
    }

    /// A user's next timer may be another than before.
    pub(super) fn set_clock(&mut self, user: usize) {
        let next_ns = self.users[user].next_timer_ns();
        let before_ns = std::mem::replace(&mut self.timer_of[user], next_ns);
        if next_ns != before_ns {
            self.timers.remove(&(before_ns, user));
            self.timers.insert((next_ns, user));
        }
    }

    /// Ends that could write more do.
    fn take_turns(&mut self) -> Result<(), Error> {
        for (slot, end) in std::mem::take(&mut self.unfinished_turns) {
            self.push(slot, end)?;
        }
        self.tell_all()
    }

    fn set_timer(&mut self) -> Result<(), Error> {
        let now_ns = self.now_ns();
        if self.unacknowledged.is_empty() {
            self.next_look_ns = u64::MAX;
        } else if self.next_look_ns == u64::MAX {
            let sockets = self.unacknowledged.len() as u64;
            self.next_look_ns = now_ns + LOOK_EVERY_NS.max(sockets * LOOK_EVERY_PER_SOCKET_NS);
        }
        let timer_ns = self.timers.first().map_or(u64::MAX, |&(due_ns, _)| due_ns);
        let beside_ns = self.beside.as_ref().map_or(u64::MAX, |it| it.next_ns());
        let due_ns = timer_ns
            .min(self.next_look_ns)
            .min(beside_ns)
            .min(self.scenario.duration_ns);
        self.readiness
            .wake_at(self.epoch_ns.saturating_add(due_ns))
            .map_err(Error::waiting)
    }

    /// Something of a user's happened now.
    pub(super) fn note(&mut self, user: usize, event: Event) {
        let now_ns = self.now_ns();
        self.events.push_back((user, now_ns, event));
    }

    /// Reports to applications what happened, and does what they want done.
    pub(super) fn tell_all(&mut self) -> Result<(), Error> {
        let mut outcome = Outcome::default();
        while let Some((index, at_ns, event)) = self.events.pop_front() {
            let user = &mut self.users[index];
            user.application.on_event(at_ns, event, &mut outcome);
            let (flow, group) = (user.flow, user.group as u32);
            for transfer in outcome.transfers.drain(..) {
                self.transfers.push(group, flow, 0, &transfer);
            }
            for command in std::mem::take(&mut outcome.commands) {
                self.execute(index, command)?;
            }
            self.set_clock(index);
        }
        Ok(())
    }

    /// What is at the end of the run.
    fn report(&mut self) -> Result<ApplicationsReport, Error> {
        // The run may have ended before its time.
        let end_ns = self.now_ns();
        let mut users = Vec::with_capacity(self.users.len());
        for user in &self.users {
            let mut books = user.books.clone();
            for &slot in user.open.values() {
                if let Some(connection) = &self.slots[slot] {
                    let what = "could not look at its socket";
                    books.add(connection).map_err(failed(user.group, what))?;
                }
            }
            let mut unfinished = Vec::new();
            user.application.unfinished(&mut unfinished);
            for transfer in &unfinished {
                self.transfers
                    .push(user.group as u32, user.flow, 0, transfer);
            }
            users.push(user.report(end_ns, books));
        }
        Ok(ApplicationsReport {
            users,
            transfers: std::mem::take(&mut self.transfers),
        })
    }
}
