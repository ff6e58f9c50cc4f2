//! Options of a TCP header (RFC 9293 §3.2).

use crate::bytes::read_u32;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const ACCECN: u8 = 174;

/// Largest number of bytes of all options of a header.
pub const MAX_BYTES: usize = 40;

/// An option that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Maximum segment size, bytes.
    Mss(u16),
    /// Shift of the window field (RFC 7323 §2).
    WindowScale(u8),
    /// SACK is understood (RFC 2018 §2).
    SackPermitted,
    /// Bytes of SACK blocks (RFC 2018 §3), usually whole ones of 8 bytes.
    Sack(&'a [u8]),
    /// TSval and TSecr (RFC 7323 §3).
    Timestamps(u32, u32),
    /// Any other kind, or one of those above with a length that it does not have.
    Other,
    /// A length that cannot be: nothing behind it is read.
    Damaged,
}

/// Options one after the other, without no-operations.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
}

impl<'a> Options<'a> {
    /// The options in `bytes`, up to their end.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The blocks of all SACK options.
    #[inline]
    pub fn sack_blocks(self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        for option in self {
            if let TcpOption::Sack(bytes) = option {
                blocks.push_bytes(bytes);
            }
        }
        blocks
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = TcpOption<'a>;

    #[inline]
    fn next(&mut self) -> Option<TcpOption<'a>> {
        // The options of most packets (RFC 7323, appendix A).
        if let &[
            NO_OPERATION,
            NO_OPERATION,
            TIMESTAMPS,
            10,
            v0,
            v1,
            v2,
            v3,
            e0,
            e1,
            e2,
            e3,
            ref behind @ ..,
        ] = self.rest
        {
            self.rest = behind;
            let [value, echo] = [[v0, v1, v2, v3], [e0, e1, e2, e3]].map(u32::from_be_bytes);
            return Some(TcpOption::Timestamps(value, echo));
        }
        let (kind, length) = loop {
            match *self.rest {
                [] | [END, ..] => return None,
                [NO_OPERATION, ref behind @ ..] => self.rest = behind,
                [_] => break (END, 0),
                [kind, length, ..] => break (kind, usize::from(length)),
            }
        };
        let option = (self.rest.split_at_checked(length)).filter(|_| length >= 2);
        let Some((option, behind)) = option else {
            self.rest = &[];
            return Some(TcpOption::Damaged);
        };
        self.rest = behind;
        Some(match (kind, &option[2..]) {
            (MSS, &[high, low]) => TcpOption::Mss(u16::from_be_bytes([high, low])),
            (WINDOW_SCALE, &[shift]) => TcpOption::WindowScale(shift),
            (SACK_PERMITTED, []) => TcpOption::SackPermitted,
            (SACK, blocks) => TcpOption::Sack(blocks),
            (TIMESTAMPS, times) if times.len() == 8 => timestamps(times),
            _ => TcpOption::Other,
        })
    }
}

#[inline]
fn timestamps<'a>(times: &[u8]) -> TcpOption<'a> {
    TcpOption::Timestamps(read_u32(times, 0), read_u32(times, 4))
}

/// SACK blocks of a packet (RFC 2018), in the order of the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u32, u32); Self::MAX],
}

impl SackBlocks {
    /// The most blocks that 40 bytes of options hold (RFC 2018 §3).
    pub const MAX: usize = 4;

    /// Adds left and right edge; a block that does not fit is omitted.
    #[inline]
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (start, end);
            self.count += 1;
        }
    }

    /// Adds the whole blocks of an option.
    #[inline]
    pub fn push_bytes(&mut self, option: &[u8]) {
        for block in option.chunks_exact(8) {
            self.push(read_u32(block, 0), read_u32(block, 4));
        }
    }

    /// The blocks: left edge, right edge.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Counters of the AccECN option in its order (RFC 9768 §3.2.3, order 1): bytes that arrived with ECT(1), CE and ECT(0). An
/// option has all three, the first two, the first, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnBytes {
    count: u8,
    bytes: [u32; Self::MAX],
}

impl AccEcnBytes {
    /// The most counters that an option has.
    pub const MAX: usize = 3;

    /// The first `count` of these.
    pub fn first(count: usize, bytes: [u32; Self::MAX]) -> Self {
        Self {
            count: count.min(Self::MAX) as u8,
            bytes,
        }
    }

    /// The counters that the option has.
    pub fn as_slice(&self) -> &[u32] {
        &self.bytes[..usize::from(self.count)]
    }
}

/// Options to be written, in Linux's layout: each fills whole words, with no-operations in front of it or, of AccECN, behind it.
#[derive(Clone, Copy, Debug)]
pub struct OptionBytes {
    bytes: [u8; MAX_BYTES],
    len: usize,
}

impl Default for OptionBytes {
    fn default() -> Self {
        Self {
            bytes: [0; MAX_BYTES],
            len: 0,
        }
    }
}

impl OptionBytes {
    /// The options so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Bytes that are left.
    pub fn room(&self) -> usize {
        MAX_BYTES - self.len
    }

    /// Adds bytes, if there is room for all of them.
    fn push(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes[self.len..].get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    /// Adds the maximum segment size, bytes.
    pub fn push_mss(&mut self, mss: u16) {
        let [high, low] = mss.to_be_bytes();
        self.push(&[MSS, 4, high, low]);
    }

    /// Adds SACK-permitted, timestamps (TSval and TSecr), or both, which share their words.
    pub fn push_sack_permitted_and_timestamps(
        &mut self,
        sack_permitted: bool,
        timestamps: Option<(u32, u32)>,
    ) {
        let permitted = [SACK_PERMITTED, 2];
        let padding = [NO_OPERATION; 2];
        match timestamps {
            None if sack_permitted => {
                self.push(&padding);
                self.push(&permitted);
            }
            None => {}
            Some((value, echo)) => {
                self.push(if sack_permitted { &permitted } else { &padding });
                self.push(&[TIMESTAMPS, 10]);
                self.push(&value.to_be_bytes());
                self.push(&echo.to_be_bytes());
            }
        }
    }

    /// Adds the shift of the window field.
    pub fn push_window_scale(&mut self, shift: u8) {
        self.push(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
    }

    /// Adds as many SACK blocks as there is room for.
    pub fn push_sack(&mut self, blocks: &SackBlocks) {
        let blocks = blocks.as_slice();
        let padding = (6 - self.len % 4) % 4;
        let blocks = &blocks[..blocks
            .len()
            .min(self.room().saturating_sub(padding + 2) / 8)];
        if !blocks.is_empty() {
            self.push(&[NO_OPERATION; 3][..padding]);
            self.push(&[SACK, 2 + 8 * blocks.len() as u8]);
        }
        for (start, end) in blocks {
            self.push(&start.to_be_bytes());
            self.push(&end.to_be_bytes());
        }
    }

    /// Adds the AccECN option (RFC 9768 §3.2.3) with the low three bytes of its counters, if there is room for all of it. What
    /// follows, or [`Self::align`], aligns it.
    pub fn push_accecn(&mut self, counters: &AccEcnBytes) {
        let counters = counters.as_slice();
        let mut option = [0; 2 + 3 * AccEcnBytes::MAX];
        let bytes = 2 + 3 * counters.len();
        option[..2].copy_from_slice(&[ACCECN, bytes as u8]);
        for (place, counter) in option[2..].chunks_exact_mut(3).zip(counters) {
            place.copy_from_slice(&counter.to_be_bytes()[1..]);
        }
        self.push(&option[..bytes]);
    }

    /// Fills the last word with no-operations.
    pub fn align(&mut self) {
        self.push(&[NO_OPERATION; 3][..(4 - self.len % 4) % 4]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_length_that_cannot_be_ends_the_options() {
        fn read(bytes: &[u8]) -> Vec<TcpOption<'_>> {
            Options::new(bytes).collect()
        }
        let times = TcpOption::Timestamps(9, 7);
        let bytes = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 7, 5, 1, 3, 3];
        assert_eq!(read(&bytes), [times, TcpOption::Damaged]);
        assert_eq!(read(&bytes[..13]), [times, TcpOption::Damaged], "cut");
        assert_eq!(read(&bytes[..12]), [times]);
        assert_eq!(read(&bytes[..11]), [TcpOption::Damaged]);
        assert_eq!(read(&[1, 1, 0, 8, 10]), [], "the end");
        assert_eq!(read(&[8, 9, 0, 0, 0, 0, 0, 0, 0]), [TcpOption::Other]);
    }

    #[test]
    fn an_accecn_option_without_room_is_left_out() {
        let mut options = OptionBytes::default();
        for _ in 0..4 {
            options.push_accecn(&AccEcnBytes::first(3, [1, 2, 3]));
        }
        assert_eq!(options.as_slice().len(), 33, "three of 11 bytes in 40");
        options.push_accecn(&AccEcnBytes::first(1, [9, 2, 3]));
        assert_eq!(options.as_slice()[33..], [ACCECN, 5, 0, 0, 9]);
    }

    proptest! {
        #[test]
        fn damaged_options_never_panic(options in prop::collection::vec(any::<u8>(), 0..40)) {
            Options::new(&options).sack_blocks();
        }
    }
}
