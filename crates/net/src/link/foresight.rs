//! A link without events: a drop-tail queue in front of a wire with a constant rate. The only impairment allowed is
//! random loss before the queue.
//!
//! The fate of a packet is known when it arrives: whether it fits, when it goes on the wire, and when its last bit is
//! sent. The link puts the packet into the propagation line at once. It reports the departure later, but in time: before the next arrival, the next packet out of
//! the line, and the next sample. All counts
//! are the same as on a link with events. This saves one event and one copy per packet.

use super::{Link, pass};
use crate::{DelayLine, DropReason, Header, Impairment, Limit, Observer, Packet, Queue};

/// What a link knows ahead.
#[derive(Clone, Debug)]
pub(super) struct Foresight {
    limit: Limit,
    /// When the first waiting packet goes on the wire, ns; `u64::MAX`: nothing waits.
    next_start_ns: u64,
    /// The event in which a packet arrived last.
    event: u64,
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
        self.foresight = self
            .queue
            .drop_tail_limit()
            .filter(|_| is_simple)
            .map(|limit| Foresight {
                limit,
                next_start_ns: u64::MAX,
                event: 0,
            });
    }

    /// Whether it has no events.
    #[inline(always)]
    pub(crate) fn is_foreseen(&self) -> bool {
        self.foresight.is_some()
    }

    /// Packets arrive at `now_ns`, in event number `event`. `is_after`: the wire starts what is due at `now_ns` before
    /// this event. Returns when the first packet leaves `propagation`, if nothing leaves before it.
    #[inline(always)]
    pub(crate) fn arrive_foreseen<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packets: impl Iterator<Item = Packet<H>>,
        (event, is_after): (u64, bool),
        propagation: &mut DelayLine<Packet<H>>,
        observer: &mut O,
    ) -> Option<u64> {
        let foresight = self.foresight.as_mut()?;
        let limit = foresight.limit;
        // What arrives in one event comes before what the wire does next.
        if std::mem::replace(&mut foresight.event, event) != event {
            self.settle(index, now_ns + u64::from(is_after), propagation, observer);
        }
        observer.changes(now_ns, index, self);
        if !self.is_direct {
            return self.arrive_with_losses(index, now_ns, packets, propagation, observer);
        }
        let mut due_ns = None;
        for packet in packets {
            observer.arrives(now_ns, index, &packet);
            let first_ns = self.join_foreseen(index, now_ns, limit, packet, propagation, observer);
            due_ns = first_ns.or(due_ns);
        }
        due_ns
    }

    /// The same after random loss. A separate function, so that a packet that cannot be lost need not be in memory.
    #[inline(never)]
    fn arrive_with_losses<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packets: impl Iterator<Item = Packet<H>>,
        propagation: &mut DelayLine<Packet<H>>,
        observer: &mut O,
    ) -> Option<u64> {
        let limit = self.foresight.as_ref()?.limit;
        let mut due_ns = None;
        for mut packet in packets {
            observer.arrives(now_ns, index, &packet);
            if pass(&mut self.before, now_ns, &mut packet).0.is_none() {
                observer.refused(now_ns, index, &packet, DropReason::Impairment);
                observer.enqueued(now_ns, index, self);
                continue;
            }
            let first_ns = self.join_foreseen(index, now_ns, limit, packet, propagation, observer);
            due_ns = first_ns.or(due_ns);
        }
        due_ns
    }

    /// A packet joins the queue if it fits. Returns when it leaves `propagation`, if nothing leaves before it, ns.
    #[inline(always)]
    fn join_foreseen<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        limit: Limit,
        packet: Packet<H>,
        propagation: &mut DelayLine<Packet<H>>,
        observer: &mut O,
    ) -> Option<u64> {
        let fits = match limit {
            Limit::Bytes(bytes) => self.backlog_bytes + u64::from(packet.wire_bytes) <= bytes,
            Limit::Packets(packets) => self.backlog_pkts < packets,
        };
        let mut due_ns = None;
        if fits {
            let start_ns = self.transmitter.busy_until_ns().max(now_ns);
            if self.backlog_pkts == 0
                && let Some(foresight) = &mut self.foresight
            {
                foresight.next_start_ns = start_ns;
            }
            self.count_in(&packet);
            let done_ns = self.transmitter.transmit(start_ns, packet.wire_bytes);
            due_ns = propagation.push(done_ns, packet);
        } else {
            observer.refused(now_ns, index, &packet, DropReason::Overflow);
        }
        observer.enqueued(now_ns, index, self);
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
        while let Some(start_ns) = self.next_start_ns()
            && start_ns < until_ns
        {
            let waiting = self.backlog_pkts as usize;
            let Some((packet, done_ns)) = propagation.nth_back(waiting) else {
                return;
            };
            observer.changes(start_ns, index, self);
            self.forget(packet);
            self.busy_until_ns = done_ns;
            observer.departs(start_ns, index, packet, done_ns);
            let next = propagation.nth_back(waiting - 1);
            let next_ns = next.map_or(u64::MAX, |(packet, _)| packet.arrived_ns.max(done_ns));
            if let Some(foresight) = &mut self.foresight {
                foresight.next_start_ns = next_ns;
            }
        }
    }

    #[inline(always)]
    fn next_start_ns(&self) -> Option<u64> {
        self.foresight.as_ref().map(|ahead| ahead.next_start_ns)
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
