//! The queue disciplines a scenario can name.

use dumbbell_path::{Fifo, Limit, Packet, Queue};

use crate::scenario::{self, EcnThreshold};

/// One of them, chosen by the scenario. An enumeration and not a trait object, because the
/// bottleneck asks its queue several times per packet.
#[derive(Clone, Debug)]
pub enum QueueDiscipline<H> {
    /// `bfifo` and `pfifo`, with a threshold for ECN marks or without.
    Fifo(Fifo<H>),
}

impl<H> QueueDiscipline<H> {
    /// An empty queue as the scenario names it.
    pub fn new(bottleneck: &scenario::Bottleneck) -> Self {
        let limit = match bottleneck.queue {
            scenario::Queue::Bfifo { limit_bytes } => Limit::Bytes(limit_bytes),
            scenario::Queue::Pfifo { limit_pkts } => Limit::Packets(limit_pkts),
        };
        let threshold = bottleneck.ecn_threshold.map(|threshold| match threshold {
            EcnThreshold::Bytes(bytes) => Limit::Bytes(bytes),
            EcnThreshold::Pkts(packets) => Limit::Packets(packets),
        });
        Self::Fifo(Fifo::new(limit).marking_above(threshold))
    }
}

impl<H> Queue<H> for QueueDiscipline<H> {
    #[inline]
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, dropped: &mut Vec<Packet<H>>) {
        match self {
            Self::Fifo(queue) => queue.enqueue(now_ns, packet, dropped),
        }
    }

    #[inline]
    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<Packet<H>>) -> Option<Packet<H>> {
        match self {
            Self::Fifo(queue) => queue.dequeue(now_ns, dropped),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        match self {
            Self::Fifo(queue) => queue.next_event(),
        }
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        match self {
            Self::Fifo(queue) => queue.backlog_pkts(),
        }
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        match self {
            Self::Fifo(queue) => queue.backlog_bytes(),
        }
    }
}
