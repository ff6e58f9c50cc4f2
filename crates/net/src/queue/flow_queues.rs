//! Queues of flows that take turns: the deficit round robin of RFC 8290 §4, in which flows that have
//! just begun to send go first.

use std::collections::VecDeque;

use crate::Packet;
use crate::queue::flow_hash::FlowHash;

/// What Linux's `SKB_TRUESIZE()` adds to a packet: `sk_buff` and `skb_shared_info`, 256 and 320 bytes
/// on 64-bit machines.
pub(super) const SKB_BYTES: u64 = 576;

/// Refuses a limit of memory, named `name`, in which no packet of `wire_bytes` has room.
pub(super) fn check_memory(name: &str, limit_bytes: u64, wire_bytes: u64) -> Result<(), String> {
    let needed_bytes = wire_bytes + SKB_BYTES;
    if limit_bytes < needed_bytes {
        return Err(format!(
            "`{name}` is {limit_bytes} bytes and a packet takes {needed_bytes}, so that each is dropped; use \
             `{name}={needed_bytes}B` or more"
        ));
    }
    Ok(())
}

/// Flows that take turns, each with a queue and a controller of its own.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<H, C> {
    quantum_bytes: i64,
    hash: FlowHash,
    has_perfect_hash: bool,
    pub(super) flows: Box<[Flow<H, C>]>,
    /// Bytes that wait in each flow's queue; apart from the flows, because an overflow looks at all.
    backlogs: Box<[u64]>,
    totals: Totals,
    /// Flows that have just begun to send, and those that went on; the first is served next.
    pub(super) new_flows: VecDeque<u32>,
    pub(super) old_flows: VecDeque<u32>,
    /// How often a flow that was idle began to send.
    new_flow_count: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Flow<H, C> {
    packets: VecDeque<Packet<H>>,
    /// Bytes that it may still send in its turn.
    pub(super) deficit_bytes: i64,
    /// Whether it is among the new or the old flows.
    is_listed: bool,
    pub(super) controller: C,
}

/// What waits in all flows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) pkts: u64,
    pub(super) bytes: u64,
}

impl Totals {
    /// Memory that it takes, as the kernel counts it.
    pub(super) fn memory_bytes(self) -> u64 {
        self.bytes + self.pkts * SKB_BYTES
    }
}

/// A flow's queue while its controller looks at it.
pub(super) struct FlowQueue<'a, H> {
    packets: &'a mut VecDeque<Packet<H>>,
    backlog_bytes: &'a mut u64,
    totals: &'a mut Totals,
}

impl<H> FlowQueue<'_, H> {
    /// Takes the head.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Packet<H>> {
        let wire_bytes = u64::from(self.packets.front()?.wire_bytes);
        *self.backlog_bytes -= wire_bytes;
        self.totals.bytes -= wire_bytes;
        self.totals.pkts -= 1;
        self.packets.pop_front()
    }

    /// A look at the head.
    #[inline]
    pub(super) fn head(&self) -> Option<&Packet<H>> {
        self.packets.front()
    }

    /// Bytes that wait in this flow.
    #[inline]
    pub(super) fn backlog_bytes(&self) -> u64 {
        *self.backlog_bytes
    }

    /// Bytes that wait in all flows.
    #[inline]
    pub(super) fn total_bytes(&self) -> u64 {
        self.totals.bytes
    }
}

impl<H, C: Clone> FlowQueues<H, C> {
    /// `flows` empty queues with a `controller` each, whose hash is salted with `salt`, unless every
    /// flow is to have a queue of its own.
    pub(super) fn new(
        flows: u64,
        quantum_bytes: u64,
        has_perfect_hash: bool,
        salt: u64,
        controller: &C,
    ) -> Self {
        let flow = |_| Flow {
            packets: VecDeque::new(),
            deficit_bytes: 0,
            is_listed: false,
            controller: controller.clone(),
        };
        Self {
            quantum_bytes: quantum_bytes as i64,
            hash: FlowHash::new(salt, flows as u32),
            has_perfect_hash,
            flows: (0..flows).map(flow).collect(),
            backlogs: vec![0; flows as usize].into(),
            totals: Totals::default(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            new_flow_count: 0,
        }
    }

    /// The queue of a flow, by number.
    #[inline]
    pub(super) fn bucket(&self, flow: u32) -> usize {
        if self.has_perfect_hash {
            flow as usize % self.flows.len()
        } else {
            self.hash.bucket(flow) as usize
        }
    }

    /// What waits in all flows.
    #[inline]
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// The controller of a flow, and the bytes that wait in its queue.
    #[inline]
    pub(super) fn controller(&mut self, bucket: usize) -> (&mut C, u64) {
        (&mut self.flows[bucket].controller, self.backlogs[bucket])
    }

    /// A packet joins its flow's queue, and a flow that was idle the new ones.
    #[inline]
    pub(super) fn append(&mut self, bucket: usize, packet: Packet<H>) {
        let wire_bytes = u64::from(packet.wire_bytes);
        self.backlogs[bucket] += wire_bytes;
        self.totals.bytes += wire_bytes;
        self.totals.pkts += 1;
        let flow = &mut self.flows[bucket];
        flow.packets.push_back(packet);
        if !flow.is_listed {
            flow.is_listed = true;
            flow.deficit_bytes = self.quantum_bytes;
            self.new_flows.push_back(bucket as u32);
            self.new_flow_count += 1;
        }
    }

    /// What Linux counts of its flows, by the names of `tc -s qdisc`, and how much the flow with most
    /// bytes has waiting, which `tc -s class` shows.
    pub(super) fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("new_flow_count", self.new_flow_count);
        show("new_flows_len", self.new_flows.len() as u64);
        show("old_flows_len", self.old_flows.len() as u64);
        show("memory_used_bytes", self.totals.memory_bytes());
        let fattest_bytes = self.backlogs.iter().max().copied();
        show("fattest_flow_bytes", fattest_bytes.unwrap_or(0));
    }

    /// The flow with most bytes, of equal ones the first: its controller and its queue.
    #[cold]
    pub(super) fn fattest(&mut self) -> (&mut C, FlowQueue<'_, H>) {
        let mut fattest = 0;
        for (index, &bytes) in self.backlogs.iter().enumerate() {
            if bytes > self.backlogs[fattest] {
                fattest = index;
            }
        }
        let flow = &mut self.flows[fattest];
        let queue = FlowQueue {
            packets: &mut flow.packets,
            backlog_bytes: &mut self.backlogs[fattest],
            totals: &mut self.totals,
        };
        (&mut flow.controller, queue)
    }

    /// The next packet: what `serve` takes from the queue of the flow whose turn it is, which is
    /// over when `serve` finds nothing.
    #[inline]
    pub(super) fn next(
        &mut self,
        mut serve: impl FnMut(&mut C, &mut FlowQueue<'_, H>) -> Option<Packet<H>>,
    ) -> Option<Packet<H>> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new {
                &mut self.new_flows
            } else {
                &mut self.old_flows
            };
            let bucket = *list.front()?;
            let flow = &mut self.flows[bucket as usize];
            if flow.deficit_bytes <= 0 {
                flow.deficit_bytes += self.quantum_bytes;
                list.pop_front();
                self.old_flows.push_back(bucket);
                continue;
            }
            let mut queue = FlowQueue {
                packets: &mut flow.packets,
                backlog_bytes: &mut self.backlogs[bucket as usize],
                totals: &mut self.totals,
            };
            let served = serve(&mut flow.controller, &mut queue);
            if let Some(packet) = &served {
                flow.deficit_bytes -= i64::from(packet.wire_bytes);
                return served;
            }
            list.pop_front();
            // A new flow waits its turn among the old ones before it can be new again: otherwise one
            // that sends little at a time would keep the others from sending.
            if is_new && !self.old_flows.is_empty() {
                self.old_flows.push_back(bucket);
            } else {
                flow.is_listed = false;
            }
        }
    }

    /// Calls `look` with every waiting packet.
    pub(super) fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        let packets = self.flows.iter().flat_map(|flow| &flow.packets);
        packets.for_each(look);
    }
}
