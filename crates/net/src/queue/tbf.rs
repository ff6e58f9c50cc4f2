//! TBF, a token-bucket shaper with a queue, as Linux's `sch_tbf` has it with a `bfifo` behind it.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use crate::queue::codel::MTU_BYTES;
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::token_bucket::{TokenBucket, nbits};
use crate::{Header, Packet};

settings! {
    /// Token-bucket filter: packets leave at a rate, and bursts of a size above it; the rest waits.
    pub struct Config {
        /// Largest backlog; the packet being transmitted does not count.
        limit_bytes: u64 = 0, in 1..=u64::MAX;
        /// Longest wait for tokens, in place of `limit`, which it makes `rate`·`latency` + `burst`.
        latency_ns: Option<u64> = None, in 1..=MAX_TIME_NS;
        /// Rate at which packets leave in the long run.
        rate_bps: u64 = 0, in 1..=MAX_RATE_BPS;
        /// Bytes that may leave at once after idleness; a larger packet is dropped.
        burst_bytes: u64 = 0, in 1..=1 << 32;
        /// Rate that bursts have; off: that at which they come, up to the link's.
        peakrate_bps: Option<u64> = None, in 1..=MAX_RATE_BPS;
        /// With `peakrate`: bytes that may leave at once in spite of it; a larger packet is dropped.
        mtu_bytes: u64 = MTU_BYTES, in 1..=1 << 32;
    }
}

const MAX_TIME_NS: u64 = 100_000_000_000;
const MAX_RATE_BPS: u64 = 1 << 50;
const NS_PER_S: u64 = 1_000_000_000;

impl Config {
    /// The largest packet that passes.
    fn largest_bytes(&self) -> u64 {
        match self.peakrate_bps {
            Some(_) => self.burst_bytes.min(self.mtu_bytes),
            None => self.burst_bytes,
        }
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: false,
        holds_back: true,
        series: &[],
    };
    type Queue<H> = Tbf<H>;

    fn limit(&self) -> Limit {
        let Some(latency_ns) = self.latency_ns else {
            return Limit::Bytes(self.limit_bytes);
        };
        // As `tc` computes it, of the shorter of the two buckets.
        let of = |rate_bps: u64, burst_bytes: u64| {
            let bytes = u128::from(rate_bps) * u128::from(latency_ns) / u128::from(8 * NS_PER_S);
            bytes as u64 + burst_bytes
        };
        let by_rate = of(self.rate_bps, self.burst_bytes);
        let by_peak = self
            .peakrate_bps
            .map_or(u64::MAX, |peakrate_bps| of(peakrate_bps, self.mtu_bytes));
        Limit::Bytes(by_rate.min(by_peak))
    }

    fn marks(&self) -> bool {
        false
    }

    /// Linux's `tbf_segment`, of what is larger than a bucket.
    fn uncut_bytes(&self) -> Option<u64> {
        Some(self.largest_bytes())
    }

    fn check_together(&self) -> Result<(), String> {
        match self.peakrate_bps {
            Some(peakrate_bps) if peakrate_bps <= self.rate_bps => Err(format!(
                "`peakrate` of `tbf` is {peakrate_bps} bit/s and `rate` {}; use a larger `peakrate`",
                self.rate_bps
            )),
            _ => Ok(()),
        }
    }

    fn check_passes(&self, wire_bytes: u64) -> Result<(), String> {
        let mtu_bytes = self.peakrate_bps.map_or(u64::MAX, |_| self.mtu_bytes);
        for (name, bytes) in [("burst", self.burst_bytes), ("mtu", mtu_bytes)] {
            if bytes < wire_bytes {
                return Err(format!(
                    "`{name}` is {bytes} bytes, so that each packet of {wire_bytes} bytes is dropped; use \
                     `{name}={wire_bytes}B` or more"
                ));
            }
        }
        Ok(())
    }

    fn build<H: Header>(&self, _site: &Site) -> Tbf<H> {
        Tbf::new(self)
    }
}

/// A queue behind a token bucket.
#[derive(Clone, Debug)]
pub struct Tbf<H> {
    limit_bytes: u64,
    largest_bytes: u64,
    bucket: TokenBucket,
    peak: Option<TokenBucket>,
    /// When the tokens were counted, ns.
    counted_ns: u64,
    /// When the first packet has its tokens, ns.
    due_ns: u64,
    /// How many packets had to wait for tokens.
    overlimits: u64,
    packets: VecDeque<Packet<H>>,
    backlog_bytes: u64,
}

impl<H> Tbf<H> {
    /// An empty queue with full buckets.
    pub fn new(config: &Config) -> Self {
        let peak = config
            .peakrate_bps
            .map(|peakrate_bps| TokenBucket::new(peakrate_bps, config.mtu_bytes));
        Self {
            limit_bytes: config.limit().bytes(1),
            largest_bytes: config.largest_bytes(),
            bucket: TokenBucket::new(config.rate_bps, config.burst_bytes),
            peak,
            counted_ns: 0,
            due_ns: 0,
            overlimits: 0,
            packets: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    /// A packet is first: when it has its tokens.
    fn schedule(&mut self, now_ns: u64) {
        let Some(first) = self.packets.front() else {
            return;
        };
        let wire_bytes = u64::from(first.wire_bytes);
        let buckets = [Some(&self.bucket), self.peak.as_ref()];
        let waits_ns = buckets.into_iter().flatten();
        let wait_ns = waits_ns.map(|bucket| bucket.wait_ns(wire_bytes)).max();
        self.due_ns = self.counted_ns + wait_ns.unwrap_or(0);
        self.overlimits += u64::from(self.due_ns > now_ns);
    }
}

impl<H: Header> Queue<H> for Tbf<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        let wire_bytes = u64::from(packet.wire_bytes);
        if wire_bytes > self.largest_bytes || self.backlog_bytes + wire_bytes > self.limit_bytes {
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        packet.arrived_ns = now_ns;
        self.backlog_bytes += wire_bytes;
        self.packets.push_back(packet);
        if self.packets.len() == 1 {
            self.schedule(now_ns);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, _effects: &mut Effects<H>) -> Option<Packet<H>> {
        if self.due_ns > now_ns {
            return None;
        }
        let packet = self.packets.pop_front()?;
        let elapsed_ns = now_ns - self.counted_ns;
        self.counted_ns = now_ns;
        let buckets = [Some(&mut self.bucket), self.peak.as_mut()];
        for bucket in buckets.into_iter().flatten() {
            bucket.fill(elapsed_ns);
            bucket.tokens_nbits -= nbits(u64::from(packet.wire_bytes));
        }
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        self.schedule(now_ns);
        Some(packet)
    }

    #[inline]
    fn has_clock(&self) -> bool {
        true
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        (!self.packets.is_empty()).then_some(self.due_ns)
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.packets.len() as u64
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.packets.iter().for_each(look);
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("overlimits", self.overlimits);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Ecn;

    const MS: u64 = 1_000_000;

    fn packet(wire_bytes: u32) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    fn enqueue(queue: &mut Tbf<()>, now_ns: u64, wire_bytes: u32) -> bool {
        let mut effects = Effects::new();
        queue.enqueue(now_ns, packet(wire_bytes), &mut effects);
        effects.is_empty()
    }

    fn dequeue(queue: &mut Tbf<()>, now_ns: u64) -> Option<u32> {
        let packet = queue.dequeue(now_ns, &mut Effects::new());
        packet.map(|packet| packet.wire_bytes)
    }

    /// When each packet leaves, if it may leave at once.
    fn departures(queue: &mut Tbf<()>, mut now_ns: u64) -> Vec<u64> {
        let mut times = Vec::new();
        while let Some(due_ns) = Queue::<()>::next_event(queue) {
            now_ns = now_ns.max(due_ns);
            assert!(dequeue(queue, now_ns).is_some(), "it said so");
            times.push(now_ns);
        }
        times
    }

    fn config(rate_bps: u64, burst_bytes: u64) -> Config {
        Config {
            limit_bytes: 1_000_000,
            rate_bps,
            burst_bytes,
            ..Config::default()
        }
    }

    /// ns-3's script of its TBF suite: 6000 bytes at 6 kB/s, five packets of 1500 bytes.
    #[test]
    fn four_of_five_packets_go_at_once_and_the_fifth_waits_for_its_tokens() {
        let mut queue = Tbf::new(&config(48_000, 6000));
        for _ in 0..5 {
            assert!(enqueue(&mut queue, 0, 1500));
        }
        for left_bytes in [4500, 3000, 1500, 0] {
            assert_eq!(dequeue(&mut queue, 0), Some(1500));
            assert_eq!(queue.bucket.tokens_nbits, nbits(left_bytes));
        }
        assert_eq!(dequeue(&mut queue, 0), None);
        assert_eq!(Queue::<()>::next_event(&queue), Some(250 * MS));
        assert_eq!(dequeue(&mut queue, 250 * MS - 1), None);
        assert_eq!(dequeue(&mut queue, 250 * MS), Some(1500));
        assert_eq!(queue.overlimits, 1);
    }

    #[test]
    fn buckets_smaller_than_a_packet_are_refused() {
        let config = Config {
            limit_bytes: 100_000,
            rate_bps: 1_000_000,
            burst_bytes: 1514,
            mtu_bytes: 1513,
            ..Config::default()
        };
        assert_eq!(config.check_passes(1514), Ok(()), "there is no peak rate");
        let what = config.check_passes(1515).unwrap_err();
        assert!(what.contains("use `burst=1515B`"), "{what}");
        let with_peak = Config {
            peakrate_bps: Some(2_000_000),
            ..config
        };
        let what = with_peak.check_passes(1514).unwrap_err();
        assert!(what.contains("use `mtu=1514B`"), "{what}");
    }

    #[test]
    fn a_packet_longer_than_the_burst_is_dropped() {
        let mut queue = Tbf::new(&config(1_000_000, 1500));
        assert!(enqueue(&mut queue, 0, 1500));
        assert!(!enqueue(&mut queue, 0, 1501));
        let peaked = Config {
            peakrate_bps: Some(2_000_000),
            mtu_bytes: 1000,
            ..config(1_000_000, 1500)
        };
        assert!(!enqueue(&mut Tbf::new(&peaked), 0, 1001));
    }

    /// At the peak rate until the burst is used up, then at the rate: 10 kB of which 1 kB at once, at 2 and
    /// 1 Mbit/s. With both buckets the n-th packet leaves at the later of (n − 1) · 4 ms and (n − 10) · 8 ms.
    #[test]
    fn a_burst_has_the_peak_rate() {
        let config = Config {
            peakrate_bps: Some(2_000_000),
            mtu_bytes: 1000,
            ..config(1_000_000, 10_000)
        };
        let mut queue = Tbf::new(&config);
        for _ in 0..40 {
            enqueue(&mut queue, 0, 1000);
        }
        let times = departures(&mut queue, 0);
        let expected: Vec<_> = (1..=40_u64)
            .map(|n| (4 * MS * (n - 1)).max(8 * MS * n.saturating_sub(10)))
            .collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn a_latency_makes_a_limit() {
        let limit = |config: &Config| config.limit().bytes(1);
        let by_latency = Config {
            latency_ns: Some(50 * MS),
            ..config(8_000_000, 10_000)
        };
        assert_eq!(limit(&by_latency), 50_000 + 10_000);
        let peaked = Config {
            peakrate_bps: Some(8_800_000),
            mtu_bytes: 2000,
            ..by_latency.clone()
        };
        assert_eq!(limit(&peaked), 55_000 + 2000);
        // What waits longest waits for rate·latency bytes behind the burst.
        let mut queue = Tbf::new(&by_latency);
        while enqueue(&mut queue, 0, 1000) {}
        let times = departures(&mut queue, 0);
        assert_eq!((times.len(), times.last()), (60, Some(&(50 * MS))));
    }

    /// No packet takes whole nanoseconds: over a million nothing is lost to rounding, as long as the bucket
    /// has room for the fraction of one.
    #[test]
    fn the_long_run_rate_is_exact() {
        let rate_bps = 2_999_999;
        let mut queue = Tbf::new(&config(rate_bps, 3000));
        let mut now_ns = 0;
        enqueue(&mut queue, 0, 1500);
        for _ in 0..1_000_000 {
            now_ns = now_ns.max(queue.due_ns);
            dequeue(&mut queue, now_ns);
            enqueue(&mut queue, now_ns, 1500);
        }
        let expected_ns = 999_998 * 1500 * 8 * u128::from(NS_PER_S) / u128::from(rate_bps);
        assert!(u128::from(now_ns).abs_diff(expected_ns) <= 1, "{now_ns}");
    }

    /// After idleness of burst/rate the whole burst goes at the rate at which it comes.
    #[test]
    fn idleness_fills_the_bucket_and_not_more() {
        let mut queue = Tbf::new(&config(8_000_000, 8000));
        let mut burst = |now_ns| {
            for _ in 0..10 {
                enqueue(&mut queue, now_ns, 1000);
            }
            let times = departures(&mut queue, now_ns);
            times.iter().filter(|&&at_ns| at_ns == now_ns).count()
        };
        assert_eq!(burst(0), 8);
        // The last left at 2 ms with nothing in the bucket; 8 ms fill it.
        assert_eq!(burst(10 * MS), 8);
        assert_eq!(burst(5000 * MS), 8);
        assert_eq!(burst(5003 * MS), 1, "of the ms since its last packet");
    }

    #[test]
    fn a_peak_rate_below_the_rate_is_refused() {
        let peaked = |peakrate_bps| Config {
            peakrate_bps: Some(peakrate_bps),
            ..config(1_000_000, 1500)
        };
        assert!(peaked(1_000_000).check_together().is_err());
        assert!(peaked(1_000_001).check_together().is_ok());
    }

    proptest! {
        /// In any window bytes ≤ burst + rate·t, in order, and none waits when it has its tokens.
        #[test]
        fn never_more_than_burst_and_rate_and_never_idle_without_need(
            rate_bps in 100_000_u64..10_000_000_000,
            burst_bytes in 1514_u64..100_000,
            arrivals in prop::collection::vec((0_u64..5 * MS, 40_u32..1515), 1..150),
        ) {
            let mut queue = Tbf::new(&config(rate_bps, burst_bytes));
            let (mut now_ns, mut sent) = (0, Vec::new());
            let mut serve = |queue: &mut Tbf<()>, until_ns: u64| {
                while let Some(due_ns) = Queue::<()>::next_event(queue) {
                    // A link asks when the packet has come, even if its tokens were there before.
                    let at_ns = due_ns.max(queue.packets[0].arrived_ns);
                    if at_ns > until_ns {
                        break;
                    }
                    let packet = queue.dequeue(at_ns, &mut Effects::new()).expect("it is due");
                    sent.push((at_ns, packet));
                }
            };
            for (gap_ns, wire_bytes) in arrivals {
                now_ns += gap_ns;
                serve(&mut queue, now_ns);
                queue.enqueue(now_ns, packet(wire_bytes), &mut Effects::new());
            }
            serve(&mut queue, u64::MAX);
            let (mut free_nbits, mut before_ns) = (nbits(burst_bytes), 0);
            for (at_ns, packet) in &sent {
                let given = i128::from(at_ns - before_ns) * i128::from(rate_bps);
                free_nbits = (free_nbits + given).min(nbits(burst_bytes));
                let needed = nbits(u64::from(packet.wire_bytes));
                prop_assert!(needed <= free_nbits, "too early, at {} ns", at_ns);
                free_nbits -= needed;
                // A nanosecond earlier it had not come, or not had its tokens, which a rate gives in steps.
                let is_first = *at_ns == packet.arrived_ns || *at_ns == before_ns;
                prop_assert!(is_first || free_nbits < i128::from(rate_bps), "too late, at {} ns", at_ns);
                before_ns = *at_ns;
            }
            prop_assert!(sent.windows(2).all(|pair| pair[0].1.arrived_ns <= pair[1].1.arrived_ns));
        }
    }
}
