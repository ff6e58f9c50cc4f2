//! RFC 8289's pseudo-code (§5.5) with what Linux does differently: times of 1.024 µs, 1/√count by a step of
//! Newton's at a time in 16 bits, at most one mark per departure, and a rate that is remembered for 16 intervals.

use std::collections::VecDeque;

use dumbbell_net::queue::codel::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::{Fate, Model, Waiting, compare};

struct Codel {
    ecn: bool,
    limit: usize,
    target: i64,
    interval: i64,
    queue: VecDeque<Waiting>,
    first_above_time: i64,
    drop_next: i64,
    count: i64,
    lastcount: i64,
    dropping: bool,
    /// 1/√count in 1/65536.
    inverse: i64,
    sojourn: i64,
}

fn ticks(seconds: f64) -> i64 {
    // From whole ns.
    (seconds * 1e9).round() as i64 / 1024
}

impl Codel {
    fn new(config: &Config) -> Self {
        Self {
            ecn: config.ecn,
            limit: config.limit_pkts as usize,
            target: config.target_ns as i64 / 1024,
            interval: config.interval_ns as i64 / 1024,
            queue: VecDeque::new(),
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
            inverse: 0,
            sojourn: 0,
        }
    }

    fn dodequeue(&mut self, now: i64) -> (Option<Waiting>, bool) {
        let Some(packet) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        self.sojourn = now - ticks(packet.since);
        let left: f64 = self.queue.iter().map(|packet| packet.bytes).sum();
        let mut ok_to_drop = false;
        if self.sojourn < self.target || left <= 1514.0 {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else {
            ok_to_drop = now > self.first_above_time;
        }
        (Some(packet), ok_to_drop)
    }

    fn newton(&mut self) {
        let x = self.inverse as f64 / 65536.0;
        let exact = x * (3.0 - self.count as f64 * x * x) / 2.0;
        self.inverse = (exact * 65536.0).floor() as i64;
    }

    fn control_law(&self, t: i64) -> i64 {
        t + self.interval * self.inverse / 65536
    }

    /// Whether it could be marked; otherwise it is dropped.
    fn signal(&self, packet: Waiting, fates: &mut Vec<Fate>) -> bool {
        let marks = self.ecn && packet.ecn != Ecn::NotEct;
        if !marks {
            fates.push(Fate::Dropped(packet.number));
        } else if packet.ecn != Ecn::Ce {
            fates.push(Fate::Marked(packet.number));
        }
        marks
    }
}

impl Model for Codel {
    fn arrives(&mut self, _now: f64, packet: Waiting) -> Vec<Fate> {
        if self.queue.len() >= self.limit {
            return vec![Fate::Dropped(packet.number)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        let now = ticks(now);
        let mut fates = Vec::new();
        if self.queue.is_empty() {
            self.dropping = false;
            return fates;
        }
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                self.newton();
                let head = packet.expect("it waited too long");
                if self.signal(head, &mut fates) {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                (packet, ok_to_drop) = self.dodequeue(now);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let head = packet.expect("it waited too long");
            if !self.signal(head, &mut fates) {
                packet = self.dodequeue(now).0;
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            if delta > 1 && now - self.drop_next < 16 * self.interval {
                self.count = delta;
                self.newton();
            } else {
                self.count = 1;
                self.inverse = 65535;
            }
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
        }
        fates.extend(packet.map(|packet| Fate::Sent(packet.number)));
        fates
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![
            ("count", self.count as f64, 0.0),
            ("lastcount", self.lastcount as f64, 0.0),
            ("dropping", f64::from(u8::from(self.dropping)), 0.0),
            ("ldelay_ns", self.sojourn as f64 * 1024.0, 0.0),
        ]
    }
}

#[test]
fn codel_is_what_its_rfc_and_linux_say() {
    for (seed, ecn) in [(1, false), (2, true), (3, true)] {
        let config = Config {
            ecn,
            limit_pkts: 300,
            ..Config::default()
        };
        let codepoints = [Ecn::Ect0, Ecn::NotEct, Ecn::Ce];
        let mut model = Codel::new(&config);
        let counts = compare(&QueueConfig::from(config), seed, &codepoints, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(counts.contains_key("marked"), ecn);
    }
}
