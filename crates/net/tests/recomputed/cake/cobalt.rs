//! COBALT: CoDel with a schedule that is never forgotten, and BLUE for what does not respond.

use dumbbell_net::Ecn;

use crate::recomputed::harness::nanoseconds;
use crate::recomputed::{Draws, Waiting};

const ONE: i128 = 1 << 32;

/// What a tin's rate makes of the RTT, ns.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) target: i64,
    pub(super) interval: i64,
    pub(super) mtu: i64,
}

/// State of a queue.
#[derive(Default)]
pub(super) struct Cobalt {
    pub(super) count: i128,
    pub(super) drop_next: i64,
    /// Probability that a packet is dropped, in 2⁻³².
    pub(super) blue: i128,
    dropping: bool,
    /// 1/√count in 2⁻³².
    root: i128,
    blue_changed: Option<i64>,
}

impl Cobalt {
    fn step(&mut self, by: i128, times: &Times) {
        self.count += by;
        let (count, before) = (self.count, self.root);
        self.root = match count {
            0 | 1 => ONE - 1,
            // By Newton's method from above.
            4 => ONE / 2 - 1,
            2..16 => (ONE as f64 / (count as f64).sqrt()).round() as i128,
            _ => ((3 * ONE - count * (before * before / ONE)) / 4) * before / (ONE / 2),
        };
        self.drop_next = self.after(self.drop_next, times);
    }

    fn after(&self, time: i64, times: &Times) -> i64 {
        time + (i128::from(times.interval) * self.root / ONE) as i64
    }

    fn blue_may_change(&mut self, now: i64, times: &Times) -> bool {
        let changed = self.blue_changed;
        let may = changed.is_none_or(|changed| now - changed > times.target);
        if may {
            self.blue_changed = Some(now);
        }
        may
    }

    /// The queue lost a packet because too much waits.
    pub(super) fn overflowed(&mut self, now: i64, times: &Times) {
        if self.blue_may_change(now, times) {
            self.blue = (self.blue + ONE / 256).min(ONE - 1);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue had its turn and nothing to send.
    pub(super) fn was_empty(&mut self, now: i64, times: &Times) {
        if self.blue > 0 && self.blue_may_change(now, times) {
            self.blue = (self.blue - ONE / 4096).max(0);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.step(-1, times);
        }
    }

    /// Whether `packet` is to be dropped, and whether to be marked.
    pub(super) fn signals(
        &mut self,
        now: f64,
        packet: &Waiting,
        bulk_flows: i64,
        times: &Times,
        draws: &mut Draws,
    ) -> (bool, bool) {
        let now = nanoseconds(now);
        let sojourn = now - packet.since_ns();
        let is_over = sojourn > times.target && sojourn > times.mtu * 4.max(2 * bulk_flows);
        let mut is_due = self.count > 0 && now >= self.drop_next;
        // Of a queue whose schedule begins only now as well: its first signal comes with the next packet.
        let mut is_late = now > self.drop_next;
        if is_over {
            if !self.dropping {
                self.drop_next = self.after(now, times);
            }
            self.count = self.count.max(1);
        }
        self.dropping = is_over;
        let (mut drops, mut marks) = (false, false);
        if is_due && is_over {
            drops = packet.ecn == Ecn::NotEct;
            marks = packet.ecn != Ecn::NotEct && packet.ecn != Ecn::Ce;
            self.step(1, times);
            is_late = now > self.drop_next;
        }
        while is_due && !is_over {
            self.step(-1, times);
            is_late = now > self.drop_next;
            is_due = self.count > 0 && now >= self.drop_next;
        }
        // Ours draws only where it decides something.
        if self.blue > 0 && !drops {
            drops = i128::from(draws.bits() >> 32) < self.blue;
        }
        if self.count == 0 {
            self.drop_next = now + times.interval;
        } else if is_late && !drops {
            self.drop_next = now;
        }
        (drops, marks)
    }
}
