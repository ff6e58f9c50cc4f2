//! Numbers from a seed.

/// A word that `seed`, a place and a number determine (SplitMix64; Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn word(seed: u64, place: u64, number: u64) -> u64 {
    let mut word = seed
        .wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// 32 bytes that `seed` and a place determine.
pub(crate) fn bytes(seed: u64, place: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (number, chunk) in (0..).zip(bytes.chunks_mut(8)) {
        chunk.copy_from_slice(&word(seed, place, number).to_le_bytes());
    }
    bytes
}
