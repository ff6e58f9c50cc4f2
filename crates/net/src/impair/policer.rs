//! A token-bucket policer, as Linux's `act_police`: drops what comes faster than a rate.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings};
use crate::{Header, Packet};

settings! {
    /// A token bucket without a queue: what comes faster than a rate is dropped.
    pub struct Config {
        /// Rate at which packets pass.
        rate_bps: u64 = 0, in 1..=u64::MAX;
        /// Bytes that may pass at once after idleness.
        burst_bytes: u64 = 0, in 1..=u64::MAX;
    }
}

impl ImpairmentSettings for Config {
    type Element = Policer;

    fn build(&self, _seed: u64, _start_ns: u64) -> Policer {
        Policer::new(self.rate_bps, self.burst_bytes)
    }
}

impl Impair for Policer {
    #[inline]
    fn fate<H: Header>(&mut self, now_ns: u64, packet: &mut Packet<H>) -> Fate {
        if self.conforms(now_ns, packet.wire_bytes) {
            Fate::Passes
        } else {
            Fate::Lost
        }
    }
}

const NS_PER_S: u64 = 1_000_000_000;

/// Lets packets pass at a rate, and bursts of a size above it. It has no queue: what finds too few
/// tokens is dropped, and takes none.
#[derive(Clone, Debug)]
pub struct Policer {
    rate_bps: u64,
    /// Tokens that fit in the bucket, and those in it, in bits/10⁹: exact at every rate.
    burst_nbits: u128,
    tokens_nbits: u128,
    /// When the tokens were counted, ns.
    counted_ns: u64,
}

impl Policer {
    /// A policer of `rate_bps` bit/s on the wire whose bucket holds `burst_bytes`, and is full.
    pub fn new(rate_bps: u64, burst_bytes: u64) -> Self {
        let burst_nbits = u128::from(burst_bytes) * 8 * u128::from(NS_PER_S);
        Self {
            rate_bps,
            burst_nbits,
            tokens_nbits: burst_nbits,
            counted_ns: 0,
        }
    }

    /// Whether a packet of `wire_bytes` that arrives at `now_ns` may pass; its tokens are then gone.
    pub fn conforms(&mut self, now_ns: u64, wire_bytes: u32) -> bool {
        let elapsed_ns = u128::from(now_ns - self.counted_ns);
        self.counted_ns = now_ns;
        let new_nbits = elapsed_ns * u128::from(self.rate_bps);
        self.tokens_nbits = (self.tokens_nbits + new_nbits).min(self.burst_nbits);
        let nbits = u128::from(wire_bytes) * 8 * u128::from(NS_PER_S);
        let conforms = nbits <= self.tokens_nbits;
        if conforms {
            self.tokens_nbits -= nbits;
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PACKET_BYTES: u32 = 1250;

    /// When a constant bit rate sends packet `number`, ns.
    fn cbr_ns(number: u64, rate_bps: u64) -> u64 {
        number * u64::from(PACKET_BYTES) * 8 * NS_PER_S / rate_bps
    }

    /// For each packet of a constant bit rate whether it passes.
    fn passes(policer: &mut Policer, rate_bps: u64, packets: u64) -> Vec<bool> {
        (0..packets)
            .map(|number| policer.conforms(cbr_ns(number, rate_bps), PACKET_BYTES))
            .collect()
    }

    /// The bucket empties at R − r. A packet takes its tokens as it arrives, so of B the last packet's
    /// must still be there: 123.75 kB and 2 Mbit/s too much are 0.495 s. From then on the loss is 1 − r/R.
    #[test]
    fn a_constant_rate_passes_until_the_burst_is_used_up_and_loses_the_excess_from_then_on() {
        let (rate_bps, sent_bps) = (8_000_000, 10_000_000);
        let mut policer = Policer::new(rate_bps, 125_000);
        let passed = passes(&mut policer, sent_bps, 100_000);
        let first_lost = passed.iter().position(|passes| !passes);
        let lost_ns = cbr_ns(first_lost.expect("more than the rate") as u64, sent_bps);
        let packet_ns = cbr_ns(1, sent_bps);
        assert_eq!(lost_ns, 495_000_000 + packet_ns, "the first after that");
        let after = &passed[first_lost.expect("it is there")..];
        let lost = after.iter().filter(|passes| !**passes).count();
        let expected = after.len() as f64 * (1.0 - rate_bps as f64 / sent_bps as f64);
        assert!((lost as f64 - expected).abs() <= 1.0, "{lost}, {expected}");
    }

    #[test]
    fn what_is_not_faster_loses_nothing_ever() {
        for rate_bps in [8_000_000, 7_999_999, 1_000_000] {
            let mut policer = Policer::new(8_000_000, u64::from(PACKET_BYTES));
            let passed = passes(&mut policer, rate_bps, 100_000);
            assert!(passed.into_iter().all(|passes| passes));
        }
    }

    /// What passes sums to r, with any flows.
    #[test]
    fn several_flows_get_the_rate_together() {
        let mut policer = Policer::new(5_000_000, 10_000);
        // 1, 2, 3 and 4 Mbit/s, merged: 10 Mbit/s for 20 s.
        let mut arrivals: Vec<u64> = (1..=4_u64)
            .flat_map(|mbps| (0..2_000 * mbps).map(move |number| cbr_ns(number, mbps * 1_000_000)))
            .collect();
        arrivals.sort_unstable();
        let passed = arrivals
            .iter()
            .filter(|&&at_ns| policer.conforms(at_ns, PACKET_BYTES))
            .count();
        let bytes = passed as f64 * f64::from(PACKET_BYTES);
        let expected = 10_000.0 + 5e6 / 8.0 * 20.0;
        assert!(
            (bytes - expected).abs() <= 2.0 * f64::from(PACKET_BYTES),
            "{bytes}, {expected}"
        );
    }

    #[test]
    fn a_burst_passes_whole_after_idleness() {
        let burst_bytes = 8 * u64::from(PACKET_BYTES);
        let mut policer = Policer::new(1_000_000, burst_bytes);
        let mut burst = |now_ns| -> Vec<bool> {
            (0..10)
                .map(|_| policer.conforms(now_ns, PACKET_BYTES))
                .collect()
        };
        let eight_of_ten: Vec<bool> = (0..10).map(|number| number < 8).collect();
        assert_eq!(burst(0), eight_of_ten, "it starts full");
        // 80 kbit at 1 Mbit/s.
        assert_eq!(burst(80_000_000), eight_of_ten);
        assert_eq!(burst(1_000_000_000), eight_of_ten, "and no more");
    }

    proptest! {
        /// In any interval no more passes than the burst and what the rate gives.
        #[test]
        fn never_more_than_burst_and_rate(
            rate_bps in 1_u64..10_000_000_000,
            burst_bytes in 0_u64..1_000_000,
            arrivals in prop::collection::vec((0_u64..50_000_000, 40_u32..9000), 1..200),
        ) {
            let mut policer = Policer::new(rate_bps, burst_bytes);
            let mut now_ns = 0;
            let mut passed = Vec::new();
            for (gap_ns, wire_bytes) in arrivals {
                now_ns += gap_ns;
                if policer.conforms(now_ns, wire_bytes) {
                    passed.push((now_ns, u128::from(wire_bytes)));
                }
            }
            for (first, &(from_ns, _)) in passed.iter().enumerate() {
                let mut bytes = 0;
                for &(to_ns, wire_bytes) in &passed[first..] {
                    bytes += wire_bytes;
                    let given = u128::from(to_ns - from_ns) * u128::from(rate_bps);
                    let most = (u128::from(burst_bytes) * 8_000_000_000 + given) / 8_000_000_000;
                    prop_assert!(bytes <= most, "{} of {} bytes", bytes, most);
                }
            }
        }
    }
}
