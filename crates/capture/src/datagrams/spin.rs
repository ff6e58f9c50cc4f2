//! QUIC's latency spin bit (RFC 9000 §17.4): the client inverts what it last received, the server echoes it, so that it
//! changes once a round trip.

/// Bits of the first byte: the form of the header, the bit that is always set, and the spin bit of a short header.
const LONG_FORM: u8 = 0x80;
const FIXED: u8 = 0x40;
const SPIN: u8 = 0x20;

/// The spin bit of a packet; `None` for long headers and what is not QUIC.
pub(super) fn spin_bit(payload: &[u8]) -> Option<bool> {
    let first = *payload.first()?;
    (first & (LONG_FORM | FIXED) == FIXED).then_some(first & SPIN != 0)
}

/// The bit of one direction, and when it last changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spin {
    bit: Option<bool>,
    changed_ns: Option<u64>,
}

impl Spin {
    /// Takes a packet's bit, and returns the round trip that ends with it, if one does.
    pub(super) fn rtt_ns(&mut self, bit: bool, time_ns: u64) -> Option<u64> {
        if self.bit.replace(bit).is_none_or(|before| before == bit) {
            return None;
        }
        let before_ns = self.changed_ns.replace(time_ns);
        before_ns.map(|before_ns| time_ns.saturating_sub(before_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_lies_between_two_changes() {
        let mut spin = Spin::default();
        let bits = [(false, 0), (true, 5), (true, 9), (false, 45), (true, 90)];
        let found: Vec<_> = bits.map(|(bit, ms)| spin.rtt_ns(bit, ms)).into();
        assert_eq!(found, [None, None, None, Some(40), Some(45)]);
    }

    #[test]
    fn only_short_headers_have_one() {
        assert_eq!(spin_bit(&[0x40, 1]), Some(false));
        assert_eq!(spin_bit(&[0x7f]), Some(true));
        for other in [&[][..], &[0xe0], &[0x20], &[0x00]] {
            assert_eq!(spin_bit(other), None);
        }
    }
}
