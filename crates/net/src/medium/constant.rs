//! A wire: one packet after the other at a rate, constant or in steps.
//!
//! Rate steps are not events. A step takes effect when the link is next used, which is before the next packet goes on
//! the wire. The observer is given the time of the step (`rate_changes`), so that a meter knows what the link could
//! carry before and after it.

use std::collections::VecDeque;

const NS_PER_S: u64 = 1_000_000_000;

/// A change of a link's rate. The packet that is on the wire then keeps the time it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// Time of the step, ns.
    pub at_ns: u64,
    /// Rate from then on, bit/s.
    pub link_rate_bps: u64,
}

/// Serialises packets one after the other.
#[derive(Clone, Debug)]
pub struct Transmitter {
    link_rate_bps: u64,
    /// Rates to come, in order of time.
    changes: VecDeque<RateChange>,
    /// When the first of them is due, ns; `u64::MAX`: never.
    next_change_ns: u64,
    /// Until when the packet last taken is on the wire, ns.
    busy_until_ns: u64,
    /// What integer nanoseconds left over of the last serialisation time, in units of
    /// 1/`link_rate_bps` ns: carried so that the long-run rate is exact.
    remainder: u64,
    /// The serialisation time of a packet as large as the last one: packets mostly are of few sizes,
    /// and a division takes longer than all else that a transmitter does.
    last: SerialisationTime,
}

/// How long a packet is on the wire.
#[derive(Clone, Copy, Debug, Default)]
struct SerialisationTime {
    wire_bytes: u32,
    whole_ns: u64,
    /// The rest, in units of 1/rate ns; less than one.
    fraction: u64,
}

impl SerialisationTime {
    fn of(wire_bytes: u32, link_rate_bps: u64) -> Self {
        // At most 2^32 B × 8 × 10^9: no overflow in 64 bits for packets below 2 GB.
        let bit_ns = u64::from(wire_bytes) * 8 * NS_PER_S;
        Self {
            wire_bytes,
            whole_ns: bit_ns / link_rate_bps,
            fraction: bit_ns % link_rate_bps,
        }
    }
}

impl Transmitter {
    /// An idle one of `link_rate_bps` bit/s, and of other rates later, in order of time; none is 0.
    pub fn new(link_rate_bps: u64, changes: VecDeque<RateChange>) -> Self {
        let is_positive =
            link_rate_bps > 0 && changes.iter().all(|change| change.link_rate_bps > 0);
        assert!(is_positive, "a link needs a rate");
        Self {
            link_rate_bps,
            next_change_ns: changes.front().map_or(u64::MAX, |change| change.at_ns),
            changes,
            busy_until_ns: 0,
            remainder: 0,
            last: SerialisationTime::default(),
        }
    }

    /// The present rate, bit/s.
    #[inline]
    pub fn link_rate_bps(&self) -> u64 {
        self.link_rate_bps
    }

    /// Whether the rate will change.
    pub(crate) fn changes_rate(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The next change of the rate, if it is due at `now_ns`.
    #[inline]
    pub fn due_change(&self, now_ns: u64) -> Option<RateChange> {
        if now_ns < self.next_change_ns {
            return None;
        }
        self.changes.front().copied()
    }

    /// Changes the rate to `link_rate_bps` bit/s (not zero).
    pub fn set_rate(&mut self, link_rate_bps: u64) {
        assert!(link_rate_bps > 0, "a link needs a rate");
        self.link_rate_bps = link_rate_bps;
        self.remainder = 0; // counted in fractions of the old rate
        self.last = SerialisationTime::default();
    }

    /// The next rate holds.
    pub fn change_rate(&mut self) {
        if let Some(change) = self.changes.pop_front() {
            self.set_rate(change.link_rate_bps);
        }
        let next = self.changes.front();
        self.next_change_ns = next.map_or(u64::MAX, |change| change.at_ns);
    }

    /// Until when the wire is taken, ns.
    #[inline]
    pub fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// Another medium is taken until then, ns.
    pub(crate) fn set_busy_until(&mut self, busy_until_ns: u64) {
        self.busy_until_ns = busy_until_ns;
    }

    /// Puts a packet of `wire_bytes` on the wire, which is free at `now_ns`; when its last bit is
    /// through, ns.
    #[inline]
    pub fn transmit(&mut self, now_ns: u64, wire_bytes: u32) -> u64 {
        debug_assert!(now_ns >= self.busy_until_ns, "the wire is taken");
        if now_ns > self.busy_until_ns {
            self.remainder = 0; // the wire was idle: nothing to carry over
        }
        if self.last.wire_bytes != wire_bytes {
            self.last = SerialisationTime::of(wire_bytes, self.link_rate_bps);
        }
        self.remainder += self.last.fraction;
        self.busy_until_ns = now_ns + self.last.whole_ns;
        if self.remainder >= self.link_rate_bps {
            self.remainder -= self.link_rate_bps;
            self.busy_until_ns += 1;
        }
        self.busy_until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_242_us_at_50_mbit() {
        let mut transmitter = Transmitter::new(50_000_000, VecDeque::new());
        assert_eq!(transmitter.transmit(1_000, 1514), 1_000 + 242_240);
    }

    #[test]
    fn a_new_rate_holds_from_the_next_packet_on() {
        let change = RateChange {
            at_ns: 100_000,
            link_rate_bps: 5_000_000,
        };
        let mut transmitter = Transmitter::new(50_000_000, VecDeque::from([change]));
        let first_ns = transmitter.transmit(0, 1514);
        assert_eq!(transmitter.due_change(99_999), None);
        assert_eq!(transmitter.due_change(100_000), Some(change));
        transmitter.change_rate();
        assert_eq!(transmitter.busy_until_ns(), first_ns, "it keeps its time");
        assert_eq!(transmitter.transmit(first_ns, 1514), first_ns + 2_422_400);
        assert_eq!(transmitter.due_change(u64::MAX), None);
    }

    #[test]
    fn the_long_run_rate_is_exact_although_times_are_whole_nanoseconds() {
        // 3 bit/s does not divide 8e9: each packet of 1 byte takes 2.666… s.
        let mut transmitter = Transmitter::new(3, VecDeque::new());
        let third_ns = (0..3).fold(0, |now_ns, _| transmitter.transmit(now_ns, 1));
        assert_eq!(
            third_ns,
            8 * NS_PER_S,
            "3 bytes at 3 bit/s are 8 s, not a nanosecond less"
        );
    }
}
