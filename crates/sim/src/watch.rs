//! What looks on while packets pass: the meter, the SACK blocks' store, the capture.

use dumbbell_net::{DropReason, Header as _, Link, Meter, Observer, Packet};
use dumbbell_tcp::{SackStore, Segment};

use crate::connection_table::ConnectionTable;
use crate::payload_store::PayloadStore;
use crate::tap::Tap;

/// The network's observer.
pub(crate) struct Watch<T> {
    pub(crate) meter: Meter,
    /// Blocks of the ACKs in the network.
    pub(crate) sacks: SackStore,
    /// Flows without an application: their packets carry the numbers below.
    pub(crate) flows: u32,
    /// Connections of the others.
    pub(crate) connections: ConnectionTable,
    /// Bytes of the datagrams in the network that have any.
    pub(crate) payloads: PayloadStore,
    /// The capture, or `()`.
    pub(crate) tap: T,
}

impl<T: Tap> Watch<T> {
    /// A packet has left the network.
    #[inline(always)]
    fn forget(&mut self, packet: &Packet<Segment>) {
        if let Segment::Ack(ack) = &packet.header {
            self.sacks.free(ack.sack);
        }
        if self.is_of_application(packet) {
            self.connections.drop_packet(packet.flow);
            if let Some(place) = place_of(packet) {
                self.payloads.free(place);
            }
        }
    }

    #[inline(always)]
    fn is_of_application(&self, packet: &Packet<Segment>) -> bool {
        packet.flow >= self.flows
    }

    /// The packet under the number whose counts it goes to.
    #[inline(always)]
    fn counted(&self, packet: &Packet<Segment>) -> Packet<Segment> {
        let mut packet = *packet;
        if self.is_of_application(&packet) {
            packet.flow = self.connections.account(packet.flow);
        }
        packet
    }

    /// A packet of an application's connection goes on the wire.
    #[inline(never)]
    fn application_departs(
        &mut self,
        now_ns: u64,
        link: usize,
        packet: &Packet<Segment>,
        done_ns: u64,
    ) {
        let account = self.connections.account(packet.flow);
        self.meter
            .count_departure(now_ns, link, packet, done_ns, account);
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
        self.meter
            .refused(now_ns, link, &self.counted(packet), reason);
        self.tap.refused(reason);
        self.forget(packet);
    }

    #[inline(always)]
    fn enqueued(&mut self, now_ns: u64, link: usize, state: &Link<Segment>) {
        self.meter.enqueued(now_ns, link, state);
        self.tap.enqueued(now_ns, link);
    }

    fn dropped(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>, reason: DropReason) {
        self.meter
            .dropped(now_ns, link, &self.counted(packet), reason);
        self.tap.dropped(now_ns, link, packet, &self.sacks, reason);
        self.forget(packet);
    }

    fn marked(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>) {
        self.meter.marked(now_ns, link, &self.counted(packet));
    }

    fn duplicated(&mut self, now_ns: u64, link: usize, copy: &Packet<Segment>) {
        self.meter.duplicated(now_ns, link, &self.counted(copy));
        if let Segment::Ack(ack) = &copy.header {
            self.sacks.share(ack.sack);
        }
        if self.is_of_application(copy) {
            self.connections.enter(copy.flow);
            if let Some(place) = place_of(copy) {
                self.payloads.share(place);
            }
        }
        self.tap.duplicated(link);
    }

    #[cold]
    fn split(&mut self, _now_ns: u64, _link: usize, packet: &Packet<Segment>) {
        if self.is_of_application(packet) {
            for _ in 1..packet.header.segments() {
                self.connections.enter(packet.flow);
            }
        }
    }

    fn lost(&mut self, done_ns: u64, link: usize, packet: &Packet<Segment>) {
        self.meter.lost(done_ns, link, &self.counted(packet));
        self.tap.lost(link);
        self.forget(packet);
    }

    #[inline(always)]
    fn departs(&mut self, now_ns: u64, link: usize, packet: &Packet<Segment>, done_ns: u64) {
        if self.is_of_application(packet) {
            self.application_departs(now_ns, link, packet, done_ns);
        } else {
            self.meter.departs(now_ns, link, packet, done_ns);
        }
        self.tap.departs(now_ns, link, packet, done_ns, &self.sacks);
    }
}

/// Where the bytes of a packet are kept, if it has any.
fn place_of(packet: &Packet<Segment>) -> Option<u32> {
    match &packet.header {
        Segment::Datagram(header) => header.place(),
        _ => None,
    }
}
