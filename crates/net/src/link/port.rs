//! A link as its medium sees it.

use std::collections::VecDeque;

use super::{Departure, Link};
use crate::medium::Port;
use crate::{Effects, Header, Observer, Packet};

/// A link while its medium does what is due.
pub(super) struct LinkPort<'a, H, O> {
    pub(super) link: &'a mut Link<H>,
    pub(super) in_hand: &'a mut VecDeque<(u64, Packet<H>)>,
    /// How long each packet is in the queue without waiting for the link, ns.
    pub(super) held_ns: u64,
    pub(super) index: usize,
    pub(super) now_ns: u64,
    pub(super) effects: &'a mut Effects<H>,
    pub(super) observer: &'a mut O,
    pub(super) go_on: &'a mut dyn FnMut(Departure<H>),
}

impl<H: Header, O: Observer<H>> LinkPort<'_, H, O> {
    /// The first packet in hand is on the wire no longer; it counts as one that went there when it was
    /// taken.
    fn depart(&mut self, done_ns: u64) -> Departure<H> {
        let (taken_ns, packet) = self.in_hand.pop_front().expect("a packet is in hand");
        let departure = Departure { packet, done_ns };
        let packet = &departure.packet;
        self.observer.departs(taken_ns, self.index, packet, done_ns);
        departure
    }
}

impl<H: Header, O: Observer<H>> Port for LinkPort<'_, H, O> {
    fn backlog_pkts(&self) -> u64 {
        self.link.backlog_pkts
    }

    fn backlog_bytes(&self) -> u64 {
        self.link.backlog_bytes
    }

    fn take(&mut self) -> Option<u32> {
        let (index, now_ns) = (self.index, self.now_ns);
        // Books are kept for each packet: with the next one the backlog is another.
        self.link.change(index, now_ns, self.observer);
        let mut packet = self
            .link
            .dequeue(index, now_ns, self.effects, self.observer)?;
        let wire_bytes = packet.wire_bytes;
        // It waited from then on; the queue was asked when that was over.
        packet.arrived_ns = (packet.arrived_ns + self.held_ns).min(now_ns);
        self.in_hand.push_back((now_ns, packet));
        Some(wire_bytes)
    }

    fn deliver(&mut self, done_ns: u64, late_ns: u64) {
        let departure = self.depart(done_ns);
        let (link, observer, go_on) = (&mut *self.link, &mut *self.observer, &mut *self.go_on);
        let mut late = |departure: Departure<H>| {
            go_on(Departure {
                done_ns: departure.done_ns + late_ns,
                ..departure
            });
        };
        if link.behind.is_empty() {
            late(departure);
        } else {
            link.pass_behind(self.index, departure, observer, &mut late);
        }
    }

    fn lose(&mut self, done_ns: u64) {
        let departure = self.depart(done_ns);
        self.observer.lost(done_ns, self.index, &departure.packet);
    }
}
