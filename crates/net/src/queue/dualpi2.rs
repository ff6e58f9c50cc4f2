//! DualPI2 (RFC 9332, appendix A), as Linux's `sch_dualpi2` has it.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use crate::queue::codel::MTU_BYTES;
use crate::queue::flow_queues::SKB_BYTES;
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::random::Random;
use crate::{Ecn, Header, Packet};

settings! {
    /// Dual queue coupled AQM: one queue for L4S, with marks and hardly any delay, and one for all
    /// other traffic, coupled so that flows of both get about as much (RFC 9332).
    pub struct Config {
        /// Most packets that may wait in both queues; one that finds the queue full is dropped.
        limit_pkts: u64 = 10_000, in 1..=u32::MAX as u64;
        /// Memory that waiting packets may take, as the kernel counts it: 576 bytes more than each
        /// has on the wire.
        memory_limit_bytes: u64 = 10_000 * 2 * MTU_BYTES, in 1..=1 << 31;
        /// Queueing delay of the classic queue that is aimed at.
        target_ns: u64 = 15_000_000, in 0..=MAX_TIME_NS;
        /// How often the probability is brought up to date.
        tupdate_ns: u64 = 16_000_000, in 1_000_000..=MAX_TIME_NS;
        /// Weight of the delay's distance from the target, in 1/256 of 1/s.
        alpha: u64 = 41, in 0..=1 << 16;
        /// Weight of the delay's change since the last update, in 1/256 of 1/s.
        beta: u64 = 819, in 0..=1 << 16;
        /// Time in the L4S queue above which every packet is marked.
        step_thresh_ns: u64 = 1_000_000, in 0..=MAX_TIME_NS;
        /// A packet of L4S that finds fewer waiting in its queue is not marked for its time there.
        min_qlen_step_pkts: u64 = 0, in 0..=u32::MAX as u64;
        /// How many times the square root of the classic queue's probability L4S is marked with.
        coupling_factor: u64 = 2, in 1..=255;
        /// Whether L4S packets are dropped too when the coupled probability exceeds 100 %.
        drop_overload: bool = true;
        /// Whether packets are dropped and marked on arrival instead of on departure.
        drop_early: bool = false;
        /// Share of the link that the classic queue has at least, per cent.
        classic_protection: u64 = 10, in 0..=100;
        /// Whether every ECN-capable packet goes to the L4S queue, ECT(0) too.
        any_ect: bool = false;
    }
}

/// Longer times leave no room for the arithmetic.
const MAX_TIME_NS: u64 = 100_000_000_000;
/// Probabilities are fractions of this.
const ONE: u64 = 1 << 32;
const NS_PER_S: i128 = 1_000_000_000;

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: true,
        holds_back: false,
        series: &["prob_ppb", "delay_c_ns", "delay_l_ns"],
    };
    type Queue<H> = DualPi2<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts)
    }

    fn marks(&self) -> bool {
        true
    }

    /// Linux's `split_gso`, which is on by default: every segment by itself.
    fn uncut_bytes(&self) -> Option<u64> {
        Some(0)
    }

    fn build<H: Header>(&self, site: &Site) -> DualPi2<H> {
        DualPi2::new(self, site.seed)
    }
}

/// A queue of one of the two kinds of traffic.
#[derive(Clone, Debug)]
struct Lane<H> {
    /// With whether the step applies.
    packets: VecDeque<(Packet<H>, bool)>,
    backlog_bytes: u64,
}

impl<H> Lane<H> {
    fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            backlog_bytes: 0,
        }
    }

    fn push(&mut self, packet: Packet<H>, applies_step: bool) {
        self.backlog_bytes += u64::from(packet.wire_bytes);
        self.packets.push_back((packet, applies_step));
    }

    fn pop(&mut self) -> Option<(Packet<H>, bool)> {
        let (packet, applies_step) = self.packets.pop_front()?;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        Some((packet, applies_step))
    }

    /// How long the first packet has waited, ns; 0 without one.
    fn delay_ns(&self, now_ns: u64) -> u64 {
        let head = self.packets.front();
        head.map_or(0, |(packet, _)| now_ns.saturating_sub(packet.arrived_ns))
    }
}

/// What Linux's DualPI2 counts, by the names of `tc -s qdisc`.
#[derive(Clone, Copy, Debug, Default)]
struct Statistics {
    /// Taken into the classic queue, and into that of L4S (`pkts_in_c`, `pkts_in_l`).
    in_c_pkts: u64,
    in_l_pkts: u64,
    maxq_pkts: u64,
    /// Marked by chance, and for the time in the L4S queue.
    ecn_mark_pkts: u64,
    step_mark_pkts: u64,
    max_memory_used_bytes: u64,
}

/// Two queues with one controller.
#[derive(Clone, Debug)]
pub struct DualPi2<H> {
    config: Config,
    classic: Lane<H>,
    l4s: Lane<H>,
    /// RFC 9332's p': classic packets are dropped or marked with its square, L4S ones marked with
    /// `coupling_factor` times it.
    base_probability: u64,
    last_delay_ns: u64,
    /// Above 0 it is the classic queue's turn, as long as it has packets.
    classic_credit: i64,
    /// When the next update is due, ns; none before the first packet.
    next_update_ns: Option<u64>,
    /// When a packet last came or went, ns.
    last_call_ns: u64,
    random: Random,
    statistics: Statistics,
}

impl<H: Header> DualPi2<H> {
    /// An empty queue with random numbers of its own.
    pub fn new(config: &Config, seed: u64) -> Self {
        Self {
            config: config.clone(),
            classic: Lane::new(),
            l4s: Lane::new(),
            base_probability: 0,
            last_delay_ns: 0,
            classic_credit: initial_credit(config),
            next_update_ns: None,
            last_call_ns: 0,
            random: Random::new(seed),
            statistics: Statistics::default(),
        }
    }

    /// Makes up for the updates until `now_ns`. The heads of the queues have not changed since the
    /// last call, so their ages at those times are known.
    fn update_until(&mut self, now_ns: u64) {
        self.last_call_ns = now_ns;
        let tupdate_ns = self.config.tupdate_ns;
        let mut due_ns = *self.next_update_ns.get_or_insert(now_ns + tupdate_ns);
        while due_ns <= now_ns {
            self.update(due_ns);
            due_ns += tupdate_ns;
            if self.base_probability == 0
                && self.last_delay_ns == 0
                && Queue::backlog_pkts(self) == 0
            {
                due_ns += now_ns.saturating_sub(due_ns) / tupdate_ns * tupdate_ns;
            }
        }
        self.next_update_ns = Some(due_ns);
    }

    /// RFC 9332, figure 6: a proportional integral controller of the longer of the two delays.
    fn update(&mut self, now_ns: u64) {
        let delay_ns = self.classic.delay_ns(now_ns).max(self.l4s.delay_ns(now_ns));
        let ns = |ns: u64| i128::from(ns);
        let delta = (ns(delay_ns) - ns(self.config.target_ns)) * i128::from(self.config.alpha)
            + (ns(delay_ns) - ns(self.last_delay_ns)) * i128::from(self.config.beta);
        self.last_delay_ns = delay_ns;
        let step = delta * i128::from(ONE) / (256 * NS_PER_S);
        let most = if self.config.drop_overload {
            ONE
        } else {
            ONE / self.config.coupling_factor
        };
        let sum = i128::from(self.base_probability) + step;
        self.base_probability = sum.clamp(0, i128::from(most)) as u64;
    }

    fn is_l4s(&self, ecn: Ecn) -> bool {
        match ecn {
            Ecn::NotEct => false,
            Ecn::Ect0 => self.config.any_ect,
            Ecn::Ect1 | Ecn::Ce => true,
        }
    }

    fn chance(&mut self, probability: u64) -> bool {
        self.random.below(ONE) < probability
    }

    fn mark(&mut self, packet: &mut Packet<H>, effects: &mut Effects<H>) {
        self.statistics.ecn_mark_pkts += 1;
        effects.mark(packet);
    }

    /// Whether the packet is to be dropped by chance; it may be marked instead.
    fn must_drop(
        &mut self,
        packet: &mut Packet<H>,
        is_l4s: bool,
        effects: &mut Effects<H>,
    ) -> bool {
        // Linux: nothing is dropped or marked by chance while no more than two full packets wait.
        if Queue::backlog_bytes(self) < 2 * MTU_BYTES {
            return false;
        }
        let base = self.base_probability;
        let coupled = base * self.config.coupling_factor;
        let is_overload = coupled > ONE;
        if !is_l4s {
            if !(self.chance(base) && self.chance(base)) {
                return false;
            }
            if is_overload || !packet.ecn.is_capable() {
                return true;
            }
            self.mark(packet, effects);
            return false;
        }
        if is_overload {
            if self.config.drop_overload && self.chance(base) && self.chance(base) {
                return true;
            }
            self.mark(packet, effects);
        } else if self.chance(coupled) {
            self.mark(packet, effects);
        }
        false
    }

    /// The next packet in the order of the weighted round robin: it, its queue, whether the step
    /// applies, and what sending it does to the credit.
    fn choose(&mut self) -> Option<(Packet<H>, bool, bool, i64)> {
        let (has_classic, has_l4s) = (
            !self.classic.packets.is_empty(),
            !self.l4s.packets.is_empty(),
        );
        let both = has_classic && has_l4s;
        let is_l4s = has_l4s && (!has_classic || self.classic_credit <= 0);
        let lane = if is_l4s {
            &mut self.l4s
        } else {
            &mut self.classic
        };
        let (packet, applies_step) = lane.pop()?;
        let protection = self.config.classic_protection as i64;
        let weight = match (both, is_l4s) {
            (false, _) => 0,
            (true, true) => protection,
            (true, false) => protection - 100,
        };
        let credit = weight * i64::from(packet.wire_bytes);
        Some((packet, is_l4s, applies_step, credit))
    }

    /// Whether a packet of L4S waited too long; it is marked for it, or must be dropped.
    fn fails_step(
        &mut self,
        now_ns: u64,
        packet: &mut Packet<H>,
        effects: &mut Effects<H>,
    ) -> bool {
        if now_ns - packet.arrived_ns <= self.config.step_thresh_ns {
            return false;
        }
        let is_capable = packet.ecn.is_capable();
        if is_capable {
            self.statistics.step_mark_pkts += 1;
            effects.mark(packet);
        }
        !is_capable
    }
}

/// One full packet's worth of the classic queue's turn: nine of L4S go before it.
fn initial_credit(config: &Config) -> i64 {
    let protection = config.classic_protection as i64;
    MTU_BYTES as i64 * (protection - (100 - protection))
}

impl<H: Header> Queue<H> for DualPi2<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        self.update_until(now_ns);
        let (pkts, bytes) = (Queue::backlog_pkts(self), Queue::backlog_bytes(self));
        let memory_bytes = bytes + pkts * SKB_BYTES;
        if pkts >= self.config.limit_pkts || memory_bytes >= self.config.memory_limit_bytes {
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        let is_l4s = self.is_l4s(packet.ecn);
        if self.config.drop_early && self.must_drop(&mut packet, is_l4s, effects) {
            effects.refuse(packet, DropReason::Aqm);
            return;
        }
        packet.arrived_ns = now_ns;
        let statistics = &mut self.statistics;
        statistics.maxq_pkts = statistics.maxq_pkts.max(pkts + 1);
        let memory_bytes = memory_bytes + u64::from(packet.wire_bytes) + SKB_BYTES;
        statistics.max_memory_used_bytes = statistics.max_memory_used_bytes.max(memory_bytes);
        if is_l4s {
            statistics.in_l_pkts += 1;
            let waiting = self.l4s.packets.len() as u64;
            self.l4s
                .push(packet, waiting >= self.config.min_qlen_step_pkts);
        } else {
            statistics.in_c_pkts += 1;
            self.classic.push(packet, false);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        self.update_until(now_ns);
        let mut sent = None;
        while let Some((mut packet, is_l4s, applies_step, credit)) = self.choose() {
            let is_dropped = (!self.config.drop_early
                && self.must_drop(&mut packet, is_l4s, effects))
                || (applies_step && self.fails_step(now_ns, &mut packet, effects));
            if is_dropped {
                effects.drop(packet, DropReason::Aqm);
                continue;
            }
            self.classic_credit += credit;
            sent = Some(packet);
            break;
        }
        if Queue::backlog_pkts(self) == 0 {
            self.classic_credit = initial_credit(&self.config);
        }
        sent
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        (self.classic.packets.len() + self.l4s.packets.len()) as u64
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.classic.backlog_bytes + self.l4s.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        let packets = self.classic.packets.iter().chain(&self.l4s.packets);
        packets.for_each(|(packet, _)| look(packet));
    }

    /// The delays are those of the last arrival or departure.
    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        let prob_ppb = (u128::from(self.base_probability) * 1_000_000_000) >> 32;
        show("prob_ppb", prob_ppb as u64);
        show("delay_c_ns", self.classic.delay_ns(self.last_call_ns));
        show("delay_l_ns", self.l4s.delay_ns(self.last_call_ns));
        show("in_c_pkts", self.statistics.in_c_pkts);
        show("in_l_pkts", self.statistics.in_l_pkts);
        show("maxq_pkts", self.statistics.maxq_pkts);
        show("ecn_mark_pkts", self.statistics.ecn_mark_pkts);
        show("step_mark_pkts", self.statistics.step_mark_pkts);
        // Whose turn it is, and by how much: `tc` has one number with a sign.
        show("credit_c", self.classic_credit.max(0) as u64);
        show("credit_l", self.classic_credit.min(0).unsigned_abs());
        let memory_bytes = Queue::backlog_bytes(self) + Queue::backlog_pkts(self) * SKB_BYTES;
        show("memory_used_bytes", memory_bytes);
        show(
            "max_memory_used_bytes",
            self.statistics.max_memory_used_bytes,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn packet(flow: u32, ecn: Ecn) -> Packet<()> {
        Packet {
            flow,
            wire_bytes: 1514,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    fn with(config: Config, packets: &[(u64, Ecn)]) -> DualPi2<()> {
        let mut queue = DualPi2::new(&config, 9);
        for &(number, ecn) in packets {
            for _ in 0..number {
                queue.enqueue(0, packet(0, ecn), &mut Effects::new());
            }
        }
        queue
    }

    fn percent(probability: u64) -> f64 {
        100.0 * probability as f64 / ONE as f64
    }

    /// 0.16/s · 15 ms + 3.2/s · 30 ms, then the first alone.
    #[test]
    fn a_delay_of_twice_the_target_raises_the_probability_by_alpha_and_at_first_by_beta() {
        let mut queue = with(Config::default(), &[(1, Ecn::NotEct)]);
        queue.update(30 * MS);
        let first = percent(queue.base_probability);
        assert!((first - 9.84).abs() < 0.01, "{first}");
        queue.classic.packets[0].0.arrived_ns = 16 * MS;
        queue.update(46 * MS);
        let then = percent(queue.base_probability) - first;
        assert!((then - 0.24).abs() < 0.001, "{then}");
    }

    /// Nine full packets of L4S go before the first classic one, then nine to one.
    #[test]
    fn the_classic_queue_has_every_tenth_packet_at_least() {
        let mut queue = with(Config::default(), &[(40, Ecn::Ect1), (40, Ecn::NotEct)]);
        let order: String = (0..30)
            .filter_map(|_| queue.dequeue(0, &mut Effects::new()))
            .map(|packet| if packet.ecn == Ecn::NotEct { 'C' } else { 'L' })
            .collect();
        assert_eq!(order, "LLLLLLLLLC".repeat(3));
    }

    #[test]
    fn packets_go_to_the_queue_of_their_codepoint() {
        let lengths = |any_ect| {
            let config = Config {
                any_ect,
                ..Config::default()
            };
            let all = [
                (1, Ecn::NotEct),
                (2, Ecn::Ect0),
                (4, Ecn::Ect1),
                (8, Ecn::Ce),
            ];
            let queue = with(config, &all);
            (queue.classic.packets.len(), queue.l4s.packets.len())
        };
        assert_eq!(lengths(false), (3, 12));
        assert_eq!(lengths(true), (1, 14));
    }

    /// What becomes of 20,000 packets of which the first waits `age_ns`, at a base probability.
    fn fates(config: &Config, base: f64, ecn: Ecn, age_ns: u64) -> (f64, f64) {
        let number = 20_000;
        let [mut drops, mut marks] = [0, 0];
        let mut queue = DualPi2::new(config, 4);
        for _ in 0..number {
            let mut effects = Effects::new();
            queue.next_update_ns = Some(u64::MAX);
            queue.base_probability = (base * ONE as f64) as u64;
            // Two more wait, so that chance has a say.
            for flow in [0, 1, 1] {
                queue.enqueue(0, packet(flow, ecn), &mut Effects::new());
            }
            let (mut first, is_l4s, applies_step, _) = queue.choose().expect("it waits");
            let is_dropped = queue.must_drop(&mut first, is_l4s, &mut effects)
                || (applies_step && queue.fails_step(age_ns, &mut first, &mut effects));
            drops += u32::from(is_dropped);
            marks += u32::from(!is_dropped && first.ecn == Ecn::Ce && ecn != Ecn::Ce);
            queue = DualPi2 {
                random: queue.random.clone(),
                ..DualPi2::new(config, 4)
            };
        }
        let share = |count: u32| f64::from(count) / f64::from(number);
        (share(drops), share(marks))
    }

    /// p'² for the classic queue and k·p' for L4S; both beyond 100 % are dropped with p'².
    #[test]
    fn the_two_queues_are_coupled_by_a_square() {
        let config = Config::default();
        let near = |found: (f64, f64), drops: f64, marks: f64| {
            // Three standard deviations of 20,000 draws are at most 0.0107.
            assert!((found.0 - drops).abs() < 0.0107, "{found:?}, drops {drops}");
            assert!((found.1 - marks).abs() < 0.0107, "{found:?}, marks {marks}");
        };
        near(fates(&config, 0.2, Ecn::NotEct, 0), 0.04, 0.0);
        near(fates(&config, 0.2, Ecn::Ect0, 0), 0.0, 0.04);
        near(fates(&config, 0.2, Ecn::Ect1, 0), 0.0, 0.4);
        near(fates(&config, 0.7, Ecn::Ect0, 0), 0.49, 0.0);
        near(fates(&config, 0.7, Ecn::Ect1, 0), 0.49, 0.51);
        let keeps = Config {
            drop_overload: false,
            ..Config::default()
        };
        near(fates(&keeps, 0.5, Ecn::Ect1, 0), 0.0, 1.0);
        // The step, at 1 ms.
        near(fates(&config, 0.0, Ecn::Ect1, MS), 0.0, 0.0);
        near(fates(&config, 0.0, Ecn::Ect1, MS + 1), 0.0, 1.0);
    }

    #[test]
    fn an_idle_queue_forgets_and_costs_nothing() {
        let mut queue = with(Config::default(), &[]);
        queue.base_probability = ONE / 2;
        queue.next_update_ns = Some(0);
        queue.update_until(u64::MAX / 2);
        assert_eq!(queue.base_probability, 0);
        assert!(queue.next_update_ns > Some(u64::MAX / 2));
    }
}
