//! A link without events: a drop-tail queue in front of a wire with a constant rate. The only impairment allowed is
//! random loss before the queue.
//!
//! The fate of a packet is known when it arrives: whether it fits, when it goes on the wire, and when its last bit is
//! sent. The link puts the packet into the propagation line at once. It reports the departure later, but in time: before the next arrival, the next packet out of
//! the line, and the next sample. All counts
//! are the same as on a link with events. This saves one event and one copy per packet.

use super::Link;
use crate::{DelayLine, DropReason, Header, Impairment, Limit, Observer, Packet, Queue};

/// What a link knows ahead.
#[derive(Clone, Debug)]
pub(super) struct Foresight {
    /// The queue's limit; `None` if the link has events.
    limit: Option<Limit>,
    /// When the first waiting packet goes on the wire, ns; `u64::MAX`: nothing waits.
    next_start_ns: u64,
    /// The event in which a packet arrived last.
    event: u64,
}

/// How packets arrive at a link without events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) now_ns: u64,
    /// Where on their route they then are.
    pub(crate) hop: u32,
    /// The number of the event.
    pub(crate) event: u64,
    /// Whether the wire starts what is due now before this event.
    pub(crate) is_after: bool,
}

impl Foresight {
    /// A link with events knows nothing ahead.
    pub(super) fn none() -> Self {
        Self {
            limit: None,
            next_start_ns: u64::MAX,
            event: 0,
        }
    }
}

impl<H: Header> Link<H> {
    /// Runs the link without events from now on, if it is simple enough. The link must be idle.
    pub(crate) fn foresee(&mut self, propagation: &DelayLine<Packet<H>>) {
        let only_loses =
            (self.before.iter()).all(|each| matches!(each, Impairment::random_loss(_)));
        let is_simple = self.is_plain
            && only_loses
            && self.uncut_bytes == u64::MAX
            && !self.transmitter.changes_rate()
            && !propagation.changes_delay();
        self.foresight.limit = self.queue.drop_tail_limit().filter(|_| is_simple);
    }

    /// Whether it has no events.
    #[inline(always)]
    pub(crate) fn is_foreseen(&self) -> bool {
        self.foresight.limit.is_some()
    }

    /// Packets arrive. Returns when the first of them leaves `propagation`, if nothing leaves before it.
    #[inline(always)]
    pub(crate) fn arrive_foreseen<O: Observer<H>>(
        &mut self,
        index: usize,
        arrival: Arrival,
        packets: &[Packet<H>],
        propagation: &mut DelayLine<Packet<H>>,
        observer: &mut O,
    ) -> Option<u64> {
        let now_ns = arrival.now_ns;
        // What arrives in one event comes before what the wire does next.
        if std::mem::replace(&mut self.foresight.event, arrival.event) != arrival.event {
            let until_ns = now_ns + u64::from(arrival.is_after);
            self.settle(index, until_ns, propagation, observer);
        }
        observer.changes(now_ns, index, self);
        let mut due_ns = None;
        let may_lose = !self.is_direct;
        for packet in packets {
            observer.arrives(now_ns, index, packet);
            if may_lose && self.loses() {
                observer.refused(now_ns, index, packet, DropReason::Impairment);
                continue;
            }
            let first_ns = self.join_foreseen(index, arrival, packet, propagation, observer);
            due_ns = first_ns.or(due_ns);
        }
        observer.enqueued(now_ns, index, self);
        due_ns
    }

    /// Whether the next packet is lost before the queue.
    #[inline(never)]
    fn loses(&mut self) -> bool {
        self.before.iter_mut().any(|each| match each {
            Impairment::random_loss(loss) => loss.loses(),
            _ => false,
        })
    }

    /// A packet joins the queue if it fits. Returns when it leaves `propagation`, if nothing leaves before it, ns.
    #[inline(always)]
    fn join_foreseen<O: Observer<H>>(
        &mut self,
        index: usize,
        arrival: Arrival,
        packet: &Packet<H>,
        propagation: &mut DelayLine<Packet<H>>,
        observer: &mut O,
    ) -> Option<u64> {
        let now_ns = arrival.now_ns;
        let fits = match self.foresight.limit? {
            Limit::Bytes(bytes) => self.backlog_bytes + u64::from(packet.wire_bytes) <= bytes,
            Limit::Packets(packets) => self.backlog_pkts < packets,
        };
        if !fits {
            observer.refused(now_ns, index, packet, DropReason::Overflow);
            return None;
        }
        let start_ns = self.transmitter.busy_until_ns().max(now_ns);
        if self.backlog_pkts == 0 {
            self.foresight.next_start_ns = start_ns;
        }
        let done_ns = self.transmitter.transmit(start_ns, packet.wire_bytes);
        // Written where it lies: what is written before it is copied has to reach memory first.
        let (due_ns, packet) = propagation.push_made(done_ns, || packet.clone());
        packet.hop = arrival.hop;
        packet.arrived_ns = now_ns;
        self.count_in(packet);
        due_ns
    }

    /// What goes on the wire before `until_ns` departs.
    #[inline(always)]
    pub(crate) fn settle<O: Observer<H>>(
        &mut self,
        index: usize,
        until_ns: u64,
        propagation: &DelayLine<Packet<H>>,
        observer: &mut O,
    ) {
        while self.foresight.next_start_ns < until_ns {
            let start_ns = self.foresight.next_start_ns;
            let waiting = self.backlog_pkts as usize;
            let Some((packet, done_ns)) = propagation.nth_back(waiting) else {
                return;
            };
            observer.changes(start_ns, index, self);
            self.forget(packet);
            self.busy_until_ns = done_ns;
            observer.departs(start_ns, index, packet, done_ns);
            // What waits behind it arrived before it went on the wire, and goes there as soon as it is free.
            self.foresight.next_start_ns = if waiting > 1 { done_ns } else { u64::MAX };
        }
    }

    /// The packet that goes on the wire `place` packets after the next.
    #[inline(always)]
    pub(crate) fn departing<'a>(
        &self,
        place: usize,
        propagation: &'a DelayLine<Packet<H>>,
    ) -> Option<&'a Packet<H>> {
        let waiting = (self.backlog_pkts as usize).checked_sub(place)?;
        let is_foreseen = self.is_foreseen();
        let (packet, _) = propagation.nth_back(waiting).filter(|_| is_foreseen)?;
        Some(packet)
    }

    /// Packets that wait in `propagation`, of super-packets each segment.
    pub(crate) fn foreseen_segments(&self, propagation: &DelayLine<Packet<H>>) -> u64 {
        if !self.is_foreseen() {
            return 0;
        }
        let waiting = (1..=self.backlog_pkts as usize).filter_map(|n| propagation.nth_back(n));
        waiting
            .map(|(packet, _)| u64::from(packet.header.segments()))
            .sum()
    }
}
