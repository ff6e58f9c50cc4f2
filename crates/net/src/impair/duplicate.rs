//! Duplication: some packets come twice.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Some packets come twice; the copy passes the other impairments of its place by itself and is not copied again.
    pub struct Config {
        /// Probability that a packet is copied.
        probability_ppb: u64 = 0, in 1..=1_000_000_000;
        /// Before the queue, where a copy takes room and time of the link, or behind the link.
        place: Side = Side::behind;
    }
}

impl ImpairmentSettings for Config {
    type Element = Duplicate;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Duplicate {
        Duplicate {
            probability_ppb: self.probability_ppb,
            random: Random::new(seed),
        }
    }
}

/// What [`Config`] builds: it copies packets.
#[derive(Clone, Debug)]
pub struct Duplicate {
    probability_ppb: u64,
    random: Random,
}

impl Impair for Duplicate {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        if self.random.happens(self.probability_ppb) {
            Fate::Twice
        } else {
            Fate::Passes
        }
    }
}
