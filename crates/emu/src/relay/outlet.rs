//! Where packets leave a part of the network: devices of hosts, written.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use dumbbell_net::Packet;
use dumbbell_scenario::{Scenario, Way};

use super::lateness::Lateness;
use super::rebinding::Rebinding;
use crate::capture::{Place, Tap};
use crate::error::Error;
use crate::hosts::device::Device;
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
    /// Whether a group's receivers may acknowledge two segments by one ACK.
    may_join: Vec<bool>,
    /// A packet that is due, and its times.
    held: Option<(Times, Packet<Frame>)>,
    /// The NAT before the first group's clients.
    nat: Option<Arc<Mutex<Rebinding>>>,
    /// The start: lateness is of what was due from then on, ns.
    epoch_ns: u64,
    pub(crate) lateness: Lateness,
}

impl Outlet {
    /// To `hosts`; lateness is noted of what is due from `epoch_ns` on.
    pub(crate) fn new(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        epoch_ns: u64,
        nat: Option<&Arc<Mutex<Rebinding>>>,
    ) -> Self {
        let receivers = hosts.receivers.iter();
        // In virtual time nothing is late: what is due at once comes so, as packets of their own.
        let is_tun = receivers.map(|host| matches!(host.device, Device::Tun(_)));
        Self {
            hosts: Arc::clone(hosts),
            may_join: (scenario.groups.iter().zip(is_tun))
                .map(|(group, is_tun)| group.host.delayed_ack && is_tun)
                .collect(),
            held: None,
            nat: nat.cloned(),
            epoch_ns,
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
        if !self.passes_nat(times.due_ns, &mut packet.header) {
            return Ok(());
        }
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
                written(&packet.header, host.device.write_parts(joined.parts()))?;
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
        written(frame, self.host(frame).device.write(frame.bytes()))?;
        self.note_lateness(times);
        Ok(())
    }

    /// Whether a packet is not lost at the NAT, if there is one.
    #[inline]
    fn passes_nat(&self, due_ns: u64, frame: &mut Frame) -> bool {
        let Some(nat) = self.nat.as_ref().filter(|_| frame.group == 0) else {
            return true;
        };
        let run_ns = due_ns.saturating_sub(self.epoch_ns);
        let mut nat = nat.lock().unwrap_or_else(PoisonError::into_inner);
        nat.translate(run_ns, frame)
    }

    #[inline]
    fn host(&self, frame: &Frame) -> &Host {
        self.hosts.exit(frame.way, frame.group)
    }

    #[inline]
    fn note_lateness(&mut self, times: Times) {
        if times.due_ns >= self.epoch_ns {
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
