//! When a timer of Linux's fires (`kernel/time/timer.c`, from 4.8 on).
//!
//! Timers that count in ticks lie in a wheel of levels. The first level has the timers that are due in less than 63 ticks;
//! they fire on a tick. Each further level reaches eight times as far, and its timers fire only on every eighth tick of
//! the level before. A timer never fires early: its time is moved to the next tick of its level, even if it is on one.
//! Rounding gives slightly different deadlines the same tick. Timeouts and loss probes of flows that started at about
//! the same time therefore fire together. Pacing and the compression of SACKs have timers of another kind (hrtimers),
//! which are exact.

/// A tick where there are 1000 a second (`CONFIG_HZ`), as [`crate::timers::TIMEOUT_MIN_US`] has it, ns.
pub const TICK_NS: u64 = 1_000_000;
/// Ticks that the first level reaches (`LVL_START(1)`).
const FIRST_LEVEL_TICKS: u64 = 63;
/// Each level is coarser by this many bits (`LVL_CLK_SHIFT`).
const LEVEL_BITS: u32 = 3;
/// The last of the levels at 1000 ticks a second (`LVL_DEPTH` - 1).
const LAST_LEVEL: u32 = 8;

/// When a timer that is armed at `now_ns` for `delay_ns` later fires, ns; with a `tick_ns` of 0, exactly then.
pub(crate) fn expiry_ns(now_ns: u64, delay_ns: u64, tick_ns: u64) -> u64 {
    match tick_ns {
        0 => now_ns + delay_ns,
        // The same, with divisions by a constant.
        TICK_NS => expiry_in_wheel_ns(now_ns, delay_ns, TICK_NS),
        _ => expiry_in_wheel_ns(now_ns, delay_ns, tick_ns),
    }
}

#[inline(always)]
fn expiry_in_wheel_ns(now_ns: u64, delay_ns: u64, tick_ns: u64) -> u64 {
    let delay_ticks = delay_ns.div_ceil(tick_ns);
    let expires = now_ns / tick_ns + delay_ticks;
    let level = (0..LAST_LEVEL)
        .find(|level| delay_ticks < FIRST_LEVEL_TICKS << (LEVEL_BITS * level))
        .unwrap_or(LAST_LEVEL);
    let shift = LEVEL_BITS * level;
    (((expires >> shift) + 1) << shift) * tick_ns
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// Armed at 10.3 ms, that is in tick 10.
    #[test]
    fn a_far_timer_fires_on_a_coarse_tick() {
        let table = [
            // delay, fires at, ms
            (2, 13),
            (40, 51),
            (62, 73),
            (63, 80),   // 73, on the next eighth tick
            (94, 112),  // 104 is one, and the next is taken
            (250, 264), // 260
            (503, 520), // 513
            (504, 576), // 514, on the next 64th
            (1000, 1024),
        ];
        for (delay_ms, fires_ms) in table {
            let fires_ns = expiry_ns(10 * MS + 300_000, delay_ms * MS, TICK_NS);
            assert_eq!(fires_ns, fires_ms * MS, "{delay_ms} ms");
        }
    }

    proptest! {
        #[test]
        fn no_timer_fires_early_or_later_than_an_eighth_and_two_ticks(
            now_ns in 0_u64..1 << 50,
            delay_ns in 1_u64..120_000_000_000,
        ) {
            let late_ns = expiry_ns(now_ns, delay_ns, TICK_NS) - (now_ns + delay_ns);
            prop_assert!(late_ns <= delay_ns / 7 + 2 * TICK_NS, "{late_ns} of {delay_ns} ns");
        }
    }
}
