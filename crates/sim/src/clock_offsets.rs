//! Where the timestamps of both hosts begin.

use dumbbell_scenario::random;

/// Where the numbers begin by which connections of applications draw theirs: beyond those of flows.
pub(crate) const APPLICATION_NUMBERS: u64 = 1 << 32;

/// Where the timestamps of a connection's sender and receiver begin, ms. Linux draws them for each connection
/// (RFC 7323 §5.4), so one-way delays from them have an unknown constant: its `tcp_lp` is Reno on most connections.
pub(crate) fn clock_offsets_ms(seed: u64, number: u64) -> (u32, u32) {
    let word = random::element_seed(seed, "timestamp clock", number);
    (word as u32, (word >> 32) as u32)
}
