//! A 5G millimetre-wave link: in sight, out of sight, blocked.

use dumbbell_declare::settings;

use super::rate_process::{RateProcess, RateSource, Stay};
use super::{Account, Carry, Channel, MediumSettings, MediumSite, Port};
use crate::random::Random;

const CERTAIN_PPB: u128 = 1_000_000_000;

settings! {
    /// A millimetre-wave link: the link's rate in sight of the antenna, little out of sight, nothing while it is blocked.
    pub struct Config {
        /// How long it stays in sight, on average.
        sight_ns: u64 = 5_000_000_000, in 1_000_000..=3_600_000_000_000;
        /// How long it stays out of sight, on average.
        shadow_ns: u64 = 1_000_000_000, in 1_000_000..=3_600_000_000_000;
        /// The rate out of sight, as a share of the link's.
        shadow_share_ppb: u64 = 50_000_000, in 1..=1_000_000_000;
        /// How long it is blocked, on average.
        block_ns: u64 = 200_000_000, in 1_000_000..=60_000_000_000;
        /// Probability that it is blocked, and not out of sight, after it was in sight.
        block_share_ppb: u64 = 500_000_000, in 0..=1_000_000_000;
    }
}

impl MediumSettings for Config {
    type Element = MmWave;

    fn build(&self, site: &MediumSite) -> MmWave {
        let states = States {
            config: self.clone(),
            link_rate_bps: site.link_rate_bps,
            is_in_sight: false,
            random: Random::new(site.seed),
        };
        MmWave(RateProcess::new(states, site.start_ns))
    }
}

/// A millimetre-wave link.
#[derive(Clone, Debug)]
pub struct MmWave(RateProcess<States>);

/// Its states. The first one is in sight.
#[derive(Clone, Debug)]
struct States {
    config: Config,
    link_rate_bps: u64,
    is_in_sight: bool,
    random: Random,
}

impl RateSource for States {
    fn next(&mut self) -> Stay {
        self.is_in_sight = !self.is_in_sight;
        let (rate_bps, mean_ns) = if self.is_in_sight {
            (self.link_rate_bps, self.config.sight_ns)
        } else if self.random.happens(self.config.block_share_ppb) {
            (0, self.config.block_ns)
        } else {
            let rate = u128::from(self.link_rate_bps) * u128::from(self.config.shadow_share_ppb);
            ((rate / CERTAIN_PPB) as u64, self.config.shadow_ns)
        };
        Stay {
            rate_bps,
            for_ns: self.random.exponential_ns(mean_ns).max(1_000),
        }
    }
}

impl Carry for MmWave {
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.map_or(u64::MAX, |from_ns| self.0.next_ns(now_ns, from_ns))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        if let Some(done_ns) = self.0.take(now_ns, port) {
            port.deliver(done_ns, 0);
        }
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

    /// In sight 5 s of 5.6 s on average: half of the other stays are 1 s at a twentieth of the rate, half
    /// 0.2 s of nothing. 20,000 s are 3,600 rounds: the mean is known to 2 %.
    #[test]
    fn its_mean_rate_follows_from_its_stays() {
        let mut bench = Bench::of(&Config::default().into(), 1_000_000_000);
        let rate_bps = bench.account(20_000_000_000_000).offered_bytes as f64 * 8.0 / 20_000.0;
        let expected_bps = 1e9 * (5.0 + 0.5 * 0.05) / (5.0 + 0.5 * 1.0 + 0.5 * 0.2);
        assert!((rate_bps / expected_bps - 1.0).abs() < 0.02, "{rate_bps}");
    }

    #[test]
    fn nothing_passes_while_it_is_blocked_and_everything_afterwards() {
        let config = Config {
            sight_ns: 20_000_000,
            block_share_ppb: 1_000_000_000,
            ..Config::default()
        };
        let mut bench = Bench::of(&config.into(), 1_000_000_000);
        bench.fill(0, 20_000, 1514);
        let done_ns = bench.run(u64::MAX);
        assert_eq!(done_ns.len(), 20_000);
        let gaps = done_ns.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(
            gaps.clone().any(|gap_ns| gap_ns > 10_000_000),
            "it was blocked"
        );
        let on_ns: u64 = gaps.filter(|&gap_ns| gap_ns < 13_000).sum();
        assert!(on_ns <= 20_000 * 12_113, "and has its rate otherwise");
    }
}
