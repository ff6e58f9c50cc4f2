//! The event loop: endpoints and network in virtual time.
//!
//! The network says which source's event is next. All endpoints' timers together are one of its sources; a second
//! tournament finds the earliest of them. It is updated when a deadline moves earlier. When one moves later, it keeps
//! the old time; then [`Engine::wake`] finds that nothing is due, and enters the new one.

use std::rc::Rc;

use dumbbell_capture::WriteError;
use dumbbell_cc::{Instance, vec_in_large_pages};
use dumbbell_net::{Event, Network, Packet, SourceId, Tournament};
use dumbbell_scenario::address_plan::flow_addresses;
use dumbbell_scenario::{Control, Group, Scenario, Way, leads_there, route};
use dumbbell_tcp::{SackStore, Segment, TcpMemory};

use crate::applications::Applications;
use crate::clock_offsets::clock_offsets_ms;
use crate::connection_table::ConnectionTable;
use crate::endpoints::{Endpoints, count_memory};
use crate::error::Error;
use crate::look_ahead::is_beyond_caches;
use crate::payload_store::PayloadStore;
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::watch::Watch;

/// Events between two looks at [`Control`].
const EVENTS_PER_CHECK: u32 = 8192;

/// Everything that a run consists of.
pub(crate) struct Engine<T> {
    pub(crate) end_ns: u64,
    instances: Vec<Rc<Instance>>,
    /// Flows without an application, by the number that their packets carry.
    pub(crate) flows: Vec<Endpoints>,
    /// Flows with an application.
    pub(crate) applications: Applications,
    pub(crate) network: Network<Segment>,
    pub(crate) watch: Watch<T>,
    pub(crate) recorder: Recorder,
    /// When each endpoint wants to be woken, or earlier; of flow `n` these are `2n` and `2n + 1`.
    pub(crate) timers: Tournament,
    sample_interval_ns: u64,
    next_sample_ns: u64,
    /// Until when the run has come, ns.
    reached_ns: u64,
}

impl<T: Tap> Engine<T> {
    pub(crate) fn new(scenario: &Scenario, instances: &[Rc<Instance>], tap: T) -> Self {
        let groups: Vec<_> = instances
            .iter()
            .zip(&scenario.groups)
            .map(|(instance, group)| (Rc::clone(instance), group.flows as usize))
            .collect();
        let mut network = scenario.network(0);
        if !T::RECORDS {
            network.foresee();
        }
        let is_single_transfer = |group: &Group| group.traffic.is_bulk() && !group.is_quic();
        let each_flow = (0_u32..)
            .zip(&scenario.groups)
            .flat_map(|(index, group)| (0..group.flows).map(move |number| (index, group, number)))
            .zip(0_u32..)
            .filter(|((_, group, _), _)| is_single_transfer(group))
            .zip(0_u32..)
            .map(|(((group_index, group, number), flow), id)| {
                let start_ns = group.start_of(scenario.seed, flow);
                let instance = &instances[group_index as usize];
                let mut socket = instance.new_flow();
                let (sender, receiver) = flow_addresses(group_index as u16, number);
                socket.sock.set_addresses(sender, receiver);
                let (_, peer_clock_ms) = clock_offsets_ms(scenario.seed, u64::from(flow));
                Endpoints::new(
                    id,
                    flow,
                    group_index,
                    group,
                    start_ns,
                    socket,
                    peer_clock_ms,
                )
            });
        let counted = scenario
            .groups
            .iter()
            .filter(|group| is_single_transfer(group));
        let count: u32 = counted.map(|group| group.flows).sum();
        let mut flows: Vec<Endpoints> = vec_in_large_pages(count as usize);
        flows.extend(each_flow);
        let memory = scenario.tcp_mem_bytes.map(TcpMemory::new);
        for flow in &mut flows {
            let group = &scenario.groups[flow.group as usize];
            count_memory(&mut flow.sender, &mut flow.receiver, group, memory.as_ref());
        }
        let watch = Watch {
            meter: network.meter(scenario.flow_count(), 0, leads_there),
            sacks: SackStore::new(),
            flows: flows.len() as u32,
            connections: ConnectionTable::new(flows.len() as u32),
            payloads: PayloadStore::default(),
            tap,
        };
        let mut engine = Self {
            end_ns: scenario.duration_ns,
            instances: instances.to_vec(),
            timers: Tournament::new(2 * flows.len()),
            flows,
            applications: Applications::new(scenario, instances, memory),
            network,
            watch,
            recorder: Recorder::new(scenario, &groups),
            sample_interval_ns: scenario.sample_interval_ns,
            next_sample_ns: if scenario.sample_interval_ns == 0 {
                u64::MAX
            } else {
                scenario.sample_interval_ns
            },
            reached_ns: 0,
        };
        for flow in 0..engine.flows.len() {
            engine.set_sender_timer(flow);
        }
        engine.open_quic_flows();
        engine.set_network_timer();
        engine
    }

    /// Runs to the end, or until `control` cancels.
    pub(crate) fn run(&mut self, control: &Control) -> Result<(), Error> {
        if is_beyond_caches(self.flows.len()) {
            self.run_on::<true>(control)
        } else {
            self.run_on::<false>(control)
        }
    }

    /// Compiled twice: looking ahead delays runs with few flows, and so does asking whether to.
    #[inline(never)]
    pub(crate) fn run_on<const LOOKS_AHEAD: bool>(
        &mut self,
        control: &Control,
    ) -> Result<(), Error> {
        let mut until_check = EVENTS_PER_CHECK;
        loop {
            let (source, now_ns) = self.network.next();
            if now_ns > self.end_ns {
                break;
            }
            while self.next_sample_ns <= now_ns {
                self.sample();
            }
            if LOOKS_AHEAD {
                self.look_ahead(source);
            }
            self.happen_likely(source, now_ns);
            if LOOKS_AHEAD {
                self.look_at_next_timer(source);
            }
            until_check -= 1;
            if until_check == 0 {
                until_check = EVENTS_PER_CHECK;
                self.reached_ns = now_ns;
                if control.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                self.check_faults()?;
                if self.watch.tap.has_failed() {
                    return Ok(()); // the capture's failure is returned when it is finished
                }
                control.set_progress(now_ns, self.end_ns);
            }
        }
        while self.next_sample_ns <= self.end_ns {
            self.sample();
        }
        for flow in self.flows.iter_mut().filter(|flow| flow.started) {
            flow.sender.settle(self.end_ns);
        }
        self.applications.settle(self.end_ns);
        self.network.settle(self.end_ns + 1, &mut self.watch);
        self.network.close_books(self.end_ns, &mut self.watch);
        self.watch.meter.close(&mut self.network, self.end_ns);
        self.reached_ns = self.end_ns;
        control.set_progress(1, 1);
        self.check_faults()
    }

    /// Ends a run whose congestion control has done what TCP cannot go on with, or whose applications
    /// have opened more connections than there is room for.
    fn check_faults(&self) -> Result<(), Error> {
        if self.applications.is_overrun {
            return Err(Error::TooManyConnections(self.applications.slots.len()));
        }
        let fault = self.instances.iter().find_map(|instance| instance.fault());
        fault.map_or(Ok(()), |fault| Err(fault.clone().into()))
    }

    /// Ends the capture, if there is one.
    pub(crate) fn finish_capture(&mut self) -> Result<(), WriteError> {
        self.watch.tap.finish(self.reached_ns)
    }

    fn sample(&mut self) {
        let now_ns = self.next_sample_ns;
        self.network.settle(now_ns, &mut self.watch);
        let meters = &mut self.watch.meter.links;
        let links = self.network.links();
        let (flows, applications) = (&mut self.flows, &mut self.applications);
        self.recorder
            .sample(now_ns, flows, applications, links, meters);
        self.next_sample_ns += self.sample_interval_ns;
    }

    /// The sources of a dumbbell are distinguished first: in each branch the number is a constant, for which the
    /// processor need not wait.
    #[inline(always)]
    fn happen_likely(&mut self, source: SourceId, now_ns: u64) {
        match source {
            SourceId::FIRST_PROPAGATION => self.happen(SourceId::FIRST_PROPAGATION, now_ns),
            SourceId::FIRST_LINE_BEHIND_ONE_LINK => {
                self.happen(SourceId::FIRST_LINE_BEHIND_ONE_LINK, now_ns);
            }
            SourceId::FIRST_TRANSMITTER => self.happen(SourceId::FIRST_TRANSMITTER, now_ns),
            source => self.happen(source, now_ns),
        }
    }

    /// A packet at the end of its route is looked at where it lies.
    #[inline(always)]
    fn happen(&mut self, source: SourceId, now_ns: u64) {
        match self.network.happen(source, now_ns, &mut self.watch) {
            Event::Inside => {}
            Event::Timer => self.wake(now_ns),
            Event::Delivery(_, packet) => {
                let index = packet.flow as usize;
                let Some(flow) = self.flows.get_mut(index) else {
                    let packet = *packet;
                    return self.deliver_to_application(&packet, now_ns);
                };
                self.watch.tap.delivered(now_ns, packet, &self.watch.sacks);
                match &packet.header {
                    Segment::Data(header) => {
                        flow.receiver
                            .on_packet(now_ns, header, packet.wire_bytes, packet.ecn);
                        self.send_ack(index, now_ns);
                    }
                    Segment::Ack(ack) => {
                        let sacks = &mut self.watch.sacks;
                        let slot = ack.sack;
                        flow.sender.note_field(ack, packet.ecn);
                        if let Some(rtt_us) = flow.sender.on_ack(now_ns, ack, sacks.get(slot)) {
                            flow.rtt.note(rtt_us);
                        }
                        sacks.free(slot);
                        self.send_data(index, now_ns);
                    }
                    Segment::Datagram(_) => {}
                }
            }
        }
    }

    /// A timer of some endpoint may be due.
    #[inline(never)]
    fn wake(&mut self, now_ns: u64) {
        let (endpoint, due_ns) = self.timers.next();
        if self.applications.due_ns < due_ns {
            return self.wake_application(now_ns);
        }
        let index = endpoint / 2;
        let due_ns = if endpoint.is_multiple_of(2) {
            if self.flows[index].next_sender_ns() <= now_ns {
                self.flows[index].wake_sender(now_ns);
                self.send_data(index, now_ns);
            }
            self.flows[index].next_sender_ns()
        } else {
            if self.flows[index].receiver.next_timer_ns() <= now_ns {
                self.flows[index].receiver.on_timer(now_ns);
                self.send_ack(index, now_ns);
            }
            self.flows[index].receiver.next_timer_ns()
        };
        self.flows[index].noted_ns[endpoint % 2] = due_ns;
        self.timers.set(endpoint, due_ns);
        self.set_network_timer();
    }

    /// The network is to say when the earliest timer is due: of equal ones an endpoint's before an
    /// application's.
    #[inline]
    pub(crate) fn set_network_timer(&mut self) {
        let due_ns = self.timers.next().1.min(self.applications.due_ns);
        self.network.set_timer(due_ns);
    }

    /// Sends what the sender wants to send after an event.
    #[inline]
    fn send_data(&mut self, index: usize, now_ns: u64) {
        let flow = &mut self.flows[index];
        let route = route(flow.group as usize, Way::There);
        let packets = flow.sender.poll_transmit(now_ns);
        if !packets.is_empty() {
            Self::send(&mut self.network, &mut self.watch, now_ns, route, packets);
        }
        if flow.finished_ns.is_none() && flow.sender.is_finished() {
            flow.finished_ns = Some(now_ns);
        }
        self.set_sender_timer(index);
    }

    /// An endpoint's packets enter the network.
    #[inline(always)]
    fn send(
        network: &mut Network<Segment>,
        watch: &mut Watch<T>,
        now_ns: u64,
        route: usize,
        packets: &[Packet<Segment>],
    ) {
        if T::RECORDS {
            for packet in packets {
                watch.tap.sent(now_ns, packet, &watch.sacks);
                network.enter(now_ns, route, *packet, watch);
            }
        } else {
            network.enter_all(now_ns, route, packets, watch);
        }
    }

    #[inline(always)]
    fn send_ack(&mut self, index: usize, now_ns: u64) {
        if self.flows[index].receiver.has_packets() {
            self.send_acks(index, now_ns);
        }
        self.set_receiver_timer(index);
    }

    #[inline(never)]
    fn send_acks(&mut self, index: usize, now_ns: u64) {
        let flow = &mut self.flows[index];
        let route = route(flow.group as usize, Way::Back);
        let packets = flow.receiver.poll_transmit(&mut self.watch.sacks);
        Self::send(&mut self.network, &mut self.watch, now_ns, route, packets);
    }

    #[inline(always)]
    fn set_sender_timer(&mut self, index: usize) {
        self.note_timer(2 * index, self.flows[index].next_sender_ns());
    }

    #[inline(always)]
    fn set_receiver_timer(&mut self, index: usize) {
        self.note_timer(2 * index + 1, self.flows[index].receiver.next_timer_ns());
    }

    /// An endpoint's deadline may be earlier than the one that is noted; a later one is entered when that comes.
    #[inline(always)]
    fn note_timer(&mut self, endpoint: usize, due_ns: u64) {
        let noted_ns = &mut self.flows[endpoint / 2].noted_ns[endpoint % 2];
        if due_ns < *noted_ns {
            *noted_ns = due_ns;
            self.bring_forward(endpoint, due_ns);
        }
    }

    #[inline(never)]
    fn bring_forward(&mut self, endpoint: usize, due_ns: u64) {
        self.timers.set_earlier(endpoint, due_ns);
        self.set_network_timer();
    }
}
