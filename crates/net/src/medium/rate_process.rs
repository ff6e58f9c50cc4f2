//! A wire whose rate changes by itself, down to nothing.

use super::{Account, Port, Transmitter};

const BIT_NS_PER_BYTE: u128 = 8_000_000_000;

/// Later than any run ends: 146 years.
const NEVER_NS: u64 = 1 << 62;

/// A rate for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stay {
    /// bit/s; 0: nothing passes.
    pub(super) rate_bps: u64,
    /// How long, ns; not 0.
    pub(super) for_ns: u64,
}

/// Where rates come from.
pub(super) trait RateSource: Clone {
    /// The next rate.
    fn next(&mut self) -> Stay;
}

/// Serialises packets at a rate that a source changes, also while a packet is on the wire.
#[derive(Clone, Debug)]
pub(super) struct RateProcess<S> {
    pub(super) source: S,
    transmitter: Transmitter,
    present: Stay,
    since_ns: u64,
    /// When the present rate ends, ns.
    until_ns: u64,
    busy_until_ns: u64,
    /// What was offered before the present rate, byte·8·10⁹.
    offered_bit_ns: u128,
    carried_bytes: u64,
}

impl<S: RateSource> RateProcess<S> {
    /// Takes rates from `source`, whose first begins at `start_ns`; before that the first rate holds too.
    pub(super) fn new(mut source: S, start_ns: u64) -> Self {
        let present = source.next();
        Self {
            source,
            transmitter: Transmitter::new(present.rate_bps.max(1), [].into()),
            until_ns: start_ns + present.for_ns,
            present,
            since_ns: start_ns,
            busy_until_ns: 0,
            offered_bit_ns: 0,
            carried_bytes: 0,
        }
    }

    /// Until when the wire is taken, ns.
    pub(super) fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// Brings the rate up to `now_ns`.
    fn pass(&mut self, now_ns: u64) {
        while self.until_ns <= now_ns {
            self.offered_bit_ns +=
                u128::from(self.until_ns - self.since_ns) * u128::from(self.present.rate_bps);
            self.present = self.source.next();
            self.since_ns = self.until_ns;
            self.until_ns += self.present.for_ns;
            self.transmitter.set_rate(self.present.rate_bps.max(1));
        }
    }

    /// What was offered until `now_ns`, and what carried packets.
    pub(super) fn account(&mut self, now_ns: u64) -> Account {
        self.pass(now_ns);
        let present_ns = now_ns.saturating_sub(self.since_ns);
        let bit_ns =
            self.offered_bit_ns + u128::from(present_ns) * u128::from(self.present.rate_bps);
        Account {
            offered_bytes: (bit_ns / BIT_NS_PER_BYTE) as u64,
            carried_bytes: self.carried_bytes,
        }
    }

    /// When it takes the next packet, ns, which can be taken from `from_ns` on. While nothing passes
    /// that may be when the rate changes next.
    pub(super) fn next_ns(&mut self, now_ns: u64, from_ns: u64) -> u64 {
        self.pass(now_ns);
        let free_ns = from_ns.max(self.busy_until_ns);
        if self.present.rate_bps == 0 {
            return free_ns.max(self.until_ns);
        }
        free_ns
    }

    /// Takes a packet at `now_ns`, if something passes; when it is through, ns.
    pub(super) fn take(&mut self, now_ns: u64, port: &mut dyn Port) -> Option<u64> {
        self.pass(now_ns);
        if now_ns < self.busy_until_ns || self.present.rate_bps == 0 {
            return None;
        }
        let wire_bytes = port.take()?;
        self.carried_bytes += u64::from(wire_bytes);
        let wanted_bit_ns = u128::from(wire_bytes) * BIT_NS_PER_BYTE;
        self.busy_until_ns = match wanted_bit_ns.checked_sub(self.left_bit_ns(now_ns)) {
            None | Some(0) => self.transmitter.transmit(now_ns, wire_bytes),
            Some(rest_bit_ns) => self.finish_ns(rest_bit_ns),
        };
        Some(self.busy_until_ns)
    }

    /// What the present rate still carries from `now_ns` on, byte·8·10⁹.
    fn left_bit_ns(&self, now_ns: u64) -> u128 {
        u128::from(self.until_ns - now_ns) * u128::from(self.present.rate_bps)
    }

    /// When the rates after the present one have carried the rest, ns. They are looked at ahead of their
    /// time: the source itself goes on when it is.
    fn finish_ns(&self, mut rest_bit_ns: u128) -> u64 {
        let mut later = self.source.clone();
        let mut at_ns = self.until_ns;
        while at_ns < NEVER_NS {
            let stay = later.next();
            let carries_bit_ns = u128::from(stay.for_ns) * u128::from(stay.rate_bps);
            if rest_bit_ns <= carries_bit_ns {
                return at_ns + rest_bit_ns.div_ceil(u128::from(stay.rate_bps)) as u64;
            }
            rest_bit_ns -= carries_bit_ns;
            at_ns += stay.for_ns;
        }
        NEVER_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 8 Mbit/s and nothing, a millisecond each.
    #[derive(Clone)]
    struct Turns(bool);

    impl RateSource for Turns {
        fn next(&mut self) -> Stay {
            self.0 = !self.0;
            Stay {
                rate_bps: 8_000_000 * u64::from(self.0),
                for_ns: MS,
            }
        }
    }

    struct Packets(Vec<u32>);

    impl Port for Packets {
        fn backlog_pkts(&self) -> u64 {
            self.0.len() as u64
        }

        fn backlog_bytes(&self) -> u64 {
            self.0.iter().map(|&bytes| u64::from(bytes)).sum()
        }

        fn take(&mut self) -> Option<u32> {
            self.0.pop()
        }

        fn deliver(&mut self, _: u64, _: u64) {}

        fn lose(&mut self, _: u64) {}
    }

    #[test]
    fn a_packet_waits_on_the_wire_while_nothing_passes() {
        let mut process = RateProcess::new(Turns(false), 0);
        let mut packets = Packets(vec![1514; 100]);
        let mut now_ns = 0;
        let mut done_ns = Vec::new();
        while let Some(through_ns) = {
            now_ns = process.next_ns(now_ns, now_ns);
            process.take(now_ns, &mut packets)
        } {
            done_ns.push(through_ns);
        }
        // 1000 bytes in each millisecond of even number.
        let expected_ns: Vec<u64> = (1..=100)
            .map(|packet| packet * 1_514_000)
            .map(|carried_ns| carried_ns + (carried_ns - 1) / MS * MS)
            .collect();
        assert_eq!(done_ns, expected_ns);
        let account = process.account(expected_ns[99]);
        assert_eq!(account.carried_bytes, 151_400);
        assert_eq!(account.offered_bytes, 151_400, "all of it was used");
    }

    #[test]
    fn what_is_looked_at_ahead_of_its_time_comes_again() {
        let mut process = RateProcess::new(Turns(false), 0);
        let mut packets = Packets(vec![10_000]);
        let through_ns = process.take(0, &mut packets);
        assert_eq!(through_ns, Some(19 * MS));
        assert_eq!(process.account(5 * MS).offered_bytes, 3_000);
    }
}
