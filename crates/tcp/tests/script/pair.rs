//! A sender and a receiver joined by a network.

use std::collections::VecDeque;

use dumbbell_cc::Flow;
use dumbbell_declare::Amount;
use dumbbell_net::{
    DelayLine, DropReason, Ecn, Event, Header as _, Hop, Limit, Link, Network, Observer, Packet,
    QueueConfig, Site, Transmitter,
};
use dumbbell_tcp::{
    AckHeader, AckKind, DataHeader, DataInfo, Offload, Receiver, ReceiverConfig, SackSlot,
    SackStore, Segment, SegmentKind, Sender, SenderConfig,
};

use super::{as_data, linux_receiver};

/// Routes: there, back, and over the bottleneck, if there is one, at whose end the fate of data is
/// decided.
const THERE: usize = 0;
const BACK: usize = 1;
const BOTTLENECK: usize = 2;

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
    /// The link that ACKs cross; `None`: they only travel.
    pub(crate) back: Option<BackLink>,
    pub(crate) rwnd_pkts: u32,
    pub(crate) delayed_ack: bool,
}

/// A drop-tail link on the way back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackLink {
    pub(crate) rate_bps: u64,
    pub(crate) limit_pkts: u64,
    /// Marks every packet that is ECN-capable.
    pub(crate) marks: bool,
}

impl Path {
    fn network(&self) -> Network<Segment> {
        let link = |rate_bps, limit_pkts, marks: bool| {
            let drop_tail = QueueConfig::drop_tail(Limit::Packets(limit_pkts));
            let queue = if marks {
                drop_tail.marking_above(Amount::Pkts(0))
            } else {
                drop_tail
            };
            let queue = queue.build(&Site::default());
            let transmitter = Transmitter::new(rate_bps, VecDeque::new());
            (Link::new(Vec::new(), queue, transmitter), DelayLine::new(0))
        };
        let there_ns = self.rtt_ns / 2;
        let lines = [there_ns, self.rtt_ns - there_ns].map(DelayLine::new);
        let mut routes = vec![vec![Hop::Line(0)], vec![Hop::Line(1)]];
        let mut links = Vec::new();
        if let Some(back) = self.back {
            routes[BACK].insert(0, Hop::Link(links.len()));
            links.push(link(back.rate_bps, back.limit_pkts, back.marks));
        }
        if let Some((rate_bps, limit_pkts)) = self.bottleneck {
            routes.push(vec![Hop::Link(links.len())]);
            links.push(link(rate_bps, limit_pkts, false));
        }
        Network::new(links, lines.into(), &routes)
    }
}

/// Counts what links drop and mark, and keeps the SACK blocks of what is on its way.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) dropped_pkts: u64,
    pub(crate) dropped_acks: u64,
    pub(crate) marked_acks: u64,
    sacks: SackStore,
}

impl Observer<Segment> for Watch {
    fn refused(&mut self, _: u64, _: usize, packet: &Packet<Segment>, _: DropReason) {
        match packet.header {
            Segment::Data(_) | Segment::Datagram(_) => self.dropped_pkts += 1,
            Segment::Ack(header) => {
                self.dropped_acks += 1;
                self.sacks.free(header.sack);
            }
        }
    }

    fn marked(&mut self, _: u64, _: usize, packet: &Packet<Segment>) {
        self.marked_acks += u64::from(!packet.header.is_forward());
    }
}

/// Decides a packet's fate by its number (from 0, of its kind) and the packet itself.
pub(crate) type PacketFate<'a, T> = Box<dyn FnMut(u64, &T) -> Fate + 'a>;

pub(crate) struct Pair<'a> {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now_ns: u64,
    /// Every packet that left the sender: time, segment.
    pub(crate) sent: Vec<(u64, DataHeader)>,
    pub(crate) watch: Watch,
    /// Packets that left the sender because of the last event.
    pub(crate) sent_by_event: usize,
    has_bottleneck: bool,
    network: Network<Segment>,
    data_fate: PacketFate<'a, Packet<DataHeader>>,
    ack_fate: PacketFate<'a, AckHeader>,
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
                half: config.half,
                mss_bytes: config.mss_bytes,
                rwnd_bytes: path.rwnd_pkts.saturating_mul(config.mss_bytes),
                delayed_ack: path.delayed_ack,
                rtt_ns: path.rtt_ns,
                ecn: config.ecn,
                ..linux_receiver()
            }),
            now_ns: 0,
            sent: Vec::new(),
            watch: Watch::default(),
            sent_by_event: 0,
            has_bottleneck: path.bottleneck.is_some(),
            network: path.network(),
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
    pub(crate) fn on_acks(mut self, fate: impl FnMut(u64, &AckHeader) -> Fate + 'a) -> Self {
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
            .filter(|(_, header)| header.is_retransmission() && header.is_data())
            .map(|(_, header)| header.seq)
            .collect()
    }

    /// The application writes now.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
        self.transmit();
    }

    /// The application closes now.
    pub(crate) fn close(&mut self) {
        self.sender.close();
        self.transmit();
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

    /// A packet of another flow takes the way back now.
    pub(crate) fn cross(&mut self, wire_bytes: u32) {
        let packet = Packet {
            flow: self.sender.flow() + 1,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: Segment::Data(DataHeader {
                seq: 0,
                ts_val_ms: 0,
                ts_ecr_ms: 0,
                info: DataInfo::new(SegmentKind::Data, 0),
                offload: Offload::NONE,
            }),
        };
        self.network
            .enter(self.now_ns, BACK, packet, &mut self.watch);
    }

    /// Runs up to `until_ns`.
    pub(crate) fn run_until(&mut self, until_ns: u64) -> &mut Self {
        while self.step(until_ns) {}
        self.now_ns = until_ns;
        self
    }

    /// The next event, unless it is later than `until_ns`.
    pub(crate) fn step(&mut self, until_ns: u64) -> bool {
        let (sender_ns, receiver_ns) = (self.sender.next_timer_ns(), self.receiver.next_timer_ns());
        self.network.set_timer(sender_ns.min(receiver_ns));
        let Some((now_ns, event)) = self.network.advance(until_ns, &mut self.watch) else {
            return false;
        };
        assert!(now_ns >= self.now_ns, "a deadline in the past");
        self.now_ns = now_ns;
        self.sent_by_event = 0;
        match event {
            Event::Inside => {}
            Event::Delivery(exit, _) => {
                let packet = self.network.take_delivery(exit);
                let element = self.network.element_of(exit);
                match element {
                    Hop::Link(_) => self.go_on(packet),
                    Hop::Line(_) => self.arrive(packet),
                }
            }
            Event::Timer if sender_ns <= receiver_ns => {
                self.sender.on_timer(now_ns);
                self.transmit();
            }
            Event::Timer => {
                self.receiver.on_timer(now_ns);
                self.acknowledge();
            }
        }
        true
    }

    fn arrive(&mut self, packet: Packet<Segment>) {
        if packet.flow != self.sender.flow() {
            return;
        }
        match packet.header {
            Segment::Data(header) => {
                self.receiver
                    .on_packet(self.now_ns, &header, packet.wire_bytes, packet.ecn);
                self.acknowledge();
            }
            Segment::Ack(header) => {
                let sack = self.watch.sacks.get(header.sack);
                self.sender.on_ack(self.now_ns, &header, sack);
                self.watch.sacks.free(header.sack);
                self.transmit();
            }
            Segment::Datagram(_) => unreachable!("no host sends one"),
        }
    }

    fn transmit(&mut self) {
        let packets: Vec<_> = self.sender.poll_transmit(self.now_ns).to_vec();
        self.sent_by_event = packets.len();
        for packet in packets {
            if self.log {
                self.sent.push((self.now_ns, as_data(packet).header));
            }
            if self.has_bottleneck {
                self.network
                    .enter(self.now_ns, BOTTLENECK, packet, &mut self.watch);
            } else {
                self.go_on(packet);
            }
        }
    }

    fn acknowledge(&mut self) {
        let packets: Vec<_> = self.receiver.poll_transmit(&mut self.watch.sacks).to_vec();
        for packet in packets {
            self.go_on(packet);
        }
    }

    /// What becomes of a packet.
    fn go_on(&mut self, packet: Packet<Segment>) {
        let (route, fate) = match packet.header {
            Segment::Data(header) if header.is_data() => {
                self.data_pkts += 1;
                let fate = (self.data_fate)(self.data_pkts - 1, &as_data(packet));
                (THERE, fate)
            }
            Segment::Ack(header) if header.kind() == AckKind::Ack => {
                self.ack_pkts += 1;
                (BACK, (self.ack_fate)(self.ack_pkts - 1, &header))
            }
            _ => {
                self.control_pkts += 1;
                let is_there = packet.header.is_forward();
                let fate = (self.control_fate)(self.control_pkts - 1);
                (if is_there { THERE } else { BACK }, fate)
            }
        };
        let now_ns = self.now_ns;
        match fate {
            Fate::Deliver => self.network.enter(now_ns, route, packet, &mut self.watch),
            Fate::Drop => self.forget(packet),
            Fate::Delay(more_ns) => self.network.enter_at(now_ns + more_ns, route, packet),
            Fate::Duplicate(more_ns) => {
                let copy = self.copy_of(packet);
                self.network.enter(now_ns, route, packet, &mut self.watch);
                self.network.enter_at(now_ns + more_ns, route, copy);
            }
        }
    }

    fn forget(&mut self, packet: Packet<Segment>) {
        if let Segment::Ack(header) = packet.header {
            self.watch.sacks.free(header.sack);
        }
    }

    fn copy_of(&mut self, mut packet: Packet<Segment>) -> Packet<Segment> {
        if let Segment::Ack(header) = &mut packet.header {
            let blocks = *self.watch.sacks.get(header.sack);
            header.sack = self.watch.sacks.keep(&blocks);
        }
        packet
    }

    /// SACK blocks are kept for the ACKs on their way, and for nothing else.
    pub(crate) fn check_sacks(&self) {
        let mut blocks = 0;
        self.network.for_each(&mut |packet| {
            if let Segment::Ack(header) = packet.header {
                blocks += usize::from(header.sack != SackSlot::NONE);
            }
        });
        assert_eq!(
            self.watch.sacks.used(),
            blocks,
            "slots in use, ACKs with blocks"
        );
    }
}
