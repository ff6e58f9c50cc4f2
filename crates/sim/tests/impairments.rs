//! What impairments do to TCP: by counts that follow from their definition, and random chains of them.

use crate::common::{NS_PER_MS, bulk, dumbbell, simulate};
use dumbbell_net::ImpairmentConfig;
use dumbbell_net::impair::{
    Side, ack_thinning, corrupt, duplicate, gilbert_elliott, jitter, reorder, route_change,
};
use dumbbell_sim::{FlowSummary, Group, Host, Output, Scenario};
use proptest::prelude::*;

/// One flow at 20 Mbit/s and 40 ms whose window leaves the link idle a fifth of the time, so that nothing waits
/// for long and nothing overflows.
fn below_the_rate(impairments: Vec<ImpairmentConfig>) -> Scenario {
    let group = Group {
        host: Host {
            rwnd_bytes: 80_000,
            tso: false,
            ..Host::default()
        },
        ..bulk("cubic", 1, 40)
    };
    let mut scenario = dumbbell(20_000_000, 200_000.0, 20, vec![group]);
    scenario.links[0].impairments = impairments;
    scenario
}

fn flow(output: &Output) -> &FlowSummary {
    &output.summary.flows[0]
}

/// Each copy of a data packet arrives, and is nothing to the receiver but a duplicate that it reports (RFC 2883).
#[test]
fn duplicates_arrive_and_cost_no_goodput() {
    let plain = simulate(&below_the_rate(Vec::new()));
    let twice = simulate(&below_the_rate(vec![ImpairmentConfig::from(
        duplicate::Config {
            probability_ppb: 20_000_000,
            ..duplicate::Config::default()
        },
    )]));
    let counts = flow(&twice);
    let copies = counts.duplicated_pkts.expect("some were copied");
    let expected = counts.sent_pkts as f64 * 0.02;
    assert!(
        (copies as f64 - expected).abs() <= 4.0 * expected.sqrt(),
        "{copies}, {expected}"
    );
    let duplicates = counts.duplicate_pkts.expect("the receiver counts them");
    assert!(
        duplicates <= copies && copies <= duplicates + counts.on_path_pkts,
        "{duplicates} of {copies} copies reached the receiver"
    );
    assert_eq!(
        counts.sent_pkts + copies,
        counts.arrived_pkts + counts.on_path_pkts
    );
    assert_eq!((counts.retransmitted_pkts, counts.rto_count), (0, Some(0)));
    let ratio = counts.goodput_bps / flow(&plain).goodput_bps;
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
    assert_eq!(twice.summary.links[0].duplicated_pkts, Some(copies));
}

/// RACK waits a quarter of the smallest RTT once it has seen reordering (RFC 8985 §6.2): what comes late by
/// less is not retransmitted; the first may be, since it is how the sender learns that the path reorders.
#[test]
fn displacement_below_a_quarter_of_the_rtt_is_no_loss() {
    let late = |late_ms: u64| {
        let output = simulate(&below_the_rate(vec![ImpairmentConfig::from(
            reorder::Config {
                probability_ppb: 10_000_000,
                late_ns: Some(late_ms * NS_PER_MS),
                ..reorder::Config::default()
            },
        )]));
        let counts = flow(&output);
        assert_eq!(counts.dropped_pkts, 0);
        assert_eq!(counts.retransmitted_pkts, counts.spurious_retransmits);
        (counts.retransmitted_pkts, counts.fast_recovery_count)
    };
    for late_ms in [1, 5, 9] {
        let (retransmitted_pkts, recoveries) = late(late_ms);
        assert!(
            retransmitted_pkts <= 1,
            "{late_ms} ms: {retransmitted_pkts}"
        );
        assert!(recoveries <= Some(1), "{late_ms} ms: {recoveries:?}");
    }
    // More than a whole RTT is taken for lost, however much the window grows with DSACKs.
    let (retransmitted_pkts, _) = late(100);
    assert!(retransmitted_pkts > 20, "{retransmitted_pkts}");
}

/// In order a packet is as late as the latest draw in front of it. One packet per RTT sees the mean of the draws;
/// one packet per 0.75 ms has five in front of it that came within the width of 4 ms.
#[test]
fn jitter_in_order_delays_a_dense_flow_by_the_latest_draws() {
    let jitter = ImpairmentConfig::from(jitter::Config {
        delay_ns: 2 * NS_PER_MS,
        uniform_ns: Some(2 * NS_PER_MS),
        ..jitter::Config::default()
    });
    let late_ms = |rwnd_bytes| {
        let rtt_ms = |impairments| {
            let mut scenario = below_the_rate(impairments);
            scenario.groups[0].host.rwnd_bytes = rwnd_bytes;
            scenario.groups[0].host.delayed_ack = false;
            let output = simulate(&scenario);
            let counts = flow(&output);
            assert_eq!(counts.retransmitted_pkts, 0, "nothing is reordered");
            (counts.rtt_mean_us / 1e3, counts.rtt_min_us)
        };
        let (plain_ms, plain_min_us) = rtt_ms(Vec::new());
        let (mean_ms, min_us) = rtt_ms(vec![jitter.clone()]);
        assert!(min_us >= plain_min_us, "{min_us}");
        mean_ms - plain_ms
    };
    let (sparse, dense) = (late_ms(1448), late_ms(80_000));
    // 450 draws of a deviation of 1.15 ms.
    assert!((sparse - 2.0).abs() < 0.22, "{sparse}");
    assert!(dense > 2.5 && dense < 4.0, "{dense}");
}

#[test]
fn gilbert_elliott_loses_its_share_of_packets_and_acks_are_thinned() {
    let mut scenario = below_the_rate(vec![ImpairmentConfig::from(gilbert_elliott::Config {
        loss_ppb: Some(10_000_000),
        burst_milli: Some(3_000),
        ..gilbert_elliott::Config::default()
    })]);
    scenario.duration_ns *= 10;
    let output = simulate(&scenario);
    let link = &output.summary.links[0];
    let share = link.random_loss_pkts.unwrap_or(0) as f64 / link.offered_pkts as f64;
    let bursts = link.offered_pkts as f64 * 0.01 / 3.0;
    assert!(
        (share / 0.01 - 1.0).abs() < 4.0 * (2.0 / bursts).sqrt(),
        "{share}"
    );
}

/// On its way back of its own a flow's ACKs are thinned to a quarter, and what was acknowledged by four
/// is acknowledged by one.
#[test]
fn a_quarter_of_the_acks_is_enough() {
    let mut scenario = below_the_rate(Vec::new());
    scenario.links[0].delay_ns = Some(20 * NS_PER_MS);
    let mut up = scenario.links[0].clone();
    up.name = "up".to_owned();
    up.impairments = vec![ImpairmentConfig::from(ack_thinning::Config {
        every: 4,
        ..ack_thinning::Config::default()
    })];
    scenario.groups[0].route = vec![scenario.links[0].name.clone()];
    scenario.groups[0].back = vec!["up".to_owned()];
    scenario.links.push(up);
    let output = simulate(&scenario);
    let link = output.summary.links.iter().find(|link| link.name == "up");
    let link = link.expect("it is there");
    let share = link.forwarded_pkts as f64 / link.offered_pkts as f64;
    assert!((share - 0.25).abs() < 0.01, "{share}");
    assert_eq!(flow(&output).rto_count, Some(0));
    assert!(
        flow(&output).goodput_bps > 12e6,
        "{}",
        flow(&output).goodput_bps
    );
}

/// A longer route from 5 s to 10 s: RTTs are those of both routes, and no packet overtakes another.
#[test]
fn a_route_change_moves_the_rtt_and_reorders_nothing() {
    // Ends in three phases of the RTT: at one of them the flow, which is limited by its window, may be silent.
    let changes = |reorder| -> Vec<ImpairmentConfig> {
        let change = |phase: u64| route_change::Config {
            at_ns: (3 + 3 * phase) * 1_000 * NS_PER_MS,
            until_ns: Some((5_000 + 3_023 * phase) * NS_PER_MS),
            late_ns: 30 * NS_PER_MS,
            reorder,
        };
        (0..3).map(change).map(ImpairmentConfig::from).collect()
    };
    let kept = simulate(&below_the_rate(changes(false)));
    let counts = flow(&kept);
    assert_eq!(counts.retransmitted_pkts, 0);
    assert!(counts.rtt_min_us < 42_000 && counts.rtt_max_us > 70_000);
    let reordered = simulate(&below_the_rate(changes(true)));
    let counts = flow(&reordered);
    assert_eq!(counts.dropped_pkts, 0);
    assert!(
        counts.spurious_retransmits > 0,
        "thirty ms of packets are overtaken, three quarters of an RTT"
    );
}

fn impairment() -> impl Strategy<Value = ImpairmentConfig> {
    (0..6_u8, 1_000_000..40_000_000_u64, 1..15_u64, any::<bool>()).prop_map(
        |(kind, ppb, ms, flag)| {
            let place = if flag { Side::before } else { Side::behind };
            let late_ns = ms * NS_PER_MS;
            match kind {
                0 => ImpairmentConfig::from(gilbert_elliott::Config {
                    loss_ppb: Some(ppb),
                    burst_milli: Some(1_000 + 300 * ms),
                    place,
                    ..gilbert_elliott::Config::default()
                }),
                1 => ImpairmentConfig::from(duplicate::Config {
                    probability_ppb: 10 * ppb,
                    place,
                }),
                2 => ImpairmentConfig::from(corrupt::Config {
                    probability_ppb: ppb,
                    ..corrupt::Config::default()
                }),
                3 => ImpairmentConfig::from(reorder::Config {
                    probability_ppb: 10 * ppb,
                    late_ns: Some(late_ns),
                    ..reorder::Config::default()
                }),
                4 => ImpairmentConfig::from(ack_thinning::Config {
                    every: 1 + ms,
                    keep_news: flag,
                    place,
                }),
                _ => ImpairmentConfig::from(jitter::Config {
                    normal_ns: Some(late_ns),
                    reorder: true,
                    ..jitter::Config::default()
                }),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Flows of several congestion control algorithms over a chain there and another one back: what was sent or copied
    /// was lost, arrived or is on the path, and the same happens again.
    #[test]
    fn packets_of_flows_are_conserved(
        seed in any::<u64>(),
        chains in prop::collection::vec(prop::collection::vec(impairment(), 0..5), 2..=2),
        cc in prop::sample::select(vec!["cubic", "bbr", "bbr3", "copa", "prague"]),
    ) {
        let size_bytes = Some(300_000);
        let groups = vec![bulk(cc, 2, 30), Group { size_bytes, ..bulk("reno", 2, 60) }];
        let mut scenario = dumbbell(20_000_000, 60_000.0, 3, groups);
        scenario.seed = seed;
        scenario.links[0].delay_ns = Some(10 * NS_PER_MS);
        let mut up = scenario.links[0].clone();
        up.name = "up".to_owned();
        let name = scenario.links[0].name.clone();
        scenario.links.push(up);
        for (link, chain) in scenario.links.iter_mut().zip(&chains) {
            link.impairments.clone_from(chain);
        }
        for group in &mut scenario.groups {
            group.route = vec![name.clone()];
            group.back = vec!["up".to_owned()];
        }
        let output = simulate(&scenario);
        for flow in &output.summary.flows {
            prop_assert_eq!(
                flow.sent_pkts + flow.duplicated_pkts.unwrap_or(0),
                flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts
            );
            prop_assert!(!flow.finished || flow.received_bytes == 300_000);
        }
        for link in &output.summary.links {
            let accounted = link.forwarded_pkts + link.dropped_pkts + link.left_pkts;
            prop_assert_eq!(link.offered_pkts, accounted);
        }
        let again = simulate(&scenario);
        let json = |output: &Output| serde_json::to_string(&output.summary).expect("JSON");
        prop_assert_eq!(json(&output), json(&again));
    }
}
