//! PIE (RFC 8033), with the constants and the integer arithmetic of Linux's `sch_pie`.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use crate::queue::codel::MTU_BYTES;
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Proportional integral controller enhanced: drops or marks arrivals with a probability that
    /// follows the queueing delay and its trend (RFC 8033).
    pub struct Config {
        /// Most packets that may wait; one that finds the queue full is dropped.
        limit_pkts: u64 = 1000, in 1..=u32::MAX as u64;
        /// Queueing delay that is aimed at.
        target_ns: u64 = 15_000_000, in 0..=MAX_TIME_NS;
        /// How often the probability is brought up to date.
        tupdate_ns: u64 = 15_000_000, in 1_000_000..=MAX_TIME_NS;
        /// Weight of the delay's distance from the target, in sixteenths of 1/s.
        alpha: u64 = 2, in 0..=32;
        /// Weight of the delay's change since the last update, in sixteenths of 1/s.
        beta: u64 = 20, in 0..=32;
        /// Whether ECN-capable packets are marked instead of dropped, up to a probability of 10 %.
        ecn: bool = false;
        /// Whether the probability is in proportion to a packet's size.
        bytemode: bool = false;
        /// Whether the delay is the backlog at the measured rate of departures (RFC 8033 §5.2), instead
        /// of that of the packet that left last.
        dq_rate_estimator: bool = false;
    }
}

/// Longest delays: in 64 ns ticks, times `beta`, they leave room in 63 bits.
pub(super) const MAX_TIME_NS: u64 = 100_000_000_000;

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: true,
        holds_back: false,
        series: &["prob_ppb", "delay_ns"],
    };
    type Queue<H> = Pie<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts)
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn build<H: Header>(&self, site: &Site) -> Pie<H> {
        Pie::new(self, site.seed)
    }
}

/// Probabilities are fractions of this: 56 bits, as in Linux, so that eight can be added up.
const ONE: u64 = u64::MAX >> 8;
/// Linux's scheduling clock ticks every 64 ns.
const TICK_NS: u64 = 64;
const TICKS_PER_S: u64 = 1_000_000_000 / TICK_NS;
/// RFC 8033 §4.4, Linux: how long nothing is dropped after the queue was idle.
const MAX_BURST_NS: u64 = 150_000_000;
/// RFC 8033 §5.1: above this delay the probability grows faster.
const HIGH_DELAY_NS: u64 = 250_000_000;

/// RFC 8033 §5.2 (`DQ_THRESHOLD`): a measurement of the rate begins with this many bytes waiting, and ends
/// when as many have left.
const MEASURED_BYTES: u64 = 16 * 1024;
/// Linux: fractional bits of that rate.
const RATE_SHIFT: u32 = 8;

/// What decides, in Linux's units.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlSettings {
    pub(super) target_ns: u64,
    pub(super) tupdate_ns: u64,
    pub(super) alpha: u64,
    pub(super) beta: u64,
    pub(super) ecn: bool,
    /// Above this probability ECN-capable packets are dropped too.
    pub(super) ecn_limit: u64,
    pub(super) bytemode: bool,
    pub(super) dq_rate_estimator: bool,
}

impl ControlSettings {
    /// A percentage as a probability.
    pub(super) fn percent(percent: u64) -> u64 {
        ONE / 100 * percent
    }
}

impl From<&Config> for ControlSettings {
    fn from(config: &Config) -> Self {
        Self {
            target_ns: config.target_ns,
            tupdate_ns: config.tupdate_ns,
            alpha: config.alpha,
            beta: config.beta,
            ecn: config.ecn,
            ecn_limit: Self::percent(10), // RFC 8033 §5.1
            bytemode: config.bytemode,
            dq_rate_estimator: config.dq_rate_estimator,
        }
    }
}

/// PIE's state of one queue.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    /// Probability that an arrival is dropped or marked.
    probability: u64,
    /// Sum of the probabilities since the last drop (RFC 8033 §5.4: derandomisation).
    accumulated: u64,
    /// For how much longer nothing is dropped, ns.
    burst_ns: u64,
    /// Sojourn of the packet that left last, ns; 0 when it left the queue empty. With the rate of
    /// departures, the backlog at that rate at the last update.
    delay_ns: u64,
    /// The same at the last update.
    last_delay_ns: u64,
    last_dequeue_ns: Option<u64>,
    departures: DepartureRate,
    /// When the next update is due, ns. At the same times in every queue, as of one timer.
    next_update_ns: u64,
}

/// The rate at which packets leave (RFC 8033 §5.2), in Linux's integers.
#[derive(Clone, Copy, Debug, Default)]
struct DepartureRate {
    /// Average of what was measured, bytes << `RATE_SHIFT` per tick; 0: nothing yet.
    rate: u64,
    /// Since when, ns, and how many bytes have left, if it is being measured.
    measuring: Option<(u64, u64)>,
}

impl DepartureRate {
    /// A packet leaves; `backlog_bytes` are left. Returns how long a measurement took that ends now, ns.
    fn note(&mut self, now_ns: u64, wire_bytes: u32, backlog_bytes: u64) -> u64 {
        let is_long = backlog_bytes >= MEASURED_BYTES;
        if is_long && self.measuring.is_none() {
            self.measuring = Some((now_ns, 0));
        }
        let Some((since_ns, left_bytes)) = &mut self.measuring else {
            return 0;
        };
        *left_bytes += u64::from(wire_bytes);
        let ticks = now_ns / TICK_NS - *since_ns / TICK_NS;
        if *left_bytes < MEASURED_BYTES || ticks == 0 {
            return 0;
        }
        let rate = (*left_bytes << RATE_SHIFT) / ticks;
        self.rate = if self.rate == 0 {
            rate
        } else {
            self.rate - self.rate / 8 + rate / 8
        };
        self.measuring = is_long.then_some((now_ns, 0));
        ticks * TICK_NS
    }

    /// How long `backlog_bytes` take at that rate, ns.
    fn delay_ns(&self, backlog_bytes: u64) -> u64 {
        (backlog_bytes << RATE_SHIFT)
            .checked_div(self.rate)
            .unwrap_or(0)
            * TICK_NS
    }

    fn bps(&self) -> u64 {
        (8 * self.rate * TICKS_PER_S) >> RATE_SHIFT
    }
}

/// What Linux's PIE counts, by the names of `tc -s qdisc`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statistics {
    /// Taken in (`pkts_in`).
    pub(super) in_pkts: u64,
    /// Dropped because too many waited.
    pub(super) overlimit_pkts: u64,
    /// Packets that were dropped early.
    pub(super) dropped_pkts: u64,
    pub(super) ecn_mark_pkts: u64,
}

impl Statistics {
    pub(super) fn show(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("in_pkts", self.in_pkts);
        show("overlimit_pkts", self.overlimit_pkts);
        show("dropped_pkts", self.dropped_pkts);
        show("ecn_mark_pkts", self.ecn_mark_pkts);
    }
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Pass,
    Mark,
    Drop,
}

impl Controller {
    pub(super) fn new() -> Self {
        Self {
            probability: 0,
            accumulated: 0,
            burst_ns: MAX_BURST_NS,
            delay_ns: 0,
            last_delay_ns: 0,
            last_dequeue_ns: None,
            departures: DepartureRate::default(),
            // Linux's first update is half a second after the queue was made. A run's queue was there long
            // before its first packet.
            next_update_ns: 0,
        }
    }

    /// Makes up for the updates until `now_ns`. Nothing that they look at has changed since the
    /// last call, so they may as well be made now.
    pub(super) fn update_until(
        &mut self,
        now_ns: u64,
        settings: &ControlSettings,
        backlog_bytes: u64,
    ) {
        let mut due_ns = self.next_update_ns;
        while due_ns <= now_ns {
            self.update(settings, backlog_bytes);
            due_ns += settings.tupdate_ns;
            if self.probability == 0 && self.delay_ns == 0 && self.last_delay_ns == 0 {
                // An idle queue stays as it is, however many updates follow.
                let missed = now_ns.saturating_sub(due_ns) / settings.tupdate_ns;
                due_ns += missed * settings.tupdate_ns;
            }
        }
        self.next_update_ns = due_ns;
    }

    /// RFC 8033 §4.2, with Linux's scaling.
    fn update(&mut self, settings: &ControlSettings, backlog_bytes: u64) {
        if settings.dq_rate_estimator {
            self.last_delay_ns = self.delay_ns;
            self.delay_ns = self.departures.delay_ns(backlog_bytes);
        }
        let (delay_ns, last_ns) = (self.delay_ns, self.last_delay_ns);
        let ticks = |ns: u64| (ns / TICK_NS) as i128;
        let shift = self.scale();
        let weight = |sixteenths: u64| i128::from((sixteenths * (ONE / TICKS_PER_S)) >> 4 >> shift);
        let mut delta = weight(settings.alpha) * (ticks(delay_ns) - ticks(settings.target_ns))
            + weight(settings.beta) * (ticks(delay_ns) - ticks(last_ns));
        let two_percent = i128::from(ONE / 50);
        if self.probability >= ONE / 10 {
            delta = delta.min(two_percent);
        }
        if delay_ns > HIGH_DELAY_NS {
            delta += two_percent;
        }
        let sum = i128::from(self.probability) + delta;
        self.probability = sum.clamp(0, i128::from(ONE)) as u64;
        // A delay of 0 while packets wait only means that few do.
        let is_idle = delay_ns == 0 && last_ns == 0 && backlog_bytes == 0;
        if is_idle && sum < i128::from(ONE) {
            self.probability -= self.probability / 64;
        }
        let half_ns = settings.target_ns / 2;
        let has_rate = !settings.dq_rate_estimator || self.departures.rate > 0;
        if delay_ns < half_ns && last_ns < half_ns && self.probability == 0 && has_rate {
            self.burst_ns = MAX_BURST_NS;
            self.accumulated = 0;
            self.last_dequeue_ns = None;
            self.departures = DepartureRate::default();
        }
        if !settings.dq_rate_estimator {
            self.last_delay_ns = delay_ns;
        }
    }

    /// Bits by which the weights are less while the probability is small (RFC 8033 §4.2: 2 below
    /// 10 %, 8 below 1 %, …, 2048 below 10⁻⁶).
    fn scale(&self) -> u32 {
        let mut shift = 0;
        let mut bound = ONE / 10;
        while shift < 11 && self.probability < bound {
            shift += if shift == 0 { 1 } else { 2 };
            bound /= 10;
        }
        shift
    }

    /// What becomes of a packet of `wire_bytes` that finds `backlog_bytes` waiting.
    pub(super) fn decide(
        &mut self,
        settings: &ControlSettings,
        backlog_bytes: u64,
        wire_bytes: u32,
        is_ecn_capable: bool,
        random: &mut Random,
    ) -> Decision {
        if !self.drops_early(settings, backlog_bytes, wire_bytes, random) {
            Decision::Pass
        } else if settings.ecn && is_ecn_capable && self.probability <= settings.ecn_limit {
            Decision::Mark
        } else {
            Decision::Drop
        }
    }

    /// RFC 8033 §4.1 and §5.4.
    fn drops_early(
        &mut self,
        settings: &ControlSettings,
        backlog_bytes: u64,
        wire_bytes: u32,
        random: &mut Random,
    ) -> bool {
        let is_calm = self.delay_ns < settings.target_ns / 2 && self.probability < ONE / 5;
        if self.burst_ns > 0 || is_calm || backlog_bytes < 2 * MTU_BYTES {
            return false;
        }
        let wire_bytes = u64::from(wire_bytes);
        let probability = if settings.bytemode && wire_bytes <= MTU_BYTES {
            self.probability / MTU_BYTES * wire_bytes
        } else {
            self.probability
        };
        if probability == 0 {
            self.accumulated = 0;
            return false;
        }
        // A mark does not reset it, as in Linux: without drops it grows without bound.
        self.accumulated = self.accumulated.saturating_add(probability);
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        if self.accumulated >= ONE / 2 * 17 {
            return true; // a drop resets it
        }
        let drops = random.bits() >> 8 < probability;
        if drops {
            self.accumulated = 0;
        }
        drops
    }

    fn probability_ppb(&self) -> u64 {
        (u128::from(self.probability) * 1_000_000_000 / u128::from(ONE)) as u64
    }

    /// A packet was dropped, early or because nothing more fits.
    pub(super) fn note_drop(&mut self) {
        self.accumulated = 0;
    }

    /// A packet leaves; `backlog_bytes` are left.
    pub(super) fn note_dequeue<H>(
        &mut self,
        settings: &ControlSettings,
        now_ns: u64,
        packet: &Packet<H>,
        backlog_bytes: u64,
    ) {
        if settings.dq_rate_estimator {
            let took_ns = self
                .departures
                .note(now_ns, packet.wire_bytes, backlog_bytes);
            self.burst_ns = self.burst_ns.saturating_sub(took_ns);
            return;
        }
        let arrived_ns = packet.arrived_ns;
        self.delay_ns = if backlog_bytes == 0 {
            0
        } else {
            now_ns - arrived_ns
        };
        let since_ns = self.last_dequeue_ns.map_or(0, |last_ns| now_ns - last_ns);
        self.last_dequeue_ns = Some(now_ns);
        self.burst_ns = self.burst_ns.saturating_sub(since_ns);
    }
}

/// A queue with PIE at its tail.
#[derive(Clone, Debug)]
pub struct Pie<H> {
    settings: ControlSettings,
    limit_pkts: usize,
    controller: Controller,
    random: Random,
    statistics: Statistics,
    maxq_pkts: usize,
    packets: VecDeque<Packet<H>>,
    backlog_bytes: u64,
}

impl<H> Pie<H> {
    /// An empty queue with random numbers of its own.
    pub fn new(config: &Config, seed: u64) -> Self {
        Self {
            settings: ControlSettings::from(config),
            limit_pkts: config.limit_pkts as usize,
            controller: Controller::new(),
            random: Random::new(seed),
            statistics: Statistics::default(),
            maxq_pkts: 0,
            packets: VecDeque::new(),
            backlog_bytes: 0,
        }
    }
}

impl<H: Header> Queue<H> for Pie<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        let controller = &mut self.controller;
        controller.update_until(now_ns, &self.settings, self.backlog_bytes);
        if self.packets.len() >= self.limit_pkts {
            controller.note_drop();
            self.statistics.overlimit_pkts += 1;
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        let decision = controller.decide(
            &self.settings,
            self.backlog_bytes,
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
        self.backlog_bytes += u64::from(packet.wire_bytes);
        self.packets.push_back(packet);
        self.statistics.in_pkts += 1;
        self.maxq_pkts = self.maxq_pkts.max(self.packets.len());
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, _effects: &mut Effects<H>) -> Option<Packet<H>> {
        let controller = &mut self.controller;
        controller.update_until(now_ns, &self.settings, self.backlog_bytes);
        let packet = self.packets.pop_front()?;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        controller.note_dequeue(&self.settings, now_ns, &packet, self.backlog_bytes);
        Some(packet)
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.packets.len() as u64
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.packets.iter().for_each(look);
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("prob_ppb", self.controller.probability_ppb());
        show("delay_ns", self.controller.delay_ns);
        show("avg_dq_rate_bps", self.controller.departures.bps());
        self.statistics.show(show);
        show("maxq_pkts", self.maxq_pkts as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    const MS: u64 = 1_000_000;

    fn packet(wire_bytes: u32, ecn: Ecn) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    fn share(probability: u64) -> f64 {
        probability as f64 / ONE as f64
    }

    /// A controller whose delay has long been `delay_ns`.
    fn steady(delay_ns: u64, probability: f64) -> Controller {
        Controller {
            probability: (probability * ONE as f64) as u64,
            delay_ns,
            last_delay_ns: delay_ns,
            burst_ns: 0,
            ..Controller::new()
        }
    }

    fn step(mut controller: Controller) -> f64 {
        let before = share(controller.probability);
        controller.update(&ControlSettings::from(&Config::default()), 100_000);
        share(controller.probability) - before
    }

    /// RFC 8033 §4.2: 0.125/s of the 15 ms above the target, and less while the probability is small.
    #[test]
    fn a_steady_delay_raises_the_probability_by_alpha_and_its_scale() {
        let full = 0.125 * 0.015;
        let scales = [
            (0.2, 1.0),
            (0.05, 2.0),
            (5e-3, 8.0),
            (5e-4, 32.0),
            (5e-5, 128.0),
            (5e-6, 512.0),
            (5e-7, 2048.0),
        ];
        for (probability, divisor) in scales {
            let found = step(steady(30 * MS, probability));
            let expected = full / divisor;
            // Ticks of 64 ns, and weights truncated to whole units.
            assert!(
                (found - expected).abs() < 1e-3 * expected,
                "at {probability}: {found} and not {expected}"
            );
        }
    }

    /// RFC 8033 §5.1: no step above 2 %, but 2 % more above 250 ms.
    #[test]
    fn steps_are_at_most_two_percent_and_two_more_when_delays_are_high() {
        let jump = |delay_ns| Controller {
            last_delay_ns: 0,
            ..steady(delay_ns, 0.2)
        };
        assert!((step(jump(249 * MS)) - 0.02).abs() < 1e-6);
        assert!((step(jump(251 * MS)) - 0.04).abs() < 1e-6);
        assert!(
            step(jump(20 * MS)) < 0.0256,
            "1.25/s of 20 ms and 0.125/s of 5 ms"
        );
    }

    #[test]
    fn an_idle_queue_forgets_a_64th_each_update() {
        let mut controller = steady(0, 0.5);
        let settings = ControlSettings {
            alpha: 0,
            ..ControlSettings::from(&Config::default())
        };
        controller.update(&settings, 0);
        assert!((share(controller.probability) - 0.5 * 63.0 / 64.0).abs() < 1e-6);
        controller.update(&settings, 1000);
        let unchanged = share(controller.probability);
        assert!(
            (unchanged - 0.5 * 63.0 / 64.0).abs() < 1e-6,
            "something waits"
        );
    }

    /// ns-3's PIE suite 13 and 14: below 0.85 nothing is dropped, from 8.5 on everything.
    #[test]
    fn the_sum_of_probabilities_bounds_the_gaps_between_drops() {
        let settings = ControlSettings::from(&Config::default());
        let drops_at = |accumulated: f64, seed| {
            let mut controller = steady(30 * MS, 0.001);
            controller.accumulated = (accumulated * ONE as f64) as u64;
            let mut random = Random::new(seed);
            controller.drops_early(&settings, 100_000, 1514, &mut random)
        };
        for seed in 0..1000 {
            assert!(!drops_at(0.84, seed));
            assert!(drops_at(8.6, seed));
        }
    }

    /// Early drops, overflows and marks of packets of 1000 bytes, one every 10 ms, one leaving every
    /// `out_ms`: ns-3's PIE suite.
    fn run(config: &Config, ecn: Ecn, packets: u64, out_ms: u64, seed: u64) -> [u64; 3] {
        let mut queue = Pie::new(config, seed);
        let [mut early, mut overflows, mut marks] = [0; 3];
        let mut next_out_ms = 10;
        for number in 1..=packets {
            let now_ms = 10 * number;
            while next_out_ms < now_ms {
                queue.dequeue(next_out_ms * MS, &mut Effects::new());
                next_out_ms += out_ms;
            }
            let mut effects = Effects::new();
            queue.enqueue(now_ms * MS, packet(1000, ecn), &mut effects);
            for effect in effects.drain() {
                match effect {
                    crate::Effect::Refused(_, DropReason::Aqm) => early += 1,
                    crate::Effect::Refused(..) | crate::Effect::Dropped(..) => overflows += 1,
                    crate::Effect::Marked(_) => marks += 1,
                }
            }
        }
        [early, overflows, marks]
    }

    fn ns3() -> Config {
        Config {
            limit_pkts: 300,
            target_ns: 20 * MS,
            tupdate_ns: 30 * MS,
            ..Config::default()
        }
    }

    /// The order of the counts in ns-3's suite 2 to 5; the mean of 20 seeds, since one run has some ten drops.
    #[test]
    fn a_faster_overload_drops_more_and_a_higher_target_or_rarer_updates_less() {
        let drops = |config: &Config, out_ms| {
            let early = (0..20).map(|seed| {
                let [early, overflows, marks] = run(config, Ecn::NotEct, 400, out_ms, seed);
                assert_eq!((overflows, marks), (0, 0));
                early
            });
            early.sum::<u64>()
        };
        let usual = drops(&ns3(), 12);
        assert!(usual > 0);
        let patient = Config {
            target_ns: 80 * MS,
            ..ns3()
        };
        assert!(drops(&patient, 12) < usual);
        let faster = drops(&ns3(), 15);
        assert!(faster > usual);
        let rare = Config {
            tupdate_ns: 90 * MS,
            ..ns3()
        };
        assert!(drops(&rare, 15) < faster);
    }

    /// RFC 8033 §5.1: what can be marked is, until the probability exceeds 10 %; the rest is dropped.
    #[test]
    fn marks_end_at_ten_percent() {
        let settings = ControlSettings {
            ecn: true,
            ..ControlSettings::from(&Config::default())
        };
        let decision = |probability, is_ecn_capable| {
            let mut controller = steady(30 * MS, probability);
            controller.accumulated = ONE / 2 * 17; // due in any case
            controller.decide(
                &settings,
                100_000,
                1514,
                is_ecn_capable,
                &mut Random::new(1),
            )
        };
        assert_eq!(decision(0.09, true), Decision::Mark);
        assert_eq!(decision(0.11, true), Decision::Drop);
        assert_eq!(decision(0.09, false), Decision::Drop);
    }

    /// RFC 8033 §4.4: 100 packets at once, which take 121 ms at 10 Mbit/s.
    #[test]
    fn a_short_burst_into_an_idle_queue_loses_nothing() {
        let mut queue = Pie::new(&Config::default(), 1);
        for _ in 0..100 {
            let mut effects = Effects::new();
            queue.enqueue(1000 * MS, packet(1514, Ecn::NotEct), &mut effects);
            assert!(effects.is_empty());
        }
        for number in 0..100 {
            let mut effects = Effects::new();
            let packet = queue.dequeue(1000 * MS + number * 1_211_200, &mut effects);
            assert!(packet.is_some() && effects.is_empty());
        }
        assert_eq!((queue.backlog_pkts(), queue.backlog_bytes()), (0, 0));
    }

    /// RFC 8033 §5.2: 16 KiB and more leave at 10 Mbit/s; the delay is what waits at that rate, and a measurement
    /// that the queue does not last for says nothing.
    #[test]
    fn the_delay_is_the_backlog_at_the_rate_of_departures() {
        let config = Config {
            dq_rate_estimator: true,
            ..Config::default()
        };
        let mut queue = Pie::new(&config, 1);
        let departures = |queue: &Pie<()>| queue.controller.departures;
        let fill = |queue: &mut Pie<()>, pkts| {
            for _ in 0..pkts {
                queue.enqueue(0, packet(1500, Ecn::NotEct), &mut Effects::new());
            }
        };
        fill(&mut queue, 8);
        for number in 0..8 {
            queue.dequeue(number * 1_200_000, &mut Effects::new());
        }
        assert_eq!(departures(&queue).rate, 0, "12 kB are too few");
        fill(&mut queue, 40);
        for number in 8..28 {
            queue.dequeue(number * 1_200_000, &mut Effects::new());
        }
        let bps = departures(&queue).bps() as f64;
        // 11 packets in 10 × 1.2 ms: the first leaves as the measurement begins. Truncated to 1/256 byte per tick.
        assert!((bps - 11e6).abs() < 0.05 * 11e6, "{bps}");
        let delay_ns = departures(&queue).delay_ns(queue.backlog_bytes());
        let expected_ns = 20.0 * 1500.0 * 8e9 / bps;
        assert!((delay_ns as f64 - expected_ns).abs() < 100.0, "{delay_ns}");
    }

    /// The updates of an idle hour are made at once, and the burst is allowed again.
    #[test]
    fn idle_hours_cost_nothing() {
        let mut controller = steady(0, 0.3);
        let settings = ControlSettings::from(&Config::default());
        controller.next_update_ns = 0;
        controller.update_until(u64::MAX / 2, &settings, 0);
        assert_eq!(
            (controller.probability, controller.burst_ns),
            (0, MAX_BURST_NS)
        );
        assert!(controller.next_update_ns > u64::MAX / 2);
    }
}
