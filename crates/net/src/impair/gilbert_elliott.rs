//! Gilbert–Elliott loss: a good and a bad state, each with a loss probability of its own. They change with packets, as in
//! netem, or with time, as fading does: then a burst ends although nothing is sent.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::{CERTAIN_PPB, Random};
use crate::{Header, Packet};

settings! {
    /// Losses in bursts: a good state and a bad one, between which each packet may switch (netem's `loss gemodel`; by `loss` and `burst`, or by `p` and `r`), or time (by `loss` and `bad`, or by `good` and `bad`).
    pub struct Config {
        /// Share of the packets that is lost, where all are lost in the bad state and none in the good one.
        loss_ppb: Option<u64> = None, in 1..=999_999_999;
        /// Mean number of packets that are lost one after the other.
        burst_milli: Option<u64> = None, in 1_000..=1_000_000_000;
        /// Probability of the change from good to bad, per packet.
        p_ppb: Option<u64> = None, in 1..=CERTAIN_PPB;
        /// Probability of the change from bad to good; off: what `p` leaves of 100 %, with which losses are independent (netem's default).
        r_ppb: Option<u64> = None, in 1..=CERTAIN_PPB;
        /// Mean time in the bad state, drawn from an exponential distribution.
        bad_ns: Option<u64> = None, in 1_000..=86_400_000_000_000;
        /// Mean time in the good state; off: what `loss` leaves.
        good_ns: Option<u64> = None, in 1_000..=86_400_000_000_000;
        /// Probability of a loss in the bad state (netem's `1-h`).
        loss_bad_ppb: u64 = CERTAIN_PPB, in 0..=CERTAIN_PPB;
        /// Probability of a loss in the good state (netem's `1-k`).
        loss_good_ppb: u64 = 0, in 0..=CERTAIN_PPB;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl Config {
    /// When the states change.
    fn changes(&self) -> Result<Changes, String> {
        let Some(bad_ns) = self.bad_ns else {
            if self.good_ns.is_some() {
                return Err("`good_ns` needs `bad_ns`".to_owned());
            }
            let (to_bad_ppb, to_good_ppb) = self.changes_ppb()?;
            return Ok(Changes::ByPacket {
                to_bad_ppb,
                to_good_ppb,
            });
        };
        if self.burst_milli.is_some() || self.p_ppb.is_some() || self.r_ppb.is_some() {
            return Err(
                "`burst_milli`, `p_ppb` and `r_ppb` count packets and `bad_ns` is a time; use one \
                 or the other"
                    .to_owned(),
            );
        }
        let good_ns = match (self.loss_ppb, self.good_ns) {
            (None, Some(good_ns)) => good_ns,
            (Some(loss_ppb), None) => {
                if self.loss_bad_ppb != CERTAIN_PPB || self.loss_good_ppb != 0 {
                    return Err(
                        "`loss_bad_ppb` and `loss_good_ppb` go with `good_ns`; use it instead of \
                         `loss_ppb`"
                            .to_owned(),
                    );
                }
                // A share of bad/(good + bad) is lost.
                let passes_ppb = u128::from(CERTAIN_PPB - loss_ppb);
                (u128::from(bad_ns) * passes_ppb / u128::from(loss_ppb)) as u64
            }
            _ => return Err("use `loss_ppb` or `good_ns` with `bad_ns`".to_owned()),
        };
        Ok(Changes::ByTime {
            mean_ns: [good_ns, bad_ns],
            next_ns: None,
        })
    }

    /// The probabilities of the change to bad and of the change to good.
    fn changes_ppb(&self) -> Result<(u64, u64), String> {
        match (self.loss_ppb, self.burst_milli, self.p_ppb) {
            (Some(loss_ppb), Some(burst_milli), None) => {
                if self.r_ppb.is_some()
                    || self.loss_bad_ppb != CERTAIN_PPB
                    || self.loss_good_ppb != 0
                {
                    return Err(
                        "`r_ppb`, `loss_bad_ppb` and `loss_good_ppb` go with `p_ppb`; remove \
                         `loss_ppb` and `burst_milli`, or those"
                            .to_owned(),
                    );
                }
                // Bursts have 1/r packets in the mean, and a share of p/(p+r) is lost.
                let r_ppb = (CERTAIN_PPB * 1_000).div_ceil(burst_milli);
                let p_ppb = u128::from(r_ppb) * u128::from(loss_ppb);
                let p_ppb = (p_ppb / u128::from(CERTAIN_PPB - loss_ppb)) as u64;
                if !(1..=CERTAIN_PPB).contains(&p_ppb) {
                    return Err(format!(
                        "`burst_milli` is {burst_milli}, too short for that `loss_ppb`; use a longer \
                         one, or another `loss_ppb`"
                    ));
                }
                Ok((p_ppb, r_ppb))
            }
            (None, None, Some(p_ppb)) => {
                Ok((p_ppb, self.r_ppb.unwrap_or(CERTAIN_PPB - p_ppb).max(1)))
            }
            _ => Err("use `loss_ppb` and `burst_milli`, or `p_ppb`, or `bad_ns` with `loss_ppb` or `good_ns`".to_owned()),
        }
    }
}

impl ImpairmentSettings for Config {
    type Element = GilbertElliott;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn check_together(&self) -> Result<(), String> {
        self.changes().map(drop)
    }

    fn build(&self, seed: u64, start_ns: u64) -> GilbertElliott {
        let never = Changes::ByPacket {
            to_bad_ppb: 0,
            to_good_ppb: CERTAIN_PPB,
        };
        GilbertElliott {
            changes: self.changes().unwrap_or(never),
            start_ns,
            loss_bad_ppb: self.loss_bad_ppb,
            loss_good_ppb: self.loss_good_ppb,
            is_bad: false,
            random: Random::new(seed),
        }
    }
}

/// Two states, of which the first is good.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    changes: Changes,
    start_ns: u64,
    loss_bad_ppb: u64,
    loss_good_ppb: u64,
    is_bad: bool,
    random: Random,
}

/// When the states change.
#[derive(Clone, Debug)]
enum Changes {
    ByPacket {
        to_bad_ppb: u64,
        to_good_ppb: u64,
    },
    ByTime {
        /// In the good state, in the bad one.
        mean_ns: [u64; 2],
        /// When the state changes next; drawn with the first packet.
        next_ns: Option<u64>,
    },
}

impl GilbertElliott {
    /// Whether the packet at `now_ns` is lost: where packets change the state by the one before it, as in netem, whose
    /// first draw changes the state.
    #[inline]
    pub fn loses(&mut self, now_ns: u64) -> bool {
        let was_bad = match self.changes {
            Changes::ByPacket {
                to_bad_ppb,
                to_good_ppb,
            } => {
                let was_bad = self.is_bad;
                let change_ppb = if was_bad { to_good_ppb } else { to_bad_ppb };
                self.is_bad ^= self.random.happens(change_ppb);
                was_bad
            }
            Changes::ByTime { mean_ns, next_ns } => {
                self.advance(now_ns, mean_ns, next_ns);
                self.is_bad
            }
        };
        let loss_ppb = if was_bad {
            self.loss_bad_ppb
        } else {
            self.loss_good_ppb
        };
        self.random.happens(loss_ppb)
    }

    /// Changes the state as often as it changes until `now_ns`.
    fn advance(&mut self, now_ns: u64, mean_ns: [u64; 2], next_ns: Option<u64>) {
        let mut next = match next_ns {
            Some(next) => next,
            None => (self.start_ns).saturating_add(self.random.exponential_ns(mean_ns[0])),
        };
        while next <= now_ns {
            self.is_bad = !self.is_bad;
            let mean_ns = mean_ns[usize::from(self.is_bad)];
            // Never nothing, so that changes end.
            next = next.saturating_add(self.random.exponential_ns(mean_ns).max(1));
        }
        self.changes = Changes::ByTime {
            mean_ns,
            next_ns: Some(next),
        };
    }
}

impl Impair for GilbertElliott {
    #[inline]
    fn fate<H: Header>(&mut self, now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        Fate::lost_if(self.loses(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::runs::runs_of_losses;

    fn friendly(loss_ppb: u64, burst_milli: u64) -> Config {
        Config {
            loss_ppb: Some(loss_ppb),
            burst_milli: Some(burst_milli),
            ..Config::default()
        }
    }

    fn share_and_burst(config: &Config, seed: u64, packets: u32) -> (f64, f64) {
        assert_eq!(config.check_together(), Ok(()));
        let mut element = config.build(seed, 0);
        let runs = runs_of_losses((0..packets).map(|_| element.loses(0)));
        let lost: u32 = runs.iter().sum();
        (
            f64::from(lost) / f64::from(packets),
            f64::from(lost) / runs.len() as f64,
        )
    }

    /// Gilbert's model: π_B = p/(p+r) is lost, in bursts of 1/r packets.
    #[test]
    fn the_loss_and_the_bursts_are_those_of_the_chain() {
        let (share, burst) = share_and_burst(
            &Config {
                p_ppb: Some(10_000_000),
                r_ppb: Some(250_000_000),
                ..Config::default()
            },
            1,
            2_000_000,
        );
        // About 19,000 bursts: standard errors of 0.8 % and 0.65 %.
        assert!((share / (1.0 / 26.0) - 1.0).abs() < 0.035, "{share}");
        assert!((burst / 4.0 - 1.0).abs() < 0.026, "{burst}");
    }

    #[test]
    fn loss_and_burst_are_what_was_asked_for() {
        for (loss_ppb, burst_milli) in [
            (10_000_000, 5_000),
            (50_000_000, 1_200),
            (1_000_000, 20_000),
        ] {
            let (share, burst) = share_and_burst(&friendly(loss_ppb, burst_milli), 3, 4_000_000);
            let (loss, mean) = (loss_ppb as f64 / 1e9, burst_milli as f64 / 1e3);
            // A burst's length is geometric, and gaps are: the share of b bursts has a relative
            // error of about √(2/b).
            let bursts = 4e6 * loss / mean;
            let bound = 4.0 * (2.0 / bursts).sqrt();
            assert!((share / loss - 1.0).abs() < bound, "{share}, {loss}");
            assert!((burst / mean - 1.0).abs() < bound, "{burst}, {mean}");
        }
    }

    #[test]
    fn both_states_lose_their_share() {
        let config = Config {
            p_ppb: Some(20_000_000),
            r_ppb: Some(60_000_000),
            loss_bad_ppb: 500_000_000,
            loss_good_ppb: 10_000_000,
            ..Config::default()
        };
        let (share, _) = share_and_burst(&config, 9, 2_000_000);
        assert!(
            (share / (0.25 * 0.5 + 0.75 * 0.01) - 1.0).abs() < 0.03,
            "{share}"
        );
    }

    /// Without `r` netem takes 1 − p: the state is drawn for each packet by itself.
    #[test]
    fn without_r_losses_are_independent() {
        let config = Config {
            p_ppb: Some(200_000_000),
            ..Config::default()
        };
        let (share, burst) = share_and_burst(&config, 5, 500_000);
        assert!((share - 0.2).abs() < 0.003, "{share}");
        assert!((burst - 1.25).abs() < 0.01, "{burst}");
    }

    /// Bursts last as long at every rate: twice as many packets are lost of twice as many.
    #[test]
    fn states_that_change_with_time_last_as_long_at_any_rate() {
        const MS: u64 = 1_000_000;
        let config = Config {
            loss_ppb: Some(50_000_000),
            bad_ns: Some(20 * MS),
            ..Config::default()
        };
        assert_eq!(config.check_together(), Ok(()));
        for packets_per_ms in [1, 10] {
            let mut element = config.build(7, 0);
            let packets = 4_000_000 * packets_per_ms;
            let times = (0..packets).map(|packet| packet * MS / packets_per_ms);
            let runs = runs_of_losses(times.map(|now_ns| element.loses(now_ns)));
            let lost: u32 = runs.iter().sum();
            let share = f64::from(lost) / packets as f64;
            let mean_ms = f64::from(lost) / runs.len() as f64 / packets_per_ms as f64;
            // 10,000 bursts; of those shorter than the gap between packets some are not seen.
            assert!((share / 0.05 - 1.0).abs() < 0.06, "{share}");
            assert!((mean_ms / 20.0 - 1.0).abs() < 0.09, "{mean_ms}");
        }
    }

    #[test]
    fn times_and_counts_do_not_go_together() {
        let timed = Config {
            bad_ns: Some(1_000_000),
            ..Config::default()
        };
        let both = Config {
            good_ns: Some(1_000_000),
            ..timed
        };
        assert_eq!(both.check_together(), Ok(()));
        let with_burst = Config {
            bad_ns: Some(1_000_000),
            ..friendly(10_000_000, 5_000)
        };
        let alone = Config {
            good_ns: Some(1_000_000),
            ..Config::default()
        };
        for config in [timed, with_burst, alone] {
            assert!(config.check_together().is_err(), "{config:?}");
        }
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let p = Config {
            p_ppb: Some(1_000_000),
            ..Config::default()
        };
        let both = Config {
            p_ppb: Some(1_000_000),
            ..friendly(10_000_000, 5_000)
        };
        assert_eq!(p.check_together(), Ok(()));
        for config in [Config::default(), both, friendly(900_000_000, 1_000)] {
            assert!(config.check_together().is_err(), "{config:?}");
        }
    }
}
