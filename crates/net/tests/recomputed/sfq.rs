//! Stochastic fairness queueing (McKenney 1990) as Linux has it, without its RED.

use std::collections::{BTreeMap, VecDeque};

use dumbbell_net::queue::sfq::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::harness::nanoseconds;
use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

struct Sfq {
    config: Config,
    limit: usize,
    /// Slots by the number of their flow.
    slots: BTreeMap<u32, Slot>,
    /// Flows whose turn it is, in order.
    turns: VecDeque<u32>,
    /// Numbers of slots, of which the last is used first.
    free: Vec<usize>,
    /// Changes of length so far.
    changes: u64,
    next_perturbation: i64,
}

struct Slot {
    number: usize,
    allot: i64,
    /// When its length last changed: of equally long slots the latest loses a packet.
    changed: u64,
    queue: VecDeque<Waiting>,
}

impl Sfq {
    fn new(config: &Config) -> Self {
        let flows = config.flows.min(config.divisor).min(config.limit_pkts);
        Self {
            config: config.clone(),
            limit: config.limit_pkts.min(config.depth_pkts * flows) as usize,
            slots: BTreeMap::new(),
            turns: VecDeque::new(),
            free: (0..flows as usize).collect(),
            changes: 0,
            next_perturbation: config.perturb_ns.unwrap_or(0) as i64,
        }
    }

    fn packets(&self) -> usize {
        self.slots.values().map(|slot| slot.queue.len()).sum()
    }

    /// A slot for `flow`, which has none; `None` when all are taken.
    fn open(&mut self, flow: u32) -> Option<()> {
        let slot = Slot {
            number: self.free.pop()?,
            allot: self.config.quantum_bytes as i64,
            changed: 0,
            queue: VecDeque::new(),
        };
        self.slots.insert(flow, slot);
        self.turns.push_back(flow);
        Some(())
    }

    fn push(&mut self, packet: Waiting) {
        self.changes += 1;
        let slot = self.slots.get_mut(&packet.flow).expect("it is open");
        slot.changed = self.changes;
        slot.queue.push_back(packet);
    }

    /// Takes a packet of `flow` out, from its head or its tail.
    fn pop(&mut self, flow: u32, from_head: bool) -> Waiting {
        self.changes += 1;
        let slot = self.slots.get_mut(&flow).expect("it is open");
        slot.changed = self.changes;
        let packet = if from_head {
            slot.queue.pop_front()
        } else {
            slot.queue.pop_back()
        };
        if slot.queue.is_empty() {
            self.free.push(slot.number);
            self.slots.remove(&flow);
            self.turns.retain(|&other| other != flow);
        }
        packet.expect("an open slot has packets")
    }

    /// The slot that loses a packet when there are too many.
    fn longest(&self) -> u32 {
        let longest = self
            .slots
            .iter()
            .max_by_key(|(_, slot)| (slot.queue.len(), slot.changed));
        let (&flow, slot) = longest.expect("something waits");
        // With one packet each, it is the one whose turn it is.
        if slot.queue.len() == 1 {
            self.turns[0]
        } else {
            flow
        }
    }

    /// What waits is put into slots again, slot by slot, whenever the hash changes.
    fn perturb(&mut self, now: f64) {
        let Some(every) = self.config.perturb_ns else {
            return;
        };
        while self.next_perturbation <= nanoseconds(now) {
            self.next_perturbation += every as i64;
            let mut slots: Vec<_> = std::mem::take(&mut self.slots).into_values().collect();
            slots.sort_by_key(|slot| slot.number);
            self.turns.clear();
            self.free.extend(slots.iter().map(|slot| slot.number));
            for packet in slots.into_iter().flat_map(|slot| slot.queue) {
                if !self.slots.contains_key(&packet.flow) {
                    self.open(packet.flow).expect("there are as many as before");
                }
                self.push(packet);
            }
        }
    }
}

impl Model for Sfq {
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate> {
        self.perturb(now);
        let flow = packet.flow;
        if !self.slots.contains_key(&flow) && self.open(flow).is_none() {
            return vec![Fate::Dropped(packet.number)];
        }
        let slot = self.slots.get_mut(&flow).expect("it is open");
        if slot.queue.len() >= self.config.depth_pkts as usize {
            if !self.config.headdrop {
                return vec![Fate::Dropped(packet.number)];
            }
            // Its length does not change.
            slot.queue.push_back(packet);
            let head = slot.queue.pop_front().expect("it is full");
            return vec![Fate::Dropped(head.number)];
        }
        self.push(packet);
        if self.packets() <= self.limit {
            return Vec::new();
        }
        let dropped = self.pop(self.longest(), self.config.headdrop);
        vec![Fate::Dropped(dropped.number)]
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        self.perturb(now);
        while let Some(&flow) = self.turns.front() {
            let slot = self.slots.get_mut(&flow).expect("it is open");
            if slot.allot <= 0 {
                slot.allot += self.config.quantum_bytes as i64;
                self.turns.rotate_left(1);
                continue;
            }
            slot.allot -= slot.queue[0].len();
            return vec![Fate::Sent(self.pop(flow, true).number)];
        }
        Vec::new()
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        let longest = self.slots.values().map(|slot| slot.queue.len()).max();
        vec![
            ("flows", self.turns.len() as f64, 0.0),
            ("longest_pkts", longest.unwrap_or(0) as f64, 0.0),
        ]
    }
}

#[test]
fn sfq_is_what_its_paper_and_linux_say() {
    let defaults = || Config {
        perfect_hash: true,
        ..Config::default()
    };
    for (seed, config) in (1..).zip([
        defaults(),
        Config {
            headdrop: true,
            quantum_bytes: 3000,
            ..defaults()
        },
        Config {
            depth_pkts: 20,
            ..defaults()
        },
        Config {
            depth_pkts: 20,
            headdrop: true,
            limit_pkts: 60,
            ..defaults()
        },
        Config {
            flows: 6,
            quantum_bytes: 200,
            ..defaults()
        },
        Config {
            limit_pkts: 8,
            ..defaults()
        },
        Config {
            perturb_ns: Some(300_000_000),
            ..defaults()
        },
    ]) {
        let traffic = Traffic::new(20, &[Ecn::NotEct, Ecn::Ect0]);
        let mut model = Sfq::new(&config);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
    }
}
