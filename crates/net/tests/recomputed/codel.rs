//! RFC 8289's pseudo-code (§5.5) with what Linux does differently: times of 1.024 µs, 1/√count by a step of
//! Newton's at a time in 16 bits, at most one mark per departure, and a rate that is remembered for 16 intervals.

use std::collections::VecDeque;

use dumbbell_net::queue::codel::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

/// What decides of the packets of one queue.
pub(crate) struct Controller {
    ecn: bool,
    target: i64,
    interval: i64,
    ce_threshold: Option<i64>,
    first_above_time: i64,
    drop_next: i64,
    pub(crate) count: i64,
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

impl Controller {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            ecn: config.ecn,
            target: config.target_ns as i64 / 1024,
            interval: config.interval_ns as i64 / 1024,
            ce_threshold: config.ce_threshold_ns.map(|ns| ns as i64 / 1024),
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
            inverse: 0,
            sojourn: 0,
        }
    }

    /// `others` are the bytes that wait in other queues.
    fn dodequeue(
        &mut self,
        now: i64,
        queue: &mut VecDeque<Waiting>,
        others: f64,
    ) -> (Option<Waiting>, bool) {
        let Some(packet) = queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        self.sojourn = now - ticks(packet.since);
        let left: f64 = others + queue.iter().map(|packet| packet.bytes).sum::<f64>();
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

    /// A step of Newton's in 64 bits without a sign: after an overflow, which adds to the count, it may start too
    /// far off to come nearer, and what it makes then is what Linux makes of it.
    fn newton(&mut self) {
        let modulus = 1_i128 << 64;
        let x = i128::from(self.inverse) << 16;
        let square = (x * x) >> 32;
        let v = (3 * (1_i128 << 32) - i128::from(self.count) * square).rem_euclid(modulus) >> 2;
        let next = (v * x).rem_euclid(modulus) >> 31;
        self.inverse = ((next >> 16) % 65536) as i64;
    }

    fn control_law(&self, t: i64) -> i64 {
        t + self.interval * self.inverse / 65536
    }

    /// Whether it could be marked; otherwise it is dropped.
    fn signal(&self, packet: &mut Waiting, fates: &mut Vec<Fate>) -> bool {
        let marks = self.ecn && packet.ecn != Ecn::NotEct;
        if marks {
            mark(packet, fates);
        } else {
            fates.push(Fate::Dropped(packet.number));
        }
        marks
    }

    /// The packet that leaves `queue`.
    pub(crate) fn next(
        &mut self,
        now: f64,
        queue: &mut VecDeque<Waiting>,
        others: f64,
        fates: &mut Vec<Fate>,
    ) -> Option<Waiting> {
        let now = ticks(now);
        if queue.is_empty() {
            self.dropping = false;
            return None;
        }
        let (mut packet, mut ok_to_drop) = self.dodequeue(now, queue, others);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                self.newton();
                let head = packet.as_mut().expect("it waited too long");
                if self.signal(head, fates) {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                (packet, ok_to_drop) = self.dodequeue(now, queue, others);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let head = packet.as_mut().expect("it waited too long");
            if !self.signal(head, fates) {
                packet = self.dodequeue(now, queue, others).0;
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
        let sojourn = self.sojourn;
        if let Some(packet) = &mut packet
            && self.ce_threshold.is_some_and(|most| sojourn > most)
            && packet.ecn != Ecn::NotEct
        {
            mark(packet, fates);
        }
        packet
    }
}

fn mark(packet: &mut Waiting, fates: &mut Vec<Fate>) {
    if packet.ecn != Ecn::Ce {
        packet.ecn = Ecn::Ce;
        fates.push(Fate::Marked(packet.number));
    }
}

struct Codel {
    limit: usize,
    queue: VecDeque<Waiting>,
    controller: Controller,
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
        let mut fates = Vec::new();
        let packet = self.controller.next(now, &mut self.queue, 0.0, &mut fates);
        fates.extend(packet.map(|packet| Fate::Sent(packet.number)));
        fates
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        let controller = &self.controller;
        vec![
            ("count", controller.count as f64, 0.0),
            ("lastcount", controller.lastcount as f64, 0.0),
            ("dropping", f64::from(u8::from(controller.dropping)), 0.0),
            ("ldelay_ns", controller.sojourn as f64 * 1024.0, 0.0),
        ]
    }
}

#[test]
fn codel_is_what_its_rfc_and_linux_say() {
    for (seed, ecn, ce_threshold_ns) in [
        (1, false, None),
        (2, true, None),
        (3, true, None),
        (4, true, Some(10_000_000)),
    ] {
        let config = Config {
            ecn,
            ce_threshold_ns,
            limit_pkts: 300,
            ..Config::default()
        };
        let traffic = Traffic::new(1, &[Ecn::Ect0, Ecn::NotEct, Ecn::Ce]);
        let mut model = Codel {
            limit: 300,
            queue: VecDeque::new(),
            controller: Controller::new(&config),
        };
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(counts.contains_key("marked"), ecn);
    }
}
