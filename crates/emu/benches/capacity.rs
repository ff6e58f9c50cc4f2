//! The fastest link that the kernel engine can run on this machine, and its punctuality.
//!
//! `cargo bench -p dumbbell-emu` (or `make bench-kernel`), as root. Flows of the kernel's own BBR
//! share a link of 40 ms and 1 BDP; the rate goes up until the link is no longer at least 95 % used
//! or the packets' p99 lateness reaches 1 ms. 128 flows at 1 Gbit/s is the set-up of saito2022.
//! Each row is a run of its own; the first second, in which the flows start, does not count for the
//! utilization.
//!
//! Then the cost of a capture: runs with and without one alternate. `-- capture` does only that, and
//! `-- 128x800 128x1000` runs only these flows and rates (Mbit/s), for comparisons of two builds;
//! `linux/cubic` among them is another congestion control.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use dumbbell_capture::CaptureConfig;
use dumbbell_emu::{Error, run};
use dumbbell_results::{Emulation, Output};
use dumbbell_scenario::{Control, Group, Limit, Queue, Scenario};

const RATES_MBIT: [u64; 9] = [50, 100, 200, 400, 600, 800, 1000, 1200, 1500];
const FLOWS: [u32; 2] = [16, 128];
const DURATION_S: u64 = 10;
const BASE_RTT_NS: u64 = 40_000_000;
const SAMPLE_NS: u64 = 10_000_000;
/// Samples of the first second.
const SKIPPED: usize = (1_000_000_000 / SAMPLE_NS) as usize;
const PACKET_BYTES: f64 = 1514.0;

const HEADING: &str =
    "flows  Mbit/s  used %  lateness p50  p99  max (µs)  relay CPU  own CPU  RTT (µs)";

const LATENESS_LIMIT_US: f64 = 1000.0;
const USE_LIMIT: f64 = 0.95;

/// Link rates and flows of the runs with and without a capture, and how many of each.
const CAPTURED: [(u64, u32); 2] = [(50, 4), (400, 16)];
const TURNS: usize = 3;

fn main() -> ExitCode {
    let is_capture_only = std::env::args().any(|argument| argument == "capture");
    let rows: Vec<(u32, u64)> = std::env::args()
        .filter_map(|argument| row(&argument))
        .collect();
    let done = match (is_capture_only, rows.is_empty()) {
        (true, _) => cost_of_a_capture(),
        (false, true) => capacity().and_then(|()| cost_of_a_capture()),
        (false, false) => only(&rows),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The flows and the rate of an argument like `128x1000`.
fn row(argument: &str) -> Option<(u32, u64)> {
    let (flows, rate_mbit) = argument.split_once('x')?;
    Some((flows.parse().ok()?, rate_mbit.parse().ok()?))
}

fn only(rows: &[(u32, u64)]) -> Result<(), Error> {
    println!("{HEADING}");
    for &(flows, rate_mbit) in rows {
        let mut scenario = scenario(flows, rate_mbit);
        if let Some(cc) = std::env::args().find(|argument| argument.starts_with("linux/")) {
            scenario.groups[0].cc = cc.as_str().into();
        }
        let output = run(&scenario, &Control::default(), None)?;
        report(flows, rate_mbit, &output);
    }
    Ok(())
}

fn capacity() -> Result<(), Error> {
    println!("{HEADING}");
    let mut highest = BTreeMap::new();
    for flows in FLOWS {
        for rate_mbit in RATES_MBIT {
            let output = run(&scenario(flows, rate_mbit), &Control::default(), None)?;
            if !report(flows, rate_mbit, &output) {
                break;
            }
            highest.insert(flows, rate_mbit);
        }
    }
    for (flows, rate_mbit) in highest {
        println!(
            "{flows} flows: {rate_mbit} Mbit/s with p99 lateness below 1 ms and the link 95 % used"
        );
    }
    Ok(())
}

/// Lateness with and without a capture of headers at every point.
fn cost_of_a_capture() -> Result<(), Error> {
    println!(
        "flows  Mbit/s  capture  lateness p50  p99  max (µs)  relay CPU  own CPU  captured  lost"
    );
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let capture = CaptureConfig {
        path: directory.path().join("capture.pcapng"),
        snap_bytes: None,
        senders: true,
        receivers: true,
        links: true,
    };
    for (rate_mbit, flows) in CAPTURED {
        for _ in 0..TURNS {
            for capture in [None, Some(&capture)] {
                let output = run(&scenario(flows, rate_mbit), &Control::default(), capture)?;
                if let Some(emulation) = &output.summary.emulation {
                    println!(
                        "{flows:5}  {rate_mbit:6}  {:>7}  {:12.0}  {:3.0}  {:8.0}  {:7.0} %  {:7.2}  {:8}  {:4}",
                        if capture.is_some() { "yes" } else { "no" },
                        emulation.lateness_p50_us,
                        emulation.lateness_p99_us,
                        emulation.lateness_max_us,
                        100.0 * emulation.relay_cpu_share,
                        emulation.own_cpu_cores,
                        emulation.captured_pkts.unwrap_or(0),
                        emulation.capture_lost_pkts.unwrap_or(0),
                    );
                }
            }
        }
    }
    Ok(())
}

/// Prints a row; returns whether both limits were kept.
fn report(flows: u32, rate_mbit: u64, output: &Output) -> bool {
    let Some(emulation) = &output.summary.emulation else {
        return false;
    };
    let used = share_used(rate_mbit, output);
    let &Emulation {
        lateness_p50_us: p50_us,
        lateness_p99_us: p99_us,
        lateness_max_us: max_us,
        relay_cpu_share,
        own_cpu_cores,
        ..
    } = emulation;
    let measured_rtt_us = emulation
        .calibration
        .first()
        .map_or(f64::NAN, |calibrated| calibrated.measured_rtt_us);
    println!(
        "{flows:5}  {rate_mbit:6}  {:6.1}  {p50_us:12.0}  {p99_us:3.0}  {max_us:8.0}  {:7.0} %  {own_cpu_cores:7.2}  {measured_rtt_us:8.0}",
        100.0 * used,
        100.0 * relay_cpu_share,
    );
    p99_us < LATENESS_LIMIT_US && used >= USE_LIMIT
}

/// Share of the link's capacity that was used after the first second.
fn share_used(rate_mbit: u64, output: &Output) -> f64 {
    let queue = output.tables.iter().find(|table| table.name == "queue");
    let Some(column) = queue.and_then(|table| table.batch.column("forwarded_pkts")) else {
        return 0.0;
    };
    let forwarded = column.numbers::<u64>();
    let (Some(&first), Some(&last)) = (forwarded.get(SKIPPED), forwarded.last()) else {
        return 0.0;
    };
    let seconds = ((forwarded.len() - 1 - SKIPPED) as u64 * SAMPLE_NS) as f64 / 1e9;
    (last - first) as f64 * PACKET_BYTES * 8.0 / seconds / (rate_mbit as f64 * 1e6)
}

fn scenario(flows: u32, rate_mbit: u64) -> Scenario {
    let link_rate_bps = rate_mbit * 1_000_000;
    Scenario {
        seed: 1,
        duration_ns: DURATION_S * 1_000_000_000,
        sample_interval_ns: SAMPLE_NS,
        groups: vec![Group {
            cc: "linux/bbr".into(),
            flows,
            base_rtt_ns: BASE_RTT_NS,
            start_jitter_ns: 100_000_000,
            ..Group::default()
        }],
        ..Scenario::dumbbell(
            link_rate_bps,
            Queue::drop_tail(Limit::Bytes(
                link_rate_bps / 8 * BASE_RTT_NS / 1_000_000_000,
            )),
        )
    }
}
