//! Corruption: a packet with a flipped bit, which the receiver's checksum drops.

use crate::declaration::settings;
use crate::impair::{Fate, Impair, ImpairmentSettings, Place};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Packets arrive with a wrong bit and are dropped by the receiver's checksum: random loss behind the link, which costs its time.
    pub struct Config {
        /// Probability that a packet is corrupted.
        probability_ppb: u64 = 0, in 1..=999_999_999;
    }
}

impl ImpairmentSettings for Config {
    type Element = Corrupt;

    fn place(&self) -> Place {
        Place::BehindLink
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Corrupt {
        Corrupt {
            probability_ppb: self.probability_ppb,
            random: Random::new(seed),
        }
    }
}

/// Corrupts packets. No wrong bit is delivered, which in a header might do more than cost the packet.
#[derive(Clone, Debug)]
pub struct Corrupt {
    probability_ppb: u64,
    random: Random,
}

impl Impair for Corrupt {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        Fate::lost_if(self.random.happens(self.probability_ppb))
    }
}
