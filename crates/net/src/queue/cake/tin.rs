//! A tin: the flows of one priority, which take turns (DRR++), each with COBALT.

use std::collections::VecDeque;

use super::QUEUES;
use super::cobalt::{Cobalt, Settings};
use super::isolation::{Isolation, Isolator};
use super::lists::{List, Lists};
use super::shaper::{ByteTime, TinClock};
use super::tin_statistics::TinStatistics;
use crate::Packet;
use crate::random::Random;

/// Fewest and most bytes that a flow may send in its turn.
const MIN_QUANTUM_BYTES: u64 = 300;
const MAX_QUANTUM_BYTES: u64 = 1514;

/// What a flow is at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its queue is free.
    Idle,
    /// It has just begun, or sends less than its share.
    Sparse,
    /// It sent its quantum and is empty: counted as sparse, but it waits for its turn.
    SparseWaits,
    /// It has a standing queue.
    Bulk,
    /// It is empty, and its AQM has not come to rest.
    Decaying,
}

#[derive(Clone, Debug)]
pub(super) struct Flow<H> {
    pub(super) packets: VecDeque<Packet<H>>,
    /// Bytes that it may still send in its turn.
    pub(super) deficit_bytes: i64,
    pub(super) standing: Standing,
    pub(super) cobalt: Cobalt,
}

/// Flows by standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowCounts {
    pub(super) sparse: u64,
    pub(super) bulk: u64,
    pub(super) decaying: u64,
    pub(super) unresponsive: u64,
}

/// What a tin is from the start on.
#[derive(Clone, Copy, Debug)]
pub(super) struct TinConfig {
    /// Its share of the rate, bytes/s; 0: unlimited.
    pub(super) bytes_per_s: u64,
    /// Its weight where there is no rate.
    pub(super) quantum_bytes: i64,
    pub(super) rtt_ns: u64,
    pub(super) mtu_bytes: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Tin<H> {
    pub(super) flows: Box<[Flow<H>]>,
    /// Bytes that wait in each queue; apart from the flows, because an overflow looks at all.
    pub(super) backlogs: Box<[u32]>,
    pub(super) isolator: Isolator,
    pub(super) lists: Lists,
    pub(super) counts: FlowCounts,
    pub(super) clock: Option<TinClock>,
    pub(super) quantum_bytes: i64,
    pub(super) deficit_bytes: i64,
    flow_quantum_bytes: u64,
    pub(super) settings: Settings,
    pub(super) backlog_bytes: u64,
    pub(super) statistics: TinStatistics,
}

impl<H> Tin<H> {
    pub(super) fn new(config: &TinConfig, isolation: Isolation) -> Self {
        let flow = |_| Flow {
            packets: VecDeque::new(),
            deficit_bytes: 0,
            standing: Standing::Idle,
            cobalt: Cobalt::new(),
        };
        let byte_time = (config.bytes_per_s > 0).then(|| ByteTime::new(config.bytes_per_s));
        let mtu_time_ns = byte_time.map_or(0, |time| time.of(config.mtu_bytes));
        // 5 ms of the usual 100 ms.
        let (rtt_ns, usual_ns) = (config.rtt_ns as i64, config.rtt_ns as i64 / 20);
        let target_ns = usual_ns.max(mtu_time_ns * 3 / 2);
        let flow_quantum_bytes = match config.bytes_per_s {
            0 => MAX_QUANTUM_BYTES,
            rate => (rate >> 12).clamp(MIN_QUANTUM_BYTES, MAX_QUANTUM_BYTES),
        };
        Self {
            flows: (0..QUEUES).map(flow).collect(),
            backlogs: vec![0; QUEUES].into(),
            isolator: Isolator::new(isolation),
            lists: Lists::new(),
            counts: FlowCounts::default(),
            clock: byte_time.map(TinClock::new),
            quantum_bytes: config.quantum_bytes,
            deficit_bytes: 0,
            flow_quantum_bytes,
            settings: Settings {
                interval_ns: (rtt_ns + target_ns - usual_ns).max(2 * target_ns),
                target_ns,
                mtu_time_ns,
            },
            backlog_bytes: 0,
            statistics: TinStatistics::new(config.bytes_per_s, flow_quantum_bytes),
        }
    }

    /// Whether any flow is served: one may be empty, which its turn will show.
    #[inline]
    pub(super) fn has_flows(&self) -> bool {
        self.counts.sparse + self.counts.bulk > 0
    }

    /// Whether a queue is in use, and whether it is a standing one.
    #[inline]
    pub(super) fn state(flows: &[Flow<H>], queue: usize) -> (bool, bool) {
        let standing = flows[queue].standing;
        (standing != Standing::Idle, standing == Standing::Bulk)
    }

    /// What a flow may send in its turn: its share of its host's quantum, rounded at random so that
    /// nothing is lost on average.
    #[inline]
    fn quantum_of(&self, queue: usize, random: &mut Random) -> i64 {
        let parts = 65_535 / u32::from(self.isolator.host_load(queue));
        let dither = random.bits() >> 48;
        ((self.flow_quantum_bytes * u64::from(parts) + dither) >> 16) as i64
    }

    /// A packet has joined a flow's queue.
    #[inline]
    pub(super) fn join(&mut self, queue: usize, random: &mut Random) {
        match self.flows[queue].standing {
            Standing::Sparse | Standing::Bulk => {}
            Standing::Idle | Standing::Decaying => {
                if self.flows[queue].standing == Standing::Decaying {
                    self.counts.decaying -= 1;
                }
                self.lists.move_to_end(queue, List::New);
                self.counts.sparse += 1;
                self.flows[queue].standing = Standing::Sparse;
                self.flows[queue].deficit_bytes = self.quantum_of(queue, random);
            }
            Standing::SparseWaits => self.become_bulk(queue),
        }
    }

    /// A sparse flow has a standing queue.
    fn become_bulk(&mut self, queue: usize) {
        self.counts.sparse -= 1;
        self.counts.bulk += 1;
        self.isolator.add_bulk(queue);
        self.flows[queue].standing = Standing::Bulk;
    }

    /// The flow whose turn it is: at first one whose AQM is decaying, then new flows, then the others.
    #[inline]
    pub(super) fn next_flow(&self, is_first: bool) -> Option<(usize, List)> {
        let front = |list| Some((self.lists.front(list)?, list));
        let decaying = || front(List::Decaying);
        (is_first.then(decaying).flatten())
            .or_else(|| front(List::New))
            .or_else(|| front(List::Old))
            .or_else(decaying)
    }

    /// Flows of the list `Old`, from its `first` on, end their turns one after the other as [`Tin::end_turn`] does, until
    /// one may send: that one. Where flows share a host's quantum most turns end so.
    #[inline]
    pub(super) fn end_turns(&mut self, first: usize, random: &mut Random) -> usize {
        let mut queue = first;
        while self.flows[queue].deficit_bytes <= 0 {
            debug_assert_ne!(self.flows[queue].standing, Standing::Sparse);
            self.flows[queue].deficit_bytes += self.quantum_of(queue, random);
            queue = self.lists.behind(queue, List::Old);
        }
        self.lists.begin_with(queue, List::Old);
        queue
    }

    /// A flow has spent its deficit: it gets another quantum and waits for its next turn.
    #[inline]
    pub(super) fn end_turn(&mut self, queue: usize, random: &mut Random) {
        if self.flows[queue].standing == Standing::Sparse {
            if self.flows[queue].packets.is_empty() {
                self.flows[queue].standing = Standing::SparseWaits;
            } else {
                self.become_bulk(queue);
            }
        }
        self.flows[queue].deficit_bytes += self.quantum_of(queue, random);
        self.lists.move_to_end(queue, List::Old);
    }

    /// Takes the head of a queue.
    #[inline]
    pub(super) fn take(&mut self, queue: usize) -> Option<Packet<H>> {
        let wire_bytes = self.flows[queue].packets.front()?.wire_bytes;
        self.forget(queue, wire_bytes);
        self.flows[queue].packets.pop_front()
    }

    /// Takes `wire_bytes` that no longer wait from the counts of a queue.
    #[inline]
    pub(super) fn forget(&mut self, queue: usize, wire_bytes: u32) {
        self.backlogs[queue] -= wire_bytes;
        self.backlog_bytes -= u64::from(wire_bytes);
    }

    /// A flow's turn came and it was empty.
    pub(super) fn leave(&mut self, queue: usize, now: i64) {
        let flow = &mut self.flows[queue];
        if flow.cobalt.on_empty(&self.settings, now) {
            self.counts.unresponsive -= 1;
        }
        let is_at_rest = flow.cobalt.is_at_rest(now);
        let before = flow.standing;
        match before {
            Standing::Sparse | Standing::SparseWaits => self.counts.sparse -= 1,
            Standing::Bulk => {
                self.counts.bulk -= 1;
                self.isolator.remove_bulk(queue);
            }
            Standing::Decaying => self.counts.decaying -= 1,
            Standing::Idle => {}
        }
        if is_at_rest {
            self.lists.remove(queue);
            self.flows[queue].standing = Standing::Idle;
        } else {
            self.lists.move_to_end(queue, List::Decaying);
            self.counts.decaying += 1;
            self.flows[queue].standing = Standing::Decaying;
        }
    }
}
