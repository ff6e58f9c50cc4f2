//! What looks on while packets pass the links: the meter, and the capture's tap.

use dumbbell_net::{DropReason, Link, Meter, Observer, Packet};

use super::connections::ConnectionMeter;
use crate::capture::{Place, Tap};
use crate::packet::frame::Frame;

/// The observer of a part of the network.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) meter: Meter,
    pub(crate) connections: ConnectionMeter,
    /// While the run is captured and measured.
    pub(crate) tap: Option<Tap>,
}

impl Watch {
    /// The packet, if it is of an application's connection, under the number of its flow, which it counts for.
    #[inline]
    fn counted(packet: &Packet<Frame>) -> Option<Packet<Frame>> {
        let flow = packet.header.flow;
        (packet.flow != flow).then(|| Packet {
            flow,
            ..packet.clone()
        })
    }
}

impl Observer<Frame> for Watch {
    #[inline]
    fn changes(&mut self, now_ns: u64, link: usize, state: &Link<Frame>) {
        self.meter.changes(now_ns, link, state);
    }

    fn rate_changes(&mut self, at_ns: u64, link: usize, state: &Link<Frame>, link_rate_bps: u64) {
        self.meter.rate_changes(at_ns, link, state, link_rate_bps);
    }

    #[inline]
    fn arrives(&mut self, now_ns: u64, link: usize, packet: &Packet<Frame>) {
        self.meter.arrives(now_ns, link, packet);
        if let Some(tap) = &mut self.tap {
            tap.arrives(now_ns, link as u16, packet);
        }
    }

    fn refused(&mut self, now_ns: u64, link: usize, packet: &Packet<Frame>, reason: DropReason) {
        let counted = Self::counted(packet);
        let counted = counted.as_ref().unwrap_or(packet);
        self.meter.refused(now_ns, link, counted, reason);
        self.connections.dropped(packet);
        if let Some(tap) = &mut self.tap {
            tap.refused(reason);
        }
    }

    #[inline]
    fn enqueued(&mut self, now_ns: u64, link: usize, state: &Link<Frame>) {
        self.meter.enqueued(now_ns, link, state);
        if let Some(tap) = &mut self.tap {
            tap.arrived();
        }
    }

    fn dropped(&mut self, now_ns: u64, link: usize, packet: &Packet<Frame>, reason: DropReason) {
        let counted = Self::counted(packet);
        let counted = counted.as_ref().unwrap_or(packet);
        self.meter.dropped(now_ns, link, counted, reason);
        self.connections.dropped(packet);
        if let Some(tap) = &mut self.tap {
            tap.dropped(now_ns, link as u16, packet, reason);
        }
    }

    fn marked(&mut self, now_ns: u64, link: usize, packet: &Packet<Frame>) {
        let counted = Self::counted(packet);
        self.meter
            .marked(now_ns, link, counted.as_ref().unwrap_or(packet));
        self.connections.marked(packet);
    }

    fn duplicated(&mut self, now_ns: u64, link: usize, copy: &Packet<Frame>) {
        let counted = Self::counted(copy);
        self.meter
            .duplicated(now_ns, link, counted.as_ref().unwrap_or(copy));
        if let Some(tap) = &mut self.tap {
            tap.duplicated(now_ns, link as u16, copy);
        }
    }

    fn lost(&mut self, done_ns: u64, link: usize, packet: &Packet<Frame>) {
        let counted = Self::counted(packet);
        self.meter
            .lost(done_ns, link, counted.as_ref().unwrap_or(packet));
        self.connections.dropped(packet);
        if let Some(tap) = &mut self.tap {
            tap.lost(done_ns, link as u16, packet);
        }
    }

    #[inline]
    fn departs(&mut self, now_ns: u64, link: usize, packet: &Packet<Frame>, done_ns: u64) {
        let account = packet.header.flow;
        self.meter
            .count_departure(now_ns, link, packet, done_ns, account);
        if let Some(tap) = &mut self.tap {
            let place = Place::LinkOut(link as u16);
            tap.note(place, done_ns, packet);
        }
    }
}
