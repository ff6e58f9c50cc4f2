//! The contract of a queue discipline.

use crate::Packet;

/// A queue discipline: decides which packet waits, which goes next and which is dropped.
///
/// Drops may happen on either side (drop-tail at enqueue, CoDel at dequeue), so both
/// calls take the place to put dropped packets. A discipline that acts on its own clock
/// (PIE's probability update, a shaper) says so by [`Queue::next_event`].
pub trait Queue<H> {
    /// Takes `packet` in at `now_ns`; it, or packets it pushes out, may land in `dropped`.
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, dropped: &mut Vec<Packet<H>>);

    /// The next packet to transmit, if any; packets dropped on the way land in `dropped`.
    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<Packet<H>>) -> Option<Packet<H>>;

    /// When the discipline wants [`Queue::dequeue`] called although nothing arrives, ns;
    /// `None` when a packet can be had at once or nothing waits.
    fn next_event(&self) -> Option<u64> {
        None
    }

    /// Waiting packets.
    fn backlog_pkts(&self) -> u64;

    /// Waiting wire bytes.
    fn backlog_bytes(&self) -> u64;
}

impl<H, Q: Queue<H> + ?Sized> Queue<H> for Box<Q> {
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, dropped: &mut Vec<Packet<H>>) {
        (**self).enqueue(now_ns, packet, dropped);
    }

    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<Packet<H>>) -> Option<Packet<H>> {
        (**self).dequeue(now_ns, dropped)
    }

    fn next_event(&self) -> Option<u64> {
        (**self).next_event()
    }

    fn backlog_pkts(&self) -> u64 {
        (**self).backlog_pkts()
    }

    fn backlog_bytes(&self) -> u64 {
        (**self).backlog_bytes()
    }
}
