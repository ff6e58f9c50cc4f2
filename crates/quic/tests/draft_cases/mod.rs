//! The test cases of draft-ietf-ccwg-bbr's appendix "BBR Example Test Cases" on each BBRv3 in QUIC: which passes which.
//!
//! The cases and what they require are those of `crates/sim/tests/bbr3`, which runs them on ours over TCP and says where the
//! draft's text cannot be followed. Here a case that is not as the draft says is a sentence, not a failure; the test keeps
//! the table of who passes what, which `docs/notes/bbr3.md` has with the sentences.
//!
//! Unless a case says otherwise the link has 50 Mbit/s, the path 40 ms (a BDP of 167 packets).
#![allow(clippy::print_stdout, reason = "--nocapture shows what was found")]

/// Returns the sentence that says what is not as the draft has it.
macro_rules! require {
    ($holds:expr, $($says:tt)+) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($says)+));
        }
    };
}

mod bed;
mod path;
mod probe_bw;
mod probe_rtt;
mod spurious;
mod startup;
mod view;

use std::ops::RangeInclusive;
use std::thread;

use self::bed::Bed;

const RATE_BPS: u64 = 50_000_000;
const RTT_MS: u64 = 40;
/// A buffer that never fills: 8 BDP.
const DEEP_PKTS: usize = 1320;
/// 0.3 BDP: STARTUP and every probe overflow it.
const SHALLOW_PKTS: usize = 50;

/// Nothing, or what is not as the draft has it.
type Outcome = Result<(), String>;
/// A case, by its stack.
type Case = (&'static str, fn(&str) -> Outcome);

/// In the draft's order within the files; the title is the draft's.
const CASES: [Case; 22] = [
    ("Exiting STARTUP on Bandwidth Plateau", startup::plateau),
    (
        "Exiting STARTUP on Loss When Application-Limited",
        startup::loss_when_limited,
    ),
    (
        "Exiting DRAIN Based on Inflight",
        startup::drain_by_inflight,
    ),
    ("Exiting DRAIN Based on Time", startup::drain_by_time),
    ("Exiting PROBE_UP on Bandwidth Plateau", probe_bw::plateau),
    (
        "Exiting PROBE_UP on Loss When Application-Limited",
        probe_bw::loss_when_limited,
    ),
    (
        "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
        probe_bw::never_when_limited,
    ),
    ("Exiting PROBE_DOWN on Inflight", probe_bw::down_by_inflight),
    ("Exiting PROBE_DOWN After Max Time", probe_bw::down_by_time),
    (
        "Correctly Managing Sub-Packet BDPs",
        probe_bw::below_a_packet,
    ),
    (
        "Handling Loss During PROBE_UP After inflight_longterm is Set",
        probe_bw::loss_in_up,
    ),
    (
        "Handling Application-Limited Sending During PROBE_REFILL",
        probe_bw::pause_in_refill,
    ),
    (
        "Entering and Exiting PROBE_RTT",
        probe_rtt::entered_and_left,
    ),
    (
        "Skipping PROBE_RTT Due to Application-Limited Sending",
        probe_rtt::skipped_when_idle,
    ),
    (
        "Entering and Exiting PROBE_RTT During STARTUP",
        probe_rtt::in_startup,
    ),
    (
        "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
        path::aggregation_in_startup,
    ),
    (
        "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
        path::aggregation_in_cruise,
    ),
    (
        "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
        path::ten_times,
    ),
    (
        "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
        path::a_tenth,
    ),
    ("Handling Token Bucket Policers", path::policer),
    ("Handling Spurious Fast Recovery", spurious::fast_recovery),
    ("Handling Spurious RTO Recovery", spurious::timeout),
];

fn deep(name: &str) -> Bed {
    Bed::new(name, RATE_BPS, RTT_MS, DEEP_PKTS)
}

fn shallow(name: &str) -> Bed {
    Bed::new(name, RATE_BPS, RTT_MS, SHALLOW_PKTS)
}

/// Time between two packets of an application that writes at `rate_bps` of payload, ns.
fn interval_ns(rate_bps: f64) -> u64 {
    (f64::from(bed::PAYLOAD_BYTES) * 8e9 / rate_bps) as u64
}

/// Runs until the algorithm is in `state`, for at most `seconds`.
fn run_to(bed: &mut Bed, state: &str, seconds: f64) -> Outcome {
    if bed.run(seconds, |view, _| view.state == state) {
        return Ok(());
    }
    Err(format!(
        "still in {} at {:.1} s, not in {state}",
        bed.view().state,
        bed.now_s()
    ))
}

/// Runs to the start of the next ProbeBW_UP.
fn run_to_up(bed: &mut Bed) -> Outcome {
    run_to(bed, "refill", 10.0)?;
    run_to(bed, "up", 1.0)
}

fn near(what: &str, value: f64, expected: f64, tolerance: f64) -> Outcome {
    let (low, high) = (expected * (1.0 - tolerance), expected * (1.0 + tolerance));
    within(what, value / expected, low / expected..=high / expected)
}

fn within(what: &str, value: f64, range: RangeInclusive<f64>) -> Outcome {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!(
        "{what} is {value:.3}, not {:.3} to {:.3}",
        range.start(),
        range.end()
    ))
}

/// Returns the cases that a stack does not pass, and what they find.
fn failures(name: &str) -> Vec<(usize, String)> {
    let outcomes = CASES
        .iter()
        .enumerate()
        .map(|(number, (_, case))| (number, case(name)));
    outcomes
        .filter_map(|(number, outcome)| outcome.err().map(|says| (number, says)))
        .collect()
}

#[test]
fn each_bbr3_passes_the_cases_that_the_note_says() {
    let expected: [(&str, &[usize]); 4] = [
        ("quic/noq:dumbbell/bbr3", &[21]),
        ("quic/noq:bbr3", &[9, 13, 15, 19, 20, 21, 22]),
        ("quic/noq@1.2.0:bbr3", &[9, 13, 15, 18, 19, 20, 21, 22]),
        (
            "quic/noq@1.1.0:bbr3",
            &[
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 20, 21, 22,
            ],
        ),
    ];
    let found = thread::scope(|scope| {
        let running = expected.map(|(name, _)| scope.spawn(move || failures(name)));
        running.map(|each| each.join().expect("no case panics"))
    });
    for ((name, _), failures) in expected.iter().zip(&found) {
        println!(
            "{name} passes {} of {}",
            CASES.len() - failures.len(),
            CASES.len()
        );
        for (number, says) in failures {
            println!("    {} {}: {says}", number + 1, CASES[*number].0);
        }
    }
    for ((name, numbers), failures) in expected.iter().zip(&found) {
        let failed: Vec<usize> = failures.iter().map(|(number, _)| number + 1).collect();
        assert_eq!(failed, *numbers, "{name}");
    }
}
