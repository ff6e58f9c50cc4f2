//! nagi's queue among its own kind, a share against BBR without a longer queue, and its way back.

use dumbbell_sim::{Group, Output};

use crate::common::{
    NS_PER_S, PACKET_BYTES, US_PER_S, assert_within, bulk, column, dumbbell, goodput_bps, mean,
    simulate,
};

const LINK_RATE_BPS: u64 = 50_000_000;
const BASE_RTT_MS: u64 = 40;

fn simulated(buffer_bdp: f64, duration_s: u64, groups: Vec<Group>) -> Output {
    let bdp_bytes = LINK_RATE_BPS as f64 / 8e3 * BASE_RTT_MS as f64;
    simulate(&dumbbell(
        LINK_RATE_BPS,
        buffer_bdp * bdp_bytes,
        duration_s,
        groups,
    ))
}

/// Mean time that a packet would wait between two times, ms.
fn queueing_ms(output: &Output, from_s: f64, to_s: f64) -> f64 {
    let time_us = column(output, "queue", "time_us");
    let backlog = column(output, "queue", "backlog_bytes");
    let between = (from_s * US_PER_S)..(to_s * US_PER_S);
    let rows = time_us.iter().zip(backlog);
    let rows = rows.filter(|(time_us, _)| between.contains(*time_us));
    mean(rows.map(|(_, bytes)| bytes * 8e3 / LINK_RATE_BPS as f64))
}

/// In equilibrium w (1 − base/RTT) = c √(rate T₀), so N flows queue c √(N T₀/C): docs/notes/nagi.md. The law is of a fluid: on top
/// come the packet on the wire and one or two of a burst, 0.24 ms each, and the steps of the velocity.
#[test]
fn its_own_kind_queues_by_the_root_of_its_number() {
    let pkts_per_s = LINK_RATE_BPS as f64 / (8.0 * PACKET_BYTES);
    for flows in [1_u32, 4, 16] {
        let output = simulated(10.0, 60, vec![bulk("nagi", flows, BASE_RTT_MS)]);
        let law_ms = 0.28 * (f64::from(flows) * 0.04 / pkts_per_s).sqrt() * 1e3;
        let waits_ms = queueing_ms(&output, 20.0, 60.0);
        let link = &output.summary.bottleneck;
        println!(
            "{flows} flows: {waits_ms:.2} ms wait, {law_ms:.2} by the law, {:.1} % used",
            100.0 * link.utilization
        );
        assert_within("the queue, ms", waits_ms, 0.75 * law_ms..=law_ms + 0.75);
        assert!(link.utilization > 0.97 && link.dropped_pkts == 0);
    }
}

/// BBR keeps twice its estimate in flight for any buffer (Ware et al., IMC 2019), so that a flow that grows until it loses fills all of
/// it: 2.56 s here, as CUBIC does. A flow that stops at half of what is in flight has a share without that, from a fifth to half of the link by
/// how both start.
#[test]
fn next_to_bbr_it_has_a_share_and_leaves_a_deep_buffer_empty() {
    let groups = |cc| vec![bulk(cc, 1, BASE_RTT_MS), bulk("bbr", 1, BASE_RTT_MS)];
    let output = simulated(64.0, 160, groups("nagi"));
    let share = goodput_bps(&output, "nagi") / LINK_RATE_BPS as f64;
    let waits_ms = queueing_ms(&output, 40.0, 160.0);
    let cubic_ms = queueing_ms(&simulated(64.0, 160, groups("cubic")), 40.0, 160.0);
    println!("share {share:.2}, {waits_ms:.0} ms wait; next to CUBIC {cubic_ms:.0} ms");
    assert_within("share", share, 0.15..=0.6);
    assert!(waits_ms < 200.0 && cubic_ms > 1000.0);
}

/// CUBIC fills 4 BDP until it stops after a minute; two own flows then find that the queue is theirs.
#[test]
fn when_cubic_leaves_the_queue_goes_with_it() {
    let cubic = Group {
        stop_ns: Some(60 * NS_PER_S),
        ..bulk("cubic", 1, BASE_RTT_MS)
    };
    let output = simulated(4.0, 90, vec![bulk("nagi", 2, BASE_RTT_MS), cubic]);
    let (before_ms, after_ms) = (
        queueing_ms(&output, 40.0, 60.0),
        queueing_ms(&output, 70.0, 90.0),
    );
    println!("{before_ms:.0} ms wait before, {after_ms:.1} ms after");
    assert!(before_ms > 60.0);
    assert!(after_ms < 5.0);
    assert!(output.summary.bottleneck.utilization > 0.97);
}

/// In 1 BDP BBR loses a tenth of its packets and does not mind (Ware et al., IMC 2019), and flows that halve are left with an eighth of a fair
/// share. BBR gives itself away by ProbeRTT. Next to CUBIC, whose cuts empty half a BDP too, losses count.
#[test]
fn next_to_bbr_in_a_shallow_buffer_it_ignores_losses_and_next_to_cubic_it_does_not() {
    let share = |cc, buffer_bdp| {
        let groups = vec![bulk("nagi", 4, BASE_RTT_MS), bulk(cc, 4, BASE_RTT_MS)];
        goodput_bps(&simulated(buffer_bdp, 80, groups), "nagi") / (LINK_RATE_BPS as f64 / 2.0)
    };
    let (bbr, cubic) = (share("bbr", 1.0), share("cubic", 0.5));
    println!("{bbr:.2} of a fair share next to BBR, {cubic:.2} next to CUBIC");
    assert_within("share next to BBR", bbr, 0.35..=1.25);
    assert_within("share next to CUBIC", cubic, 0.5..=1.25);
}
