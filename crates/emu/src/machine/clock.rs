//! The monotonic clock, and the time of day.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// The time in a guest; `u64::MAX` outside of one, whose clock is the machine's.
static VIRTUAL_NS: AtomicU64 = AtomicU64::new(u64::MAX);

/// From the monotonic clock to the time of day, of a clock that stands still; `u64::MAX`: it does not.
static WALL_OFFSET_NS: AtomicU64 = AtomicU64::new(u64::MAX);

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
    nanoseconds(ClockId::Monotonic)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// From now on the clock of this process stands still between calls of [`go_on`]: in a guest each reading takes a moment of
/// its time.
pub(crate) fn stand_still() {
    let wall_ns = || nanoseconds(ClockId::Realtime);
    let (before_ns, now_ns, after_ns) = (wall_ns(), nanoseconds(ClockId::Monotonic), wall_ns());
    // The readings are equally far apart.
    let offset_ns = before_ns.midpoint(after_ns).saturating_sub(now_ns);
    WALL_OFFSET_NS.store(offset_ns, Ordering::Relaxed);
    set_virtual_ns(now_ns);
}

/// A clock that stands still goes on to the time that it is.
#[inline]
pub(crate) fn go_on() {
    if WALL_OFFSET_NS.load(Ordering::Relaxed) != u64::MAX {
        set_virtual_ns(nanoseconds(ClockId::Monotonic));
    }
}

/// Offset from the monotonic clock to the time since the Unix epoch, ns, as it is now.
pub(crate) fn wall_clock_offset_ns() -> u64 {
    let offset_ns = WALL_OFFSET_NS.load(Ordering::Relaxed);
    if offset_ns != u64::MAX {
        return offset_ns;
    }
    const READINGS: usize = 5;
    let reading = || {
        let before_ns = monotonic_ns();
        let wall_ns = nanoseconds(ClockId::Realtime);
        let took_ns = monotonic_ns() - before_ns;
        (took_ns, wall_ns.saturating_sub(before_ns + took_ns / 2))
    };
    // The fastest reading, between whose two clocks nothing interfered.
    let best = (0..READINGS).map(|_| reading()).min();
    best.map_or(0, |(_, offset_ns)| offset_ns)
}
