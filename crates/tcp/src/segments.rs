//! The sender's record of every segment between `una` and `nxt`: Linux's
//! retransmission queue, as a ring indexed by segment number.

/// One sent segment: scoreboard flags and what delivery-rate estimation remembers
/// of the moment it left (draft-ietf-ccwg-bbr, "per-packet state").
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// When it was last sent, ns.
    pub(crate) sent_ns: u64,
    /// `first_tx_mstamp` of the connection at that time, µs.
    pub(crate) first_tx_us: u64,
    /// `delivered_mstamp` of the connection at that time, µs.
    pub(crate) delivered_us: u64,
    /// `delivered` of the connection at that time, packets.
    pub(crate) delivered: u32,
    /// Or of [`SACKED`] and its siblings.
    pub(crate) flags: u8,
}

/// The receiver has it (S).
pub(crate) const SACKED: u8 = 1;
/// Declared lost (L).
pub(crate) const LOST: u8 = 2;
/// A retransmission of it is in flight (R).
pub(crate) const RETRANS: u8 = 4;
/// It was retransmitted at least once.
pub(crate) const EVER_RETRANS: u8 = 8;
/// Sent while the application limited the rate.
pub(crate) const APP_LIMITED: u8 = 16;
/// Its delivery was already counted in a rate sample.
pub(crate) const SAMPLED: u8 = 32;

impl Segment {
    #[inline]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(crate) fn sent_us(&self) -> u64 {
        self.sent_ns / 1000
    }
}

/// Ring of the segments `una..nxt`; grows by doubling, never shrinks.
#[derive(Debug)]
pub(crate) struct Segments {
    ring: Vec<Segment>,
    mask: u32,
}

impl Segments {
    pub(crate) fn new() -> Self {
        Self {
            ring: vec![Segment::default(); 64],
            mask: 63,
        }
    }

    #[inline]
    pub(crate) fn get(&self, seq: u32) -> &Segment {
        &self.ring[(seq & self.mask) as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, seq: u32) -> &mut Segment {
        &mut self.ring[(seq & self.mask) as usize]
    }

    /// Makes room for segment `nxt` while `una..nxt` stay.
    #[inline]
    pub(crate) fn reserve(&mut self, una: u32, nxt: u32) {
        if nxt - una > self.mask {
            self.grow(una, nxt);
        }
    }

    #[cold]
    fn grow(&mut self, una: u32, nxt: u32) {
        let mut ring = vec![Segment::default(); self.ring.len() * 2];
        let mask = ring.len() as u32 - 1;
        for seq in una..nxt {
            ring[(seq & mask) as usize] = *self.get(seq);
        }
        self.ring = ring;
        self.mask = mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_keeps_every_segment() {
        let mut segments = Segments::new();
        let una = 1_000_003;
        for seq in una..una + 1000 {
            segments.reserve(una, seq);
            segments.get_mut(seq).sent_ns = u64::from(seq);
        }
        assert!((una..una + 1000).all(|seq| segments.get(seq).sent_ns == u64::from(seq)));
    }
}
