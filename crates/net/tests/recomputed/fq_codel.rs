//! RFC 8290 §4.1 and §4.2 with a CoDel of codel.rs per flow, and what Linux does when it is full.

use std::collections::VecDeque;

use dumbbell_net::queue::{codel, fq_codel::Config};
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::codel::Controller;
use crate::recomputed::turns::Turns;
use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

const FLOWS: u32 = 12;
/// What a packet takes in memory beyond what it has on the wire.
const OVERHEAD_BYTES: f64 = 576.0;

struct FqCodel {
    config: Config,
    turns: Turns,
    flows: Vec<(VecDeque<Waiting>, Controller)>,
    overlimit: f64,
    overmemory: f64,
}

fn bytes(queue: &VecDeque<Waiting>) -> f64 {
    queue.iter().map(|packet| packet.bytes).sum()
}

impl FqCodel {
    fn new(config: &Config) -> Self {
        let of_flow = codel::Config {
            target_ns: config.target_ns,
            interval_ns: config.interval_ns,
            ecn: config.ecn,
            ce_threshold_ns: config.ce_threshold_ns,
            ..codel::Config::default()
        };
        let flow = |_| (VecDeque::new(), Controller::new(&of_flow));
        Self {
            config: config.clone(),
            turns: Turns::new(config.quantum_bytes),
            flows: (0..FLOWS).map(flow).collect(),
            overlimit: 0.0,
            overmemory: 0.0,
        }
    }

    fn packets(&self) -> usize {
        self.flows.iter().map(|(queue, _)| queue.len()).sum()
    }

    fn bytes(&self) -> f64 {
        self.flows.iter().map(|(queue, _)| bytes(queue)).sum()
    }

    fn memory(&self) -> f64 {
        self.bytes() + OVERHEAD_BYTES * self.packets() as f64
    }

    /// Half of what the fattest flow has, at most a batch, is dropped from its head and strengthens its signal.
    fn drop_from_fattest(&mut self, fates: &mut Vec<Fate>) {
        let fattest = self.flows.iter().map(|(queue, _)| bytes(queue));
        let most = fattest.fold(0.0, f64::max);
        let fattest = self
            .flows
            .iter_mut()
            .find(|(queue, _)| bytes(queue) == most);
        let (queue, controller) = fattest.expect("something waits");
        let mut dropped = 0.0;
        let mut count = 0;
        while count < self.config.drop_batch && (count == 0 || dropped < (most / 2.0).floor()) {
            let packet = queue.pop_front().expect("more than half is left");
            dropped += packet.bytes;
            count += 1;
            fates.push(Fate::Dropped(packet.number));
        }
        controller.count += count as i64;
        self.overlimit += count as f64;
    }
}

impl Model for FqCodel {
    fn arrives(&mut self, _now: f64, packet: Waiting) -> Vec<Fate> {
        let mut fates = Vec::new();
        self.flows[packet.flow as usize].0.push_back(packet);
        self.turns.arrived(packet.flow);
        let is_over_memory = self.memory() > self.config.memory_limit_bytes as f64;
        if is_over_memory || self.packets() > self.config.limit_pkts as usize {
            let before = self.overlimit;
            self.drop_from_fattest(&mut fates);
            if is_over_memory {
                self.overmemory += self.overlimit - before;
            }
        }
        fates
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        let mut fates = Vec::new();
        while let Some(flow) = self.turns.flow() {
            let all = self.bytes();
            let (queue, controller) = &mut self.flows[flow as usize];
            let others = all - bytes(queue);
            let Some(packet) = controller.next(now, queue, others, &mut fates) else {
                self.turns.is_empty(flow);
                continue;
            };
            self.turns.sent(flow, packet.len());
            fates.push(Fate::Sent(packet.number));
            break;
        }
        fates
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![
            ("new_flows_len", self.turns.new.len() as f64, 0.0),
            ("old_flows_len", self.turns.old.len() as f64, 0.0),
            ("drop_overlimit_pkts", self.overlimit, 0.0),
            ("drop_overmemory_pkts", self.overmemory, 0.0),
            ("memory_used_bytes", self.memory(), 0.0),
        ]
    }
}

#[test]
fn fq_codel_is_what_its_rfc_and_linux_say() {
    let defaults = || Config {
        perfect_hash: true,
        limit_pkts: 300,
        ..Config::default()
    };
    for (seed, config) in (1..).zip([
        defaults(),
        Config {
            ecn: false,
            ..defaults()
        },
        Config {
            quantum_bytes: 300,
            drop_batch: 3,
            ..defaults()
        },
        Config {
            memory_limit_bytes: 200_000,
            limit_pkts: 10_240,
            ce_threshold_ns: Some(20_000_000),
            ..defaults()
        },
    ]) {
        let ecn = config.ecn;
        let traffic = Traffic::new(FLOWS, &[Ecn::Ect0, Ecn::NotEct, Ecn::Ce]);
        let mut model = FqCodel::new(&config);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(counts.contains_key("marked"), ecn);
    }
}
