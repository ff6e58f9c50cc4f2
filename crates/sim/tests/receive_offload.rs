//! Receive offload in whole runs: an ACK per aggregate, and congestion control algorithms that fill the link with them.

use crate::common::{NS_PER_MS, bulk, dumbbell, simulate};
use dumbbell_sim::{Group, Host, Link, Output, Scenario};

/// One flow at 1 Gbit/s and 20 ms, where a packet takes 12.1 µs; its ACKs cross a link where they are counted.
fn scenario(cc: &str, gro_ns: u64) -> Scenario {
    let group = Group {
        host: Host {
            gro_ns,
            ..Host::default()
        },
        ..bulk(cc, 1, 20)
    };
    let mut scenario = dumbbell(1_000_000_000, 2.5e6, 5, vec![group]);
    let up = Link {
        name: "up".to_owned(),
        ..scenario.links[0].clone()
    };
    scenario.groups[0].route = vec![scenario.links[0].name.clone()];
    scenario.groups[0].back = vec![up.name.clone()];
    scenario.links.push(up);
    scenario
}

/// Data packets that arrived per ACK.
fn pkts_per_ack(output: &Output) -> f64 {
    let up = output.summary.links.iter().find(|link| link.name == "up");
    output.summary.flows[0].arrived_pkts as f64 / up.expect("it is there").offered_pkts as f64
}

#[test]
fn a_bulk_flow_has_an_ack_per_aggregate_and_still_fills_the_link() {
    for cc in ["cubic", "bbr", "bbr3"] {
        let plain = simulate(&scenario(cc, 0));
        let without = plain.summary.bottleneck.utilization;
        for (gro_us, pkts) in [(50, 5.0), (200, 17.0), (1000, 45.0)] {
            let output = simulate(&scenario(cc, gro_us * NS_PER_MS / 1000));
            let (found, used) = (pkts_per_ack(&output), output.summary.bottleneck.utilization);
            // What arrives within the time at the link's rate; each ms of the sender's clock begins another one.
            assert!((0.5 * pkts..=1.05 * pkts).contains(&found), "{found}");
            assert!(used > without - 0.03, "{used}");
            assert_eq!(output.summary.flows[0].rto_count, Some(0));
        }
        assert!(pkts_per_ack(&plain) < 2.1, "{}", pkts_per_ack(&plain));
    }
}

/// Where nothing joins what is held the link is used as without.
#[test]
fn a_hold_that_nothing_joins_changes_little() {
    let plain = simulate(&dumbbell(50_000_000, 1e5, 5, vec![bulk("cubic", 2, 20)]));
    let group = Group {
        host: Host {
            gro_ns: 1, // nothing arrives within a nanosecond
            ..Host::default()
        },
        ..bulk("cubic", 2, 20)
    };
    let held = simulate(&dumbbell(50_000_000, 1e5, 5, vec![group]));
    let share = |output: &Output| output.summary.bottleneck.utilization;
    assert!((share(&plain) - share(&held)).abs() < 0.01);
}
