//! Options of pcapng blocks (§3.5): code, length, value padded to 32 bits.

use super::byte_order::ByteOrder;

/// Iterates over options up to their end mark, or up to one that exceeds the block.
pub(super) struct Options<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> Options<'a> {
    pub(super) fn new(order: ByteOrder, bytes: &'a [u8]) -> Self {
        Self { order, rest: bytes }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[c0, c1, l0, l1], rest) = self.rest.split_first_chunk()?;
        let code = self.order.u16([c0, c1]);
        let length = usize::from(self.order.u16([l0, l1]));
        if code == 0 {
            self.rest = &[];
            return None;
        }
        let value = rest.get(..length)?;
        self.rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    }
}
