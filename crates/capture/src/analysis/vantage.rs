//! Where on the path a capture was made, as far as times tell.

/// What a capture point looks like for the data of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// Beside the data's sender.
    Sender,
    /// Beside the data's receiver.
    Receiver,
    /// Away from both.
    Middle,
    /// Cannot be told: only one direction was seen, there were neither a handshake nor
    /// timestamps, or the whole round trip is too short.
    Unknown,
}

impl Vantage {
    /// All of them, by their place.
    pub(crate) const NAMES: [&str; 4] = ["sender", "receiver", "middle", "unknown"];

    /// As the tables write it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Round trips shorter than this are a host's own doing: of loopback, for one.
const SHORTEST_ROUND_TRIP_NS: u64 = 100_000;
/// Beside an end: within a tenth of the round trip.
const BESIDE: u64 = 10;

/// The place of a capture point on a round trip that takes `near_ns` from the point to the
/// data's sender and back, and `far_ns` to the receiver and back.
pub(crate) fn judge(near_ns: Option<u64>, far_ns: Option<u64>) -> Vantage {
    let (Some(near_ns), Some(far_ns)) = (near_ns, far_ns) else {
        return Vantage::Unknown;
    };
    let round_trip_ns = near_ns.saturating_add(far_ns);
    if round_trip_ns < SHORTEST_ROUND_TRIP_NS {
        Vantage::Unknown
    } else if near_ns < round_trip_ns / BESIDE {
        Vantage::Sender
    } else if far_ns < round_trip_ns / BESIDE {
        Vantage::Receiver
    } else {
        Vantage::Middle
    }
}

/// The shortest time from a TSval of one direction to its echo in the other: from the capture
/// point to that end and back. One probe at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EchoProbe {
    last_tsval: Option<u32>,
    /// TSval that is waited for, and when it was first seen.
    pending: Option<(u32, u64)>,
    pub(crate) min_ns: Option<u64>,
}

impl EchoProbe {
    /// A packet of the direction.
    #[inline]
    pub(crate) fn on_tsval(&mut self, tsval: u32, now_ns: u64) {
        if self.pending.is_none() && self.last_tsval != Some(tsval) {
            self.pending = Some((tsval, now_ns));
        }
        self.last_tsval = Some(tsval);
    }

    /// A packet of the other direction.
    #[inline]
    pub(crate) fn on_tsecr(&mut self, tsecr: u32, now_ns: u64) {
        let Some((tsval, sent_ns)) = self.pending else {
            return;
        };
        if super::sequence::is_before(tsecr, tsval) {
            return;
        }
        self.pending = None;
        if tsecr == tsval {
            let round_trip_ns = now_ns.saturating_sub(sent_ns);
            self.min_ns = Some(self.min_ns.unwrap_or(u64::MAX).min(round_trip_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_a_round_trip_tell_the_place() {
        let ms = |value: u64| Some(value * 1_000_000);
        assert_eq!(judge(ms(0), ms(40)), Vantage::Sender);
        assert_eq!(judge(ms(40), ms(1)), Vantage::Receiver);
        assert_eq!(judge(ms(20), ms(20)), Vantage::Middle);
        assert_eq!(judge(None, ms(20)), Vantage::Unknown);
        assert_eq!(
            judge(Some(20_000), Some(30_000)),
            Vantage::Unknown,
            "loopback"
        );
    }

    #[test]
    fn the_shortest_echo_counts() {
        let mut probe = EchoProbe::default();
        probe.on_tsval(5, 100);
        probe.on_tsval(5, 200);
        probe.on_tsecr(4, 250);
        assert_eq!(probe.min_ns, None, "an echo of something older");
        probe.on_tsecr(5, 300);
        assert_eq!(
            probe.min_ns,
            Some(200),
            "from the first packet with that TSval"
        );
        probe.on_tsval(5, 310);
        probe.on_tsval(6, 400);
        probe.on_tsecr(6, 450);
        assert_eq!(probe.min_ns, Some(50));
        probe.on_tsval(7, 500);
        probe.on_tsecr(8, 510);
        assert_eq!(probe.min_ns, Some(50), "no echo of it");
    }
}
