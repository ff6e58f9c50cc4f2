//! From the senders to the receivers: access delay, bottleneck, delay.

use std::sync::Arc;

use dumbbell_path::{DelayLine, Ecn, Header as _, Packet};
use dumbbell_run::{Bottleneck, BottleneckConfig, Geometry, QueueSamples, Scenario};

use super::Plan;
use super::direction::Direction;
use super::flow_table::NO_FLOW;
use super::inlet::Entering;
use super::lateness::Lateness;
use super::sent_data::{SentData, SentQueue};
use crate::capture::{Place, Tap};
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::monotonic_ns;
use crate::packet::frame::Frame;
use crate::packet::wire::{Segment, is_before, tcp_flag};

/// What the forward direction counts of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ForwardCounts {
    /// Data packets that entered the path.
    pub(crate) entered_pkts: u64,
    /// Those of them whose data had entered before.
    pub(crate) retransmitted_pkts: u64,
    /// Data packets written to the receiver.
    pub(crate) arrived_pkts: u64,
    /// Wire bytes, of any packet, that the bottleneck has put on the wire.
    pub(crate) forwarded_bytes: u64,
}

/// What was measured up to the end.
#[derive(Debug)]
pub(crate) struct ForwardMeasurement {
    pub(crate) bottleneck: Bottleneck<Frame>,
    pub(crate) queue: QueueSamples,
    pub(crate) flows: Vec<ForwardCounts>,
    pub(crate) lateness: Lateness,
}

/// The forward direction.
pub(crate) struct Forward {
    hosts: Arc<Hosts>,
    plan: Plan,
    sent: Arc<SentQueue>,
    /// While the run is captured and measured.
    tap: Option<Tap>,

    /// By group.
    access: Vec<DelayLine<Packet<Frame>>>,
    has_access_delay: Vec<bool>,
    bottleneck_config: BottleneckConfig,
    /// Seed of the run.
    seed: u64,
    bottleneck: Bottleneck<Frame>,
    forward_ns: u64,
    delay: DelayLine<Packet<Frame>>,

    /// Up to when events have happened, ns.
    now_ns: u64,
    next_sample_ns: u64,
    queue: QueueSamples,
    flows: Vec<ForwardCounts>,
    /// By flow: the sequence number after the highest that entered.
    next_sequence: Vec<u32>,
    lateness: Lateness,
    has_begun: bool,
    measurement: Option<ForwardMeasurement>,
}

/// The next event of the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Link,
    Delay,
    Access(usize),
}

impl Forward {
    pub(crate) fn new(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        plan: Plan,
        sent: &Arc<SentQueue>,
        tap: Option<Tap>,
    ) -> Self {
        let geometry = Geometry::new(scenario);
        let flows = scenario.flow_count();
        Self {
            hosts: Arc::clone(hosts),
            plan,
            sent: Arc::clone(sent),
            tap,
            access: geometry
                .groups
                .iter()
                .map(|delays| DelayLine::new(delays.access_ns))
                .collect(),
            has_access_delay: geometry
                .groups
                .iter()
                .map(|delays| delays.access_ns > 0)
                .collect(),
            bottleneck_config: scenario.bottleneck.clone(),
            bottleneck: Bottleneck::new(&scenario.bottleneck, scenario.seed, flows, plan.epoch_ns),
            seed: scenario.seed,
            forward_ns: geometry.forward_ns,
            delay: DelayLine::new(geometry.forward_ns),
            now_ns: 0,
            next_sample_ns: u64::MAX,
            queue: QueueSamples::default(),
            flows: vec![ForwardCounts::default(); flows],
            next_sequence: vec![0; flows],
            lateness: Lateness::new(),
            has_begun: false,
            measurement: None,
        }
    }

    /// What was measured; up to now, if the end has not come.
    pub(crate) fn into_measurement(mut self) -> ForwardMeasurement {
        if self.measurement.is_none() {
            self.end();
        }
        self.measurement.expect("the end has just been made")
    }

    /// Everything happens that is due at `until_ns`, in order of time.
    fn process(&mut self, until_ns: u64) -> Result<(), Error> {
        loop {
            let (source, event_ns) = self.next_event();
            if event_ns > until_ns {
                break;
            }
            self.sample(event_ns);
            self.now_ns = event_ns;
            match source {
                Source::Link => self.serve_link(),
                Source::Delay => self.deliver()?,
                Source::Access(group) => {
                    if let Some(packet) = self.access[group].pop(event_ns) {
                        self.offer(packet);
                    }
                }
            }
        }
        self.sample(until_ns);
        self.now_ns = until_ns;
        if let Some(tap) = &self.tap {
            tap.passed(until_ns);
        }
        Ok(())
    }

    /// The earliest event; at equal times the link's first, as in the simulator.
    #[inline]
    fn next_event(&self) -> (Source, u64) {
        let mut next = (Source::Link, self.link_event_ns());
        let delay_ns = self.delay.next_event().unwrap_or(u64::MAX);
        if delay_ns < next.1 {
            next = (Source::Delay, delay_ns);
        }
        for (group, line) in self.access.iter().enumerate() {
            let access_ns = line.next_event().unwrap_or(u64::MAX);
            if access_ns < next.1 {
                next = (Source::Access(group), access_ns);
            }
        }
        next
    }

    /// When the link takes its next packet: not before that packet is there.
    #[inline]
    fn link_event_ns(&self) -> u64 {
        self.bottleneck.next_event_ns().max(self.now_ns)
    }

    /// A packet arrives at the bottleneck.
    #[inline]
    fn offer(&mut self, packet: Packet<Frame>) {
        let now_ns = self.now_ns;
        let Some(tap) = &mut self.tap else {
            self.bottleneck.enqueue(now_ns, packet);
            return;
        };
        let dropped_pkts = self.bottleneck.dropped_pkts;
        tap.arrives(now_ns, &packet.header);
        self.bottleneck.enqueue(now_ns, packet);
        // A full drop-tail queue drops what arrives, and nothing else.
        tap.arrived(self.bottleneck.dropped_pkts > dropped_pkts);
    }

    #[inline]
    fn serve_link(&mut self) {
        if let Some(mut departure) = self.bottleneck.dequeue(self.now_ns) {
            if departure.packet.ecn == Ecn::Ce {
                departure.packet.header.mark_ce();
            }
            if let Some(tap) = &mut self.tap {
                let frame = &departure.packet.header;
                tap.note(Place::BottleneckOut, departure.done_ns, frame);
            }
            if let Some(flow) = self.flows.get_mut(departure.packet.flow as usize) {
                flow.forwarded_bytes += u64::from(departure.packet.wire_bytes);
            }
            self.delay.push(departure.done_ns, departure.packet);
        }
    }

    /// A packet reaches its receiver.
    #[inline]
    fn deliver(&mut self) -> Result<(), Error> {
        let due_ns = self.now_ns;
        let Some(packet) = self.delay.pop(due_ns) else {
            return Ok(());
        };
        let frame = &packet.header;
        if let Some(tap) = &mut self.tap {
            tap.note(Place::Receiver, monotonic_ns(), frame);
        }
        self.hosts.receivers[usize::from(frame.group)]
            .tun
            .write(frame.bytes())
            .map_err(|source| Error::System {
                what: format!(
                    "cannot hand a packet to the receiver of group {}",
                    frame.group
                ),
                source,
            })?;
        if frame.is_data() {
            self.flows[packet.flow as usize].arrived_pkts += 1;
        }
        if self.has_begun {
            self.lateness.note(due_ns, monotonic_ns());
        }
        Ok(())
    }

    /// Samples the bottleneck at every instant up to `until_ns`.
    #[inline]
    fn sample(&mut self, until_ns: u64) {
        while self.next_sample_ns <= until_ns {
            self.queue.sample(self.next_sample_ns, &mut self.bottleneck);
            // Times of a run start at its epoch.
            if let Some(time_us) = self.queue.time_us.last_mut() {
                *time_us = ((self.next_sample_ns - self.plan.epoch_ns) / 1000) as i64;
            }
            self.next_sample_ns += self.plan.sample_interval_ns;
        }
    }

    /// Measuring begins: what was sent before, to calibrate, is not counted.
    fn begin(&mut self) {
        let counted = Bottleneck::new(
            &self.bottleneck_config,
            self.seed,
            self.flows.len(),
            self.plan.epoch_ns,
        );
        let mut before = std::mem::replace(&mut self.bottleneck, counted);
        for packet in before.drain(self.now_ns) {
            self.bottleneck.enqueue(self.now_ns, packet);
        }
        if self.plan.sample_interval_ns > 0 {
            self.next_sample_ns = self.plan.epoch_ns + self.plan.sample_interval_ns;
        }
        self.has_begun = true;
    }

    /// Measuring ends: the record is made, packets go on.
    fn end(&mut self) {
        self.next_sample_ns = u64::MAX;
        // ∫ backlog and busy time reach to the very end.
        self.bottleneck.backlog_byte_ns(self.now_ns);
        self.measurement = Some(ForwardMeasurement {
            bottleneck: self.bottleneck.clone(),
            queue: std::mem::take(&mut self.queue),
            flows: self.flows.clone(),
            lateness: self.lateness.clone(),
        });
        self.has_begun = false;
        self.tap = None;
    }

    #[inline]
    fn count_entry(&mut self, flow: u32, segment: &Segment, is_data: bool) {
        let next_sequence = &mut self.next_sequence[flow as usize];
        if segment.flags & tcp_flag::SYN != 0 {
            *next_sequence = segment.sequence.wrapping_add(1);
            return;
        }
        if !is_data {
            return;
        }
        let counts = &mut self.flows[flow as usize];
        counts.entered_pkts += 1;
        let end_sequence = segment.sequence.wrapping_add(segment.payload_bytes);
        let is_retransmission = is_before(segment.sequence, *next_sequence);
        if is_retransmission {
            counts.retransmitted_pkts += 1;
        }
        if is_before(*next_sequence, end_sequence) {
            *next_sequence = end_sequence;
        }
        self.sent.push(SentData {
            flow,
            sequence: segment.sequence,
            end_sequence,
            entered_ns: self.now_ns,
            is_retransmission,
        });
    }
}

impl Direction for Forward {
    fn advance(&mut self, now_ns: u64) -> Result<(), Error> {
        if !self.has_begun && self.measurement.is_none() && now_ns >= self.plan.epoch_ns {
            self.process(self.plan.epoch_ns)?;
            self.begin();
        }
        if self.measurement.is_none() && now_ns >= self.plan.end_ns {
            self.process(self.plan.end_ns)?;
            self.end();
        }
        self.process(now_ns)
    }

    #[inline]
    fn enter(&mut self, packet: Entering) {
        let Entering {
            frame,
            flow,
            segment,
        } = packet;
        let now_ns = self.now_ns;
        if let Some(segment) = segment
            && flow != NO_FLOW
        {
            self.count_entry(flow, &segment, frame.is_data());
        }
        if let Some(tap) = &mut self.tap {
            tap.note(Place::Sender, now_ns, &frame);
        }
        let group = usize::from(frame.group);
        let packet = Packet {
            flow,
            wire_bytes: frame.wire_bytes(),
            ecn: frame.ecn(),
            arrived_ns: now_ns,
            header: frame,
        };
        if self.has_access_delay[group] {
            self.access[group].push(now_ns, packet);
        } else {
            self.offer(packet);
        }
    }

    /// The link and the access lines act on time however late they are asked; only what reaches a
    /// receiver has to be on time. Nothing that is before the last delay can do so earlier.
    fn next_write_ns(&self) -> u64 {
        self.delay.next_event().unwrap_or_else(|| {
            self.access
                .iter()
                .filter_map(DelayLine::next_event)
                .fold(self.link_event_ns(), u64::min)
                .saturating_add(self.forward_ns)
        })
    }
}
