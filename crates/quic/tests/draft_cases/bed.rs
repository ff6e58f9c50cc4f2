//! A QUIC connection on a path that does what a test case says: changes its rate, loses, delays and polices packets,
//! gathers ACKs, while the application pauses or trickles.

use std::collections::{BTreeMap, VecDeque};

use bytes::BytesMut;
use dumbbell_cc::{Instance, Request};
use dumbbell_net::Ecn;
use dumbbell_quic::{End, Pair, Spec, choose_params, settings};

use super::view::View;

pub(crate) const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: f64 = 1e9;
/// A full packet: UDP payload, and on the wire.
pub(crate) const PAYLOAD_BYTES: u32 = 1452;
const WIRE_BYTES: u64 = 1494;
/// Less is an ACK.
const DATA_BYTES: usize = 200;

/// What a bulk application has written ahead of the receiver, bytes: more than is ever in flight, less than fills the
/// stack's send window, which a dropped stream would hold for a round trip.
const AHEAD_BYTES: u64 = 8_000_000;

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
    /// A packet's payload at every interval of this length, ns.
    Trickle(u64),
    Silent,
}

#[derive(Debug)]
enum Event {
    /// A packet comes to the link.
    Enter(BytesMut),
    /// The link has sent what it was sending.
    Sent,
    Arrive(End, BytesMut),
}

/// Passes a rate and bursts of a bucket.
#[derive(Debug)]
struct Policer {
    rate_bps: f64,
    bucket_bytes: f64,
    tokens_bytes: f64,
    at_ns: u64,
}

pub(crate) struct Bed {
    pair: Box<dyn Pair>,
    pub(crate) now_ns: u64,
    /// ACKs come at multiples of this only, ns; 0: as they are.
    pub(crate) ack_slot_ns: u64,
    pub(crate) sent_pkts: u64,
    pub(crate) lost_pkts: u64,
    rtt_ns: u64,
    rate_bps: u64,
    limit_pkts: usize,
    queue: VecDeque<BytesMut>,
    is_sending: bool,
    policer: Option<Policer>,
    fate: Box<dyn FnMut(u64) -> Fate>,
    fate_from: u64,
    app: App,
    /// Written so far, less what was dropped.
    written_bytes: u64,
    write_ns: u64,
    events: BTreeMap<(u64, u64), Event>,
    order: u64,
    /// When the last packet arrives at each end: nothing overtakes it.
    last_ns: [u64; 2],
    text: String,
}

impl Bed {
    /// A flow of `name`, its buffer `limit_pkts`; the handshake begins at 0.
    pub(crate) fn new(name: &str, rate_bps: u64, rtt_ms: u64, limit_pkts: usize) -> Self {
        Self::with_seed(name, rate_bps, rtt_ms, limit_pkts, 1)
    }

    /// The same with other random numbers: when it is time to probe.
    pub(crate) fn with_seed(
        name: &str,
        rate_bps: u64,
        rtt_ms: u64,
        limit_pkts: usize,
        seed: u64,
    ) -> Self {
        let spec = Spec::parse(name).expect("there is this stack");
        let given = [
            ("mtu_bytes", i64::from(PAYLOAD_BYTES)),
            ("window_bytes", 16_000_000),
        ];
        let given: BTreeMap<String, i64> =
            given.map(|(name, value)| (name.to_owned(), value)).into();
        let params = choose_params(&spec, &given).expect("in their ranges").hosts;
        let flow = spec.ours().map(|ours| {
            let request = Request {
                name: ours.to_owned(),
                ..Request::default()
            };
            Instance::load(&request, seed).expect("built in").new_flow()
        });
        let mut bed = Self {
            pair: spec.pair(&settings(&params, seed, Some(0), false), flow),
            now_ns: 0,
            ack_slot_ns: 0,
            sent_pkts: 0,
            lost_pkts: 0,
            rtt_ns: rtt_ms * NS_PER_MS,
            rate_bps,
            limit_pkts,
            queue: VecDeque::new(),
            is_sending: false,
            policer: None,
            fate: Box::new(|_| Fate::Pass),
            fate_from: 0,
            app: App::Bulk,
            written_bytes: 0,
            write_ns: u64::MAX,
            events: BTreeMap::new(),
            order: 0,
            last_ns: [0; 2],
            text: String::new(),
        };
        bed.pair.offer(0, Some(0)); // the stream stays open
        bed.pair.connect(0);
        bed.send(End::Sender);
        bed
    }

    /// Payload that the link carries, bytes/s.
    pub(crate) fn link_bw(&self) -> f64 {
        self.rate_bps as f64 / 8.0 * f64::from(PAYLOAD_BYTES) / WIRE_BYTES as f64
    }

    /// Payload that fills a round trip, bytes.
    pub(crate) fn bdp(&self) -> f64 {
        self.link_bw() * self.rtt_ns as f64 / NS_PER_S
    }

    pub(crate) fn now_s(&self) -> f64 {
        self.now_ns as f64 / NS_PER_S
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.pair.progress().received_bytes
    }

    /// What the sender's controller says.
    pub(crate) fn view(&mut self) -> View {
        View::of(&mut *self.pair, &mut self.text)
    }

    pub(crate) fn set_rate(&mut self, rate_bps: u64) {
        self.rate_bps = rate_bps;
    }

    pub(crate) fn rtt_ns(&self) -> u64 {
        self.rtt_ns
    }

    /// The round trip of what leaves from now on.
    pub(crate) fn set_rtt_ns(&mut self, rtt_ns: u64) {
        self.rtt_ns = rtt_ns;
    }

    pub(crate) fn add_policer(&mut self, rate_bps: u64, bucket_bytes: u64) {
        self.policer = Some(Policer {
            rate_bps: rate_bps as f64,
            bucket_bytes: bucket_bytes as f64,
            tokens_bytes: bucket_bytes as f64,
            at_ns: self.now_ns,
        });
    }

    /// The fate of data packets from now on, numbered from 0.
    pub(crate) fn decide_fate(&mut self, fate: impl FnMut(u64) -> Fate + 'static) {
        self.fate_from = self.sent_pkts;
        self.fate = Box::new(fate);
    }

    /// What the application does from now on; what is written and not sent is dropped.
    pub(crate) fn set_app(&mut self, app: App) {
        self.app = app;
        self.write_ns = u64::MAX;
        match app {
            App::Bulk => {}
            App::Silent => self.pair.abandon(self.now_ns),
            App::Trickle(_) => {
                self.pair.abandon(self.now_ns);
                self.write_ns = self.now_ns;
            }
        }
        self.written_bytes = self.received_bytes();
        self.send(End::Sender);
    }

    /// Runs for `seconds`, or until `stop` says so after something came to the sender or was written; returns whether it did.
    pub(crate) fn run(&mut self, seconds: f64, mut stop: impl FnMut(&View, &Self) -> bool) -> bool {
        let end_ns = self.now_ns + (seconds * NS_PER_S) as u64;
        while let Some(at_sender) = self.step(end_ns) {
            if at_sender && self.pair.progress().is_established {
                let view = self.view();
                if stop(&view, self) {
                    return true;
                }
            }
        }
        self.now_ns = end_ns;
        false
    }

    /// The next event, unless it is later than `until_ns`; whether it was at the sender.
    fn step(&mut self, until_ns: u64) -> Option<bool> {
        let event_ns = self
            .events
            .keys()
            .next()
            .map_or(u64::MAX, |&(at_ns, _)| at_ns);
        let [sender_ns, receiver_ns] =
            [End::Sender, End::Receiver].map(|end| self.pair.next_timer_ns(end));
        let due_ns = event_ns.min(sender_ns).min(receiver_ns).min(self.write_ns);
        if due_ns > until_ns {
            return None;
        }
        self.now_ns = self.now_ns.max(due_ns);
        if event_ns == due_ns {
            let (_, event) = self.events.pop_first()?;
            return Some(self.take(event));
        }
        if self.write_ns == due_ns {
            if let App::Trickle(interval_ns) = self.app {
                self.write_ns = self.now_ns + interval_ns;
                let bytes = u64::from(PAYLOAD_BYTES) - 40; // without headers and tag of a packet
                self.pair.offer(self.now_ns, Some(bytes));
            }
            self.send(End::Sender);
            return Some(true);
        }
        let end = if sender_ns == due_ns {
            End::Sender
        } else {
            End::Receiver
        };
        self.pair.wake(end, self.now_ns);
        self.send(end);
        Some(false)
    }

    fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Enter(bytes) => self.enter(bytes),
            Event::Sent => {
                if let Some(bytes) = self.queue.pop_front() {
                    self.arrive(End::Receiver, self.now_ns + self.rtt_ns / 2, bytes);
                }
                self.is_sending = false;
                self.start_sending();
            }
            Event::Arrive(end, bytes) => {
                self.pair.receive(end, self.now_ns, bytes, Ecn::NotEct);
                self.send(end);
                return end == End::Sender;
            }
        }
        false
    }

    fn arrive(&mut self, end: End, due_ns: u64, bytes: BytesMut) {
        let last_ns = &mut self.last_ns[end as usize];
        *last_ns = due_ns.max(*last_ns);
        let due_ns = *last_ns;
        self.at(due_ns, Event::Arrive(end, bytes));
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.order += 1;
        self.events.insert((at_ns, self.order), event);
    }

    /// What an end wants to send is on its way.
    fn send(&mut self, end: End) {
        if end == End::Sender && self.app == App::Bulk {
            let wanted_bytes = self.received_bytes() + AHEAD_BYTES;
            if self.written_bytes + AHEAD_BYTES / 2 < wanted_bytes {
                self.pair
                    .offer(self.now_ns, Some(wanted_bytes - self.written_bytes));
                self.written_bytes = wanted_bytes;
            }
        }
        let mut datagrams = Vec::new();
        self.pair.transmit(end, self.now_ns, &mut |datagram| {
            datagrams.push(datagram.bytes)
        });
        for bytes in datagrams {
            match end {
                End::Sender => self.leave(bytes),
                End::Receiver => {
                    let due_ns = self.now_ns + self.rtt_ns - self.rtt_ns / 2;
                    let due_ns = due_ns.next_multiple_of(self.ack_slot_ns.max(1));
                    self.arrive(End::Sender, due_ns, bytes);
                }
            }
        }
    }

    fn leave(&mut self, bytes: BytesMut) {
        let mut fate = Fate::Pass;
        if bytes.len() > DATA_BYTES {
            fate = (self.fate)(self.sent_pkts - self.fate_from);
            self.sent_pkts += 1;
        }
        match fate {
            Fate::Pass => self.enter(bytes),
            Fate::Lose => self.lost_pkts += 1,
            Fate::Delay(more_ns) => self.at(self.now_ns + more_ns, Event::Enter(bytes)),
        }
    }

    fn enter(&mut self, bytes: BytesMut) {
        let wire_bytes = bytes.len() as f64 + (WIRE_BYTES - u64::from(PAYLOAD_BYTES)) as f64;
        let now_ns = self.now_ns;
        let passes = self.policer.as_mut().is_none_or(|policer| {
            let since_s = (now_ns - policer.at_ns) as f64 / NS_PER_S;
            policer.at_ns = now_ns;
            let tokens_bytes = policer.tokens_bytes + since_s * policer.rate_bps / 8.0;
            policer.tokens_bytes = tokens_bytes.min(policer.bucket_bytes);
            let passes = policer.tokens_bytes >= wire_bytes;
            if passes {
                policer.tokens_bytes -= wire_bytes;
            }
            passes
        });
        if !passes || self.queue.len() > self.limit_pkts {
            self.lost_pkts += 1;
            return;
        }
        self.queue.push_back(bytes);
        self.start_sending();
    }

    fn start_sending(&mut self) {
        if let (false, Some(first)) = (self.is_sending, self.queue.front()) {
            let wire_bits = (first.len() as u64 + WIRE_BYTES - u64::from(PAYLOAD_BYTES)) * 8;
            let takes_ns = wire_bits * 1_000_000_000 / self.rate_bps;
            self.is_sending = true;
            self.at(self.now_ns + takes_ns, Event::Sent);
        }
    }
}
