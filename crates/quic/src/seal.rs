//! What takes the place of an AEAD: a tag of 16 bytes, as AES-GCM's, over header, payload and packet number.
//!
//! It detects what impairments change, as an AEAD does; it keeps no secret and withstands no attacker.

use std::array;
use std::cell::Cell;

/// Bytes of a tag (RFC 9001 §5.3).
pub(crate) const TAG_BYTES: usize = 16;

/// Bytes of the sample that protects a header (RFC 9001 §5.4.2).
pub(crate) const SAMPLE_BYTES: usize = 16;

/// Odd numbers without a pattern: the golden ratio and a prime.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// Words that are summed side by side, because a processor does several at a time.
const LANES: usize = 4;
const WORD_BYTES: usize = 8;
const BLOCK_BYTES: usize = LANES * WORD_BYTES;

/// The tag of packet `number`.
pub(crate) fn tag(number: u64, header: &[u8], payload: &[u8]) -> [u8; TAG_BYTES] {
    let mut sums = Sums::default();
    sums.absorb(header);
    sums.absorb(payload);
    let mut state = [number ^ FACTORS[1], !number];
    for (plain, weighted) in sums.plain.iter().zip(sums.weighted) {
        state[0] = (state[0] ^ plain).wrapping_mul(FACTORS[0]).rotate_left(29);
        state[1] = (state[1] ^ weighted)
            .wrapping_mul(FACTORS[1])
            .rotate_left(31);
    }
    let mut tag = [0; TAG_BYTES];
    tag[..WORD_BYTES].copy_from_slice(&state[0].to_le_bytes());
    tag[WORD_BYTES..].copy_from_slice(&state[1].to_le_bytes());
    tag
}

/// Fletcher's checksum (IEEE Transactions on Communications 30(1), 1982) of words, in each lane: their sum, which any
/// changed word changes, and the sum of all sums on the way, which their order changes too.
#[derive(Default)]
struct Sums {
    plain: [u64; LANES],
    weighted: [u64; LANES],
}

impl Sums {
    fn absorb(&mut self, part: &[u8]) {
        let (blocks, rest) = part.as_chunks();
        let (mut plain, mut weighted) = (self.plain, self.weighted); // in registers
        for block in blocks {
            plain = add(plain, words(block));
            weighted = add(weighted, plain);
        }
        let mut last = [0; BLOCK_BYTES];
        last[..rest.len()].copy_from_slice(rest);
        plain = add(plain, words(&last));
        plain[0] = plain[0].wrapping_add(part.len() as u64);
        weighted = add(weighted, plain);
        *self = Self { plain, weighted };
    }
}

#[inline(always)]
fn words(block: &[u8; BLOCK_BYTES]) -> [u64; LANES] {
    let mut words = [0; LANES];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[inline(always)]
fn add(a: [u64; LANES], b: [u64; LANES]) -> [u64; LANES] {
    array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
}

/// Writes the tag of a packet into its last bytes.
pub(crate) fn seal(number: u64, packet: &mut [u8], header_bytes: usize) {
    let (text, place) = packet.split_at_mut(packet.len() - TAG_BYTES);
    let (header, payload) = text.split_at(header_bytes);
    place.copy_from_slice(&tag(number, header, payload));
}

thread_local! {
    static OPENS_ALL: Cell<bool> = const { Cell::new(false) };
}

/// Whether packets are opened on this thread though their tags are wrong, so that tests show a stack's parsers what no
/// AEAD would let through.
#[doc(hidden)]
pub fn open_all(opens_all: bool) {
    OPENS_ALL.set(opens_all);
}

/// How many bytes of a sealed payload are text, if its tag is right.
pub(crate) fn open(number: u64, header: &[u8], sealed: &[u8]) -> Option<usize> {
    let text_bytes = sealed.len().checked_sub(TAG_BYTES)?;
    let (text, found) = sealed.split_at(text_bytes);
    (tag(number, header, text) == found || OPENS_ALL.get()).then_some(text_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_bit_or_packet_number_is_found() {
        let mut packet: Vec<u8> = (0..=255).cycle().take(1252).collect();
        seal(7, &mut packet, 13);
        assert_eq!(
            open(7, &packet[..13], &packet[13..]),
            Some(1252 - 13 - TAG_BYTES)
        );
        assert_eq!(open(8, &packet[..13], &packet[13..]), None);
        for bit in 0..8 * packet.len() {
            packet[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(7, &packet[..13], &packet[13..]), None, "bit {bit}");
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(
            open(7, &[], &packet[..TAG_BYTES - 1]),
            None,
            "too short for a tag"
        );
    }
}
