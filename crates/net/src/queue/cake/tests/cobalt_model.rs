//! COBALT compared, state by state, with a model that was written from its description: the signals that are
//! due lie on a schedule, and the model walks along it.

use proptest::prelude::*;

use crate::queue::cake::cobalt::{Cobalt, Settings, Signal};
use crate::random::Random;

const MS: i64 = 1_000_000;

/// 1/√count in units of 2⁻³²: the nearest number for small counts (and the largest that 32 bits have for 0 and
/// 1; for 4, where 2³¹ is exact, one less), after that Newton's step from the number before.
fn root_after(before: u128, count: u128) -> u128 {
    match count {
        0 | 1 => (1 << 32) - 1,
        4 => (1 << 31) - 1,
        2..=15 => {
            // The nearest r: (2r − 1)²·count < 4·2⁶⁴ < (2r + 1)²·count.
            let is_below = |r: u128| (2 * r + 1) * (2 * r + 1) * count <= 1 << 66;
            let (mut low, mut high) = (0_u128, 1 << 32);
            while low < high {
                let middle = (low + high) / 2;
                if is_below(middle) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            // What the eight Newton steps that Linux's numbers come from leave.
            match count {
                10 | 12 | 15 => low + 1,
                _ => low,
            }
        }
        _ => {
            let square = before * before / (1 << 32);
            let three_minus = (3 * (1 << 32) - count * square) / 4;
            three_minus * before / (1 << 31)
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Model {
    pending: u128,
    root: u128,
    /// Time of the next signal, and whether the delay is above target.
    schedule: i64,
    above: bool,
    blue: u128,
    blue_moved: Option<i64>,
}

impl Model {
    fn change(&mut self, to: u128, interval: i64) {
        self.pending = to;
        self.root = root_after(self.root, to);
        self.schedule += (interval as u128 * self.root / (1 << 32)) as i64;
    }

    fn overdue(&self, now: i64) -> bool {
        self.pending != 0 && self.schedule <= now
    }

    fn blue_may_move(&self, now: i64, settings: &Settings) -> bool {
        self.blue_moved
            .is_none_or(|moved| now > moved + settings.target_ns)
    }

    fn overflow(&mut self, settings: &Settings, now: i64) {
        if self.blue_may_move(now, settings) {
            self.blue = (self.blue + (1 << 32) / 256).min((1 << 32) - 1);
            self.blue_moved = Some(now);
        }
        (self.above, self.schedule) = (true, now);
        self.pending = self.pending.max(1);
    }

    fn empty(&mut self, settings: &Settings, now: i64) {
        if self.blue > 0 && self.blue_may_move(now, settings) {
            self.blue = self.blue.saturating_sub((1 << 32) / 4096);
            self.blue_moved = Some(now);
        }
        self.above = false;
        if self.overdue(now) {
            self.change(self.pending - 1, settings.interval_ns);
        }
    }

    fn packet(
        &mut self,
        settings: &Settings,
        now: i64,
        sojourn: i64,
        ect: bool,
        bulk: i64,
        random: &mut Random,
    ) -> Signal {
        let overdue = self.overdue(now);
        let before = self.schedule;
        let floor = settings
            .target_ns
            .max(settings.mtu_time_ns * (2 * bulk).max(4));
        let enters = sojourn > floor && !self.above;
        self.above = sojourn > floor;
        let mut lateness = now - before;
        if enters {
            self.schedule = now + (settings.interval_ns as u128 * self.root / (1 << 32)) as i64;
        }
        if self.above {
            self.pending = self.pending.max(1);
        }
        let signals = overdue && self.above;
        if signals {
            self.change(self.pending + 1, settings.interval_ns);
            lateness = now - self.schedule;
        } else if overdue {
            while self.overdue(now) {
                self.change(self.pending - 1, settings.interval_ns);
            }
            lateness = now - self.schedule;
        }
        let codel_drops = signals && !ect;
        let blue_drops =
            self.blue > 0 && !codel_drops && u128::from(random.bits() >> 32) < self.blue;
        let drop = codel_drops || blue_drops;
        if self.pending == 0 {
            self.schedule = now + settings.interval_ns;
        } else if lateness > 0 && !drop {
            self.schedule = now;
        }
        Signal {
            mark: signals && ect,
            drop,
        }
    }

    fn agrees(&self, cobalt: &Cobalt) {
        let state = (
            u128::from(cobalt.count),
            u128::from(cobalt.rec_inv_sqrt),
            cobalt.drop_next,
            cobalt.is_dropping,
            u128::from(cobalt.p_drop),
        );
        let expected = (
            self.pending,
            self.root,
            self.schedule,
            self.above,
            self.blue,
        );
        assert_eq!(state, expected);
        if let Some(moved) = self.blue_moved {
            assert_eq!(cobalt.blue_timer, moved);
        }
    }
}

/// A call: after how long, µs, and what: an overflow, an empty queue, or a packet that waited this long, µs.
#[derive(Clone, Debug)]
enum Call {
    Overflow,
    Empty,
    Packet {
        sojourn_us: i64,
        ect: bool,
        bulk: i64,
    },
}

fn calls() -> impl Strategy<Value = Vec<(i64, Call)>> {
    let packet = |sojourn_us: std::ops::Range<i64>| {
        (sojourn_us, any::<bool>(), 0..4_i64).prop_map(|(sojourn_us, ect, bulk)| Call::Packet {
            sojourn_us,
            ect,
            bulk,
        })
    };
    let call = prop_oneof![
        1 => Just(Call::Overflow),
        2 => Just(Call::Empty),
        20 => packet(5_000..400_000),
        6 => packet(0..6_000),
    ];
    prop::collection::vec((0..40_000_i64, call), 1..600)
}

proptest! {
    #[test]
    fn every_state_is_the_models(calls in calls(), seed: u64, mtu_us in 0..9_000_i64) {
        let settings = Settings {
            interval_ns: 100 * MS,
            target_ns: 5 * MS,
            mtu_time_ns: mtu_us * 1000,
        };
        let mut cobalt = Cobalt::new();
        let mut model = Model {
            pending: 0,
            root: 0,
            schedule: 0,
            above: false,
            blue: 0,
            blue_moved: None,
        };
        let (mut random, mut same) = (Random::new(seed), Random::new(seed));
        let mut now = 0;
        for (after_us, call) in calls {
            now += after_us * 1000;
            match call {
                Call::Overflow => {
                    let was_quiet = model.blue == 0;
                    model.overflow(&settings, now);
                    let begins = cobalt.on_overflow(&settings, now);
                    prop_assert_eq!(begins, was_quiet && model.blue > 0);
                }
                Call::Empty => {
                    let was_active = model.blue > 0;
                    model.empty(&settings, now);
                    let ends = cobalt.on_empty(&settings, now);
                    prop_assert_eq!(ends, was_active && model.blue == 0);
                }
                Call::Packet { sojourn_us, ect, bulk } => {
                    let sojourn = sojourn_us * 1000;
                    let expected = model.packet(&settings, now, sojourn, ect, bulk, &mut same);
                    let signal = cobalt.signal(&settings, now, sojourn, ect, bulk, &mut random);
                    prop_assert_eq!(signal, expected);
                }
            }
            model.agrees(&cobalt);
        }
    }
}

/// Time of each signal, ms, of a queue that is always above target, dequeued every 0.1 ms; its count was used
/// before, or not.
fn signal_times(mut cobalt: Cobalt, until_ms: i64) -> Vec<f64> {
    let settings = Settings {
        interval_ns: 100 * MS,
        target_ns: 5 * MS,
        mtu_time_ns: 0,
    };
    let mut random = Random::new(1);
    let times = (0..until_ms * 10).filter(|step| {
        let now = step * MS / 10;
        // The first has not waited: nothing is over target before.
        let sojourn = if *step == 0 { 0 } else { 50 * MS };
        let signal = cobalt.signal(&settings, now, sojourn, false, 0, &mut random);
        signal.drop
    });
    times.map(|step| step as f64 / 10.0).collect()
}

/// The time between signals is interval/√count from the second one on, unlike CoDel's in Linux, whose single
/// Newton step makes the second gap that of count 4.
#[test]
fn gaps_are_those_of_the_exact_roots() {
    let mut cobalt = Cobalt::new();
    cobalt.rec_inv_sqrt = u32::MAX; // after a count of 1 came down to 0
    let times = signal_times(cobalt, 3_000);
    let mut expected = 100.0;
    for (number, &time) in (1..).zip(&times).take(60) {
        // Each is noticed at the next dequeue, and the schedule does not drift.
        let tolerance = 0.3 + 0.002 * expected;
        assert!(
            (time - expected).abs() < tolerance,
            "signal {number} at {time}, not {expected}"
        );
        expected += 100.0 / f64::from(number + 1).sqrt();
    }
    assert!(times.len() >= 60);
}

/// Like Linux, whose state is zeros at first: a queue above target for the first time ever has its first
/// signal with the next packet.
#[test]
fn the_first_signal_ever_comes_at_once() {
    let times = signal_times(Cobalt::new(), 200);
    assert_eq!(times[0], 0.2, "{times:?}");
    assert!((times[1] - times[0] - 70.7).abs() < 0.3, "{times:?}");
}
