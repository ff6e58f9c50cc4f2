//! One flow on a path that does what a test case says: changes its rate, loses, delays and
//! polices packets, gathers ACKs, while the application pauses or trickles.
//!
//! A scenario has none of this but the change of rate. The endpoints and the network are the
//! simulator's own (`dumbbell_tcp`, `dumbbell_net`); only when packets enter it is the test's.

use std::collections::VecDeque;

use dumbbell_cc::{Instance, Request, Sock};
use dumbbell_net::{
    DelayLine, DropReason, Event, Header as _, Hop, Limit, Link, Network, Observer, Packet,
    Policer, QueueConfig, Site, Transmitter,
};
use dumbbell_tcp::{Receiver, ReceiverConfig, SackStore, Segment, Sender, SenderConfig};

pub(crate) const MSS_BYTES: u32 = 1448;
/// A full segment on the wire, bytes.
pub(crate) const PACKET_BYTES: u64 = 1514;
pub(crate) const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: f64 = 1e9;
/// inflight_longterm and its like where there is none.
pub(crate) const NO_BOUND: u64 = u32::MAX as u64;

/// What the path does to a data packet before the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Lose,
    /// Arrives this much later, ns; others overtake it.
    Delay(u64),
}

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// More than the path carries.
    Bulk,
    /// A segment at every interval of this length, ns.
    Trickle(u64),
    Silent,
}

/// Routes of the data and of the ACKs.
const THERE: usize = 0;
const BACK: usize = 1;

/// Counts the data packets that the link loses.
#[derive(Debug, Default)]
struct Lost {
    pkts: u64,
}

impl Observer<Segment> for Lost {
    fn refused(&mut self, _: u64, _: usize, packet: &Packet<Segment>, _: DropReason) {
        self.pkts += u64::from(packet.header.is_data());
    }
}

/// Decides the fate of the `n`-th data packet.
pub(crate) type PacketFate = Box<dyn FnMut(u64) -> Fate>;

pub(crate) struct Bed {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now_ns: u64,
    /// ACKs come at multiples of this only, ns; 0: as they are.
    pub(crate) ack_slot_ns: u64,
    /// Data packets that left the sender.
    pub(crate) sent_pkts: u64,
    rtt_ns: u64,
    link_rate_bps: u64,
    network: Network<Segment>,
    /// Data packets that `packet_fate` lost, and those that the link did.
    taken_pkts: u64,
    lost: Lost,
    packet_fate: PacketFate,
    app: App,
    /// The next write, so that an older one is not obeyed.
    write_ns: u64,
    columns: Vec<String>,
    sacks: SackStore,
}

impl Bed {
    /// A flow of `bbr3` with `params`, its buffer `limit_pkts`; the SYN leaves at 0.
    pub(crate) fn new(
        link_rate_bps: u64,
        rtt_ms: u64,
        limit_pkts: u64,
        params: &[(&str, i64)],
    ) -> Self {
        let params = params
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect();
        let request = Request {
            name: "bbr3".to_owned(),
            params,
        };
        let instance = Instance::load(&request, 1).unwrap_or_else(|error| panic!("{error}"));
        let columns = instance
            .series()
            .iter()
            .map(|series| series.name.clone())
            .collect();
        let rtt_ns = rtt_ms * NS_PER_MS;
        let sender = SenderConfig {
            closes: false,
            ..SenderConfig::new(0, MSS_BYTES, None)
        };
        let receiver = ReceiverConfig::new(0, MSS_BYTES, rtt_ns);
        let mut bed = Self {
            sender: Sender::new(sender, instance.new_flow()),
            receiver: Receiver::new(receiver),
            now_ns: 0,
            rtt_ns,
            ack_slot_ns: 0,
            sent_pkts: 0,
            link_rate_bps,
            network: network(link_rate_bps, limit_pkts, rtt_ns),
            taken_pkts: 0,
            lost: Lost::default(),
            packet_fate: Box::new(|_| Fate::Pass),
            app: App::Bulk,
            write_ns: u64::MAX,
            columns,
            sacks: SackStore::new(),
        };
        bed.sender.start(0);
        bed.transmit();
        bed
    }

    /// Payload that the link carries, bit/s.
    pub(crate) fn link_payload_bps(&self) -> f64 {
        self.link_rate_bps as f64 * f64::from(MSS_BYTES) / PACKET_BYTES as f64
    }

    /// Link rate × round trip, packets.
    pub(crate) fn bdp_pkts(&self) -> f64 {
        self.link_rate_bps as f64 * self.rtt_ns as f64 / NS_PER_S / 8.0 / PACKET_BYTES as f64
    }

    pub(crate) fn set_link_rate(&mut self, link_rate_bps: u64) {
        self.link_rate_bps = link_rate_bps;
        self.network.link_mut(0).set_rate(link_rate_bps);
    }

    /// Round trip without queueing and serialisation, ns.
    pub(crate) fn rtt_ns(&self) -> u64 {
        self.rtt_ns
    }

    /// The round trip of what leaves from now on; nothing overtakes.
    pub(crate) fn set_rtt_ns(&mut self, rtt_ns: u64) {
        self.rtt_ns = rtt_ns;
        self.network.set_link_delay(0, rtt_ns / 2);
        self.network.line_mut(0).set_delay(rtt_ns - rtt_ns / 2);
    }

    /// From now on packets that come faster than the policer lets pass are lost before the queue.
    pub(crate) fn add_policer(&mut self, policer: Policer) {
        let link = self.network.link_mut(0);
        link.add_impairment(dumbbell_net::Impairment::policer(policer));
    }

    /// Data packets that were lost, by all causes.
    pub(crate) fn lost_pkts(&self) -> u64 {
        self.taken_pkts + self.lost.pkts
    }

    /// The fate of data packets from now on, numbered from 0.
    pub(crate) fn decide_fate(&mut self, mut packet_fate: impl FnMut(u64) -> Fate + 'static) {
        let first = self.sent_pkts;
        self.packet_fate = Box::new(move |number| packet_fate(number - first));
    }

    /// What the application does from now on.
    pub(crate) fn set_app(&mut self, app: App) {
        self.app = app;
        self.write_ns = u64::MAX;
        match app {
            App::Bulk => self.sender.write(u64::MAX),
            App::Silent => self.sender.stop(),
            App::Trickle(_) => {
                self.sender.stop();
                self.write_ns = self.now_ns;
            }
        }
        self.transmit();
    }

    /// Runs for `seconds`, or until `stop` says so after an event; returns whether it did.
    pub(crate) fn run(&mut self, seconds: f64, mut stop: impl FnMut(&Self) -> bool) -> bool {
        let end_ns = self.now_ns + (seconds * NS_PER_S) as u64;
        while self.step(end_ns) {
            if stop(self) {
                return true;
            }
        }
        self.now_ns = end_ns;
        false
    }

    /// Runs until the congestion control algorithm is in `state`; panics if that takes `seconds`.
    #[track_caller]
    pub(crate) fn run_to(&mut self, state: &str, seconds: f64) {
        assert!(
            self.run(seconds, |bed| bed.state() == state),
            "still in {} at {:.3} s, not in {state}",
            self.state(),
            self.now_s()
        );
    }

    pub(crate) fn now_s(&self) -> f64 {
        self.now_ns as f64 / NS_PER_S
    }

    pub(crate) fn sock(&self) -> &Sock {
        self.sender.sock()
    }

    /// A series as it is reported: raw value × mul ÷ div, × MSS if it says so.
    pub(crate) fn series(&self, name: &str) -> u64 {
        let flow = self.sender.congestion_control();
        let index = self.columns.iter().position(|column| column == name);
        let index = index.unwrap_or_else(|| panic!("no series `{name}`"));
        let mut value = 0;
        flow.read_series(|column, raw| {
            if column == index {
                value = raw;
            }
        });
        let column = &flow.instance().series()[index];
        let mss = if column.per_mss { MSS_BYTES } else { 1 };
        (u128::from(value) * u128::from(column.mul) * u128::from(mss) / u128::from(column.div))
            as u64
    }

    /// The state machine's state, by its name.
    pub(crate) fn state(&self) -> &'static str {
        const STATES: [&str; 7] = [
            "startup",
            "drain",
            "down",
            "cruise",
            "refill",
            "up",
            "probe_rtt",
        ];
        STATES[self.series("state") as usize]
    }

    /// The draft's BBR.bdp: bw × min_rtt, packets.
    pub(crate) fn estimated_bdp_pkts(&self) -> f64 {
        self.series("bw_bps") as f64 / 8.0 / f64::from(MSS_BYTES) * self.series("min_rtt_us") as f64
            / 1e6
    }

    /// The next event, unless it is later than `until_ns`.
    fn step(&mut self, until_ns: u64) -> bool {
        let (sender_ns, receiver_ns) = (self.sender.next_timer_ns(), self.receiver.next_timer_ns());
        let timer_ns = sender_ns.min(receiver_ns).min(self.write_ns);
        self.network.set_timer(timer_ns);
        let Some((now_ns, event)) = self.network.advance(until_ns, &mut self.lost) else {
            return false;
        };
        self.now_ns = now_ns;
        match event {
            Event::Inside => {}
            Event::Delivery(exit, _) => {
                let packet = self.network.take_delivery(exit);
                self.arrive(packet);
            }
            Event::Timer if self.write_ns <= now_ns => self.write(),
            Event::Timer if sender_ns <= now_ns => {
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

    /// The trickle's next segment.
    fn write(&mut self) {
        self.write_ns = match self.app {
            App::Trickle(interval_ns) => self.now_ns + interval_ns,
            App::Bulk | App::Silent => u64::MAX,
        };
        self.sender.write(u64::from(MSS_BYTES));
        self.transmit();
    }

    fn arrive(&mut self, packet: Packet<Segment>) {
        match &packet.header {
            Segment::Data(header) => {
                self.receiver
                    .on_packet(self.now_ns, header, packet.wire_bytes, packet.ecn);
                self.acknowledge();
            }
            Segment::Datagram(_) => unreachable!("no host sends one"),
            Segment::Ack(ack) => {
                let sack = self.sacks.get(ack.sack);
                self.sender.on_ack(self.now_ns, ack, sack);
                self.sacks.free(ack.sack);
                self.transmit();
            }
        }
    }

    fn transmit(&mut self) {
        let now_ns = self.now_ns;
        for packet in self.sender.poll_transmit(now_ns).to_vec() {
            let fate = if !packet.header.is_data() {
                Fate::Pass
            } else {
                self.sent_pkts += 1;
                (self.packet_fate)(self.sent_pkts - 1)
            };
            match fate {
                Fate::Pass => self.network.enter(now_ns, THERE, packet, &mut self.lost),
                Fate::Lose => self.taken_pkts += 1,
                Fate::Delay(more_ns) => self.network.enter_at(now_ns + more_ns, THERE, packet),
            }
        }
    }

    /// ACKs that are gathered wait so long that they arrive when a slot begins.
    fn acknowledge(&mut self) {
        let back_ns = self.rtt_ns - self.rtt_ns / 2;
        let due_ns = (self.now_ns + back_ns).next_multiple_of(self.ack_slot_ns.max(1));
        for packet in self.receiver.poll_transmit(&mut self.sacks).to_vec() {
            if due_ns == self.now_ns + back_ns {
                self.network
                    .enter(self.now_ns, BACK, packet, &mut self.lost);
            } else {
                self.network.enter_at(due_ns - back_ns, BACK, packet);
            }
        }
    }
}

/// A drop-tail link there, with half of the round trip, and the other half back.
fn network(link_rate_bps: u64, limit_pkts: u64, rtt_ns: u64) -> Network<Segment> {
    let link = Link::new(
        Vec::new(),
        QueueConfig::drop_tail(Limit::Packets(limit_pkts)).build(&Site::default()),
        Transmitter::new(link_rate_bps, VecDeque::new()),
    );
    let there = DelayLine::new(rtt_ns / 2);
    let back = DelayLine::new(rtt_ns - rtt_ns / 2);
    Network::new(
        vec![(link, there)],
        vec![back],
        &[vec![Hop::Link(0)], vec![Hop::Line(0)]],
    )
}
