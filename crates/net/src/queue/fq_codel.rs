//! FQ-CoDel (RFC 8290): deficit round robin over flows, each with a CoDel of its own, as Linux's
//! `sch_fq_codel`.

use dumbbell_declare::settings;

use crate::queue::codel::{
    ControlSettings, Controller, MAX_TIME_NS, MTU_BYTES, Statistics, Waiting, ticks,
};
use crate::queue::flow_queues::{FlowQueue, FlowQueues, check_memory};
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::{Header, Packet};

settings! {
    /// Fair queueing with controlled delay: a CoDel per flow, flows in turn, those that have just
    /// begun to send first (RFC 8290).
    pub struct Config {
        /// Most packets that may wait, all flows together; beyond it the flow with most bytes loses
        /// packets from its head.
        limit_pkts: u64 = 10_240, in 1..=u32::MAX as u64;
        /// Queues that flows are hashed into.
        flows: u64 = 1024, in 1..=65_536;
        /// Whether each flow has a queue of its own, without hash collisions, as long as there are no
        /// more flows than queues.
        perfect_hash: bool = false;
        /// Bytes that a flow may send in its turn.
        quantum_bytes: u64 = MTU_BYTES, in 256..=1 << 20;
        /// Memory that waiting packets may take, as the kernel counts it: 576 bytes more than each
        /// has on the wire.
        memory_limit_bytes: u64 = 32 << 20, in 1..=1 << 31;
        /// Most packets that a flow loses at once when the queue is full; it loses at most half of
        /// its bytes.
        drop_batch: u64 = 64, in 1..=u32::MAX as u64;
        /// Time in the queue that is accepted as a standing one.
        target_ns: u64 = 5_000_000, in 0..=MAX_TIME_NS;
        /// How long a flow's packets must wait longer than that before the first is dropped: in the
        /// order of the longest usual RTT.
        interval_ns: u64 = 100_000_000, in 1024..=MAX_TIME_NS;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = true;
        /// Time in the queue above which every ECN-capable packet is marked.
        ce_threshold_ns: Option<u64> = None, in 0..=MAX_TIME_NS;
        /// Whether `ce_threshold` is for packets of L4S only, ECT(1).
        ce_threshold_l4s: bool = false;
        /// Largest packet of the device, Ethernet header included: nothing is dropped or marked
        /// while no more than this waits.
        mtu_bytes: u64 = MTU_BYTES, in 0..=u32::MAX as u64;
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: true,
        holds_back: false,
        series: &["new_flows_len", "old_flows_len", "fattest_flow_bytes"],
    };
    type Queue<H> = FqCodel<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts)
    }

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold_ns.is_some()
    }

    fn check_passes(&self, wire_bytes: u64) -> Result<(), String> {
        check_memory("memory_limit", self.memory_limit_bytes, wire_bytes)
    }

    fn build<H: Header>(&self, site: &Site) -> FqCodel<H> {
        FqCodel::new(self, site.seed)
    }
}

/// Flows that take turns, each with a CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel<H> {
    settings: ControlSettings,
    limit_pkts: u64,
    memory_limit_bytes: u64,
    drop_batch: u64,
    statistics: Statistics,
    /// Packets dropped for the memory that they took, among those dropped because too many waited.
    drop_overmemory_pkts: u64,
    queues: FlowQueues<H, Controller>,
}

impl<H> Waiting<H> for FlowQueue<'_, H> {
    #[inline]
    fn head(&self) -> Option<&Packet<H>> {
        FlowQueue::head(self)
    }

    #[inline]
    fn take(&mut self) -> Option<Packet<H>> {
        FlowQueue::take(self)
    }

    /// Statistics of all flows together, as in Linux.
    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.total_bytes()
    }
}

impl<H> FqCodel<H> {
    /// An empty queue whose hash is salted with `salt`.
    pub fn new(config: &Config, salt: u64) -> Self {
        Self {
            settings: ControlSettings {
                target: ticks(config.target_ns),
                interval: ticks(config.interval_ns),
                mtu_bytes: config.mtu_bytes,
                ecn: config.ecn,
                ce_threshold: config.ce_threshold_ns.map(ticks),
                ce_threshold_l4s: config.ce_threshold_l4s,
            },
            limit_pkts: config.limit_pkts,
            memory_limit_bytes: config.memory_limit_bytes,
            drop_batch: config.drop_batch,
            statistics: Statistics::default(),
            drop_overmemory_pkts: 0,
            queues: FlowQueues::new(
                config.flows,
                config.quantum_bytes,
                config.perfect_hash,
                salt,
                &Controller::default(),
            ),
        }
    }

    /// Drops from the head of the flow with most bytes: up to a batch, or half of its bytes. How many.
    #[cold]
    fn drop_from_fattest(&mut self, effects: &mut Effects<H>) -> u64 {
        let (controller, mut queue) = self.queues.fattest();
        let half_bytes = queue.backlog_bytes() / 2;
        let (mut pkts, mut bytes) = (0, 0);
        while let Some(packet) = queue.take() {
            pkts += 1;
            bytes += u64::from(packet.wire_bytes);
            effects.drop(packet, DropReason::Overflow);
            if pkts >= self.drop_batch || bytes >= half_bytes {
                break;
            }
        }
        // Linux: the overflow strengthens CoDel's signal.
        controller.count = controller.count.wrapping_add(pkts as u32);
        self.statistics.drop_overlimit_pkts += pkts;
        pkts
    }
}

impl<H: Header> Queue<H> for FqCodel<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        let bucket = self.queues.bucket(packet.flow);
        let arrived_ns = now_ns;
        self.queues.append(
            bucket,
            Packet {
                arrived_ns,
                ..packet
            },
        );
        let totals = self.queues.totals();
        let is_over_memory = totals.memory_bytes() > self.memory_limit_bytes;
        if totals.pkts > self.limit_pkts || is_over_memory {
            let pkts = self.drop_from_fattest(effects);
            self.drop_overmemory_pkts += if is_over_memory { pkts } else { 0 };
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        let (settings, statistics) = (&self.settings, &mut self.statistics);
        self.queues.next(|controller, queue| {
            controller.dequeue(now_ns, settings, queue, effects, statistics)
        })
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.queues.totals().pkts
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.queues.totals().bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.queues.for_each(look);
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        self.statistics.show(show);
        show("drop_overmemory_pkts", self.drop_overmemory_pkts);
        self.queues.statistics(show);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Ecn;

    const MS: u64 = 1_000_000;

    fn drops(effects: &Effects<()>) -> Vec<Packet<()>> {
        effects.drops().copied().collect()
    }

    fn packet(flow: u32, wire_bytes: u32, ecn: Ecn) -> Packet<()> {
        Packet {
            flow,
            wire_bytes,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    fn perfect() -> Config {
        Config {
            perfect_hash: true,
            ..Config::default()
        }
    }

    fn enqueue(queue: &mut FqCodel<()>, now_ns: u64, flow: u32, wire_bytes: u32) {
        let mut effects = Effects::new();
        queue.enqueue(now_ns, packet(flow, wire_bytes, Ecn::NotEct), &mut effects);
        assert!(drops(&effects).is_empty());
    }

    fn dequeue(queue: &mut FqCodel<()>, now_ns: u64) -> Option<u32> {
        let mut effects = Effects::new();
        let packet = queue.dequeue(now_ns, &mut effects);
        assert!(drops(&effects).is_empty());
        packet.map(|packet| packet.flow)
    }

    /// ns-3's script of deficits in its FQ-CoDel suite: a quantum of 90 bytes, packets of 120.
    #[test]
    fn deficits_are_those_of_deficit_round_robin() {
        let config = Config {
            quantum_bytes: 90,
            ..perfect()
        };
        let mut queue = FqCodel::new(&config, 0);
        let deficits = |queue: &FqCodel<()>| {
            let of = |flow: usize| queue.queues.flows[flow].deficit_bytes;
            (of(1), of(2))
        };
        enqueue(&mut queue, 0, 1, 120);
        assert_eq!(dequeue(&mut queue, 1), Some(1));
        assert_eq!(deficits(&queue).0, -30);
        assert_eq!(
            queue.queues.new_flows,
            [1],
            "it stays new until its next turn"
        );
        for flow in [1, 1, 2, 2] {
            enqueue(&mut queue, 1, flow, 120);
        }
        let mut served = Vec::new();
        for _ in 0..4 {
            let flow = dequeue(&mut queue, 2).expect("packets wait");
            served.push((flow, deficits(&queue)));
        }
        let expected = [
            (2, (60, -30)),
            (1, (-60, 60)),
            (2, (30, -60)),
            (1, (-90, 30)),
        ];
        assert_eq!(served, expected);
        assert_eq!(dequeue(&mut queue, 3), None);
        assert!(queue.queues.new_flows.is_empty() && queue.queues.old_flows.is_empty());
        assert_eq!(deficits(&queue).0, 90);
    }

    /// RFC 8290 §4.2: a new flow that becomes empty takes a turn among the old ones. Otherwise two
    /// that take turns at reappearing would always be new, and the old one would never be served.
    #[test]
    fn flows_that_reappear_do_not_starve_the_others() {
        let mut queue = FqCodel::new(&perfect(), 0);
        for _ in 0..200 {
            enqueue(&mut queue, 0, 1, 1514);
        }
        dequeue(&mut queue, 0); // its quantum is used: its next turn is an old flow's
        let mut sent_bytes = [0; 3];
        for round in 0..100 {
            enqueue(&mut queue, 0, 2 + round % 2, 66);
            let flow = dequeue(&mut queue, 0).expect("packets wait");
            sent_bytes[flow as usize - 1] += if flow == 1 { 1514 } else { 66 };
        }
        let [old, first, second] = sent_bytes;
        assert!(old + 1514 >= first.max(second), "{sent_bytes:?}");
        assert!(old >= 2 * 1514, "{sent_bytes:?}");
    }

    /// RFC 8290 §3.1: what sends less than a quantum a round waits for one packet of each other new
    /// flow at most, and for none of the old ones' queues.
    #[test]
    fn a_sparse_flow_goes_first() {
        let mut queue = FqCodel::new(&perfect(), 0);
        for flow in 0..10 {
            for _ in 0..50 {
                enqueue(&mut queue, 0, flow, 1514);
            }
        }
        for _ in 0..20 {
            dequeue(&mut queue, 0); // a turn and the next: all ten are old
        }
        for _ in 0..50 {
            enqueue(&mut queue, 0, 10, 100);
            assert_eq!(dequeue(&mut queue, 0), Some(10));
            // Its turn ends; it is back in its place before it sends again.
            for _ in 0..11 {
                dequeue(&mut queue, 0);
            }
        }
    }

    /// Bytes sent while `queue` always holds `lengths[flow]` bytes packets of each flow.
    fn shares(lengths: &[u32], rounds: usize) -> Vec<u64> {
        let mut queue = FqCodel::new(&perfect(), 0);
        let mut sent = vec![0; lengths.len()];
        for (flow, &bytes) in (0..).zip(lengths) {
            for _ in 0..(4 * 1514 / bytes + 1) {
                enqueue(&mut queue, 0, flow, bytes);
            }
        }
        for _ in 0..rounds {
            let flow = dequeue(&mut queue, 0).expect("packets wait");
            let bytes = lengths[flow as usize];
            sent[flow as usize] += u64::from(bytes);
            enqueue(&mut queue, 0, flow, bytes);
        }
        sent
    }

    #[test]
    fn backlogged_flows_have_equal_shares_whatever_their_packets() {
        let equal = shares(&[1514; 8], 8 * 1000);
        assert!(equal.iter().all(|&bytes| bytes == 1_514_000), "{equal:?}");
        let mixed = shares(&[1514, 66, 700, 1514], 100_000);
        let (most, least) = (mixed.iter().max(), mixed.iter().min());
        assert!(most.unwrap() - least.unwrap() <= 2 * 1514, "{mixed:?}");
    }

    #[test]
    fn the_fattest_flow_pays_for_an_overflow_from_its_head() {
        let config = Config {
            limit_pkts: 300,
            ..perfect()
        };
        let mut queue = FqCodel::new(&config, 0);
        for number in 0..200 {
            enqueue(&mut queue, number, 7, 1514);
        }
        for number in 0..100 {
            enqueue(&mut queue, number, 9, 66);
        }
        let mut effects = Effects::new();
        queue.enqueue(1000, packet(9, 66, Ecn::Ect0), &mut effects);
        assert_eq!(drops(&effects).len(), 64, "a batch");
        let from_head = (0..64).zip(drops(&effects));
        for (number, packet) in from_head {
            assert_eq!((packet.flow, packet.arrived_ns), (7, number));
        }
        assert_eq!(queue.queues.flows[7].controller.count, 64);
        assert_eq!(queue.backlog_pkts(), 301 - 64);
        assert_eq!(queue.backlog_bytes(), 136 * 1514 + 101 * 66);
    }

    #[test]
    fn a_batch_ends_at_half_of_the_flows_bytes_and_takes_at_least_one_packet() {
        for (packets, expected) in [(1, 1), (2, 1), (5, 3), (100, 50)] {
            let config = Config {
                limit_pkts: packets - 1,
                ..perfect()
            };
            let mut queue = FqCodel::new(&config, 0);
            let mut effects = Effects::new();
            for _ in 0..packets {
                queue.enqueue(0, packet(1, 1000, Ecn::NotEct), &mut effects);
            }
            assert_eq!(drops(&effects).len(), expected, "of {packets}");
        }
    }

    #[test]
    fn memory_limits_what_waits_by_the_kernels_size_of_a_packet() {
        let config = Config {
            memory_limit_bytes: 10 * (66 + 576),
            ..perfect()
        };
        let mut queue = FqCodel::new(&config, 0);
        for _ in 0..10 {
            enqueue(&mut queue, 0, 1, 66);
        }
        let mut effects = Effects::new();
        queue.enqueue(0, packet(2, 66, Ecn::NotEct), &mut effects);
        assert_eq!((drops(&effects)[0].flow, drops(&effects).len()), (1, 5));
    }

    #[test]
    fn memory_smaller_than_a_packet_is_refused() {
        let check = |memory_limit_bytes| {
            let config = Config {
                memory_limit_bytes,
                ..Config::default()
            };
            config.check_passes(1514)
        };
        assert_eq!(check(1514 + 576), Ok(()));
        let what = check(1514 + 575).unwrap_err();
        assert!(what.contains("use `memory_limit=2090B`"), "{what}");
    }

    /// ns-3's L4S mode: with the threshold for ECT(1) at 1 ms, ECT(0) is marked at CoDel's times only.
    #[test]
    fn in_l4s_mode_ect1_is_marked_above_the_threshold_and_ect0_by_codel() {
        let config = Config {
            ce_threshold_ns: Some(MS),
            ce_threshold_l4s: true,
            ..perfect()
        };
        for (ecn, expected) in [(Ecn::Ect1, 119), (Ecn::Ect0, 2)] {
            let mut queue = FqCodel::new(&config, 0);
            let mut effects = Effects::new();
            for _ in 0..120 {
                queue.enqueue(0, packet(1, 1514, ecn), &mut effects);
            }
            // 2 ms apart: CoDel begins after 106 ms, and marks again 100 ms later.
            let marked = (0..120).filter(|number| {
                let packet = queue.dequeue(number * 2 * MS, &mut effects);
                packet.expect("120 wait").ecn == Ecn::Ce
            });
            assert_eq!(marked.count(), expected, "{ecn:?}");
            assert!(drops(&effects).is_empty());
        }
    }

    /// A tunnel has one hash: all its flows are in one queue, a plain CoDel.
    #[test]
    fn one_queue_is_codel() {
        let one = Config {
            flows: 1,
            ecn: false,
            ..Config::default()
        };
        let mut fq_codel = FqCodel::new(&one, 3);
        let mut codel = crate::queue::codel::Codel::new(&crate::queue::codel::Config {
            limit_pkts: 10_240,
            ..Default::default()
        });
        for step in 0..10_000_u64 {
            let (mut effects, mut expected) = (Effects::new(), Effects::new());
            let now_ns = step * 500_000;
            for flow in 0..2 - (step % 3 == 0) as u32 {
                fq_codel.enqueue(now_ns, packet(flow, 1514, Ecn::NotEct), &mut effects);
                codel.enqueue(now_ns, packet(flow, 1514, Ecn::NotEct), &mut expected);
            }
            let (left, right) = (
                fq_codel.dequeue(now_ns, &mut effects),
                codel.dequeue(now_ns, &mut expected),
            );
            assert_eq!((left, effects), (right, expected), "at {now_ns} ns");
        }
    }

    proptest! {
        #[test]
        fn packets_are_conserved_and_each_flow_keeps_its_order(
            limit in 1_u64..60,
            flows in 1_u64..5,
            steps in prop::collection::vec((0_u32..8, 60_u32..1515, 0_u64..40), 0..300),
        ) {
            let config = Config { limit_pkts: limit, flows, drop_batch: 3, ..Config::default() };
            let mut queue = FqCodel::new(&config, limit);
            let (mut effects, mut sent) = (Effects::new(), Vec::new());
            let (mut offered, mut now_ns) = (0_usize, 0);
            for (flow, bytes, ms) in steps {
                now_ns += ms * MS + 1;
                if flow < 5 {
                    queue.enqueue(now_ns, packet(flow, bytes, Ecn::NotEct), &mut effects);
                    offered += 1;
                } else {
                    sent.extend(queue.dequeue(now_ns, &mut effects));
                }
                prop_assert!(queue.backlog_pkts() <= limit);
                let left = queue.backlog_pkts() as usize;
                prop_assert_eq!(offered, sent.len() + drops(&effects).len() + left);
            }
            while let Some(packet) = queue.dequeue(now_ns, &mut effects) {
                sent.push(packet);
            }
            prop_assert_eq!((queue.backlog_pkts(), queue.backlog_bytes()), (0, 0));
            prop_assert_eq!(offered, sent.len() + drops(&effects).len());
            for flow in 0..5 {
                let own: Vec<_> = sent.iter().filter(|packet| packet.flow == flow).collect();
                prop_assert!(own.windows(2).all(|pair| pair[0].arrived_ns < pair[1].arrived_ns));
            }
        }
    }
}
