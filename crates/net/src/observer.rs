//! Who looks on: measurements and captures.

use crate::{DropReason, Link, Packet};

/// Informed of what happens at the links. It cannot change anything, and `()`, which looks at nothing,
/// costs nothing. A link is named by its number in the network.
///
/// The calls for an arrival are `changes`, `arrives`, then `dropped` and `marked` as it comes and
/// `refused` or not, then `enqueued`; `changes` and `enqueued` may be called once for all that arrive in turn at one time, and
/// what arrives is shown as it was sent; for a transmission `changes`, `dropped` and `marked`, `departs`.
pub trait Observer<H> {
    /// The link is about to change, at `now_ns`; what `state` says has held since the last call.
    #[inline]
    fn changes(&mut self, _now_ns: u64, _link: usize, _state: &Link<H>) {}

    /// The rate of the link is about to become `link_rate_bps`, at `at_ns`, which may be long past when the link
    /// was idle; what `state` says has held until then.
    #[inline]
    fn rate_changes(&mut self, _at_ns: u64, _link: usize, _state: &Link<H>, _link_rate_bps: u64) {}

    /// A packet arrives.
    #[inline]
    fn arrives(&mut self, _now_ns: u64, _link: usize, _packet: &Packet<H>) {}

    /// The packet that arrived is dropped.
    #[inline]
    fn refused(&mut self, _now_ns: u64, _link: usize, _packet: &Packet<H>, _reason: DropReason) {}

    /// The arrival is over.
    #[inline]
    fn enqueued(&mut self, _now_ns: u64, _link: usize, _state: &Link<H>) {}

    /// A packet that waited is dropped.
    #[inline]
    fn dropped(&mut self, _now_ns: u64, _link: usize, _packet: &Packet<H>, _reason: DropReason) {}

    /// A packet is marked CE.
    #[inline]
    fn marked(&mut self, _now_ns: u64, _link: usize, _packet: &Packet<H>) {}

    /// A packet goes on the wire, where its last bit is at `done_ns`; `arrived_ns` says when it joined the queue.
    #[inline]
    fn departs(&mut self, _now_ns: u64, _link: usize, _packet: &Packet<H>, _done_ns: u64) {}

    /// An impairment made a copy of a packet, about which nothing else has been reported: before the queue, where the
    /// copy arrives by itself after what became of the packet, or behind the link.
    #[inline]
    fn duplicated(&mut self, _now_ns: u64, _link: usize, _copy: &Packet<H>) {}

    /// A super-packet comes to a link that cuts it: each of its segments then arrives by itself.
    #[inline]
    fn split(&mut self, _now_ns: u64, _link: usize, _packet: &Packet<H>) {}

    /// A packet that went on the wire is lost behind the link, at `done_ns`, when its last bit is on
    /// the wire, which may be later than what happens next.
    #[inline]
    fn lost(&mut self, _done_ns: u64, _link: usize, _packet: &Packet<H>) {}
}

impl<H> Observer<H> for () {}

/// Both look on, the first one first.
impl<H, A: Observer<H>, B: Observer<H>> Observer<H> for (A, B) {
    #[inline]
    fn changes(&mut self, now_ns: u64, link: usize, state: &Link<H>) {
        self.0.changes(now_ns, link, state);
        self.1.changes(now_ns, link, state);
    }

    #[inline]
    fn rate_changes(&mut self, at_ns: u64, link: usize, state: &Link<H>, link_rate_bps: u64) {
        self.0.rate_changes(at_ns, link, state, link_rate_bps);
        self.1.rate_changes(at_ns, link, state, link_rate_bps);
    }

    #[inline]
    fn arrives(&mut self, now_ns: u64, link: usize, packet: &Packet<H>) {
        self.0.arrives(now_ns, link, packet);
        self.1.arrives(now_ns, link, packet);
    }

    #[inline]
    fn refused(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, reason: DropReason) {
        self.0.refused(now_ns, link, packet, reason);
        self.1.refused(now_ns, link, packet, reason);
    }

    #[inline]
    fn enqueued(&mut self, now_ns: u64, link: usize, state: &Link<H>) {
        self.0.enqueued(now_ns, link, state);
        self.1.enqueued(now_ns, link, state);
    }

    #[inline]
    fn dropped(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, reason: DropReason) {
        self.0.dropped(now_ns, link, packet, reason);
        self.1.dropped(now_ns, link, packet, reason);
    }

    #[inline]
    fn marked(&mut self, now_ns: u64, link: usize, packet: &Packet<H>) {
        self.0.marked(now_ns, link, packet);
        self.1.marked(now_ns, link, packet);
    }

    #[inline]
    fn departs(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, done_ns: u64) {
        self.0.departs(now_ns, link, packet, done_ns);
        self.1.departs(now_ns, link, packet, done_ns);
    }

    #[inline]
    fn duplicated(&mut self, now_ns: u64, link: usize, copy: &Packet<H>) {
        self.0.duplicated(now_ns, link, copy);
        self.1.duplicated(now_ns, link, copy);
    }

    #[inline]
    fn split(&mut self, now_ns: u64, link: usize, packet: &Packet<H>) {
        self.0.split(now_ns, link, packet);
        self.1.split(now_ns, link, packet);
    }

    #[inline]
    fn lost(&mut self, done_ns: u64, link: usize, packet: &Packet<H>) {
        self.0.lost(done_ns, link, packet);
        self.1.lost(done_ns, link, packet);
    }
}

impl<H, O: Observer<H>> Observer<H> for &mut O {
    #[inline]
    fn changes(&mut self, now_ns: u64, link: usize, state: &Link<H>) {
        (**self).changes(now_ns, link, state);
    }

    #[inline]
    fn rate_changes(&mut self, at_ns: u64, link: usize, state: &Link<H>, link_rate_bps: u64) {
        (**self).rate_changes(at_ns, link, state, link_rate_bps);
    }

    #[inline]
    fn arrives(&mut self, now_ns: u64, link: usize, packet: &Packet<H>) {
        (**self).arrives(now_ns, link, packet);
    }

    #[inline]
    fn refused(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, reason: DropReason) {
        (**self).refused(now_ns, link, packet, reason);
    }

    #[inline]
    fn enqueued(&mut self, now_ns: u64, link: usize, state: &Link<H>) {
        (**self).enqueued(now_ns, link, state);
    }

    #[inline]
    fn dropped(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, reason: DropReason) {
        (**self).dropped(now_ns, link, packet, reason);
    }

    #[inline]
    fn marked(&mut self, now_ns: u64, link: usize, packet: &Packet<H>) {
        (**self).marked(now_ns, link, packet);
    }

    #[inline]
    fn departs(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, done_ns: u64) {
        (**self).departs(now_ns, link, packet, done_ns);
    }

    #[inline]
    fn duplicated(&mut self, now_ns: u64, link: usize, copy: &Packet<H>) {
        (**self).duplicated(now_ns, link, copy);
    }

    #[inline]
    fn split(&mut self, now_ns: u64, link: usize, packet: &Packet<H>) {
        (**self).split(now_ns, link, packet);
    }

    #[inline]
    fn lost(&mut self, done_ns: u64, link: usize, packet: &Packet<H>) {
        (**self).lost(done_ns, link, packet);
    }
}
