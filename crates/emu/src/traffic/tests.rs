//! Traffic over real sockets.
//!
//! The machine may stand still for half a second at any time; then TCP sends again what was only late, and what
//! ought to happen at a time happens later. Tests ask for what holds nevertheless; what a punctual machine has besides
//! is tested in virtual time (`tests/python/test_exact_times.py`).

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use dumbbell_results::UNKNOWN;
use dumbbell_scenario::{Control, Group, Host, Limit, Queue, Scenario};

use crate::calibration::calibrate;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::monotonic_ns;
use crate::relay::{Relay, RelayReport};
use crate::run_end::RunEnd;
use crate::sampling::flow_report::FlowReport;
use crate::skipped::skipped;
use crate::testbed::hosts;
use crate::traffic::{Path, RunningTraffic, Traffic, TrafficReport};

const MS: u64 = 1_000_000;

fn group(cc: &str, flows: u32) -> Group {
    Group {
        cc: cc.into(),
        flows,
        base_rtt_ns: 20 * MS,
        ..Group::default()
    }
}

fn scenario(duration_ns: u64, groups: Vec<Group>) -> Scenario {
    Scenario {
        seed: 1,
        duration_ns,
        sample_interval_ns: 10 * MS,
        groups,
        ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(250_000)))
    }
}

/// Hosts and a scenario for a test; one at a time, so that tests do not take each other's CPU.
struct Testbed {
    hosts: Arc<Hosts>,
    scenario: Arc<Scenario>,
    _alone: MutexGuard<'static, ()>,
}

impl Testbed {
    /// For the test called `test`; `None` where none can be made, which is reported.
    fn new(test: &str, scenario: Scenario) -> Option<Self> {
        let (alone, hosts) = hosts(test, &scenario)?;
        Some(Self {
            hosts,
            scenario: Arc::new(scenario),
            _alone: alone,
        })
    }

    /// The kernel's own congestion controls, by group.
    fn kernel_ccs(&self) -> Vec<String> {
        let names = self.scenario.groups.iter().map(|group| &group.cc.name);
        names
            .map(|name| name.trim_start_matches("linux/").to_owned())
            .collect()
    }

    fn start(&self) -> Result<(Relay, RunningTraffic), Error> {
        let traffic = Traffic::prepare(&self.hosts, &self.scenario, &self.kernel_ccs())?;
        let epoch_ns = monotonic_ns() + 20 * MS;
        let end_ns = epoch_ns + self.scenario.duration_ns;
        let end = RunEnd::at(end_ns);
        let relay = Relay::start(&self.hosts, &self.scenario, epoch_ns, &end, Vec::new())?;
        let running = traffic.start(epoch_ns, &end, Path::of(&relay), None, None)?;
        Ok((relay, running))
    }

    fn run(&self) -> (TrafficReport, RelayReport) {
        let (relay, running) = self.start().expect("the run starts");
        running
            .wait(&Control::default(), || true)
            .expect("the run ends");
        let report = running.finish().expect("the threads end");
        (report, relay.stop().expect("the relay ends"))
    }
}

#[test]
fn sizes_arrive_exactly() {
    let sized = |size_bytes| Group {
        size_bytes: Some(size_bytes),
        ..group("linux/cubic", 2)
    };
    let scenario = scenario(4_000 * MS, vec![sized(1), sized(99_999), sized(1_448_000)]);
    let Some(testbed) = Testbed::new("sizes_arrive_exactly", scenario) else {
        return;
    };
    let (report, path) = testbed.run();
    for (flow, on_path) in report.flows.iter().zip(&path.flows) {
        // Read when the connection was over: what TCP sent has all entered the path, and left it. If the machine
        // stands still, packets leave in bursts, and some may be dropped and sent again.
        assert_eq!(flow.sent_pkts, on_path.entered_pkts, "{flow:?}");
        assert_eq!(
            on_path.entered_pkts,
            on_path.arrived_pkts + on_path.dropped_pkts,
            "{flow:?}"
        );
        // Linux counts two segments that were written at once as one.
        let segments = flow.arrived_pkts..=2 * flow.arrived_pkts;
        assert!(segments.contains(&on_path.arrived_pkts), "{flow:?}");
        let size_bytes = testbed.scenario.groups[flow.group].size_bytes;
        let fewest_pkts = size_bytes.map_or(0, |bytes| bytes.div_ceil(1448));
        assert!(on_path.arrived_pkts >= fewest_pkts, "{flow:?}");
        assert!(
            on_path.retransmitted_pkts >= on_path.dropped_pkts,
            "{on_path:?}"
        );
        assert_eq!(Some(flow.written_bytes), size_bytes, "{flow:?}");
        assert_eq!(Some(flow.received_bytes), size_bytes, "{flow:?}");
        let finished_ns = flow.finished_ns.expect("there was time enough");
        assert!(Some(finished_ns) > flow.established_ns, "{flow:?}");
    }
}

#[test]
fn flows_start_and_stop_when_they_are_to() {
    let timed = Group {
        start_ns: 100 * MS,
        stop_ns: Some(1_000 * MS),
        ..group("linux/reno", 3)
    };
    let scenario = scenario(4_000 * MS, vec![timed]);
    let Some(testbed) = Testbed::new("flows_start_and_stop_when_they_are_to", scenario) else {
        return;
    };
    let (report, _) = testbed.run();
    let mut last_ns = 0;
    for flow in &report.flows {
        let established_ns = flow.established_ns.expect("it was to start");
        // A handshake takes a round trip.
        assert!(established_ns >= 120 * MS, "{flow:?}");
        let finished_ns = flow.finished_ns.expect("it was to stop");
        assert!(finished_ns >= 1_000 * MS, "{flow:?}");
        assert!(flow.received_bytes > 0);
        assert_eq!(flow.received_bytes, flow.written_bytes);
        last_ns = last_ns.max(finished_ns);
    }
    let times_us = &report.samples.time_us;
    let sampled_us = 120_000..=(last_ns / 1000) as i64;
    assert!(
        times_us.iter().all(|time_us| sampled_us.contains(time_us)),
        "{times_us:?}"
    );
}

#[test]
fn congestion_controls_are_those_asked_for() {
    let scenario = scenario(
        100 * MS,
        vec![group("linux/reno", 2), group("linux/cubic", 1)],
    );
    let Some(testbed) = Testbed::new("congestion_controls_are_those_asked_for", scenario) else {
        return;
    };
    let (report, _) = testbed.run();
    let names: Vec<_> = report
        .flows
        .iter()
        .map(|flow| &flow.kernel_cc[..])
        .collect();
    assert_eq!(names, ["reno", "reno", "cubic"]);
    let missing = vec!["reno".to_owned(), "nonesuch".to_owned()];
    let error = Traffic::prepare(&testbed.hosts, &testbed.scenario, &missing).err();
    let line = error.expect("there is no such thing").to_string();
    assert!(line.contains("`nonesuch`"), "{line}");
    assert!(line.contains("tcp_available_congestion_control"), "{line}");
    assert!(!line.contains('\n'), "{line}");
}

#[test]
fn samples_are_taken_at_their_instants() {
    let scenario = scenario(
        1_500 * MS,
        vec![group("linux/cubic", 2), group("linux/bbr", 1)],
    );
    let Some(testbed) = Testbed::new("samples_are_taken_at_their_instants", scenario) else {
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
    let (report, _) = testbed.run();
    let samples = &report.samples;
    let rows = samples.time_us.len();
    let times_us = &samples.time_us;
    assert!(
        times_us.iter().all(|time_us| time_us % 10_000 == 0),
        "{times_us:?}"
    );
    let order: Vec<(i64, u32)> = times_us
        .iter()
        .copied()
        .zip(samples.flow.iter().copied())
        .collect();
    assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
    // Once all are connected, every instant has every flow.
    let first_of_all = (0..3).filter_map(|flow| order.iter().find(|row| row.1 == flow));
    let first_of_all_us = first_of_all.map(|row| row.0).max();
    let of_all = order.iter().filter(|row| Some(row.0) >= first_of_all_us);
    let of_all: Vec<(i64, u32)> = of_all.copied().collect();
    assert!(of_all.chunks(3).all(|rows| {
        let flows = rows.iter().map(|row| row.1);
        flows.eq(0..3) && rows[0].0 == rows[2].0
    }));
    let mut instants: Vec<i64> = times_us.clone();
    instants.dedup();
    let missed = report.missed_instants as usize;
    // The handshake takes the first two.
    let sampled_or_missed = instants.len() + missed;
    assert!(
        (50..=148).contains(&sampled_or_missed),
        "{missed}, {instants:?}"
    );
    if missed == 0 {
        assert_eq!(instants.last(), Some(&1_500_000));
    }
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
    let states: Vec<_> = report.bbr_states.iter().flatten().collect();
    assert_eq!(states.len(), 1, "cubic reports nothing");
    let names: Vec<_> = states[0]
        .series
        .iter()
        .map(|series| &series.name[..])
        .collect();
    assert_eq!(
        names,
        ["mode", "bw_bps", "min_rtt_us", "pacing_gain", "cwnd_gain"]
    );
    let dumbbell_results::RawColumn::Longs(bw_bps) = &states[0].columns[1] else {
        panic!("{:?}", states[0].columns[1]);
    };
    let of_bbr = samples.flow.iter().filter(|&&flow| flow == 2);
    assert_eq!(bw_bps.len(), of_bbr.count());
    assert!(bw_bps.last() > Some(&0));
}

#[test]
fn cancelling_ends_the_run_at_once_and_leaves_nothing() {
    /// How long one of the 60 s may take.
    const AT_ONCE: Duration = Duration::from_secs(15);
    let scenario = scenario(60_000 * MS, vec![group("linux/cubic", 5)]);
    let Some(testbed) = Testbed::new(
        "cancelling_ends_the_run_at_once_and_leaves_nothing",
        scenario,
    ) else {
        return;
    };
    let (_relay, running) = testbed.start().expect("the run starts");
    let control = Control::default();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let result = running.wait(&control, || true);
            (result, Instant::now())
        });
        let started = Instant::now();
        while control.progress() < 0.002 && started.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        control.cancel();
        let cancelled = Instant::now();
        let (result, returned) = waiting.join().expect("it does not panic");
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
        assert!(returned - cancelled < AT_ONCE);
    });
    assert!(control.progress() > 0.0);
    let dropping = Instant::now();
    drop(running);
    assert!(dropping.elapsed() < AT_ONCE);
    for host in testbed.hosts.senders.iter().chain(&testbed.hosts.receivers) {
        let sockets = host
            .namespace
            .within(|| std::fs::read_to_string("/proc/thread-self/net/tcp"));
        let sockets = sockets.expect("the host is there").expect("it has a list");
        // The receivers' listener and all connections are closed; one line is the heading.
        assert_eq!(sockets.lines().count(), 1, "{sockets}");
    }
}

#[test]
fn a_thousand_flows_connect_and_carry_something() {
    let short = Group {
        start_jitter_ns: 1_000 * MS,
        size_bytes: Some(20_000),
        ..group("linux/cubic", 1000)
    };
    let mut scenario = scenario(5_000 * MS, vec![short]);
    scenario.links[0].link_rate_bps = 200_000_000;
    scenario.links[0].queue = Queue::drop_tail(Limit::Bytes(16_000_000));
    let Some(testbed) = Testbed::new("a_thousand_flows_connect_and_carry_something", scenario)
    else {
        return;
    };
    let (report, _) = testbed.run();
    let connected = |flow: &&FlowReport| flow.established_ns.is_some() && flow.received_bytes > 0;
    assert_eq!(report.flows.iter().filter(connected).count(), 1000);
}

#[test]
fn a_receive_window_holds_the_sender_back_and_is_never_exceeded() {
    const WINDOW_BYTES: u64 = 64_000;
    let small = Group {
        host: Host {
            rwnd_bytes: WINDOW_BYTES,
            ..Host::default()
        },
        ..group("linux/cubic", 1)
    };
    let test = "a_receive_window_holds_the_sender_back_and_is_never_exceeded";
    let Some(testbed) = Testbed::new(test, scenario(2_500 * MS, vec![small])) else {
        return;
    };
    let (report, _) = testbed.run();
    let flow = &report.flows[0];
    // 64 kB every 20 ms are half of the link.
    assert!(flow.rwnd_limited_us > 400_000, "{flow:?}");
    let window_pkts = (WINDOW_BYTES / 1448) as u32;
    let largest = report.samples.outstanding_pkts.iter().max();
    assert!(largest <= Some(&window_pkts), "{largest:?}");
    // No more than the window every 20 ms.
    let rate = flow.received_bytes as f64 * 8.0 / 2.46;
    let full_rate = 43.0 * 1448.0 * 8.0 / 0.020;
    let share = rate / full_rate;
    assert!(share < 1.02, "{share}");
}

#[test]
fn a_send_buffer_limits_what_is_outstanding() {
    const BUFFER_BYTES: u64 = 64_000;
    for tso in [true, false] {
        let small = Group {
            base_rtt_ns: 100 * MS,
            rtt_steps: Vec::new(),
            host: Host {
                sndbuf_bytes: BUFFER_BYTES,
                tso,
                ..Host::default()
            },
            ..group("linux/cubic", 1)
        };
        let test = "a_send_buffer_limits_what_is_outstanding";
        let Some(testbed) = Testbed::new(test, scenario(2_000 * MS, vec![small])) else {
            return;
        };
        let (report, _) = testbed.run();
        let flow = &report.flows[0];
        let largest_pkts = report.samples.outstanding_pkts.iter().max();
        let largest_bytes = u64::from(*largest_pkts.expect("there are samples")) * 1448;
        assert!((BUFFER_BYTES / 2..BUFFER_BYTES + 1448).contains(&largest_bytes));
        assert!(flow.sndbuf_limited_us > 400_000, "{flow:?}");
    }
}

#[test]
fn every_second_packet_is_acknowledged() {
    let test = "every_second_packet_is_acknowledged";
    let long = scenario(3_000 * MS, vec![group("linux/cubic", 1)]);
    let Some(testbed) = Testbed::new(test, long) else {
        return;
    };
    let (report, path) = testbed.run();
    let flow = &report.flows[0];
    let acks_per_pkt = flow.receiver_sent_segs as f64 / path.flows[0].arrived_pkts as f64;
    assert!((0.2..0.9).contains(&acks_per_pkt), "{acks_per_pkt}");
}

#[test]
fn calibration_finds_the_path_as_it_was_set_up() {
    // Slow with a small buffer, as usual, fast.
    for (link_rate_bps, limit_bytes) in [
        (1_000_000, 10_000),
        (50_000_000, 250_000),
        (200_000_000, 1_000_000),
    ] {
        let mut scenario = scenario(
            1_000 * MS,
            vec![group("linux/cubic", 1), group("linux/reno", 1)],
        );
        scenario.groups[0].base_rtt_ns = 40 * MS;
        scenario.groups[1].base_rtt_ns = 80 * MS;
        scenario.links[0].link_rate_bps = link_rate_bps;
        scenario.links[0].queue = Queue::drop_tail(Limit::Bytes(limit_bytes));
        let test = "calibration_finds_the_path_as_it_was_set_up";
        let Some(testbed) = Testbed::new(test, scenario) else {
            return;
        };
        let relay = Relay::start(
            &testbed.hosts,
            &testbed.scenario,
            monotonic_ns(),
            u64::MAX,
            Vec::new(),
        );
        let relay = relay.expect("it starts");
        let is_near = |found: f64, set_up: f64| (found / set_up - 1.0).abs() < 0.2;
        let mut seen = Vec::new();
        // Until the machine does not stand still in between.
        let is_seen = (0..10).any(|_| {
            let found = calibrate(&testbed.hosts, &testbed.scenario, &Control::default());
            let found = found.expect("it can be measured");
            let is_near = is_near(found.base_rtt_us[0], 40_000.0)
                && is_near(found.base_rtt_us[1], 80_000.0)
                && is_near(found.link_rate_bps, link_rate_bps as f64);
            // TCP rounds to a µs.
            assert!(found.base_rtt_us[0] >= 39_990.0, "{found:?}");
            assert!(found.base_rtt_us[1] >= 79_990.0, "{found:?}");
            seen.push(found);
            is_near
        });
        assert!(is_seen, "{seen:?}");
        drop(relay);
    }
}
