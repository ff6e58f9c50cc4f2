//! RED (Floyd and Jacobson 1993) as Linux's `sch_red` has it, with adaptive RED (Floyd, Gummadi and
//! Shenker 2001) and the gentle variant, which Linux has not.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Random early detection: drops or marks arrivals with a probability that follows the average
    /// queue (Floyd and Jacobson 1993).
    pub struct Config {
        /// Largest backlog; the packet being transmitted does not count.
        limit_bytes: u64 = 0, in 1..=u64::MAX;
        /// Average queue below which nothing is dropped; off: a third of `max`.
        min_bytes: Option<u64> = None, in 1..=MAX_BYTES;
        /// Average queue above which everything is dropped; off: a quarter of `limit`.
        max_bytes: Option<u64> = None, in 2..=MAX_BYTES;
        /// Size of an average packet.
        avpkt_bytes: u64 = 1000, in 1..=MAX_BYTES;
        /// How large a burst may be, in average packets, which sets how slowly the average follows
        /// the queue; off: (2·`min` + `max`)/3.
        burst: Option<u64> = None, in 1..=1_000_000;
        /// Probability of a drop when the average reaches `max`.
        probability_ppb: u64 = 20_000_000, in 1..=1_000_000_000;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false;
        /// With `ecn`: whether everything is dropped while the average is above `max`.
        harddrop: bool = false;
        /// With `ecn`: whether packets that are not ECN-capable pass where others are marked.
        nodrop: bool = false;
        /// Whether the probability is adapted so that the average stays between `min` and `max`.
        adaptive: bool = false;
        /// Whether the probability rises from `probability` to 1 between `max` and twice `max`,
        /// instead of being 1 from `max` on. Not Linux's.
        gentle: bool = false;
    }
}

/// Larger queues leave no room for the average's fraction.
const MAX_BYTES: u64 = 1 << 31;
/// Probabilities are fractions of this.
const ONE: u64 = 1 << 32;
/// Linux, after Floyd, Gummadi and Shenker 2001: how often the probability is adapted.
const ADAPT_NS: u64 = 500_000_000;
/// Least slow average: W = 1/2.
const MIN_WEIGHT_LOG: u32 = 1;
const MAX_WEIGHT_LOG: u32 = 31;
const NS_PER_S: u64 = 1_000_000_000;

impl Config {
    fn max_bytes(&self) -> u64 {
        self.max_bytes
            .unwrap_or(self.limit_bytes / 4)
            .clamp(2, MAX_BYTES)
    }

    fn min_bytes(&self) -> u64 {
        self.min_bytes.unwrap_or(self.max_bytes() / 3).max(1)
    }

    /// Log₂ of 1/W, as `tc` finds it: the smallest for which a burst of the size asked for, into an
    /// empty queue, leaves the average below `min`. 0 without one.
    fn weight_log(&self) -> u32 {
        let min_pkts = self.min_bytes() / self.avpkt_bytes;
        let three_bursts = (2 * self.min_bytes() + self.max_bytes()) / self.avpkt_bytes;
        let burst = self.burst.unwrap_or(three_bursts / 3).max(1);
        let needed = (burst + 1).saturating_sub(min_pkts);
        let weights = MIN_WEIGHT_LOG..=MAX_WEIGHT_LOG;
        let holds = |log: &u32| ((ONE - decay(*log, burst)) << log) / ONE >= needed;
        weights.clone().find(holds).unwrap_or(0)
    }
}

/// (1 − 2^−`weight_log`)^`times`, a fraction of [`ONE`].
fn decay(weight_log: u32, mut times: u64) -> u64 {
    let multiply = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 32) as u64;
    let (mut power, mut base) = (ONE, ONE - (ONE >> weight_log));
    while times > 0 {
        if times & 1 == 1 {
            power = multiply(power, base);
        }
        base = multiply(base, base);
        times >>= 1;
    }
    power
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: true,
        holds_back: false,
        series: &["avg_bytes", "max_p_ppb"],
    };
    type Queue<H> = Red<H>;

    fn limit(&self) -> Limit {
        Limit::Bytes(self.limit_bytes)
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn check_together(&self) -> Result<(), String> {
        let (min, max) = (self.min_bytes(), self.max_bytes());
        if min >= max {
            return Err(format!(
                "`min` of `red` is {min} bytes and `max` {max}; use a larger `max`"
            ));
        }
        if self.weight_log() == 0 {
            return Err(format!(
                "`red` cannot average over bursts of `burst` packets above `min`, {min} bytes; use a larger `min`"
            ));
        }
        if (self.harddrop || self.nodrop) && !self.ecn {
            return Err("`harddrop` and `nodrop` of `red` need `ecn=on`".to_owned());
        }
        Ok(())
    }

    fn build<H: Header>(&self, site: &Site) -> Red<H> {
        Red::new(self, site)
    }
}

/// A queue with RED at its tail.
#[derive(Clone, Debug)]
pub struct Red<H> {
    config: Config,
    min_bytes: u64,
    max_bytes: u64,
    /// The average moves by 2^−`weight_log` of its distance from the queue.
    weight_log: u32,
    /// How long an average packet is on the wire, ns.
    packet_ns: u64,
    /// The average queue, in units of 2^−`weight_log` bytes.
    average: u64,
    /// Probability of a drop when the average reaches `max`.
    max_probability: u64,
    /// Packets since the last that was dropped or marked; none while nothing is.
    since_drop: Option<u64>,
    /// The random number that the next drop is measured by, a fraction of [`ONE`].
    threshold: u64,
    /// Since when nothing waits.
    idle_since_ns: Option<u64>,
    /// When the probability is adapted next, ns; none before the first packet.
    next_adapt_ns: Option<u64>,
    random: Random,
    statistics: Statistics,
    packets: VecDeque<Packet<H>>,
    backlog_bytes: u64,
}

/// What Linux's RED counts, by the names of `tc -s qdisc`.
#[derive(Clone, Copy, Debug, Default)]
struct Statistics {
    /// Marked, by chance or because the average was beyond `max`.
    marked_pkts: u64,
    /// Dropped for the same reasons.
    early_pkts: u64,
    /// Dropped because the queue was full.
    pdrop_pkts: u64,
}

/// What RED wants of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    /// Drawn with the probability of the average.
    Early,
    /// The average is beyond all bounds.
    Forced,
}

impl<H> Red<H> {
    /// An empty queue with random numbers of its own.
    pub fn new(config: &Config, site: &Site) -> Self {
        let bit_ns = config.avpkt_bytes * 8 * NS_PER_S;
        Self {
            min_bytes: config.min_bytes(),
            max_bytes: config.max_bytes(),
            weight_log: config.weight_log(),
            packet_ns: (bit_ns / site.link_rate_bps.max(1)).max(1),
            average: 0,
            max_probability: of_ppb(config.probability_ppb),
            since_drop: None,
            threshold: 0,
            idle_since_ns: None,
            next_adapt_ns: None,
            random: Random::new(site.seed),
            statistics: Statistics::default(),
            packets: VecDeque::new(),
            backlog_bytes: 0,
            config: config.clone(),
        }
    }

    fn average_bytes(&self) -> u64 {
        self.average >> self.weight_log
    }

    /// The average at `now_ns`, as packets that might have been sent since the queue was idle would
    /// have left it.
    fn average_at(&self, now_ns: u64) -> u64 {
        let Some(since_ns) = self.idle_since_ns else {
            return self.average;
        };
        let packets = now_ns.saturating_sub(since_ns) / self.packet_ns;
        let left = u128::from(self.average) * u128::from(decay(self.weight_log, packets));
        (left >> 32) as u64
    }

    /// Floyd and Jacobson 1993, fig. 2. After idleness the queue's length is not a sample.
    fn update_average(&mut self, now_ns: u64) {
        if self.idle_since_ns.is_some() {
            self.average = self.average_at(now_ns);
            self.idle_since_ns = None;
        } else {
            self.average = self.average + self.backlog_bytes - self.average_bytes();
        }
    }

    /// Idleness begins when nothing waits, also when what came was dropped: Linux asks for a packet after
    /// every arrival. Otherwise an average above `max` would stay there, and everything be dropped.
    fn note_idle(&mut self, now_ns: u64) {
        if self.packets.is_empty() {
            self.idle_since_ns.get_or_insert(now_ns);
        }
    }

    /// Makes up for the adaptations until `now_ns`.
    fn adapt_until(&mut self, now_ns: u64) {
        let next_ns = *self.next_adapt_ns.get_or_insert(now_ns + ADAPT_NS);
        let mut due_ns = next_ns;
        while due_ns <= now_ns {
            let before = self.max_probability;
            self.adapt(due_ns);
            due_ns += ADAPT_NS;
            let is_least = before < ONE / 100 && self.max_probability == before;
            if is_least && self.idle_since_ns.is_some() {
                // An idle queue's average only falls, and the probability is as low as it gets.
                due_ns += now_ns.saturating_sub(due_ns) / ADAPT_NS * ADAPT_NS;
            }
        }
        self.next_adapt_ns = Some(due_ns);
    }

    /// Floyd, Gummadi and Shenker 2001, fig. 1, with Linux's bounds.
    fn adapt(&mut self, now_ns: u64) {
        let average = self.average_at(now_ns) >> self.weight_log;
        let fifth = (self.max_bytes - self.min_bytes) / 5;
        let percent = ONE / 100;
        if average > self.min_bytes + 3 * fifth && self.max_probability <= 50 * percent {
            self.max_probability += percent.min(self.max_probability / 4);
        } else if average < self.min_bytes + 2 * fifth && self.max_probability >= percent {
            self.max_probability = self.max_probability / 10 * 9;
        }
    }

    /// What the average asks for.
    fn signal(&mut self) -> Signal {
        let average = self.average_bytes();
        if average < self.min_bytes {
            self.since_drop = None;
            return Signal::None;
        }
        let is_gentle = self.config.gentle && average < 2 * self.max_bytes;
        if average >= self.max_bytes && !is_gentle {
            self.since_drop = None;
            return Signal::Forced;
        }
        let Some(since_drop) = self.since_drop else {
            self.since_drop = Some(0);
            self.draw();
            return Signal::None;
        };
        let since_drop = since_drop + 1;
        let probability = u128::from(self.probability(average));
        // Gaps between drops are uniform between 1 and 1/probability.
        if probability * u128::from(since_drop) >= u128::from(self.threshold) {
            self.since_drop = Some(0);
            self.draw();
            return Signal::Early;
        }
        self.since_drop = Some(since_drop);
        Signal::None
    }

    fn draw(&mut self) {
        self.threshold = self.random.below(ONE) + 1;
    }

    /// Floyd and Jacobson's p_b, a fraction of [`ONE`].
    fn probability(&self, average: u64) -> u64 {
        let fraction =
            |part: u64, whole: u64| ((u128::from(part) << 32) / u128::from(whole)) as u64;
        let scaled = |by: u64, share: u64| ((u128::from(by) * u128::from(share)) >> 32) as u64;
        if average >= self.max_bytes {
            let above = fraction(average - self.max_bytes, self.max_bytes);
            return self.max_probability + scaled(ONE - self.max_probability, above);
        }
        let above = fraction(average - self.min_bytes, self.max_bytes - self.min_bytes);
        scaled(self.max_probability, above)
    }
}

fn of_ppb(ppb: u64) -> u64 {
    ((u128::from(ppb) << 32) / 1_000_000_000) as u64
}

impl<H: Header> Queue<H> for Red<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        if self.config.adaptive {
            self.adapt_until(now_ns);
        }
        self.update_average(now_ns);
        let signal = self.signal();
        let wire_bytes = u64::from(packet.wire_bytes);
        let fits = self.backlog_bytes + wire_bytes <= self.config.limit_bytes;
        if signal != Signal::None {
            let is_hard = signal == Signal::Forced && self.config.harddrop;
            let is_capable = packet.ecn.is_capable();
            if self.config.ecn && is_capable && !is_hard {
                if fits {
                    self.statistics.marked_pkts += 1;
                    effects.mark(&mut packet);
                }
            } else if is_capable || is_hard || !self.config.nodrop {
                self.statistics.early_pkts += 1;
                self.note_idle(now_ns);
                effects.refuse(packet, DropReason::Aqm);
                return;
            }
        }
        if !fits {
            self.statistics.pdrop_pkts += 1;
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        self.backlog_bytes += wire_bytes;
        self.packets.push_back(packet);
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, _effects: &mut Effects<H>) -> Option<Packet<H>> {
        if self.config.adaptive {
            self.adapt_until(now_ns);
        }
        let packet = self.packets.pop_front();
        if let Some(packet) = &packet {
            self.backlog_bytes -= u64::from(packet.wire_bytes);
        }
        self.note_idle(now_ns);
        packet
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
        let max_p_ppb = (u128::from(self.max_probability) * 1_000_000_000) >> 32;
        show("avg_bytes", self.average_bytes());
        show("max_p_ppb", max_p_ppb as u64);
        show("marked_pkts", self.statistics.marked_pkts);
        show("early_pkts", self.statistics.early_pkts);
        show("pdrop_pkts", self.statistics.pdrop_pkts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    fn site(seed: u64) -> Site {
        Site {
            seed,
            link_rate_bps: 8_000_000,
            ..Site::default()
        }
    }

    fn packet(ecn: Ecn) -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes: 1000,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    /// A queue of 400 kB, `min` 33 kB and `max` 100 kB.
    fn config() -> Config {
        Config {
            limit_bytes: 400_000,
            ..Config::default()
        }
    }

    /// With `backlog_bytes` of what always waits, and an average of `average_bytes`.
    fn steady(config: &Config, backlog_bytes: u64, average_bytes: u64) -> Red<()> {
        let mut red = Red::new(config, &site(5));
        red.backlog_bytes = backlog_bytes;
        red.average = average_bytes << red.weight_log;
        red
    }

    /// A step of the queue from 0 to b leaves b(1 − (1 − W)ⁿ) after n samples.
    #[test]
    fn the_average_follows_a_step_as_the_weight_says() {
        let mut red = steady(&config(), 50_000, 0);
        let weight = 0.5_f64.powi(red.weight_log as i32);
        for samples in 1..=2000 {
            red.update_average(0);
            let expected = 50_000.0 * (1.0 - (1.0 - weight).powi(samples));
            let found = red.average as f64 * weight;
            assert!(
                (found - expected).abs() < 2.0,
                "{samples}: {found}, {expected}"
            );
        }
    }

    /// `tc`'s example: min 33 kB, max 100 kB, packets of 1000 bytes, burst 55: W = 2⁻⁵.
    #[test]
    fn the_weight_keeps_a_burst_below_min() {
        let config = config();
        let log = config.weight_log();
        let burst = (2 * config.min_bytes() + config.max_bytes()) / 3000;
        let holds = |log: u32| {
            let weight = 0.5_f64.powi(log as i32);
            let average = (1.0 - (1.0 - weight).powi(burst as i32)) / weight;
            average >= (burst + 1 - config.min_bytes() / 1000) as f64
        };
        assert!(holds(log) && !holds(log - 1), "{log}");
    }

    /// Gaps between drops while the average stays: uniform between 1 and 1/p_b, so that their mean is
    /// half of that and none is longer.
    #[test]
    fn gaps_between_drops_are_uniform() {
        let config = Config {
            probability_ppb: 100_000_000,
            ..config()
        };
        // In the middle between min and max: p_b = 5 %.
        let mut red = steady(&config, 0, 66_667);
        let mut gaps = Vec::new();
        let mut since = 0;
        while gaps.len() < 20_000 {
            since += 1;
            if red.signal() == Signal::Early {
                gaps.push(since);
                since = 0;
            }
        }
        let longest = gaps.iter().max().copied().unwrap_or(0);
        assert!((20..=21).contains(&longest), "{longest}");
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        // (1 + 20)/2, standard deviation 5.8/√20000.
        assert!((mean - 10.5).abs() < 0.17, "{mean}");
    }

    #[test]
    fn everything_is_dropped_above_max_and_nothing_below_min() {
        let signals = |average_bytes: u64, gentle| {
            let config = Config { gentle, ..config() };
            let mut red = steady(&config, 0, average_bytes);
            let forced = (0..1000).filter(|_| red.signal() == Signal::Forced).count();
            let mut red = steady(&config, 0, average_bytes);
            let any = (0..1000).filter(|_| red.signal() != Signal::None).count();
            (forced, any)
        };
        assert_eq!(signals(33_000, false), (0, 0));
        assert_eq!(signals(100_001, false), (1000, 1000));
        let (forced, some) = signals(150_000, true);
        assert!(forced == 0 && (500..1000).contains(&some), "gentle: {some}");
        assert_eq!(signals(200_001, true), (1000, 1000));
    }

    /// What becomes of packets that find the average at `average_bytes`.
    fn fates(config: &Config, average_bytes: u64, ecn: Ecn) -> (u32, u32) {
        let [mut drops, mut marks] = [0; 2];
        for seed in 0..200 {
            let site = site(seed);
            let mut red = Red::new(config, &site);
            red.average = average_bytes << red.weight_log;
            red.since_drop = Some(1_000_000); // a drop is due
            let mut effects = Effects::new();
            red.enqueue(0, packet(ecn), &mut effects);
            for effect in effects.drain() {
                match effect {
                    crate::Effect::Marked(_) => marks += 1,
                    _ => drops += 1,
                }
            }
        }
        (drops, marks)
    }

    #[test]
    fn marks_take_the_place_of_drops_where_they_may() {
        let of = |ecn, harddrop, nodrop| Config {
            ecn,
            harddrop,
            nodrop,
            ..config()
        };
        let (between, above) = (70_000, 150_000);
        assert_eq!(
            fates(&of(false, false, false), between, Ecn::Ect0),
            (200, 0)
        );
        assert_eq!(fates(&of(true, false, false), between, Ecn::Ect0), (0, 200));
        assert_eq!(
            fates(&of(true, false, false), between, Ecn::NotEct),
            (200, 0)
        );
        assert_eq!(fates(&of(true, false, false), above, Ecn::Ect0), (0, 200));
        assert_eq!(fates(&of(true, true, false), above, Ecn::Ect0), (200, 0));
        assert_eq!(fates(&of(true, false, true), between, Ecn::NotEct), (0, 0));
    }

    /// After m packets' times of idleness the average is (1 − W)ᵐ of what it was.
    #[test]
    fn idleness_lets_the_average_decay() {
        let mut red = steady(&config(), 0, 60_000);
        let weight = 0.5_f64.powi(red.weight_log as i32);
        red.idle_since_ns = Some(0);
        // 1000 bytes take 1 ms at 8 Mbit/s.
        red.update_average(20_000_000);
        let expected = 60_000.0 * (1.0 - weight).powi(20);
        assert!((red.average as f64 * weight - expected).abs() < 2.0);
    }

    /// A flow that sends a packet a second finds the average above `max` once: while nothing waits it decays.
    #[test]
    fn an_average_above_max_does_not_lock_out_what_comes_seldom() {
        let mut red = steady(&config(), 0, 150_000);
        let passes = |second: u64| {
            let mut effects = Effects::new();
            red.enqueue(second * NS_PER_S, packet(Ecn::NotEct), &mut effects);
            let passes = red.dequeue(second * NS_PER_S, &mut effects).is_some();
            (passes, red.average_bytes())
        };
        let seconds: Vec<_> = (0..3).map(passes).collect();
        assert!(!seconds[0].0 && seconds[0].1 > 100_000, "{seconds:?}");
        assert!(seconds[1].0 && seconds[1].1 < 1000, "{seconds:?}");
    }

    /// A drop-tail-like overload of 10 % settles where the probability is 9 %; with a largest one of
    /// 2 % that is above `max`, unless it is adapted.
    #[test]
    fn adaptation_keeps_the_average_between_min_and_max() {
        let settled = |adaptive| {
            let config = Config {
                adaptive,
                ..config()
            };
            let mut red: Red<()> = Red::new(&config, &site(5));
            let mut averages = Vec::new();
            let mut next_out_ns = 0;
            for number in 0..110_000_u64 {
                let now_ns = number * 909_091;
                while next_out_ns < now_ns {
                    red.dequeue(next_out_ns, &mut Effects::new());
                    next_out_ns += 1_000_000;
                }
                red.enqueue(now_ns, packet(Ecn::NotEct), &mut Effects::new());
                averages.push(red.average_bytes());
            }
            let last = &averages[60_000..];
            last.iter().sum::<u64>() as f64 / last.len() as f64
        };
        assert!(settled(false) > 95_000.0);
        let (low, high) = (33_000.0 + 0.4 * 67_000.0, 33_000.0 + 0.6 * 67_000.0);
        let found = settled(true);
        assert!(found > low && found < high, "{found}");
    }

    #[test]
    fn settings_that_do_not_go_together_are_refused() {
        let refused = |config: Config| config.check_together().is_err();
        assert!(!refused(config()));
        let above = Config {
            min_bytes: Some(200_000),
            ..config()
        };
        assert!(refused(above));
        let without_ecn = Config {
            nodrop: true,
            ..config()
        };
        assert!(refused(without_ecn));
    }
}
