//! Random loss: each packet is lost with one probability, independently of the others.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Each packet is lost with one probability, independently of the others.
    pub struct Config {
        /// Probability that a packet is lost.
        loss_ppb: u64 = 0, in 1..=999_999_999;
        /// Most packets that are lost in a row: the one after them passes without a draw. Off: any number.
        max_run: Option<u64> = None, in 1..=4_294_967_295;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = RandomLoss;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn build(&self, seed: u64, _start_ns: u64) -> RandomLoss {
        RandomLoss::new(self.loss_ppb as u32, seed).with_max_run(self.max_run)
    }
}

impl Impair for RandomLoss {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        if self.loses() {
            Fate::Lost
        } else {
            Fate::Passes
        }
    }
}

/// An element that loses packets, as a noisy link does.
#[derive(Clone, Debug)]
pub struct RandomLoss {
    loss_ppb: u64,
    /// Most losses in a row.
    max_run: u64,
    /// Losses up to now, in a row.
    run: u64,
    random: Random,
}

impl RandomLoss {
    /// Loses `loss_ppb` of 10⁹ packets on average; 0 loses none and draws nothing.
    pub fn new(loss_ppb: u32, seed: u64) -> Self {
        Self {
            loss_ppb: u64::from(loss_ppb),
            max_run: u64::MAX,
            run: 0,
            random: Random::new(seed),
        }
    }

    /// Most losses in a row; `None`: any number.
    #[must_use]
    pub(crate) fn with_max_run(self, max_run: Option<u64>) -> Self {
        Self {
            max_run: max_run.unwrap_or(u64::MAX),
            ..self
        }
    }

    /// Loses `loss_ppb` of 10⁹ packets from now on.
    pub(crate) fn set_loss(&mut self, loss_ppb: u32) {
        self.loss_ppb = u64::from(loss_ppb);
    }

    /// Whether the next packet is lost.
    #[inline]
    pub fn loses(&mut self) -> bool {
        let is_lost = self.run < self.max_run && self.random.happens(self.loss_ppb);
        self.run = if is_lost { self.run + 1 } else { 0 };
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::runs::runs_of_losses;

    fn lost_of(packets: u32, loss_ppb: u32, seed: u64) -> usize {
        let mut loss = RandomLoss::new(loss_ppb, seed);
        (0..packets).filter(|_| loss.loses()).count()
    }

    #[test]
    fn as_many_are_lost_as_was_asked_for() {
        assert_eq!(lost_of(1000, 0, 1), 0);
        assert_eq!(lost_of(1000, 1_000_000_000, 1), 1000);
        // 1 % of 100,000: 1000 ± 4 standard deviations of √990.
        for seed in 0..10 {
            let lost = lost_of(100_000, 10_000_000, seed);
            assert!((874..=1126).contains(&lost), "{lost}");
        }
    }

    #[test]
    fn no_more_than_the_longest_run_are_lost_in_a_row() {
        let config = Config {
            loss_ppb: 900_000_000,
            max_run: Some(3),
            ..Config::default()
        };
        let mut loss = config.build(1, 0);
        let runs = runs_of_losses((0..10_000).map(|_| loss.loses()));
        assert_eq!(runs.iter().max(), Some(&3));
        // A run goes on with 0.9, up to 3: two thirds and more are as long as they may be.
        let longest = runs.iter().filter(|&&run| run == 3).count();
        assert!(longest * 4 > runs.len() * 3, "{longest} of {}", runs.len());
    }

    #[test]
    fn the_seed_decides_which() {
        let which = |seed| {
            let mut loss = RandomLoss::new(100_000_000, seed);
            (0..200).map(|_| loss.loses()).collect::<Vec<_>>()
        };
        assert_eq!(which(3), which(3));
        assert_ne!(which(3), which(4));
    }
}
