//! Opportunities to send: at given times some bytes may pass, and what is not used then is lost.

use super::{Account, Port};

/// Some bytes may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opportunity {
    /// Time of the opportunity, ns.
    pub(super) at_ns: u64,
    /// How many bytes.
    pub(super) bytes: u64,
    /// Number of packets whose last byte may be among them.
    pub(super) pkts: u64,
}

/// Where opportunities come from.
pub(super) trait OpportunitySource: Clone {
    /// The next one, later than the one before; `u64::MAX` ns: there is none any more.
    fn next(&mut self) -> Opportunity;

    /// Leaves out opportunities before `now_ns`, if it knows a faster way than one by one; how many
    /// bytes they had.
    fn skip(&mut self, _now_ns: u64) -> u64 {
        0
    }
}

/// Carries packets at opportunities. An opportunity carries parts of packets as well: a packet is
/// through when its last byte is, and what an empty queue leaves of an opportunity is lost.
#[derive(Clone, Debug)]
pub(super) struct Opportunities<S> {
    pub(super) source: S,
    /// The present one, less what it carried; if it is to come, that of the packet being carried.
    present: Opportunity,
    /// Bytes of a packet that count for nothing.
    uncounted_bytes: u32,
    busy_until_ns: u64,
    account: Account,
}

impl<S: OpportunitySource> Opportunities<S> {
    /// Makes opportunities from `source`; `uncounted_bytes` of each packet count for nothing.
    pub(super) fn new(source: S, uncounted_bytes: u32) -> Self {
        Self {
            source,
            present: Opportunity {
                at_ns: 0,
                bytes: 0,
                pkts: 0,
            },
            uncounted_bytes,
            busy_until_ns: 0,
            account: Account::default(),
        }
    }

    /// Until when a packet is being carried, ns.
    pub(super) fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    fn follow(&mut self) {
        self.present = self.source.next();
        if self.present.at_ns < u64::MAX {
            self.account.offered_bytes += self.present.bytes;
        }
    }

    /// Loses what was to be used before `now_ns`.
    fn pass(&mut self, now_ns: u64) {
        if self.present.at_ns < now_ns {
            self.account.offered_bytes += self.source.skip(now_ns);
        }
        while self.present.at_ns < now_ns || self.is_used_up() {
            self.follow();
        }
    }

    fn is_used_up(&self) -> bool {
        self.present.at_ns < u64::MAX && (self.present.bytes == 0 || self.present.pkts == 0)
    }

    /// What was offered until `now_ns`, and what carried packets.
    pub(super) fn account(&self, now_ns: u64) -> Account {
        // What comes at `now_ns` may still use what is offered then.
        let mut later = self.clone();
        later.pass(now_ns.saturating_add(1));
        let to_come_bytes = if later.present.at_ns < u64::MAX {
            later.present.bytes
        } else {
            0
        };
        Account {
            offered_bytes: later.account.offered_bytes - to_come_bytes,
            ..later.account
        }
    }

    /// The first opportunity at `from_ns` or later, ns, seen at `now_ns`.
    pub(super) fn next_ns(&mut self, now_ns: u64, from_ns: u64) -> u64 {
        self.pass(now_ns.max(self.busy_until_ns));
        if self.present.at_ns >= from_ns {
            return self.present.at_ns;
        }
        // A packet may still come that can be taken before `from_ns`: nothing is lost yet.
        let mut later = self.clone();
        later.pass(from_ns);
        later.present.at_ns
    }

    /// Takes what may pass at `now_ns`; `late_ns` says for each packet that is through at a time how
    /// much later it comes out.
    pub(super) fn happen(
        &mut self,
        now_ns: u64,
        port: &mut dyn Port,
        mut late_ns: impl FnMut(u64) -> u64,
    ) {
        self.pass(now_ns.max(self.busy_until_ns));
        while self.present.at_ns == now_ns {
            let Some(wire_bytes) = port.take() else {
                return;
            };
            let done_ns = self.carry(u64::from(wire_bytes.saturating_sub(self.uncounted_bytes)));
            if done_ns == u64::MAX {
                return; // there is no opportunity for its rest: it stays in hand
            }
            port.deliver(done_ns, late_ns(done_ns));
            self.pass(now_ns.max(done_ns));
        }
    }

    /// Carries a packet of `bytes`, from the present opportunity on; when it is through, ns.
    fn carry(&mut self, bytes: u64) -> u64 {
        let mut rest_bytes = bytes;
        loop {
            let now_bytes = rest_bytes.min(self.present.bytes);
            self.present.bytes -= now_bytes;
            self.account.carried_bytes += now_bytes;
            rest_bytes -= now_bytes;
            if rest_bytes == 0 || self.present.at_ns == u64::MAX {
                self.present.pkts = self.present.pkts.saturating_sub(1);
                self.busy_until_ns = self.present.at_ns;
                return self.present.at_ns;
            }
            self.follow();
        }
    }
}
