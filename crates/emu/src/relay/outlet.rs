//! Where packets leave a part of the network: devices of hosts, written.

use std::io;
use std::sync::Arc;

use dumbbell_net::Packet;
use dumbbell_scenario::{Scenario, Way};

use super::lateness::Lateness;
use crate::capture::{Place, Tap};
use crate::error::Error;
use crate::hosts::host::{Host, Hosts};
use crate::machine::clock::monotonic_ns;
use crate::packet::frame::Frame;
use crate::packet::joining::Joined;

/// When a packet leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) due_ns: u64,
    /// On the clock, before it is written.
    pub(crate) now_ns: u64,
}

/// The way out.
///
/// A data segment that is due is held for a moment: if the next packet that is due is the next segment of its
/// flow, both go out in one write ([`Joined`]). Nothing waits for what is not due yet, so a segment is
/// never later than it would be alone, and where the relay is on time each goes alone.
#[derive(Debug)]
pub(crate) struct Outlet {
    hosts: Arc<Hosts>,
    /// By group: receivers may acknowledge two segments by one ACK.
    may_join: Vec<bool>,
    /// A packet that is due, and its times.
    held: Option<(Times, Packet<Frame>)>,
    /// Of what was due from then on, ns.
    lateness_from_ns: u64,
    pub(crate) lateness: Lateness,
}

impl Outlet {
    /// To `hosts`; lateness is noted of what is due from `lateness_from_ns` on.
    pub(crate) fn new(hosts: &Arc<Hosts>, scenario: &Scenario, lateness_from_ns: u64) -> Self {
        Self {
            hosts: Arc::clone(hosts),
            may_join: (scenario.groups.iter())
                .map(|group| group.delayed_ack)
                .collect(),
            held: None,
            lateness_from_ns,
            lateness: Lateness::new(),
        }
    }

    /// A packet leaves; [`Outlet::flush`] follows the last one.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        times: Times,
        mut packet: Packet<Frame>,
        tap: &mut Option<Tap>,
    ) -> Result<(), Error> {
        if packet.ecn != packet.header.ecn() {
            packet.header.set_ecn(packet.ecn);
        }
        if let Some((held_times, held)) = self.held.take() {
            if held.flow == packet.flow
                && let Some(joined) = Joined::new(held.header.bytes(), packet.header.bytes())
            {
                note_departure(held_times, &held, tap);
                note_departure(times, &packet, tap);
                let host = self.host(&packet.header);
                written(&packet.header, host.tun.write_parts(joined.parts()))?;
                self.note_lateness(held_times);
                self.note_lateness(times);
                return Ok(());
            }
            self.write(held_times, &held, tap)?;
        }
        let frame = &packet.header;
        if frame.is_segment() && self.may_join[usize::from(frame.group)] {
            self.held = Some((times, packet));
            Ok(())
        } else {
            self.write(times, &packet, tap)
        }
    }

    /// Nothing else is due now.
    #[inline]
    pub(crate) fn flush(&mut self, tap: &mut Option<Tap>) -> Result<(), Error> {
        match self.held.take() {
            Some((times, packet)) => self.write(times, &packet, tap),
            None => Ok(()),
        }
    }

    #[inline]
    fn write(
        &mut self,
        times: Times,
        packet: &Packet<Frame>,
        tap: &mut Option<Tap>,
    ) -> Result<(), Error> {
        note_departure(times, packet, tap);
        let frame = &packet.header;
        written(frame, self.host(frame).tun.write(frame.bytes()))?;
        self.note_lateness(times);
        Ok(())
    }

    #[inline]
    fn host(&self, frame: &Frame) -> &Host {
        self.hosts.exit(frame.way, frame.group)
    }

    #[inline]
    fn note_lateness(&mut self, times: Times) {
        if times.due_ns >= self.lateness_from_ns {
            self.lateness.note(times.due_ns, monotonic_ns());
        }
    }
}

/// The packet is about to be written.
#[inline]
fn note_departure(times: Times, packet: &Packet<Frame>, tap: &mut Option<Tap>) {
    if let Some(tap) = tap {
        tap.note(Place::exit(packet.header.way), times.now_ns, packet);
    }
}

fn written(frame: &Frame, result: io::Result<()>) -> Result<(), Error> {
    result.map_err(|source| Error::System {
        what: format!(
            "cannot hand a packet to the {} of group {}",
            match frame.way {
                Way::There => "receiver",
                Way::Back => "sender",
            },
            frame.group
        ),
        source,
    })
}
