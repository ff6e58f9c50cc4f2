//! The traffic of a run: its flows' sockets, the threads that send, receive and sample, and the one that runs
//! applications.

use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use dumbbell_results::{FlowSamples, StateSamples, Transfers};
use dumbbell_scenario::{Control, Scenario};
use hdrhistogram::Histogram;

use crate::applications::{Applications, ApplicationsReport, LiveUsers, PortTable, Setup};
use crate::bpf::SocketTags;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::monotonic_ns;
use crate::machine::readiness::{Readiness, Waker};
use crate::machine::realtime::{Priority, make_realtime};
use crate::relay::Relay;
use crate::relay::latest_rtt::LatestRtt;
use crate::run_end::RunEnd;
use crate::sampling::flow_report::FlowReport;
use crate::sampling::sampler::{PathSeries, Sampled, Sampler, StateSource};
use crate::sockets::connection::Connection;
use crate::sockets::receivers::{Receivers, listener};
use crate::sockets::sender_sockets::{sender_sockets, unsent_bytes};
use crate::sockets::senders::Senders;
use crate::sockets::socket;

/// How often the waiting thread checks the control and for failures.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The sockets of a run, before anything is sent. Dropped, they are closed and forgotten.
pub(crate) struct Traffic {
    scenario: Arc<Scenario>,
    hosts: Arc<Hosts>,
    /// Connections of the flows without an application, in flow order.
    connections: Arc<Vec<Connection>>,
    /// Those with one.
    users: Arc<LiveUsers>,
    /// The kernel's name of each group's algorithm.
    kernel_ccs: Vec<String>,
    /// Whether a group's receivers run the algorithm too.
    at_receivers: Vec<bool>,
    /// Listener of each group without applications.
    listeners: Vec<Option<OwnedFd>>,
    receivers: Vec<Ipv4Addr>,
}

/// Threads at work. Dropped, they are stopped and all connections reset.
pub(crate) struct RunningTraffic {
    scenario: Arc<Scenario>,
    connections: Arc<Vec<Connection>>,
    epoch_ns: u64,
    end: RunEnd,
    shared: Arc<Shared>,
    wakers: Vec<Arc<Waker>>,
    threads: Vec<JoinHandle<Option<()>>>,
    sampler: Option<JoinHandle<Option<Sampled>>>,
    applications: Option<JoinHandle<Option<ApplicationsReport>>>,
}

/// What the run gives to its traffic.
pub(crate) struct Path {
    /// Latest RTT sample of each flow.
    latest_rtts: Arc<Vec<LatestRtt>>,
    /// Payload that arrived, by flow; of programs.
    received_bytes: Arc<Vec<AtomicU64>>,
    /// Where applications say whose connection a port is.
    ports: Arc<PortTable>,
}

impl Path {
    /// That of `relay`.
    pub(crate) fn of(relay: &Relay) -> Self {
        Self {
            latest_rtts: relay.latest_rtts(),
            received_bytes: relay.received_bytes(),
            ports: relay.ports(),
        }
    }
}

/// State shared by the threads.
#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    has_failed: AtomicBool,
    /// The first failure of any thread.
    failure: Mutex<Option<Error>>,
}

/// What was measured of the traffic.
pub(crate) struct TrafficReport {
    /// Empty when the scenario requests no time series.
    pub(crate) samples: FlowSamples,
    /// For each group, the state of the kernel's own bbr, where that runs.
    pub(crate) bbr_states: Vec<Option<StateSamples>>,
    /// In flow order.
    pub(crate) flows: Vec<FlowReport>,
    /// What applications began and ended; `None` without one.
    pub(crate) transfers: Option<Transfers>,
    /// From the sampling instant to the first flow's sample, ns.
    pub(crate) sample_jitter_ns: Histogram<u32>,
    /// Sampling instants without rows, because sampling was that late.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    pub(crate) missed_instants: u64,
}

impl Traffic {
    /// Creates all sockets inside the hosts and sets their congestion control algorithms: `kernel_ccs`, by
    /// group, are the kernel's names.
    pub(crate) fn prepare(
        hosts: &Arc<Hosts>,
        scenario: &Arc<Scenario>,
        kernel_ccs: &[String],
    ) -> Result<Self, Error> {
        let mut connections = Vec::with_capacity(scenario.flow_count());
        let mut first_flow = 0;
        let mut listeners = Vec::with_capacity(scenario.groups.len());
        for (index, group) in scenario.groups.iter().enumerate() {
            let flows = first_flow..first_flow + group.flows;
            first_flow = flows.end;
            if !group.has_own_sockets() {
                // Sockets are made as applications open connections, or programs do.
                listeners.push(None);
                continue;
            }
            let host = &hosts.receivers[index];
            let made = host.namespace.within(|| listener(group, host.address))?;
            listeners.push(Some(made.map_err(|source| Error::System {
                what: format!("the receiver of group {index} could not listen"),
                source,
            })?));
            let cc = Arc::from(group.cc.name.as_str());
            let senders = sender_sockets(
                &hosts.senders[index],
                index,
                group,
                &kernel_ccs[index],
                unsent_bytes(scenario),
            )?;
            connections.extend(
                flows
                    .zip(senders)
                    .map(|(flow, sender)| Connection::new(scenario, index, &cc, flow, sender)),
            );
        }
        Ok(Self {
            scenario: Arc::clone(scenario),
            hosts: Arc::clone(hosts),
            connections: Arc::new(connections),
            users: LiveUsers::new(scenario),
            kernel_ccs: kernel_ccs.to_vec(),
            at_receivers: vec![false; scenario.groups.len()],
            listeners,
            receivers: hosts.receivers.iter().map(|host| host.address).collect(),
        })
    }

    /// Makes a group's receivers run `kernel_cc` too, for one that needs ECN: Linux does not accept
    /// ECN from a SYN that is itself ECN-capable unless the listener's congestion control needs
    /// ECN.
    pub(crate) fn run_at_receivers(&mut self, group: usize, kernel_cc: &str) -> Result<(), Error> {
        self.at_receivers[group] = true;
        let Some(listener) = &self.listeners[group] else {
            return Ok(());
        };
        let set = socket::set_congestion_control(listener, kernel_cc);
        set.map_err(|source| Error::System {
            what: format!("the receiver of group {group} could not run `{kernel_cc}`"),
            source,
        })
    }

    /// The senders' sockets with their flows, before they connect.
    pub(crate) fn sender_sockets(&self) -> impl Iterator<Item = (u32, BorrowedFd<'_>)> {
        let connections = self.connections.iter();
        connections.map(|connection| (connection.flow, connection.sender.as_fd()))
    }

    /// Starts the threads; flows start at `epoch_ns` plus their start. `states` reads the congestion control algorithms that
    /// we loaded, of the senders' sockets that are in `tags`.
    pub(crate) fn start(
        self,
        epoch_ns: u64,
        end: &RunEnd,
        path: Path,
        states: Option<Box<dyn StateSource>>,
        tags: Option<SocketTags>,
    ) -> Result<RunningTraffic, Error> {
        let connections = self.connections;
        let sending = Readiness::new().map_err(Error::waiting)?;
        let receiving = Readiness::new().map_err(Error::waiting)?;
        let applying = Readiness::new().map_err(Error::waiting)?;
        let wakers = vec![sending.waker(), receiving.waker(), applying.waker()];
        let setup = Setup {
            hosts: self.hosts,
            scenario: Arc::clone(&self.scenario),
            kernel_ccs: self.kernel_ccs,
            at_receivers: self.at_receivers,
            live: Arc::clone(&self.users),
        };
        let applications = Applications::new(applying, setup, path.ports, tags, epoch_ns);
        let senders = Senders::new(sending, &connections, self.receivers, epoch_ns);
        let receivers = Receivers::new(
            receiving,
            &connections,
            &self.scenario.groups,
            self.listeners,
        )?;
        let sampler = Sampler::new(
            &self.scenario,
            &connections,
            self.users,
            PathSeries {
                latest_rtts: path.latest_rtts,
                received_bytes: path.received_bytes,
            },
            states,
            epoch_ns,
            end,
        );
        let shared = Arc::new(Shared::default());
        // Assembled first: if a thread cannot be started, dropping it stops the others.
        let mut running = RunningTraffic {
            scenario: self.scenario,
            connections,
            epoch_ns,
            end: end.clone(),
            shared: Arc::clone(&shared),
            wakers,
            threads: Vec::with_capacity(2),
            sampler: None,
            applications: None,
        };
        let receive = shared.spawn("receivers", move |stopped| receivers.run(stopped))?;
        running.threads.push(receive);
        let send = shared.spawn("senders", move |stopped| senders.run(stopped))?;
        running.threads.push(send);
        if let Some(applications) = applications {
            let run = move |stopped: &AtomicBool| applications.run(stopped);
            running.applications = Some(shared.spawn("applications", run)?);
        }
        running.sampler = Some(shared.spawn("sampler", move |stopped| sampler.run(stopped))?);
        Ok(running)
    }
}

impl Shared {
    /// Starts a thread whose failure ends the run.
    fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        work: impl FnOnce(&AtomicBool) -> Result<T, Error> + Send + 'static,
    ) -> Result<JoinHandle<Option<T>>, Error> {
        let shared = Arc::clone(self);
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                // The sampler takes a higher one.
                make_realtime(Priority::Application);
                match work(&shared.stopped) {
                    Ok(result) => Some(result),
                    Err(error) => {
                        shared.fail(error);
                        None
                    }
                }
            })
            .map_err(|source| Error::System {
                what: format!("the thread `{name}` could not be started"),
                source,
            })
    }

    fn fail(&self, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        self.has_failed.store(true, Ordering::Release);
    }

    fn take_failure(&self) -> Option<Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }
}

impl RunningTraffic {
    /// Waits for the end of the run, or until the path no longer runs; fails as soon as a thread does or
    /// `control` cancels.
    #[cfg(test)]
    pub(crate) fn wait(
        &self,
        control: &Control,
        path_runs: impl Fn() -> bool,
    ) -> Result<(), Error> {
        while !self.is_over(control)? && path_runs() {
            std::thread::sleep(self.until_next_look());
        }
        Ok(())
    }

    /// Whether the run is over; fails as soon as a thread does or `control` cancels.
    pub(crate) fn is_over(&self, control: &Control) -> Result<bool, Error> {
        if control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if self.shared.has_failed.load(Ordering::Acquire) {
            return self.shared.take_failure().map_or(Ok(true), Err);
        }
        let now_ns = monotonic_ns();
        let run_ns = now_ns.saturating_sub(self.epoch_ns);
        control.set_progress(
            run_ns.min(self.scenario.duration_ns),
            self.scenario.duration_ns,
        );
        Ok(now_ns >= self.end.ns())
    }

    /// How long to wait until the next look at whether it is over.
    pub(crate) fn until_next_look(&self) -> Duration {
        let left_ns = self.end.ns().saturating_sub(monotonic_ns());
        LOOK_EVERY.min(Duration::from_nanos(left_ns))
    }

    /// After the end of the run: takes the samples, stops the threads and resets all
    /// connections. The flows' final states are those at the end of the run, whenever this is
    /// called.
    pub(crate) fn finish(mut self) -> Result<TrafficReport, Error> {
        let sampled = self.sampler.take().and_then(joined);
        let applications = self.stop();
        if let Some(error) = self.shared.take_failure() {
            return Err(error);
        }
        // Without a failure there is a result.
        let sampled = sampled.ok_or(Error::Cancelled)?;
        let mut flows: Vec<FlowReport> = self
            .connections
            .iter()
            .zip(&sampled.ends)
            .map(|(connection, end)| {
                let means = &sampled.means[connection.flow as usize];
                FlowReport::new(&connection.into(), end, means, self.epoch_ns)
            })
            .collect();
        let (users, transfers) = applications
            .map(|report| (report.users, report.transfers))
            .unzip();
        for user in users.into_iter().flatten() {
            let means = &sampled.means[user.flow as usize];
            flows.push(FlowReport::of_user(user, means));
        }
        flows.sort_by_key(|report| report.flow);
        Ok(TrafficReport {
            samples: sampled.flows,
            bbr_states: sampled
                .bbr
                .into_iter()
                .map(|state| state.map(|state| state.0))
                .collect(),
            flows,
            transfers,
            sample_jitter_ns: sampled.jitter_ns,
            missed_instants: sampled.missed_instants,
        })
    }

    fn stop(&mut self) -> Option<ApplicationsReport> {
        self.shared.stopped.store(true, Ordering::Release);
        for waker in &self.wakers {
            waker.wake();
        }
        for thread in self.threads.drain(..) {
            joined(thread);
        }
        if let Some(sampler) = self.sampler.take() {
            joined(sampler);
        }
        self.applications.take().and_then(joined)
    }
}

impl Drop for RunningTraffic {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A thread's result; resumes its panic, if it panicked.
fn joined<T>(thread: JoinHandle<Option<T>>) -> Option<T> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) if std::thread::panicking() => {
            drop(panic);
            None
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests;
