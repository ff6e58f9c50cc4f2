//! FQ-CoDel (RFC 8290) against what its RFC and deficit round robin say of it.

use dumbbell_net::queue::fq_codel;
use dumbbell_sim::{Group, Host, Output};

use crate::common::{NS_PER_MS, PACKET_BYTES, assert_within, bulk, dumbbell, jain, simulate};

const LINK_RATE_BPS: u64 = 50_000_000;

fn over_fq_codel(groups: Vec<Group>, config: fq_codel::Config) -> Output {
    let mut scenario = dumbbell(LINK_RATE_BPS, 0.0, 60, groups);
    scenario.sample_interval_ns = 0;
    scenario.links[0].queue = config.into();
    simulate(&scenario)
}

fn perfect() -> fq_codel::Config {
    fq_codel::Config {
        perfect_hash: true,
        ..fq_codel::Config::default()
    }
}

/// Deficit round robin: bulk flows of equal packets have equal shares, with any algorithms
/// and RTTs, as long as each keeps a queue.
#[test]
fn bulk_flows_have_equal_shares_whatever_they_are() {
    let mixes = [
        vec![bulk("cubic", 4, 40)],
        vec![bulk("reno", 2, 20), bulk("cubic", 2, 80)],
        vec![
            bulk("cubic", 1, 20),
            bulk("bbr", 1, 20),
            bulk("copa", 1, 40),
            bulk("reno", 1, 40),
        ],
        vec![bulk("bbr", 4, 20), bulk("cubic", 4, 20)],
    ];
    for groups in mixes {
        let names: Vec<_> = groups.iter().map(|group| group.cc.name.clone()).collect();
        let output = over_fq_codel(groups, perfect());
        let index = jain(&output.summary.flows);
        println!(
            "{names:?}: Jain {index:.4}, used {:.3}, median delay {} µs",
            output.summary.bottleneck.utilization, output.summary.bottleneck.queue_delay_p50_us
        );
        assert!(index >= 0.99, "{names:?}: {index}");
    }
}

/// RFC 8290 §4.2: a flow that sends less than its share is served from the new flows: it waits for
/// the packet on the wire and those of other new flows, not for a queue.
#[test]
fn a_sparse_flow_does_not_wait_behind_bulk_flows() {
    let sparse = Group {
        host: Host {
            rwnd_bytes: 1448,
            delayed_ack: false,
            ..Host::default()
        },
        ..bulk("reno", 1, 40)
    };
    let output = over_fq_codel(vec![bulk("cubic", 8, 40), sparse], perfect());
    let (bulk_flows, sparse) = output.summary.flows.split_at(8);
    let packet_us = PACKET_BYTES * 8.0 * 1e6 / LINK_RATE_BPS as f64;
    let wait_us = sparse[0].rtt_p99_us as f64 - 40_000.0;
    let bulk_us = bulk_flows[0].rtt_p50_us as f64 - 40_000.0;
    println!("the sparse flow waits {wait_us:.0} µs at p99, a bulk flow {bulk_us:.0} µs at p50");
    // Its own transmission, the packet on the wire, and of the eight those that have just become new;
    // the histogram of RTTs is 1.6 % wide.
    assert_within(
        "the sparse flow's wait, µs",
        wait_us,
        packet_us..=3.0 * packet_us + 640.0,
    );
    assert!(bulk_us > 3.0 * wait_us, "{bulk_us} against {wait_us}");
    assert_eq!(sparse[0].dropped_pkts, 0);
}

/// RFC 8290 §5.2.4: each flow's queue is a CoDel's.
#[test]
fn the_delay_of_long_flows_tends_to_the_target() {
    for flows in [1, 4, 16] {
        let output = over_fq_codel(vec![bulk("cubic", flows, 40)], perfect());
        let link = &output.summary.bottleneck;
        println!(
            "{flows} flows: median {} µs, p95 {} µs, used {:.3}",
            link.queue_delay_p50_us, link.queue_delay_p95_us, link.utilization
        );
        let most_ms = if flows > 4 { 12.0 } else { 7.5 };
        let median_ms = link.queue_delay_p50_us as f64 / 1e3;
        assert_within("the median delay, ms", median_ms, 0.5..=most_ms);
        assert!(link.utilization > 0.9, "used {}", link.utilization);
    }
}

/// A tunnel has one hash: what it carries shares one CoDel, as without fair queueing. The target is
/// long enough for flows of 80 ms to keep a queue; with 5 ms these leave theirs empty after each
/// reduction, and the others have 57 %.
#[test]
fn in_one_queue_the_shorter_rtt_wins_and_in_queues_of_their_own_it_does_not() {
    let share_of_short = |flows| {
        let groups = vec![bulk("reno", 4, 20), bulk("reno", 4, 80)];
        let config = fq_codel::Config {
            flows,
            target_ns: 30 * NS_PER_MS,
            ..perfect()
        };
        let flows = over_fq_codel(groups, config).summary.flows;
        let sum = |flows: &[dumbbell_sim::FlowSummary]| -> f64 {
            flows.iter().map(|flow| flow.goodput_bps).sum()
        };
        sum(&flows[..4]) / sum(&flows)
    };
    let (tunnel, own) = (share_of_short(1), share_of_short(1024));
    println!(
        "20 ms against 80 ms: share {tunnel:.3} in one queue, {own:.3} in queues of their own"
    );
    assert!(tunnel > 0.6, "{tunnel}");
    assert_within("the share", own, 0.45..=0.55);
}

/// Unresponsive flows do not cost the others their share: the overflow is theirs.
#[test]
fn an_overflow_hits_the_fattest_flow() {
    let config = fq_codel::Config {
        limit_pkts: 200,
        interval_ns: 10_000 * NS_PER_MS, // CoDel hardly acts
        ..perfect()
    };
    let small = Group {
        host: Host {
            rwnd_bytes: 10 * 1448,
            ..Host::default()
        },
        ..bulk("reno", 4, 40)
    };
    let output = over_fq_codel(vec![bulk("cubic", 1, 40), small], config);
    let flows = &output.summary.flows;
    assert!(flows[0].dropped_pkts > 0);
    assert!(flows[1..].iter().all(|flow| flow.dropped_pkts == 0));
}
