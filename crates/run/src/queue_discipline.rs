//! The queue disciplines a scenario can name.

use dumbbell_path::{Fifo, Limit, Packet, Queue};

use crate::scenario;

/// One of them, chosen by the scenario. An enumeration and not a trait object, because the
/// bottleneck asks its queue several times per packet.
#[derive(Clone, Debug)]
pub enum QueueDiscipline<H> {
    /// `bfifo` and `pfifo`.
    Fifo(Fifo<H>),
}

impl<H> QueueDiscipline<H> {
    /// An empty queue as the scenario names it.
    pub fn new(queue: &scenario::Queue) -> Self {
        match *queue {
            scenario::Queue::Bfifo { limit_bytes } => {
                Self::Fifo(Fifo::new(Limit::Bytes(limit_bytes)))
            }
            scenario::Queue::Pfifo { limit_pkts } => {
                Self::Fifo(Fifo::new(Limit::Packets(limit_pkts)))
            }
        }
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
