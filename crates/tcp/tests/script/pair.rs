//! A sender and a receiver joined by a path.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dumbbell_cc::Flow;
use dumbbell_path::{Fifo, Header as _, Limit, Link, Packet};
use dumbbell_tcp::{Ack, AckKind, DataHeader, Receiver, ReceiverConfig, Sender, SenderConfig};

/// The effect of the path on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    /// Arrives this much later than its neighbours, ns.
    Delay(u64),
    /// Arrives twice, the copy this much later, ns.
    Duplicate(u64),
}

/// A path: half of `rtt_ns` each way, behind a drop-tail bottleneck if there is a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rtt_ns: u64,
    /// Rate in bit/s and buffer in packets; `None`: infinite rate.
    pub(crate) bottleneck: Option<(u64, u64)>,
    pub(crate) rwnd_pkts: u32,
    pub(crate) delayed_ack: bool,
}

#[derive(Debug)]
enum Event {
    Data(Packet<DataHeader>),
    Ack(Ack),
}

/// Decides a packet's fate by its number (from 0, of its kind) and the packet itself.
pub(crate) type PacketFate<'a, T> = Box<dyn FnMut(u64, &T) -> Fate + 'a>;

/// A transfer. Events at one time keep the order in which they were caused.
pub(crate) struct Pair<'a> {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now_ns: u64,
    /// Every packet that left the sender: time, segment.
    pub(crate) sent: Vec<(u64, DataHeader)>,
    /// Bottleneck drops.
    pub(crate) dropped_pkts: u64,
    /// Packets that left the sender because of the last event.
    pub(crate) sent_by_event: usize,
    path: Path,
    link: Option<Link<Fifo<DataHeader>>>,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    slots: Vec<Option<Event>>,
    free: Vec<usize>,
    order: u64,
    data_fate: PacketFate<'a, Packet<DataHeader>>,
    ack_fate: PacketFate<'a, Ack>,
    control_fate: Box<dyn FnMut(u64) -> Fate + 'a>,
    data_pkts: u64,
    control_pkts: u64,
    ack_pkts: u64,
    log: bool,
}

impl<'a> Pair<'a> {
    /// The SYN leaves at 0.
    pub(crate) fn new(config: SenderConfig, cc: Flow, path: Path) -> Self {
        let mut pair = Self {
            sender: Sender::new(config, cc),
            receiver: Receiver::new(ReceiverConfig {
                flow: config.flow,
                rwnd_pkts: path.rwnd_pkts,
                delayed_ack: path.delayed_ack,
                rtt_ns: path.rtt_ns,
                ecn: config.ecn,
            }),
            now_ns: 0,
            sent: Vec::new(),
            dropped_pkts: 0,
            sent_by_event: 0,
            path,
            link: path
                .bottleneck
                .map(|(rate_bps, pkts)| Link::new(rate_bps, Fifo::new(Limit::Packets(pkts)))),
            events: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            order: 0,
            data_fate: Box::new(|_, _| Fate::Deliver),
            ack_fate: Box::new(|_, _| Fate::Deliver),
            control_fate: Box::new(|_| Fate::Deliver),
            data_pkts: 0,
            control_pkts: 0,
            ack_pkts: 0,
            log: true,
        };
        pair.sender.start(0);
        pair.transmit();
        pair
    }

    /// The fate of data packets.
    pub(crate) fn on_data(
        mut self,
        fate: impl FnMut(u64, &Packet<DataHeader>) -> Fate + 'a,
    ) -> Self {
        self.data_fate = Box::new(fate);
        self
    }

    /// The fate of ACKs.
    pub(crate) fn on_acks(mut self, fate: impl FnMut(u64, &Ack) -> Fate + 'a) -> Self {
        self.ack_fate = Box::new(fate);
        self
    }

    /// The fate of the packets of handshake and close, of both directions in the order they leave.
    pub(crate) fn on_control(mut self, fate: impl FnMut(u64) -> Fate + 'a) -> Self {
        self.control_fate = Box::new(fate);
        self
    }

    /// Does not keep [`Pair::sent`]: for long runs.
    pub(crate) fn without_log(mut self) -> Self {
        self.log = false;
        self
    }

    /// Segment numbers of the retransmissions of data, in order.
    pub(crate) fn retransmitted(&self) -> Vec<u32> {
        self.sent
            .iter()
            .filter(|(_, header)| header.is_retransmission && header.is_data())
            .map(|(_, header)| header.seq)
            .collect()
    }

    /// Runs until the transfer is finished; panics if that is not before `limit_ns`.
    pub(crate) fn run_to_end(&mut self, limit_ns: u64) -> &mut Self {
        while !self.sender.is_finished() {
            assert!(
                self.step(limit_ns),
                "not finished by {limit_ns} ns: {:?}",
                self.sender
            );
        }
        self
    }

    /// Runs until both sides have closed; panics if that is not before `limit_ns`.
    pub(crate) fn run_to_close(&mut self, limit_ns: u64) -> &mut Self {
        while !(self.sender.is_closed() && self.receiver.is_closed()) {
            assert!(self.step(limit_ns), "not closed by {limit_ns} ns");
        }
        self
    }

    /// Runs up to `until_ns`.
    pub(crate) fn run_until(&mut self, until_ns: u64) -> &mut Self {
        while self.step(until_ns) {}
        self.now_ns = until_ns;
        self
    }

    /// The next event, unless it is later than `until_ns`.
    pub(crate) fn step(&mut self, until_ns: u64) -> bool {
        let arrival_ns = self.events.peek().map_or(u64::MAX, |entry| entry.0.0);
        let link_ns = self
            .link
            .as_ref()
            .and_then(Link::next_event::<DataHeader>)
            .map_or(u64::MAX, |at_ns| at_ns.max(self.now_ns));
        let timer_ns = self.sender.next_timer_ns();
        let delack_ns = self.receiver.next_timer_ns();
        let next_ns = arrival_ns.min(link_ns).min(timer_ns).min(delack_ns);
        if next_ns > until_ns {
            return false;
        }
        assert!(next_ns >= self.now_ns, "a deadline in the past");
        self.now_ns = next_ns;
        self.sent_by_event = 0;
        if next_ns == link_ns {
            self.serialise();
        } else if next_ns == arrival_ns {
            self.arrive();
        } else if next_ns == timer_ns {
            self.sender.on_timer(next_ns);
            self.transmit();
        } else {
            self.receiver.on_timer(next_ns);
            self.acknowledge();
        }
        true
    }

    fn serialise(&mut self) {
        let link = self.link.as_mut().expect("it said when");
        let mut dropped = Vec::new();
        if let Some(departure) = link.dequeue(self.now_ns, &mut dropped) {
            self.propagate(departure.done_ns, departure.packet);
        }
    }

    fn arrive(&mut self) {
        let Reverse((_, _, slot)) = self.events.pop().expect("peeked");
        self.free.push(slot);
        match self.slots[slot].take().expect("scheduled once") {
            Event::Data(packet) => {
                self.receiver.on_packet(self.now_ns, &packet);
                self.acknowledge();
            }
            Event::Ack(ack) => {
                self.sender.on_ack(self.now_ns, &ack);
                self.transmit();
            }
        }
    }

    fn transmit(&mut self) {
        let packets: Vec<_> = self.sender.poll_transmit(self.now_ns).collect();
        self.sent_by_event = packets.len();
        for packet in packets {
            if self.log {
                self.sent.push((self.now_ns, packet.header));
            }
            let Some(link) = &mut self.link else {
                self.propagate(self.now_ns, packet);
                continue;
            };
            let mut dropped = Vec::new();
            link.enqueue(self.now_ns, packet, &mut dropped);
            self.dropped_pkts += dropped.len() as u64;
        }
    }

    fn propagate(&mut self, now_ns: u64, packet: Packet<DataHeader>) {
        let fate = if packet.header.is_data() {
            self.data_pkts += 1;
            (self.data_fate)(self.data_pkts - 1, &packet)
        } else {
            self.control_pkts += 1;
            (self.control_fate)(self.control_pkts - 1)
        };
        let due_ns = now_ns + self.path.rtt_ns / 2;
        self.schedule(due_ns, fate, || Event::Data(packet));
    }

    fn acknowledge(&mut self) {
        for ack in self.receiver.poll_transmit().collect::<Vec<_>>() {
            let fate = if ack.kind == AckKind::Ack {
                self.ack_pkts += 1;
                (self.ack_fate)(self.ack_pkts - 1, &ack)
            } else {
                self.control_pkts += 1;
                (self.control_fate)(self.control_pkts - 1)
            };
            let due_ns = self.now_ns + self.path.rtt_ns - self.path.rtt_ns / 2;
            self.schedule(due_ns, fate, || Event::Ack(ack));
        }
    }

    fn schedule(&mut self, due_ns: u64, fate: Fate, event: impl Fn() -> Event) {
        let (first_ns, copy_ns) = match fate {
            Fate::Deliver => (due_ns, None),
            Fate::Drop => return,
            Fate::Delay(more_ns) => (due_ns + more_ns, None),
            Fate::Duplicate(more_ns) => (due_ns, Some(due_ns + more_ns)),
        };
        for at_ns in std::iter::once(first_ns).chain(copy_ns) {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() - 1
            });
            self.slots[slot] = Some(event());
            self.events.push(Reverse((at_ns, self.order, slot)));
            self.order += 1;
        }
    }
}
