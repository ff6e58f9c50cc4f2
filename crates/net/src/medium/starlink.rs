//! A low-orbit satellite link like Starlink: another satellite every 15 s.
//!
//! From Huston, "A transport protocol's view of Starlink", APNIC 2024: a satellite is assigned for 15 s;
//! the smallest RTT steps from one to the next, within a slot samples differ by 6.7 ms on average, and
//! packets are lost where slots meet.

use dumbbell_declare::settings;

use super::rate_process::{RateProcess, RateSource, Stay};
use super::{Account, Carry, Channel, MediumSettings, MediumSite, Port};
use crate::random::Random;

/// A lognormal distribution with σ = 0.35 at the middles of sixteen equal shares, in thousandths of
/// its mean: rates of slots.
const SLOT_RATES_MILLI: [u64; 16] = [
    492, 596, 664, 720, 772, 821, 870, 920, 972, 1_027, 1_088, 1_158, 1_240, 1_346, 1_499, 1_815,
];

settings! {
    /// A low-orbit satellite link: every slot has another satellite, with another delay and rate, after a short stop with losses.
    pub struct Config {
        /// How long a satellite is assigned.
        slot_ns: u64 = 15_000_000_000, in 1_000_000..=3_600_000_000_000;
        /// When the first slot ends: they change at the seconds 12, 27, 42 and 57.
        phase_ns: u64 = 12_000_000_000, in 1..=3_600_000_000_000;
        /// Largest delay that a satellite adds to the link's: uniform, drawn for each slot.
        extra_ns: u64 = 35_000_000, in 0..=10_000_000_000;
        /// Largest jitter on top of it, uniform; means of neighbours differ by a third of it. Packets stay in order.
        jitter_ns: u64 = 20_000_000, in 0..=10_000_000_000;
        /// How long a draw of the jitter holds.
        hold_ns: u64 = 20_000_000, in 1_000_000..=10_000_000_000;
        /// Shortest stop where slots meet.
        stop_min_ns: u64 = 20_000_000, in 0..=10_000_000_000;
        /// Longest stop where slots meet.
        stop_max_ns: u64 = 200_000_000, in 0..=10_000_000_000;
        /// Probability that a packet is lost in the first 100 ms of a slot.
        edge_loss_ppb: u64 = 50_000_000, in 0..=999_999_999;
        /// Probability that a packet is lost at other times.
        loss_ppb: u64 = 1_000_000, in 0..=999_999_999;
    }
}

/// How long packets are lost after a stop, ns.
const EDGE_NS: u64 = 100_000_000;
/// How long a rate holds within a slot, ns.
const STEP_NS: u64 = 1_000_000_000;

impl MediumSettings for Config {
    type Element = Starlink;

    fn build(&self, site: &MediumSite) -> Starlink {
        let mut random = Random::new(site.seed);
        let mut slots = Slots {
            config: self.clone(),
            link_rate_bps: site.link_rate_bps,
            slot_milli: 1_000,
            left_ns: self.phase_ns,
            stops_ns: 0,
            random: Random::new(random.bits()),
        };
        slots.draw_rate();
        let rates = RateProcess::new(slots, site.start_ns);
        Starlink {
            config: self.clone(),
            rates,
            start_ns: site.start_ns,
            slot: 0,
            extra_ns: random.between(0, self.extra_ns),
            jitter_until_ns: 0,
            jitter_ns: 0,
            last_out_ns: 0,
            random,
        }
    }

    fn check_together(&self) -> Result<(), String> {
        let stop_max_ns = self.stop_max_ns;
        if stop_max_ns < self.stop_min_ns || stop_max_ns >= self.slot_ns {
            return Err(format!(
                "`stop_max_ns` is {stop_max_ns}; use {} to less than `slot_ns`, {}",
                self.stop_min_ns, self.slot_ns
            ));
        }
        Ok(())
    }

    fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        link_rate_bps.saturating_mul(2)
    }
}

/// A link over changing satellites.
#[derive(Clone, Debug)]
pub struct Starlink {
    config: Config,
    rates: RateProcess<Slots>,
    start_ns: u64,
    /// The present slot, and its delay, ns.
    slot: u64,
    extra_ns: u64,
    jitter_until_ns: u64,
    jitter_ns: u64,
    last_out_ns: u64,
    random: Random,
}

/// Rates: of a slot, a little different each second, and nothing where slots meet.
#[derive(Clone, Debug)]
struct Slots {
    config: Config,
    link_rate_bps: u64,
    slot_milli: u64,
    /// What is left of the slot, and of the stop at its beginning, ns.
    left_ns: u64,
    stops_ns: u64,
    random: Random,
}

impl Slots {
    fn draw_rate(&mut self) {
        let rank = self.random.below(SLOT_RATES_MILLI.len() as u64) as usize;
        self.slot_milli = SLOT_RATES_MILLI[rank];
    }
}

impl RateSource for Slots {
    fn next(&mut self) -> Stay {
        if self.left_ns == 0 {
            self.left_ns = self.config.slot_ns;
            self.draw_rate();
            let (min_ns, max_ns) = (self.config.stop_min_ns, self.config.stop_max_ns);
            self.stops_ns = self.random.between(min_ns, max_ns);
        }
        let (rate_milli, for_ns) = if self.stops_ns > 0 {
            (0, std::mem::take(&mut self.stops_ns))
        } else {
            // ± 10 % from second to second.
            let step_milli = self.random.between(900, 1_100);
            (
                self.slot_milli * step_milli / 1_000,
                STEP_NS.min(self.left_ns),
            )
        };
        self.left_ns -= for_ns;
        let rate = u128::from(self.link_rate_bps) * u128::from(rate_milli);
        Stay {
            rate_bps: (rate / 1_000) as u64,
            for_ns,
        }
    }
}

impl Starlink {
    /// How long ago the present slot began, ns; `None` in the first one. A new slot has a new delay.
    fn since_edge_ns(&mut self, now_ns: u64) -> Option<u64> {
        let run_ns = now_ns.saturating_sub(self.start_ns);
        let behind_ns = run_ns.checked_sub(self.config.phase_ns)?;
        let slot = 1 + behind_ns / self.config.slot_ns;
        while self.slot < slot {
            self.slot += 1;
            self.extra_ns = self.random.between(0, self.config.extra_ns);
        }
        Some(behind_ns % self.config.slot_ns)
    }
}

impl Carry for Starlink {
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.map_or(u64::MAX, |from_ns| self.rates.next_ns(now_ns, from_ns))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        let Some(done_ns) = self.rates.take(now_ns, port) else {
            return;
        };
        let edge_ns = self.config.stop_max_ns + EDGE_NS;
        let is_at_edge = self
            .since_edge_ns(now_ns)
            .is_some_and(|ago_ns| ago_ns < edge_ns);
        if now_ns >= self.jitter_until_ns {
            self.jitter_until_ns = now_ns + self.config.hold_ns;
            self.jitter_ns = self.random.between(0, self.config.jitter_ns);
        }
        let loss_ppb = if is_at_edge {
            self.config.edge_loss_ppb
        } else {
            self.config.loss_ppb
        };
        if self.random.happens(loss_ppb) {
            return port.lose(done_ns);
        }
        self.last_out_ns = (done_ns + self.extra_ns + self.jitter_ns).max(self.last_out_ns);
        port.deliver(done_ns, self.last_out_ns - done_ns);
    }

    fn busy_until_ns(&self) -> u64 {
        self.rates.busy_until_ns()
    }

    fn account(&mut self, now_ns: u64) -> Option<Account> {
        Some(self.rates.account(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn slots_have_their_own_delay_and_begin_with_a_stop() {
        let config = Config {
            jitter_ns: 0,
            edge_loss_ppb: 0,
            loss_ppb: 0,
            ..Config::default()
        };
        let mut bench = Bench::of(&config.into(), 100 * 1_000_000);
        for ms in 0..60_000 {
            bench.fill(ms * 1_000_000, 1, 1514);
        }
        let out_ns = bench.run(u64::MAX).into_iter();
        let delays_ms: Vec<u64> = (0..)
            .zip(out_ns)
            .map(|(ms, out_ns)| out_ns / 1_000_000 - ms)
            .collect();
        assert_eq!(delays_ms.len(), 60_000);
        // The least of each slot, away from its edges; uniform to 35 ms.
        let least = |from_s: usize| delays_ms[from_s * 1_000..(from_s + 9) * 1_000].iter().min();
        let slots = [least(1), least(13), least(28), least(43)];
        assert!(
            slots.iter().all(|least| least.is_some_and(|&ms| ms <= 35)),
            "{slots:?}"
        );
        let mut distinct = slots.to_vec();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() >= 3, "{slots:?}");
        // What comes first in a slot waits for the stop, at least 20 ms more than what comes later.
        for edge_s in [12, 27, 42, 57] {
            let slot = &delays_ms[edge_s * 1_000..edge_s * 1_000 + 2_000];
            let least = slot.iter().min().expect("it has packets");
            let waits = slot[0] - least;
            assert!((19..=201).contains(&waits), "{waits}");
        }
    }

    /// 16 equal shares of rates of mean 1 within 0.3, 1,000 slots: 1 % for the mean, and a stop of 110 ms.
    #[test]
    fn its_mean_rate_is_the_link_s_but_for_the_stops() {
        let mut bench = Bench::of(&Config::default().into(), 150_000_000);
        let offered = bench.account(15_000 * S).offered_bytes as f64;
        let expected = 150e6 / 8.0 * 15_000.0 * (1.0 - 0.11 / 15.0);
        assert!(
            (offered / expected - 1.0).abs() < 0.03,
            "{}",
            offered / expected
        );
    }
}
