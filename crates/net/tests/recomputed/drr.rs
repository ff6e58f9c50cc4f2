//! Deficit round robin (Shreedhar and Varghese 1995, figure 2) as Linux has it: a class that has to wait gets its
//! quantum when it goes to the end.

use std::collections::VecDeque;

use dumbbell_net::queue::drr::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

struct Drr {
    limit: usize,
    classes: Vec<Class>,
    active: VecDeque<usize>,
}

struct Class {
    quantum: i64,
    deficit: i64,
    queue: VecDeque<Waiting>,
}

impl Model for Drr {
    fn arrives(&mut self, _now: f64, packet: Waiting) -> Vec<Fate> {
        let number = packet.flow as usize % self.classes.len();
        let class = &mut self.classes[number];
        if class.queue.len() >= self.limit {
            return vec![Fate::Dropped(packet.number)];
        }
        if class.queue.is_empty() {
            class.deficit = class.quantum;
            self.active.push_back(number);
        }
        class.queue.push_back(packet);
        Vec::new()
    }

    fn leaves(&mut self, _now: f64) -> Vec<Fate> {
        while let Some(&number) = self.active.front() {
            let class = &mut self.classes[number];
            let bytes = class.queue[0].len();
            if bytes > class.deficit {
                class.deficit += class.quantum;
                self.active.rotate_left(1);
                continue;
            }
            class.deficit -= bytes;
            let packet = class.queue.pop_front();
            if class.queue.is_empty() {
                self.active.pop_front();
            }
            return packet
                .map(|packet| Fate::Sent(packet.number))
                .into_iter()
                .collect();
        }
        Vec::new()
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![("active_classes", self.active.len() as f64, 0.0)]
    }
}

#[test]
fn drr_is_what_its_paper_and_linux_say() {
    for (seed, flows, quanta) in [
        (1, 12, vec![1514]),
        (2, 12, vec![500, 1514, 4000]),
        (3, 30, vec![100, 1514]),
    ] {
        let config = Config {
            limit_pkts: 40,
            classes: 12,
            quantum_bytes: quanta.clone(),
            ..Config::default()
        };
        let class = |number: usize| Class {
            quantum: quanta[number % quanta.len()] as i64,
            deficit: 0,
            queue: VecDeque::new(),
        };
        let mut model = Drr {
            limit: 40,
            classes: (0..12).map(class).collect(),
            active: VecDeque::new(),
        };
        let traffic = Traffic::new(flows, &[Ecn::NotEct, Ecn::Ect0]);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
    }
}
