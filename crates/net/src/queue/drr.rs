//! DRR, deficit round robin (Shreedhar and Varghese 1995), as Linux's `sch_drr` has it with a filter
//! that gives each flow a class.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use crate::queue::codel::MTU_BYTES;
use crate::queue::flow_hash::FlowHash;
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::{Header, Packet};

settings! {
    /// Deficit round robin: classes take turns, in which each may send its quantum (Shreedhar and
    /// Varghese 1995).
    pub struct Config {
        /// Most packets of a class that may wait; Linux: `txqueuelen` of a class's `pfifo`.
        limit_pkts: u64 = 1000, in 1..=u32::MAX as u64;
        /// Classes; flow n is in class n, and again from the first after the last.
        classes: u64 = 1024, in 1..=65_536;
        /// Whether each flow has a class of its own as long as there are no more flows than classes;
        /// off: flows are hashed into classes.
        perfect_hash: bool = true;
        /// Bytes that a class may send in its turn: one value for all, or one for each class, and again
        /// from the first after the last.
        quantum_bytes: Vec<u64> = vec![MTU_BYTES], in 1..=1 << 20;
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: false,
        holds_back: false,
        series: &["active_classes"],
    };
    type Queue<H> = Drr<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts * self.classes)
    }

    fn marks(&self) -> bool {
        false
    }

    fn check_together(&self) -> Result<(), String> {
        if self.quantum_bytes.is_empty() {
            return Err("`drr` has no `quantum`; use e.g. `quantum=1514B`".to_owned());
        }
        Ok(())
    }

    fn build<H: Header>(&self, site: &Site) -> Drr<H> {
        Drr::new(self, site.seed)
    }
}

/// A class: its packets and its part of the turns.
#[derive(Clone, Debug)]
struct Class<H> {
    packets: VecDeque<Packet<H>>,
    quantum_bytes: u64,
    /// Bytes that it may still send in its turn.
    deficit_bytes: u64,
}

/// Classes that take turns.
#[derive(Clone, Debug)]
pub struct Drr<H> {
    limit_pkts: usize,
    hash: Option<FlowHash>,
    classes: Box<[Class<H>]>,
    /// The classes that have packets, in the order of their turns.
    turns: VecDeque<u32>,
    backlog_pkts: u64,
    backlog_bytes: u64,
}

impl<H> Drr<H> {
    /// An empty queue whose hash, if it has one, is salted with `salt`.
    pub fn new(config: &Config, salt: u64) -> Self {
        let quanta = config.quantum_bytes.iter().copied().cycle();
        let class = |quantum_bytes| Class {
            packets: VecDeque::new(),
            quantum_bytes,
            deficit_bytes: 0,
        };
        let classes = config.classes as usize;
        Self {
            limit_pkts: config.limit_pkts as usize,
            hash: (!config.perfect_hash).then(|| FlowHash::new(salt, config.classes as u32)),
            classes: quanta.take(classes).map(class).collect(),
            turns: VecDeque::new(),
            backlog_pkts: 0,
            backlog_bytes: 0,
        }
    }

    fn class(&self, flow: u32) -> usize {
        match self.hash {
            Some(hash) => hash.bucket(flow) as usize,
            None => flow as usize % self.classes.len(),
        }
    }
}

impl<H: Header> Queue<H> for Drr<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        let number = self.class(packet.flow);
        let class = &mut self.classes[number];
        if class.packets.len() >= self.limit_pkts {
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        packet.arrived_ns = now_ns;
        self.backlog_pkts += 1;
        self.backlog_bytes += u64::from(packet.wire_bytes);
        if class.packets.is_empty() {
            class.deficit_bytes = class.quantum_bytes;
            self.turns.push_back(number as u32);
        }
        class.packets.push_back(packet);
    }

    #[inline(never)]
    fn dequeue(&mut self, _now_ns: u64, _effects: &mut Effects<H>) -> Option<Packet<H>> {
        loop {
            let number = *self.turns.front()?;
            let class = &mut self.classes[number as usize];
            let wire_bytes = u64::from(class.packets.front()?.wire_bytes);
            if wire_bytes > class.deficit_bytes {
                class.deficit_bytes += class.quantum_bytes;
                self.turns.rotate_left(1);
                continue;
            }
            class.deficit_bytes -= wire_bytes;
            let packet = class.packets.pop_front()?;
            if class.packets.is_empty() {
                self.turns.pop_front();
            }
            self.backlog_pkts -= 1;
            self.backlog_bytes -= wire_bytes;
            return Some(packet);
        }
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.backlog_pkts
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        let packets = self.classes.iter().flat_map(|class| &class.packets);
        packets.for_each(look);
    }

    /// `tc -s qdisc` shows nothing of DRR; `tc -s class` shows its classes.
    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("active_classes", self.turns.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    fn packet(flow: u32, wire_bytes: u32) -> Packet<()> {
        Packet {
            flow,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    fn enqueue(queue: &mut Drr<()>, flow: u32, wire_bytes: u32) {
        let mut effects = Effects::new();
        queue.enqueue(0, packet(flow, wire_bytes), &mut effects);
        assert!(effects.is_empty());
    }

    /// Bytes that each class sent while all always had packets of their `lengths`. Deficits stay within
    /// a quantum and a packet.
    fn shares(quanta: &[u64], lengths: &[u32], packets: usize) -> Vec<u64> {
        let config = Config {
            classes: lengths.len() as u64,
            quantum_bytes: quanta.to_vec(),
            ..Config::default()
        };
        let mut queue = Drr::new(&config, 0);
        for (flow, &bytes) in (0..).zip(lengths) {
            enqueue(&mut queue, flow, bytes);
            enqueue(&mut queue, flow, bytes);
        }
        let mut sent = vec![0; lengths.len()];
        for _ in 0..packets {
            let packet = queue.dequeue(0, &mut Effects::new()).expect("all wait");
            sent[packet.flow as usize] += u64::from(packet.wire_bytes);
            enqueue(&mut queue, packet.flow, packet.wire_bytes);
            for (class, &length) in queue.classes.iter().zip(lengths) {
                assert!(class.deficit_bytes < class.quantum_bytes + u64::from(length));
            }
        }
        sent
    }

    /// Shares are those of the quanta, 1:2:3, with packets of any sizes.
    #[test]
    fn classes_share_as_their_quanta_say_whatever_their_packets() {
        let sent = shares(&[1500, 3000, 4500], &[64, 1500, 700], 60_000);
        let total: u64 = sent.iter().sum();
        for (number, bytes) in (1..).zip(&sent) {
            let expected = total * number / 6;
            // A quantum and a packet of each round that is not over.
            assert!(bytes.abs_diff(expected) <= 9_000, "{sent:?}");
        }
    }

    /// A quantum smaller than a packet only takes more turns.
    #[test]
    fn a_small_quantum_is_saved_up() {
        let sent = shares(&[100], &[1500, 64], 20_000);
        assert!(sent[0].abs_diff(sent[1]) <= 3_000, "{sent:?}");
    }

    #[test]
    fn a_class_that_was_empty_starts_with_one_quantum_after_the_others() {
        let config = Config {
            quantum_bytes: vec![1000],
            ..Config::default()
        };
        let mut queue = Drr::new(&config, 0);
        enqueue(&mut queue, 1, 400);
        let next = |queue: &mut Drr<()>| queue.dequeue(0, &mut Effects::new());
        assert_eq!(next(&mut queue).map(|packet| packet.flow), Some(1));
        assert_eq!(next(&mut queue), None);
        // What was left of its quantum, 600 bytes, is gone: it is not saved while it is idle.
        enqueue(&mut queue, 2, 1000);
        for _ in 0..3 {
            enqueue(&mut queue, 1, 500);
        }
        assert_eq!(queue.classes[1].deficit_bytes, 1000);
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue)).collect();
        let flows: Vec<_> = order.iter().map(|packet| packet.flow).collect();
        assert_eq!(flows, [2, 1, 1, 1]);
    }

    #[test]
    fn each_class_has_its_own_limit() {
        let config = Config {
            limit_pkts: 3,
            ..Config::default()
        };
        let mut queue = Drr::new(&config, 0);
        for flow in [0, 1] {
            for _ in 0..3 {
                enqueue(&mut queue, flow, 100);
            }
        }
        let mut effects = Effects::new();
        queue.enqueue(0, packet(1, 100), &mut effects);
        assert_eq!(effects.drops().count(), 1);
        assert_eq!(queue.backlog_pkts(), 6);
    }
}
