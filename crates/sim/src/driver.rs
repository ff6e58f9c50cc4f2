//! What is reported to applications: packets and timers of their connections, and their own timers.

use dumbbell_app::{End, Event, Outcome};
use dumbbell_net::{Ecn, Header as _, Packet};
use dumbbell_scenario::route;
use dumbbell_tcp::{AckHeader, AckKind, DatagramHeader, Segment};

use crate::applications::Due;
use crate::connection::{other, way_from};
use crate::engine::Engine;
use crate::tap::Tap;

impl<T: Tap> Engine<T> {
    /// A packet of an application's connection is at the end of its route.
    #[inline(never)]
    pub(crate) fn deliver_to_application(&mut self, packet: &Packet<Segment>, now_ns: u64) {
        self.watch.tap.delivered(now_ns, packet, &self.watch.sacks);
        let slot = self.watch.connections.leave(packet.flow);
        match &packet.header {
            Segment::Data(header) => {
                let from = writer(header.is_reverse());
                let half = self.applications.connection(slot).half_mut(from);
                half.receiver
                    .on_packet(now_ns, header, packet.wire_bytes, packet.ecn);
                self.open_answering_half(slot, from, now_ns);
                self.send_acks_of(slot, from, now_ns);
                self.note_received(slot, from);
            }
            Segment::Ack(ack) => {
                let from = writer(ack.is_reverse());
                self.acknowledge(slot, from, (ack, packet.ecn), now_ns);
                self.send_from(slot, from, now_ns);
                self.note_acknowledged(slot, from, ack);
            }
            Segment::Datagram(header) => return self.take_datagram(packet, header, now_ns),
        }
        self.tell_all(now_ns);
        self.close_silent_ends(slot, now_ns);
        self.settle_slot(slot);
    }

    /// A timer of a connection's host or of a user may be due.
    #[inline(never)]
    pub(crate) fn wake_application(&mut self, now_ns: u64) {
        match self.applications.next() {
            Due::Host(host) => self.wake_host(host, now_ns),
            Due::User(user) => self.wake_user(user, now_ns),
            Due::Quic(timer) => self.wake_quic_flow(timer, now_ns),
        }
        self.applications.update_due();
        self.set_network_timer();
    }

    fn wake_host(&mut self, host: usize, now_ns: u64) {
        let (slot, end) = (host / 2, [End::Sender, End::Receiver][host % 2]);
        if self.applications.slots[slot].is_some() {
            self.wake_endpoints(slot, end, now_ns);
            self.settle_slot(slot);
        }
        let connection = self.applications.slots[slot].as_deref();
        let due_ns = connection.map_or(u64::MAX, |connection| connection.next_timer_ns(end));
        self.applications.timers.set(host, due_ns);
    }

    /// The sender of what an end writes and the receiver of what it reads.
    fn wake_endpoints(&mut self, slot: usize, end: End, now_ns: u64) {
        let connection = self.applications.connection(slot);
        if connection.can_write(end) {
            let sender = &mut connection.half_mut(end).sender;
            if sender.next_timer_ns() <= now_ns {
                sender.on_timer(now_ns);
                self.send_from(slot, end, now_ns);
            }
        }
        let connection = self.applications.connection(slot);
        let from = other(end);
        if connection.can_write(from) {
            let receiver = &mut connection.half_mut(from).receiver;
            if receiver.next_timer_ns() <= now_ns {
                receiver.on_timer(now_ns);
                self.send_acks_of(slot, from, now_ns);
                self.note_received(slot, from); // receive offload passed up what it held
                if !self.applications.events.is_empty() {
                    self.tell_all(now_ns);
                }
                self.close_silent_ends(slot, now_ns);
            }
        }
    }

    fn wake_user(&mut self, user: usize, now_ns: u64) {
        let this = &mut self.applications.users[user];
        let mut events = [None; 3];
        if !this.has_started {
            this.has_started = true;
            events[0] = Some(Event::Start);
        } else {
            if !this.has_stopped && this.stop_ns <= now_ns {
                this.has_stopped = true;
                events[1] = Some(Event::Stop);
            }
            if this.application.next_timer_ns() <= now_ns {
                events[2] = Some(Event::Timer);
            }
        }
        for event in events.into_iter().flatten() {
            self.applications.events.push_back((user, event));
        }
        self.tell_all(now_ns);
        self.applications.set_clock(now_ns, user);
    }

    /// An ACK reaches the sender of what `from` writes.
    fn acknowledge(&mut self, slot: usize, from: End, ack: (&AckHeader, Ecn), now_ns: u64) {
        let (ack, ecn) = ack;
        let connection = self.applications.connection(slot);
        let (half, answering) = connection.halves_mut(from);
        let sacks = &mut self.watch.sacks;
        half.sender.note_field(ack, ecn);
        let rtt_us = half.sender.on_ack(now_ns, ack, sacks.get(ack.sack));
        sacks.free(ack.sack);
        if let Some(answering) = answering {
            if ack.kind() == AckKind::SynAck && !answering.receiver.is_established() {
                let srtt_us = half.sender.sock().srtt_us >> 3;
                answering.receiver.open(half.sender.agreed_ecn(), srtt_us);
            } else if half.sender.is_closed() {
                answering.receiver.on_own_close();
            }
        }
        let is_of_data = from == End::Sender;
        let user = connection.user as usize;
        if let Some(rtt_us) = rtt_us.filter(|_| is_of_data) {
            let user = &mut self.applications.users[user];
            user.rtt.note(rtt_us);
            user.latest_rtt_us = Some(rtt_us);
        }
    }

    /// Opens the half of the end that was opened to, when the handshake is complete there.
    fn open_answering_half(&mut self, slot: usize, from: End, now_ns: u64) {
        let connection = self.applications.connection(slot);
        let rwnd_bytes = connection.rwnd_bytes;
        if from != connection.opener {
            return;
        }
        let (half, Some(answering)) = connection.halves_mut(from) else {
            return;
        };
        if half.receiver.is_established() && !answering.sender.is_established() {
            let rtt_us = half.receiver.handshake_rtt_us();
            let ecn = half.receiver.agreed_ecn();
            answering.sender.open(now_ns, rtt_us, rwnd_bytes, ecn);
            self.send_from(slot, other(from), now_ns);
        }
    }

    /// Sends what `from` wants to send after an event, and before its data the ACKs that Linux would
    /// send with them.
    pub(crate) fn send_from(&mut self, slot: usize, from: End, now_ns: u64) {
        let Self {
            applications,
            network,
            watch,
            ..
        } = self;
        let connection = applications.connection(slot);
        let route = route(connection.group as usize, way_from(from));
        let id = connection.id;
        let mut enter = |packet: &Packet<Segment>, watch: &mut crate::watch::Watch<T>| {
            watch.tap.sent(now_ns, packet, &watch.sacks);
            watch.connections.enter(id);
            network.enter(now_ns, route, *packet, watch);
        };
        let (half, answered) = connection.halves_mut(from);
        let packets = half.sender.poll_transmit(now_ns);
        if let Some(answered) = answered
            && packets
                .iter()
                .any(|it| it.header.is_data() || it.header.is_fin())
        {
            if packets.iter().any(|it| it.header.is_data()) {
                answered.receiver.on_answer(now_ns);
            }
            if packets.iter().any(|it| it.header.is_fin()) {
                answered.receiver.on_own_fin(now_ns);
            }
            for packet in answered.receiver.poll_transmit(&mut watch.sacks) {
                enter(packet, watch);
            }
        }
        for packet in packets {
            enter(packet, watch);
        }
        applications.set_timers(slot);
        self.set_network_timer();
    }

    /// Sends the ACKs of what `from` wrote.
    fn send_acks_of(&mut self, slot: usize, from: End, now_ns: u64) {
        let connection = self.applications.connection(slot);
        let route = route(connection.group as usize, way_from(other(from)));
        let id = connection.id;
        let receiver = &mut connection.half_mut(from).receiver;
        for packet in receiver.poll_transmit(&mut self.watch.sacks) {
            self.watch.tap.sent(now_ns, packet, &self.watch.sacks);
            self.watch.connections.enter(id);
            self.network.enter(now_ns, route, *packet, &mut self.watch);
        }
        self.applications.set_timers(slot);
        self.set_network_timer();
    }

    /// Reports to the application bytes that `from` wrote and that have arrived in order.
    fn note_received(&mut self, slot: usize, from: End) {
        let applications = &mut self.applications;
        let connection = applications.connection(slot);
        let (user, number) = (connection.user as usize, connection.number);
        let half = connection.half_mut(from);
        let bytes = half.receiver.counters().received_bytes;
        let new_bytes = bytes - half.received_bytes;
        if new_bytes == 0 {
            return;
        }
        half.received_bytes = bytes;
        if from == End::Sender {
            applications.users[user].received_bytes += new_bytes;
        }
        let event = Event::Received {
            connection: number,
            at: other(from),
            bytes,
        };
        applications.events.push_back((user, event));
    }

    /// Reports to the application what an ACK meant for what `from` wrote.
    fn note_acknowledged(&mut self, slot: usize, from: End, ack: &AckHeader) {
        let applications = &mut self.applications;
        let connection = applications.connection(slot);
        let (user, number) = (connection.user as usize, connection.number);
        let mut events = [None; 3];
        if ack.kind() == AckKind::SynAck && !connection.is_connected {
            connection.is_connected = true;
            events[0] = Some(Event::Connected { connection: number });
        }
        let half = connection.half_mut(from);
        let bytes = half.sender.acknowledged_bytes();
        if bytes > half.acknowledged_bytes {
            half.acknowledged_bytes = bytes;
            events[1] = Some(Event::Acknowledged {
                connection: number,
                from,
                bytes,
            });
        }
        if !connection.is_closed && connection.is_acknowledged() {
            connection.is_closed = true;
            events[2] = Some(Event::Closed { connection: number });
        }
        let events = events.into_iter().flatten();
        applications
            .events
            .extend(events.map(|event| (user, event)));
    }

    /// Reports to applications what happened, and does what they want done.
    fn tell_all(&mut self, now_ns: u64) {
        let mut outcome = Outcome::default();
        while let Some((index, event)) = self.applications.events.pop_front() {
            let user = &mut self.applications.users[index];
            if let Event::Closed { connection } = event {
                user.open.remove(&connection);
                user.last_close_ns = now_ns;
            }
            user.application.on_event(now_ns, event, &mut outcome);
            let (flow, group) = (user.flow, user.group);
            for transfer in outcome.transfers.drain(..) {
                self.applications.transfers.push(group, flow, 0, &transfer);
            }
            for command in outcome.commands.drain(..) {
                self.execute(index, command, now_ns);
            }
            let mut touched = std::mem::take(&mut self.applications.touched);
            for (slot, from) in touched.drain(..) {
                self.send_from(slot, from, now_ns);
            }
            self.applications.touched = touched;
            self.applications.set_clock(now_ns, index);
        }
        self.set_network_timer();
    }

    /// An end that has written nothing closes when it has read the other's FIN.
    fn close_silent_ends(&mut self, slot: usize, now_ns: u64) {
        for from in [End::Sender, End::Receiver] {
            let Some(connection) = self.applications.slots[slot].as_deref_mut() else {
                return;
            };
            if connection.requests.is_none() || connection.is_closed {
                return;
            }
            let (half, Some(answering)) = connection.halves_mut(from) else {
                return;
            };
            let sender = &mut answering.sender;
            if half.receiver.has_received_all() && sender.written_bytes() == 0 {
                sender.close();
                self.send_from(slot, other(from), now_ns);
            }
        }
    }

    /// A connection that is over gives its slot back, at once or when the last of its packets is
    /// dropped or delivered.
    pub(crate) fn settle_slot(&mut self, slot: usize) {
        let Some(connection) = self.applications.slots[slot].as_deref() else {
            return;
        };
        if connection.is_over() && self.watch.connections.close(connection.id) {
            self.release(slot);
        }
    }

    fn release(&mut self, slot: usize) {
        let applications = &mut self.applications;
        if let Some(connection) = applications.slots[slot].take() {
            self.watch.connections.release(connection.id);
            self.watch.tap.released(connection.id);
            applications.users[connection.user as usize]
                .books
                .add(&connection);
            applications.free.push(slot);
        }
    }

    fn take_datagram(&mut self, packet: &Packet<Segment>, header: &DatagramHeader, now_ns: u64) {
        if let Some(place) = header.place() {
            return self.deliver_to_quic_flow(packet, header, place, now_ns);
        }
        let bytes = packet.wire_bytes - DatagramHeader::wire_bytes(0);
        let account = self.watch.connections.account(packet.flow);
        let user = account as usize - self.flows.len();
        let this = &mut self.applications.users[user];
        this.books.arrived.arrived_pkts += 1;
        this.books.arrived.ce_pkts += u64::from(packet.ecn == Ecn::Ce);
        this.books.arrived.received_bytes += u64::from(bytes);
        this.received_bytes += u64::from(bytes);
        let event = Event::Datagram {
            number: header.number,
            sent_ns: header.sent_ns,
            bytes,
        };
        self.applications.events.push_back((user, event));
        self.tell_all(now_ns);
    }
}

#[cfg(test)]
mod tests;

/// The end that wrote what a segment carries or acknowledges.
fn writer(is_reverse: bool) -> End {
    if is_reverse {
        End::Receiver
    } else {
        End::Sender
    }
}
