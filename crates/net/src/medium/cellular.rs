//! A cellular link (LTE, 5G): a rate that fades, in transmission time intervals, with grants and HARQ.

use dumbbell_declare::settings;

use super::{
    Account, Carry, Channel, MediumSettings, MediumSite, Opportunities, Opportunity,
    OpportunitySource, Port,
};
use crate::random::Random;

const MILLIBIT_NS_PER_BYTE: u128 = 8_000_000_000_000;
/// Levels of the rate, in thousandths of the link's: from the cell's edge to its middle. The chain that
/// moves between neighbours stays at each as long, so that the mean is the link's rate.
const LEVELS_MILLI: [u64; 5] = [50, 300, 800, 1_450, 2_400];

settings! {
    /// A cellular link: a rate that fades in steps, sent in short intervals, some of which have to be repeated.
    pub struct Config {
        /// The transmission time interval: 1 ms in LTE (3GPP TS 36.211 §4), 0.5 ms in 5G at 30 kHz.
        tti_ns: u64 = 1_000_000, in 10_000..=1_000_000_000;
        /// How long the rate holds on average before it goes a level up or down; off: it does not fade.
        fade_ns: Option<u64> = Some(500_000_000), in 1_000_000..=3_600_000_000_000;
        /// Probability that an interval has to be repeated: 10 % is what link adaptation aims at.
        error_ppb: u64 = 100_000_000, in 0..=999_999_999;
        /// Time until a repetition: LTE's HARQ round trip is 8 ms (3GPP TS 36.321).
        harq_ns: u64 = 8_000_000, in 0..=1_000_000_000;
        /// Repetitions at most; then higher layers have it right.
        repetitions: u64 = 3, in 0..=16;
        /// How long the first packet after idleness waits for a grant, at least; 0 downlink, 8 ms uplink.
        grant_min_ns: u64 = 0, in 0..=1_000_000_000;
        /// How long it waits for a grant at most; 10 ms uplink.
        grant_max_ns: u64 = 0, in 0..=1_000_000_000;
    }
}

impl MediumSettings for Config {
    type Element = Cellular;

    fn build(&self, site: &MediumSite) -> Cellular {
        let mut random = Random::new(site.seed);
        let level = random.below(LEVELS_MILLI.len() as u64) as usize;
        let ttis = Ttis {
            config: self.clone(),
            link_rate_bps: site.link_rate_bps,
            level,
            level_until_ns: site.start_ns,
            at_ns: 0,
            rest: 0,
            random: Random::new(random.bits()),
        };
        Cellular {
            config: self.clone(),
            opportunities: Opportunities::new(ttis, 0),
            granted_ns: None,
            last_tti: (u64::MAX, 0),
            last_out_ns: 0,
            random,
        }
    }

    fn check_together(&self) -> Result<(), String> {
        if self.grant_max_ns < self.grant_min_ns {
            return Err(format!(
                "`grant_max_ns` is {}, less than `grant_min_ns`, {}",
                self.grant_max_ns, self.grant_min_ns
            ));
        }
        Ok(())
    }

    fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        if self.fade_ns.is_some() {
            link_rate_bps.saturating_mul(3)
        } else {
            link_rate_bps
        }
    }
}

/// A cellular link.
#[derive(Clone, Debug)]
pub struct Cellular {
    config: Config,
    opportunities: Opportunities<Ttis>,
    /// From when on it may send, ns; `None`: it has not asked.
    granted_ns: Option<u64>,
    /// An interval, and how much later what it carried comes out, ns.
    last_tti: (u64, u64),
    /// When the last packet comes out, ns: those behind it wait (RLC, in order).
    last_out_ns: u64,
    random: Random,
}

/// Transmission time intervals and what each carries.
#[derive(Clone, Debug)]
struct Ttis {
    config: Config,
    link_rate_bps: u64,
    level: usize,
    level_until_ns: u64,
    at_ns: u64,
    /// What of a byte is left of earlier intervals, bit·ns/1000.
    rest: u128,
    random: Random,
}

impl Ttis {
    fn rate_millibps(&mut self, now_ns: u64) -> u128 {
        let rate_bps = u128::from(self.link_rate_bps);
        let Some(fade_ns) = self.config.fade_ns else {
            return rate_bps * 1_000;
        };
        while self.level_until_ns <= now_ns {
            self.level_until_ns += self.random.exponential_ns(fade_ns).max(1);
            let is_up = self.random.below(2) == 1;
            // At an end half of the steps go nowhere, so that each level has the same share of time.
            self.level = if is_up {
                (self.level + 1).min(LEVELS_MILLI.len() - 1)
            } else {
                self.level.saturating_sub(1)
            };
        }
        rate_bps * u128::from(LEVELS_MILLI[self.level])
    }
}

impl OpportunitySource for Ttis {
    fn next(&mut self) -> Opportunity {
        let tti_ns = self.config.tti_ns;
        // What an interval carries is there at its end.
        let rate_millibps = self.rate_millibps(self.at_ns);
        self.at_ns += tti_ns;
        self.rest += rate_millibps * u128::from(tti_ns);
        let bytes = (self.rest / MILLIBIT_NS_PER_BYTE) as u64;
        self.rest %= MILLIBIT_NS_PER_BYTE;
        Opportunity {
            at_ns: self.at_ns,
            bytes,
            pkts: u64::MAX,
        }
    }

    /// After a long idle time it does not matter when exactly it faded.
    fn skip(&mut self, now_ns: u64) -> u64 {
        const MANY: u64 = 100_000;
        let ttis = now_ns.saturating_sub(self.at_ns) / self.config.tti_ns;
        let Some(ttis) = ttis.checked_sub(MANY) else {
            return 0;
        };
        self.at_ns += ttis * self.config.tti_ns;
        self.level_until_ns = self.level_until_ns.max(self.at_ns);
        let bits_ns = u128::from(self.link_rate_bps) * u128::from(self.config.tti_ns);
        (bits_ns * u128::from(ttis) * 1_000 / MILLIBIT_NS_PER_BYTE) as u64
    }
}

impl Carry for Cellular {
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        let Some(from_ns) = waiting_ns else {
            self.granted_ns = None;
            return u64::MAX;
        };
        let (min_ns, max_ns) = (self.config.grant_min_ns, self.config.grant_max_ns);
        let random = &mut self.random;
        let granted_ns = *self.granted_ns.get_or_insert_with(|| match max_ns {
            0 => now_ns,
            _ => now_ns + random.between(min_ns, max_ns),
        });
        self.opportunities.next_ns(now_ns, from_ns.max(granted_ns))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        if self.granted_ns.is_none_or(|granted_ns| granted_ns > now_ns) {
            return;
        }
        let Self {
            config,
            opportunities,
            last_tti,
            last_out_ns,
            random,
            ..
        } = self;
        opportunities.happen(now_ns, port, |done_ns| {
            if last_tti.0 != done_ns {
                let repeated =
                    (0..config.repetitions).take_while(|_| random.happens(config.error_ppb));
                *last_tti = (done_ns, repeated.count() as u64 * config.harq_ns);
            }
            *last_out_ns = (done_ns + last_tti.1).max(*last_out_ns);
            *last_out_ns - done_ns
        });
    }

    fn busy_until_ns(&self) -> u64 {
        self.opportunities.busy_until_ns()
    }

    fn account(&mut self, now_ns: u64) -> Option<Account> {
        Some(self.opportunities.account(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn without_fading_it_has_its_rate_a_grant_and_repetitions_in_order() {
        let config = Config {
            fade_ns: None,
            grant_min_ns: 8 * MS,
            grant_max_ns: 10 * MS,
            ..Config::default()
        };
        let mut bench = Bench::of(&config.into(), 12_112_000);
        bench.fill(0, 1, 1514);
        let first_ns = bench.run(u64::MAX)[0];
        let waits = [8, 9, 10, 16, 17, 18, 24, 25, 26, 32, 33, 34];
        assert!(waits.map(|ms| ms * MS).contains(&first_ns), "{first_ns}");
        bench.fill(1_000 * MS, 20_000, 1514);
        let out_ns = bench.run(u64::MAX);
        assert!(out_ns.is_sorted());
        // One packet an interval; those that stand at its end come out together, up to 24 ms late.
        let took_ms = (out_ns[19_999] - 1_000 * MS) / MS;
        assert!((20_000..20_040).contains(&took_ms), "{took_ms}");
        let together = out_ns.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // A repetition, one of ten intervals, holds up seven or eight that follow: of the time outside
        // of repetitions, 10 ms, and the 8 ms of one, the share is below one half.
        assert!((8_000..12_000).contains(&together), "{together}");
    }

    /// A chain of five levels whose steps take 50 ms: over 4000 s the mean is the link's rate within 5 %.
    #[test]
    fn its_mean_rate_is_the_link_s() {
        let config = Config {
            fade_ns: Some(50 * MS),
            ..Config::default()
        };
        let mut bench = Bench::of(&config.into(), 10_000_000);
        // A packet now and then, so that nothing is left out as a long idle time.
        for part in 0..80 {
            bench.fill(part * 50_000 * MS, 1, 1514);
        }
        bench.run(u64::MAX);
        let offered = bench.account(4_000_000 * MS).offered_bytes as f64;
        assert!((offered / 5e9 - 1.0).abs() < 0.05, "{offered}");
    }
}
