//! Bursts of losses of a drawn length, as ns-3's `BurstErrorModel`.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Losses in bursts: with a probability a packet begins a burst, whose length is drawn (ns-3's `BurstErrorModel`).
    pub struct Config {
        /// Probability that a burst begins at a packet; one that begins within another takes its place.
        rate_ppb: u64 = 0, in 1..=999_999_999;
        /// Fewest packets of a burst.
        least: u64 = 1, in 1..=1_000_000;
        /// Most packets of a burst.
        most: u64 = 4, in 1..=1_000_000;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = Bursts;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn check_together(&self) -> Result<(), String> {
        if self.least > self.most {
            return Err(format!(
                "`least` is {}, above `most`, {}; use at most that",
                self.least, self.most
            ));
        }
        Ok(())
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Bursts {
        Bursts {
            rate_ppb: self.rate_ppb,
            least: self.least,
            lengths: self.most - self.least + 1,
            left_pkts: 0,
            random: Random::new(seed),
        }
    }
}

/// Bursts of losses.
#[derive(Clone, Debug)]
pub struct Bursts {
    rate_ppb: u64,
    least: u64,
    lengths: u64,
    /// Packets of the burst that are still to be lost.
    left_pkts: u64,
    random: Random,
}

impl Bursts {
    /// Whether the next packet is lost.
    #[inline]
    pub fn loses(&mut self) -> bool {
        if self.random.happens(self.rate_ppb) {
            self.left_pkts = self.least + self.random.below(self.lengths);
        }
        let is_lost = self.left_pkts > 0;
        self.left_pkts -= u64::from(is_lost);
        is_lost
    }
}

impl Impair for Bursts {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        Fate::lost_if(self.loses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::runs::runs_of_losses;

    /// ns-3's own test loses 260 of 10,000 packets at a rate of 1 %. A burst has 2.5 packets in the mean, a little
    /// less where another takes its place: 248 ± 4·27.4, since the sum of a hundred bursts of 1 to 4 has a variance
    /// of 100·(1.25 + 2.5²).
    #[test]
    fn a_rate_of_one_per_cent_loses_two_and_a_half() {
        let config = Config {
            rate_ppb: 10_000_000,
            ..Config::default()
        };
        for seed in 0..10 {
            let mut element = config.build(seed, 0);
            let lost = (0..10_000).filter(|_| element.loses()).count();
            assert!((138..=358).contains(&lost), "{lost}");
        }
        let mut element = config.build(1, 0);
        let lost = (0..1_000_000).filter(|_| element.loses()).count() as f64;
        assert!((lost / 1e6 - 0.0246).abs() < 0.0012, "{lost}");
    }

    #[test]
    fn bursts_are_as_long_as_was_asked_for() {
        let config = Config {
            rate_ppb: 100_000,
            least: 3,
            most: 5,
            ..Config::default()
        };
        let mut element = config.build(2, 0);
        let runs = runs_of_losses((0..1_000_000).map(|_| element.loses()));
        // One burst begins per 10,000 packets, so of a hundred hardly any two meet.
        let usual = runs.iter().filter(|run| (3..=5).contains(*run)).count();
        assert!(usual + 2 >= runs.len() && runs.len() > 60, "{runs:?}");
        for length in 3..=5 {
            assert!(runs.contains(&length));
        }
    }
}
