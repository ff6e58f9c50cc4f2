//! The monotonic clock, and the time of day.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// The time in a guest; `u64::MAX` outside of one, whose clock is the machine's.
static VIRTUAL_NS: AtomicU64 = AtomicU64::new(u64::MAX);

/// From now on the clock of this process is that of a guest, at this time.
#[inline]
pub(crate) fn set_virtual_ns(now_ns: u64) {
    VIRTUAL_NS.store(now_ns, Ordering::Relaxed);
}

/// Reads CLOCK_MONOTONIC, ns: the machine's, or the guest's.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let virtual_ns = VIRTUAL_NS.load(Ordering::Relaxed);
    if virtual_ns != u64::MAX {
        return virtual_ns;
    }
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Offset from the monotonic clock to the time since the Unix epoch, ns, as it is now.
pub(crate) fn wall_clock_offset_ns() -> u64 {
    const READINGS: usize = 5;
    let reading = || {
        let before_ns = monotonic_ns();
        let time = clock_gettime(ClockId::Realtime);
        let took_ns = monotonic_ns() - before_ns;
        let wall_ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        (took_ns, wall_ns.saturating_sub(before_ns + took_ns / 2))
    };
    // The fastest reading, between whose two clocks nothing interfered.
    let best = (0..READINGS).map(|_| reading()).min();
    best.map_or(0, |(_, offset_ns)| offset_ns)
}
