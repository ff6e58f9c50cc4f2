//! What looks on while packets pass: the meter, the SACK blocks' store, the capture.

use dumbbell_net::{Departure, DropReason, Link, Meter, Observer, Packet};
use dumbbell_tcp::{SackStore, Segment};

use crate::tap::Tap;

/// The network's observer.
pub(crate) struct Watch<T> {
    pub(crate) meter: Meter,
    /// Blocks of the ACKs in the network.
    pub(crate) sacks: SackStore,
    /// The capture, or `()`.
    pub(crate) tap: T,
}

impl<T: Tap> Watch<T> {
    /// A packet is no longer in the network.
    #[inline(always)]
    fn forget(&mut self, packet: &Packet<Segment>) {
        if let Segment::Ack(ack) = &packet.header {
            self.sacks.free(ack.sack);
        }
    }
}

impl<T: Tap> Observer<Segment> for Watch<T> {
    #[inline(always)]
    fn changes(&mut self, now_ns: u64, link: usize, state: &Link<Segment>) {
        self.meter.changes(now_ns, link, state);
    }

    fn rate_changes(&mut self, at_ns: u64, link: usize, state: &Link<Segment>, link_rate_bps: u64) {
        self.meter.rate_changes(at_ns, link, state, link_rate_bps);
    }

    #[inline(always)]
    fn arrives(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>) {
        self.meter.arrives(now_ns, link, packet);
        self.tap.arrives(now_ns, link, packet, &self.sacks);
    }

    fn refused(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>, reason: DropReason) {
        self.meter.refused(now_ns, link, packet, reason);
        self.tap.refused(reason);
        self.forget(packet);
    }

    #[inline(always)]
    fn enqueued(&mut self, now_ns: u64, link: usize, state: &Link<Segment>) {
        self.meter.enqueued(now_ns, link, state);
        self.tap.enqueued(now_ns, link);
    }

    fn dropped(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>, reason: DropReason) {
        self.meter.dropped(now_ns, link, packet, reason);
        self.tap.dropped(now_ns, link, packet, &self.sacks, reason);
        self.forget(packet);
    }

    fn marked(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>) {
        self.meter.marked(now_ns, link, packet);
    }

    #[inline(always)]
    fn departs(&mut self, now_ns: u64, link: usize, departure: &Departure<Segment>) {
        self.meter.departs(now_ns, link, departure);
        self.tap.departs(now_ns, link, departure, &self.sacks);
    }
}
