//! The receive window that a direction advertises (RFC 9293 §3.8.6, RFC 7323 §2).

/// Largest shift (RFC 7323 §2.3).
const MAX_SHIFT: u8 = 14;

/// What is known about the scaling of both directions' windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// A SYN was not seen.
    Unknown,
    /// Not both sides offered it.
    None,
    /// Scaled by this many bits in this direction.
    Shift(u8),
}

impl Scaling {
    /// The scaling of a direction whose SYN, if seen, offered a shift or none; and likewise the
    /// other direction.
    #[inline]
    pub(crate) fn of(own: Option<Option<u8>>, other: Option<Option<u8>>) -> Self {
        match (own, other) {
            (Some(None), _) | (_, Some(None)) => Self::None,
            (Some(Some(shift)), Some(Some(_))) => Self::Shift(shift.min(MAX_SHIFT)),
            _ => Self::Unknown,
        }
    }
}

impl Scaling {
    /// The largest window that the field can express.
    pub(crate) fn most_bytes(self) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::None => Some(u16::MAX.into()),
            Self::Shift(shift) => Some(u64::from(u16::MAX) << shift),
        }
    }
}

/// Windows advertised in a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    /// Field of the last packet, to detect duplicate ACKs.
    raw: Option<u16>,
    /// The last, where the scaling is known.
    pub(crate) last_bytes: Option<u64>,
    /// The window of the SYN, which is never scaled.
    syn_bytes: Option<u64>,
    /// Smallest value that is not 0, and largest; without the SYN's.
    range_bytes: Option<(u64, u64)>,
    pub(crate) zero_pkts: u64,
}

impl Window {
    /// Records the window of a packet; returns whether it is unchanged.
    #[inline]
    pub(crate) fn on_packet(&mut self, raw: u16, is_syn: bool, scaling: Scaling) -> bool {
        let is_same = self.raw == Some(raw);
        self.raw = Some(raw);
        if is_syn {
            self.syn_bytes = Some(u64::from(raw));
            self.last_bytes = self.syn_bytes;
            return is_same;
        }
        self.zero_pkts += u64::from(raw == 0);
        let bytes = match scaling {
            Scaling::Unknown => None,
            Scaling::None => Some(u64::from(raw)),
            Scaling::Shift(shift) => Some(u64::from(raw) << shift),
        };
        self.last_bytes = bytes;
        if let Some(bytes) = bytes.filter(|&bytes| bytes > 0) {
            let (least, most) = self.range_bytes.unwrap_or((bytes, bytes));
            self.range_bytes = Some((least.min(bytes), most.max(bytes)));
        }
        is_same
    }

    /// Smallest except 0, and largest; including the SYN's if it is on the same scale.
    pub(crate) fn range_bytes(&self, scaling: Scaling) -> Option<(u64, u64)> {
        let of_syn = self
            .syn_bytes
            .filter(|&bytes| bytes > 0 && scaling == Scaling::None);
        match (self.range_bytes, of_syn) {
            (Some((least, most)), Some(syn)) => Some((least.min(syn), most.max(syn))),
            (range, syn) => range.or(syn.map(|bytes| (bytes, bytes))),
        }
    }

    /// Whether the window is closed.
    pub(crate) fn is_zero(&self) -> bool {
        self.raw == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_only_if_both_sides_offer_it() {
        let of = Scaling::of;
        assert_eq!(of(Some(Some(7)), Some(Some(0))), Scaling::Shift(7));
        assert_eq!(of(Some(Some(7)), Some(None)), Scaling::None);
        assert_eq!(
            of(Some(Some(15)), Some(Some(1))),
            Scaling::Shift(14),
            "RFC 7323 §2.3"
        );
        assert_eq!(of(Some(Some(7)), None), Scaling::Unknown);
        assert_eq!(
            of(Some(None), None),
            Scaling::None,
            "whatever the other offered"
        );
    }

    #[test]
    fn a_syns_window_is_not_scaled_and_zero_is_counted_apart() {
        let mut window = Window::default();
        assert!(!window.on_packet(65535, true, Scaling::Unknown));
        assert_eq!(window.last_bytes, Some(65535));
        for raw in [100, 0, 0, 50] {
            window.on_packet(raw, false, Scaling::Shift(7));
        }
        assert_eq!(window.range_bytes(Scaling::Shift(7)), Some((6400, 12800)));
        assert_eq!(window.range_bytes(Scaling::None), Some((6400, 65535)));
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
        assert_eq!(window.last_bytes, None);
        assert_eq!(window.range_bytes(Scaling::Unknown), None);
    }
}
