//! The shared link of the run and what was measured of it.

use std::collections::VecDeque;

use dumbbell_path::{Departure, Ecn, Header, Link, Packet, Queue as _, RandomLoss};

use crate::histogram::Histogram;
use crate::queue_discipline::QueueDiscipline;
use crate::random::element_seed;
use crate::scenario::{self, RateStep};

/// A link with its queue, counting.
#[derive(Clone, Debug)]
pub struct Bottleneck<H> {
    link: Link<QueueDiscipline<H>>,
    random_loss: RandomLoss,
    /// The link's present rate, bit/s.
    link_rate_bps: u64,
    /// Rates to come, on the engine's clock, in order of time.
    rate_steps: VecDeque<RateStep>,
    /// When the first of them is due, ns; `u64::MAX`: never.
    next_step_ns: u64,
    /// What the last call dropped.
    dropped: Vec<Packet<H>>,
    /// Data packets of each flow that were dropped.
    pub flow_dropped_pkts: Vec<u64>,
    /// Data packets of each flow that went on the wire marked CE.
    pub flow_marked_pkts: Vec<u64>,
    /// Packets that arrived.
    pub offered_pkts: u64,
    /// Packets that went on the wire, the one that is still on it included.
    pub taken_pkts: u64,
    /// Their wire bytes.
    pub taken_bytes: u64,
    /// Of them marked CE.
    pub marked_pkts: u64,
    /// Packets dropped, those lost at random included.
    pub dropped_pkts: u64,
    /// Of them lost at random.
    pub random_loss_pkts: u64,
    /// Wire bytes of all that were dropped.
    pub dropped_bytes: u64,
    /// How long packets waited, µs.
    pub sojourn_us: Histogram,
    /// Sum over the packets, ns.
    pub sojourn_sum_ns: u128,
    /// The longest wait, µs.
    pub sojourn_max_us: u64,
    /// Sojourn of the packet that went on the wire last, since it was last asked for.
    last_sojourn_us: Option<u32>,
    /// Wire bytes of that packet.
    last_wire_bytes: u64,
    /// Time during which something waited or was on the wire, ns.
    pub busy_ns: u64,
    /// Of that, the time before the present rate, ns, and what the link could carry in it, 10⁻⁹ bit.
    busy_before: (u64, u128),
    /// The longest queue, wire bytes.
    pub backlog_max_bytes: u64,
    backlog_byte_ns: u128,
    backlog_since_ns: u64,
}

impl<H: Header> Bottleneck<H> {
    /// An idle link in a run of `seed` and `flows` flows that starts at `start_ns` of the engine's
    /// clock.
    pub fn new(bottleneck: &scenario::Bottleneck, seed: u64, flows: usize, start_ns: u64) -> Self {
        let on_clock = |step: &RateStep| RateStep {
            at_ns: start_ns.saturating_add(step.at_ns),
            ..*step
        };
        let rate_steps: VecDeque<_> = bottleneck.rate_steps.iter().map(on_clock).collect();
        Self {
            link: Link::new(bottleneck.link_rate_bps, QueueDiscipline::new(bottleneck)),
            random_loss: RandomLoss::new(bottleneck.random_loss_ppb, element_seed(seed, "loss", 0)),
            random_loss_pkts: 0,
            link_rate_bps: bottleneck.link_rate_bps,
            next_step_ns: rate_steps.front().map_or(u64::MAX, |step| step.at_ns),
            rate_steps,
            dropped: Vec::new(),
            flow_dropped_pkts: vec![0; flows],
            flow_marked_pkts: vec![0; flows],
            offered_pkts: 0,
            taken_pkts: 0,
            taken_bytes: 0,
            marked_pkts: 0,
            dropped_pkts: 0,
            dropped_bytes: 0,
            sojourn_us: Histogram::new(),
            sojourn_sum_ns: 0,
            sojourn_max_us: 0,
            last_sojourn_us: None,
            last_wire_bytes: 0,
            busy_ns: 0,
            busy_before: (0, 0),
            backlog_max_bytes: 0,
            backlog_byte_ns: 0,
            backlog_since_ns: 0,
        }
    }

    /// When the link has something to send, ns; `u64::MAX`: nothing waits.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.link.next_event().unwrap_or(u64::MAX)
    }

    /// A packet arrives.
    #[inline]
    pub fn enqueue(&mut self, now_ns: u64, packet: Packet<H>) {
        self.enqueue_watched(now_ns, packet, |_| {});
    }

    /// As [`Bottleneck::enqueue`]; `on_drop` is shown what is dropped, the packet itself or others.
    #[inline]
    pub fn enqueue_watched(
        &mut self,
        now_ns: u64,
        packet: Packet<H>,
        on_drop: impl FnMut(&Packet<H>),
    ) {
        self.charge_backlog(now_ns);
        self.offered_pkts += 1;
        if self.random_loss.loses() {
            self.random_loss_pkts += 1;
            self.dropped.push(packet);
        } else {
            self.link.enqueue(now_ns, packet, &mut self.dropped);
        }
        self.backlog_max_bytes = self.backlog_max_bytes.max(self.backlog_bytes());
        self.count_drops(on_drop);
    }

    /// The next packet that goes on the wire at `now_ns`, if any.
    #[inline]
    pub fn dequeue(&mut self, now_ns: u64) -> Option<Departure<H>> {
        self.dequeue_watched(now_ns, |_| {})
    }

    /// As [`Bottleneck::dequeue`]; `on_drop` is shown what is dropped on the way.
    #[inline]
    pub fn dequeue_watched(
        &mut self,
        now_ns: u64,
        on_drop: impl FnMut(&Packet<H>),
    ) -> Option<Departure<H>> {
        self.charge_backlog(now_ns);
        let departure = self.link.dequeue(now_ns, &mut self.dropped);
        self.count_drops(on_drop);
        let departure = departure?;
        let sojourn_ns = now_ns - departure.packet.arrived_ns;
        let sojourn_us = sojourn_ns / 1000;
        self.last_sojourn_us = Some(sojourn_us as u32);
        self.sojourn_max_us = self.sojourn_max_us.max(sojourn_us);
        self.sojourn_sum_ns += u128::from(sojourn_ns);
        self.sojourn_us.record(sojourn_us);
        self.last_wire_bytes = u64::from(departure.packet.wire_bytes);
        self.taken_pkts += 1;
        self.taken_bytes += u64::from(departure.packet.wire_bytes);
        if departure.packet.ecn == Ecn::Ce {
            self.count_mark(departure.packet.flow, departure.packet.header.is_data());
        }
        Some(departure)
    }

    /// Waiting packets.
    pub fn backlog_pkts(&self) -> u64 {
        self.link.queue().backlog_pkts()
    }

    /// Waiting wire bytes.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        self.link.queue().backlog_bytes()
    }

    /// Takes out all that still waits at the end of the run.
    pub fn drain(&mut self, now_ns: u64) -> Vec<Packet<H>> {
        let queue = self.link.queue_mut();
        let waiting = std::iter::from_fn(|| queue.dequeue(now_ns, &mut self.dropped)).collect();
        self.count_drops(|_| {});
        waiting
    }

    /// Packets and wire bytes that are through at `now_ns`: what was taken, less what is on the wire.
    pub fn forwarded(&self, now_ns: u64) -> (u64, u64) {
        if self.link.busy_until_ns() > now_ns {
            (self.taken_pkts - 1, self.taken_bytes - self.last_wire_bytes)
        } else {
            (self.taken_pkts, self.taken_bytes)
        }
    }

    /// Sojourn of the last packet that left the queue since the last call, µs.
    pub fn take_last_sojourn_us(&mut self) -> Option<u32> {
        self.last_sojourn_us.take()
    }

    /// ∫ backlog dt up to `now_ns`, byte·ns.
    pub fn backlog_byte_ns(&mut self, now_ns: u64) -> u128 {
        self.charge_backlog(now_ns);
        self.backlog_byte_ns
    }

    /// What the link could carry in the time that it was busy, bits.
    pub fn busy_capacity_bits(&self) -> f64 {
        let (before_ns, before_nanobits) = self.busy_before;
        let now_ns = u128::from(self.busy_ns - before_ns);
        (before_nanobits + now_ns * u128::from(self.link_rate_bps)) as f64 / 1e9
    }

    /// Brings the books up to `now_ns`, and the link's rate with them.
    #[inline]
    fn charge_backlog(&mut self, now_ns: u64) {
        while self.next_step_ns <= now_ns {
            self.step_rate();
        }
        self.charge_backlog_at_one_rate(now_ns);
    }

    #[inline]
    fn charge_backlog_at_one_rate(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns - self.backlog_since_ns;
        self.backlog_byte_ns += u128::from(elapsed_ns) * u128::from(self.backlog_bytes());
        self.busy_ns += if self.backlog_pkts() > 0 {
            elapsed_ns
        } else {
            let on_wire_ns = self
                .link
                .busy_until_ns()
                .saturating_sub(self.backlog_since_ns);
            elapsed_ns.min(on_wire_ns)
        };
        self.backlog_since_ns = now_ns;
    }

    /// The next rate holds from its time on.
    #[cold]
    fn step_rate(&mut self) {
        if let Some(step) = self.rate_steps.pop_front() {
            self.charge_backlog_at_one_rate(step.at_ns.max(self.backlog_since_ns));
            let (before_ns, before_nanobits) = self.busy_before;
            let new_ns = u128::from(self.busy_ns - before_ns);
            let nanobits = before_nanobits + new_ns * u128::from(self.link_rate_bps);
            self.busy_before = (self.busy_ns, nanobits);
            self.link_rate_bps = step.link_rate_bps;
            self.link.set_rate(step.link_rate_bps);
        }
        let next = self.rate_steps.front();
        self.next_step_ns = next.map_or(u64::MAX, |step| step.at_ns);
    }

    /// A call of its own where it is needed: most queues mark nothing.
    #[inline(never)]
    fn count_mark(&mut self, flow: u32, is_data: bool) {
        self.marked_pkts += 1;
        if is_data {
            self.flow_marked_pkts[flow as usize] += 1;
        }
    }

    #[inline]
    fn count_drops(&mut self, on_drop: impl FnMut(&Packet<H>)) {
        if !self.dropped.is_empty() {
            self.count_each_drop(on_drop);
        }
    }

    fn count_each_drop(&mut self, mut on_drop: impl FnMut(&Packet<H>)) {
        for packet in self.dropped.drain(..) {
            on_drop(&packet);
            self.dropped_pkts += 1;
            self.dropped_bytes += u64::from(packet.wire_bytes);
            if packet.header.is_data() {
                self.flow_dropped_pkts[packet.flow as usize] += 1;
            }
        }
    }
}
