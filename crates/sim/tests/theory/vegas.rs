//! Vegas keeps a few packets queued.

use dumbbell_sim::{Group, Output};

use crate::common::{
    PACKET_BYTES, US_PER_S, assert_within, bdp_bytes, bulk, column, dumbbell, jain, mean, simulate,
    with_params,
};

const LINK_RATE_BPS: u64 = 20_000_000;
const BASE_RTT_MS: u64 = 40;
const SETTLED_S: f64 = 60.0;

fn simulated(group: Group) -> Output {
    let limit_bytes = 4.0 * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    simulate(&dumbbell(LINK_RATE_BPS, limit_bytes, 120, vec![group]))
}

/// Flows that send packet by packet: bursts and delayed ACKs move the RTT by packets of their own.
fn smooth(flows: u32) -> Group {
    Group {
        tso: false,
        delayed_ack: false,
        ..bulk("vegas", flows, BASE_RTT_MS)
    }
}

/// Mean of the queue after slow start, packets.
fn backlog_pkts(output: &Output) -> f64 {
    let time_us = column(output, "queue", "time_us");
    let backlog = column(output, "queue", "backlog_bytes");
    let settled = time_us.iter().zip(backlog);
    mean(
        settled
            .filter(|(time_us, _)| **time_us > SETTLED_S * US_PER_S)
            .map(|(_, bytes)| bytes / PACKET_BYTES),
    )
}

/// Brakmo and Peterson (1995) §3.2: between alpha and beta packets of a flow wait. The one on the wire
/// is not in the queue but in the RTT: one packet of room below, per run.
#[test]
fn a_lone_flow_keeps_alpha_to_beta_packets_queued() {
    for (alpha, beta) in [(2, 4), (10, 12), (20, 30)] {
        let params = [("alpha_pkts", alpha), ("beta_pkts", beta)];
        let output = simulated(with_params(smooth(1), &params));
        let queued = backlog_pkts(&output);
        println!("alpha {alpha}, beta {beta}: {queued:.2} packets wait");
        assert_within("the queue", queued, alpha as f64 - 1.0..=beta as f64 + 1.0);
        let link = &output.summary.bottleneck;
        assert!(link.utilization > 0.98 && link.dropped_pkts == 0);
    }
}

/// Several that start together know the same base RTT: each keeps its alpha to beta, and they share.
#[test]
fn each_of_several_flows_keeps_its_own() {
    for flows in [2, 4, 8] {
        let output = simulated(smooth(flows));
        let queued = backlog_pkts(&output) / f64::from(flows);
        let jain = jain(&output.summary.flows);
        println!("{flows} flows: {queued:.2} packets of each wait, Jain {jain:.3}");
        assert_within("the queue per flow", queued, 1.0..=5.0);
        assert!(jain > 0.9, "Jain {jain}");
    }
}
