//! One seeded generator per element, derived from the run's seed and the element's name,
//! so that adding an element does not shift the others' numbers.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Seed of the element called `name` with number `index`.
pub fn element_seed(seed: u64, name: &str, index: u64) -> u64 {
    // FNV-1a over the name, then two rounds of splitmix64's finaliser.
    let name_hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(mix(seed ^ name_hash).wrapping_add(index))
}

/// The element's generator.
pub fn element_generator(seed: u64, name: &str, index: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(element_seed(seed, name, index))
}

/// A number in `0..=max`, uniform to within 2⁻⁶⁴·max.
pub fn up_to(generator: &mut Xoshiro256PlusPlus, max: u64) -> u64 {
    let word = rand_core::Rng::next_u64(generator);
    ((u128::from(word) * (u128::from(max) + 1)) >> 64) as u64
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_draw_independently_and_within_bounds() {
        let seeds: std::collections::BTreeSet<_> = (0..100)
            .flat_map(|index| {
                [
                    element_seed(1, "start", index),
                    element_seed(1, "cc", index),
                ]
            })
            .collect();
        assert_eq!(seeds.len(), 200);
        let mut generator = element_generator(7, "start", 0);
        let draws: Vec<u64> = (0..1000).map(|_| up_to(&mut generator, 9)).collect();
        assert!(draws.iter().all(|&draw| draw <= 9));
        assert_eq!(
            draws
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            10
        );
    }
}
