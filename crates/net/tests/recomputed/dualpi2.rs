//! RFC 9332, appendix A.1, with Linux's weighted round robin, step and classifier, with real numbers.

use std::collections::VecDeque;

use dumbbell_net::queue::dualpi2::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::{Draws, Fate, Model, Traffic, Waiting, compare};

struct DualPi2 {
    limit: usize,
    draws: Draws,
    l4s: VecDeque<Waiting>,
    classic: VecDeque<Waiting>,
    p: f64,
    old_delay: f64,
    credit: f64,
    next_update: Option<f64>,
    /// Updates since the probability was 0 or 1.
    updates: u32,
}

const EMPTY_CREDIT: f64 = 1514.0 * (10.0 - 90.0);

impl DualPi2 {
    fn new(config: &Config, seed: u64) -> Self {
        Self {
            limit: config.limit_pkts as usize,
            draws: Draws::new(seed),
            l4s: VecDeque::new(),
            classic: VecDeque::new(),
            p: 0.0,
            old_delay: 0.0,
            credit: EMPTY_CREDIT,
            next_update: None,
            updates: 0,
        }
    }

    fn bytes(&self) -> f64 {
        let packets = self.l4s.iter().chain(&self.classic);
        packets.map(|packet| packet.bytes).sum()
    }

    fn update(&mut self, now: f64) {
        let mut due = *self.next_update.get_or_insert(now + 0.016);
        while due <= now + 1e-12 {
            let heads = [self.l4s.front(), self.classic.front()];
            let ages = heads.into_iter().flatten().map(|packet| due - packet.since);
            let delay = ages.fold(0.0, f64::max);
            let (alpha, beta) = (41.0 / 256.0, 819.0 / 256.0);
            let step = alpha * (delay - 0.015) + beta * (delay - self.old_delay);
            self.p = (self.p + step).clamp(0.0, 1.0);
            self.updates = if self.p % 1.0 == 0.0 {
                0
            } else {
                self.updates + 1
            };
            self.old_delay = delay;
            due += 0.016;
        }
        self.next_update = Some(due);
    }

    fn chance(&mut self, p: f64) -> bool {
        self.draws.next() < p
    }
}

impl Model for DualPi2 {
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate> {
        self.update(now);
        if self.l4s.len() + self.classic.len() >= self.limit {
            return vec![Fate::Dropped(packet.number)];
        }
        match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.l4s.push_back(packet),
            _ => self.classic.push_back(packet),
        }
        Vec::new()
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        self.update(now);
        let mut fates = Vec::new();
        while self.l4s.len() + self.classic.len() > 0 {
            let both = !self.l4s.is_empty() && !self.classic.is_empty();
            let is_l4s = self.classic.is_empty() || (both && self.credit <= 0.0);
            let lane = if is_l4s {
                &mut self.l4s
            } else {
                &mut self.classic
            };
            let packet = lane.pop_front().expect("it waits");
            let (mut drops, mut marks) = (false, false);
            if self.bytes() >= 2.0 * 1514.0 {
                let overload = 2.0 * self.p > 1.0;
                if is_l4s {
                    let p = self.p;
                    drops = overload && self.chance(p) && self.chance(p);
                    marks = !drops && (overload || self.chance(2.0 * p));
                } else {
                    let p = self.p;
                    let signals = self.chance(p) && self.chance(p);
                    let is_capable = packet.ecn != Ecn::NotEct;
                    drops = signals && (overload || !is_capable);
                    marks = signals && !drops;
                }
            }
            if drops {
                fates.push(Fate::Dropped(packet.number));
                continue;
            }
            marks |= is_l4s && now - packet.since > 0.001 + 1e-12;
            if marks && packet.ecn != Ecn::Ce {
                fates.push(Fate::Marked(packet.number));
            }
            if both {
                self.credit += packet.bytes * if is_l4s { 10.0 } else { -90.0 };
            }
            fates.push(Fate::Sent(packet.number));
            break;
        }
        if self.l4s.len() + self.classic.len() == 0 {
            self.credit = EMPTY_CREDIT;
        }
        fates
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![
            // Ours is cut off to 2⁻³² at each update.
            (
                "prob_ppb",
                self.p * 1e9,
                1.5 + 0.25 * f64::from(self.updates),
            ),
            ("credit_c", self.credit.max(0.0), 0.0),
            ("credit_l", (-self.credit).max(0.0), 0.0),
        ]
    }
}

#[test]
fn dualpi2_is_what_its_rfc_and_linux_say() {
    let all = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ce];
    let mixes: [&[Ecn]; 3] = [&all, &[Ecn::NotEct], &[Ecn::Ect1, Ecn::Ect0]];
    for (seed, codepoints) in (1..).zip(mixes) {
        let config = Config {
            limit_pkts: 300,
            ..Config::default()
        };
        let traffic = Traffic::new(1, codepoints);
        let mut model = DualPi2::new(&config, seed);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
    }
}
