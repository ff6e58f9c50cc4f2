//! Traffic over real sockets.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use dumbbell_run::{BottleneckConfig, CongestionControl, Control, Group, Queue, Scenario, UNKNOWN};

use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::host::Hosts;
use crate::receivers::UNLIMITED_BYTES;
use crate::traffic::{RunningTraffic, Traffic, TrafficReport};

const MS: u64 = 1_000_000;

fn group(cc: &str, flows: u32) -> Group {
    Group {
        cc: CongestionControl {
            name: cc.to_owned(),
            params: std::collections::BTreeMap::new(),
        },
        flows,
        base_rtt_ns: 20 * MS,
        start_ns: 0,
        start_jitter_ns: 0,
        stop_ns: None,
        size_bytes: None,
        mss_bytes: 1448,
        rwnd_bytes: UNLIMITED_BYTES,
        sndbuf_bytes: UNLIMITED_BYTES,
        tso: true,
        delayed_ack: true,
    }
}

fn scenario(duration_ns: u64, groups: Vec<Group>) -> Arc<Scenario> {
    Arc::new(Scenario {
        seed: 1,
        duration_ns,
        sample_interval_ns: 10 * MS,
        bottleneck: BottleneckConfig {
            link_rate_bps: 50_000_000,
            queue: Queue::Bfifo {
                limit_bytes: 250_000,
            },
        },
        groups,
    })
}

/// Hosts for the test called `test`; `None` where none can be made, which is said.
#[expect(
    clippy::print_stdout,
    reason = "the test runner counts what was skipped"
)]
fn hosts(test: &str, scenario: &Scenario) -> Option<Hosts> {
    Hosts::new(scenario)
        .inspect_err(|error| println!("SKIPPED: {test}: {error}"))
        .ok()
}

fn kernel_names(scenario: &Scenario) -> Vec<String> {
    let names = scenario.groups.iter().map(|group| &group.cc.name);
    names
        .map(|name| name.trim_start_matches("linux/").to_owned())
        .collect()
}

fn start(hosts: &Hosts, scenario: &Arc<Scenario>) -> Result<RunningTraffic, Error> {
    let traffic = Traffic::prepare(hosts, scenario, &kernel_names(scenario))?;
    let rtts = (0..scenario.flow_count()).map(|_| AtomicU32::new(0));
    traffic.start(monotonic_ns() + 20 * MS, Arc::new(rtts.collect()), None)
}

fn run(hosts: &Hosts, scenario: &Arc<Scenario>) -> TrafficReport {
    let running = start(hosts, scenario).expect("traffic starts");
    running.wait(&Control::default()).expect("the run ends");
    running.finish().expect("the threads end")
}

#[test]
fn sizes_arrive_exactly() {
    let sized = |size_bytes| Group {
        size_bytes: Some(size_bytes),
        ..group("linux/cubic", 2)
    };
    let scenario = scenario(800 * MS, vec![sized(1), sized(999_999), sized(1_448_000)]);
    let Some(hosts) = hosts("sizes_arrive_exactly", &scenario) else {
        return;
    };
    let report = run(&hosts, &scenario);
    for flow in &report.flows {
        let size_bytes = scenario.groups[flow.group].size_bytes;
        assert_eq!(Some(flow.written_bytes), size_bytes, "{flow:?}");
        assert_eq!(Some(flow.received_bytes), size_bytes, "{flow:?}");
        let finished_ns = flow.finished_ns.expect("there was time enough");
        assert!(finished_ns < 700 * MS, "{flow:?}");
        assert!(Some(finished_ns) > flow.established_ns, "{flow:?}");
    }
}

#[test]
fn flows_start_and_stop_when_they_are_to() {
    let timed = Group {
        start_ns: 100 * MS,
        stop_ns: Some(300 * MS),
        ..group("linux/reno", 3)
    };
    let scenario = scenario(500 * MS, vec![timed]);
    let Some(hosts) = hosts("flows_start_and_stop_when_they_are_to", &scenario) else {
        return;
    };
    let report = run(&hosts, &scenario);
    for flow in &report.flows {
        let established_ns = flow.established_ns.expect("it was to start");
        assert!(established_ns >= 100 * MS, "{flow:?}");
        assert!(established_ns < 200 * MS, "{flow:?}");
        let finished_ns = flow.finished_ns.expect("it was to stop");
        assert!((300 * MS..450 * MS).contains(&finished_ns), "{flow:?}");
        assert!(flow.received_bytes > 0);
        assert_eq!(flow.received_bytes, flow.written_bytes);
    }
    let times_us = &report.samples.time_us;
    assert!(
        times_us.iter().all(|&time_us| time_us >= 100_000),
        "{times_us:?}"
    );
    assert!(
        times_us.iter().all(|&time_us| time_us < 450_000),
        "{times_us:?}"
    );
}

#[test]
fn congestion_controls_are_those_asked_for() {
    let scenario = scenario(
        100 * MS,
        vec![group("linux/reno", 2), group("linux/cubic", 1)],
    );
    let Some(hosts) = hosts("congestion_controls_are_those_asked_for", &scenario) else {
        return;
    };
    let report = run(&hosts, &scenario);
    let names: Vec<_> = report
        .flows
        .iter()
        .map(|flow| &flow.kernel_cc[..])
        .collect();
    assert_eq!(names, ["reno", "reno", "cubic"]);
    let missing = vec!["reno".to_owned(), "nonesuch".to_owned()];
    let error = Traffic::prepare(&hosts, &scenario, &missing).err();
    let line = error.expect("there is no such thing").to_string();
    assert!(line.contains("`nonesuch`"), "{line}");
    assert!(line.contains("tcp_available_congestion_control"), "{line}");
    assert!(!line.contains('\n'), "{line}");
}

#[test]
fn samples_are_taken_at_their_instants() {
    let scenario = scenario(
        300 * MS,
        vec![group("linux/cubic", 2), group("linux/bbr", 1)],
    );
    let Some(hosts) = hosts("samples_are_taken_at_their_instants", &scenario) else {
        return;
    };
    if !std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .is_ok_and(|names| names.contains("bbr"))
    {
        skipped(
            "samples_are_taken_at_their_instants",
            "this kernel has no bbr",
        );
        return;
    }
    let report = run(&hosts, &scenario);
    let samples = &report.samples;
    let rows = samples.time_us.len();
    assert_eq!(rows % 3, 0, "every instant has every flow");
    let instants: Vec<i64> = samples.time_us.iter().copied().step_by(3).collect();
    assert!(
        instants.iter().all(|time_us| time_us % 10_000 == 0),
        "{instants:?}"
    );
    assert!(instants.is_sorted(), "{instants:?}");
    assert_eq!(instants.last(), Some(&300_000));
    let missed = report.missed_instants as usize;
    assert_eq!(instants.len() + missed, 30, "{instants:?}");
    assert!(samples.flow.chunks(3).all(|flows| flows == [0, 1, 2]));
    let lengths = [
        samples.cwnd_pkts.len(),
        samples.ssthresh_pkts.len(),
        samples.inflight_pkts.len(),
        samples.outstanding_pkts.len(),
        samples.srtt_us.len(),
        samples.rtt_us.len(),
        samples.min_rtt_us.len(),
        samples.delivery_rate_bps.len(),
        samples.goodput_bps.len(),
        samples.pacing_rate_bps.len(),
        samples.retransmitted_pkts.len(),
        samples.lost_pkts.len(),
        samples.ca_state.len(),
    ];
    assert_eq!(lengths, [rows; 13]);
    assert!(samples.cwnd_pkts.iter().all(|&pkts| pkts > 0));
    assert!(samples.srtt_us.iter().all(|&us| us > 0));
    assert!(samples.lost_pkts.iter().all(|&pkts| pkts == UNKNOWN));
    assert!(samples.ca_state.iter().all(|&state| state < 5));
    // What the samples say arrived is what arrived.
    let sampled_bits: u64 = samples.goodput_bps.iter().map(|bps| bps / 100).sum();
    let received_bits: u64 = report
        .flows
        .iter()
        .map(|flow| flow.received_bytes * 8)
        .sum();
    let share = sampled_bits as f64 / received_bits as f64;
    assert!((0.8..1.2).contains(&share), "{share}");
    let states: Vec<_> = report.bbr_states.iter().flatten().collect();
    assert_eq!(states.len(), 1, "cubic tells nothing");
    let names: Vec<_> = states[0]
        .series
        .iter()
        .map(|series| &series.name[..])
        .collect();
    assert_eq!(
        names,
        ["mode", "bw_bps", "min_rtt_us", "pacing_gain", "cwnd_gain"]
    );
    let dumbbell_run::RawColumn::Longs(bw_bps) = &states[0].columns[1] else {
        panic!("{:?}", states[0].columns[1]);
    };
    assert_eq!(bw_bps.len(), rows / 3);
    assert!(bw_bps.last() > Some(&0));
}

#[test]
fn cancelling_ends_the_run_at_once_and_leaves_nothing() {
    let scenario = scenario(60_000 * MS, vec![group("linux/cubic", 5)]);
    let Some(hosts) = hosts(
        "cancelling_ends_the_run_at_once_and_leaves_nothing",
        &scenario,
    ) else {
        return;
    };
    let running = start(&hosts, &scenario).expect("traffic starts");
    let control = Control::default();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let result = running.wait(&control);
            (result, Instant::now())
        });
        std::thread::sleep(Duration::from_millis(200));
        control.cancel();
        let cancelled = Instant::now();
        let (result, returned) = waiting.join().expect("it does not panic");
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
        assert!(returned - cancelled < Duration::from_millis(100));
    });
    assert!(control.progress() > 0.0);
    let dropping = Instant::now();
    drop(running);
    assert!(dropping.elapsed() < Duration::from_millis(100));
    for host in hosts.senders.iter().chain(&hosts.receivers) {
        let sockets = host
            .namespace
            .within(|| std::fs::read_to_string("/proc/thread-self/net/tcp"));
        let sockets = sockets.expect("the host is there").expect("it has a list");
        // The receivers' listener and all connections are gone; one line is the heading.
        assert_eq!(sockets.lines().count(), 1, "{sockets}");
    }
}

#[test]
fn a_thousand_flows_connect_and_carry_something() {
    let jittered = Group {
        start_jitter_ns: 500 * MS,
        ..group("linux/cubic", 1000)
    };
    let scenario = scenario(2_000 * MS, vec![jittered]);
    let Some(hosts) = hosts("a_thousand_flows_connect_and_carry_something", &scenario) else {
        return;
    };
    let report = run(&hosts, &scenario);
    let idle = report.flows.iter().filter(|flow| flow.received_bytes == 0);
    assert_eq!(idle.count(), 0);
}

#[expect(
    clippy::print_stdout,
    reason = "the test runner counts what was skipped"
)]
fn skipped(test: &str, reason: &str) {
    println!("SKIPPED: {test}: {reason}");
}
