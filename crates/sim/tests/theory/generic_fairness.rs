//! Chains of routers with groups of flows between any two: the ATM Forum's generic fairness
//! configurations (94-0557), and the two-bottleneck network of the DCTCP paper.

use dumbbell_net::queue::fq_codel;
use dumbbell_sim::{Amount, Group, Limit, Link, Output, Queue, Scenario};

use crate::common::{
    MSS_BYTES, NS_PER_MS, NS_PER_S, PACKET_BYTES, assert_near, assert_within, bulk, mean, simulate,
};

/// Flows from one router to another, and the rate of each by max-min fairness.
struct Flows {
    name: &'static str,
    flows: u32,
    from: usize,
    to: usize,
    max_min_mbps: f64,
}

const fn flows(name: &'static str, flows: u32, from: usize, to: usize, max_min_mbps: f64) -> Flows {
    Flows {
        name,
        flows,
        from,
        to,
        max_min_mbps,
    }
}

/// The rates are those of `tests/python/test_allocations.py`.
const GFC_1: (&[u64], &[Flows]) = (
    &[50, 150, 150, 100],
    &[
        flows("A", 3, 1, 4, 50.0 / 9.0),
        flows("B", 3, 2, 5, 100.0 / 9.0),
        flows("C", 3, 3, 4, 100.0 / 3.0),
        flows("D", 6, 1, 2, 50.0 / 9.0),
        flows("E", 6, 4, 5, 100.0 / 9.0),
        flows("F", 2, 2, 3, 50.0),
    ],
);
const GFC_2: (&[u64], &[Flows]) = (
    &[50, 100, 50, 150, 150, 50],
    &[
        flows("A1", 1, 1, 6, 10.0),
        flows("A2", 1, 2, 6, 10.0),
        flows("A3", 1, 3, 6, 10.0),
        flows("B1", 1, 1, 7, 5.0),
        flows("B2", 1, 2, 7, 5.0),
        flows("B3", 1, 4, 7, 5.0),
        flows("C", 3, 5, 6, 35.0),
        flows("D", 1, 1, 2, 35.0),
        flows("E", 2, 2, 3, 35.0),
        flows("F", 1, 3, 4, 10.0),
        flows("G", 7, 6, 7, 5.0),
        flows("H", 2, 4, 5, 52.5),
    ],
);
/// Every flow has it: the flows differ by their number of links alone.
const BASE_RTT_MS: u64 = 20;

fn chain(rates_mbps: &[u64], groups: &[Flows], link: &Link, cc: &str) -> Output {
    let name = |router: usize| format!("R{router}");
    simulate(&Scenario {
        seed: 1,
        duration_ns: 30 * NS_PER_S,
        links: (1..)
            .zip(rates_mbps)
            .map(|(router, rate_mbps)| Link {
                name: name(router),
                link_rate_bps: rate_mbps * 1_000_000,
                ..link.clone()
            })
            .collect(),
        groups: groups
            .iter()
            .map(|group| Group {
                route: (group.from..group.to).map(name).collect(),
                start_jitter_ns: 100 * NS_PER_MS,
                ..bulk(cc, group.flows, BASE_RTT_MS)
            })
            .collect(),
        ..Scenario::default()
    })
}

/// Mean rate on the wire of a group's flows, Mbit/s.
fn rate_mbps(output: &Output, group: usize) -> f64 {
    let of_group = output
        .summary
        .flows
        .iter()
        .filter(|flow| flow.group as usize == group);
    let goodput_bps = mean(of_group.map(|flow| flow.goodput_bps));
    goodput_bps * PACKET_BYTES / f64::from(MSS_BYTES) / 1e6
}

fn assert_max_min((rates_mbps, groups): (&[u64], &[Flows]), tolerance: f64) {
    let fair = Link {
        delay_ns: Some(NS_PER_MS),
        queue: fq_codel::Config {
            perfect_hash: true,
            ..fq_codel::Config::default()
        }
        .into(),
        ..Link::default()
    };
    let output = chain(rates_mbps, groups, &fair, "cubic");
    for (index, group) in groups.iter().enumerate() {
        println!(
            "{}: {:.2} Mbit/s per flow, max-min {:.2}",
            group.name,
            rate_mbps(&output, index),
            group.max_min_mbps
        );
    }
    for (index, group) in groups.iter().enumerate() {
        let what = format!("{}'s rate", group.name);
        assert_near(
            &what,
            rate_mbps(&output, index),
            group.max_min_mbps,
            tolerance,
        );
    }
}

/// Fair queues at each link make flows that fill their queues max-min fair.
#[test]
fn the_first_generic_configuration_is_max_min_fair() {
    assert_max_min(GFC_1, 0.05);
}

#[test]
fn the_second_generic_configuration_is_max_min_fair() {
    assert_max_min(GFC_2, 0.05);
}

/// Propagation of one cable, 10 µs.
const CABLE_NS: u64 = 10_000;

/// Alizadeh et al., "Data center TCP (DCTCP)" (2010), §4.1 (Figure 17): S1 (10 senders) and S2 (20) cross a link of 10 Gbit/s, then S1 and S3
/// (10) one of 1 Gbit/s. The paper has 46, 475 and 54 Mbit/s per flow; max-min is 50, 475 and 50, proportional fairness
/// 47.4, 476 and 52.6. Bounds are wide because shares depend on the thresholds.
#[test]
fn dctcp_shares_two_bottlenecks_as_published() {
    let link = |name: &str, gbps: u64, threshold_pkts| Link {
        name: name.to_owned(),
        link_rate_bps: gbps * 1_000_000_000,
        delay_ns: Some(CABLE_NS),
        queue: Queue::drop_tail(Limit::Bytes(1_000_000))
            .marking_above(Amount::Pkts(threshold_pkts)),
        ..Link::default()
    };
    let senders = |flows, cables: u64, route: &[&str]| Group {
        base_rtt_ns: 2 * cables * CABLE_NS,
        start_jitter_ns: 10 * NS_PER_MS,
        route: route.iter().map(|&name| name.to_owned()).collect(),
        ..bulk("dctcp", flows, 1)
    };
    let output = simulate(&Scenario {
        seed: 1,
        duration_ns: NS_PER_S,
        // §3.4: 20 packets at 1 Gbit/s, 65 at 10 Gbit/s.
        links: vec![link("T1-T2", 10, 65), link("T2-R1", 1, 20)],
        groups: vec![
            senders(10, 3, &["T1-T2", "T2-R1"]),
            senders(20, 3, &["T1-T2"]),
            senders(10, 2, &["T2-R1"]),
        ],
        ..Scenario::default()
    });
    let [s1, s2, s3] = [0, 1, 2].map(|group| rate_mbps(&output, group));
    println!("S1 {s1:.1}, S2 {s2:.1}, S3 {s3:.1} Mbit/s per flow; published 46, 475, 54");
    assert_within("S1's rate", s1, 20.0..=50.0);
    assert_within("S2's rate", s2, 450.0..=500.0);
    assert_within("S1's and S3's rates", s1 + s3, 95.0..=100.5);
}
