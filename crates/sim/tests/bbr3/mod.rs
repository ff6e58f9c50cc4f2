//! The test cases of draft-ietf-ccwg-bbr's appendix "BBR Example Test Cases", one test each, in
//! its order within the files. The draft's title of each is in its comment.
//!
//! | file | cases |
//! |---|---|
//! | `startup` | how STARTUP and DRAIN end |
//! | `probe_bw` | how PROBE_UP, PROBE_DOWN and PROBE_REFILL end; tiny BDPs |
//! | `probe_rtt` | PROBE_RTT: entered, left, skipped, and in STARTUP |
//! | `path` | aggregation, ten times the bandwidth and a tenth of it, a policer |
//! | `spurious` | recoveries that prove unwarranted |
//!
//! Unless a test says otherwise the link has 50 Mbit/s, the path 40 ms (a BDP of 165 packets) and
//! the sender a Linux host's habits: segmentation offload, delayed ACKs.
#![allow(clippy::print_stdout, reason = "--nocapture shows what was found")]

mod bed;
mod path;
mod probe_bw;
mod probe_rtt;
mod spurious;
mod startup;

use self::bed::Bed;

const LINK_RATE_BPS: u64 = 50_000_000;
const RTT_MS: u64 = 40;
/// A buffer that never fills: 8 BDP.
const DEEP_PKTS: u64 = 1320;
/// 0.3 BDP: STARTUP and every probe overflow it.
const SHALLOW_PKTS: u64 = 50;

fn deep() -> Bed {
    Bed::new(LINK_RATE_BPS, RTT_MS, DEEP_PKTS, &[])
}

fn shallow() -> Bed {
    Bed::new(LINK_RATE_BPS, RTT_MS, SHALLOW_PKTS, &[])
}

/// Time between two segments of an application that writes at `rate_bps` of payload, ns.
fn interval_ns(rate_bps: f64) -> u64 {
    (f64::from(bed::MSS_BYTES) * 8e9 / rate_bps) as u64
}

/// Fails unless `value` is within `tolerance` (a share of `expected`) of `expected`.
#[track_caller]
fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance * expected.abs(),
        "{what} is {value:.4}; expected {expected:.4} ± {:.1} %",
        tolerance * 100.0
    );
}

/// Fails unless `value` is in `range`.
#[track_caller]
fn assert_within(what: &str, value: f64, range: std::ops::RangeInclusive<f64>) {
    assert!(
        range.contains(&value),
        "{what} is {value:.4}; expected {:.4} to {:.4}",
        range.start(),
        range.end()
    );
}
