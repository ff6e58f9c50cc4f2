//! Vegas keeps a few packets queued.

use dumbbell_sim::{Group, Host, Output};

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
        host: Host {
            tso: false,
            delayed_ack: false,
            ..Host::default()
        },
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

/// Each of several flows believes that alpha (2) to beta (4) packets of its own wait. More do: a flow whose
/// first packets wait behind the others' takes that for propagation (Low, Peterson, Wang 2002, §V).
#[test]
fn each_of_several_flows_sees_alpha_to_beta_of_its_own() {
    for flows in [2, 4, 8] {
        let output = simulated(smooth(flows));
        let time_us = column(&output, "state-0-vegas", "time_us");
        let diff_pkts = column(&output, "state-0-vegas", "diff_pkts");
        let settled = time_us.iter().zip(diff_pkts);
        let seen = mean(
            settled
                .filter(|(time_us, _)| **time_us > SETTLED_S * US_PER_S)
                .map(|(_, diff_pkts)| diff_pkts),
        );
        let queued = backlog_pkts(&output) / f64::from(flows);
        let jain = jain(&output.summary.flows);
        println!("{flows} flows: each sees {seen:.2} packets, {queued:.2} wait, Jain {jain:.3}");
        assert_within("what a flow sees", seen, 1.5..=4.5);
        assert!(queued > 1.5, "{queued} packets of each wait");
    }
}
