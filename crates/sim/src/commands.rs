//! What applications want done: connections opened and closed, bytes and datagrams sent.

use dumbbell_app::{Command, End, Event};
use dumbbell_net::{Ecn, Packet};
use dumbbell_scenario::address_plan::connection_addresses;
use dumbbell_scenario::route;
use dumbbell_tcp::{DatagramHeader, Segment, Sender};

use crate::clock_offsets::{APPLICATION_NUMBERS, clock_offsets_ms};
use crate::connection::{Connection, Opening, way_from};
use crate::engine::Engine;
use crate::tap::Tap;

impl<T: Tap> Engine<T> {
    /// Does what a user's application wants done; what there is to send then is sent after all of its
    /// commands.
    pub(crate) fn execute(&mut self, user: usize, command: Command, now_ns: u64) {
        match command {
            Command::Open { connection, by } => self.open(user, connection, by, now_ns),
            Command::Write {
                connection,
                from,
                bytes,
            } => {
                let is_paused_now =
                    self.applications.paused == Some((user, connection, from, now_ns));
                self.with_writer(user, connection, from, |sender| {
                    if is_paused_now {
                        sender.write_on(bytes);
                    } else {
                        sender.write(bytes);
                    }
                });
            }
            Command::Close { connection, from } => {
                self.with_writer(user, connection, from, |sender| {
                    if sender.written_bytes() == u64::MAX {
                        sender.stop();
                    }
                    sender.close();
                });
            }
            Command::Pause { connection, from } => {
                let open = &self.applications.users[user].open;
                if let Some(&slot) = open.get(&connection) {
                    let half = self.applications.connection(slot).half_mut(from);
                    half.sender.stop();
                    let bytes = half.sender.written_bytes();
                    self.applications.paused = Some((user, connection, from, now_ns));
                    let event = Event::Paused {
                        connection,
                        from,
                        bytes,
                    };
                    self.applications.events.push_back((user, event));
                }
            }
            Command::Datagram { number, bytes, ecn } => {
                self.send_datagram(user, number, (bytes, ecn), now_ns);
            }
        }
    }

    /// Changes what an end of an open connection has to send. The receiver of a connection that the
    /// sender opened has nothing to send: it closes with the sender.
    fn with_writer(
        &mut self,
        user: usize,
        connection: u32,
        from: End,
        change: impl FnOnce(&mut Sender),
    ) {
        let Some(&slot) = self.applications.users[user].open.get(&connection) else {
            return;
        };
        let connection = self.applications.connection(slot);
        if connection.can_write(from) {
            change(&mut connection.half_mut(from).sender);
            if !self.applications.touched.contains(&(slot, from)) {
                self.applications.touched.push((slot, from));
            }
        }
    }

    fn open(&mut self, user: usize, number: u32, opener: End, now_ns: u64) {
        while let Some(slot) = self.watch.connections.take_emptied() {
            self.settle_slot(slot);
        }
        let account = self.flows.len() as u32 + user as u32;
        let applications = &mut self.applications;
        let Some(slot) = applications.take_slot() else {
            return; // the run ends at the next check
        };
        let id = self.watch.connections.open(slot as u32, account);
        let this = &mut applications.users[user];
        let (flow, group_index) = (this.flow, this.group);
        this.open.insert(number, slot);
        this.opened += 1;
        let (group, instance) = &applications.groups[group_index as usize];
        let nth = &mut applications.opened[group_index as usize];
        let addresses = connection_addresses(group_index as u16, *nth, opener);
        *nth += 1;
        let mut connection = Connection::new(&Opening {
            id,
            user: user as u32,
            flow,
            number,
            opener,
            now_ns,
            group_index,
            group,
            instance,
            addresses,
            clocks_ms: clock_offsets_ms(applications.seed, APPLICATION_NUMBERS + u64::from(id)),
            memory: applications.memory.as_ref(),
        });
        let has_requests = connection.requests.is_some();
        self.watch
            .tap
            .opened(id, group_index, addresses, has_requests);
        connection.half_mut(opener).sender.start(now_ns);
        applications.slots[slot] = Some(Box::new(connection));
        applications.touched.push((slot, opener));
    }

    fn send_datagram(&mut self, user: usize, number: u64, packet: (u32, Ecn), now_ns: u64) {
        let (payload_bytes, ecn) = packet;
        let account = self.flows.len() as u32 + user as u32;
        let id = match self.applications.users[user].datagrams {
            Some(id) => id,
            None => self.open_datagrams(user, account),
        };
        let this = &mut self.applications.users[user];
        this.books.sent.sent_pkts += 1;
        let packet = Packet {
            flow: id,
            wire_bytes: DatagramHeader::wire_bytes(payload_bytes),
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: Segment::Datagram(DatagramHeader {
                number,
                sent_ns: now_ns,
            }),
        };
        let route = route(this.group as usize, way_from(End::Sender));
        self.watch.tap.sent(now_ns, &packet, &self.watch.sacks);
        self.watch.connections.enter(id);
        self.network.enter(now_ns, route, packet, &mut self.watch);
    }

    /// Gives a user's datagrams a number and addresses.
    fn open_datagrams(&mut self, user: usize, account: u32) -> u32 {
        let applications = &mut self.applications;
        let this = &mut applications.users[user];
        let group = this.group;
        let nth = &mut applications.opened[group as usize];
        let addresses = connection_addresses(group as u16, *nth, End::Sender);
        *nth += 1;
        let id = self.watch.connections.open_without_slot(account);
        self.watch.tap.opened(id, group, addresses, false);
        this.datagrams = Some(id);
        id
    }
}
