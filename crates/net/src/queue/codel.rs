//! CoDel (RFC 8289), in the integer arithmetic of Linux's `sch_codel`.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::{Header, Packet};

settings! {
    /// Controlled delay: drops or marks from the head while every packet of an interval waited
    /// longer than the target, more often the longer that lasts (RFC 8289).
    pub struct Config {
        /// Most packets that may wait; one that finds the queue full is dropped.
        limit_pkts: u64 = 1000, in 1..=u32::MAX as u64;
        /// Time in the queue that is accepted as a standing one.
        target_ns: u64 = 5_000_000, in 0..=MAX_TIME_NS;
        /// How long packets must wait longer than that before the first is dropped: in the order of
        /// the longest usual RTT.
        interval_ns: u64 = 100_000_000, in 1024..=MAX_TIME_NS;
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false;
        /// Time in the queue above which every ECN-capable packet is marked.
        ce_threshold_ns: Option<u64> = None, in 0..=MAX_TIME_NS;
        /// Whether `ce_threshold` is for packets of L4S only, ECT(1).
        ce_threshold_l4s: bool = false;
        /// Largest packet of the device, Ethernet header included: nothing is dropped or marked
        /// while no more than this waits.
        mtu_bytes: u64 = MTU_BYTES, in 0..=u32::MAX as u64;
    }
}

/// Linux's `psched_mtu()` of an Ethernet device: 1500 + 14 bytes.
pub(super) const MTU_BYTES: u64 = 1514;
/// Times are compared as serial numbers of 32 bits of 1.024 µs: 16 intervals must be less than half
/// of their range.
pub(super) const MAX_TIME_NS: u64 = 100_000_000_000;

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: true,
        can_mark: true,
        holds_back: false,
        series: &["count", "ldelay_ns"],
    };
    type Queue<H> = Codel<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts)
    }

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold_ns.is_some()
    }

    fn build<H: Header>(&self, _site: &Site) -> Codel<H> {
        Codel::new(self)
    }
}

/// What decides: the settings in Linux's units.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlSettings {
    pub(super) target: u32,
    pub(super) interval: u32,
    pub(super) mtu_bytes: u64,
    pub(super) ecn: bool,
    pub(super) ce_threshold: Option<u32>,
    pub(super) ce_threshold_l4s: bool,
}

/// A time as Linux's `codel_time_t` has it: 1024 ns, modulo 2³².
#[inline]
pub(super) fn ticks(ns: u64) -> u32 {
    (ns >> 10) as u32
}

/// Whether time `a` comes after `b`, both modulo 2³².
#[inline]
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// What a controlled queue gives: its head, and what is left behind it.
pub(super) trait Waiting<H> {
    /// A look at the head.
    fn head(&self) -> Option<&Packet<H>>;
    /// Takes the head.
    fn take(&mut self) -> Option<Packet<H>>;
    /// Bytes that wait, all flows together.
    fn backlog_bytes(&self) -> u64;
}

/// What Linux's CoDel counts, by the names of `tc -s qdisc`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statistics {
    /// Largest packet that was looked at on its way out.
    pub(super) maxpacket_bytes: u64,
    /// Dropped because too many waited.
    pub(super) drop_overlimit_pkts: u64,
    /// Marked instead of dropped; one that had CE already counts, as in Linux.
    pub(super) ecn_mark_pkts: u64,
    /// Marked above `ce_threshold`.
    pub(super) ce_mark_pkts: u64,
}

impl Statistics {
    pub(super) fn show(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("maxpacket_bytes", self.maxpacket_bytes);
        show("drop_overlimit_pkts", self.drop_overlimit_pkts);
        show("ecn_mark_pkts", self.ecn_mark_pkts);
        show("ce_mark_pkts", self.ce_mark_pkts);
    }
}

/// CoDel's state of one queue: when the next packet is to be dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Controller {
    /// Packets dropped or marked since dropping began.
    pub(super) count: u32,
    /// `count` when it began.
    last_count: u32,
    is_dropping: bool,
    /// 1/√count in units of 2⁻¹⁶.
    rec_inv_sqrt: u16,
    /// When packets will have waited too long for an interval, ticks; 0: they have not.
    first_above: u32,
    /// When the next is dropped, ticks.
    drop_next: u32,
    /// How long the packet last looked at had waited, ticks.
    sojourn: u32,
}

impl Controller {
    /// The next packet to send; those that are dropped before it are put into `effects`.
    #[inline]
    pub(super) fn dequeue<H: Header>(
        &mut self,
        now_ns: u64,
        settings: &ControlSettings,
        queue: &mut impl Waiting<H>,
        effects: &mut Effects<H>,
        statistics: &mut Statistics,
    ) -> Option<Packet<H>> {
        let Some(head) = queue.head() else {
            self.is_dropping = false;
            return None;
        };
        let now = ticks(now_ns);
        let (wire_bytes, arrived_ns) = (u64::from(head.wire_bytes), head.arrived_ns);
        statistics.maxpacket_bytes = statistics.maxpacket_bytes.max(wire_bytes);
        let left_bytes = queue.backlog_bytes() - wire_bytes;
        let is_late = self.is_late(arrived_ns, now, settings, left_bytes);
        let passes = !is_late || self.is_dropping && is_after(self.drop_next, now);
        if passes && settings.ce_threshold.is_none() {
            self.is_dropping &= is_late;
            return queue.take();
        }
        self.dequeue_late(is_late, now, settings, queue, effects, statistics)
    }

    /// The head may be dropped or marked. Apart, so that others are taken out of the queue in one copy.
    #[inline(never)]
    fn dequeue_late<H: Header>(
        &mut self,
        is_late: bool,
        now: u32,
        settings: &ControlSettings,
        queue: &mut impl Waiting<H>,
        effects: &mut Effects<H>,
        statistics: &mut Statistics,
    ) -> Option<Packet<H>> {
        let mut head = queue.take();
        if self.is_dropping {
            if !is_late {
                self.is_dropping = false;
            } else if !is_after(self.drop_next, now) {
                head = self.go_on(head, now, settings, queue, effects, statistics);
            }
        } else if is_late {
            head = self.begin(head, now, settings, queue, effects, statistics);
        }
        if let (Some(threshold), Some(packet)) = (settings.ce_threshold, &mut head)
            && is_after(self.sojourn, threshold)
            // As Linux's selector 0x01/0x01: ECT(1) and CE.
            && (!settings.ce_threshold_l4s || packet.ecn.bits() & 1 == 1)
            && mark(packet, effects)
        {
            statistics.ce_mark_pkts += 1;
        }
        head
    }

    /// Whether packets have waited too long for an interval (RFC 8289 §5.5, `dodequeue`).
    #[inline]
    fn is_late(
        &mut self,
        arrived_ns: u64,
        now: u32,
        settings: &ControlSettings,
        backlog_bytes: u64,
    ) -> bool {
        self.sojourn = now.wrapping_sub(ticks(arrived_ns));
        if is_after(settings.target, self.sojourn) || backlog_bytes <= settings.mtu_bytes {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(settings.interval);
            return false;
        }
        is_after(now, self.first_above)
    }

    /// Takes the queue's next packet, and says whether it `is_late`.
    fn take_next<H>(
        &mut self,
        now: u32,
        settings: &ControlSettings,
        queue: &mut impl Waiting<H>,
    ) -> (Option<Packet<H>>, bool) {
        let Some(packet) = queue.take() else {
            self.first_above = 0;
            return (None, false);
        };
        let is_late = self.is_late(packet.arrived_ns, now, settings, queue.backlog_bytes());
        (Some(packet), is_late)
    }

    /// Drops what is due while it drops. At most one packet is marked.
    #[cold]
    fn go_on<H: Header>(
        &mut self,
        mut head: Option<Packet<H>>,
        now: u32,
        settings: &ControlSettings,
        queue: &mut impl Waiting<H>,
        effects: &mut Effects<H>,
        statistics: &mut Statistics,
    ) -> Option<Packet<H>> {
        while self.is_dropping && !is_after(self.drop_next, now) {
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            let mut packet = head?;
            if settings.ecn && mark(&mut packet, effects) {
                statistics.ecn_mark_pkts += 1;
                self.drop_next = self.next_after(self.drop_next, settings.interval);
                return Some(packet);
            }
            effects.drop(packet, DropReason::Aqm);
            let is_late;
            (head, is_late) = self.take_next(now, settings, queue);
            if is_late {
                self.drop_next = self.next_after(self.drop_next, settings.interval);
            } else {
                self.is_dropping = false;
            }
        }
        head
    }

    /// Drops or marks the first, and goes on at about the rate of last time if that was recent.
    #[cold]
    fn begin<H: Header>(
        &mut self,
        head: Option<Packet<H>>,
        now: u32,
        settings: &ControlSettings,
        queue: &mut impl Waiting<H>,
        effects: &mut Effects<H>,
        statistics: &mut Statistics,
    ) -> Option<Packet<H>> {
        let mut packet = head?;
        let head = if settings.ecn && mark(&mut packet, effects) {
            statistics.ecn_mark_pkts += 1;
            Some(packet)
        } else {
            effects.drop(packet, DropReason::Aqm);
            self.take_next(now, settings, queue).0
        };
        self.is_dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let since_last = now.wrapping_sub(self.drop_next);
        if delta > 1 && is_after(settings.interval.wrapping_mul(16), since_last) {
            self.count = delta;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.next_after(now, settings.interval);
        head
    }

    /// The control law: `interval`/√count later.
    #[inline]
    fn next_after(&self, time: u32, interval: u32) -> u32 {
        let rec_inv_sqrt = u64::from(self.rec_inv_sqrt) << 16;
        time.wrapping_add(((u64::from(interval) * rec_inv_sqrt) >> 32) as u32)
    }

    /// One step of Newton's towards 1/√count: x·(3 − count·x²)/2. After a large step of `count` it
    /// wraps around, as Linux's does.
    fn newton_step(&mut self) {
        let x = u64::from(self.rec_inv_sqrt) << 16;
        let squared = (x * x) >> 32;
        let factor = (3_u64 << 32).wrapping_sub(u64::from(self.count) * squared) >> 2;
        self.rec_inv_sqrt = ((factor.wrapping_mul(x) >> 31) as u32 >> 16) as u16;
    }
}

/// A queue with CoDel at its head.
#[derive(Clone, Debug)]
pub struct Codel<H> {
    settings: ControlSettings,
    limit_pkts: usize,
    controller: Controller,
    statistics: Statistics,
    waiting: Line<H>,
}

/// Packets in the order in which they came.
#[derive(Clone, Debug)]
struct Line<H> {
    packets: VecDeque<Packet<H>>,
    backlog_bytes: u64,
}

impl<H> Waiting<H> for Line<H> {
    #[inline]
    fn head(&self) -> Option<&Packet<H>> {
        self.packets.front()
    }

    #[inline]
    fn take(&mut self) -> Option<Packet<H>> {
        self.backlog_bytes -= u64::from(self.packets.front()?.wire_bytes);
        self.packets.pop_front()
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }
}

impl<H> Codel<H> {
    /// An empty queue.
    pub fn new(config: &Config) -> Self {
        Self {
            settings: ControlSettings {
                target: ticks(config.target_ns),
                interval: ticks(config.interval_ns),
                mtu_bytes: config.mtu_bytes,
                ecn: config.ecn,
                ce_threshold: config.ce_threshold_ns.map(ticks),
                ce_threshold_l4s: config.ce_threshold_l4s,
            },
            limit_pkts: config.limit_pkts as usize,
            controller: Controller::default(),
            statistics: Statistics::default(),
            waiting: Line {
                packets: VecDeque::new(),
                backlog_bytes: 0,
            },
        }
    }
}

impl<H: Header> Queue<H> for Codel<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        if self.waiting.packets.len() >= self.limit_pkts {
            self.statistics.drop_overlimit_pkts += 1;
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        packet.arrived_ns = now_ns;
        self.waiting.backlog_bytes += u64::from(packet.wire_bytes);
        self.waiting.packets.push_back(packet);
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        let Self {
            settings,
            controller,
            statistics,
            waiting,
            ..
        } = self;
        controller.dequeue(now_ns, settings, waiting, effects, statistics)
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.waiting.packets.len() as u64
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.waiting.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.waiting.packets.iter().for_each(look);
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        let controller = &self.controller;
        show("count", u64::from(controller.count));
        show("lastcount", u64::from(controller.last_count));
        show("ldelay_ns", u64::from(controller.sojourn) << 10);
        show("dropping", u64::from(controller.is_dropping));
        self.statistics.show(show);
    }
}

/// Sets CE where the packet allows it; one that has it counts as marked.
#[inline]
pub(super) fn mark<H: Header>(packet: &mut Packet<H>, effects: &mut Effects<H>) -> bool {
    let is_capable = packet.ecn.is_capable();
    if is_capable {
        effects.mark(packet);
    }
    is_capable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    const MS: u64 = 1_000_000;

    fn drops(effects: &Effects<()>) -> Vec<Packet<()>> {
        effects.drops().copied().collect()
    }

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

    /// `config` with `packets` of `wire_bytes` that arrived at 0.
    fn filled(config: Config, packets: u32, wire_bytes: u32, ecn: Ecn) -> Codel<()> {
        let (mut queue, mut effects) = (Codel::new(&config), Effects::new());
        for _ in 0..packets {
            queue.enqueue(0, packet(wire_bytes, ecn), &mut effects);
        }
        assert!(drops(&effects).is_empty());
        queue
    }

    /// Marks and drops of each dequeue, one every `every_ns`, until the queue is empty.
    fn signals(mut queue: Codel<()>, every_ns: u64) -> Vec<(usize, usize)> {
        let mut signals = Vec::new();
        for number in 1.. {
            let mut effects = Effects::new();
            let Some(packet) = queue.dequeue(number * every_ns, &mut effects) else {
                break;
            };
            signals.push((usize::from(packet.ecn == Ecn::Ce), drops(&effects).len()));
        }
        signals
    }

    fn script(ecn: Ecn) -> Vec<(usize, usize)> {
        let config = Config {
            mtu_bytes: 1500,
            ecn: true,
            ..Config::default()
        };
        signals(filled(config, 20, 120, ecn), 110 * MS)
    }

    /// ns-3's script of its FQ-CoDel suite: 20 packets of 120 bytes, one dequeue every 110 ms.
    #[test]
    fn packets_that_can_be_marked_are_marked_one_a_dequeue() {
        let signals = script(Ecn::Ect0);
        assert_eq!(signals.iter().map(|&(marks, _)| marks).sum::<usize>(), 6);
        assert_eq!(signals.iter().map(|&(_, drops)| drops).sum::<usize>(), 0);
        assert_eq!(signals.len(), 20);
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_until_a_packet_of_bytes_waits() {
        let drops: Vec<_> = script(Ecn::NotEct)
            .iter()
            .map(|&(_, drops)| drops)
            .collect();
        assert_eq!(drops[..5], [0, 1, 1, 2, 0]);
        assert_eq!(drops.iter().sum::<usize>(), 4);
    }

    /// ns-3's script of its CoDel suite.
    #[test]
    fn the_first_drop_comes_an_interval_after_the_target() {
        let mut queue = filled(Config::default(), 20, 1000, Ecn::NotEct);
        let mut effects = Effects::new();
        queue.dequeue(10 * MS, &mut effects);
        assert_eq!(drops(&effects).len(), 0);
        queue.dequeue(210 * MS, &mut effects);
        assert_eq!(drops(&effects).len(), 1);
        queue.dequeue(210 * MS, &mut effects);
        assert_eq!(drops(&effects).len(), 1, "the next is an interval away");
    }

    /// Times between signals under an overload that does not respond, ms: 100/√n but for Newton's
    /// steps, which are coarse while the count is small.
    #[test]
    fn signals_come_at_the_times_of_linuxs_control_law() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let config = Config {
                limit_pkts: 1_000_000,
                ecn: true,
                ..Config::default()
            };
            let (mut queue, mut effects) = (Codel::new(&config), Effects::new());
            let mut times_us = Vec::new();
            // Two packets arrive for one that leaves, each 100 µs.
            for step in 0..40_000_u64 {
                let now_ns = step * 100_000;
                for _ in 0..2 {
                    queue.enqueue(now_ns, packet(1514, ecn), &mut effects);
                }
                effects.drain();
                let sent = queue.dequeue(now_ns, &mut effects).expect("packets wait");
                if !drops(&effects).is_empty() || sent.ecn == Ecn::Ce {
                    times_us.push(now_ns / 1000);
                }
            }
            let gap_ms = |n: usize| (times_us[n] - times_us[n - 1]) as f64 / 1000.0;
            let expected = [
                (1, 100.0),
                (2, 50.0),
                (3, 56.2),
                (4, 48.8),
                (5, 44.2),
                (6, 40.4),
            ];
            for (n, expected_ms) in expected.into_iter().chain([(8, 35.2), (10, 31.5)]) {
                let ms = gap_ms(n);
                assert!((ms - expected_ms).abs() <= 0.2, "after signal {n}: {ms} ms");
            }
            for (n, expected_ms) in [(17, 640.9), (33, 968.0), (129, 2095.0)] {
                let ms = (times_us[n - 1] - times_us[0]) as f64 / 1000.0;
                assert!((ms - expected_ms).abs() <= 1.0, "signal {n}: {ms} ms");
            }
        }
    }

    /// RFC 8289 §3.2: a slow link whose packets take longer than the target still carries them.
    #[test]
    fn one_packet_that_waits_is_never_dropped_however_long_it_waits() {
        let mut queue = Codel::new(&Config::default());
        let mut effects = Effects::new();
        for second in 0..100 {
            let now_ns = second * 1000 * MS;
            queue.enqueue(now_ns, packet(1514, Ecn::NotEct), &mut effects);
            queue.enqueue(now_ns, packet(1514, Ecn::NotEct), &mut effects);
            assert!(queue.dequeue(now_ns + 400 * MS, &mut effects).is_some());
            assert!(queue.dequeue(now_ns + 800 * MS, &mut effects).is_some());
        }
        assert!(drops(&effects).is_empty());
    }

    #[test]
    fn the_packet_that_finds_the_limit_is_dropped() {
        let config = Config {
            limit_pkts: 3,
            ..Config::default()
        };
        let mut queue = filled(config, 3, 66, Ecn::NotEct);
        let mut effects = Effects::new();
        queue.enqueue(1, packet(1514, Ecn::NotEct), &mut effects);
        assert_eq!(
            (drops(&effects)[0].wire_bytes, queue.backlog_pkts()),
            (1514, 3)
        );
    }

    /// A queue that stays good for less than 16 intervals goes on where it stopped; after a longer
    /// time it begins again from 1.
    #[test]
    fn it_remembers_its_rate_for_sixteen_intervals() {
        let settled = Controller {
            count: 50,
            last_count: 10,
            rec_inv_sqrt: (65536.0 / 50_f64.sqrt()) as u16,
            drop_next: ticks(1000 * MS),
            first_above: ticks(900 * MS),
            ..Controller::default()
        };
        for (now_ms, count) in [(2500, 40), (2700, 1)] {
            let mut queue = filled(Config::default(), 10, 1514, Ecn::NotEct);
            queue.controller = settled;
            queue.dequeue(now_ms * MS, &mut Effects::new());
            assert_eq!(queue.controller.count, count, "at {now_ms} ms");
            assert!(queue.controller.is_dropping);
        }
    }

    #[test]
    fn ce_threshold_marks_what_waited_longer_and_for_l4s_only_ect1() {
        let marks = |l4s: bool, ecn: Ecn, now_ns: u64| {
            let config = Config {
                ce_threshold_ns: Some(MS),
                ce_threshold_l4s: l4s,
                ..Config::default()
            };
            let mut queue = filled(config, 3, 1514, ecn);
            let packet = queue.dequeue(now_ns, &mut Effects::new());
            packet.expect("three wait").ecn == Ecn::Ce
        };
        assert!(marks(false, Ecn::Ect0, 2 * MS) && marks(false, Ecn::Ect1, 2 * MS));
        assert!(!marks(false, Ecn::Ect0, MS) && !marks(false, Ecn::NotEct, 2 * MS));
        assert!(!marks(true, Ecn::Ect0, 2 * MS) && marks(true, Ecn::Ect1, 2 * MS));
    }

    /// Linux's clock of 32 bits turns over after 73 minutes.
    #[test]
    fn nothing_happens_when_the_clock_turns_over() {
        let start_ns = (u64::from(u32::MAX) << 10) - 150 * MS;
        let (mut queue, mut effects) = (Codel::new(&Config::default()), Effects::new());
        for _ in 0..20 {
            queue.enqueue(start_ns, packet(1514, Ecn::NotEct), &mut effects);
        }
        let drops: Vec<_> = [10, 120, 160, 221]
            .into_iter()
            .map(|ms| {
                effects.drain();
                queue.dequeue(start_ns + ms * MS, &mut effects);
                drops(&effects).len()
            })
            .collect();
        assert_eq!(drops, [0, 1, 0, 1]);
    }
}
