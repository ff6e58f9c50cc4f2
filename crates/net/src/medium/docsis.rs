//! A cable upstream (DOCSIS): what waits is requested, and granted some maps later.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use super::{Carry, Channel, MediumSettings, MediumSite, Port, Transmitter};
use crate::random::Random;

const NANOBITS_PER_BYTE: u128 = 8_000_000_000;
const MIN_BURST_BYTES: u64 = 20 * 1522;

settings! {
    /// A cable upstream (DOCSIS): what waits is requested at a map and granted some maps later, under a token bucket.
    pub struct Config {
        /// Time from a map, which has the grants, to the next (RFC 8034 §3: 2 ms is typical).
        map_ns: u64 = 2_000_000, in 100_000..=1_000_000_000;
        /// Maps from a request to its grant at least.
        wait_min: u64 = 2, in 1..=1_000;
        /// Maps from a request to its grant at most.
        wait_max: u64 = 3, in 1..=1_000;
        /// Rate within a grant; off: four times the link's.
        peak_bps: Option<u64> = None, in 1..=u64::MAX;
        /// Bytes that may be granted at once above the link's rate; off: 10 ms of it, or 20 packets.
        burst_bytes: Option<u64> = None, in 1_522..=u64::MAX >> 8;
    }
}

impl MediumSettings for Config {
    type Element = Docsis;

    fn build(&self, site: &MediumSite) -> Docsis {
        let peak_bps = self.peak_bps(site.link_rate_bps);
        let burst = u128::from(self.saved_up_bytes(site.link_rate_bps)) * NANOBITS_PER_BYTE;
        Docsis {
            config: self.clone(),
            link_rate_bps: site.link_rate_bps,
            transmitter: Transmitter::new(peak_bps, VecDeque::new()),
            next_map_ns: 0,
            grants: VecDeque::new(),
            requested_bytes: 0,
            granted_bytes: 0,
            burst,
            tokens: burst,
            counted_ns: 0,
            random: Random::new(site.seed),
        }
    }

    fn check_together(&self) -> Result<(), String> {
        if self.wait_max < self.wait_min {
            return Err(format!(
                "`wait_max` is {}, less than `wait_min`, {}",
                self.wait_max, self.wait_min
            ));
        }
        Ok(())
    }

    fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        self.peak_bps.unwrap_or(link_rate_bps.saturating_mul(4))
    }

    /// The token bucket, which is full at the start.
    fn saved_up_bytes(&self, link_rate_bps: u64) -> u64 {
        self.burst_bytes
            .unwrap_or(MIN_BURST_BYTES.max(link_rate_bps / 800))
    }
}

/// What was requested, and when it is granted.
#[derive(Clone, Copy, Debug)]
struct Grant {
    at_ns: u64,
    bytes: u64,
}

/// A cable modem.
#[derive(Clone, Debug)]
pub struct Docsis {
    config: Config,
    link_rate_bps: u64,
    transmitter: Transmitter,
    next_map_ns: u64,
    /// In order of time.
    grants: VecDeque<Grant>,
    requested_bytes: u64,
    /// What may be sent; below 0 what a packet took of the next grant: they are cut as they are granted.
    granted_bytes: i64,
    /// What the token bucket holds at most, and now, bits·10⁹.
    burst: u128,
    tokens: u128,
    counted_ns: u64,
    random: Random,
}

impl Docsis {
    /// The map at `now_ns`: requests are granted, and what waits is requested.
    fn map(&mut self, now_ns: u64, port: &dyn Port) {
        self.next_map_ns = now_ns + self.config.map_ns;
        let new = u128::from(now_ns - self.counted_ns) * u128::from(self.link_rate_bps);
        self.tokens = (self.tokens + new).min(self.burst);
        self.counted_ns = now_ns;
        while let Some(&grant) = self.grants.front()
            && grant.at_ns <= now_ns
        {
            self.grants.pop_front();
            self.requested_bytes -= grant.bytes;
            let bytes = (self.tokens / NANOBITS_PER_BYTE).min(u128::from(grant.bytes)) as u64;
            self.tokens -= u128::from(bytes) * NANOBITS_PER_BYTE;
            self.granted_bytes = self.granted_bytes.saturating_add_unsigned(bytes);
        }
        let wanted_bytes = port
            .backlog_bytes()
            .saturating_add_signed(-self.granted_bytes);
        let bytes = wanted_bytes.saturating_sub(self.requested_bytes);
        if bytes > 0 {
            let maps = self
                .random
                .between(self.config.wait_min, self.config.wait_max);
            let last_ns = self.grants.back().map_or(0, |grant| grant.at_ns);
            let at_ns = (now_ns + maps * self.config.map_ns).max(last_ns);
            self.grants.push_back(Grant { at_ns, bytes });
            self.requested_bytes += bytes;
        }
    }
}

impl Carry for Docsis {
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        let idle = waiting_ns.is_none() && self.grants.is_empty();
        if idle {
            return u64::MAX;
        }
        if self.next_map_ns < now_ns {
            // No map since it was idle mattered.
            let maps = (now_ns - self.next_map_ns).div_ceil(self.config.map_ns);
            self.next_map_ns += maps * self.config.map_ns;
        }
        match waiting_ns {
            Some(from_ns) if self.granted_bytes > 0 => {
                let free_ns = from_ns.max(self.transmitter.busy_until_ns());
                free_ns.min(self.next_map_ns)
            }
            _ => self.next_map_ns,
        }
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        if self.next_map_ns <= now_ns {
            self.map(now_ns, port);
        }
        if self.granted_bytes > 0 && self.transmitter.busy_until_ns() <= now_ns {
            match port.take() {
                Some(wire_bytes) => {
                    self.granted_bytes -= i64::from(wire_bytes);
                    port.deliver(self.transmitter.transmit(now_ns, wire_bytes), 0);
                }
                // An unused grant is gone.
                None => self.granted_bytes = 0,
            }
        }
    }

    fn busy_until_ns(&self) -> u64 {
        self.transmitter.busy_until_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    const MS: u64 = 1_000_000;

    /// A request at the first map, a grant two or three maps later, and 1514 bytes at 40 Mbit/s.
    #[test]
    fn a_packet_alone_waits_for_a_map_and_its_grant() {
        let mut bench = Bench::of(&Config::default().into(), 10_000_000);
        for number in 0..100 {
            let came_ns = number * 50 * MS + 500_000;
            bench.fill(came_ns, 1, 1514);
            let waits_ns = bench.run(u64::MAX)[0] - came_ns - 302_800;
            assert!(
                waits_ns == 1_500_000 + 4 * MS || waits_ns == 1_500_000 + 6 * MS,
                "{waits_ns}"
            );
        }
    }

    #[test]
    fn in_the_long_run_it_carries_its_rate_in_bursts() {
        let mut bench = Bench::of(&Config::default().into(), 10_000_000);
        bench.fill(0, 20_000, 1514);
        let done_ns = bench.run(u64::MAX);
        let bits = 20_000.0 * 1514.0 * 8.0;
        let rate_bps = bits / (done_ns[19_999] as f64 / 1e9);
        assert!((rate_bps / 1e7 - 1.0).abs() < 0.005, "{rate_bps}");
        let close = done_ns
            .windows(2)
            .filter(|pair| pair[1] - pair[0] == 302_800)
            .count();
        assert!(
            close > 5_000,
            "packets of a grant follow at the peak rate: {close}"
        );
    }
}
