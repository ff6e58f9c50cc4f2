//! Bits, eight in a byte, the first in its lowest bit.

/// A list of bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
}

impl Bits {
    pub(crate) fn get(&self, index: usize) -> bool {
        self.bytes[index / 8] & (1 << (index % 8)) != 0
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut bits = bits.into_iter();
        let mut bytes = Vec::with_capacity(bits.size_hint().0.div_ceil(8));
        while let Some(first) = bits.next() {
            let others = (1..8).zip(&mut bits);
            bytes.push(others.fold(u8::from(first), |byte, (place, bit)| {
                byte | u8::from(bit) << place
            }));
        }
        Self { bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bit_is_the_lowest_of_the_first_byte() {
        let bits: Bits = (0..10).map(|index| index % 3 == 0).collect();
        assert_eq!(bits.bytes(), [0b0100_1001, 0b10]);
        assert!(bits.get(9) && !bits.get(8));
    }
}
