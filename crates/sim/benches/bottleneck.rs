//! How fast the simulator is: bottleneck packets per CPU-second, and peak memory.
//!
//! `cargo bench -p dumbbell-sim` (or `make bench`). Each case runs in a process of its own,
//! so that its peak memory is its own, and several times; the median is printed, with the
//! spread. Time series are recorded and turned into Arrow tables, as a user has them.
//! A CPU-second is the process's user and system time.
//!
//! The cases are those on which ns-3 was measured on a machine of this size (3.48 and later
//! fixes, -O3, asserts off, packets per CPU-second): (a) 37,000–47,000 at 0.5–1 BDP, 21,000
//! at 8 BDP, 2,000 at 64 BDP; (b) 10,000–25,000 and 970 MB; (c) 11,000–26,000.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::process::Command;

use cpu_time::ProcessTime;
use dumbbell_sim::{Bottleneck, Control, Group, Queue, Scenario, run};

/// Counted runs of each case.
const RUNS: usize = 5;

struct Case {
    name: &'static str,
    ns3_pkts_per_s: f64,
    groups: &'static [(&'static str, u32)],
    link_rate_bps: u64,
    buffer_bdp: f64,
    duration_s: u64,
}

const CASES: [Case; 6] = [
    case(
        "a-0.5bdp",
        47_000.0,
        &[("cubic", 1), ("bbr", 1)],
        50_000_000,
        0.5,
        120,
    ),
    case(
        "a-8bdp",
        21_000.0,
        &[("cubic", 1), ("bbr", 1)],
        50_000_000,
        8.0,
        120,
    ),
    case(
        "a-64bdp",
        2_000.0,
        &[("cubic", 1), ("bbr", 1)],
        50_000_000,
        64.0,
        120,
    ),
    case(
        "b-128cubic",
        25_000.0,
        &[("cubic", 128)],
        1_000_000_000,
        64.0,
        20,
    ),
    case(
        "c-128bbr-1bdp",
        26_000.0,
        &[("bbr", 128)],
        100_000_000,
        1.0,
        120,
    ),
    case(
        "c-128bbr-10bdp",
        26_000.0,
        &[("bbr", 128)],
        100_000_000,
        10.0,
        120,
    ),
];

const fn case(
    name: &'static str,
    ns3_pkts_per_s: f64,
    groups: &'static [(&'static str, u32)],
    link_rate_bps: u64,
    buffer_bdp: f64,
    duration_s: u64,
) -> Case {
    Case {
        name,
        ns3_pkts_per_s,
        groups,
        link_rate_bps,
        buffer_bdp,
        duration_s,
    }
}

const BASE_RTT_NS: u64 = 40_000_000;

fn main() {
    if let Ok(name) = std::env::var("DUMBBELL_BENCH_CASE") {
        let case = CASES
            .iter()
            .find(|case| case.name == name)
            .expect("a case of that name");
        return measure(case);
    }
    println!(
        "{:<16}{:>11}{:>14}{:>20}{:>10}{:>12}",
        "case", "packets", "Mpkt/CPU-s", "min..max", "peak MB", "× ns-3"
    );
    for case in &CASES {
        report(case);
    }
}

/// One run in this process; prints `packets cpu_ns peak_kb`.
fn measure(case: &Case) {
    let scenario = scenario(case);
    let start = ProcessTime::now();
    let output = run(&scenario, &Control::default(), None).expect("the case runs");
    let cpu = start.elapsed();
    assert!(!output.tables.is_empty(), "time series are on");
    println!(
        "{} {} {}",
        output.summary.bottleneck.forwarded_pkts,
        cpu.as_nanos(),
        peak_kb()
    );
}

fn report(case: &Case) {
    let exe = std::env::current_exe().expect("the benchmark's own path");
    let mut runs: Vec<(u64, u64, u64)> = (0..RUNS)
        .map(|_| {
            let output = Command::new(&exe)
                .env("DUMBBELL_BENCH_CASE", case.name)
                .output()
                .expect("it starts");
            let text = String::from_utf8(output.stdout).expect("it prints numbers");
            let mut fields = text
                .split_whitespace()
                .map(|field| field.parse().expect("a number"));
            let mut next = || fields.next().expect("three numbers");
            (next(), next(), next())
        })
        .collect();
    runs.sort_by_key(|&(_, cpu_ns, _)| cpu_ns);
    let mpps = |&(packets, cpu_ns, _): &(u64, u64, u64)| packets as f64 * 1e3 / cpu_ns as f64;
    let median = &runs[RUNS / 2];
    println!(
        "{:<16}{:>11}{:>14.2}{:>20}{:>10}{:>12.0}",
        case.name,
        median.0,
        mpps(median),
        format!("{:.2}..{:.2}", mpps(&runs[RUNS - 1]), mpps(&runs[0])),
        runs.iter().map(|run| run.2).max().unwrap_or(0) / 1024,
        mpps(median) * 1e6 / case.ns3_pkts_per_s,
    );
}

fn scenario(case: &Case) -> Scenario {
    let bdp_bytes = case.link_rate_bps as f64 * BASE_RTT_NS as f64 / 8e9;
    Scenario {
        seed: 1,
        duration_ns: case.duration_s * 1_000_000_000,
        sample_interval_ns: 10_000_000,
        bottleneck: Bottleneck {
            link_rate_bps: case.link_rate_bps,
            queue: Queue::Bfifo {
                limit_bytes: (bdp_bytes * case.buffer_bdp) as u64,
            },
            ..Bottleneck::default()
        },
        groups: case
            .groups
            .iter()
            .map(|&(name, flows)| Group {
                cc: name.into(),
                flows,
                base_rtt_ns: BASE_RTT_NS,
                start_jitter_ns: 100_000_000,
                ..Group::default()
            })
            .collect(),
        ..Scenario::default()
    }
}

/// Peak resident memory of this process, kB.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
