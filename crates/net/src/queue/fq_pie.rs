//! FQ-PIE: deficit round robin over flows, each with a PIE of its own, as Linux's `sch_fq_pie`.

use dumbbell_declare::settings;

use crate::queue::codel::MTU_BYTES;
use crate::queue::flow_queues::FlowQueues;
use crate::queue::pie::{ControlSettings, Controller, Decision, MAX_TIME_NS, Statistics};
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Fair queueing with PIE: a PIE per flow, flows in turn, those that have just begun to send first.
    pub struct Config {
        /// Most packets that may wait, all flows together; one that finds the queue full is dropped.
        limit_pkts: u64 = 10_240, in 1..=u32::MAX as u64;
        /// Queues that flows are hashed into.
        flows: u64 = 1024, in 1..=65_536;
        /// Whether each flow has a queue of its own, without hash collisions, as long as there are no
        /// more flows than queues.
        perfect_hash: bool = false;
        /// Bytes that a flow may send in its turn.
        quantum_bytes: u64 = MTU_BYTES, in 256..=1 << 20;
        /// Queueing delay that is aimed at in each flow's queue.
        target_ns: u64 = 15_000_000, in 0..=MAX_TIME_NS;
        /// How often the probabilities are brought up to date.
        tupdate_ns: u64 = 15_000_000, in 1_000_000..=MAX_TIME_NS;
        /// Weight of the delay's distance from the target, in sixteenths of 1/s.
        alpha: u64 = 2, in 0..=32;
        /// Weight of the delay's change since the last update, in sixteenths of 1/s.
        beta: u64 = 20, in 0..=32;
        /// Whether ECN-capable packets are marked instead of dropped, up to `ecn_prob`.
        ecn: bool = false;
        /// Probability above which ECN-capable packets are dropped too, per cent.
        ecn_prob: u64 = 10, in 1..=100;
        /// Whether the probability is in proportion to a packet's size.
        bytemode: bool = false;
        /// Whether a flow's delay is its backlog at the measured rate of departures (RFC 8033 §5.2),
        /// instead of that of its packet that left last.
        dq_rate_estimator: bool = false;
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: true,
        holds_back: false,
        series: &["new_flows_len", "old_flows_len", "fattest_flow_bytes"],
    };
    type Queue<H> = FqPie<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts)
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn build<H: Header>(&self, site: &Site) -> FqPie<H> {
        FqPie::new(self, site.seed)
    }
}

/// Flows that take turns, each with a PIE.
#[derive(Clone, Debug)]
pub struct FqPie<H> {
    settings: ControlSettings,
    limit_pkts: u64,
    random: Random,
    statistics: Statistics,
    queues: FlowQueues<H, Controller>,
}

impl<H> FqPie<H> {
    /// An empty queue with a hash and random numbers of its own.
    pub fn new(config: &Config, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            settings: ControlSettings {
                target_ns: config.target_ns,
                tupdate_ns: config.tupdate_ns,
                alpha: config.alpha,
                beta: config.beta,
                ecn: config.ecn,
                ecn_limit: ControlSettings::percent(config.ecn_prob),
                bytemode: config.bytemode,
                dq_rate_estimator: config.dq_rate_estimator,
            },
            limit_pkts: config.limit_pkts,
            statistics: Statistics::default(),
            queues: FlowQueues::new(
                config.flows,
                config.quantum_bytes,
                config.perfect_hash,
                random.bits(),
                &Controller::new(),
            ),
            random,
        }
    }
}

impl<H: Header> Queue<H> for FqPie<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        let is_full = self.queues.totals().pkts >= self.limit_pkts;
        let bucket = self.queues.bucket(packet.flow);
        let (controller, backlog_bytes) = self.queues.controller(bucket);
        if is_full {
            controller.note_drop();
            self.statistics.overlimit_pkts += 1;
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        controller.update_until(now_ns, &self.settings, backlog_bytes);
        let decision = controller.decide(
            &self.settings,
            backlog_bytes,
            packet.wire_bytes,
            packet.ecn.is_capable(),
            &mut self.random,
        );
        match decision {
            Decision::Pass => {}
            Decision::Mark => {
                self.statistics.ecn_mark_pkts += 1;
                effects.mark(&mut packet);
            }
            Decision::Drop => {
                self.statistics.dropped_pkts += 1;
                controller.note_drop();
                effects.refuse(packet, DropReason::Aqm);
                return;
            }
        }
        packet.arrived_ns = now_ns;
        self.queues.append(bucket, packet);
        self.statistics.in_pkts += 1;
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, _effects: &mut Effects<H>) -> Option<Packet<H>> {
        let settings = &self.settings;
        self.queues.next(|controller, queue| {
            controller.update_until(now_ns, settings, queue.backlog_bytes());
            let packet = queue.take()?;
            controller.note_dequeue(settings, now_ns, &packet, queue.backlog_bytes());
            Some(packet)
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
        self.queues.statistics(show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    /// One packet of 1250 bytes at 10 Mbit/s, ns.
    const PACKET_NS: u64 = 1_000_000;

    fn packet(flow: u32, ecn: Ecn) -> Packet<()> {
        Packet {
            flow,
            wire_bytes: 1250,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    /// What became of a flow's packets.
    #[derive(Clone, Copy, Debug, Default)]
    struct Fate {
        sent: u64,
        drops: u64,
        marks: u64,
        /// Sum of the waits in the second half, and how many, ns.
        waits_ns: (u64, u64),
    }

    /// 60 s at 10 Mbit/s of two flows that send a packet every `gaps_ns`.
    fn run(config: &Config, gaps_ns: [u64; 2], ecn: Ecn) -> [Fate; 2] {
        let mut queue = FqPie::new(config, 3);
        let mut fates = [Fate::default(); 2];
        let mut next_ns = [0, 1];
        let mut free_ns = 0;
        let end_ns = 60_000 * PACKET_NS;
        while free_ns < end_ns {
            let flow = usize::from(next_ns[1] < next_ns[0]);
            let now_ns = next_ns[flow];
            while free_ns <= now_ns {
                let Some(packet) = queue.dequeue(free_ns, &mut Effects::new()) else {
                    free_ns = now_ns + 1;
                    break;
                };
                let fate = &mut fates[packet.flow as usize];
                fate.sent += 1;
                if free_ns > end_ns / 2 {
                    fate.waits_ns.0 += free_ns - packet.arrived_ns;
                    fate.waits_ns.1 += 1;
                }
                free_ns += PACKET_NS;
            }
            next_ns[flow] += gaps_ns[flow];
            let mut effects = Effects::new();
            queue.enqueue(now_ns, packet(flow as u32, ecn), &mut effects);
            for effect in effects.drain() {
                match effect {
                    crate::Effect::Marked(_) => fates[flow].marks += 1,
                    _ => fates[flow].drops += 1,
                }
            }
        }
        fates
    }

    fn perfect() -> Config {
        Config {
            perfect_hash: true,
            ..Config::default()
        }
    }

    /// 12 and 2 Mbit/s: the one loses what is above 8 Mbit/s and waits for about the target, the other
    /// loses nothing and waits for a packet or two.
    #[test]
    fn a_flow_below_its_share_is_never_dropped_and_the_other_waits_for_the_target() {
        let [fast, slow] = run(&perfect(), [833_333, 5_000_000], Ecn::NotEct);
        assert_eq!((slow.drops, slow.marks), (0, 0));
        let mean_ms = |fate: Fate| fate.waits_ns.0 as f64 / fate.waits_ns.1 as f64 / 1e6;
        assert!(mean_ms(slow) < 3.0, "{}", mean_ms(slow));
        assert!((10.0..20.0).contains(&mean_ms(fast)), "{}", mean_ms(fast));
        let lost = fast.drops as f64 / (fast.drops + fast.sent) as f64;
        assert!((lost - 1.0 / 3.0).abs() < 0.02, "{lost}");
    }

    #[test]
    fn two_flows_beyond_their_shares_have_half_each() {
        let [first, second] = run(&perfect(), [833_333, 1_300_000], Ecn::NotEct);
        let share = first.sent as f64 / (first.sent + second.sent) as f64;
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }

    /// Marks do not slow these down: beyond `ecn_prob` they are dropped, and with 100 % never.
    #[test]
    fn marks_end_at_the_probability_that_is_set() {
        let with = |ecn_prob| Config {
            ecn: true,
            ecn_prob,
            ..perfect()
        };
        let [fast, _] = run(&with(10), [833_333, 5_000_000], Ecn::Ect0);
        assert!(fast.marks > 0 && fast.drops > 0);
        let overflows_only = run(&with(100), [833_333, 5_000_000], Ecn::Ect0)[0];
        assert!(overflows_only.marks > fast.marks);
        let [fast, _] = run(&with(10), [833_333, 5_000_000], Ecn::NotEct);
        assert_eq!(fast.marks, 0);
    }
}
