//! Drop-tail that marks above a threshold: DCTCP's switch (RFC 8257 §3.1), and the same by time.

use std::collections::VecDeque;

use dumbbell_declare::Amount;
use dumbbell_net::queue::step::Config;
use dumbbell_net::{Ecn, Limit, QueueConfig};

use crate::recomputed::harness::nanoseconds;
use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

struct Step {
    config: Config,
    queue: VecDeque<Waiting>,
}

impl Step {
    /// Whether the queue would exceed `most` with one more packet of `bytes`.
    fn exceeds(&self, most: Amount, bytes: i64) -> bool {
        let waiting: i64 = self.queue.iter().map(Waiting::len).sum();
        match most {
            Amount::Bytes(most) => waiting + bytes > most as i64,
            Amount::Pkts(most) => self.queue.len() + 1 > most as usize,
            Amount::Ns(_) => false,
        }
    }
}

fn mark(packet: &mut Waiting, fates: &mut Vec<Fate>) {
    if matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1) {
        packet.ecn = Ecn::Ce;
        fates.push(Fate::Marked(packet.number));
    }
}

impl Model for Step {
    fn arrives(&mut self, _now: f64, mut packet: Waiting) -> Vec<Fate> {
        if self.exceeds(self.config.limit, packet.len()) {
            return vec![Fate::Dropped(packet.number)];
        }
        let mut fates = Vec::new();
        if self.exceeds(self.config.threshold, packet.len()) {
            mark(&mut packet, &mut fates);
        }
        self.queue.push_back(packet);
        fates
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        let Some(mut packet) = self.queue.pop_front() else {
            return Vec::new();
        };
        let mut fates = Vec::new();
        if let Amount::Ns(most) = self.config.threshold
            && nanoseconds(now) - packet.since_ns() > most as i64
        {
            mark(&mut packet, &mut fates);
        }
        fates.push(Fate::Sent(packet.number));
        fates
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![]
    }
}

/// The same without a threshold.
#[test]
fn drop_tail_is_what_its_limit_says() {
    for (seed, limit, amount) in [
        (1, Limit::Packets(50), Amount::Pkts(50)),
        (2, Limit::Bytes(50_000), Amount::Bytes(50_000)),
    ] {
        let traffic = Traffic::new(3, &[Ecn::Ect0, Ecn::NotEct]);
        let mut model = Step {
            config: Config {
                limit: amount,
                threshold: Amount::Ns(1 << 60),
            },
            queue: VecDeque::new(),
        };
        let counts = compare(&QueueConfig::drop_tail(limit), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert!(!counts.contains_key("marked"));
    }
}

#[test]
fn step_is_what_its_description_says() {
    for (seed, limit, threshold) in [
        (1, Amount::Pkts(300), Amount::Pkts(20)),
        (2, Amount::Bytes(200_000), Amount::Bytes(20_000)),
        (3, Amount::Pkts(300), Amount::Ns(1_000_000)),
        (4, Amount::Bytes(100_000), Amount::Pkts(65)),
    ] {
        let config = Config { limit, threshold };
        let traffic = Traffic::new(3, &[Ecn::Ect0, Ecn::NotEct, Ecn::Ce, Ecn::Ect1]);
        let mut model = Step {
            config: config.clone(),
            queue: VecDeque::new(),
        };
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert!(counts["marked"] > 200, "{counts:?}");
    }
}
