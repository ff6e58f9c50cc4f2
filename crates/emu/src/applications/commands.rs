//! What applications want done: connections opened, bytes written, datagrams sent.

use std::net::SocketAddrV4;

use dumbbell_app::{Command, End, Event};
use dumbbell_net::Ecn;
use dumbbell_scenario::address_plan::connection_addresses;

use super::connection::{Connection, Opening, other};
use super::datagrams::{DatagramSource, NUMBER_BYTES};
use super::driver::{Applications, DatagramReceiver, Listener};
use super::hosts::failed;
use super::token::{MAX_SLOTS, Socket, token_of};
use crate::error::Error;
use crate::hosts::host::mtu_bytes;
use crate::machine::clock::wall_clock_offset_ns;
use crate::sockets::{datagram, socket};

/// Connections take all events as they come.
const CONNECTION_EVENTS: u32 =
    (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET) as u32;

/// IPv4's and UDP's headers.
const UDP_HEADERS_BYTES: u32 = 28;

/// Ports that are tried for one connection.
const MAX_PORTS_TRIED: u32 = 1000;

/// Addresses and ports of a sender and a receiver.
type Addresses = (SocketAddrV4, SocketAddrV4);

impl Applications {
    pub(super) fn execute(&mut self, user: usize, command: Command) -> Result<(), Error> {
        match command {
            Command::Open { connection, by } => self.open(user, connection, by),
            Command::Write {
                connection,
                from,
                bytes,
            } => self.at_end(user, connection, from, |end| end.write(bytes)),
            Command::Close { connection, from } => {
                self.at_end(user, connection, from, |end| end.close())
            }
            Command::Pause { connection, from } => {
                let mut bytes = None;
                self.at_end(user, connection, from, |end| bytes = Some(end.pause()))?;
                if let Some(bytes) = bytes {
                    let event = Event::Paused {
                        connection,
                        from,
                        bytes,
                    };
                    self.note(user, event);
                }
                Ok(())
            }
            Command::Datagram { number, bytes, ecn } => {
                self.send_datagram(user, number, bytes, ecn)
            }
        }
    }

    /// Changes what an end of an open connection has to do, and does it.
    fn at_end(
        &mut self,
        user: usize,
        number: u32,
        end: End,
        change: impl FnOnce(&mut super::connection_end::ConnectionEnd),
    ) -> Result<(), Error> {
        let Some(&slot) = self.users[user].open.get(&number) else {
            return Ok(());
        };
        if let Some(connection) = &mut self.slots[slot] {
            change(connection.end_mut(end));
        }
        self.push(slot, end)
    }

    fn open(&mut self, user: usize, number: u32, opener: End) -> Result<(), Error> {
        let group = self.users[user].group;
        let (addresses, socket) = self.connect(user, opener)?;
        let port = address_of(addresses, opener).port();
        let slot = self.free_slot(group)?;
        self.generation = self.generation.wrapping_add(1);
        let opening = Opening {
            user,
            number,
            group,
            opener,
            port,
            generation: self.generation,
        };
        let mut connection = Connection::new(opening, &self.scenario.groups[group]);
        let socket = connection.end_mut(opener).set_socket(socket);
        let token = token_of(Socket::OfConnection {
            slot,
            end: opener,
            generation: opening.generation,
        });
        (self.readiness)
            .add(socket, CONNECTION_EVENTS, token)
            .map_err(Error::waiting)?;
        self.slots[slot] = Some(connection);
        self.slot_of.insert((group, port), slot);
        let user = &mut self.users[user];
        user.open.insert(number, slot);
        user.opened += 1;
        Ok(())
    }

    /// A socket that connects from the next port that is free, to one at which the other end listens.
    fn connect(
        &mut self,
        user: usize,
        opener: End,
    ) -> Result<(Addresses, std::os::fd::OwnedFd), Error> {
        let (group, flow) = (self.users[user].group, self.users[user].flow);
        for _ in 0..MAX_PORTS_TRIED {
            let addresses = self.next_addresses(group, opener);
            let (from, to) = (
                address_of(addresses, opener),
                address_of(addresses, other(opener)),
            );
            // The port is another's as long as that one is open.
            if self.slot_of.contains_key(&(group, from.port())) {
                continue;
            }
            self.listen(group, other(opener), to)?;
            self.ports.give(group, from.port(), flow);
            if let Some(socket) = self.maker.connecting(group, opener, from, to)? {
                return Ok((addresses, socket));
            }
        }
        Err(Error::Refused(format!(
            "all ports of group {group} are in use: its applications open connections faster than they end; \
             use less load or more groups"
        )))
    }

    fn next_addresses(&mut self, group: usize, opener: End) -> Addresses {
        let number = &mut self.opened[group];
        *number += 1;
        connection_addresses(group as u16, *number - 1, opener)
    }

    /// Makes an end listen, if it does not yet.
    fn listen(&mut self, group: usize, end: End, at: SocketAddrV4) -> Result<(), Error> {
        if !self.listening.insert((group, *at.ip(), at.port())) {
            return Ok(());
        }
        let socket = self.maker.listener(group, end, at)?;
        let token = token_of(Socket::Listener(self.listeners.len()));
        (self.readiness)
            .add(&socket, libc::EPOLLIN as u32, token)
            .map_err(Error::waiting)?;
        self.listeners.push(Listener { group, end, socket });
        Ok(())
    }

    /// Connections have reached the end that listens.
    pub(super) fn accept(&mut self, listener: usize) -> Result<(), Error> {
        let (group, end) = (self.listeners[listener].group, self.listeners[listener].end);
        loop {
            let accepted = socket::accept(&self.listeners[listener].socket);
            let accepted = accepted.map_err(failed(group, "could not accept a connection"))?;
            let Some((socket, peer)) = accepted else {
                return Ok(());
            };
            // One that its opener has given up is closed.
            let Some(&slot) = self.slot_of.get(&(group, peer.port())) else {
                continue;
            };
            let Some(connection) = &mut self.slots[slot] else {
                continue;
            };
            let token = token_of(Socket::OfConnection {
                slot,
                end,
                generation: connection.generation,
            });
            let socket = connection.end_mut(end).set_socket(socket);
            (self.readiness)
                .add(socket, CONNECTION_EVENTS, token)
                .map_err(Error::waiting)?;
            self.establish(slot, end)?;
            self.push(slot, end)?;
        }
    }

    fn free_slot(&mut self, group: usize) -> Result<usize, Error> {
        if let Some(slot) = self.free_slots.pop() {
            return Ok(slot);
        }
        if self.slots.len() >= MAX_SLOTS {
            return Err(Error::Refused(format!(
                "the applications of group {group} have {MAX_SLOTS} connections open; use less load"
            )));
        }
        self.slots.push(None);
        Ok(self.slots.len() - 1)
    }

    fn send_datagram(
        &mut self,
        index: usize,
        number: u64,
        bytes: u32,
        ecn: Ecn,
    ) -> Result<(), Error> {
        let group = self.users[index].group;
        let most_bytes = mtu_bytes(&self.scenario.groups[group]) - UDP_HEADERS_BYTES;
        if bytes > most_bytes {
            return Err(Error::Refused(format!(
                "datagrams of {bytes} B of group {group} do not fit a packet; use at most {most_bytes} B, or a \
                 larger `mss`"
            )));
        }
        if self.users[index].datagrams.is_none() {
            let source = self.datagram_source(index)?;
            self.users[index].datagrams = Some(source);
        }
        let now_ns = self.now_ns();
        let user = &mut self.users[index];
        if let Some(source) = &mut user.datagrams {
            let sent = source.send(now_ns, number, bytes, ecn);
            if sent.map_err(failed(group, "could not send a datagram"))? {
                user.books.sent_pkts += 1;
            } else {
                user.books.refused_datagrams += 1;
            }
        }
        Ok(())
    }

    fn datagram_source(&mut self, user: usize) -> Result<DatagramSource, Error> {
        let (group, flow) = (self.users[user].group, self.users[user].flow);
        let (from, to) = self.next_addresses(group, End::Sender);
        if !(self.datagram_receivers.iter()).any(|it| it.group == group && it.at == to) {
            let socket = self.maker.datagram_receiver(group, to)?;
            let token = token_of(Socket::DatagramReceiver(self.datagram_receivers.len()));
            (self.readiness)
                .add(&socket, libc::EPOLLIN as u32, token)
                .map_err(Error::waiting)?;
            self.datagram_receivers.push(DatagramReceiver {
                group,
                at: to,
                socket,
            });
        }
        self.ports.give(group, from.port(), flow);
        self.user_of.insert((group, from.port()), user);
        let socket = self.maker.datagram_sender(group, from, to)?;
        Ok(DatagramSource::new(socket))
    }

    /// Datagrams have arrived: each when the kernel received it, however late it is read.
    pub(super) fn receive_datagrams(&mut self, number: usize) -> Result<(), Error> {
        let group = self.datagram_receivers[number].group;
        // From the time of day to that of the run.
        let to_run_ns = wall_clock_offset_ns() + self.epoch_ns;
        let mut start = [0; NUMBER_BYTES];
        loop {
            let received = datagram::receive(&self.datagram_receivers[number].socket, &mut start);
            let received = received.map_err(failed(group, "could not receive a datagram"))?;
            let Some(received) = received else {
                return Ok(());
            };
            let arrived_ns = received.stamp_ns.saturating_sub(to_run_ns);
            let Some(&index) = self.user_of.get(&(group, received.port)) else {
                continue;
            };
            let user = &mut self.users[index];
            let carried = received.bytes.min(NUMBER_BYTES);
            let source = user.datagrams.as_mut();
            let Some((number, sent_ns)) = source.and_then(|it| it.take(&start[..carried])) else {
                continue;
            };
            user.books.arrived_pkts += 1;
            user.books.received_bytes += received.bytes as u64;
            self.live.lock()[index].received_bytes += received.bytes as u64;
            let event = Event::Datagram {
                number,
                sent_ns,
                bytes: received.bytes as u32,
            };
            self.events.push_back((index, arrived_ns, event));
        }
    }
}

fn address_of(addresses: Addresses, end: End) -> SocketAddrV4 {
    match end {
        End::Sender => addresses.0,
        End::Receiver => addresses.1,
    }
}
