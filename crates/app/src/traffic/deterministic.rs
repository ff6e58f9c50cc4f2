//! Transfers that begin at equal intervals.

use dumbbell_declare::settings;

use super::arrivals::{Arrivals, ArrivalsConfig};
use super::{ApplicationSettings, Facts, MAX_BYTES, MAX_NS};
use crate::Distribution;

settings! {
    /// Transfers begin at equal intervals from the start on, each on a new connection.
    pub struct Config {
        /// Time between the beginnings of two transfers of one flow.
        gap_ns: u64 = 0, in 1..=MAX_NS;
        /// Size of a transfer.
        size_bytes: Distribution = Distribution::Constant(0), in 1..=MAX_BYTES;
        /// Each run of this number of sizes has one of each of as many equally probable ranges;
        /// 1 draws each independently.
        strata: u64 = 1, in 1..=1_000_000;
        /// How many transfers each flow begins at most.
        count: Option<u64> = None, in 1..=u32::MAX.into();
    }
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts {
        takes_load: true,
        ..Facts::ONE_WAY
    };

    type Application = Arrivals;

    fn build(&self, seed: u64) -> Arrivals {
        let config = ArrivalsConfig {
            gap_ns: self.gap_ns.into(),
            begins_at_once: true,
            size_bytes: &self.size_bytes,
            strata: self.strata,
            count: self.count,
        };
        Arrivals::new(&config, seed)
    }
}
