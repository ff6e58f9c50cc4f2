//! The Internet's checksum (RFC 1071), computed, and updated for bytes that change (RFC 1624).

use crate::bytes::{put_u16, read_u16};

/// Sum of the big-endian 16-bit words of at most 64 kB; an odd byte at the end is a word's upper half.
#[inline]
fn short_sum(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks();
    let sum: u32 = (words.iter())
        .map(|&word| u32::from(u16::from_be_bytes(word)))
        .sum();
    sum + odd.first().map_or(0, |&byte| u32::from(byte) << 8)
}

/// Sum of the big-endian 16-bit words; an odd byte at the end is a word's upper half.
pub fn sum(bytes: &[u8]) -> u64 {
    let parts = bytes.chunks(1 << 16);
    parts.map(|part| u64::from(short_sum(part))).sum()
}

/// A sum in ones' complement of 16 bits.
#[inline]
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Checksum of parts that follow one another; all but the last have an even number of bytes, 64 kB at most together.
#[inline]
pub fn internet_checksum<const PARTS: usize>(parts: [&[u8]; PARTS]) -> u16 {
    let mut sum = 0;
    for part in parts {
        sum += short_sum(part);
    }
    !fold(u64::from(sum))
}

/// What the words that were changed add to a checksum (RFC 1624 §3, equation 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    sum: u32,
}

impl Changes {
    /// Notes that one word took the place of another.
    #[inline]
    pub fn note(&mut self, before: u16, after: u16) {
        self.sum += u32::from(!before) + u32::from(after);
    }

    /// Replaces whole words of `packet` from `at` on, and notes it.
    #[inline]
    pub fn replace(&mut self, packet: &mut [u8], at: usize, bytes: &[u8]) {
        let place = &mut packet[at..at + bytes.len()];
        for (before, after) in place.chunks_exact(2).zip(bytes.chunks_exact(2)) {
            self.note(read_u16(before, 0), read_u16(after, 0));
        }
        place.copy_from_slice(bytes);
    }

    /// Updates the checksum at `at`.
    #[inline]
    pub fn apply(self, packet: &mut [u8], at: usize) {
        let sum = u64::from(!read_u16(packet, at)) + u64::from(self.sum);
        put_u16(packet, at, !fold(sum));
    }

    /// Updates the sum at `at`, not yet complemented, to which a network card adds the rest.
    #[inline]
    pub fn apply_to_sum(self, packet: &mut [u8], at: usize) {
        let sum = u64::from(read_u16(packet, at)) + u64::from(self.sum);
        put_u16(packet, at, fold(sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sum_is_that_of_its_words() {
        let bytes = vec![0xff; (1 << 17) + 3];
        assert_eq!(sum(&bytes), 65_537 * 0xffff + 0xff00);
    }
}
