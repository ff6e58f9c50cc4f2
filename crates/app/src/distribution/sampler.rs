//! Draws from a distribution.

use std::ops::RangeInclusive;

use super::{Distribution, Quantiles};
use crate::random::{Random, Ranks};

/// A distribution with random numbers of its own.
#[derive(Debug)]
pub(crate) struct Sampler {
    quantiles: Box<dyn Quantiles>,
    ranks: Ranks,
    range: RangeInclusive<u64>,
}

impl Sampler {
    /// Draws independently; values outside of `range` become its ends.
    pub(crate) fn new(
        distribution: &Distribution,
        random: Random,
        range: RangeInclusive<u64>,
    ) -> Self {
        Self::stratified(distribution, random, range, 1)
    }

    /// A sampler that divides the distribution into `strata` parts of equal probability. Of every `strata`
    /// consecutive draws, one is from each part.
    pub(crate) fn stratified(
        distribution: &Distribution,
        random: Random,
        range: RangeInclusive<u64>,
        strata: u64,
    ) -> Self {
        Self {
            quantiles: distribution.quantiles(),
            ranks: Ranks::new(random, strata),
            range,
        }
    }

    /// The next value.
    pub(crate) fn draw(&mut self) -> u64 {
        let value = self.quantiles.at(self.ranks.next());
        value.clamp(*self.range.start(), *self.range.end())
    }
}
