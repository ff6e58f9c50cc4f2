//! The token bucket as Linux has it: a packet leaves when both buckets, of the rate and of the peak rate, have
//! as many tokens as it has bytes.

use std::collections::VecDeque;

use dumbbell_net::queue::tbf::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::harness::nanoseconds;
use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

/// Tokens in billionths of a bit, of which a rate in bit/s makes a whole number per ns.
const BYTE: i128 = 8_000_000_000;

struct Bucket {
    rate_bps: i128,
    size: i128,
    tokens: i128,
}

impl Bucket {
    /// A full one.
    fn new(rate_bps: u64, bytes: u64) -> Self {
        Self {
            rate_bps: rate_bps.into(),
            size: i128::from(bytes) * BYTE,
            tokens: i128::from(bytes) * BYTE,
        }
    }
}

struct Tbf {
    limit: i64,
    buckets: Vec<Bucket>,
    filled: i64,
    queue: VecDeque<Waiting>,
}

impl Model for Tbf {
    fn arrives(&mut self, _now: f64, packet: Waiting) -> Vec<Fate> {
        let waiting: i64 = self.queue.iter().map(Waiting::len).sum();
        let bytes = i128::from(packet.len()) * BYTE;
        let is_too_long = self.buckets.iter().any(|bucket| bytes > bucket.size);
        if is_too_long || waiting + packet.len() > self.limit {
            return vec![Fate::Dropped(packet.number)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        let now = nanoseconds(now);
        let Some(&packet) = self.queue.front() else {
            return Vec::new();
        };
        let (bytes, since) = (
            i128::from(packet.len()) * BYTE,
            i128::from(now - self.filled),
        );
        self.filled = now;
        for bucket in &mut self.buckets {
            bucket.tokens = bucket.size.min(bucket.tokens + since * bucket.rate_bps);
        }
        if self.buckets.iter().any(|bucket| bucket.tokens < bytes) {
            return Vec::new();
        }
        for bucket in &mut self.buckets {
            bucket.tokens -= bytes;
        }
        self.queue.pop_front();
        vec![Fate::Sent(packet.number)]
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        Vec::new()
    }
}

#[test]
fn tbf_is_what_linux_does() {
    for (seed, rate_bps, burst_bytes, peakrate_bps) in [
        (1, 8_000_000, 30_000, None),
        (2, 3_333_333, 10_000, Some(7_777_777)),
        (3, 9_500_000, 1_400, None),
    ] {
        let config = Config {
            limit_bytes: 100_000,
            rate_bps,
            burst_bytes,
            peakrate_bps,
            ..Config::default()
        };
        let peak = peakrate_bps.map(|rate_bps| Bucket::new(rate_bps, 1514));
        let mut model = Tbf {
            limit: 100_000,
            buckets: std::iter::once(Bucket::new(rate_bps, burst_bytes))
                .chain(peak)
                .collect(),
            filled: 0,
            queue: VecDeque::new(),
        };
        let traffic = Traffic::new(3, &[Ecn::NotEct, Ecn::Ect0]);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
    }
}
