//! Super-packets in whole runs: how large they are, what a limit of packets then holds, and what is counted.

use crate::common::{NS_PER_MS, bulk, dumbbell, simulate};
use dumbbell_net::medium::tclink_htb;
use dumbbell_net::queue::{cake, tbf};
use dumbbell_sim::{Group, Host, Limit, Link, Output, Queue, Scenario};

/// One flow at 50 Mbit/s and 40 ms into a queue of `limit_pkts`; its ACKs cross a link where they are counted.
fn scenario(cc: &str, gso: bool, limit_pkts: u64) -> Scenario {
    let group = Group {
        host: Host {
            gso,
            ..Host::default()
        },
        ..bulk(cc, 1, 40)
    };
    let mut scenario = dumbbell(50_000_000, 1e6, 30, vec![group]);
    scenario.links[0].queue = Queue::drop_tail(Limit::Packets(limit_pkts));
    let up = Link {
        name: "up".to_owned(),
        queue: Queue::drop_tail(Limit::Packets(10_000)),
        ..scenario.links[0].clone()
    };
    scenario.groups[0].route = vec![scenario.links[0].name.clone()];
    scenario.groups[0].back = vec![up.name.clone()];
    scenario.links.push(up);
    scenario
}

/// Data segments that arrived per ACK.
fn segments_per_ack(output: &Output) -> f64 {
    let up = output.summary.links.iter().find(|link| link.name == "up");
    output.summary.flows[0].arrived_pkts as f64 / up.expect("it is there").offered_pkts as f64
}

fn check_counts(output: &Output) {
    for link in &output.summary.links {
        let accounted = link.forwarded_pkts + link.dropped_pkts + link.left_pkts;
        assert_eq!(link.offered_pkts, accounted);
    }
    for flow in &output.summary.flows {
        let accounted = flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts;
        assert_eq!(flow.sent_pkts, accounted);
    }
}

/// CUBIC sizes bursts by 1.2 cwnd/srtt, which is 1.2 times the link's rate: 7 kB a millisecond, four segments. Each
/// is acknowledged by itself.
#[test]
fn an_ack_answers_a_super_packet() {
    let plain = simulate(&scenario("cubic", false, 167));
    let whole = simulate(&scenario("cubic", true, 167));
    check_counts(&whole);
    assert!(
        segments_per_ack(&plain) < 2.1,
        "{}",
        segments_per_ack(&plain)
    );
    let segments = segments_per_ack(&whole);
    assert!((3.0..=5.0).contains(&segments), "{segments}");
    let used = whole.summary.bottleneck.utilization;
    assert!(used > 0.95, "{used}");
}

/// A queue of 83 packets holds several times as many segments, and its drops are of super-packets or of what was
/// sent again.
#[test]
fn a_limit_in_packets_counts_super_packets() {
    let plain = simulate(&scenario("cubic", false, 83));
    let whole = simulate(&scenario("cubic", true, 83));
    check_counts(&whole);
    let pkts = |output: &Output| output.summary.bottleneck.backlog_max_bytes as f64 / 1514.0;
    assert!((pkts(&plain) - 83.0).abs() < 1.0);
    assert!(
        (249.0..=5.0 * 83.0).contains(&pkts(&whole)),
        "{}",
        pkts(&whole)
    );
    assert!(whole.summary.flows[0].retransmitted_pkts > 0);
}

/// CAKE cuts super-packets, and so does a bucket smaller than they are: the receiver then acknowledges every second
/// segment.
#[test]
fn what_a_link_cuts_arrives_as_segments() {
    let bucket = tbf::Config {
        limit_bytes: 250_000,
        rate_bps: 45_000_000,
        burst_bytes: 3_000,
        ..tbf::Config::default()
    };
    for queue in [Queue::from(cake::Config::default()), Queue::from(bucket)] {
        let mut scenario = scenario("cubic", true, 83);
        scenario.links[0].queue = queue;
        let output = simulate(&scenario);
        check_counts(&output);
        let segments = segments_per_ack(&output);
        assert!(segments < 2.1, "{segments}");
    }
}

/// No packet is faster than the path where its delay passes in the queue, and a lone one takes the base RTT.
#[test]
fn a_delay_in_the_queue_is_part_of_the_base_rtt() {
    for (gso, limit_pkts) in [(false, 167), (true, 167)] {
        let mut scenario = scenario("cubic", gso, limit_pkts);
        scenario.links[0].delay_ns = Some(20 * NS_PER_MS);
        scenario.links[0].medium = Some(tclink_htb::Config::default().into());
        let output = simulate(&scenario);
        check_counts(&output);
        let flow = &output.summary.flows[0];
        let least_us = flow.rtt_min_us;
        assert!((40_000..40_500).contains(&least_us), "{least_us}");
        assert!(output.summary.bottleneck.utilization > 0.5);
    }
}
