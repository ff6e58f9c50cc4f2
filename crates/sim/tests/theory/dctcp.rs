//! DCTCP and classic ECN on a bottleneck that marks above a threshold.

use dumbbell_sim::{Amount, Group, Host, Output, Scenario};

use crate::common::{
    PACKET_BYTES, US_PER_S, assert_near, assert_within, bdp_bytes, bulk, column, dumbbell, mean,
    simulate,
};

const LINK_RATE_BPS: u64 = 100_000_000;
const BASE_RTT_MS: u64 = 10;
/// Slow start is over.
const SETTLED_S: f64 = 5.0;

/// A buffer of 10 BDP that marks above `threshold_pkts`.
fn marking(threshold_pkts: u64, groups: Vec<Group>) -> Output {
    let limit_bytes = 10.0 * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    let mut scenario: Scenario = dumbbell(LINK_RATE_BPS, limit_bytes, 30, groups);
    let threshold = Amount::Pkts(threshold_pkts);
    scenario.links[0].queue = scenario.links[0].queue.marking_above(threshold);
    simulate(&scenario)
}

/// Flows that send packet by packet, as the fluid model does.
fn smooth(cc: &str, flows: u32) -> Group {
    Group {
        host: Host {
            tso: false,
            delayed_ack: false,
            ..Host::default()
        },
        ..bulk(cc, flows, BASE_RTT_MS)
    }
}

/// The queue's samples after slow start, packets.
fn backlog_pkts(output: &Output) -> Vec<f64> {
    let time_us = column(output, "queue", "time_us");
    let backlog = column(output, "queue", "backlog_bytes");
    let settled = time_us.iter().zip(&backlog);
    settled
        .filter(|(time_us, _)| **time_us > SETTLED_S * US_PER_S)
        .map(|(_, bytes)| bytes / PACKET_BYTES)
        .collect()
}

/// Alizadeh et al., "Data center TCP (DCTCP)" (2010), §3.3: N synchronised flows make a sawtooth
/// below Q_max = K + N of amplitude A = ½·√(2·N·(C·RTT + K)), and need K > C·RTT/7 to keep the link
/// busy. Flows of a simulator are not all synchronised, so the amplitude is at most that.
#[test]
fn the_queue_stays_at_the_threshold() {
    let bdp_pkts = bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS) / PACKET_BYTES;
    for (flows, threshold_pkts) in [(1, 20), (2, 20), (4, 40), (8, 40)] {
        let output = marking(threshold_pkts, vec![smooth("dctcp", flows)]);
        let backlog = backlog_pkts(&output);
        let highest = backlog.iter().copied().fold(0.0, f64::max);
        let (k, n) = (threshold_pkts as f64, f64::from(flows));
        let amplitude = 0.5 * (2.0 * n * (bdp_pkts + k)).sqrt();
        let link = &output.summary.bottleneck;
        println!(
            "{flows} flows, K {k}: queue mean {:.1}, max {highest:.1} pkts, amplitude by theory \
             {amplitude:.1}, used {:.4}, marked {:.2} %",
            mean(backlog.iter().copied()),
            link.utilization,
            100.0 * link.marked_pkts.unwrap_or(0) as f64 / link.forwarded_pkts as f64
        );
        // Q_max; a packet per flow more, because a sample may fall between two arrivals.
        assert_within("the highest queue", highest, k..=k + n + 1.0);
        assert_within(
            "the mean queue",
            mean(backlog),
            (k - amplitude).max(0.0)..=k + n,
        );
        assert_eq!(link.dropped_pkts, 0);
        assert!(link.utilization > 0.98, "used {}", link.utilization);
    }
}

/// The same paper, §3.3: a lone flow's α settles where what is marked per period is what α says:
/// α ≈ √(2 / W), W = C·RTT + K packets. 25 %: that is for small α, and α moves.
#[test]
fn alpha_settles_at_the_root_of_two_over_the_window() {
    let bdp_pkts = bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS) / PACKET_BYTES;
    let output = marking(20, vec![smooth("dctcp", 1)]);
    let time_us = column(&output, "state-0-dctcp", "time_us");
    let alpha = column(&output, "state-0-dctcp", "alpha");
    let settled = time_us.iter().zip(alpha);
    let alpha = mean(
        settled
            .filter(|(time_us, _)| **time_us > SETTLED_S * US_PER_S)
            .map(|(_, alpha)| alpha),
    );
    let expected = (2.0 / (bdp_pkts + 20.0)).sqrt();
    println!("alpha {alpha:.3}, expected {expected:.3}");
    assert_near("alpha", alpha, expected, 0.25);
}

/// RFC 3168 §6.1.2: a classic flow halves its window at a mark as it would at a loss, and loses
/// nothing. The packet that says so by CWR leaves at once (RFC 9937), finds the queue still above the
/// threshold, and is marked itself: when its ACK echoes that, the window is halved once more.
#[test]
fn classic_ecn_makes_a_sawtooth_without_a_loss_twice_as_deep() {
    let reno = Group {
        host: Host {
            ecn: true.into(),
            ..smooth("reno", 1).host
        },
        ..smooth("reno", 1)
    };
    let output = marking(100, vec![reno]);
    let flow = &output.summary.flows[0];
    assert_eq!((flow.dropped_pkts, flow.retransmitted_pkts), (0, 0));
    let pipe_pkts = bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS) / PACKET_BYTES + 100.0;
    let time_us = column(&output, "flows", "time_us");
    let cwnd_pkts = column(&output, "flows", "cwnd_pkts");
    let settled = time_us.iter().zip(cwnd_pkts);
    let cwnd_pkts: Vec<f64> = settled
        .filter(|(time_us, _)| **time_us > SETTLED_S * US_PER_S)
        .map(|(_, cwnd_pkts)| cwnd_pkts)
        .collect();
    let highest = cwnd_pkts.iter().copied().fold(0.0, f64::max);
    let lowest = cwnd_pkts.iter().copied().fold(f64::MAX, f64::min);
    assert_near("the highest cwnd", highest, pipe_pkts, 0.03);
    assert_near("the lowest cwnd", lowest, highest / 4.0, 0.05);
    // Marks come for a round trip, twice per sawtooth.
    let marked = flow.marked_pkts.expect("the bottleneck marks") as f64 / flow.sent_pkts as f64;
    assert_within("the marked share", marked, 0.0001..=0.02);
}

/// Without ECN on the flow the threshold means nothing: the buffer fills.
#[test]
fn a_flow_without_ecn_is_not_marked() {
    let output = marking(20, vec![smooth("reno", 1)]);
    let flow = &output.summary.flows[0];
    assert_eq!(flow.marked_pkts, Some(0));
    assert!(flow.dropped_pkts > 0 && output.summary.bottleneck.marked_pkts == Some(0));
}
