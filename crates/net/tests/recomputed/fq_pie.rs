//! FQ-CoDel's lists with a PIE of pie.rs per flow, as in Linux: it drops and marks on arrival only.

use std::collections::VecDeque;

use dumbbell_net::queue::{fq_pie::Config, pie};
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::pie::{Clock, Controller};
use crate::recomputed::turns::Turns;
use crate::recomputed::{Draws, Fate, Model, Traffic, Waiting, compare};

const FLOWS: u32 = 12;

struct FqPie {
    limit: usize,
    draws: Draws,
    clock: Clock,
    turns: Turns,
    flows: Vec<(VecDeque<Waiting>, Controller)>,
}

fn bytes(queue: &VecDeque<Waiting>) -> f64 {
    queue.iter().map(|packet| packet.bytes).sum()
}

impl FqPie {
    fn new(config: &Config, seed: u64) -> Self {
        let of_flow = pie::Config {
            target_ns: config.target_ns,
            tupdate_ns: config.tupdate_ns,
            alpha: config.alpha,
            beta: config.beta,
            ecn: config.ecn,
            bytemode: config.bytemode,
            dq_rate_estimator: config.dq_rate_estimator,
            ..pie::Config::default()
        };
        let controller = Controller::new(&of_flow, config.ecn_prob as f64 / 100.0);
        let mut draws = Draws::new(seed);
        // The first number is the hash's salt.
        draws.next();
        Self {
            limit: config.limit_pkts as usize,
            draws,
            clock: Clock::new(config.tupdate_ns),
            turns: Turns::new(config.quantum_bytes),
            flows: vec![(VecDeque::new(), controller); FLOWS as usize],
        }
    }

    fn update(&mut self, now: f64) {
        while self.clock.is_due(now) {
            for (queue, controller) in &mut self.flows {
                controller.update(bytes(queue));
            }
        }
    }
}

impl Model for FqPie {
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate> {
        self.update(now);
        let mut fates = Vec::new();
        let packets: usize = self.flows.iter().map(|(queue, _)| queue.len()).sum();
        let is_full = packets >= self.limit;
        let (queue, controller) = &mut self.flows[packet.flow as usize];
        let (backlog, draws) = (bytes(queue), &mut self.draws);
        if controller.admits(packet, is_full, backlog, draws, &mut fates) {
            queue.push_back(packet);
            self.turns.arrived(packet.flow);
        }
        fates
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        self.update(now);
        while let Some(flow) = self.turns.flow() {
            let (queue, controller) = &mut self.flows[flow as usize];
            let Some(packet) = queue.pop_front() else {
                self.turns.is_empty(flow);
                continue;
            };
            controller.left(now, packet, bytes(queue));
            self.turns.sent(flow, packet.len());
            return vec![Fate::Sent(packet.number)];
        }
        Vec::new()
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![
            ("new_flows_len", self.turns.new.len() as f64, 0.0),
            ("old_flows_len", self.turns.old.len() as f64, 0.0),
        ]
    }
}

#[test]
fn fq_pie_is_what_linux_does() {
    for (seed, limit_pkts, ecn, bytemode, ecn_prob) in [
        (1, 300, false, false, 10),
        (2, 3000, false, false, 10),
        (3, 3000, true, false, 10),
        (4, 3000, true, true, 40),
        (5, 3000, true, false, 60),
        (6, 3000, true, false, 30),
    ] {
        let config = Config {
            perfect_hash: true,
            limit_pkts,
            quantum_bytes: if bytemode { 300 } else { 1514 },
            ecn,
            ecn_prob,
            bytemode,
            dq_rate_estimator: seed == 6,
            ..Config::default()
        };
        let traffic = Traffic::new(FLOWS, &[Ecn::Ect0, Ecn::NotEct, Ecn::Ce]);
        let mut model = FqPie::new(&config, seed);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(
            counts.get("marked").is_some_and(|&marked| marked > 10),
            ecn,
            "{counts:?}"
        );
    }
}
