//! CoDel, PIE, RED and DualPI2 a second time, straight from their papers and RFCs with the constants of
//! docs/queues.md, in floating point where those have real numbers, and step by step against ours: the same
//! packets, the same random numbers, every drop, mark and departure and the controllers' state.

mod codel;
mod dualpi2;
mod pie;
mod red;

use std::collections::{BTreeMap, VecDeque};

use dumbbell_net::{Ecn, Effect, Effects, Packet, Queue, QueueConfig, Site};

const S: u64 = 1_000_000_000;
pub(crate) const LINK_RATE_BPS: u64 = 10_000_000;

/// A packet as the papers see it. Times are in s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) number: u32,
    pub(crate) bytes: f64,
    pub(crate) ecn: Ecn,
    pub(crate) since: f64,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Dropped(u32),
    Marked(u32),
    Sent(u32),
}

/// A discipline written a second time.
pub(crate) trait Model {
    /// A packet arrives at `now`.
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate>;
    /// The link is free at `now`.
    fn leaves(&mut self, now: f64) -> Vec<Fate>;
    /// What `tc -s` says of the controller, by name, and how far it may be off.
    fn state(&self) -> Vec<(&'static str, f64, f64)>;
}

/// splitmix64 (Steele, Lea, Flood 2014), which ours draws from.
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [0, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 2_f64.powi(53)
    }
}

fn ours(
    now_ns: u64,
    queue: &mut dumbbell_net::QueueDiscipline<()>,
    arrival: Option<Packet<()>>,
) -> Vec<Fate> {
    let mut effects = Effects::new();
    let sent = match arrival {
        Some(packet) => {
            queue.enqueue(now_ns, packet, &mut effects);
            None
        }
        None => queue.dequeue(now_ns, &mut effects),
    };
    let effects = effects.drain().map(|effect| match effect {
        Effect::Refused(packet, _) | Effect::Dropped(packet, _) => Fate::Dropped(packet.flow),
        Effect::Marked(packet) => Fate::Marked(packet.flow),
    });
    let sent = sent.map(|packet| Fate::Sent(packet.flow));
    effects.chain(sent).collect()
}

/// Sends 60 s of packets through both: phases of too little, too much and nothing at all, of one or of
/// several codepoints. How many were dropped and marked.
pub(crate) fn compare(
    config: &QueueConfig,
    seed: u64,
    codepoints: &[Ecn],
    model: &mut dyn Model,
) -> BTreeMap<&'static str, u32> {
    let site = Site {
        seed,
        link_rate_bps: LINK_RATE_BPS,
        ..Site::default()
    };
    let mut queue = config.build::<()>(&site);
    let mut draws = Draws::new(!seed);
    let (mut arrival_ns, mut free_ns, mut number) = (0, 0, 0);
    let mut load = 1.0;
    let mut counts = BTreeMap::new();
    // The last of what was sent, for the message.
    let mut history: VecDeque<(u64, Fate)> = VecDeque::new();
    while arrival_ns < 60 * S {
        let is_arrival = arrival_ns <= free_ns;
        let now_ns = arrival_ns.min(free_ns);
        let now = now_ns as f64 / S as f64;
        let (found, expected);
        if is_arrival {
            let bytes = [100, 700, 1514, 1514][(draws.next() * 4.0) as usize];
            let ecn = codepoints[(draws.next() * codepoints.len() as f64) as usize];
            let waiting = Waiting {
                number,
                bytes: f64::from(bytes),
                ecn,
                since: now,
            };
            let packet = Packet {
                flow: number,
                wire_bytes: bytes,
                ecn,
                hop: 0,
                arrived_ns: now_ns,
                header: (),
            };
            found = ours(now_ns, &mut queue, Some(packet));
            expected = model.arrives(now, waiting);
            number += 1;
            if draws.next() < 0.001 {
                load = [0.3, 0.9, 1.05, 1.5, 3.0][(draws.next() * 5.0) as usize];
            }
            // Packets have 957 bytes on average. Now and then nothing comes for up to 2 s.
            let gap_ns = 957.0 * 8.0 / LINK_RATE_BPS as f64 / load * 2e9 * draws.next();
            let pause_ns = if draws.next() < 0.0005 {
                2e9 * draws.next()
            } else {
                0.0
            };
            arrival_ns += (gap_ns + pause_ns) as u64 + 1;
        } else {
            found = ours(now_ns, &mut queue, None);
            expected = model.leaves(now);
            let sent = found.iter().any(|fate| matches!(fate, Fate::Sent(_)));
            free_ns = if sent {
                now_ns + 957 * 8 * S / LINK_RATE_BPS
            } else {
                arrival_ns.max(now_ns + 1)
            };
        }
        assert_eq!(found, expected, "at {now} s; before: {history:?}");
        for &fate in &found {
            let kind = match fate {
                Fate::Dropped(_) => "dropped",
                Fate::Marked(_) => "marked",
                Fate::Sent(_) => "sent",
            };
            *counts.entry(kind).or_default() += 1;
            history.push_back((now_ns, fate));
            if history.len() > 5 {
                history.pop_front();
            }
        }
        let mut told = BTreeMap::new();
        queue.statistics(&mut |name, value| {
            told.insert(name, value);
        });
        for (name, value, tolerance) in model.state() {
            let found = told[name] as f64;
            assert!(
                (found - value).abs() <= tolerance,
                "{name} at {now} s: {found}, {value}"
            );
        }
    }
    counts
}
