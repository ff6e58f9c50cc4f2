//! COBALT, "CoDel and BLUE Alternate": the AQM of each of CAKE's queues. CoDel's drops become rarer step by
//! step when the delay is below target, instead of being forgotten; BLUE's probability rises when the
//! queue overflows and holds flows that do not respond to signals.
//!
//! Behaviour as Linux's `sch_cake` has it; times are ns like its `ktime`.

use crate::random::Random;

/// What BLUE's probability rises by when the queue overflows, and falls by when it is empty, of 2³²: 1/256
/// and 1/4096.
const P_INC: u32 = 1 << 24;
const P_DEC: u32 = 1 << 20;

/// Longer ago than any target, and far from overflow when it is subtracted.
const LONG_AGO: i64 = i64::MIN / 2;

/// 2³²/√count for counts of 0 to 15, to the unit as Linux has them. One Newton step is inexact there: from 1 to 2
/// it would give what belongs to 4.
const EXACT: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// What the queues of a tin have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// How long the delay must be above target before the first signal, and what the time between signals
    /// is a fraction of.
    pub(super) interval_ns: i64,
    /// Delay that is accepted as a standing one, and the time between two steps of BLUE.
    pub(super) target_ns: i64,
    /// How long the largest packet takes.
    pub(super) mtu_time_ns: i64,
}

/// What is to happen to a packet. One that is dropped may be marked too: then BLUE drops what CoDel marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signal {
    pub(super) mark: bool,
    pub(super) drop: bool,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cobalt {
    /// Signals since the delay was last accepted, fewer by one for each that would have been due since.
    pub(super) count: u32,
    /// 2³²/√count, with 32 bits; 0 until the count has changed, as in Linux: the first signal of a queue
    /// that was never above target before comes at once and not after an interval.
    pub(super) rec_inv_sqrt: u32,
    /// When the next signal is due; without signals, until when the queue counts as active.
    pub(super) drop_next: i64,
    /// When BLUE took its last step.
    pub(super) blue_timer: i64,
    /// BLUE's probability of a drop, of 2³².
    pub(super) p_drop: u32,
    /// Whether the delay is above target.
    pub(super) is_dropping: bool,
}

impl Cobalt {
    /// The state of a queue that was never used.
    pub(super) fn new() -> Self {
        Self {
            count: 0,
            rec_inv_sqrt: 0,
            drop_next: 0,
            blue_timer: LONG_AGO,
            p_drop: 0,
            is_dropping: false,
        }
    }

    /// Whether an empty queue's state has come to rest.
    pub(super) fn is_at_rest(&self, now: i64) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// A packet of the queue was dropped because there is no room. Whether BLUE begins with it.
    pub(super) fn on_overflow(&mut self, settings: &Settings, now: i64) -> bool {
        let mut begins = false;
        if now - self.blue_timer > settings.target_ns {
            begins = self.p_drop == 0;
            self.p_drop = self.p_drop.saturating_add(P_INC);
            self.blue_timer = now;
        }
        self.is_dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
        begins
    }

    /// The queue's turn came and it was empty. Whether BLUE ends with it.
    pub(super) fn on_empty(&mut self, settings: &Settings, now: i64) -> bool {
        let mut ends = false;
        if self.p_drop > 0 && now - self.blue_timer > settings.target_ns {
            self.p_drop = self.p_drop.saturating_sub(P_DEC);
            self.blue_timer = now;
            ends = self.p_drop == 0;
        }
        self.is_dropping = false;
        if self.is_due(now) {
            self.step_down(settings);
        }
        ends
    }

    /// What happens to the packet at the head, which has waited for `sojourn_ns`; `bulk_flows` is how many
    /// flows share an ingress, 0 elsewhere.
    #[inline]
    pub(super) fn signal(
        &mut self,
        settings: &Settings,
        now: i64,
        sojourn_ns: i64,
        can_mark: bool,
        bulk_flows: i64,
        random: &mut Random,
    ) -> Signal {
        // Whether it is late for the signal that was due, before the state changes.
        let is_due = self.is_due(now);
        let mut late_ns = now - self.drop_next;
        let is_over_target = sojourn_ns > settings.target_ns
            && sojourn_ns > settings.mtu_time_ns * bulk_flows * 2
            && sojourn_ns > settings.mtu_time_ns * 4;
        if is_over_target {
            if !self.is_dropping {
                self.is_dropping = true;
                self.drop_next = now + self.gap_ns(settings);
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        let mut signal = Signal {
            mark: false,
            drop: false,
        };
        if is_due && self.is_dropping {
            signal.mark = can_mark;
            signal.drop = !can_mark;
            self.count = self.count.saturating_add(1);
            self.follow_count();
            self.drop_next += self.gap_ns(settings);
            late_ns = now - self.drop_next;
        } else if is_due {
            while self.is_due(now) {
                self.step_down(settings);
            }
            late_ns = now - self.drop_next;
        }
        if self.p_drop > 0 && !signal.drop && ((random.bits() >> 32) as u32) < self.p_drop {
            signal.drop = true;
        }
        if self.count == 0 {
            self.drop_next = now + settings.interval_ns;
        } else if late_ns > 0 && !signal.drop {
            self.drop_next = now;
        }
        signal
    }

    fn is_due(&self, now: i64) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// One signal fewer is to be made up for.
    fn step_down(&mut self, settings: &Settings) {
        self.count -= 1;
        self.follow_count();
        self.drop_next += self.gap_ns(settings);
    }

    /// Time between drops: interval/√count.
    fn gap_ns(&self, settings: &Settings) -> i64 {
        let scaled = u128::from(settings.interval_ns as u64) * u128::from(self.rec_inv_sqrt);
        (scaled >> 32) as i64
    }

    /// The reciprocal root after the count has changed by one.
    fn follow_count(&mut self) {
        self.rec_inv_sqrt = match EXACT.get(self.count as usize) {
            Some(&exact) => exact,
            None => newton_step(self.rec_inv_sqrt, self.count),
        };
    }
}

/// x/2·(3 − count·x²), where x has 32 bits after the point.
fn newton_step(x: u32, count: u32) -> u32 {
    let x = u64::from(x);
    let square = (x * x) >> 32;
    let bracket = (3_u64 << 32).wrapping_sub(u64::from(count) * square) >> 2;
    ((bracket * x) >> 31) as u32
}
