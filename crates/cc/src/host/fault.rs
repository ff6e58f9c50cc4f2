//! A violation of the contract after which a run cannot continue.

/// Largest plausible cwnd, packets: 1.5 TB in flight with Ethernet's segments.
pub const MAX_CWND_PKTS: u32 = 1 << 30;

/// How long a congestion control algorithm may leave cwnd at 0 before that is a fault. Linux's own way of
/// reducing cwnd, done in BPF (its selftest `bpf_cc_cubic.c`), passes through 0 and recovers with the
/// retransmission timeout, which begins at 1 s (RFC 6298 §2.1).
pub(crate) const MAX_CWND_ZERO_NS: u64 = 1_000_000_000;

/// A cwnd has run away when it has this many times what its path and the buffers hold in flight, and at
/// least [`RUNAWAY_MIN_PKTS`]. Nothing that a sender measures depends on more, and its packets would
/// fill the memory until the run is killed.
const RUNAWAY_TIMES: u64 = 100;

/// Where a receive window that the scenario does not set holds the flow back first, a cwnd has run away if it is larger than any
/// window of TCP (RFC 7323 §2.3) and that multiple of what the path holds are in flight.
pub(crate) const HELD_RUNAWAY_TIMES: u64 = 2;
/// TCP's largest window, bytes.
pub(crate) const LARGEST_WINDOW_BYTES: u64 = 1 << 30;

/// On short paths a cwnd may be thousands of times what they hold, by design or by the losses that it
/// ignores (eight Copa flows in 0.1 BDP), and does no harm.
const RUNAWAY_MIN_PKTS: u64 = 1 << 16;

/// Packets in flight from which on cwnd has run away on a path that holds `path_pkts` with its buffers.
pub(crate) fn runaway_pkts(path_pkts: u64) -> u32 {
    let pkts = path_pkts.saturating_mul(RUNAWAY_TIMES);
    u32::try_from(pkts.max(RUNAWAY_MIN_PKTS)).unwrap_or(u32::MAX)
}

/// A congestion control algorithm broke the contract. `Display` is the line a user reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "congestion control `{cc}` {violation} in `{op}` (flow {flow}, at {} s); {remedy}",
    seconds(*.now_ns)
)]
pub struct Fault {
    /// The file or built-in.
    pub cc: String,
    /// Name of the callback.
    pub op: &'static str,
    /// Number of the flow.
    pub flow: u32,
    /// Simulated time, ns.
    pub now_ns: u64,
    /// What it did, as a verb phrase after its name.
    pub violation: String,
    /// What to do about it.
    pub remedy: String,
}

/// Nanoseconds as seconds, to the microsecond.
fn seconds(now_ns: u64) -> String {
    format!(
        "{}.{:06}",
        now_ns / 1_000_000_000,
        now_ns % 1_000_000_000 / 1000
    )
}

/// What to do about a cwnd of 0 or above [`MAX_CWND_PKTS`].
///
/// Linux accepts any value that a BPF congestion control writes to `snd_cwnd`. With 0 nothing is
/// sent until the retransmission timer sets another; where the kernel itself sets what `undo_cwnd`
/// returned, it logs a warning unless that is positive as a signed number (`tcp_snd_cwnd_set`).
pub(crate) fn cwnd_remedy() -> String {
    format!(
        "Linux would accept it, then stall or warn; keep it between 1 and {MAX_CWND_PKTS} packets"
    )
}
