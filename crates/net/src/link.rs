//! A link: impairments, a queue, a transmitter. Its propagation is a line of the network.

use crate::impair::pass;
use crate::{
    DropReason, Effect, Effects, Header, Impairment, Observer, Packet, Queue, QueueDiscipline,
    Transmitter,
};

/// A link. Packets pass the impairments before its queue, join it, are serialised at its rate, and
/// pass the impairments behind it.
#[derive(Clone, Debug)]
pub struct Link<H> {
    before: Vec<Impairment>,
    behind: Vec<Impairment>,
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

impl<H: Header> Link<H> {
    /// An idle link with impairments before its queue.
    pub fn new(
        before: Vec<Impairment>,
        queue: QueueDiscipline<H>,
        transmitter: Transmitter,
    ) -> Self {
        Self {
            has_clock: queue.has_clock(),
            before,
            behind: Vec::new(),
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

    /// Another impairment before the queue, behind those there are.
    pub fn add_impairment(&mut self, impairment: Impairment) {
        self.before.push(impairment);
    }

    /// Another impairment behind the link, behind those there are.
    pub fn add_impairment_behind(&mut self, impairment: Impairment) {
        self.behind.push(impairment);
    }

    /// Whether there is an impairment behind it.
    #[inline(always)]
    pub(crate) fn is_impaired_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// What the queue discipline counts, by the names of `tc`.
    pub fn statistics(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        self.queue.statistics(tell);
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
        if self.before.is_empty() {
            self.join(now_ns, packet, effects);
        } else {
            self.arrive_impaired(index, now_ns, packet, effects, observer);
        }
        self.report(index, now_ns, effects, observer);
        observer.enqueued(now_ns, index, self);
    }

    /// A packet joins the queue.
    #[inline(always)]
    fn join(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        self.backlog_pkts += 1;
        self.backlog_bytes += u64::from(packet.wire_bytes);
        self.queue.enqueue(now_ns, packet, effects);
    }

    /// A packet passes the impairments before the queue. Apart, so that links without any stay small.
    #[inline(never)]
    fn arrive_impaired<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        let mut packet = packet;
        let (passes, is_copied) = pass(&mut self.before, now_ns, &mut packet);
        let copy = is_copied.then(|| packet.copy());
        if let Some(copy) = &copy {
            observer.duplicated(now_ns, index, copy);
        }
        let go_on = |link: &mut Self,
                     passes: Option<u64>,
                     packet: Packet<H>,
                     effects: &mut Effects<H>,
                     observer: &mut O| {
            debug_assert!(
                passes.is_none_or(|late_ns| late_ns == 0),
                "only behind a link"
            );
            match passes {
                Some(_) => link.join(now_ns, packet, effects),
                None => observer.refused(now_ns, index, &packet, DropReason::Impairment),
            }
        };
        go_on(self, passes, packet, effects, observer);
        if let Some(mut copy) = copy {
            // The arrival is over, and the copy's is one by itself.
            self.report(index, now_ns, effects, observer);
            observer.enqueued(now_ns, index, self);
            observer.arrives(now_ns, index, &copy);
            let (passes, _) = pass(&mut self.before, now_ns, &mut copy);
            go_on(self, passes, copy, effects, observer);
        }
    }

    /// A packet that departed passes the impairments behind the link; `go_on` gets what goes on, and when.
    #[inline(never)]
    pub(crate) fn pass_behind<O: Observer<H>>(
        &mut self,
        index: usize,
        departure: Departure<H>,
        observer: &mut O,
        go_on: &mut dyn FnMut(Departure<H>),
    ) {
        let Departure {
            mut packet,
            done_ns,
        } = departure;
        let (passes, is_copied) = pass(&mut self.behind, done_ns, &mut packet);
        let copy = is_copied.then(|| packet.copy());
        if let Some(copy) = &copy {
            observer.duplicated(done_ns, index, copy);
        }
        let mut each = |passes: Option<u64>, packet: Packet<H>, observer: &mut O| match passes {
            Some(late_ns) => go_on(Departure {
                packet,
                done_ns: done_ns + late_ns,
            }),
            None => observer.lost(done_ns, index, &packet),
        };
        each(passes, packet, observer);
        if let Some(mut copy) = copy {
            let (passes, _) = pass(&mut self.behind, done_ns, &mut copy);
            each(passes, copy, observer);
        }
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
