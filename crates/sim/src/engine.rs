//! The event loop: endpoints and path in virtual time.
//!
//! Events come from few sources, each in time order by itself: the link, the delay lines
//! (first in, first out) and the endpoints' timers. The loop takes the
//! earliest head; at equal times the source with the lower number goes first, which together
//! with the order within each source makes the order of events total and reproducible.

use std::rc::Rc;

use dumbbell_cc::Instance;
use dumbbell_path::Packet;
use dumbbell_run::{Bottleneck, Control, Scenario};
use dumbbell_tcp::DataHeader;

use crate::earliest::{WIDTH, earliest, index_of};
use crate::endpoints::Endpoints;
use crate::error::Error;
use crate::lines::Lines;
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::timers::Timers;

/// Sources of events; the delay lines of the path classes follow.
const LINK: usize = 0;
const FORWARD: usize = 1;
const TIMERS: usize = 2;
const FIRST_CLASS: usize = 3;

/// Events between two looks at [`Control`].
const EVENTS_PER_CHECK: u32 = 8192;

/// Everything that a run consists of.
pub(crate) struct Engine {
    pub(crate) end_ns: u64,
    instances: Vec<Rc<Instance>>,
    pub(crate) flows: Vec<Endpoints>,
    pub(crate) bottleneck: Bottleneck<DataHeader>,
    pub(crate) recorder: Recorder,
    pub(crate) path: Lines,
    /// When each source has its next event, ns; `u64::MAX`: none.
    heads: Vec<[u64; WIDTH]>,
    timers: Timers,
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
            .flat_map(|(index, group)| (0..group.flows).map(move |_| (index, group)))
            .zip(0_u32..)
            .map(|((group_index, group), flow)| {
                let start_ns = group.start_of(scenario.seed, flow);
                let path_class = path.class_of_group[group_index as usize];
                let instance = &instances[group_index as usize];
                Endpoints::new(flow, group_index, group, start_ns, path_class, instance)
            })
            .collect();
        let flow_count = flows.len();
        let sources = FIRST_CLASS + 2 * path.classes.len();
        let mut engine = Self {
            end_ns: scenario.duration_ns,
            instances: instances.to_vec(),
            timers: Timers::new(2 * flow_count),
            flows,
            bottleneck: Bottleneck::new(&scenario.bottleneck, scenario.seed, flow_count, 0),
            recorder: Recorder::new(scenario.sample_interval_ns, scenario.duration_ns, &groups),
            path,
            heads: vec![[u64::MAX; WIDTH]; sources.div_ceil(WIDTH)],
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
            engine.set_timers(flow);
        }
        engine
    }

    /// Runs to the end, or until `control` cancels.
    pub(crate) fn run(&mut self, control: &Control) -> Result<(), Error> {
        let mut until_check = EVENTS_PER_CHECK;
        loop {
            let (source, now_ns) = self.next_event();
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

    /// The source with the earliest event and its time; the lowest number among equals.
    #[inline]
    fn next_event(&self) -> (usize, u64) {
        let due_ns = earliest(&self.heads[0]);
        let mut next = (index_of(&self.heads[0], due_ns), due_ns);
        // More than two base RTTs in the run: look at the rest of the delay lines too.
        for (block, heads) in self.heads.iter().enumerate().skip(1) {
            let due_ns = earliest(heads);
            if due_ns < next.1 {
                next = (block * WIDTH + index_of(heads, due_ns), due_ns);
            }
        }
        next
    }

    #[inline]
    fn set_head(&mut self, source: usize, due_ns: u64) {
        self.heads[source / WIDTH][source % WIDTH] = due_ns;
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
        let departure = match &mut self.tap {
            None => self.bottleneck.dequeue(now_ns),
            Some(tap) => tap.dequeue(now_ns, &mut self.bottleneck),
        };
        if let Some(departure) = departure {
            let flow = &mut self.flows[departure.packet.flow as usize];
            flow.forwarded_bytes += u64::from(departure.packet.wire_bytes);
            self.path.forward.push(departure.done_ns, departure.packet);
            self.set_head(FORWARD, self.path.forward.next_event().unwrap_or(u64::MAX));
        }
        self.set_head(LINK, self.bottleneck.next_event_ns());
    }

    /// A data packet reaches its receiver.
    #[inline]
    fn deliver_data(&mut self, now_ns: u64) {
        if let Some(packet) = self.path.forward.pop(now_ns) {
            let index = packet.flow as usize;
            if let Some(tap) = &mut self.tap {
                tap.segment_arrives(now_ns, &packet);
            }
            self.flows[index].receiver.on_packet(now_ns, &packet);
            self.send_ack(index, now_ns);
        }
        self.set_head(FORWARD, self.path.forward.next_event().unwrap_or(u64::MAX));
    }

    /// A data packet of a flow with access delay reaches the bottleneck.
    fn deliver_access(&mut self, class: usize, now_ns: u64) {
        if let Some(packet) = self.path.classes[class].access.pop(now_ns) {
            self.enter_bottleneck(now_ns, packet);
        }
        self.set_head(
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
        if let Some(ack) = self.path.classes[class].back.pop(now_ns) {
            let index = ack.flow as usize;
            if let Some(tap) = &mut self.tap {
                tap.ack_arrives(now_ns, &ack);
            }
            let flow = &mut self.flows[index];
            if let Some(rtt_us) = flow.sender.on_ack(now_ns, &ack) {
                flow.note_rtt(rtt_us);
            }
            self.send_data(index, now_ns);
        }
        self.set_head(
            FIRST_CLASS + 2 * class,
            self.path.classes[class]
                .back
                .next_event()
                .unwrap_or(u64::MAX),
        );
    }

    /// A timer of some endpoint may be due.
    fn wake(&mut self, now_ns: u64) {
        if let Some(endpoint) = self.timers.pop() {
            let index = endpoint as usize / 2;
            if endpoint.is_multiple_of(2) {
                if self.flows[index].next_sender_ns() <= now_ns {
                    self.flows[index].wake_sender(now_ns);
                    self.send_data(index, now_ns);
                }
            } else if self.flows[index].receiver.next_timer_ns() <= now_ns {
                self.flows[index].receiver.on_timer(now_ns);
                self.send_ack(index, now_ns);
            }
            self.set_timers(index);
        }
        self.set_head(TIMERS, self.timers.next_ns());
    }

    /// Sends what the sender wants to send after an event.
    #[inline]
    fn send_data(&mut self, index: usize, now_ns: u64) {
        let flow = &mut self.flows[index];
        let class = &mut self.path.classes[flow.path_class];
        if class.has_access_delay {
            for packet in flow.sender.poll_transmit(now_ns) {
                if let Some(tap) = &mut self.tap {
                    tap.segment_leaves(now_ns, &packet);
                }
                class.access.push(now_ns, packet);
            }
            let head = (
                FIRST_CLASS + 2 * flow.path_class + 1,
                class.access.next_event(),
            );
            self.set_head(head.0, head.1.unwrap_or(u64::MAX));
        } else {
            let mut sent = false;
            let packets = flow.sender.poll_transmit(now_ns);
            if let Some(tap) = &mut self.tap {
                for packet in packets {
                    tap.segment_leaves(now_ns, &packet);
                    tap.enqueue(now_ns, packet, &mut self.bottleneck);
                    sent = true;
                }
            } else {
                for packet in packets {
                    self.bottleneck.enqueue(now_ns, packet);
                    sent = true;
                }
            }
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
        if self.heads[0][LINK] == u64::MAX {
            let next_ns = self.bottleneck.next_event_ns();
            self.set_head(
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
        let mut sent = false;
        while let Some(ack) = flow.receiver.poll_transmit() {
            if let Some(tap) = &mut self.tap {
                tap.ack_leaves(now_ns, &ack);
            }
            back.push(now_ns, ack);
            sent = true;
        }
        if sent {
            let head = (FIRST_CLASS + 2 * flow.path_class, back.next_event());
            self.set_head(head.0, head.1.unwrap_or(u64::MAX));
        }
        self.set_receiver_timer(index);
    }

    #[inline]
    fn set_sender_timer(&mut self, index: usize) {
        let due_ns = self.flows[index].next_sender_ns();
        if self.timers.set(2 * index as u32, due_ns) {
            self.set_head(TIMERS, self.timers.next_ns());
        }
    }

    #[inline]
    fn set_receiver_timer(&mut self, index: usize) {
        let due_ns = self.flows[index].receiver.next_timer_ns();
        if self.timers.set(2 * index as u32 + 1, due_ns) {
            self.set_head(TIMERS, self.timers.next_ns());
        }
    }

    fn set_timers(&mut self, index: usize) {
        self.set_sender_timer(index);
        self.set_receiver_timer(index);
    }
}
