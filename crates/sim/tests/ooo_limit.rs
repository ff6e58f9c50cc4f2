//! A receiver that holds a limited number of segments above a hole, in whole runs.

use crate::common::{NS_PER_S, bdp_bytes, bulk, dumbbell, simulate};
use dumbbell_sim::{FlowSummary, Group, Host, Scenario};

/// BBR and CUBIC at 10 Mbit/s and 40 ms for 60 s.
fn scenario(buffer_bdp: f64, ooo_limit_pkts: Option<u32>) -> Scenario {
    let groups = ["bbr", "cubic"].map(|cc| Group {
        host: Host {
            ooo_limit_pkts,
            ..Host::default()
        },
        ..bulk(cc, 1, 40)
    });
    let limit_bytes = buffer_bdp * bdp_bytes(10_000_000, 40);
    Scenario {
        sample_interval_ns: NS_PER_S / 10,
        ..dumbbell(10_000_000, limit_bytes, 60, groups.into())
    }
}

fn of_both(flows: &[FlowSummary], count: fn(&FlowSummary) -> u64) -> u64 {
    flows.iter().map(count).sum()
}

fn ooo_dropped_pkts(flow: &FlowSummary) -> u64 {
    flow.ooo_dropped_pkts.unwrap_or(0)
}

/// What the receiver drops crosses the link twice. Nothing is lost twice over: the sender declares lost what the
/// link or the receiver dropped, but for what is not yet found out, and each is received once.
#[test]
fn what_the_receiver_drops_is_found_out_and_sent_again() {
    let output = simulate(&scenario(8.0, Some(48)));
    let flows = &output.summary.flows;
    assert!(of_both(flows, ooo_dropped_pkts) > 1000);
    for flow in flows {
        let accounted = flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts;
        assert_eq!(flow.sent_pkts, accounted);
        let (lost, found_out) = (
            flow.dropped_pkts + ooo_dropped_pkts(flow),
            flow.lost_pkts.expect("the sender counts them"),
        );
        // A window is 33 · (8 + 1) packets.
        assert!(
            (lost.saturating_sub(300)..=lost).contains(&found_out),
            "{lost} {found_out}"
        );
        assert_eq!(
            (flow.duplicate_pkts, flow.spurious_retransmits),
            (Some(0), 0)
        );
    }
    let unlimited = simulate(&scenario(8.0, None));
    let received = |flow: &FlowSummary| flow.received_bytes;
    let kept = of_both(flows, received) as f64;
    assert!(kept < 0.98 * of_both(&unlimited.summary.flows, received) as f64);
}

/// A limit that no window reaches changes nothing, and is not mentioned.
#[test]
fn a_limit_that_is_never_reached_changes_nothing() {
    let unlimited = simulate(&scenario(2.0, None));
    let limited = simulate(&scenario(2.0, Some(1000)));
    for (found, expected) in limited.summary.flows.iter().zip(&unlimited.summary.flows) {
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        assert_eq!(found.ooo_dropped_pkts, None);
    }
}
