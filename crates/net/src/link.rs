//! A link: impairments, a queue, a transmitter. Its propagation is a line of the network.

use crate::{
    DropReason, Effect, Effects, Impair, Impairment, Observer, Packet, Queue, QueueDiscipline,
    Transmitter,
};

/// A link. Packets pass its impairments, join its queue, and are serialised at its rate.
#[derive(Clone, Debug)]
pub struct Link<H> {
    impairments: Vec<Impairment>,
    queue: QueueDiscipline<H>,
    transmitter: Transmitter,
    has_clock: bool,
    /// What waits, as the queue itself says; counted here so that it is not asked for every packet.
    backlog_pkts: u64,
    backlog_bytes: u64,
}

/// A packet that goes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<H> {
    /// The packet; `arrived_ns` says when it joined the queue.
    pub packet: Packet<H>,
    /// When its last bit is on the wire, ns.
    pub done_ns: u64,
}

impl<H: Clone> Link<H> {
    /// An idle link.
    pub fn new(
        impairments: Vec<Impairment>,
        queue: QueueDiscipline<H>,
        transmitter: Transmitter,
    ) -> Self {
        Self {
            has_clock: queue.has_clock(),
            impairments,
            queue,
            transmitter,
            backlog_pkts: 0,
            backlog_bytes: 0,
        }
    }

    /// Waiting packets; the one on the wire does not count.
    #[inline(always)]
    pub fn backlog_pkts(&self) -> u64 {
        self.backlog_pkts
    }

    /// Waiting wire bytes; the packet on the wire does not count.
    #[inline(always)]
    pub fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Until when the wire is taken, ns.
    #[inline(always)]
    pub fn busy_until_ns(&self) -> u64 {
        self.transmitter.busy_until_ns()
    }

    /// The present rate, bit/s.
    #[inline(always)]
    pub fn link_rate_bps(&self) -> u64 {
        self.transmitter.link_rate_bps()
    }

    /// Changes the rate to `link_rate_bps` bit/s (not zero); the packet on the wire keeps its time.
    /// Observers are not told: a meter's capacity while busy is wrong from then on.
    pub fn set_rate(&mut self, link_rate_bps: u64) {
        self.transmitter.set_rate(link_rate_bps);
    }

    /// Another impairment, behind those there are.
    pub fn add_impairment(&mut self, impairment: Impairment) {
        self.impairments.push(impairment);
    }

    /// Whether the queue may want to be asked earlier because a packet arrives.
    #[inline(always)]
    pub(crate) fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// Calls `look` with every packet that waits.
    pub fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.queue.for_each(look);
    }

    /// When [`Link::transmit`] has something to do, ns, at `now_ns` or later; `u64::MAX` while
    /// nothing waits.
    #[inline(always)]
    pub(crate) fn next_event_ns(&self, now_ns: u64) -> u64 {
        if self.backlog_pkts == 0 {
            return u64::MAX;
        }
        let free_ns = self.transmitter.busy_until_ns().max(now_ns);
        if self.has_clock {
            return self.queue.next_event().unwrap_or(0).max(free_ns);
        }
        free_ns
    }

    /// A packet arrives.
    #[inline(always)]
    pub(crate) fn arrive<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        self.change(index, now_ns, observer);
        observer.arrives(now_ns, index, &packet);
        if !self.impairments.is_empty() && self.is_impaired(now_ns, &packet) {
            observer.refused(now_ns, index, &packet, DropReason::Impairment);
        } else {
            self.backlog_pkts += 1;
            self.backlog_bytes += u64::from(packet.wire_bytes);
            self.queue.enqueue(now_ns, packet, effects);
        }
        self.report(index, now_ns, effects, observer);
        observer.enqueued(now_ns, index, self);
    }

    /// Whether an impairment drops the packet. Apart, so that links without any stay small.
    #[inline(never)]
    fn is_impaired(&mut self, now_ns: u64, packet: &Packet<H>) -> bool {
        let mut impairments = self.impairments.iter_mut();
        impairments.any(|impairment| impairment.drops(now_ns, packet))
    }

    /// Puts the next packet on the wire, if the queue has one.
    #[inline(always)]
    pub(crate) fn transmit<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) -> Option<Departure<H>> {
        self.change(index, now_ns, observer);
        let packet = self.queue.dequeue(now_ns, effects);
        if let Some(packet) = &packet {
            self.backlog_pkts -= 1;
            self.backlog_bytes -= u64::from(packet.wire_bytes);
        }
        self.report(index, now_ns, effects, observer);
        let packet = packet?;
        let done_ns = self.transmitter.transmit(now_ns, packet.wire_bytes);
        let departure = Departure { packet, done_ns };
        observer.departs(now_ns, index, &departure);
        Some(departure)
    }

    /// Something is about to change at `now_ns`; the rate is the one of that time.
    #[inline(always)]
    pub(crate) fn change<O: Observer<H>>(&mut self, index: usize, now_ns: u64, observer: &mut O) {
        while let Some(change) = self.transmitter.due_change(now_ns) {
            observer.rate_changes(change.at_ns, index, self, change.link_rate_bps);
            self.transmitter.change_rate();
        }
        observer.changes(now_ns, index, self);
    }

    /// Counts and tells what the queue did beside taking a packet in or giving one out.
    #[inline(always)]
    fn report<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        if !effects.is_empty() {
            self.report_each(index, now_ns, effects, observer);
        }
        debug_assert_eq!(
            (self.backlog_pkts, self.backlog_bytes),
            (self.queue.backlog_pkts(), self.queue.backlog_bytes()),
            "packets are neither lost nor made"
        );
    }

    #[cold]
    #[inline(never)]
    fn report_each<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        for effect in effects.drain() {
            match effect {
                Effect::Refused(packet, reason) => {
                    self.forget(&packet);
                    observer.refused(now_ns, index, &packet, reason);
                }
                Effect::Dropped(packet, reason) => {
                    self.forget(&packet);
                    observer.dropped(now_ns, index, &packet, reason);
                }
                Effect::Marked(packet) => observer.marked(now_ns, index, &packet),
            }
        }
    }

    /// A packet no longer waits.
    fn forget(&mut self, packet: &Packet<H>) {
        self.backlog_pkts -= 1;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
    }
}
