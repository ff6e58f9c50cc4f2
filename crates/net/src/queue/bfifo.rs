//! `bfifo`: drop-tail, limited in bytes.

use dumbbell_declare::settings;

use crate::Header;
use crate::queue::fifo::{Fifo, Limit};
use crate::queue::{Discipline, Facts, Site};

settings! {
    /// Drop-tail, limited in bytes.
    pub struct Config {
        /// Largest backlog; the packet being transmitted does not count.
        limit_bytes: u64 = 0, in 1..=u64::MAX;
    }
}

impl Discipline for Config {
    const FACTS: Facts = Fifo::<()>::FACTS;
    type Queue<H> = Fifo<H>;

    fn limit(&self) -> Limit {
        Limit::Bytes(self.limit_bytes)
    }

    fn marks(&self) -> bool {
        false
    }

    fn shows_head(&self) -> bool {
        true
    }

    fn build<H: Header>(&self, _site: &Site) -> Fifo<H> {
        Fifo::new(self.limit())
    }
}
