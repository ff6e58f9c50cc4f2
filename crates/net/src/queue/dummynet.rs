//! `dummynet`: the queue of a pipe of FreeBSD's dummynet (FreeBSD 10.4 `ip_dn_io.c`, `dn_enqueue`), without RED.
//! Its times are those of the medium `dummynet_pipe`.

use dumbbell_declare::{Amount, settings};

use crate::queue::fifo::{Fifo, Limit};
use crate::queue::{Discipline, DropReason, Effects, Facts, Head, Queue, Site};
use crate::{ETHERNET_HEADER_BYTES, Header, Packet};

settings! {
    /// Drop-tail of FreeBSD's dummynet: in slots, or in bytes of IP packets, of which it takes one above the limit. Not Linux's.
    pub struct Config {
        /// Largest backlog. In packets (slots; FreeBSD allows 100 at most by default) as `pfifo`'s. In bytes (FreeBSD: 1 MiB at most) a packet is taken while what waits is not above it, without Ethernet headers: one packet over.
        limit: Amount = Amount::Pkts(50), in 1..=u64::MAX;
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: false,
        holds_back: false,
        series: &[],
    };
    type Queue<H> = Dummynet<H>;

    fn limit(&self) -> Limit {
        match self.limit {
            Amount::Pkts(pkts) => Limit::Packets(pkts),
            Amount::Bytes(bytes) | Amount::Ns(bytes) => Limit::Bytes(bytes),
        }
    }

    fn marks(&self) -> bool {
        false
    }

    fn check_together(&self) -> Result<(), String> {
        match self.limit {
            Amount::Ns(time_ns) => Err(format!(
                "`limit` of `dummynet` is a time, {time_ns} ns; use packets or bytes"
            )),
            _ => Ok(()),
        }
    }

    /// A router gets what the sender's network card has cut.
    fn uncut_bytes(&self) -> Option<u64> {
        Some(0)
    }

    fn shows_head(&self) -> bool {
        true
    }

    fn build<H: Header>(&self, _site: &Site) -> Dummynet<H> {
        Dummynet {
            limit: self.limit(),
            fifo: Fifo::new(Limit::Packets(u64::MAX)),
        }
    }
}

/// A FIFO that looks at what waits, and not at what arrives.
#[derive(Clone, Debug)]
pub struct Dummynet<H> {
    limit: Limit,
    fifo: Fifo<H>,
}

impl<H: Header> Queue<H> for Dummynet<H> {
    #[inline]
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        let waiting_pkts = self.fifo.backlog_pkts();
        let takes = match self.limit {
            Limit::Packets(pkts) => waiting_pkts < pkts,
            Limit::Bytes(bytes) => {
                let header_bytes = u64::from(ETHERNET_HEADER_BYTES) * waiting_pkts;
                self.fifo.backlog_bytes() - header_bytes <= bytes
            }
        };
        if takes {
            self.fifo.enqueue(now_ns, packet, effects);
        } else {
            effects.refuse(packet, DropReason::Overflow);
        }
    }

    #[inline]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        self.fifo.dequeue(now_ns, effects)
    }

    fn head(&self) -> Option<Head> {
        self.fifo.head()
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    fn taken(limit: Amount, wire_bytes: u32, arrivals: usize) -> u64 {
        let mut queue = Config { limit }.build(&Site::default());
        let mut effects = Effects::new();
        for _ in 0..arrivals {
            let packet = Packet {
                flow: 0,
                wire_bytes,
                ecn: Ecn::NotEct,
                hop: 0,
                arrived_ns: 0,
                header: (),
            };
            queue.enqueue(0, packet, &mut effects);
        }
        assert_eq!(
            queue.backlog_pkts() as usize + effects.drops().count(),
            arrivals
        );
        queue.backlog_pkts()
    }

    /// 50 slots are the default, with packets of any size.
    #[test]
    fn slots_count_packets() {
        assert_eq!(Config::default().limit(), Limit::Packets(50));
        for wire_bytes in [66, 1514] {
            assert_eq!(taken(Config::default().limit, wire_bytes, 60), 50);
        }
    }

    /// 50 kB, a BDP of 10 Mbit/s and 40 ms: 33 packets of 1500 bytes are 49,500, so a 34th is taken, which makes
    /// 51,000. With 34 packets' bytes exactly a 35th is.
    #[test]
    fn bytes_are_exceeded_by_one_packet() {
        assert_eq!(taken(Amount::Bytes(50_000), 1514, 60), 34);
        assert_eq!(taken(Amount::Bytes(51_000), 1514, 60), 35);
        assert_eq!(taken(Amount::Bytes(50_999), 1514, 60), 34);
        assert_eq!(taken(Amount::Bytes(1), 1514, 60), 1);
    }
}
