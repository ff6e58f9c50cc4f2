//! Where on the path a capture was made, inferred from times.

use crate::connection::View;

/// Where a capture point appears to be for the data of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// Next to the data's sender.
    Sender,
    /// Next to the data's receiver.
    Receiver,
    /// Away from both.
    Middle,
    /// Unknown: only one direction was seen, there were neither a handshake nor timestamps, or the
    /// whole round trip is too short.
    Unknown,
}

impl Vantage {
    /// All of them, by their place.
    pub(crate) const NAMES: [&str; 4] = ["sender", "receiver", "middle", "unknown"];

    /// The name that the tables use.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Round trips shorter than this are within a host, such as loopback.
const SHORTEST_ROUND_TRIP_NS: u64 = 100_000;
/// Next to an end: within a tenth of the round trip.
const BESIDE: u64 = 10;
/// If the shortest round trips are too short because queues dominate the path: a mean of at least
/// this is used instead, and the nearer end must be nearer by this factor, because a mean also
/// includes the ends' processing time.
const QUEUED_ROUND_TRIP_NS: u64 = 1_000_000;
const NEARER: u64 = 4;

/// Shortest and mean time from a point to one end and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundTrip {
    pub(crate) min_ns: u64,
    pub(crate) mean_ns: u64,
}

/// The place of a capture point on a round trip that takes `near` from the point to the data's
/// sender and back, and `far` to the receiver and back.
pub(crate) fn judge(near: Option<RoundTrip>, far: Option<RoundTrip>) -> Vantage {
    let (Some(near), Some(far)) = (near, far) else {
        return Vantage::Unknown;
    };
    let shortest_ns = near.min_ns.saturating_add(far.min_ns);
    let queued_ns = near.mean_ns.saturating_add(far.mean_ns);
    if shortest_ns >= SHORTEST_ROUND_TRIP_NS {
        if near.min_ns < shortest_ns / BESIDE {
            Vantage::Sender
        } else if far.min_ns < shortest_ns / BESIDE {
            Vantage::Receiver
        } else {
            Vantage::Middle
        }
    } else if queued_ns < QUEUED_ROUND_TRIP_NS {
        Vantage::Unknown
    } else if near.mean_ns < far.mean_ns / NEARER {
        Vantage::Sender
    } else if far.mean_ns < near.mean_ns / NEARER {
        Vantage::Receiver
    } else {
        Vantage::Unknown
    }
}

/// Times from a TSval of one direction to its echo in the other: from the capture point to that
/// end and back. One probe at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EchoProbe {
    last_tsval: Option<u32>,
    /// TSval that is awaited, and when it was first seen.
    pending: Option<(u32, u64)>,
    min_ns: u64,
    sum_ns: u64,
    count: u64,
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

    /// A packet of the other direction; the time since the TSval that it echoes, if that was awaited.
    #[inline]
    pub(crate) fn on_tsecr(&mut self, tsecr: u32, now_ns: u64) -> Option<u64> {
        let (tsval, sent_ns) = self.pending?;
        if super::sequence::is_before(tsecr, tsval) {
            return None;
        }
        self.pending = None;
        if tsecr != tsval {
            return None;
        }
        let round_trip_ns = now_ns.saturating_sub(sent_ns);
        self.min_ns = match self.count {
            0 => round_trip_ns,
            _ => self.min_ns.min(round_trip_ns),
        };
        self.sum_ns = self.sum_ns.saturating_add(round_trip_ns);
        self.count += 1;
        Some(round_trip_ns)
    }

    /// Shortest and mean, if there was an echo.
    pub(crate) fn round_trip(&self) -> Option<RoundTrip> {
        (self.count > 0).then(|| RoundTrip {
            min_ns: self.min_ns,
            mean_ns: self.sum_ns / self.count,
        })
    }
}

impl View {
    /// Where the point appears to be for a direction's data.
    pub(crate) fn vantage(&self, direction: usize) -> Vantage {
        // From the point to the far end of a direction and back.
        let round_trip = |side: usize| {
            let this = self.directions[side].as_ref()?;
            let of_handshake = this.handshake_rtt_ns.map(|ns| (ns, ns));
            let of_data = this.rtt.mean_ns().map(|ns| (this.rtt.min_ns, ns as u64));
            let of_echo = this
                .echo
                .round_trip()
                .map(|trip| (trip.min_ns, trip.mean_ns));
            let ways = [of_handshake, of_data, of_echo];
            Some(RoundTrip {
                min_ns: ways.into_iter().flatten().map(|(min_ns, _)| min_ns).min()?,
                // Echoes are of every packet; data's ACKs may be few.
                mean_ns: of_echo.or(of_data).or(of_handshake)?.1,
            })
        };
        judge(round_trip(1 - direction), round_trip(direction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(min_us: u64, mean_us: u64) -> Option<RoundTrip> {
        let (min_ns, mean_ns) = (min_us * 1000, mean_us * 1000);
        Some(RoundTrip { min_ns, mean_ns })
    }

    #[test]
    fn the_halves_of_a_round_trip_reveal_the_place() {
        assert_eq!(judge(us(0, 9000), us(40_000, 41_000)), Vantage::Sender);
        assert_eq!(judge(us(40_000, 40_000), us(1000, 1000)), Vantage::Receiver);
        assert_eq!(
            judge(us(20_000, 20_000), us(20_000, 20_000)),
            Vantage::Middle
        );
        assert_eq!(judge(None, us(20_000, 20_000)), Vantage::Unknown);
    }

    #[test]
    fn where_only_a_queue_delays_the_means_tell() {
        assert_eq!(judge(us(5, 100), us(30, 20_000)), Vantage::Sender);
        assert_eq!(judge(us(30, 20_000), us(5, 100)), Vantage::Receiver);
        assert_eq!(judge(us(5, 8000), us(30, 20_000)), Vantage::Unknown);
        assert_eq!(judge(us(20, 40), us(30, 50)), Vantage::Unknown, "loopback");
    }

    #[test]
    fn the_shortest_echo_counts() {
        let mut probe = EchoProbe::default();
        probe.on_tsval(5, 100);
        probe.on_tsval(5, 200);
        probe.on_tsecr(4, 250);
        assert_eq!(probe.round_trip(), None, "an echo of something older");
        probe.on_tsecr(5, 300);
        assert_eq!(probe.min_ns, 200, "from the first packet with that TSval");
        probe.on_tsval(5, 310);
        probe.on_tsval(6, 400);
        probe.on_tsecr(6, 450);
        assert_eq!(probe.min_ns, 50);
        probe.on_tsval(7, 500);
        probe.on_tsecr(8, 510);
        assert_eq!(probe.min_ns, 50, "no echo of it");
    }
}
