//! One flow on a path that does what a test case says: changes its rate, loses, delays and
//! polices packets, gathers ACKs, while the application pauses or trickles.
//!
//! A scenario has none of this but the change of rate. The endpoints and the link are the
//! simulator's own (`dumbbell_tcp`, `dumbbell_path`); only the path between them is the test's.

use std::collections::{BTreeMap, VecDeque};

use dumbbell_cc::{Instance, Request, Sock};
use dumbbell_path::{Fifo, Header as _, Limit, Link, Packet};
use dumbbell_tcp::{Ack, DataHeader, EcnMode, Receiver, ReceiverConfig, Sender, SenderConfig};

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
    /// A segment every so many ns.
    Trickle(u64),
    Silent,
}

/// Lets packets pass at a rate, and drops what comes faster: no queue but the bucket's depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policer {
    rate_bps: u64,
    burst_bits: u64,
    tokens_bits: u64,
    since_ns: u64,
}

impl Policer {
    pub(crate) fn new(rate_bps: u64, burst_bytes: u64) -> Self {
        Self {
            rate_bps,
            burst_bits: burst_bytes * 8,
            tokens_bits: burst_bytes * 8,
            since_ns: 0,
        }
    }

    fn passes(&mut self, now_ns: u64, wire_bytes: u32) -> bool {
        let new_bits =
            u128::from(now_ns - self.since_ns) * u128::from(self.rate_bps) / 1_000_000_000;
        // Whole bits only: what is left of a bit stays in the time.
        let spent_ns = new_bits * 1_000_000_000 / u128::from(self.rate_bps);
        self.since_ns += spent_ns as u64;
        self.tokens_bits = (self.tokens_bits + new_bits as u64).min(self.burst_bits);
        let bits = u64::from(wire_bytes) * 8;
        let passes = self.tokens_bits >= bits;
        if passes {
            self.tokens_bits -= bits;
        }
        passes
    }
}

#[derive(Debug)]
enum Event {
    Enter(Packet<DataHeader>),
    Data(Packet<DataHeader>),
    Ack(Ack),
    Write,
}

/// Decides the fate of the `n`-th data packet.
pub(crate) type PacketFate = Box<dyn FnMut(u64) -> Fate>;

pub(crate) struct Bed {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) now_ns: u64,
    /// Round trip without queueing and serialisation, ns; may change while running.
    pub(crate) rtt_ns: u64,
    /// ACKs come at multiples of this only, ns; 0: as they are.
    pub(crate) ack_slot_ns: u64,
    pub(crate) policer: Option<Policer>,
    /// Data packets that the path lost, of whatever cause.
    pub(crate) lost_pkts: u64,
    /// Data packets that left the sender.
    pub(crate) sent_pkts: u64,
    link_rate_bps: u64,
    link: Link<Fifo<DataHeader>>,
    packet_fate: PacketFate,
    app: App,
    /// The next write, so that an older one is not obeyed.
    write_ns: u64,
    events: BTreeMap<(u64, u64), Event>,
    order: u64,
    columns: Vec<String>,
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
            flow: 0,
            mss_bytes: MSS_BYTES,
            size_bytes: None,
            closes: false,
            sndbuf_pkts: u32::MAX >> 2,
            tso: true,
            ecn: EcnMode::Off,
        };
        let receiver = ReceiverConfig {
            flow: 0,
            rwnd_pkts: u32::MAX >> 2,
            delayed_ack: true,
            rtt_ns,
            ecn: EcnMode::Off,
        };
        let mut bed = Self {
            sender: Sender::new(sender, instance.new_flow()),
            receiver: Receiver::new(receiver),
            now_ns: 0,
            rtt_ns,
            ack_slot_ns: 0,
            policer: None,
            lost_pkts: 0,
            sent_pkts: 0,
            link_rate_bps,
            link: Link::new(link_rate_bps, Fifo::new(Limit::Packets(limit_pkts))),
            packet_fate: Box::new(|_| Fate::Pass),
            app: App::Bulk,
            write_ns: 0,
            events: BTreeMap::new(),
            order: 0,
            columns,
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
        self.link.set_rate(link_rate_bps);
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
            App::Bulk => self.sender.write(u32::MAX),
            App::Silent => self.sender.stop(),
            App::Trickle(_) => {
                self.sender.stop();
                self.write_ns = self.now_ns;
                self.schedule(self.now_ns, Event::Write);
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

    /// Runs until the congestion control is in `state`; panics if that takes `seconds`.
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
        let event_ns = self
            .events
            .first_key_value()
            .map_or(u64::MAX, |(&(at_ns, _), _)| at_ns);
        let link_ns = self
            .link
            .next_event::<DataHeader>()
            .map_or(u64::MAX, |at_ns| at_ns.max(self.now_ns));
        let timer_ns = self.sender.next_timer_ns();
        let delack_ns = self.receiver.next_timer_ns();
        let next_ns = event_ns.min(link_ns).min(timer_ns).min(delack_ns);
        if next_ns > until_ns {
            return false;
        }
        self.now_ns = next_ns;
        if next_ns == link_ns {
            self.serialise();
        } else if next_ns == event_ns {
            self.happen();
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
        let mut dropped = Vec::new();
        if let Some(departure) = self.link.dequeue(self.now_ns, &mut dropped) {
            let due_ns = departure.done_ns + self.rtt_ns / 2;
            self.schedule(due_ns, Event::Data(departure.packet));
        }
    }

    fn happen(&mut self) {
        let Some((_, event)) = self.events.pop_first() else {
            return;
        };
        match event {
            Event::Enter(packet) => self.enter(packet),
            Event::Data(packet) => {
                self.receiver.on_packet(self.now_ns, &packet);
                self.acknowledge();
            }
            Event::Ack(ack) => {
                self.sender.on_ack(self.now_ns, &ack);
                self.transmit();
            }
            Event::Write => {
                if let App::Trickle(interval_ns) = self.app
                    && self.write_ns == self.now_ns
                {
                    self.sender.write(1);
                    self.transmit();
                    self.write_ns = self.now_ns + interval_ns;
                    self.schedule(self.write_ns, Event::Write);
                }
            }
        }
    }

    fn transmit(&mut self) {
        let packets: VecDeque<_> = self.sender.poll_transmit(self.now_ns).collect();
        for packet in packets {
            let fate = if !packet.header.is_data() {
                Fate::Pass
            } else {
                self.sent_pkts += 1;
                (self.packet_fate)(self.sent_pkts - 1)
            };
            match fate {
                Fate::Pass => self.enter(packet),
                Fate::Lose => self.lost_pkts += 1,
                Fate::Delay(more_ns) => self.schedule(self.now_ns + more_ns, Event::Enter(packet)),
            }
        }
    }

    /// A packet comes to the policer, if there is one, and to the link's queue.
    fn enter(&mut self, packet: Packet<DataHeader>) {
        if let Some(policer) = &mut self.policer
            && !policer.passes(self.now_ns, packet.wire_bytes)
        {
            self.lost_pkts += 1;
            return;
        }
        let mut dropped = Vec::new();
        self.link.enqueue(self.now_ns, packet, &mut dropped);
        self.lost_pkts += dropped.len() as u64;
    }

    fn acknowledge(&mut self) {
        let due_ns = self.now_ns + self.rtt_ns - self.rtt_ns / 2;
        let due_ns = due_ns.next_multiple_of(self.ack_slot_ns.max(1));
        for ack in self.receiver.poll_transmit() {
            self.events.insert((due_ns, self.order), Event::Ack(ack));
            self.order += 1;
        }
    }

    fn schedule(&mut self, due_ns: u64, event: Event) {
        self.events.insert((due_ns, self.order), event);
        self.order += 1;
    }
}
