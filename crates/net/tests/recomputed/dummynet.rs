//! dummynet's queue: it looks at what waits before a packet joins, not with it.

use std::collections::VecDeque;

use dumbbell_declare::Amount;
use dumbbell_net::queue::dummynet::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

/// Ethernet's header, which an IP packet does not have.
const HEADER_BYTES: i64 = 14;

struct Pipe {
    limit: Amount,
    queue: VecDeque<Waiting>,
}

impl Model for Pipe {
    fn arrives(&mut self, _now: f64, packet: Waiting) -> Vec<Fate> {
        let is_full = match self.limit {
            Amount::Pkts(slots) => self.queue.len() as u64 >= slots,
            Amount::Bytes(most) | Amount::Ns(most) => {
                let lengths = self.queue.iter().map(|each| each.len() - HEADER_BYTES);
                lengths.sum::<i64>() > most as i64
            }
        };
        if is_full {
            return vec![Fate::Dropped(packet.number)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn leaves(&mut self, _now: f64) -> Vec<Fate> {
        let first = self.queue.pop_front();
        first
            .map(|packet| Fate::Sent(packet.number))
            .into_iter()
            .collect()
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        vec![]
    }
}

#[test]
fn dummynet_is_what_its_description_says() {
    for (seed, limit) in [(1, Amount::Pkts(50)), (2, Amount::Bytes(50_000))] {
        let traffic = Traffic::new(3, &[Ecn::Ect0, Ecn::NotEct]);
        let mut model = Pipe {
            limit,
            queue: VecDeque::new(),
        };
        let counts = compare(
            &QueueConfig::from(Config { limit }),
            seed,
            &traffic,
            &mut model,
        );
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert!(!counts.contains_key("marked"));
    }
}
