//! Applications over real sockets, in real namespaces.
//!
//! The machine may stand still for half a second at any time: what is asked for is what arrives, in which order, and
//! that nothing is faster than the path.

use std::collections::BTreeSet;

use dumbbell_app::TrafficConfig;
use dumbbell_results::{FlowSummary, Output};
use dumbbell_scenario::{Control, Group, Limit, Queue, Scenario};
use serde_json::{Value, json};

use crate::testbed::hosts;

const MS: u64 = 1_000_000;

fn group(flows: u32, traffic: Value) -> Group {
    Group {
        cc: "linux/cubic".into(),
        flows,
        base_rtt_ns: 20 * MS,
        traffic: serde_json::from_value::<TrafficConfig>(traffic).expect("an application"),
        ..Group::default()
    }
}

fn bulk() -> Group {
    group(1, json!({"kind": "bulk"}))
}

fn scenario(duration_ms: u64, groups: Vec<Group>) -> Scenario {
    Scenario {
        seed: 1,
        duration_ns: duration_ms * MS,
        sample_interval_ns: 10 * MS,
        groups,
        ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(250_000)))
    }
}

/// The run of a scenario for a test; `None` where this machine cannot run it, which is reported.
fn run(test: &str, scenario: &Scenario) -> Option<Output> {
    let (_turn, _hosts) = hosts(test, scenario)?;
    let output = crate::run(scenario, &Control::default(), None);
    Some(output.unwrap_or_else(|error| panic!("{error}")))
}

/// A row of the table of transfers.
#[derive(Clone, Copy, Debug)]
struct Row {
    flow: u32,
    size_bytes: u64,
    start_us: i64,
    end_us: Option<i64>,
}

fn transfers(output: &Output) -> Vec<Row> {
    let table = output.tables.iter().find(|table| table.name == "transfers");
    let batch = &table.expect("there are applications").batch;
    (0..batch.num_rows())
        .map(|row| Row {
            flow: batch["flow"].numbers()[row],
            size_bytes: batch["size_bytes"].numbers()[row],
            start_us: batch["start_us"].numbers()[row],
            end_us: batch["end_us"].number(row).map(|us| us as i64),
        })
        .collect()
}

fn measured(flow: &FlowSummary, name: &str) -> i64 {
    let found = flow.application.get(name);
    *found.unwrap_or_else(|| panic!("no `{name}` in {:?}", flow.application))
}

/// What is true of any run.
fn check_conservation(output: &Output) {
    let summary = &output.summary;
    for flow in &summary.flows {
        let accounted = flow.arrived_pkts + flow.dropped_pkts + flow.on_path_pkts;
        assert_eq!(flow.sent_pkts, accounted, "{flow:?}");
        assert!(
            flow.rtt_min_us == 0 || flow.rtt_min_us >= 20_000,
            "{flow:?}"
        );
    }
    for link in &summary.links {
        let accounted = link.forwarded_pkts + link.dropped_pkts + link.left_pkts;
        assert_eq!(link.offered_pkts, accounted, "{link:?}");
    }
}

#[test]
fn short_flows_arrive_to_the_byte() {
    // 150 connections a second, of a kilobyte to half a megabyte.
    let sizes =
        json!({"distribution": "pareto", "shape_milli": 1200, "scale": 1000, "max": 500_000});
    let poisson = json!({"kind": "poisson", "gap_ns": 20 * MS, "size_bytes": sizes, "count": 150});
    let scenario = scenario(6_000, vec![group(3, poisson)]);
    let Some(output) = run("short_flows_arrive_to_the_byte", &scenario) else {
        return;
    };
    check_conservation(&output);
    let rows = transfers(&output);
    assert_eq!(rows.len(), 450);
    for flow in &output.summary.flows {
        let own = || rows.iter().filter(|row| row.flow == flow.flow);
        assert_eq!(own().count(), 150);
        assert_eq!(flow.connections, Some(150));
        let sizes = own().map(|row| row.size_bytes);
        assert!(sizes.clone().collect::<BTreeSet<_>>().len() > 100);
        let bytes: u64 = sizes.sum();
        assert_eq!(flow.received_bytes, bytes);
        assert_eq!(measured(flow, "offered_bytes"), bytes as i64);
        assert!(flow.finished, "{flow:?}");
        assert!(flow.end_us < 6_000_000);
        assert_eq!(flow.on_path_pkts, 0);
        assert_eq!(flow.cc, "linux/cubic");
        // No request carries data.
        assert!(flow.requests.is_none());
    }
    for row in &rows {
        // A handshake and, if no more fits the initial window of ten, one round trip; each doubling takes another.
        let pkts = row.size_bytes.div_ceil(1448);
        let rounds = 2 + i64::from((pkts.div_ceil(10)).next_power_of_two().ilog2() > 0);
        let took_us = row.end_us.expect("there was time enough") - row.start_us;
        assert!(took_us >= rounds * 20_000, "{row:?}");
    }
    let ended: Vec<_> = rows.iter().map(|row| row.end_us).collect();
    assert!(ended.is_sorted(), "{ended:?}");
    // Each instant has a row for each flow that has started.
    let series = &output.tables[0].batch;
    let flows = series["flow"].numbers::<u32>();
    for flow in 0..3 {
        let rows = flows.iter().filter(|&&of| of == flow).count();
        assert!((300..=600).contains(&rows), "{rows}");
    }
    let emulation = output.summary.emulation.as_ref().expect("it is the kernel");
    assert_eq!(emulation.hosts_sent_pkts, emulation.path_entered_pkts);
    assert_eq!(emulation.host_dropped_pkts, 0);
}

#[test]
fn many_flows_beside_a_bulk_flow_take_turns() {
    let poisson = json!({"kind": "poisson", "gap_ns": 20 * MS, "size_bytes": 20_000});
    let groups = vec![bulk(), group(2, poisson), bulk()];
    let scenario = scenario(3_000, groups);
    let Some(output) = run("many_flows_beside_a_bulk_flow_take_turns", &scenario) else {
        return;
    };
    check_conservation(&output);
    let rows = transfers(&output);
    assert!(rows.iter().all(|row| [1, 2].contains(&row.flow)));
    assert!(rows.iter().all(|row| row.size_bytes == 20_000));
    for flow in &output.summary.flows {
        assert!(flow.received_bytes > 0, "{flow:?}");
        assert_eq!(flow.connections.is_some(), [1, 2].contains(&flow.flow));
        let ended = rows.iter().filter(|row| row.flow == flow.flow);
        let ended_bytes: u64 = ended
            .filter(|row| row.end_us.is_some())
            .map(|row| row.size_bytes)
            .sum();
        assert!(flow.received_bytes >= ended_bytes, "{flow:?}");
    }
    // Those without an end come last.
    assert!(rows.is_sorted_by_key(|row| row.end_us.is_none()));
    assert!(rows.iter().filter(|row| row.end_us.is_some()).count() > 30);
}

#[test]
fn a_source_that_is_on_and_off_pauses() {
    let bursts = json!({"kind": "onoff", "off_ns": 100 * MS, "burst_bytes": 300_000});
    let times = json!({"kind": "onoff", "on_ns": 200 * MS, "off_ns": 300 * MS});
    let scenario = scenario(4_000, vec![group(1, bursts), group(1, times)]);
    let Some(output) = run("a_source_that_is_on_and_off_pauses", &scenario) else {
        return;
    };
    check_conservation(&output);
    let rows = transfers(&output);
    for flow in &output.summary.flows {
        let own: Vec<&Row> = rows.iter().filter(|row| row.flow == flow.flow).collect();
        assert!((2..=40).contains(&own.len()), "{own:?}");
        assert_eq!(flow.connections, Some(1));
        let bytes: u64 = own.iter().map(|row| row.size_bytes).sum();
        let ended = own.iter().filter(|row| row.end_us.is_some());
        let ended_bytes: u64 = ended.map(|row| row.size_bytes).sum();
        assert!(flow.received_bytes >= ended_bytes, "{flow:?}");
        // What was written without end and did not pause yet is in no row.
        assert!(flow.received_bytes <= bytes || flow.flow == 1, "{flow:?}");
        let off_us = if flow.flow == 0 { 100_000 } else { 300_000 };
        for pair in own.windows(2) {
            let ended_us = pair[0].end_us.expect("the next one began after it");
            let gap_us = if flow.flow == 0 {
                pair[1].start_us - ended_us
            } else {
                pair[1].start_us - pair[0].start_us - 200_000
            };
            assert!(gap_us >= off_us, "{pair:?}");
        }
    }
    assert!(
        rows.iter()
            .all(|row| row.flow == 1 || row.size_bytes == 300_000)
    );
}

#[test]
fn a_user_that_stops_begins_nothing_new() {
    let poisson = json!({"kind": "poisson", "gap_ns": 10 * MS, "size_bytes": 5_000});
    let stopping = Group {
        start_ns: 300 * MS,
        stop_ns: Some(1_500 * MS),
        ..group(2, poisson)
    };
    let scenario = scenario(4_000, vec![stopping]);
    let Some(output) = run("a_user_that_stops_begins_nothing_new", &scenario) else {
        return;
    };
    check_conservation(&output);
    for row in transfers(&output) {
        assert!((300_000..2_500_000).contains(&row.start_us), "{row:?}");
        assert!(row.end_us.is_some(), "{row:?}");
    }
    for flow in &output.summary.flows {
        assert!(flow.finished && flow.end_us >= 1_000_000, "{flow:?}");
    }
}

#[test]
fn requests_are_answered_one_after_the_other() {
    let rpc = |persistent: bool| {
        json!({
            "kind": "rpc", "request_bytes": 400, "response_bytes": 20_000, "think_ns": 5 * MS,
            "persistent": persistent, "count": 20,
        })
    };
    let scenario = scenario(6_000, vec![group(2, rpc(true)), group(2, rpc(false))]);
    let Some(output) = run("requests_are_answered_one_after_the_other", &scenario) else {
        return;
    };
    check_conservation(&output);
    let rows = transfers(&output);
    for flow in &output.summary.flows {
        let own: Vec<&Row> = rows.iter().filter(|row| row.flow == flow.flow).collect();
        assert_eq!(own.len(), 20, "{flow:?}");
        let is_persistent = flow.group == 0;
        let connections = if is_persistent { 1 } else { 20 };
        assert_eq!(flow.connections, Some(connections));
        assert_eq!(flow.received_bytes, 20 * 20_000, "responses");
        let requests = flow.requests.as_ref().expect("they carry data");
        assert_eq!(requests.received_bytes, 20 * 400);
        assert!(requests.sent_pkts >= 20, "{requests:?}");
        let accounted = requests.arrived_pkts + requests.dropped_pkts + requests.on_path_pkts;
        assert_eq!(requests.sent_pkts, accounted, "{requests:?}");
        assert!(flow.finished, "{flow:?}");
        // A response of 14 packets takes a second window once, on a new connection; the handshake comes before it.
        let rounds = if is_persistent { 1 } else { 3 };
        for row in &own {
            let took_us = row.end_us.expect("there was time enough") - row.start_us;
            assert!(took_us >= rounds * 20_000, "{row:?}");
        }
        for pair in own.windows(2) {
            let ended_us = pair[0].end_us.expect("there was time enough");
            assert!(pair[1].start_us >= ended_us + 5_000, "{pair:?}");
        }
    }
    let emulation = output.summary.emulation.as_ref().expect("it is the kernel");
    assert_eq!(emulation.hosts_sent_pkts, emulation.path_entered_pkts);
}

#[test]
fn datagrams_take_the_path_s_time_and_are_lost_in_its_queue() {
    let voice = json!({"kind": "datagram", "size_bytes": 160, "interval_ns": 20 * MS});
    // 20 of 1042 bytes at once, of which the queue and the link hold 11 at 10 Mbit/s.
    let bursts = json!({
        "kind": "datagram", "size_bytes": 1000, "interval_ns": 200 * MS, "burst": 20,
    });
    let mut scenario = scenario(3_000, vec![group(2, voice), group(1, bursts)]);
    scenario.links[0].link_rate_bps = 10_000_000;
    scenario.links[0].queue = Queue::drop_tail(Limit::Bytes(10 * 1042));
    let test = "datagrams_take_the_path_s_time_and_are_lost_in_its_queue";
    let Some(output) = run(test, &scenario) else {
        return;
    };
    check_conservation(&output);
    for flow in &output.summary.flows {
        let sent = measured(flow, "sent_datagrams");
        assert_eq!(flow.sent_pkts as i64, sent, "{flow:?}");
        assert_eq!(
            flow.arrived_pkts as i64,
            measured(flow, "received_datagrams")
        );
        let (at_once, size_bytes, gap_ms) = if flow.group == 0 {
            (1, 160, 20)
        } else {
            (20, 1000, 200)
        };
        // Late ones are made up for, but for those of a stall at the end.
        let most = at_once * (3_000 / gap_ms);
        assert!((most / 2..=most).contains(&sent), "{flow:?}");
        assert_eq!(flow.received_bytes, flow.arrived_pkts * size_bytes);
        // Half of the base RTT, and the time on the link.
        let on_link_us = (size_bytes as i64 + 42) * 8 / 10;
        // The kernel's stamps are of another clock, which is read to a µs or so.
        let mean_us = measured(flow, "one_way_delay_mean_us");
        assert!(mean_us >= 10_000 + on_link_us - 5, "{flow:?}");
        assert!(
            measured(flow, "one_way_delay_max_us") >= mean_us,
            "{flow:?}"
        );
        assert!(flow.group == 0 || flow.dropped_pkts > 0, "{flow:?}");
    }
    let emulation = output.summary.emulation.as_ref().expect("it is the kernel");
    assert_eq!(emulation.hosts_sent_pkts, emulation.path_entered_pkts);
    assert_eq!(emulation.host_dropped_pkts, 0);
}

#[test]
fn a_datagram_that_fits_no_packet_is_refused() {
    let large = json!({"kind": "datagram", "size_bytes": 1473, "interval_ns": 20 * MS});
    let scenario = scenario(500, vec![group(1, large)]);
    let test = "a_datagram_that_fits_no_packet_is_refused";
    let Some((_turn, _hosts)) = hosts(test, &scenario) else {
        return;
    };
    let refused = crate::run(&scenario, &Control::default(), None).expect_err("1500 bytes fit");
    let line = refused.to_string();
    assert!(
        line.contains("1473 B") && line.contains("at most 1472 B"),
        "{line}"
    );
    assert!(!line.contains('\n'), "{line}");
}
