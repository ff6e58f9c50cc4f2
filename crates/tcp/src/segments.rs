//! The sender's record of every segment between `una` and `nxt`: Linux's
//! retransmission queue, as a ring indexed by segment number.

use dumbbell_cc::{Sock, fetch};

/// One sent segment: scoreboard flags and the delivery-rate state at the time it was sent
/// (draft-ietf-ccwg-bbr, "per-packet state").
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// When it was last sent, µs.
    pub sent_us: u64,
    /// `first_tx_mstamp` of the connection at that time, µs.
    pub first_tx_us: u64,
    /// `delivered_mstamp` of the connection at that time, µs.
    pub delivered_us: u64,
    /// `delivered` of the connection at that time, packets.
    pub delivered: u32,
    /// `delivered_ce` of the connection at that time, packets.
    pub delivered_ce: DeliveredCe,
    /// Or of [`SACKED`] and its siblings.
    pub flags: u8,
}

/// The low 24 bits of `delivered_ce`, which fit next to the flags (Linux keeps 20).
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveredCe([u8; 3]);

impl DeliveredCe {
    #[inline]
    pub(crate) fn new(delivered_ce: u32) -> Self {
        let [low, middle, high, _] = delivered_ce.to_le_bytes();
        Self([low, middle, high])
    }

    /// The difference to `now`.
    #[inline]
    pub(crate) fn until(self, now: u32) -> u32 {
        now.wrapping_sub(self.low_bits()) & 0xff_ffff
    }

    /// The kept bits.
    #[inline]
    pub(crate) fn low_bits(self) -> u32 {
        let [low, middle, high] = self.0;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

/// The connection's state when a segment left, for congestion control algorithms written for kernels patched
/// for BBRv2 and BBRv3.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TransmitState {
    /// Packets in flight, this one included.
    pub(crate) in_flight: u32,
    /// `lost` of the connection, packets.
    pub(crate) lost: u32,
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

/// It has PSH: it ends a burst, or what the application had written when it was sent.
pub(crate) const PUSHED: u8 = 64;
/// It is the first of those that were handed down together, which are sent again together (the head of one of Linux's
/// `sk_buff`s).
pub(crate) const HEAD: u8 = 128;

impl Segment {
    /// A packet that leaves now, with the connection's delivery-rate state; `flags` are kept, but for what the
    /// application limited.
    #[inline]
    pub fn stamped(sock: &Sock, flags: u8) -> Self {
        let app_limited = if sock.app_limited != 0 {
            APP_LIMITED
        } else {
            0
        };
        Self {
            sent_us: sock.tcp_mstamp,
            first_tx_us: sock.first_tx_mstamp,
            delivered_us: sock.delivered_mstamp,
            delivered: sock.delivered,
            delivered_ce: DeliveredCe::new(sock.delivered_ce),
            flags: flags & !APP_LIMITED | app_limited,
        }
    }

    #[inline]
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Segments for which a ring has room at first: of many flows each has few.
const FIRST_SIZE: usize = 16;

/// Ring of the segments `una..nxt`; grows by doubling, never shrinks.
#[derive(Debug)]
pub(crate) struct Segments {
    ring: Vec<Segment>,
    /// One for each entry of `ring`; empty if it is not recorded.
    transmit_states: Vec<TransmitState>,
    mask: u32,
}

impl Segments {
    pub(crate) fn new() -> Self {
        Self {
            ring: vec![Segment::default(); FIRST_SIZE],
            transmit_states: Vec::new(),
            mask: FIRST_SIZE as u32 - 1,
        }
    }

    /// Keeps each segment's [`TransmitState`] from now on.
    pub(crate) fn record_transmit_states(&mut self) {
        self.transmit_states = vec![TransmitState::default(); self.ring.len()];
    }

    /// Whether each segment's [`TransmitState`] is kept.
    #[inline]
    pub(crate) fn records_transmit_states(&self) -> bool {
        !self.transmit_states.is_empty()
    }

    /// What was recorded when a segment left; zeros without a record.
    #[inline]
    pub(crate) fn transmit_state(&self, seq: u32) -> TransmitState {
        let state = self.transmit_states.get((seq & self.mask) as usize);
        state.copied().unwrap_or_default()
    }

    /// Records the state in which a segment leaves, if that is wanted.
    #[inline]
    pub(crate) fn set_transmit_state(&mut self, seq: u32, state: TransmitState) {
        if let Some(kept) = self.transmit_states.get_mut((seq & self.mask) as usize) {
            *kept = state;
        }
    }

    #[inline]
    pub(crate) fn get(&self, seq: u32) -> &Segment {
        &self.ring[(seq & self.mask) as usize]
    }

    /// Asks for the memory of a segment and the one behind it.
    #[inline]
    pub(crate) fn fetch_ahead(&self, seq: u32) {
        fetch(self.get(seq));
        fetch(self.get(seq.wrapping_add(1)));
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
        if !self.transmit_states.is_empty() {
            let mut states = vec![TransmitState::default(); ring.len()];
            for seq in una..nxt {
                states[(seq & mask) as usize] = self.transmit_state(seq);
            }
            self.transmit_states = states;
        }
        self.ring = ring;
        self.mask = mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_bits_of_delivered_ce_give_the_difference() {
        for at_sending in [0, 1, 0xff_ffff, 0x100_0000, u32::MAX] {
            let kept = DeliveredCe::new(at_sending);
            for more in [0, 1, 100_000] {
                assert_eq!(kept.until(at_sending.wrapping_add(more)), more);
            }
        }
        assert_eq!(size_of::<Segment>(), 32, "no byte more than without it");
    }

    #[test]
    fn growing_keeps_every_segment() {
        let mut segments = Segments::new();
        segments.record_transmit_states();
        let una = 1_000_003;
        for seq in una..una + 1000 {
            segments.reserve(una, seq);
            segments.get_mut(seq).sent_us = u64::from(seq);
            let state = TransmitState {
                in_flight: seq,
                lost: 1,
            };
            segments.set_transmit_state(seq, state);
        }
        let is_kept = |seq| segments.get(seq).sent_us == u64::from(seq);
        assert!((una..una + 1000).all(is_kept));
        let is_kept = |seq| segments.transmit_state(seq).in_flight == seq;
        assert!((una..una + 1000).all(is_kept));
    }
}
