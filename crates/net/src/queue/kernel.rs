//! A queue discipline of a real kernel, in a network that such a kernel drives.

use std::fmt::Debug;
use std::sync::Arc;

use dumbbell_declare::{Changed, Parameter, Settings};
use serde::{Deserialize, Serialize};

use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, QueueConfig, Site};
use crate::{Ecn, Header, Packet};

/// What this file is called in a scenario.
pub(super) const NAME: &str = "kernel";

/// The kernel's discipline of the same name and settings as one of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Ours, whose name and settings it has.
    pub like: Box<QueueConfig>,
}

/// What a kernel does with the packets of one queue.
pub trait KernelQueue: Debug + Send + Sync {
    /// A packet arrives: its number, its IP packet, and the ECN field that is to be written into it. The numbers of the
    /// packets that are dropped, which may be its own, are added to `dropped`.
    fn enqueue(&self, number: u32, ip_packet: &[u8], ecn: Ecn, dropped: &mut Vec<u32>);

    /// The number and the ECN field of the packet that leaves, if one does. Dropped ones as above.
    fn dequeue(&self, dropped: &mut Vec<u32>) -> Option<(u32, Ecn)>;
}

impl Settings for Config {
    fn doc() -> &'static str {
        "The guest kernel's discipline of this name, instead of ours."
    }

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn check(&self) -> Result<(), String> {
        self.like.check()
    }

    fn changed(&self) -> Vec<Changed> {
        self.like.changed()
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: true,
        holds_back: true,
        series: &[],
    };
    type Queue<H> = Numbered<H>;

    fn limit(&self) -> Limit {
        self.like.limit()
    }

    fn marks(&self) -> bool {
        self.like.marks()
    }

    fn keeps_order(&self) -> bool {
        self.like.keeps_order()
    }

    fn check_together(&self) -> Result<(), String> {
        match *self.like {
            QueueConfig::kernel(_) | QueueConfig::step(_) | QueueConfig::dummynet(_) => {
                Err(format!("Linux has no discipline `{}`", self.like.name()))
            }
            _ => Ok(()),
        }
    }

    fn check_passes(&self, wire_bytes: u64) -> Result<(), String> {
        self.like.check_passes(wire_bytes)
    }

    fn build<H: Header>(&self, _site: &Site) -> Numbered<H> {
        Numbered {
            kernel: None,
            limit: self.limit(),
            packets: Vec::new(),
            free: Vec::new(),
            dropped: Vec::new(),
            backlog_pkts: 0,
            backlog_bytes: 0,
            waits_for_kernel: false,
        }
    }
}

/// The packets that wait in a kernel, by number.
#[derive(Clone, Debug)]
pub struct Numbered<H> {
    /// Until the driver has given it one, no packet may arrive.
    kernel: Option<Arc<dyn KernelQueue>>,
    limit: Limit,
    packets: Vec<Option<Packet<H>>>,
    /// Numbers that no packet has.
    free: Vec<u32>,
    dropped: Vec<u32>,
    backlog_pkts: u64,
    backlog_bytes: u64,
    /// The kernel holds packets back, and says when it is to be asked again.
    waits_for_kernel: bool,
}

impl<H: Header> Numbered<H> {
    pub(crate) fn give(&mut self, kernel: Arc<dyn KernelQueue>) {
        self.kernel = Some(kernel);
    }

    /// The kernel wants to be asked for a packet.
    pub(crate) fn wake(&mut self) {
        self.waits_for_kernel = false;
    }

    fn kernel(&self) -> Arc<dyn KernelQueue> {
        let kernel = self.kernel.as_ref();
        Arc::clone(kernel.expect("a driver that runs kernel's queues gives each its own"))
    }

    fn put(&mut self, packet: Packet<H>) -> u32 {
        self.backlog_pkts += 1;
        self.backlog_bytes += u64::from(packet.wire_bytes);
        if let Some(number) = self.free.pop() {
            self.packets[number as usize] = Some(packet);
            return number;
        }
        self.packets.push(Some(packet));
        self.dropped.reserve(self.packets.len());
        self.packets.len() as u32 - 1
    }

    fn take(&mut self, number: u32) -> Packet<H> {
        let packet = self.packets[number as usize].take();
        let packet = packet.expect("a kernel gives back what it was given, once");
        self.free.push(number);
        self.backlog_pkts -= 1;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        packet
    }

    /// Whether another packet of `wire_bytes` is above the limit.
    fn is_full(&self, wire_bytes: u32) -> bool {
        match self.limit {
            Limit::Bytes(bytes) => self.backlog_bytes + u64::from(wire_bytes) > bytes,
            Limit::Packets(packets) => self.backlog_pkts >= packets,
        }
    }
}

impl<H: Header> Queue<H> for Numbered<H> {
    fn enqueue(&mut self, _now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        // A kernel does not say why it drops.
        let reason = if self.is_full(packet.wire_bytes) {
            DropReason::Overflow
        } else {
            DropReason::Aqm
        };
        let ecn = packet.ecn;
        let number = self.put(packet);
        let kernel = self.kernel();
        let mut dropped = std::mem::take(&mut self.dropped);
        let packet = self.packets[number as usize].as_ref();
        let ip_packet = packet.map_or(&[][..], |packet| packet.header.ip_packet());
        kernel.enqueue(number, ip_packet, ecn, &mut dropped);
        for gone in dropped.drain(..) {
            let packet = self.take(gone);
            if gone == number {
                effects.refuse(packet, reason);
            } else {
                effects.drop(packet, reason);
            }
        }
        self.dropped = dropped;
        self.waits_for_kernel = false;
    }

    fn dequeue(&mut self, _now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        let mut dropped = std::mem::take(&mut self.dropped);
        let leaving = self.kernel().dequeue(&mut dropped);
        for gone in dropped.drain(..) {
            let packet = self.take(gone);
            effects.drop(packet, DropReason::Aqm);
        }
        self.dropped = dropped;
        self.waits_for_kernel = leaving.is_none();
        let (number, ecn) = leaving?;
        let mut packet = self.take(number);
        if ecn == Ecn::Ce {
            effects.mark(&mut packet);
        }
        Some(packet)
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn next_event(&self) -> Option<u64> {
        self.waits_for_kernel.then_some(u64::MAX)
    }

    fn backlog_pkts(&self) -> u64 {
        self.backlog_pkts
    }

    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.packets.iter().flatten().for_each(look);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::queue::pfifo;

    /// A kernel that holds back what it has until it has two, and drops the older of three.
    #[derive(Debug, Default)]
    struct Hesitant {
        numbers: Mutex<Vec<u32>>,
    }

    impl KernelQueue for Hesitant {
        fn enqueue(&self, number: u32, _: &[u8], _: Ecn, dropped: &mut Vec<u32>) {
            let mut numbers = self.numbers.lock().expect("not poisoned");
            numbers.push(number);
            if numbers.len() == 3 {
                dropped.push(numbers.remove(0));
            }
        }

        fn dequeue(&self, _dropped: &mut Vec<u32>) -> Option<(u32, Ecn)> {
            let mut numbers = self.numbers.lock().expect("not poisoned");
            (numbers.len() == 2).then(|| (numbers.remove(0), Ecn::Ce))
        }
    }

    fn packet(flow: u32) -> Packet<()> {
        Packet {
            flow,
            wire_bytes: 1514,
            ecn: Ecn::Ect0,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    #[test]
    fn packets_come_back_by_number() {
        let like = Box::new(pfifo::Config { limit_pkts: 2 }.into());
        let mut queue = Config { like }.build::<()>(&Site::default());
        queue.give(Arc::new(Hesitant::default()));
        let mut effects = Effects::new();
        queue.enqueue(0, packet(0), &mut effects);
        assert_eq!(queue.dequeue(0, &mut effects), None);
        assert_eq!(
            queue.next_event(),
            Some(u64::MAX),
            "the kernel says when to ask"
        );
        queue.wake();
        assert_eq!(queue.next_event(), None);
        queue.enqueue(0, packet(1), &mut effects);
        queue.enqueue(0, packet(2), &mut effects);
        let dropped: Vec<_> = effects.drops().map(|packet| packet.flow).collect();
        assert_eq!(dropped, [0]);
        let left = queue.dequeue(0, &mut effects).expect("two wait");
        assert_eq!((left.flow, left.ecn), (1, Ecn::Ce));
        assert_eq!((queue.backlog_pkts(), queue.backlog_bytes()), (1, 1514));
    }

    #[test]
    fn what_linux_does_not_have_is_refused() {
        let like = Box::new(QueueConfig::dummynet(Default::default()));
        let refused = Config { like }.check_together();
        assert_eq!(
            refused,
            Err("Linux has no discipline `dummynet`".to_owned())
        );
    }
}
