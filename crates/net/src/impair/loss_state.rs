//! Loss by a chain of four states, as netem's `loss state`.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::{CERTAIN_PPB, Random};
use crate::{Header, Packet};

settings! {
    /// Losses by a chain of four states: packets of a gap, isolated losses, and bursts in which some are lost and some arrive (netem's `loss state`).
    pub struct Config {
        /// Probability that a burst begins, with a loss, after a packet of a gap.
        p13_ppb: u64 = 0, in 0..=CERTAIN_PPB;
        /// Probability that the burst ends after a loss; off: what `p13` leaves of 100 %.
        p31_ppb: Option<u64> = None, in 0..=CERTAIN_PPB;
        /// Probability that a packet arrives within the burst after a loss.
        p32_ppb: u64 = 0, in 0..=CERTAIN_PPB;
        /// Probability of a loss after a packet that arrived within the burst.
        p23_ppb: u64 = CERTAIN_PPB, in 0..=CERTAIN_PPB;
        /// Probability of an isolated loss in a gap.
        p14_ppb: u64 = 0, in 0..=CERTAIN_PPB;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl Config {
    fn p31_ppb(&self) -> u64 {
        self.p31_ppb.unwrap_or(CERTAIN_PPB - self.p13_ppb)
    }
}

impl ImpairmentSettings for Config {
    type Element = LossState;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn check_together(&self) -> Result<(), String> {
        if self.p13_ppb == 0 && self.p14_ppb == 0 {
            return Err("nothing is lost; use `p13_ppb` or `p14_ppb` above 0".to_owned());
        }
        for (one, other, sum_ppb) in [
            ("p13_ppb", "p14_ppb", self.p13_ppb + self.p14_ppb),
            ("p31_ppb", "p32_ppb", self.p31_ppb() + self.p32_ppb),
        ] {
            if sum_ppb > CERTAIN_PPB {
                return Err(format!(
                    "`{one}` and `{other}` are together {sum_ppb}; use at most {CERTAIN_PPB}"
                ));
            }
        }
        Ok(())
    }

    fn build(&self, seed: u64, _start_ns: u64) -> LossState {
        LossState {
            p13_ppb: self.p13_ppb,
            p31_ppb: self.p31_ppb(),
            p32_ppb: self.p32_ppb,
            p23_ppb: self.p23_ppb,
            p14_ppb: self.p14_ppb,
            state: State::ReceivedInGap,
            random: Random::new(seed),
        }
    }
}

/// What became of the latest packet; netem's numbers are 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    ReceivedInGap,
    ReceivedInBurst,
    LostInBurst,
    LostInGap,
}

/// The chain. It begins in a gap.
#[derive(Clone, Debug)]
pub struct LossState {
    p13_ppb: u64,
    p31_ppb: u64,
    p32_ppb: u64,
    p23_ppb: u64,
    p14_ppb: u64,
    state: State,
    random: Random,
}

impl LossState {
    /// Whether the next packet is lost: one draw decides the state that it is in. After an isolated loss one
    /// packet always arrives.
    #[inline]
    pub fn loses(&mut self) -> bool {
        let draw_ppb = self.random.below(CERTAIN_PPB);
        self.state = match self.state {
            State::ReceivedInGap if draw_ppb < self.p14_ppb => State::LostInGap,
            State::ReceivedInGap if draw_ppb < self.p14_ppb + self.p13_ppb => State::LostInBurst,
            State::ReceivedInGap | State::LostInGap => State::ReceivedInGap,
            State::ReceivedInBurst if draw_ppb < self.p23_ppb => State::LostInBurst,
            State::ReceivedInBurst => State::ReceivedInBurst,
            State::LostInBurst if draw_ppb < self.p32_ppb => State::ReceivedInBurst,
            State::LostInBurst if draw_ppb < self.p32_ppb + self.p31_ppb => State::ReceivedInGap,
            State::LostInBurst => State::LostInBurst,
        };
        matches!(self.state, State::LostInBurst | State::LostInGap)
    }
}

impl Impair for LossState {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        Fate::lost_if(self.loses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::runs::runs_of_losses;

    /// The chain's stationary distribution: with π₁ = 1 the isolated losses are p14, π₃ = p13/p31 and
    /// π₂ = π₃·p32/p23.
    #[test]
    fn states_have_their_stationary_shares() {
        let config = Config {
            p13_ppb: 10_000_000,
            p31_ppb: Some(200_000_000),
            p32_ppb: 300_000_000,
            p23_ppb: 400_000_000,
            p14_ppb: 20_000_000,
            ..Config::default()
        };
        assert_eq!(config.check_together(), Ok(()));
        let mut element = config.build(7, 0);
        let mut counts = [0_u32; 4];
        let packets = 2_000_000;
        for _ in 0..packets {
            element.loses();
            counts[element.state as usize] += 1;
        }
        let burst_lost = 0.01 / 0.2;
        let weights = [1.0, burst_lost * 0.3 / 0.4, burst_lost, 0.02];
        let sum: f64 = weights.iter().sum();
        for (count, weight) in counts.into_iter().zip(weights) {
            let (share, expected) = (f64::from(count) / f64::from(packets), weight / sum);
            assert!((share / expected - 1.0).abs() < 0.04, "{share}, {expected}");
        }
    }

    #[test]
    fn isolated_losses_are_isolated() {
        let config = Config {
            p14_ppb: 500_000_000,
            ..Config::default()
        };
        let mut element = config.build(1, 0);
        let runs = runs_of_losses((0..100_000).map(|_| element.loses()));
        assert!(runs.iter().all(|&run| run == 1));
        // One packet of 1 + p14 is one.
        assert!((runs.len() as f64 / 1e5 - 1.0 / 3.0).abs() < 0.01);
    }

    #[test]
    fn what_sums_to_more_than_one_is_refused() {
        let refused = |config: Config| config.check_together().is_err();
        assert!(refused(Config::default()), "it would lose nothing");
        assert!(refused(Config {
            p13_ppb: 600_000_000,
            p14_ppb: 600_000_000,
            ..Config::default()
        }));
        assert!(refused(Config {
            p13_ppb: 1_000_000,
            p31_ppb: Some(600_000_000),
            p32_ppb: 600_000_000,
            ..Config::default()
        }));
    }
}
