//! The event loop: endpoints and path in virtual time.
//!
//! Events come from few sources, each in time order by itself: the link, the delay lines
//! (first in, first out) and the endpoints' timers. The loop takes the
//! earliest head; at equal times the source with the lower number goes first, which together
//! with the order within each source makes the order of events total and reproducible.

use std::rc::Rc;

use dumbbell_cc::Instance;
use dumbbell_path::{Departure, Packet};
use dumbbell_run::address_plan::flow_addresses;
use dumbbell_run::{Bottleneck, Control, Refusal, Scenario};
use dumbbell_tcp::DataHeader;

use crate::endpoints::Endpoints;
use crate::error::Error;
use crate::lines::Lines;
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::tournament::Tournament;

/// Sources of events; the delay lines of the path classes follow.
const LINK: usize = 0;
const FORWARD: usize = 1;
const TIMERS: usize = 2;
const FIRST_CLASS: usize = 3;

/// Events between two looks at [`Control`].
const EVENTS_PER_CHECK: u32 = 8192;

/// Refuses more time than a tournament of so many has room for: 36 years of two flows, 19 hours
/// of 100,000.
pub(crate) fn check_time(scenario: &Scenario) -> Result<(), Refusal> {
    let flows = scenario.flow_count();
    let never_ns = Tournament::never_ns(FIRST_CLASS + 2 * (scenario.groups.len() + flows));
    if scenario.duration_ns < never_ns {
        return Ok(());
    }
    Err(Refusal(format!(
        "{flows} flows cannot be simulated for {} s; say less than `{}s`",
        scenario.duration_ns / 1_000_000_000,
        never_ns / 1_000_000_000
    )))
}

/// Everything that a run consists of.
pub(crate) struct Engine {
    pub(crate) end_ns: u64,
    instances: Vec<Rc<Instance>>,
    pub(crate) flows: Vec<Endpoints>,
    pub(crate) bottleneck: Bottleneck<DataHeader>,
    pub(crate) recorder: Recorder,
    pub(crate) path: Lines,
    /// When each source has its next event.
    heads: Tournament,
    /// When each endpoint wants to be woken, or earlier; of flow `n` these are `2n` and `2n + 1`.
    timers: Tournament,
    sample_interval_ns: u64,
    next_sample_ns: u64,
    /// The capture, if there is one.
    tap: Option<Box<Tap>>,
    /// Until when the run has come, ns.
    reached_ns: u64,
}

impl Engine {
    pub(crate) fn new(scenario: &Scenario, instances: &[Rc<Instance>], tap: Option<Tap>) -> Self {
        let path = Lines::new(scenario);
        let groups: Vec<_> = instances
            .iter()
            .zip(&scenario.groups)
            .map(|(instance, group)| (Rc::clone(instance), group.flows as usize))
            .collect();
        let flows: Vec<Endpoints> = (0_u32..)
            .zip(&scenario.groups)
            .flat_map(|(index, group)| (0..group.flows).map(move |number| (index, group, number)))
            .zip(0_u32..)
            .map(|((group_index, group, number), flow)| {
                let start_ns = group.start_of(scenario.seed, flow);
                let path_class = path.class_of_group[group_index as usize];
                let instance = &instances[group_index as usize];
                let mut socket = instance.new_flow();
                let (sender, receiver) = flow_addresses(group_index as u16, number);
                socket.sock.set_addresses(sender, receiver);
                Endpoints::new(flow, group_index, group, start_ns, path_class, socket)
            })
            .collect();
        let flow_count = flows.len();
        let sources = FIRST_CLASS + 2 * path.classes.len();
        let mut engine = Self {
            end_ns: scenario.duration_ns,
            instances: instances.to_vec(),
            timers: Tournament::new(2 * flow_count),
            flows,
            bottleneck: Bottleneck::new(&scenario.bottleneck, scenario.seed, flow_count, 0),
            recorder: Recorder::new(scenario.sample_interval_ns, scenario.duration_ns, &groups),
            path,
            heads: Tournament::new(sources),
            sample_interval_ns: scenario.sample_interval_ns,
            next_sample_ns: if scenario.sample_interval_ns == 0 {
                u64::MAX
            } else {
                scenario.sample_interval_ns
            },
            tap: tap.map(Box::new),
            reached_ns: 0,
        };
        for flow in 0..engine.flows.len() {
            engine.set_sender_timer(flow);
        }
        engine
    }

    /// Runs to the end, or until `control` cancels.
    pub(crate) fn run(&mut self, control: &Control) -> Result<(), Error> {
        let mut until_check = EVENTS_PER_CHECK;
        loop {
            let (source, now_ns) = self.heads.next();
            if now_ns > self.end_ns {
                break;
            }
            while self.next_sample_ns <= now_ns {
                self.sample();
            }
            self.dispatch(source, now_ns);
            until_check -= 1;
            if until_check == 0 {
                until_check = EVENTS_PER_CHECK;
                self.reached_ns = now_ns;
                if control.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                self.check_faults()?;
                if self.tap.as_ref().is_some_and(|tap| tap.has_failed()) {
                    return Ok(()); // the capture's failure is told when it is finished
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
        self.reached_ns = self.end_ns;
        control.set_progress(1, 1);
        self.check_faults()
    }

    /// Ends a run whose congestion control has done what TCP cannot go on with.
    fn check_faults(&self) -> Result<(), Error> {
        let fault = self.instances.iter().find_map(|instance| instance.fault());
        fault.map_or(Ok(()), |fault| Err(fault.clone().into()))
    }

    /// Ends the capture, if there is one.
    pub(crate) fn finish_capture(&mut self) -> Result<(), Error> {
        match self.tap.take() {
            Some(tap) => Ok(tap.finish(self.reached_ns)?),
            None => Ok(()),
        }
    }

    fn sample(&mut self) {
        self.recorder
            .sample(self.next_sample_ns, &mut self.flows, &mut self.bottleneck);
        self.next_sample_ns += self.sample_interval_ns;
    }

    #[inline]
    fn dispatch(&mut self, source: usize, now_ns: u64) {
        match source {
            LINK => self.serve_link(now_ns),
            FORWARD => self.deliver_data(now_ns),
            TIMERS => self.wake(now_ns),
            _ => {
                let class = (source - FIRST_CLASS) / 2;
                if (source - FIRST_CLASS).is_multiple_of(2) {
                    self.deliver_ack(class, now_ns);
                } else {
                    self.deliver_access(class, now_ns);
                }
            }
        }
    }

    /// The wire is free: the next packet goes on it.
    #[inline]
    fn serve_link(&mut self, now_ns: u64) {
        if let Some(tap) = &mut self.tap {
            if let Some(departure) = tap.dequeue(now_ns, &mut self.bottleneck) {
                self.propagate(departure);
            }
        } else if let Some(departure) = self.bottleneck.dequeue(now_ns) {
            self.propagate(departure);
        }
        self.heads.set(LINK, self.bottleneck.next_event_ns());
    }

    /// A packet is on the wire.
    #[inline]
    fn propagate(&mut self, departure: Departure<DataHeader>) {
        let flow = &mut self.flows[departure.packet.flow as usize];
        flow.forwarded_bytes += u64::from(departure.packet.wire_bytes);
        let forward = &mut self.path.forward;
        if let Some(due_ns) = forward.push(departure.done_ns, departure.packet) {
            self.heads.set(FORWARD, due_ns);
        }
    }

    /// A data packet reaches its receiver.
    #[inline]
    fn deliver_data(&mut self, now_ns: u64) {
        // Looked at where it lies: a packet is not worth moving only to be forgotten.
        if let Some(packet) = self.path.forward.peek(now_ns) {
            let index = packet.flow as usize;
            if let Some(tap) = &mut self.tap {
                tap.segment_arrives(now_ns, packet);
            }
            self.flows[index].receiver.on_packet(now_ns, packet);
            self.path.forward.pop(now_ns);
            self.send_ack(index, now_ns);
        }
        self.heads
            .set(FORWARD, self.path.forward.next_event().unwrap_or(u64::MAX));
    }

    /// A data packet of a flow with access delay reaches the bottleneck.
    fn deliver_access(&mut self, class: usize, now_ns: u64) {
        if let Some(packet) = self.path.classes[class].access.pop(now_ns) {
            self.enter_bottleneck(now_ns, packet);
        }
        self.heads.set(
            FIRST_CLASS + 2 * class + 1,
            self.path.classes[class]
                .access
                .next_event()
                .unwrap_or(u64::MAX),
        );
    }

    /// An ACK reaches its sender.
    #[inline]
    fn deliver_ack(&mut self, class: usize, now_ns: u64) {
        let back = &mut self.path.classes[class].back;
        if let Some(ack) = back.peek(now_ns) {
            let index = ack.flow as usize;
            if let Some(tap) = &mut self.tap {
                tap.ack_arrives(now_ns, ack);
            }
            let flow = &mut self.flows[index];
            if let Some(rtt_us) = flow.sender.on_ack(now_ns, ack) {
                flow.note_rtt(rtt_us);
            }
            back.pop(now_ns);
            self.send_data(index, now_ns);
        }
        self.heads.set(
            FIRST_CLASS + 2 * class,
            self.path.classes[class]
                .back
                .next_event()
                .unwrap_or(u64::MAX),
        );
    }

    /// A timer of some endpoint may be due.
    fn wake(&mut self, now_ns: u64) {
        let (endpoint, _) = self.timers.next();
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
        self.timers.set(endpoint, due_ns);
        self.heads.set(TIMERS, self.timers.next().1);
    }

    /// Sends what the sender wants to send after an event.
    #[inline]
    fn send_data(&mut self, index: usize, now_ns: u64) {
        let flow = &mut self.flows[index];
        let class = &mut self.path.classes[flow.path_class];
        if class.has_access_delay {
            for packet in flow.sender.poll_transmit(now_ns).as_slice() {
                if let Some(tap) = &mut self.tap {
                    tap.segment_leaves(now_ns, packet);
                }
                if let Some(due_ns) = class.access.push(now_ns, *packet) {
                    let source = FIRST_CLASS + 2 * flow.path_class + 1;
                    self.heads.set(source, due_ns);
                }
            }
        } else {
            let packets = flow.sender.poll_transmit(now_ns);
            let sent = packets.len() > 0;
            if let Some(tap) = &mut self.tap {
                for packet in packets.as_slice() {
                    tap.segment_leaves(now_ns, packet);
                    tap.enqueue(now_ns, *packet, &mut self.bottleneck);
                }
            } else {
                for packet in packets.as_slice() {
                    self.bottleneck.enqueue(now_ns, *packet);
                }
            }
            drop(packets);
            if sent {
                self.start_link(now_ns);
            }
        }
        let flow = &mut self.flows[index];
        if flow.finished_ns.is_none() && flow.sender.is_finished() {
            flow.finished_ns = Some(now_ns);
        }
        self.set_sender_timer(index);
    }

    fn enter_bottleneck(&mut self, now_ns: u64, packet: Packet<DataHeader>) {
        match &mut self.tap {
            None => self.bottleneck.enqueue(now_ns, packet),
            Some(tap) => tap.enqueue(now_ns, packet, &mut self.bottleneck),
        }
        self.start_link(now_ns);
    }

    /// Packets may wait now: has the link anything to do?
    #[inline]
    fn start_link(&mut self, now_ns: u64) {
        if !self.heads.is_due_ever(LINK) {
            let next_ns = self.bottleneck.next_event_ns();
            self.heads.set(
                LINK,
                if next_ns == u64::MAX {
                    next_ns
                } else {
                    next_ns.max(now_ns)
                },
            );
        }
    }

    #[inline]
    fn send_ack(&mut self, index: usize, now_ns: u64) {
        let flow = &mut self.flows[index];
        let back = &mut self.path.classes[flow.path_class].back;
        for ack in flow.receiver.poll_transmit().as_slice() {
            if let Some(tap) = &mut self.tap {
                tap.ack_leaves(now_ns, ack);
            }
            if let Some(due_ns) = back.push(now_ns, *ack) {
                let source = FIRST_CLASS + 2 * flow.path_class;
                self.heads.set(source, due_ns);
            }
        }
        self.set_receiver_timer(index);
    }

    #[inline]
    fn set_sender_timer(&mut self, index: usize) {
        let due_ns = self.flows[index].next_sender_ns();
        if self.timers.set_earlier(2 * index, due_ns) {
            self.heads.set(TIMERS, self.timers.next().1);
        }
    }

    #[inline]
    fn set_receiver_timer(&mut self, index: usize) {
        let due_ns = self.flows[index].receiver.next_timer_ns();
        if self.timers.set_earlier(2 * index + 1, due_ns) {
            self.heads.set(TIMERS, self.timers.next().1);
        }
    }
}
