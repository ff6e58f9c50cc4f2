//! What happens at the sockets of applications' connections.

use std::os::fd::AsFd as _;

use dumbbell_app::{End, Event};

use super::connection::{Connection, index};
use super::driver::Applications;
use super::hosts::failed;
use super::live::LiveSender;
use super::token::{Socket, socket_of};
use crate::error::Error;
use crate::machine::readiness::Ready;
use crate::sockets::socket;

impl Applications {
    pub(super) fn on_ready(&mut self, ready: Ready) -> Result<(), Error> {
        match socket_of(ready.token) {
            Socket::DatagramReceiver(number) => self.receive_datagrams(number),
            Socket::Listener(number) => self.accept(number),
            Socket::OfConnection {
                slot,
                end,
                generation,
            } => match &self.slots[slot] {
                Some(connection) if connection.generation == generation => {
                    self.on_socket(slot, end, ready.events)
                }
                // Closed meanwhile.
                _ => Ok(()),
            },
        }
    }

    /// Something happened at a socket: does all that can be done there.
    fn on_socket(&mut self, slot: usize, end: End, events: u32) -> Result<(), Error> {
        let Some(connection) = &mut self.slots[slot] else {
            return Ok(());
        };
        if events & libc::EPOLLERR as u32 != 0 {
            return self.fail(slot);
        }
        if connection.end(end).established().is_none() {
            if events & libc::EPOLLOUT as u32 == 0 {
                return Ok(());
            }
            self.establish(slot, end)?;
        }
        self.pull(slot, end)?;
        self.push(slot, end)?;
        self.look_for_acknowledgment(slot, end)?;
        // Before a silent end closes: the application may have an answer.
        self.tell_all()?;
        self.close_if_silent(slot, end)?;
        self.look_for_end(slot)
    }

    /// An end that has written nothing closes when it has read the other's FIN.
    fn close_if_silent(&mut self, slot: usize, end: End) -> Result<(), Error> {
        let connection = self.slots[slot].as_mut();
        let Some(this) = connection.map(|connection| connection.end_mut(end)) else {
            return Ok(());
        };
        if !this.is_left_silent() {
            return Ok(());
        }
        this.close();
        self.push(slot, end)?;
        self.look_for_acknowledgment(slot, end)
    }

    /// The handshake is done at an end.
    pub(super) fn establish(&mut self, slot: usize, end: End) -> Result<(), Error> {
        let now_ns = self.now_ns();
        let Some(connection) = &mut self.slots[slot] else {
            return Ok(());
        };
        let (user, number, group) = (connection.user, connection.number, connection.group);
        let port = connection.port;
        let this = connection.end_mut(end);
        this.establish()
            .map_err(failed(group, "could not look at its socket"))?;
        let syn_retransmits = this.established().map_or(0, |info| info.total_retrans_pkts);
        if let (End::Sender, Some(socket)) = (end, this.socket().cloned()) {
            if let Some(tags) = &self.tags {
                tags.tag(socket.as_fd(), self.users[user].flow)?;
            }
            let cc = socket::congestion_control(&socket);
            self.users[user].kernel_cc =
                cc.map_err(failed(group, "did not report its congestion control"))?;
            let sender = LiveSender {
                socket,
                port,
                syn_retransmits,
            };
            self.live.lock()[user].senders.insert(number, sender);
        }
        if connection.opener == end {
            connection.is_connected = true;
            self.users[user].established_ns.get_or_insert(now_ns);
            let event = Event::Connected { connection: number };
            self.note(user, event);
        }
        Ok(())
    }

    fn pull(&mut self, slot: usize, end: End) -> Result<(), Error> {
        let Some(connection) = &mut self.slots[slot] else {
            return Ok(());
        };
        let (user, number) = (connection.user, connection.number);
        let this = connection.end_mut(end);
        let Ok(new_bytes) = this.pull() else {
            return self.fail(slot);
        };
        let bytes = this.received_bytes();
        if new_bytes > 0 {
            if end == End::Receiver {
                self.live.lock()[user].received_bytes += new_bytes;
            }
            let event = Event::Received {
                connection: number,
                at: end,
                bytes,
            };
            self.note(user, event);
        }
        Ok(())
    }

    pub(super) fn push(&mut self, slot: usize, end: End) -> Result<(), Error> {
        let Some(connection) = &mut self.slots[slot] else {
            return Ok(());
        };
        let this = connection.end_mut(end);
        match this.push() {
            Ok(true) => {
                if !self.unfinished_turns.contains(&(slot, end)) {
                    self.unfinished_turns.push((slot, end));
                }
            }
            Ok(false) => {}
            Err(_) => return self.fail(slot),
        }
        self.note_unacknowledged(slot, end);
        Ok(())
    }

    pub(super) fn look_for_acknowledgment(&mut self, slot: usize, end: End) -> Result<(), Error> {
        let Some(connection) = &mut self.slots[slot] else {
            return Ok(());
        };
        let (user, number, group) = (connection.user, connection.number, connection.group);
        let acknowledged = connection.end_mut(end).look_for_acknowledgment();
        let acknowledged = acknowledged.map_err(failed(group, "could not look at its socket"))?;
        if let Some(bytes) = acknowledged {
            let event = Event::Acknowledged {
                connection: number,
                from: end,
                bytes,
            };
            self.note(user, event);
        }
        self.note_unacknowledged(slot, end);
        Ok(())
    }

    fn note_unacknowledged(&mut self, slot: usize, end: End) {
        let connection = self.slots[slot].as_ref();
        if connection.is_some_and(|it| it.end(end).awaits_acknowledgment()) {
            self.unacknowledged.insert((slot, index(end)));
        } else {
            self.unacknowledged.remove(&(slot, index(end)));
        }
    }

    fn look_for_end(&mut self, slot: usize) -> Result<(), Error> {
        if self.slots[slot].as_ref().is_some_and(Connection::is_over) {
            // What has arrived and was not read yet.
            self.pull(slot, End::Sender)?;
            self.pull(slot, End::Receiver)?;
            self.release(slot)?;
        }
        Ok(())
    }

    /// A connection was cut off.
    fn fail(&mut self, slot: usize) -> Result<(), Error> {
        self.release(slot)
    }

    /// A connection is over: what it did is counted, its sockets are closed.
    fn release(&mut self, slot: usize) -> Result<(), Error> {
        let Some(connection) = self.slots[slot].take() else {
            return Ok(());
        };
        let (index, group) = (connection.user, connection.group);
        let now_ns = self.now_ns();
        let user = &mut self.users[index];
        let info = connection.end(End::Sender).info();
        let info = info.map_err(failed(group, "could not look at its socket"))?;
        let retransmitted_pkts = info.map_or(0, |info| u64::from(info.total_retrans_pkts));
        (user.books.add(&connection)).map_err(failed(group, "could not look at its socket"))?;
        user.open.remove(&connection.number);
        user.last_close_ns = now_ns;
        let mut live = self.live.lock();
        live[index].senders.remove(&connection.number);
        live[index].retransmitted_pkts += retransmitted_pkts;
        drop(live);
        self.slot_of.remove(&(group, connection.port));
        for end in 0..2 {
            self.unacknowledged.remove(&(slot, end));
        }
        self.unfinished_turns.retain(|&(other, _)| other != slot);
        self.free_slots.push(slot);
        let event = Event::Closed {
            connection: connection.number,
        };
        self.note(index, event);
        Ok(())
    }
}
