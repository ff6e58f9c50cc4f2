//! What another protocol than TCP sends.

use dumbbell_net::{ETHERNET_HEADER_BYTES, IPV4_HEADER_BYTES};

/// UDP header (RFC 768), bytes.
const UDP_HEADER_BYTES: u32 = 8;

/// Wire bytes of a datagram beyond its payload: 14 + 20 + 8.
pub const DATAGRAM_HEADER_BYTES: u32 = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

/// A datagram of another protocol: UDP's header without what the network does not look at. An application's goes from a
/// flow's sender to its receiver and has only a size; another transport's goes either way, and its bytes are kept
/// elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramHeader {
    /// Its number among the sender's; of one with bytes what [`DatagramHeader::kept`] makes of its place.
    pub number: u64,
    /// When it left, ns.
    pub sent_ns: u64,
}

impl DatagramHeader {
    const KEPT: u64 = 1 << 63;
    const REVERSE: u64 = 1 << 62;
    const GARBLED: u64 = 1 << 61;
    const FIRST_SHIFT: u32 = 58;
    const GARBLE_SHIFT: u32 = 32;
    /// Bits of the random number that says what is wrong.
    const GARBLE_BITS: u64 = 0xff_ffff;

    /// One whose bytes are kept at `place`; `is_reverse`: it goes from the flow's receiver to its sender.
    #[inline]
    pub fn kept(place: u32, is_reverse: bool, sent_ns: u64) -> Self {
        let reverse = if is_reverse { Self::REVERSE } else { 0 };
        Self {
            number: Self::KEPT | reverse | u64::from(place),
            sent_ns,
        }
    }

    /// One that shows of its first byte what encryption leaves readable: QUIC's three highest bits.
    #[inline]
    #[must_use]
    pub fn showing(mut self, first_byte: u8) -> Self {
        self.number |= u64::from(first_byte >> 5) << Self::FIRST_SHIFT;
        self
    }

    /// The readable bits of its first byte; `None`: it has only a size.
    #[inline]
    pub fn first_byte(&self) -> Option<u8> {
        let bits = (self.number >> Self::FIRST_SHIFT) as u8 & 7;
        self.place().map(|_| bits << 5)
    }

    /// Where its bytes are kept; `None`: it has only a size.
    #[inline]
    pub fn place(&self) -> Option<u32> {
        (self.number & Self::KEPT != 0).then_some(self.number as u32)
    }

    /// Whether it goes from the flow's receiver to its sender.
    #[inline]
    pub fn is_reverse(&self) -> bool {
        self.number & (Self::KEPT | Self::REVERSE) == Self::KEPT | Self::REVERSE
    }

    /// A random number that says which of its bytes is wrong, and how, if one is.
    pub fn garbled(&self) -> Option<u64> {
        let is_garbled = self.place().is_some() && self.number & Self::GARBLED != 0;
        is_garbled.then_some((self.number >> Self::GARBLE_SHIFT) & Self::GARBLE_BITS)
    }

    /// One of its bytes becomes wrong, by a random number, if it has any; whether it has.
    pub(super) fn garble(&mut self, draw: u64) -> bool {
        let has_bytes = self.place().is_some();
        if has_bytes {
            self.number |= Self::GARBLED | (draw & Self::GARBLE_BITS) << Self::GARBLE_SHIFT;
        }
        has_bytes
    }

    /// Wire bytes of a datagram with `payload_bytes` (Ethernet, IPv4, RFC 768).
    #[inline]
    pub fn wire_bytes(payload_bytes: u32) -> u32 {
        DATAGRAM_HEADER_BYTES + payload_bytes
    }
}
