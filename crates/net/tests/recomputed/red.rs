//! RED of Floyd and Jacobson 1993 (figure 2), its adaptation of Floyd, Gummadi and Shenker 2001 (figure 1), with
//! what Linux does differently: no gentle slope, no sample after idleness, and a new random number per gap.

use std::collections::VecDeque;

use dumbbell_net::queue::red::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::{Draws, Fate, LINK_RATE_BPS, Model, Traffic, Waiting, compare};

struct Red {
    config: Config,
    min: f64,
    max: f64,
    /// Inverse of the average's weight, 1/W.
    steps: f64,
    max_p: f64,
    /// The average queue in 1/`steps` bytes, whole as Linux's.
    scaled: f64,
    count: Option<f64>,
    draw: f64,
    draws: Draws,
    idle_since: Option<f64>,
    next_adaptation: Option<f64>,
    adaptations: u32,
    queue: VecDeque<Waiting>,
}

impl Red {
    fn new(config: &Config, seed: u64, steps: f64) -> Self {
        let max = config.limit_bytes as f64 / 4.0;
        Self {
            config: config.clone(),
            min: (max / 3.0).floor(),
            max,
            steps,
            max_p: config.probability_ppb as f64 / 1e9,
            scaled: 0.0,
            count: None,
            draw: 0.0,
            draws: Draws::new(seed),
            idle_since: None,
            next_adaptation: None,
            adaptations: 0,
            queue: VecDeque::new(),
        }
    }

    fn backlog(&self) -> f64 {
        self.queue.iter().map(|packet| packet.bytes).sum()
    }

    fn average(&self) -> f64 {
        (self.scaled / self.steps).floor()
    }

    fn scaled_at(&self, now: f64) -> f64 {
        let Some(since) = self.idle_since else {
            return self.scaled;
        };
        let packet = self.config.avpkt_bytes as f64 * 8.0 / LINK_RATE_BPS as f64;
        let left = (1.0 - 1.0 / self.steps).powf(((now - since) / packet + 1e-9).floor());
        (self.scaled * left).floor()
    }

    fn adapt(&mut self, now: f64) {
        if !self.config.adaptive {
            return;
        }
        let mut due = *self.next_adaptation.get_or_insert(now + 0.5);
        while due <= now + 1e-12 {
            let average = (self.scaled_at(due) / self.steps).floor();
            let between = self.max - self.min;
            if average > self.min + 0.6 * between && self.max_p <= 0.5 {
                self.max_p += 0.01_f64.min(self.max_p / 4.0);
            } else if average < self.min + 0.4 * between && self.max_p >= 0.01 {
                self.max_p *= 0.9;
            }
            self.adaptations += 1;
            due += 0.5;
        }
        self.next_adaptation = Some(due);
    }

    /// Whether the packet is to be dropped or marked.
    fn signals(&mut self) -> bool {
        if self.average() < self.min {
            self.count = None;
            return false;
        }
        if self.average() >= self.max {
            self.count = None;
            return true;
        }
        let Some(count) = self.count else {
            self.count = Some(0.0);
            self.draw = self.draws.next();
            return false;
        };
        let p = self.max_p * (self.average() - self.min) / (self.max - self.min);
        self.count = Some(count + 1.0);
        if p * (count + 1.0) < self.draw {
            return false;
        }
        self.count = Some(0.0);
        self.draw = self.draws.next();
        true
    }
}

impl Model for Red {
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate> {
        self.adapt(now);
        if self.idle_since.is_some() {
            self.scaled = self.scaled_at(now);
            self.idle_since = None;
        } else {
            self.scaled += self.backlog() - self.average();
        }
        let mut fates = Vec::new();
        let signals = self.signals();
        let fits = self.backlog() + packet.bytes <= self.config.limit_bytes as f64;
        let marks = self.config.ecn && packet.ecn != Ecn::NotEct;
        if (signals && !marks) || !fits {
            if signals && self.queue.is_empty() {
                self.idle_since = Some(now);
            }
            return vec![Fate::Dropped(packet.number)];
        }
        if signals {
            fates.push(Fate::Marked(packet.number));
        }
        self.queue.push_back(packet);
        fates
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        self.adapt(now);
        let Some(packet) = self.queue.pop_front() else {
            self.idle_since.get_or_insert(now);
            return Vec::new();
        };
        if self.queue.is_empty() {
            self.idle_since = Some(now);
        }
        vec![Fate::Sent(packet.number)]
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        // Ours is cut off to ten times 2⁻³² at each adaptation.
        let tolerance = 2.0 + 2.4 * f64::from(self.adaptations);
        vec![
            ("avg_bytes", self.average(), 0.0),
            ("max_p_ppb", self.max_p * 1e9, tolerance),
        ]
    }
}

#[test]
fn red_is_what_its_papers_and_linux_say() {
    for (seed, ecn, adaptive) in [(1, false, false), (2, true, false), (3, true, true)] {
        let config = Config {
            limit_bytes: 240_000,
            ecn,
            adaptive,
            ..Config::default()
        };
        // `tc`: min 20 kB, max 60 kB, packets of 1000 bytes, so a burst of 33, for which W is 1/16.
        let mut model = Red::new(&config, seed, 16.0);
        let traffic = Traffic::new(1, &[Ecn::Ect0, Ecn::NotEct]);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(counts.contains_key("marked"), ecn);
    }
}
