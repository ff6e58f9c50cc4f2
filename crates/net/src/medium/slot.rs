//! Slots, as netem's: packets wait until a slot opens, and a number of bytes or packets passes at once.

use dumbbell_declare::settings;

use super::{
    Account, Carry, Channel, MediumSettings, MediumSite, Opportunities, Opportunity,
    OpportunitySource, Port,
};
use crate::random::Random;

const BIT_NS_PER_BYTE: u128 = 8_000_000_000;

/// The largest IP packet with an Ethernet header.
const LARGEST_PACKET_BYTES: u64 = 65_535 + 14;

settings! {
    /// Packets wait until a slot opens and pass at once, as netem's `slot`: a crude model of any request-and-grant link.
    pub struct Config {
        /// Shortest time from a slot to the next.
        min_ns: u64 = 4_000_000, in 1_000..=60_000_000_000;
        /// Longest time from a slot to the next; off: all are the shortest.
        max_ns: Option<u64> = None, in 1_000..=60_000_000_000;
        /// Bytes that a slot passes; off: what the link's rate gives in the mean time between slots.
        size_bytes: Option<u64> = None, in 1..=1_000_000_000;
        /// Packets that a slot passes at most.
        packets: Option<u64> = None, in 1..=u64::MAX >> 8;
    }
}

impl Config {
    fn longest_ns(&self) -> u64 {
        self.max_ns.unwrap_or(self.min_ns)
    }

    fn mean_ns(&self) -> u64 {
        self.min_ns.midpoint(self.longest_ns())
    }
}

impl MediumSettings for Config {
    type Element = Slot;

    fn build(&self, site: &MediumSite) -> Slot {
        let mean_bit_ns = u128::from(site.link_rate_bps) * u128::from(self.mean_ns());
        let wanted = self
            .size_bytes
            .map(u128::from)
            .map_or(mean_bit_ns, |bytes| bytes * BIT_NS_PER_BYTE);
        let packets = self.packets.unwrap_or(u64::MAX);
        // The packets of a slot cannot use more.
        let most =
            u128::from(packets).saturating_mul(u128::from(LARGEST_PACKET_BYTES) * BIT_NS_PER_BYTE);
        let slots = Slots {
            min_ns: self.min_ns,
            max_ns: self.longest_ns(),
            size: wanted.min(most),
            rest: 0,
            packets,
            at_ns: 0,
            random: Random::new(site.seed),
        };
        Slot(Opportunities::new(slots, 0))
    }

    fn check_together(&self) -> Result<(), String> {
        match self.max_ns {
            Some(max_ns) if max_ns < self.min_ns => Err(format!(
                "`max_ns` is {max_ns}, less than `min_ns`, {}",
                self.min_ns
            )),
            _ => Ok(()),
        }
    }

    fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        let size = self
            .size_bytes
            .map(|bytes| u128::from(bytes) * BIT_NS_PER_BYTE);
        let bps = size.map(|size| size / u128::from(self.min_ns));
        let bps = bps.map_or(u64::MAX, |bps| u64::try_from(bps).unwrap_or(u64::MAX));
        bps.min(link_rate_bps.saturating_mul(self.longest_ns().div_ceil(self.min_ns)))
    }
}

/// A medium in slots.
#[derive(Clone, Debug)]
pub struct Slot(Opportunities<Slots>);

#[derive(Clone, Debug)]
struct Slots {
    min_ns: u64,
    max_ns: u64,
    /// What a slot passes, and what of a byte is left of earlier ones, byte·8·10⁹.
    size: u128,
    rest: u128,
    packets: u64,
    at_ns: u64,
    random: Random,
}

impl OpportunitySource for Slots {
    fn next(&mut self) -> Opportunity {
        self.at_ns += self.random.between(self.min_ns, self.max_ns);
        self.rest += self.size;
        let bytes = (self.rest / BIT_NS_PER_BYTE) as u64;
        self.rest %= BIT_NS_PER_BYTE;
        Opportunity {
            at_ns: self.at_ns,
            bytes,
            pkts: self.packets,
        }
    }

    /// After a long idle time it does not matter when exactly each slot was.
    fn skip(&mut self, now_ns: u64) -> u64 {
        const MANY: u64 = 1_000;
        let mean_ns = self.min_ns.midpoint(self.max_ns);
        let slots = now_ns.saturating_sub(self.at_ns) / mean_ns;
        let Some(slots) = slots.checked_sub(MANY) else {
            return 0;
        };
        self.at_ns += slots * mean_ns;
        ((self.size * u128::from(slots)) / BIT_NS_PER_BYTE) as u64
    }
}

impl Carry for Slot {
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.map_or(u64::MAX, |from_ns| self.0.next_ns(now_ns, from_ns))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        self.0.happen(now_ns, port, |_| 0);
    }

    fn busy_until_ns(&self) -> u64 {
        self.0.busy_until_ns()
    }

    fn account(&mut self, now_ns: u64) -> Option<Account> {
        Some(self.0.account(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    /// 100,000 uniform draws of 1 to 2 ms: their mean has a standard deviation of 0.06 %.
    #[test]
    fn the_long_run_rate_is_a_slot_s_bytes_over_the_mean_time() {
        for (max_ns, tolerance) in [(None, 1e-4), (Some(2_000_000), 2.4e-3)] {
            let config = Config {
                min_ns: 1_000_000,
                max_ns,
                size_bytes: Some(4_542),
                ..Config::default()
            };
            let mut bench = Bench::of(&config.clone().into(), 1_000_000);
            bench.fill(0, 300_000, 1514);
            let last_ns = *bench.run(u64::MAX).last().expect("packets pass");
            let expected_s = 1e5 * config.mean_ns() as f64 / 1e9;
            let off = last_ns as f64 / 1e9 / expected_s - 1.0;
            assert!(off.abs() < tolerance, "{off}");
        }
    }

    #[test]
    fn no_slot_passes_more_than_its_packets_or_bytes() {
        for (packets, size_bytes, most) in [(Some(50), None, 50), (Some(50), Some(30_280), 20)] {
            let config = Config {
                min_ns: 1_000_000,
                packets,
                size_bytes: size_bytes.or(Some(1_000_000_000)),
                ..Config::default()
            };
            let mut bench = Bench::of(&config.into(), 1_000_000);
            bench.fill(0, 1_000, 1514);
            let done_ns = bench.run(u64::MAX);
            let slots: Vec<usize> = done_ns
                .chunk_by(|one, other| one == other)
                .map(<[u64]>::len)
                .collect();
            assert!(slots.iter().all(|&pkts| pkts == most), "{slots:?}");
        }
    }

    #[test]
    fn the_link_s_rate_is_its_long_run_rate() {
        let mut bench = Bench::of(&Config::default().into(), 50_000_000);
        bench.fill(0, 20_000, 1514);
        let last_ns = *bench.run(u64::MAX).last().expect("packets pass");
        let rate_bps = 20_000.0 * 1514.0 * 8.0 / (last_ns as f64 / 1e9);
        assert!((rate_bps / 50e6 - 1.0).abs() < 1e-3, "{rate_bps}");
    }
}
