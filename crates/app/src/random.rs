//! Random numbers of an application's own, so that they do not depend on what else runs.

/// splitmix64 (Steele, Lea, Flood 2014); any seed is good.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// A generator whose numbers are independent of those with another `stream` of the same seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut streams = Self { state: seed };
        streams.state = streams.next().wrapping_add(stream);
        Self {
            state: streams.next(),
        }
    }

    /// Uniform in 0..2⁶⁴.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in 0..`end`, to within `end`·2⁻⁶⁴.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

/// Ranks of 2⁶⁴: uniform, and of every `strata` that follow each other one in each of as many equal
/// parts. A heavy tail is then in the sample as often as it should be.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    random: Random,
    strata: u64,
    /// Parts that are still to come.
    left: Vec<u64>,
}

impl Ranks {
    /// Ranks in this many strata; 1: independent.
    pub(crate) fn new(random: Random, strata: u64) -> Self {
        let left = Vec::new();
        Self {
            random,
            strata,
            left,
        }
    }

    /// The next random number.
    pub(crate) fn next(&mut self) -> u64 {
        if self.strata <= 1 {
            return self.random.next();
        }
        if self.left.is_empty() {
            self.left.extend(0..self.strata);
        }
        let chosen = self.random.below(self.left.len() as u64);
        let stratum = self.left.swap_remove(chosen as usize);
        let within = u128::from(self.random.next());
        ((u128::from(stratum) << 64 | within) / u128::from(self.strata)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_a_seed_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(first(1, 0), first(1, 0));
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
    }

    #[test]
    fn every_stratum_is_drawn_once_in_each_block() {
        let mut ranks = Ranks::new(Random::new(5, 0), 100);
        for _ in 0..20 {
            let mut parts: Vec<u64> = (0..100)
                .map(|_| ((u128::from(ranks.next()) * 100) >> 64) as u64)
                .collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..100).collect::<Vec<_>>());
        }
    }
}
