//! The relay, which runs the network between the hosts on the monotonic clock.
//!
//! The relay has a thread for each part of the network. [`parts`] says which thread has which routes
//! (`Network::components`). A dumbbell has two parts: the bottleneck and the way back.
//!
//! An arrival happens when the thread reads the packet. Every later event (of a link or a delay line) happens at its
//! due time, even if the thread processes it late. Lateness therefore never accumulates, and the rate of a link is
//! exact. Only deliveries must be on time, so each thread keeps the time of its next delivery (`Outlook`) and sleeps
//! until then or until a packet arrives.
//!
//! Each thread (`carrier`) has the whole `Network` but uses only its own part. Idle links cost nothing, and links and
//! flows keep their numbers. Each thread also has a `Meter`, which is replaced when measuring begins.
//!
//! RTT samples need to know what was sent. The thread in which a data packet enters therefore reports it to the thread
//! in which the flow's ACKs arrive. Each part has a queue for these reports (`sent_data`).

mod carrier;
mod changes;
mod connections;
pub(crate) mod driven;
mod flow_table;
mod flows;
mod inlet;
mod lateness;
pub(crate) mod latest_rtt;
mod live;
mod outlet;
mod parts;
mod program_connections;
mod rebinding;
mod report;
mod rtt_probe;
mod rtt_samples;
mod sent_data;
mod waiting;
mod watch;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use dumbbell_scenario::{Change, Scenario, Way};

use crate::applications::PortTable;
use crate::capture::Tap;
use crate::error::Error;
use crate::hosts::host::{Hosts, mtu_bytes};
use crate::machine::cpu::thread_cpu_ns;
use crate::machine::realtime::{Priority, make_realtime};
use crate::packet::frame::{GroupRoute, Pool};
use crate::packet::super_packet::VNET_HEADER_BYTES;
use crate::run_end::RunEnd;
pub(crate) use carrier::MeasuredLink;
use carrier::{Carrier, Measurement};
use changes::Changes;
use flow_table::FlowTable;
pub(crate) use flows::{FlowOnPath, RequestsOnPath};
use flows::{Flows, OfPrograms};
use inlet::Inlet;
use latest_rtt::LatestRtt;
use live::LivePath;
use outlet::Outlet;
use parts::Part;
pub(crate) use parts::parts;
use program_connections::Numbering;
pub(crate) use rebinding::Rebinding;
pub use rebinding::{Rebind, Rebound};
pub(crate) use report::RelayReport;
use rtt_samples::RttSamples;
use sent_data::SentQueue;

/// Buffers that a part starts with at most; further ones are made when they are needed.
const MAX_FIRST_BUFFERS: u64 = 32_768;

/// What all parts need to know.
#[derive(Clone, Copy, Debug)]
struct Plan {
    epoch_ns: u64,
    sample_interval_ns: u64,
}

/// Bytes of the largest packet of any group, its virtio-net header in front.
fn buffer_bytes(scenario: &Scenario) -> usize {
    let largest = scenario.groups.iter().map(mtu_bytes).max().unwrap_or(0);
    VNET_HEADER_BYTES + largest as usize
}

/// Packets that a part may hold: on the way, and in its links' queues.
fn buffers(scenario: &Scenario, part: &Part) -> usize {
    let largest = scenario.groups.iter().map(mtu_bytes).max().unwrap_or(0);
    let largest_bytes = u64::from(largest.max(1));
    let highest_rate_bps = (scenario.links.iter())
        .map(|link| link.highest_rate_bps(scenario.duration_ns))
        .max();
    let path_bytes = u128::from(highest_rate_bps.unwrap_or(0))
        * u128::from(scenario.longest_base_rtt_ns())
        / 8_000_000_000;
    let path_pkts = u64::try_from(path_bytes / u128::from(largest_bytes))
        .unwrap_or(u64::MAX)
        .min(MAX_FIRST_BUFFERS / 2);
    let links = scenario.network_links();
    let queue_pkts = (part.links.iter())
        .map(|&link| links[link].queue.limit().packets(largest_bytes))
        .fold(0, u64::saturating_add);
    (path_pkts + queue_pkts.min(MAX_FIRST_BUFFERS / 2)) as usize + 64
}

/// The relay's running threads. Dropping it stops them.
#[derive(Debug)]
pub(crate) struct Relay {
    stop: Arc<AtomicBool>,
    latest_rtts: Arc<Vec<LatestRtt>>,
    received_bytes: Arc<Vec<AtomicU64>>,
    ports: Arc<PortTable>,
    numbering: Arc<Numbering>,
    changes: Changes,
    live: Arc<LivePath>,
    epoch_ns: u64,
    /// The thread of each part.
    threads: Vec<JoinHandle<Done>>,
}

/// What a thread leaves.
#[derive(Debug)]
struct Done {
    measurement: Result<Measurement, Error>,
    foreign_pkts: u64,
    cpu_ns: u64,
    is_realtime: bool,
}

impl Relay {
    /// Starts all parts. Everything is relayed at once; what is measured starts at `epoch_ns`
    /// and ends at `end` or, if that is not known, when the relay is stopped, exactly: after that packets
    /// are still relayed, so that the hosts do not see a dead link, but no longer counted. What is
    /// counted of flows is also shown to `taps`, one for each part or none.
    pub(crate) fn start(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        epoch_ns: u64,
        end: impl Into<RunEnd>,
        taps: Vec<Tap>,
    ) -> Result<Self, Error> {
        Self::start_behind(hosts, scenario, epoch_ns, end, taps, None)
    }

    /// Like [`Relay::start`], with the first group's clients behind a NAT.
    pub(crate) fn start_behind(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        epoch_ns: u64,
        end: impl Into<RunEnd>,
        taps: Vec<Tap>,
        nat: Option<&Arc<Mutex<Rebinding>>>,
    ) -> Result<Self, Error> {
        let end = end.into();
        let plan = Plan {
            epoch_ns,
            sample_interval_ns: scenario.sample_interval_ns,
        };
        let flows = 0..scenario.flow_count();
        let latest_rtts: Arc<Vec<LatestRtt>> =
            Arc::new(flows.map(|_| LatestRtt::default()).collect());
        let received_bytes: Arc<Vec<AtomicU64>> =
            Arc::new(latest_rtts.iter().map(|_| AtomicU64::new(0)).collect());
        let parts = parts(scenario);
        // Data of either way, answered by ACKs of the other.
        let sent = [Way::Back, Way::There].map(|acks| SentOfParts::new(scenario, &parts, acks));
        let mut taps = taps.into_iter();
        let ports = PortTable::new(scenario);
        let flow_table = FlowTable::new(scenario, &ports);
        let connections = flow_table.connections();
        let first_of_programs = flow_table.numbering().first();
        // Assembled first: if a thread cannot be started, dropping it stops the others.
        let mut relay = Self {
            stop: Arc::new(AtomicBool::new(false)),
            latest_rtts: Arc::clone(&latest_rtts),
            received_bytes: Arc::clone(&received_bytes),
            ports,
            numbering: Arc::clone(flow_table.numbering()),
            changes: Changes::new(scenario, epoch_ns, parts.len())?,
            live: Arc::new(LivePath::new(scenario.links.len(), scenario.flow_count())),
            epoch_ns,
            threads: Vec::with_capacity(parts.len()),
        };
        for (number, part) in (0..).zip(parts) {
            let pool = Pool::new(buffer_bytes(scenario), buffers(scenario, &part));
            let inlet = Inlet::new(part.routes, hosts, flow_table.clone(), pool);
            let flows = Flows::new(
                connections,
                first_of_programs,
                (sent.each_ref()).map(|sent| sent.samples(number, connections)),
                &latest_rtts,
                OfPrograms::new(scenario, &received_bytes),
            );
            let outside = (relay.changes.inbox(number), Arc::clone(&relay.live));
            let links = part.links;
            let times = (plan, end.clone());
            let outlet = Outlet::new(hosts, scenario, epoch_ns, nat);
            let carrier = Carrier::new(
                scenario,
                times,
                (inlet, outlet),
                links,
                flows,
                taps.next(),
                outside,
            );
            relay.threads.push(spawn(number, carrier, &relay.stop)?);
        }
        Ok(relay)
    }

    /// Latest RTT sample of each flow.
    pub(crate) fn latest_rtts(&self) -> Arc<Vec<LatestRtt>> {
        Arc::clone(&self.latest_rtts)
    }

    /// Payload that arrived at the client of each flow that is of programs; of others 0.
    pub(crate) fn received_bytes(&self) -> Arc<Vec<AtomicU64>> {
        Arc::clone(&self.received_bytes)
    }

    /// The flow of each port that applications' connections use.
    pub(crate) fn ports(&self) -> Arc<PortTable> {
        Arc::clone(&self.ports)
    }

    /// How its links are.
    pub(crate) fn live(&self) -> Arc<LivePath> {
        Arc::clone(&self.live)
    }

    /// Changes the path from now on.
    pub(crate) fn change(&self, change: &Change) -> Result<(), Error> {
        self.changes.make(change)
    }

    /// Whether all parts still run; when one does not, [`Relay::stop`] says why.
    pub(crate) fn is_running(&self) -> bool {
        !self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Stops all parts.
    pub(crate) fn stop(mut self) -> Result<RelayReport, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let threads = std::mem::take(&mut self.threads);
        let done = threads.into_iter().map(join);
        let report = RelayReport::new(done, &self.numbering, self.epoch_ns)?;
        Ok(RelayReport {
            changes: self.changes.made(),
            ..report
        })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Who drops it does not want to know how it went.
            let _ = thread.join();
        }
    }
}

/// What parts tell each other of the data that go one way.
struct SentOfParts {
    by_part: Vec<Arc<SentQueue>>,
    /// For each group, the queue of the part where its ACKs leave the path.
    by_group: Vec<Arc<SentQueue>>,
}

impl SentOfParts {
    /// Queues of the data whose ACKs go the way `acks`.
    fn new(scenario: &Scenario, parts: &[Part], acks: Way) -> Self {
        let by_part: Vec<Arc<SentQueue>> = parts.iter().map(|_| Arc::default()).collect();
        let by_group = (0..scenario.groups.len()).map(|group| {
            let route = GroupRoute {
                group: group as u16,
                way: acks,
            };
            let part = parts.iter().position(|part| part.routes.contains(&route));
            Arc::clone(&by_part[part.expect("every route is in a part")])
        });
        Self {
            by_group: by_group.collect(),
            by_part,
        }
    }

    /// Those of a part.
    fn samples(&self, part: usize, connections: usize) -> RttSamples {
        let sent = Arc::clone(&self.by_part[part]);
        RttSamples::new(connections, self.by_group.clone(), sent)
    }
}

fn spawn(
    number: usize,
    mut carrier: Carrier,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<Done>, Error> {
    let stop = Arc::clone(stop);
    let run = move || {
        let is_realtime = make_realtime(Priority::Relay);
        let relayed = carrier.run(&stop);
        Done {
            foreign_pkts: carrier.foreign_pkts(),
            measurement: relayed.map(|()| carrier.into_measurement()),
            cpu_ns: thread_cpu_ns(),
            is_realtime,
        }
    };
    let name = format!("relay-{number}");
    thread::Builder::new()
        .name(name.clone())
        .spawn(run)
        .map_err(|source| Error::System {
            what: format!("cannot start thread {name}"),
            source,
        })
}

fn join(thread: JoinHandle<Done>) -> Done {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod network_tests;
#[cfg(test)]
mod program_tests;
#[cfg(test)]
mod tests;
