//! The scenario of `ns3_dumbbell.cc` in dumbbell's simulator, for `make bench-peers`.
//!
//! Takes the same arguments and prints the same line: packets that crossed the bottleneck, CPU
//! nanoseconds, peak memory in kB, goodput in bit/s. The CPU time includes loading the congestion
//! controls and making the time series, one row per flow every 10 ms, as a user has them.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use cpu_time::ProcessTime;
use dumbbell_sim::{Control, Group, Limit, Queue, Scenario, run};

const START_JITTER_NS: u64 = 100_000_000;
const SAMPLE_INTERVAL_NS: u64 = 10_000_000;

fn main() {
    let scenario = scenario();
    let start = ProcessTime::now();
    let output = run(&scenario, &Control::default(), None).expect("the scenario runs");
    let cpu_ns = start.elapsed().as_nanos();
    assert!(!output.tables.is_empty(), "time series are on");
    let received_bytes: u64 = output
        .summary
        .flows
        .iter()
        .map(|flow| flow.received_bytes)
        .sum();
    println!(
        "{} {cpu_ns} {} {}",
        output.summary.bottleneck.forwarded_pkts,
        peak_kb(),
        received_bytes * 8_000 / (scenario.duration_ns / 1_000_000)
    );
}

fn scenario() -> Scenario {
    let groups = argument("groups");
    Scenario {
        seed: number("seed"),
        duration_ns: number("time") * 1_000_000_000,
        sample_interval_ns: SAMPLE_INTERVAL_NS,
        groups: groups
            .split(',')
            .map(|group| {
                let (cc, flows) = group.split_once(':').expect("a group like cubic:1");
                Group {
                    cc: cc.into(),
                    flows: flows.parse().expect("a number of flows"),
                    base_rtt_ns: number("rtt"),
                    start_jitter_ns: START_JITTER_NS,
                    ..Group::default()
                }
            })
            .collect(),
        ..Scenario::dumbbell(
            number("rate"),
            Queue::drop_tail(Limit::Bytes(number("buffer"))),
        )
    }
}

/// The value of `--name=value`.
fn argument(name: &str) -> String {
    let prefix = format!("--{name}=");
    std::env::args()
        .find_map(|argument| argument.strip_prefix(&prefix).map(str::to_owned))
        .unwrap_or_else(|| panic!("`{prefix}…` is missing; `make bench-peers` passes it"))
}

fn number(name: &str) -> u64 {
    let value = argument(name);
    value
        .parse()
        .unwrap_or_else(|_| panic!("`--{name}={value}` is not a whole number"))
}

/// Peak resident memory of this process, kB.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
