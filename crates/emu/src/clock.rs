//! The monotonic clock.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC, ns.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
