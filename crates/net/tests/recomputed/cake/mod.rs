//! CAKE as it is described (Høiland-Jørgensen, Täht and Morton 2018) and as Linux has it: a shaper over tins over
//! flows, COBALT in each queue. A flow's queue is its own here: the runs have no more flows than a set has queues.

mod acks;
mod cobalt;
mod tin;

use dumbbell_net::queue::cake::{AckFilter, Config, Isolation, LinkLayer, Tins};
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::harness::{Labels, loser, nanoseconds};
use crate::recomputed::{Draws, Fate, Model, Traffic, Waiting, compare};
use tin::{Flow, Rate, Set, Tin};

const FLOWS: u32 = 8;
/// DSCPs of default, CS1, EF and AF41, with their tins of `diffserv3`, `diffserv4` and `precedence`.
const DSCPS: [(u8, [usize; 3]); 4] = [
    (0, [0, 0, 0]),
    (8, [1, 1, 1]),
    (46, [2, 3, 5]),
    (34, [0, 2, 4]),
];

struct Cake {
    config: Config,
    rate: Option<Rate>,
    limit: i64,
    tins: Vec<Tin>,
    draws: Draws,
    /// The tin whose turn it is when nothing is shaped.
    tin: usize,
    /// When the shaper and its failsafe let the next packet go.
    next: i64,
    failsafe: i64,
    /// ACKs of the first tin that the filter dropped.
    ack_drops: f64,
    /// Flows with a lower rank lose a packet first, among equally long queues of a tin.
    ranks: Vec<usize>,
}

/// For each flow, how many of the others lose a packet before it.
fn ranks(config: &Config, seed: u64) -> Vec<usize> {
    let tight = Config {
        limit_bytes: Some(3000),
        ..config.clone()
    };
    let tight = QueueConfig::from(tight);
    let rank = |flow| {
        let others = (0..FLOWS).filter(|&other| other != flow);
        others
            .filter(|&other| loser(&tight, seed, [flow, other]) == other)
            .count()
    };
    (0..FLOWS).map(rank).collect()
}

/// Byte rates and weights of tins, of the whole rate.
fn tins(config: &Config) -> Vec<(Option<u64>, i64)> {
    let rate = config.rate_bps.map(|bps| bps / 8);
    let shifted = |shift: u32, weight: i64| (rate.map(|rate| rate >> shift), weight >> shift);
    match config.tins {
        Tins::diffserv3 => [0, 4, 2].map(|shift| shifted(shift, 1024)).to_vec(),
        Tins::diffserv4 => [0, 4, 1, 2].map(|shift| shifted(shift, 1024)).to_vec(),
        Tins::precedence => {
            let next = |&(rate, weight): &(Option<u64>, i64)| {
                Some((rate.map(|rate| rate * 7 / 8), weight * 7 / 8))
            };
            std::iter::successors(Some((rate, 256)), next)
                .take(8)
                .collect()
        }
        _ => vec![(rate, 65_535)],
    }
}

impl Cake {
    fn new(config: &Config, seed: u64) -> Self {
        let isolation = match config.isolation {
            Isolation::dual_srchost => (true, false),
            Isolation::dual_dsthost => (false, true),
            Isolation::triple_isolate => (true, true),
            _ => (false, false),
        };
        let rtt_ns = config.rtt_ns.0 as i64;
        let mut draws = Draws::new(seed);
        // The first number is the hash's salt.
        draws.next();
        Self {
            rate: config.rate_bps.map(|bps| Rate::new(bps / 8)),
            limit: config.limit_bytes.expect("it is set") as i64,
            tins: (tins(config).into_iter())
                .map(|(rate, weight)| Tin::new(rate, weight, rtt_ns, isolation))
                .collect(),
            config: config.clone(),
            draws,
            tin: 0,
            next: 0,
            failsafe: 0,
            ack_drops: 0.0,
            ranks: ranks(config, seed),
        }
    }

    fn tin_of(&self, dscp: u8) -> usize {
        let (_, tins) = DSCPS
            .iter()
            .find(|known| known.0 == dscp)
            .expect("it is sent");
        match self.config.tins {
            Tins::diffserv3 => tins[0],
            Tins::diffserv4 => tins[1],
            Tins::precedence => tins[2],
            _ => 0,
        }
    }

    /// Bytes of the shaped link.
    fn charged(&self, packet: &Waiting) -> i64 {
        let ip = packet.len() - 14;
        match self.config.link_layer {
            LinkLayer::conservative => (ip + 48 + 47) / 48 * 53,
            LinkLayer::docsis => (ip + 18).max(64),
            LinkLayer::ethernet => (ip + 38).max(84),
            _ => packet.len(),
        }
    }

    fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        let flows = self.tins.iter().flat_map(|tin| tin.flows.values());
        flows.flat_map(|flow| &flow.queue)
    }

    fn is_empty(&self) -> bool {
        self.waiting().next().is_none()
    }

    /// Moves the clocks of the shaper and of the tin on by a packet.
    fn charge(&mut self, tin: usize, packet: &Waiting, now: i64, is_drop: bool) -> i64 {
        let bytes = self.charged(packet);
        let tin = &mut self.tins[tin];
        if let (Some(rate), Some(tin_rate)) = (self.rate, tin.rate) {
            let (whole, own) = (rate.time(bytes), tin_rate.time(bytes));
            tin.next = if tin.next < now {
                tin.next + own
            } else {
                tin.next.max(now + own)
            };
            self.next += whole;
            if !is_drop {
                self.failsafe += whole + whole / 2;
            }
        }
        bytes
    }

    fn drop_from_longest(&mut self, now: i64, fates: &mut Vec<Fate>) {
        let queues = (0..).zip(&self.tins).flat_map(|(tin, all)| {
            let flows = all.flows.iter();
            flows.map(move |(&number, flow)| (flow.bytes(), tin, number))
        });
        let first =
            |&(bytes, tin, number): &(i64, usize, u32)| (-bytes, tin, self.ranks[number as usize]);
        let (_, tin, number) = queues.min_by_key(first).expect("something waits");
        let times = self.tins[tin].times;
        let flow = self.tins[tin].flows.get_mut(&number).expect("it waits");
        let packet = flow.queue.pop_front().expect("it waits");
        flow.cobalt.overflowed(now, &times);
        if self.config.ingress {
            self.charge(tin, &packet, now, true);
        }
        fates.push(Fate::Dropped(packet.number));
    }

    /// The tin that is served; `None` if none has flows that are not only decaying.
    fn choose(&mut self, now: i64) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        if self.rate.is_none() {
            loop {
                let count = self.tins.len();
                let tin = &mut self.tins[self.tin];
                if tin.deficit >= 0 && tin.is_active() {
                    return Some(self.tin);
                }
                if tin.deficit <= 0 {
                    tin.deficit += tin.weight;
                }
                self.tin = (self.tin + 1) % count;
            }
        }
        let active = (0..self.tins.len()).filter(|&tin| self.tins[tin].is_active());
        // Of those that are not late the earliest, of equal ones the last; any that is late goes before.
        let late = active.clone().rfind(|&tin| self.tins[tin].next <= now);
        late.or_else(|| active.min_by_key(|&tin| (self.tins[tin].next, std::cmp::Reverse(tin))))
    }
}

impl Model for Cake {
    fn arrives(&mut self, at: f64, packet: Waiting) -> Vec<Fate> {
        let now = nanoseconds(at);
        let number = self.tin_of(packet.labels.dscp);
        if self.tins[number].bytes() == 0 {
            let tin = &mut self.tins[number];
            tin.next = tin.next.max(now);
            if self.is_empty() && self.next < now {
                (self.next, self.failsafe) = (now, now);
            }
        }
        let mut fates = Vec::new();
        self.tins[number].arrived(packet);
        if self.config.ack_filter != AckFilter::off {
            let flow = self.tins[number].flows.get_mut(&packet.flow);
            let is_aggressive = self.config.ack_filter == AckFilter::aggressive;
            let old = acks::filter(flow.expect("it waits"), is_aggressive);
            if let Some(old) = old {
                fates.push(Fate::Dropped(old.number));
                self.ack_drops += f64::from(u8::from(number == 0));
                if self.config.ingress {
                    self.charge(number, &old, now, true);
                }
            }
        }
        self.tins[number].joins(packet.flow, &mut self.draws);
        while self.waiting().map(|packet| packet.len() + 576).sum::<i64>() > self.limit {
            self.drop_from_longest(now, &mut fates);
        }
        fates
    }

    fn leaves(&mut self, at: f64) -> Vec<Fate> {
        let now = nanoseconds(at);
        let mut fates = Vec::new();
        let mut is_first = true;
        'choice: while !self.is_empty() && self.next.min(self.failsafe) <= now {
            let Some(number) = self.choose(now) else {
                break;
            };
            'turn: loop {
                let tin = &mut self.tins[number];
                let Some(flow) = tin.flow(is_first, &mut self.draws) else {
                    continue 'choice;
                };
                is_first = false;
                loop {
                    let tin = &mut self.tins[number];
                    let bulk_flows = if self.config.ingress {
                        tin.count(Set::Bulk)
                    } else {
                        0
                    };
                    let times = tin.times;
                    let Flow { queue, cobalt, .. } = tin.flows.get_mut(&flow).expect("it is known");
                    let Some(packet) = queue.pop_front() else {
                        tin.was_empty(flow, now);
                        continue 'choice;
                    };
                    let draws = &mut self.draws;
                    let (drops, marks) = cobalt.signals(at, &packet, bulk_flows, &times, draws);
                    // Not the last packet of a queue.
                    let drops = drops && !queue.is_empty();
                    if drops {
                        fates.push(Fate::Dropped(packet.number));
                    } else {
                        fates.extend(marks.then_some(Fate::Marked(packet.number)));
                        fates.push(Fate::Sent(packet.number));
                    }
                    if !drops || self.config.ingress {
                        let bytes = self.charge(number, &packet, now, drops);
                        let tin = &mut self.tins[number];
                        tin.deficit -= bytes;
                        tin.flows.get_mut(&flow).expect("it is known").deficit -= bytes;
                    }
                    if !drops {
                        return fates;
                    }
                    if self.config.ingress {
                        continue 'turn;
                    }
                }
            }
        }
        fates
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        let tin = &self.tins[0];
        let rests = tin.flows.values().filter(|flow| flow.cobalt.blue > 0);
        let sparse = [Set::Sparse, Set::SparseInDebt, Set::Decaying].map(|set| tin.count(set));
        vec![
            ("tin0_target_ns", tin.times.target as f64, 0.0),
            ("tin0_interval_ns", tin.times.interval as f64, 0.0),
            ("tin0_backlog_bytes", tin.bytes() as f64, 0.0),
            ("tin0_ack_drop_pkts", self.ack_drops, 0.0),
            ("tin0_bk_flows", tin.count(Set::Bulk) as f64, 0.0),
            ("tin0_sp_flows", sparse.iter().sum::<i64>() as f64, 0.0),
            ("tin0_un_flows", rests.count() as f64, 0.0),
        ]
    }
}

/// Compares with `ack_flows` of the flows sending ACKs; how many of them the filter dropped.
fn check(seed: u64, config: Config, ack_flows: u32) -> f64 {
    let traffic = Traffic {
        sizes: &[],
        ack_flows,
        // Two sources and three destinations; a flow has one DSCP.
        labels: |flow| Labels {
            hosts: (flow % 2, 10 + flow % 3),
            dscp: DSCPS[flow as usize / 2 % 4].0,
            ..Labels::default()
        },
        ..Traffic::new(FLOWS, &[Ecn::Ect0, Ecn::NotEct, Ecn::NotEct, Ecn::Ce])
    };
    let mut model = Cake::new(&config, seed);
    let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
    assert!(counts["dropped"] > 200, "{counts:?}");
    assert!(counts["marked"] > 20, "{counts:?}");
    model.ack_drops
}

/// 9 Mbit/s, a little less than the link has.
fn shaped() -> Config {
    Config {
        rate_bps: Some(9_000_000),
        limit_bytes: Some(400_000),
        ..Config::default()
    }
}

#[test]
fn tins_flows_and_hosts_share_as_linux_has_it() {
    for (seed, tins, isolation) in [
        (1, Tins::besteffort, Isolation::flows),
        (2, Tins::besteffort, Isolation::triple_isolate),
        (3, Tins::diffserv3, Isolation::triple_isolate),
        (4, Tins::diffserv4, Isolation::dual_srchost),
        (5, Tins::precedence, Isolation::dual_dsthost),
    ] {
        for rate_bps in [None, Some(9_000_000), Some(600_000)] {
            let config = Config {
                tins,
                isolation,
                rate_bps,
                ..shaped()
            };
            check(seed, config, 0);
        }
    }
}

#[test]
fn cobalt_and_the_shaper_are_what_linux_has() {
    for (seed, link_layer, ingress, limit_bytes) in [
        (11, LinkLayer::conservative, false, 60_000),
        (12, LinkLayer::docsis, true, 400_000),
        (13, LinkLayer::ethernet, true, 60_000),
        (14, LinkLayer::raw, false, 2_000_000),
    ] {
        let config = Config {
            link_layer,
            ingress,
            limit_bytes: Some(limit_bytes),
            ..shaped()
        };
        check(seed, config, 0);
    }
}

#[test]
fn the_ack_filter_is_what_linux_has() {
    for (seed, ack_filter, ingress) in [
        (21, AckFilter::normal, false),
        (22, AckFilter::aggressive, false),
        (23, AckFilter::aggressive, true),
    ] {
        let config = Config {
            ack_filter,
            ingress,
            ..shaped()
        };
        assert!(check(seed, config, 3) > 200.0);
    }
}
