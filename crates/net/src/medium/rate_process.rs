//! A wire whose rate changes by itself, down to nothing.

use super::{Account, Port, Transmitter};

const BIT_NS_PER_BYTE: u128 = 8_000_000_000;

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

/// Serialises packets at a rate that a source changes. A packet keeps the time that it was given.
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
    /// Of `source`, whose first rate begins at `start_ns`; before that the first rate holds too.
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
        self.busy_until_ns = self.transmitter.transmit(now_ns, wire_bytes);
        Some(self.busy_until_ns)
    }
}
