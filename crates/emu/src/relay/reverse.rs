//! From the receivers back to the senders: a delay, and the RTT samples.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dumbbell_capture::SackBlocks;
use dumbbell_path::DelayLine;
use dumbbell_run::{Geometry, Histogram, Scenario};

use super::Plan;
use super::direction::Direction;
use super::flow_table::NO_FLOW;
use super::inlet::Entering;
use super::lateness::Lateness;
use super::rtt_probe::RttProbe;
use super::sent_data::{SentData, SentQueue};
use crate::capture::{Place, Tap};
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::monotonic_ns;
use crate::packet::frame::Frame;
use crate::packet::wire::{Segment, tcp_flag};

/// RTT samples of a flow.
#[derive(Clone, Debug)]
pub(crate) struct RttSamples {
    pub(crate) rtt_us: Histogram,
    pub(crate) rtt_sum_us: u64,
    /// Extremes, exact; `u32::MAX` and 0 without a sample.
    pub(crate) rtt_min_us: u32,
    pub(crate) rtt_max_us: u32,
}

impl RttSamples {
    fn new() -> Self {
        Self {
            rtt_us: Histogram::new(),
            rtt_sum_us: 0,
            rtt_min_us: u32::MAX,
            rtt_max_us: 0,
        }
    }

    #[inline]
    fn note(&mut self, rtt_us: u32) {
        self.rtt_us.record(u64::from(rtt_us));
        self.rtt_sum_us += u64::from(rtt_us);
        self.rtt_min_us = self.rtt_min_us.min(rtt_us);
        self.rtt_max_us = self.rtt_max_us.max(rtt_us);
    }
}

/// What the sender of a flow is told by a packet on its way back.
#[derive(Clone, Copy, Debug)]
struct Acknowledgment {
    flow: u32,
    acknowledgment: u32,
    sack: SackBlocks,
}

impl Acknowledgment {
    /// What `segment` tells the sender of `flow`, if anything.
    #[inline]
    fn of(flow: u32, segment: &Segment) -> Option<Self> {
        let is_ack = flow != NO_FLOW && segment.flags & tcp_flag::ACK != 0;
        is_ack.then_some(Self {
            flow,
            acknowledgment: segment.acknowledgment,
            sack: segment.sack,
        })
    }
}

/// What was measured up to the end.
#[derive(Debug)]
pub(crate) struct ReverseMeasurement {
    pub(crate) rtts: Vec<RttSamples>,
    pub(crate) lateness: Lateness,
}

/// The reverse direction.
pub(crate) struct Reverse {
    hosts: Arc<Hosts>,
    plan: Plan,
    sent: Arc<SentQueue>,
    taken: Vec<SentData>,
    /// While the run is captured and measured.
    tap: Option<Tap>,

    /// By group.
    back: Vec<DelayLine<(Frame, Option<Acknowledgment>)>>,

    /// By flow.
    probes: Vec<RttProbe>,
    rtts: Vec<RttSamples>,
    latest_rtt_us: Arc<Vec<AtomicU32>>,
    lateness: Lateness,
    now_ns: u64,
    measurement: Option<ReverseMeasurement>,
}

impl Reverse {
    pub(crate) fn new(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        plan: Plan,
        sent: &Arc<SentQueue>,
        latest_rtt_us: &Arc<Vec<AtomicU32>>,
        tap: Option<Tap>,
    ) -> Self {
        let flows = scenario.flow_count();
        Self {
            hosts: Arc::clone(hosts),
            plan,
            sent: Arc::clone(sent),
            taken: Vec::new(),
            tap,
            back: Geometry::new(scenario)
                .groups
                .iter()
                .map(|delays| delays.back_line(plan.epoch_ns))
                .collect(),
            probes: (0..flows).map(|_| RttProbe::default()).collect(),
            rtts: vec![RttSamples::new(); flows],
            latest_rtt_us: Arc::clone(latest_rtt_us),
            lateness: Lateness::new(),
            now_ns: 0,
            measurement: None,
        }
    }

    /// What was measured; up to now, if the end has not come.
    pub(crate) fn into_measurement(mut self) -> ReverseMeasurement {
        if self.measurement.is_none() {
            self.end();
        }
        self.measurement.expect("the end has just been made")
    }

    fn process(&mut self, until_ns: u64) -> Result<(), Error> {
        loop {
            let next = (0_usize..)
                .zip(&self.back)
                .filter_map(|(group, line)| Some((line.next_event()?, group)))
                .min();
            match next {
                Some((due_ns, group)) if due_ns <= until_ns => self.deliver(group, due_ns)?,
                _ => break,
            }
        }
        self.now_ns = until_ns;
        if let Some(tap) = &self.tap {
            tap.passed(until_ns);
        }
        Ok(())
    }

    /// A packet reaches its sender, whose TCP deals with it before the write returns.
    #[inline]
    fn deliver(&mut self, group: usize, due_ns: u64) -> Result<(), Error> {
        let Some((frame, acknowledgment)) = self.back[group].pop(due_ns) else {
            return Ok(());
        };
        // The sample ends when the sender is told, late or not: that is the RTT that TCP sees.
        let told_ns = monotonic_ns();
        if let Some(acknowledgment) = acknowledgment {
            self.sample_rtt(&acknowledgment, told_ns);
        }
        if let Some(tap) = &mut self.tap {
            tap.note(Place::Sender, told_ns, &frame);
        }
        self.hosts.senders[group]
            .tun
            .write(frame.bytes())
            .map_err(|source| Error::System {
                what: format!("cannot hand a packet to the sender of group {group}"),
                source,
            })?;
        if due_ns >= self.plan.epoch_ns {
            self.lateness.note(due_ns, monotonic_ns());
        }
        Ok(())
    }

    #[inline]
    fn sample_rtt(&mut self, acknowledgment: &Acknowledgment, now_ns: u64) {
        self.take_sent();
        let flow = acknowledgment.flow as usize;
        let sample_ns = self.probes[flow].on_ack(
            acknowledgment.acknowledgment,
            acknowledgment.sack.as_slice(),
            now_ns,
        );
        if let Some(rtt_ns) = sample_ns {
            let rtt_us = u32::try_from(rtt_ns / 1000).unwrap_or(u32::MAX);
            self.rtts[flow].note(rtt_us);
            self.latest_rtt_us[flow].store(rtt_us, Ordering::Relaxed);
        }
    }

    #[inline]
    fn take_sent(&mut self) {
        self.sent.take(&mut self.taken);
        for sent in self.taken.drain(..) {
            let probe = &mut self.probes[sent.flow as usize];
            if sent.is_retransmission {
                probe.on_retransmission(sent.sequence, sent.end_sequence);
            } else {
                probe.on_data(sent.end_sequence, sent.entered_ns);
            }
        }
    }

    fn end(&mut self) {
        self.measurement = Some(ReverseMeasurement {
            rtts: self.rtts.clone(),
            lateness: std::mem::replace(&mut self.lateness, Lateness::new()),
        });
        self.tap = None;
    }
}

impl Direction for Reverse {
    fn advance(&mut self, now_ns: u64) -> Result<(), Error> {
        if self.measurement.is_none() && now_ns >= self.plan.end_ns {
            self.process(self.plan.end_ns)?;
            self.end();
        }
        self.process(now_ns)
    }

    #[inline]
    fn enter(&mut self, packet: Entering) {
        let acknowledgment = packet
            .segment
            .and_then(|segment| Acknowledgment::of(packet.flow, &segment));
        if let Some(tap) = &mut self.tap {
            tap.note(Place::Receiver, self.now_ns, &packet.frame);
        }
        let group = usize::from(packet.frame.group);
        self.back[group].push(self.now_ns, (packet.frame, acknowledgment));
    }

    fn next_write_ns(&self) -> u64 {
        self.back
            .iter()
            .filter_map(DelayLine::next_event)
            .min()
            .unwrap_or(u64::MAX)
    }
}
