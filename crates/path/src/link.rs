//! A link: a rate, with a queue in front of it.

use crate::{Packet, Queue};

const NS_PER_S: u64 = 1_000_000_000;

/// Serialises packets one after the other, at a rate that holds until it is set anew.
#[derive(Clone, Debug)]
pub struct Link<Q> {
    link_rate_bps: u64,
    queue: Q,
    /// Until when the packet last taken is on the wire, ns.
    busy_until_ns: u64,
    /// What integer nanoseconds left over of the last serialisation time, in units of
    /// 1/`link_rate_bps` ns: carried so that the long-run rate is exact.
    remainder: u64,
}

/// A packet that leaves the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<H> {
    /// The packet; `arrived_ns` says when it joined the queue.
    pub packet: Packet<H>,
    /// When its last bit is on the wire, ns.
    pub done_ns: u64,
}

impl<Q> Link<Q> {
    /// A link of `link_rate_bps` bit/s (not zero) behind `queue`.
    pub fn new(link_rate_bps: u64, queue: Q) -> Self {
        assert!(link_rate_bps > 0, "a link needs a rate");
        Self {
            link_rate_bps,
            queue,
            busy_until_ns: 0,
            remainder: 0,
        }
    }

    /// Changes the rate to `link_rate_bps` bit/s (not zero). The packet that is on the wire keeps
    /// the time it was given.
    pub fn set_rate(&mut self, link_rate_bps: u64) {
        assert!(link_rate_bps > 0, "a link needs a rate");
        self.link_rate_bps = link_rate_bps;
        self.remainder = 0; // counted in fractions of the old rate
    }

    /// The queue in front of the link.
    #[inline]
    pub fn queue(&self) -> &Q {
        &self.queue
    }

    /// The queue in front of the link, to empty it when the run is over.
    pub fn queue_mut(&mut self) -> &mut Q {
        &mut self.queue
    }

    /// Until when the wire is taken, ns.
    #[inline]
    pub fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// A packet arrives.
    #[inline]
    pub fn enqueue<H>(&mut self, now_ns: u64, packet: Packet<H>, dropped: &mut Vec<Packet<H>>)
    where
        Q: Queue<H>,
    {
        self.queue.enqueue(now_ns, packet, dropped);
    }

    /// When [`Link::dequeue`] has something to do, ns; `None` while nothing waits.
    #[inline]
    pub fn next_event<H>(&self) -> Option<u64>
    where
        Q: Queue<H>,
    {
        if self.queue.backlog_pkts() == 0 {
            return None;
        }
        Some(self.queue.next_event().unwrap_or(0).max(self.busy_until_ns))
    }

    /// Puts the next packet on the wire if the wire is free at `now_ns`, and says when it is through.
    #[inline]
    pub fn dequeue<H>(&mut self, now_ns: u64, dropped: &mut Vec<Packet<H>>) -> Option<Departure<H>>
    where
        Q: Queue<H>,
    {
        if now_ns < self.busy_until_ns {
            return None;
        }
        let packet = self.queue.dequeue(now_ns, dropped)?;
        if now_ns > self.busy_until_ns {
            self.remainder = 0; // the wire was idle: nothing to carry over
        }
        // At most 2^32 B × 8 × 10^9 + rate: no overflow in 128 bits, and none in 64 for
        // packets below 2 GB, so the cheap division serves.
        let bit_ns = u64::from(packet.wire_bytes) * 8 * NS_PER_S + self.remainder;
        self.remainder = bit_ns % self.link_rate_bps;
        self.busy_until_ns = now_ns + bit_ns / self.link_rate_bps;
        Some(Departure {
            packet,
            done_ns: self.busy_until_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fifo, Limit};

    fn packet(wire_bytes: u32) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes,
            ecn: crate::Ecn::NotEct,
            arrived_ns: 0,
            header: (),
        }
    }

    #[test]
    fn a_full_packet_takes_242_us_at_50_mbit() {
        let mut link = Link::new(50_000_000, Fifo::new(Limit::Packets(10)));
        let mut dropped = Vec::new();
        link.enqueue(1_000, packet(1514), &mut dropped);
        assert_eq!(link.next_event::<()>(), Some(0), "the wire is free");
        let departure = link.dequeue(1_000, &mut dropped).expect("one packet waits");
        assert_eq!(departure.done_ns, 1_000 + 242_240);
        link.enqueue(2_000, packet(1514), &mut dropped);
        assert_eq!(link.dequeue(2_000, &mut dropped), None, "the wire is taken");
        assert_eq!(link.next_event::<()>(), Some(243_240));
    }

    #[test]
    fn a_new_rate_holds_from_the_next_packet_on() {
        let mut link = Link::new(50_000_000, Fifo::new(Limit::Packets(10)));
        let mut dropped = Vec::new();
        for _ in 0..2 {
            link.enqueue(0, packet(1514), &mut dropped);
        }
        let first = link.dequeue(0, &mut dropped).expect("two packets wait");
        link.set_rate(5_000_000);
        assert_eq!(link.busy_until_ns(), first.done_ns, "it keeps its time");
        let second = link.dequeue(first.done_ns, &mut dropped);
        assert_eq!(
            second.expect("one waits").done_ns,
            first.done_ns + 2_422_400
        );
    }

    #[test]
    fn the_long_run_rate_is_exact_although_times_are_whole_nanoseconds() {
        // 3 bit/s does not divide 8e9: each packet of 1 byte takes 2.666… s.
        let mut link = Link::new(3, Fifo::new(Limit::Packets(10)));
        let mut dropped = Vec::new();
        let mut now_ns = 0;
        for _ in 0..3 {
            link.enqueue(now_ns, packet(1), &mut dropped);
            now_ns = link
                .dequeue(now_ns, &mut dropped)
                .expect("the wire is free")
                .done_ns;
        }
        assert_eq!(
            now_ns,
            8 * NS_PER_S,
            "3 bytes at 3 bit/s are 8 s, not a nanosecond less"
        );
    }
}
