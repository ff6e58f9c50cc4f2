//! `step`: drop-tail that marks above a threshold, as switches do for DCTCP (RFC 8257 §3.1). Linux has no
//! discipline of this kind by itself.

use dumbbell_declare::{Amount, settings};

use crate::queue::fifo::{Fifo, Limit};
use crate::queue::{Discipline, Effects, Facts, Queue, Site};
use crate::{Header, Packet};

settings! {
    /// Drop-tail that marks ECN-capable packets above a threshold, as switches do (RFC 8257). Not Linux's.
    pub struct Config {
        /// Largest backlog, in bytes or packets; the packet being transmitted does not count.
        limit: Amount = Amount::Bytes(0), in 1..=u64::MAX;
        /// What marks: in bytes or packets a packet with which the backlog exceeds it, in time one that
        /// waited longer.
        threshold: Amount = Amount::Pkts(0), in 1..=u64::MAX;
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: true,
        holds_back: false,
        series: &[],
    };
    type Queue<H> = Step<H>;

    fn limit(&self) -> Limit {
        match self.limit {
            Amount::Pkts(pkts) => Limit::Packets(pkts),
            Amount::Bytes(bytes) | Amount::Ns(bytes) => Limit::Bytes(bytes),
        }
    }

    fn marks(&self) -> bool {
        true
    }

    fn check_together(&self) -> Result<(), String> {
        match self.limit {
            Amount::Ns(_) => Err("`limit` of `step` is a time; use bytes or packets".to_owned()),
            _ => Ok(()),
        }
    }

    fn build<H: Header>(&self, _site: &Site) -> Step<H> {
        Step::new(self)
    }
}

/// Drop-tail with a threshold on the instantaneous queue. Packets that are not ECN-capable are left as they
/// are, and dropped only when the queue is full.
#[derive(Clone, Debug)]
pub struct Step<H> {
    fifo: Fifo<H>,
    /// Backlog above which an arrival is marked.
    backlog: Option<Limit>,
    /// Wait above which a departure is marked, ns.
    sojourn_ns: u64,
    ecn_mark_pkts: u64,
}

impl<H> Step<H> {
    /// An empty queue.
    pub fn new(config: &Config) -> Self {
        let (backlog, sojourn_ns) = match config.threshold {
            Amount::Bytes(bytes) => (Some(Limit::Bytes(bytes)), u64::MAX),
            Amount::Pkts(pkts) => (Some(Limit::Packets(pkts)), u64::MAX),
            Amount::Ns(ns) => (None, ns),
        };
        Self {
            fifo: Fifo::new(config.limit()),
            backlog,
            sojourn_ns,
            ecn_mark_pkts: 0,
        }
    }
}

impl<H: Header> Step<H> {
    fn mark(&mut self, packet: &mut Packet<H>, effects: &mut Effects<H>) {
        if packet.ecn.is_capable() {
            self.ecn_mark_pkts += 1;
            effects.mark(packet);
        }
    }
}

impl<H: Header> Queue<H> for Step<H> {
    #[inline]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        packet.arrived_ns = now_ns;
        if let Some(backlog) = self.backlog
            && !self.fifo.is_within(backlog, &packet)
            && self.fifo.has_room(&packet)
        {
            self.mark(&mut packet, effects);
        }
        self.fifo.enqueue(now_ns, packet, effects);
    }

    #[inline]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        let mut packet = self.fifo.dequeue(now_ns, effects)?;
        if now_ns - packet.arrived_ns > self.sojourn_ns {
            self.mark(&mut packet, effects);
        }
        Some(packet)
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.fifo.backlog_pkts()
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.fifo.backlog_bytes()
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.fifo.for_each(look);
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("ecn_mark_pkts", self.ecn_mark_pkts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    fn queue(limit: Amount, threshold: Amount) -> Step<()> {
        Step::new(&Config { limit, threshold })
    }

    fn packet(ecn: Ecn) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes: 1514,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    /// What `queue` makes of packets that arrive at once and leave at `left_ns`.
    fn marks(queue: &mut Step<()>, arrivals: &[Ecn], left_ns: &[u64]) -> Vec<Ecn> {
        let mut effects = Effects::new();
        for &ecn in arrivals {
            queue.enqueue(0, packet(ecn), &mut effects);
        }
        let leave = |&at_ns| queue.dequeue(at_ns, &mut effects);
        left_ns
            .iter()
            .filter_map(leave)
            .map(|packet| packet.ecn)
            .collect()
    }

    /// RFC 8257 §3.1: the instantaneous queue decides, and no average of it.
    #[test]
    fn the_packet_that_exceeds_the_threshold_is_marked_and_the_next_below_it_is_not() {
        let mut queue = queue(Amount::Pkts(10), Amount::Pkts(2));
        let first = marks(&mut queue, &[Ecn::Ect0; 3], &[1; 3]);
        assert_eq!(first, [Ecn::Ect0, Ecn::Ect0, Ecn::Ce]);
        assert_eq!(marks(&mut queue, &[Ecn::Ect0], &[2]), [Ecn::Ect0]);
        assert_eq!(queue.ecn_mark_pkts, 1);
    }

    #[test]
    fn a_threshold_in_bytes_counts_the_packet_that_arrives() {
        let of = |bytes| {
            let mut queue = queue(Amount::Bytes(100_000), Amount::Bytes(bytes));
            marks(&mut queue, &[Ecn::Ect0; 3], &[1; 3])
        };
        assert_eq!(of(3 * 1514), [Ecn::Ect0; 3]);
        assert_eq!(of(3 * 1514 - 1), [Ecn::Ect0, Ecn::Ect0, Ecn::Ce]);
    }

    #[test]
    fn a_threshold_in_time_marks_what_waited_longer() {
        let mut queue = queue(Amount::Pkts(10), Amount::Ns(1000));
        let found = marks(
            &mut queue,
            &[Ecn::Ect0, Ecn::Ect0, Ecn::NotEct],
            &[1000, 1001, 2000],
        );
        assert_eq!(found, [Ecn::Ect0, Ecn::Ce, Ecn::NotEct]);
    }

    /// RFC 3168 §5: only packets that say they are capable may be marked; either codepoint says so.
    #[test]
    fn packets_that_are_not_ecn_capable_are_dropped_when_full_and_never_marked() {
        let mut queue = queue(Amount::Pkts(3), Amount::Bytes(1));
        let arrivals = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ect0];
        let found = marks(&mut queue, &arrivals, &[1; 4]);
        assert_eq!(found, [Ecn::NotEct, Ecn::Ce, Ecn::Ce]);
        assert_eq!(queue.ecn_mark_pkts, 2, "what is dropped is not marked");
    }

    #[test]
    fn a_limit_is_no_time() {
        let config = Config {
            limit: Amount::Ns(1),
            threshold: Amount::Ns(1),
        };
        assert!(config.check_together().is_err());
    }
}
