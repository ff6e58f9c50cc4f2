//! One thread of the relay: it reads hosts, runs its part of the network and writes hosts.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_net::{Event, Header as _, KernelQueue, LinkMeter, Network, Outlook, Packet};
use dumbbell_results::{QueueSamples, QueueStatistics};
use dumbbell_scenario::{Scenario, Way, leads_there, route};

use super::Plan;
use super::changes::{Inbox, Timed};
use super::connections::{ConnectionMeter, Counted};
use super::flows::{FlowOnPath, Flows};
use super::inlet::{Entering, Inlet};
use super::lateness::Lateness;
use super::live::{LivePath, PUBLISH_NS};
use super::outlet::{Outlet, Times};
use super::waiting::Waiter;
use super::watch::Watch;
use crate::applications::NO_FLOW;
use crate::capture::{Place, Tap};
use crate::error::Error;
use crate::machine::clock::monotonic_ns;
use crate::packet::frame::Frame;
use crate::run_end::RunEnd;

/// Reads of one device in a row, so that a host that sends much does not hold up the others.
const READS_IN_A_ROW: usize = 64;

/// A link at the end of what was measured.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredLink {
    /// Its number in the network.
    pub(crate) index: usize,
    pub(crate) meter: LinkMeter,
    pub(crate) backlog_pkts: u64,
    pub(crate) statistics: QueueStatistics,
}

/// What was measured up to the end.
#[derive(Debug)]
pub(crate) struct Measurement {
    pub(crate) links: Vec<MeasuredLink>,
    pub(crate) queue: QueueSamples,
    pub(crate) flows: Vec<FlowOnPath>,
    /// Connections of programs, by number from the first one.
    pub(crate) connections: Vec<Counted>,
    pub(crate) lateness: Lateness,
}

/// A thread's part of the network, and its ways in and out.
///
/// The network is the whole one: nothing enters on the routes of other parts, so their links stay idle.
pub(crate) struct Carrier {
    plan: Plan,
    end: RunEnd,
    inlet: Inlet,
    network: Network<Frame>,
    outlook: Outlook,
    outlet: Outlet,
    watch: Watch,
    flows: Flows,
    /// Numbers of the links of this part.
    links: Vec<usize>,
    /// Changes of the path.
    inbox: Arc<Inbox>,
    live: Arc<LivePath>,
    next_publish_ns: u64,
    queue: QueueSamples,
    next_sample_ns: u64,
    /// A kernel that has a queue goes by its own clock: everything must happen on time.
    is_punctual: bool,
    /// Up to when events have happened, ns.
    now_ns: u64,
    has_begun: bool,
    measurement: Option<Measurement>,
}

impl Carrier {
    /// Runs the part of `inlet`'s routes, which has these `links`.
    pub(crate) fn new(
        scenario: &Scenario,
        (plan, end): (Plan, RunEnd),
        (inlet, outlet): (Inlet, Outlet),
        links: Vec<usize>,
        flows: Flows,
        tap: Option<Tap>,
        (inbox, live): (Arc<Inbox>, Arc<LivePath>),
    ) -> Self {
        let network: Network<Frame> = scenario.network(plan.epoch_ns);
        Self {
            outlet,
            inlet,
            plan,
            end,
            outlook: Outlook::new(&network),
            watch: Watch {
                connections: ConnectionMeter::new(flows.first_of_programs()),
                meter: network.meter(scenario.flow_count(), 0, leads_there),
                tap,
            },
            network,
            flows,
            links,
            inbox,
            live,
            next_publish_ns: 0,
            queue: QueueSamples::new(scenario),
            next_sample_ns: u64::MAX,
            is_punctual: false,
            now_ns: 0,
            has_begun: false,
            measurement: None,
        }
    }

    /// Relays what comes in until `stop`.
    pub(crate) fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        let hosts = Arc::clone(&self.inlet.hosts);
        let inbox = Arc::clone(&self.inbox);
        let mut waiter = Waiter::new(self.inlet.descriptors(&hosts), inbox.as_fd());
        let mut pending = vec![false; self.inlet.routes.len()];
        while !stop.load(Ordering::Relaxed) {
            for timed in inbox.take() {
                self.change(&timed)?;
            }
            for (entrance, pending) in pending.iter_mut().enumerate() {
                if *pending || waiter.is_readable(entrance) {
                    *pending = self.read_some(entrance)?;
                }
            }
            self.advance(monotonic_ns())?;
            self.publish();
            let due_ns = if pending.contains(&true) {
                0
            } else {
                self.outlook.next_delivery_ns(&self.network)
            };
            waiter.wait(due_ns).map_err(|source| Error::System {
                what: "cannot wait for packets".to_owned(),
                source,
            })?;
            self.advance(monotonic_ns())?;
        }
        Ok(())
    }

    /// Reads what hosts have sent at an entrance, which arrives now.
    pub(crate) fn arrive(&mut self, entrance: usize) -> Result<(), Error> {
        while self.read_some(entrance)? {}
        Ok(())
    }

    /// When this part must be advanced: packets, the start and the end of measuring are due.
    pub(crate) fn due_ns(&self) -> u64 {
        let edge_ns = match (self.has_begun, &self.measurement) {
            (false, None) => self.plan.epoch_ns,
            (true, None) => self.end.ns(),
            _ => u64::MAX,
        };
        let event_ns = if self.is_punctual {
            self.network.next_event_ns()
        } else {
            self.outlook.next_delivery_ns(&self.network)
        };
        event_ns.min(edge_ns)
    }

    /// The kernel has the queues of these links.
    pub(crate) fn give_queues(&mut self, queues: Vec<(usize, Arc<dyn KernelQueue>)>) {
        self.is_punctual = !queues.is_empty();
        for (link, queue) in queues {
            self.network.link_mut(link).give_kernel(queue);
        }
    }

    /// The kernel that has a link's queue wants to be asked for a packet.
    pub(crate) fn wake(&mut self, link: usize, now_ns: u64) {
        self.network.wake(link, now_ns.max(self.now_ns));
    }

    /// What hosts sent other than TCP and UDP packets for one another.
    pub(crate) fn foreign_pkts(&self) -> u64 {
        self.inlet.foreign_pkts
    }

    /// What was measured; up to now, if the end has not come.
    pub(crate) fn into_measurement(mut self) -> Measurement {
        if self.measurement.is_none() {
            self.end();
        }
        self.measurement.expect("the end has just been made")
    }

    /// Reads until nothing is left or it is another's turn; whether something may be left.
    fn read_some(&mut self, entrance: usize) -> Result<bool, Error> {
        for _ in 0..READS_IN_A_ROW {
            let Some(bytes) = self.inlet.read(entrance)? else {
                return Ok(false);
            };
            // What was read arrives now, after everything that was due before.
            self.advance(monotonic_ns())?;
            let Self {
                inlet,
                network,
                watch,
                flows,
                now_ns,
                ..
            } = self;
            inlet.split(entrance, bytes, |packet| {
                enter(*now_ns, packet, network, watch, flows);
            });
        }
        Ok(true)
    }

    /// Shows this part's links, once in a while.
    #[inline]
    fn publish(&mut self) {
        if self.now_ns >= self.next_publish_ns {
            for &index in &self.links {
                let (link, meter) = (&self.network.links()[index], &self.watch.meter.links[index]);
                self.live.publish(index, self.now_ns, link, meter);
            }
            self.next_publish_ns = self.now_ns + PUBLISH_NS;
        }
    }

    /// Makes a change that was asked for at `at_ns`: what was due before happens before, however late that is.
    fn change(&mut self, timed: &Timed) -> Result<(), Error> {
        let at_ns = timed.at_ns.max(self.now_ns + 1);
        self.advance(at_ns - 1)?;
        self.network.change(at_ns, timed.change, &mut self.watch);
        timed.was_made(at_ns);
        self.outlook = Outlook::new(&self.network);
        Ok(())
    }

    /// Lets everything happen that is due at `now_ns`, at its due time.
    pub(crate) fn advance(&mut self, now_ns: u64) -> Result<(), Error> {
        if !self.has_begun && self.measurement.is_none() && now_ns >= self.plan.epoch_ns {
            self.process(self.plan.epoch_ns)?;
            self.begin();
        }
        if self.measurement.is_none() && now_ns >= self.end.ns() {
            // One that was brought forward may have passed.
            self.process(self.end.ns().max(self.now_ns))?;
            self.end();
        }
        self.process(now_ns)
    }

    /// Everything happens that is due at `until_ns`, in order of time.
    fn process(&mut self, until_ns: u64) -> Result<(), Error> {
        while let Some((now_ns, event)) = self.network.advance(until_ns, &mut self.watch) {
            match event {
                Event::Inside => {}
                Event::Timer => self.sample(now_ns),
                Event::Delivery(exit, _) => {
                    let packet = self.network.take_delivery(exit);
                    self.deliver(now_ns, packet)?;
                }
            }
        }
        self.outlet.flush(&mut self.watch.tap)?;
        self.now_ns = until_ns;
        if let Some(tap) = &self.watch.tap {
            tap.passed(until_ns);
        }
        Ok(())
    }

    /// A packet that was due at `due_ns` reaches its host, whose TCP deals with it before the write
    /// returns.
    #[inline]
    fn deliver(&mut self, due_ns: u64, packet: Packet<Frame>) -> Result<(), Error> {
        let now_ns = monotonic_ns();
        match packet.header.way {
            Way::There => {
                self.flows.note_arrival(now_ns, &packet);
                if packet.header.is_data() {
                    self.live
                        .note_arrival(packet.header.flow, packet.wire_bytes);
                }
            }
            Way::Back => self.flows.note_return(now_ns, &packet),
        }
        let times = Times { due_ns, now_ns };
        self.outlet.deliver(times, packet, &mut self.watch.tap)
    }

    /// Samples this part's links.
    fn sample(&mut self, now_ns: u64) {
        for &index in &self.links {
            let meter = &mut self.watch.meter.links[index];
            let link = &self.network.links()[index];
            let times_ns = (self.plan.epoch_ns, now_ns);
            self.queue.sample(times_ns, index as u32, link, meter);
        }
        self.next_sample_ns += self.plan.sample_interval_ns;
        self.network.set_timer(self.next_sample_ns);
    }

    /// Measuring begins: what was sent before, to calibrate, is not counted.
    fn begin(&mut self) {
        let flows = self.flows.on_path.len();
        self.watch.meter = self.network.meter(flows, self.now_ns, leads_there);
        self.watch.meter.open(&mut self.network, self.now_ns);
        self.watch.connections = ConnectionMeter::new(self.flows.first_of_programs());
        if self.plan.sample_interval_ns > 0 && !self.links.is_empty() {
            self.next_sample_ns = self.plan.epoch_ns + self.plan.sample_interval_ns;
            self.network.set_timer(self.next_sample_ns);
        }
        self.has_begun = true;
    }

    /// Measuring ends: the record is made, packets go on.
    fn end(&mut self) {
        self.network.set_timer(u64::MAX);
        // ∫ backlog and busy time reach to the very end.
        self.network.close_books(self.now_ns, &mut self.watch);
        self.watch.meter.close(&mut self.network, self.now_ns);
        let meter = &self.watch.meter;
        let mut flows = self.flows.on_path.clone();
        for (flow, counts) in flows.iter_mut().zip(&meter.flows) {
            flow.dropped_pkts = counts.dropped_pkts;
            flow.acks_dropped = counts.acks_dropped;
            flow.requests.dropped_pkts = counts.requests_dropped;
            flow.duplicated_pkts = counts.duplicated_pkts;
            flow.requests.duplicated_pkts = counts.requests_duplicated;
            flow.marked_pkts = counts.marked_pkts;
            flow.forwarded_bytes = counts.forwarded_bytes;
            flow.requests.forwarded_bytes = counts.requests_forwarded_bytes;
        }
        let links = self.links.iter().map(|&index| MeasuredLink {
            index,
            meter: meter.links[index].clone(),
            backlog_pkts: self.network.links()[index].backlog_pkts(),
            statistics: QueueStatistics::of(&self.network.links()[index]),
        });
        self.measurement = Some(Measurement {
            links: links.collect(),
            queue: std::mem::take(&mut self.queue),
            flows,
            connections: self.watch.connections.counted().to_vec(),
            lateness: self.outlet.lateness.clone(),
        });
        self.watch.tap = None;
    }
}

/// A packet enters, at the time of the last advance.
#[inline]
fn enter(
    now_ns: u64,
    packet: Entering,
    network: &mut Network<Frame>,
    watch: &mut Watch,
    flows: &mut Flows,
) {
    let Entering {
        frame,
        owner,
        segment,
    } = packet;
    let (group, way) = (usize::from(frame.group), frame.way);
    if owner.flow != NO_FLOW {
        match way {
            Way::There => flows.note_entry(now_ns, owner, &frame, segment.as_ref()),
            Way::Back => flows.note_request_entry(now_ns, owner, &frame, segment.as_ref()),
        }
    }
    let packet = Packet {
        flow: owner.connection,
        wire_bytes: frame.wire_bytes(),
        ecn: frame.ecn(),
        hop: 0,
        arrived_ns: now_ns,
        header: frame,
    };
    watch.connections.entered(now_ns, &packet);
    if let Some(tap) = &mut watch.tap {
        tap.note(Place::entrance(way), now_ns, &packet);
    }
    network.enter(now_ns, route(group, way), packet, watch);
}
