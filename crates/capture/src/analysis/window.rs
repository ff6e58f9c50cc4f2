//! The receive window that a direction advertises (RFC 9293 §3.8.6, RFC 7323 §2).

/// Largest shift (RFC 7323 §2.3).
const MAX_SHIFT: u8 = 14;

/// What is known of the scaling of both directions' windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// A SYN was not seen.
    Unknown,
    /// Not both sides offered it.
    None,
    /// By so many bits in this direction.
    Shift(u8),
}

impl Scaling {
    /// Of a direction whose SYN was seen or not and offered a shift or not, and the other.
    pub(crate) fn of(
        has_syn: bool,
        shift: Option<u8>,
        has_other_syn: bool,
        other_shift: Option<u8>,
    ) -> Self {
        match (shift, other_shift) {
            _ if !has_syn || !has_other_syn => Self::Unknown,
            (Some(shift), Some(_)) => Self::Shift(shift.min(MAX_SHIFT)),
            _ => Self::None,
        }
    }
}

/// Windows advertised in a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Field of the last packet, to tell duplicate ACKs.
    raw: Option<u16>,
    /// The last, where the scaling is known.
    pub(crate) last_bytes: Option<u64>,
    /// Least that is not 0, most.
    range_bytes: Option<(u64, u64)>,
    pub(crate) zero_pkts: u64,
}

impl Window {
    /// The window of a packet; whether it is the one before. A SYN's is never scaled; where
    /// scaling is in use it is left out of least and most.
    #[inline]
    pub(crate) fn on_packet(&mut self, raw: u16, is_syn: bool, scaling: Scaling) -> bool {
        let is_same = self.raw == Some(raw);
        self.raw = Some(raw);
        let bytes = match scaling {
            _ if is_syn => Some(u64::from(raw)),
            Scaling::Unknown => None,
            Scaling::None => Some(u64::from(raw)),
            Scaling::Shift(shift) => Some(u64::from(raw) << shift),
        };
        self.zero_pkts += u64::from(raw == 0 && !is_syn);
        self.last_bytes = bytes;
        if let Some(bytes) = bytes.filter(|&bytes| bytes > 0)
            && !is_syn
        {
            let (least, most) = self.range_bytes.unwrap_or((bytes, bytes));
            self.range_bytes = Some((least.min(bytes), most.max(bytes)));
        }
        is_same
    }

    pub(crate) fn min_bytes(&self) -> Option<u64> {
        Some(self.range_bytes?.0)
    }

    pub(crate) fn max_bytes(&self) -> Option<u64> {
        Some(self.range_bytes?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_only_if_both_sides_offer_it() {
        let of = |shift, other| Scaling::of(true, shift, true, other);
        assert_eq!(of(Some(7), Some(0)), Scaling::Shift(7));
        assert_eq!(of(Some(7), None), Scaling::None);
        assert_eq!(of(Some(15), Some(1)), Scaling::Shift(14), "RFC 7323 §2.3");
        assert_eq!(Scaling::of(true, Some(7), false, None), Scaling::Unknown);
    }

    #[test]
    fn a_syns_window_is_not_scaled_and_zero_is_counted_apart() {
        let mut window = Window::default();
        assert!(!window.on_packet(65535, true, Scaling::Unknown));
        assert_eq!(window.last_bytes, Some(65535));
        for raw in [100, 0, 0, 50] {
            window.on_packet(raw, false, Scaling::Shift(7));
        }
        assert_eq!(
            (window.min_bytes(), window.max_bytes()),
            (Some(6400), Some(12800))
        );
        assert_eq!(window.zero_pkts, 2);
        assert!(
            window.on_packet(50, false, Scaling::Shift(7)),
            "the one before"
        );
    }

    #[test]
    fn without_the_handshake_it_is_not_known() {
        let mut window = Window::default();
        window.on_packet(100, false, Scaling::Unknown);
        assert_eq!((window.last_bytes, window.min_bytes()), (None, None));
    }
}
