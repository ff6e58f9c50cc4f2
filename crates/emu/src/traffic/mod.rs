//! The traffic of a run: its flows' sockets, and the threads that send, receive and sample.

use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use dumbbell_results::{FlowSamples, StateSamples};
use dumbbell_scenario::{Control, Scenario};
use hdrhistogram::Histogram;

use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::monotonic_ns;
use crate::machine::readiness::{Readiness, Waker};
use crate::machine::realtime::{Priority, make_realtime};
use crate::sampling::flow_report::FlowReport;
use crate::sampling::sampler::{Sampled, Sampler, StateSource};
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
    connections: Arc<Vec<Connection>>,
    /// By group.
    listeners: Vec<OwnedFd>,
    receivers: Vec<Ipv4Addr>,
}

/// Threads at work. Dropped, they are stopped and all connections reset.
pub(crate) struct RunningTraffic {
    scenario: Arc<Scenario>,
    connections: Arc<Vec<Connection>>,
    epoch_ns: u64,
    shared: Arc<Shared>,
    wakers: Vec<Arc<Waker>>,
    threads: Vec<JoinHandle<Option<()>>>,
    sampler: Option<JoinHandle<Option<Sampled>>>,
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
    /// By group: the state of the kernel's own bbr, where that runs.
    pub(crate) bbr_states: Vec<Option<StateSamples>>,
    /// In flow order.
    pub(crate) flows: Vec<FlowReport>,
    /// From the sampling instant to the first flow's sample, ns.
    pub(crate) sample_jitter_ns: Histogram<u32>,
    /// Sampling instants without rows, because sampling was that late.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    pub(crate) missed_instants: u64,
}

impl Traffic {
    /// Creates all sockets inside the hosts and sets their congestion controls: `kernel_ccs`, by
    /// group, are the kernel's names.
    pub(crate) fn prepare(
        hosts: &Hosts,
        scenario: &Arc<Scenario>,
        kernel_ccs: &[String],
    ) -> Result<Self, Error> {
        let mut connections = Vec::with_capacity(scenario.flow_count());
        let mut listeners = Vec::with_capacity(scenario.groups.len());
        for (index, group) in scenario.groups.iter().enumerate() {
            let host = &hosts.receivers[index];
            let made = host.namespace.within(|| listener(group, host.address))?;
            listeners.push(made.map_err(|source| Error::System {
                what: format!("the receiver of group {index} could not listen"),
                source,
            })?);
            let first_flow = connections.len() as u32;
            let cc = Arc::from(group.cc.name.as_str());
            let senders = sender_sockets(
                &hosts.senders[index],
                index,
                group,
                &kernel_ccs[index],
                unsent_bytes(scenario),
            )?;
            connections.extend(
                (first_flow..)
                    .zip(senders)
                    .map(|(flow, sender)| Connection::new(scenario, index, &cc, flow, sender)),
            );
        }
        Ok(Self {
            scenario: Arc::clone(scenario),
            connections: Arc::new(connections),
            listeners,
            receivers: hosts.receivers.iter().map(|host| host.address).collect(),
        })
    }

    /// Makes a group's receivers run `kernel_cc` too, for one that needs ECN: Linux does not accept
    /// ECN from a SYN that is itself ECN-capable unless the listener's congestion control needs
    /// ECN.
    pub(crate) fn run_at_receivers(&self, group: usize, kernel_cc: &str) -> Result<(), Error> {
        let set = socket::set_congestion_control(&self.listeners[group], kernel_cc);
        set.map_err(|source| Error::System {
            what: format!("the receiver of group {group} could not run `{kernel_cc}`"),
            source,
        })
    }

    /// The senders' sockets in flow order, before they connect.
    pub(crate) fn sender_sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let connections = self.connections.iter();
        connections.map(|connection| connection.sender.as_fd())
    }

    /// Starts the threads; flows start at `epoch_ns` plus their start. `latest_rtt_us`, by flow, are the
    /// path's RTT samples; `states` reads the congestion controls that we loaded.
    pub(crate) fn start(
        self,
        epoch_ns: u64,
        latest_rtt_us: Arc<Vec<AtomicU32>>,
        states: Option<Box<dyn StateSource>>,
    ) -> Result<RunningTraffic, Error> {
        let connections = self.connections;
        let sending = Readiness::new().map_err(Error::waiting)?;
        let receiving = Readiness::new().map_err(Error::waiting)?;
        let wakers = vec![sending.waker(), receiving.waker()];
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
            latest_rtt_us,
            states,
            epoch_ns,
        );
        let shared = Arc::new(Shared::default());
        // Assembled first: if a thread cannot be started, dropping it stops the others.
        let mut running = RunningTraffic {
            scenario: self.scenario,
            connections,
            epoch_ns,
            shared: Arc::clone(&shared),
            wakers,
            threads: Vec::with_capacity(2),
            sampler: None,
        };
        let receive = shared.spawn("receivers", move |stopped| receivers.run(stopped))?;
        running.threads.push(receive);
        let send = shared.spawn("senders", move |stopped| senders.run(stopped))?;
        running.threads.push(send);
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
    pub(crate) fn wait(
        &self,
        control: &Control,
        path_runs: impl Fn() -> bool,
    ) -> Result<(), Error> {
        let end_ns = self.epoch_ns + self.scenario.duration_ns;
        loop {
            if control.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if self.shared.has_failed.load(Ordering::Acquire) {
                return self.shared.take_failure().map_or(Ok(()), Err);
            }
            let now_ns = monotonic_ns();
            let run_ns = now_ns.saturating_sub(self.epoch_ns);
            control.set_progress(
                run_ns.min(self.scenario.duration_ns),
                self.scenario.duration_ns,
            );
            if now_ns >= end_ns || !path_runs() {
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY.min(Duration::from_nanos(end_ns - now_ns)));
        }
    }

    /// After [`RunningTraffic::wait`]: takes the samples, stops the threads and resets all
    /// connections. The flows' final states are those at the end of the run, whenever this is
    /// called.
    pub(crate) fn finish(mut self) -> Result<TrafficReport, Error> {
        let sampled = self.sampler.take().and_then(joined);
        self.stop();
        if let Some(error) = self.shared.take_failure() {
            return Err(error);
        }
        // Without a failure there is a result.
        let sampled = sampled.ok_or(Error::Cancelled)?;
        let flows = self
            .connections
            .iter()
            .zip(&sampled.ends)
            .zip(&sampled.means)
            .map(|((connection, end), means)| {
                FlowReport::new(connection, end, means, self.epoch_ns)
            })
            .collect();
        Ok(TrafficReport {
            samples: sampled.flows,
            bbr_states: sampled
                .bbr
                .into_iter()
                .map(|state| state.map(|state| state.0))
                .collect(),
            flows,
            sample_jitter_ns: sampled.jitter_ns,
            missed_instants: sampled.missed_instants,
        })
    }

    fn stop(&mut self) {
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
