//! QUIC stacks as flows, beside TCP's and alone.

use dumbbell_net::ImpairmentConfig;
use dumbbell_net::impair::{corrupt, duplicate, jitter, random_loss};
use dumbbell_scenario::{GroupEcn, Refusal};
use dumbbell_sim::{Control, Error, FlowSummary, Group, Host, Output, Scenario, run};

use crate::common::{
    NS_PER_MS, NS_PER_S, bdp_bytes, bulk, column, dumbbell, simulate, with_params,
};

const RATE_BPS: u64 = 20_000_000;
const RTT_MS: u64 = 40;

/// Flows of these algorithms at 20 Mbit/s, 40 ms and a buffer of 1 BDP.
fn flows(ccs: &[&str], duration_s: u64) -> Scenario {
    let groups = ccs.iter().map(|cc| bulk(cc, 1, RTT_MS)).collect();
    dumbbell(RATE_BPS, bdp_bytes(RATE_BPS, RTT_MS), duration_s, groups)
}

fn flow(output: &Output) -> &FlowSummary {
    &output.summary.flows[0]
}

/// Round trip with a full buffer, and what sampling every 10 ms may add, µs: what is dropped within it of the first drop
/// was sent before an ACK showed that one, and belongs to the same loss event (RFC 9002 §7.3.2).
const LOSS_EVENT_US: f64 = 2.0 * RTT_MS as f64 * 1e3 + 20_000.0;

/// How many loss events there were at the bottleneck.
fn loss_events(output: &Output) -> usize {
    let dropped = column(output, "queue", "dropped_pkts");
    let time_us = column(output, "queue", "time_us");
    let mut events = 0;
    let mut began_us = f64::NEG_INFINITY;
    for index in 1..dropped.len() {
        if dropped[index] > dropped[index - 1] && time_us[index] - began_us > LOSS_EVENT_US {
            events += 1;
            began_us = time_us[index];
        }
    }
    events
}

/// A buffer of 1 BDP keeps the link busy through a window that is halved, after slow start has found it.
#[test]
fn quinn_fills_the_link_and_recovers_once_for_each_loss_event() {
    for cc in [
        "quic/quinn:reno",
        "quic/quinn:cubic",
        "quic/quinn@0.11.14:reno",
    ] {
        let output = simulate(&flows(&[cc], 60));
        let used = output.summary.bottleneck.utilization;
        assert!(used >= 0.95, "{cc}: {used}");
        let recoveries = flow(&output).fast_recovery_count.expect("counted");
        assert_eq!(recoveries as usize, loss_events(&output), "{cc}");
        assert!(recoveries >= 3, "{cc}: there are some");
        let lost_pkts = flow(&output).lost_pkts.expect("counted");
        assert_eq!(
            lost_pkts,
            flow(&output).dropped_pkts,
            "{cc}: what is dropped is found"
        );
    }
}

/// noq's BBRv3 miscounted on its common loss path until 1.2.0 (noq#785): the earlier one goes on sending what is lost.
#[test]
fn two_versions_of_a_stack_differ_by_a_bug() {
    let lost = |cc: &str| {
        let output = simulate(&flows(&[cc], 20));
        flow(&output).lost_pkts.expect("counted") as f64 / flow(&output).sent_pkts as f64
    };
    let (earlier, later) = (lost("quic/noq@1.1.0:bbr3"), lost("quic/noq@1.2.0:bbr3"));
    assert!(earlier > 0.1 && later < 0.01, "{earlier} {later}");
}

/// The same C file behind noq's controller and under the simulated TCP, alone on the link: what the transports' headers
/// differ by is 0.5 %.
#[test]
fn algorithms_of_ours_do_over_quic_what_they_do_over_tcp() {
    for cc in ["bbr", "bbr3", "cubic", "nagi", "l3dr"] {
        let over_quic = simulate(&flows(&[&format!("quic/noq:dumbbell/{cc}")], 30));
        let over_tcp = simulate(&flows(&[cc], 30));
        let ratio = flow(&over_quic).goodput_bps / flow(&over_tcp).goodput_bps;
        assert!((ratio - 1.0).abs() < 0.03, "{cc}: {ratio}");
        let name = format!("state-0-{cc}");
        let states = |output: &Output| {
            output
                .tables
                .iter()
                .find(|table| table.name == name)
                .map(|table| table.batch.num_rows() > 100)
        };
        assert_eq!(
            states(&over_quic),
            states(&over_tcp),
            "{cc} records the same series"
        );
    }
}

/// Each packet is dropped, arrives or is on its way, whatever impairments do to it; what is corrupted and delivered is
/// found by its tag and lost.
#[test]
fn impairments_reach_quic_packets() {
    for cc in ["quic/quinn:cubic", "quic/noq:bbr3", "quic/noq:copa"] {
        let mut scenario = flows(&[cc, "cubic"], 10);
        scenario.links[0].impairments = vec![
            ImpairmentConfig::from(random_loss::Config {
                loss_ppb: 2_000_000,
                ..random_loss::Config::default()
            }),
            ImpairmentConfig::from(duplicate::Config {
                probability_ppb: 5_000_000,
                ..duplicate::Config::default()
            }),
            ImpairmentConfig::from(corrupt::Config {
                probability_ppb: 5_000_000,
                delivered: true,
                ..corrupt::Config::default()
            }),
            ImpairmentConfig::from(jitter::Config {
                uniform_ns: Some(2 * NS_PER_MS),
                ..jitter::Config::default()
            }),
        ];
        let output = simulate(&scenario);
        let counts = flow(&output);
        let copies = counts.duplicated_pkts.expect("some were copied");
        let accounted = counts.dropped_pkts + counts.arrived_pkts + counts.on_path_pkts;
        assert_eq!(counts.sent_pkts + copies, accounted, "{cc}");
        let lost_pkts = counts.lost_pkts.expect("counted");
        assert!(
            lost_pkts > counts.dropped_pkts,
            "{cc}: corrupted packets arrive and count as lost"
        );
        assert!(counts.received_bytes > 1_000_000, "{cc}: the stream flows");
        let again = simulate(&scenario);
        assert_eq!(
            format!("{:?}", output.summary),
            format!("{:?}", again.summary),
            "{cc}"
        );
    }
}

#[test]
fn marks_reach_the_stack_where_the_group_has_ecn() {
    let marked = |ecn| {
        let group = Group {
            host: Host {
                ecn,
                ..Host::default()
            },
            ..bulk("quic/quinn:cubic", 1, RTT_MS)
        };
        let mut scenario = dumbbell(RATE_BPS, 400_000.0, 20, vec![group]);
        scenario.links[0].queue =
            serde_json::from_str(r#"{"kind":"codel","ecn":true}"#).expect("codel");
        simulate(&scenario)
    };
    let with = marked(GroupEcn::On);
    assert!(flow(&with).marked_pkts.expect("the queue marks") > 5);
    assert_eq!(flow(&with).ce_arrived_pkts, flow(&with).marked_pkts);
    assert!(
        flow(&with).fast_recovery_count.expect("counted") > 3,
        "marks reduce the window"
    );
    assert_eq!(flow(&with).lost_pkts, Some(0), "nothing else does");
    let without = marked(GroupEcn::Off);
    assert_eq!(flow(&without).marked_pkts, Some(0));
    assert!(
        flow(&without).lost_pkts > Some(0),
        "what is not marked is dropped"
    );
}

#[test]
fn a_finite_transfer_starts_ends_and_is_summed_up() {
    let group = Group {
        size_bytes: Some(3_000_000),
        start_ns: 2 * NS_PER_S,
        ..bulk("quic/noq:cubic", 1, RTT_MS)
    };
    let output = simulate(&dumbbell(RATE_BPS, 400_000.0, 10, vec![group]));
    let counts = flow(&output);
    assert!(counts.finished);
    assert_eq!(
        (counts.start_us, counts.received_bytes),
        (2_000_000, 3_000_000)
    );
    let took_s = (counts.end_us - counts.start_us) as f64 / 1e6;
    let least_s = 3_000_000.0 * 8.0 / RATE_BPS as f64;
    assert!(took_s > least_s && took_s < 2.0 * least_s, "{took_s}");
    let stopped = Group {
        stop_ns: Some(5 * NS_PER_S),
        ..bulk("quic/quinn:reno", 1, RTT_MS)
    };
    let output = simulate(&dumbbell(RATE_BPS, 100_000.0, 30, vec![stopped]));
    assert!(
        flow(&output).finished,
        "what was written is sent, and no more"
    );
    assert!(
        flow(&output).end_us < 12_000_000,
        "{}",
        flow(&output).end_us
    );
}

/// A larger packet makes fewer packets; a receive window limits the rate.
#[test]
fn parameters_of_the_hosts_have_effect() {
    let packets = |params: &[(&str, i64)]| {
        let group = with_params(bulk("quic/quinn:cubic", 1, RTT_MS), params);
        let output = simulate(&dumbbell(RATE_BPS, 100_000.0, 10, vec![group]));
        let counts = flow(&output);
        counts.received_bytes as f64 / counts.sent_pkts as f64
    };
    assert!(packets(&[("mtu_bytes", 1200)]) < 1200.0);
    assert!(packets(&[("mtu_bytes", 8000)]) > 5000.0);
    let window = with_params(
        bulk("quic/quinn:cubic", 1, RTT_MS),
        &[("window_bytes", 20_000)],
    );
    let output = simulate(&dumbbell(RATE_BPS, 100_000.0, 10, vec![window]));
    let most_bps = 20_000.0 * 8.0 / 0.04;
    assert!(
        flow(&output).goodput_bps <= most_bps,
        "a window in a round trip"
    );
}

fn refusal(group: Group) -> String {
    let scenario = dumbbell(RATE_BPS, 100_000.0, 1, vec![group]);
    match run(&scenario, &Control::default(), None) {
        Err(Error::Quic(error)) => error.to_string(),
        Err(Error::Scenario(Refusal(message))) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_of_tcp_hosts_is_refused() {
    let host = Host {
        delayed_ack: false,
        ..Host::default()
    };
    let group = Group {
        host,
        ..bulk("quic/noq:bbr3", 1, RTT_MS)
    };
    let message = refusal(group);
    assert!(
        message.starts_with("`delayed_ack` is of TCP hosts"),
        "{message}"
    );
    let message = refusal(bulk("quic/noq:dctcp", 1, RTT_MS));
    assert!(message.contains("count of marked packets"), "{message}");
}
