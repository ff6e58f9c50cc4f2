//! A path: a link of 20 Mbit/s with an endless queue, and 10 ms each way.

use std::collections::BTreeMap;

use bytes::BytesMut;
use dumbbell_cc::{Instance, Request};
use dumbbell_net::Ecn;
use dumbbell_quic::{End, Pair, Spec, choose_params, settings};

const DELAY_NS: u64 = 10_000_000;
const NS_PER_BYTE: u64 = 400;

/// A connection over the path.
pub(crate) struct Path {
    pub(crate) pair: Box<dyn Pair>,
    pub(crate) now_ns: u64,
    /// What is on its way, by arrival and order.
    on_way: BTreeMap<(u64, u64), (End, BytesMut, Ecn)>,
    order: u64,
    link_free_ns: u64,
    /// Packets that the sender is still to lose.
    pub(crate) losses: u32,
    /// Everything that both ends sent, as a digest.
    pub(crate) digest: u64,
}

impl Path {
    /// A bulk transfer of `name`, begun.
    pub(crate) fn new(name: &str, seed: u64, size_bytes: Option<u64>) -> Self {
        Self::with_params(name, seed, size_bytes, BTreeMap::new())
    }

    /// A bulk transfer between hosts with other parameters, begun.
    pub(crate) fn with_params(
        name: &str,
        seed: u64,
        size_bytes: Option<u64>,
        given: BTreeMap<String, i64>,
    ) -> Self {
        let spec = Spec::parse(name).expect("there is this stack");
        let params = choose_params(&spec, &given).expect("in their ranges").hosts;
        let flow = spec.ours().map(|ours| {
            let request = Request {
                name: ours.to_owned(),
                ..Request::default()
            };
            Instance::load(&request, seed).expect("built in").new_flow()
        });
        let mut path = Self {
            pair: spec.pair(&settings(&params, seed, size_bytes, false), flow),
            now_ns: 0,
            on_way: BTreeMap::new(),
            order: 0,
            link_free_ns: 0,
            losses: 0,
            digest: 0,
        };
        path.pair.connect(0);
        path.send(End::Sender);
        path
    }

    /// What an end wants to send is on its way.
    pub(crate) fn send(&mut self, end: End) {
        let Self {
            pair,
            now_ns,
            on_way,
            order,
            link_free_ns,
            losses,
            digest,
        } = self;
        pair.transmit(end, *now_ns, &mut |datagram| {
            for &byte in &datagram.bytes {
                *digest = digest.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte);
            }
            let (to, due_ns) = match end {
                End::Sender => {
                    if *losses > 0 && datagram.bytes.len() > 1000 {
                        *losses -= 1;
                        return;
                    }
                    let begun_ns = (*link_free_ns).max(*now_ns);
                    *link_free_ns = begun_ns + NS_PER_BYTE * datagram.bytes.len() as u64;
                    (End::Receiver, *link_free_ns + DELAY_NS)
                }
                End::Receiver => (End::Sender, *now_ns + DELAY_NS),
            };
            *order += 1;
            on_way.insert((due_ns, *order), (to, datagram.bytes, datagram.ecn));
        });
    }

    /// The next event happens; false when there is none before `until_ns`.
    pub(crate) fn step(&mut self, until_ns: u64) -> bool {
        let arrival_ns = self
            .on_way
            .keys()
            .next()
            .map_or(u64::MAX, |&(at_ns, _)| at_ns);
        let ends = [End::Sender, End::Receiver];
        let timers = ends.map(|end| (self.pair.next_timer_ns(end), end));
        let (timer_ns, end) = if timers[0].0 <= timers[1].0 {
            timers[0]
        } else {
            timers[1]
        };
        let due_ns = arrival_ns.min(timer_ns);
        if due_ns >= until_ns {
            return false;
        }
        self.now_ns = self.now_ns.max(due_ns);
        let end = if arrival_ns <= timer_ns {
            let (_, (end, bytes, ecn)) = self.on_way.pop_first().expect("there is one");
            self.pair.receive(end, self.now_ns, bytes, ecn);
            end
        } else {
            self.pair.wake(end, self.now_ns);
            end
        };
        self.send(end);
        true
    }

    /// Events happen until `done` or for a minute.
    pub(crate) fn run_until(&mut self, done: impl Fn(&mut Self) -> bool) {
        while !done(self) {
            assert!(self.step(60_000_000_000), "nothing more happens");
        }
    }
}
