//! Sends the same packets through a discipline and its model.

use std::collections::{BTreeMap, VecDeque};

use dumbbell_net::{
    Ecn, Effect, Effects, Header, Packet, PureAck, Queue, QueueConfig, QueueDiscipline, SackOrder,
    Site,
};

const S: u64 = 1_000_000_000;
pub(crate) const LINK_RATE_BPS: u64 = 10_000_000;

/// A packet as the papers see it. Times are in s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) number: u32,
    pub(crate) flow: u32,
    pub(crate) bytes: f64,
    pub(crate) ecn: Ecn,
    pub(crate) since: f64,
    pub(crate) labels: Labels,
}

impl Waiting {
    /// The same in whole bytes.
    pub(crate) fn len(&self) -> i64 {
        self.bytes as i64
    }

    pub(crate) fn since_ns(&self) -> i64 {
        nanoseconds(self.since)
    }
}

/// Seconds as whole nanoseconds.
pub(crate) fn nanoseconds(seconds: f64) -> i64 {
    (seconds * S as f64).round() as i64
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

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn next(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2_f64.powi(53)
    }

    /// One of `many`.
    fn pick<T: Copy>(&mut self, many: &[T]) -> T {
        many[(self.next() * many.len() as f64) as usize]
    }
}

/// What is in a packet's headers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Labels {
    pub(crate) number: u32,
    pub(crate) hosts: (u32, u32),
    pub(crate) dscp: u8,
    pub(crate) ack: Option<PureAck>,
    /// How much the SACK blocks of an ACK cover.
    pub(crate) sacked: u32,
}

impl Header for Labels {
    fn is_data(&self) -> bool {
        self.ack.is_none()
    }

    fn is_forward(&self) -> bool {
        true
    }

    fn pure_ack(&self) -> Option<PureAck> {
        self.ack
    }

    fn sack_order(&self, earlier: &Self) -> SackOrder {
        match self.sacked.cmp(&earlier.sacked) {
            std::cmp::Ordering::Less => SackOrder::Less,
            std::cmp::Ordering::Equal => SackOrder::Same,
            std::cmp::Ordering::Greater => SackOrder::More,
        }
    }

    fn hosts(&self) -> Option<(u32, u32)> {
        Some(self.hosts)
    }

    fn dscp(&self) -> Option<u8> {
        Some(self.dscp)
    }
}

/// What is sent.
pub(crate) struct Traffic<'a> {
    pub(crate) codepoints: &'a [Ecn],
    pub(crate) flows: u32,
    /// Sizes of packets, bytes; none: all from 64 to 1514.
    pub(crate) sizes: &'a [u32],
    /// Hosts and DSCP of a flow.
    pub(crate) labels: fn(u32) -> Labels,
    /// How many of the last flows send ACKs.
    pub(crate) ack_flows: u32,
}

impl<'a> Traffic<'a> {
    /// Traffic of `flows` flows, all alike.
    pub(crate) fn new(flows: u32, codepoints: &'a [Ecn]) -> Self {
        Self {
            codepoints,
            flows,
            sizes: &[100, 700, 1514, 1514],
            labels: |_| Labels::default(),
            ack_flows: 0,
        }
    }

    fn mean_bytes(&self) -> f64 {
        if self.sizes.is_empty() {
            return 789.0;
        }
        self.sizes
            .iter()
            .map(|&bytes| f64::from(bytes))
            .sum::<f64>()
            / self.sizes.len() as f64
    }

    /// The packet that arrives at `now_ns`. One flow sends most of them, `busy`; the further the next ones
    /// are from it, the less they send.
    fn packet(&self, number: u32, busy: u32, now_ns: u64, draws: &mut Draws) -> Packet<Labels> {
        let mut wire_bytes = match self.sizes {
            [] => 64 + (draws.next() * 1451.0) as u32,
            sizes => draws.pick(sizes),
        };
        let ecn = draws.pick(self.codepoints);
        let flow = if self.flows > 1 {
            (busy + (f64::from(self.flows) * draws.next().powi(3)) as u32) % self.flows
        } else {
            0
        };
        let mut header = Labels {
            number,
            ..(self.labels)(flow)
        };
        if flow + self.ack_flows >= self.flows && draws.next() < 0.9 {
            wire_bytes = 66 + 12 * u32::from(draws.next() < 0.2);
            // Mostly rising, sometimes the same or an older one.
            let late = (draws.next() * 1.3) as u32 * (draws.next() * 3.0) as u32 * 2;
            let seldom = |draws: &mut Draws, p| draws.next() < p;
            header.ack = Some(PureAck {
                number: (number / 2).wrapping_sub(late).wrapping_sub(1 << 13),
                ts_val: (now_ns / 10_000_000) as u32,
                ts_ecr: (now_ns / 20_000_000) as u32,
                ecn_flags: u8::from(seldom(draws, 0.1)),
                has_sack: false,
                says_more: seldom(draws, 0.02),
            });
            if seldom(draws, 0.15) {
                header.sacked = 1 + (draws.next() * 3.0) as u32;
                header.ack.as_mut().expect("it is one").has_sack = true;
            }
        }
        Packet {
            flow,
            wire_bytes,
            ecn,
            hop: 0,
            arrived_ns: now_ns,
            header,
        }
    }
}

fn ours(
    now_ns: u64,
    queue: &mut QueueDiscipline<Labels>,
    arrival: Option<Packet<Labels>>,
) -> (Vec<Fate>, Option<Packet<Labels>>) {
    let mut effects = Effects::new();
    let sent = match arrival {
        Some(packet) => {
            queue.enqueue(now_ns, packet, &mut effects);
            None
        }
        None => queue.dequeue(now_ns, &mut effects),
    };
    let effects = effects.drain().map(|effect| match effect {
        Effect::Refused(packet, _) | Effect::Dropped(packet, _) => {
            Fate::Dropped(packet.header.number)
        }
        Effect::Marked(packet) => Fate::Marked(packet.header.number),
    });
    let fates = effects.chain(sent.map(|packet| Fate::Sent(packet.header.number)));
    (fates.collect(), sent)
}

/// The flow of two that loses its packet if each has one of the same size and there is no room for both: what a
/// discipline's hash makes of the flows, and not said by its description.
pub(crate) fn loser(config: &QueueConfig, seed: u64, flows: [u32; 2]) -> u32 {
    let site = Site {
        seed,
        ..Site::default()
    };
    let mut queue = config.build::<Labels>(&site);
    let mut effects = Effects::new();
    for flow in flows {
        let packet = Packet {
            flow,
            wire_bytes: 1000,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: Labels::default(),
        };
        queue.enqueue(0, packet, &mut effects);
    }
    effects.drops().next().expect("there was no room").flow
}

/// Sends 60 s of packets through both: phases of too little, too much and nothing at all. How many were sent,
/// dropped and marked.
pub(crate) fn compare(
    config: &QueueConfig,
    seed: u64,
    traffic: &Traffic<'_>,
    model: &mut dyn Model,
) -> BTreeMap<&'static str, u32> {
    let site = Site {
        seed,
        link_rate_bps: LINK_RATE_BPS,
        ..Site::default()
    };
    let mut queue = config.build::<Labels>(&site);
    let mut draws = Draws::new(!seed);
    let (mut arrival_ns, mut free_ns, mut number) = (0, 0, 0);
    let (mut load, mut busy) = (1.0, 0);
    // Whether the link has nothing to send.
    let mut is_idle = true;
    let mut counts = BTreeMap::new();
    // The last of what happened, for the message.
    let mut history: VecDeque<(u64, Fate)> = VecDeque::new();
    while arrival_ns < 60 * S {
        let is_arrival = arrival_ns <= free_ns;
        let now_ns = arrival_ns.min(free_ns);
        let now = now_ns as f64 / S as f64;
        let (found, expected);
        if is_arrival {
            let packet = traffic.packet(number, busy, now_ns, &mut draws);
            let waiting = Waiting {
                number,
                flow: packet.flow,
                bytes: f64::from(packet.wire_bytes),
                ecn: packet.ecn,
                since: now,
                labels: packet.header,
            };
            found = ours(now_ns, &mut queue, Some(packet)).0;
            expected = model.arrives(now, waiting);
            number += 1;
            if draws.next() < 0.001 {
                load = draws.pick(&[0.3, 0.9, 1.05, 1.5, 3.0]);
                busy = (draws.next() * f64::from(traffic.flows)) as u32;
            }
            // Now and then nothing comes for up to 2 s.
            let packet_s = traffic.mean_bytes() * 8.0 / LINK_RATE_BPS as f64;
            let gap_ns = packet_s / load * 2e9 * draws.next();
            let pause_ns = if draws.next() < 0.0005 {
                2e9 * draws.next()
            } else {
                0.0
            };
            arrival_ns += (gap_ns + pause_ns) as u64 + 1;
            if is_idle {
                free_ns = now_ns;
            }
        } else {
            let sent;
            (found, sent) = ours(now_ns, &mut queue, None);
            expected = model.leaves(now);
            is_idle = sent.is_none();
            free_ns = match (sent, queue.next_event()) {
                (Some(packet), _) => now_ns + u64::from(packet.wire_bytes) * 8 * S / LINK_RATE_BPS,
                // Nothing leaves before it is time, and something does then.
                (None, Some(due_ns)) if queue.backlog_pkts() > 0 => {
                    assert!(due_ns > now_ns, "at {now} s: it was due at {due_ns} ns");
                    due_ns - u64::from(due_ns > now_ns + 1)
                }
                _ => u64::MAX,
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
        let mut shown = BTreeMap::new();
        queue.statistics(&mut |name, value| {
            shown.insert(name, value);
        });
        for (name, value, tolerance) in model.state() {
            let found = shown[name] as f64;
            assert!(
                (found - value).abs() <= tolerance,
                "{name} at {now} s: {found}, {value}"
            );
        }
    }
    counts
}
