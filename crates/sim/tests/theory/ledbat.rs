//! LEDBAT adds its target to the path's delay when alone, and leaves the link to flows that fill the queue.

use dumbbell_sim::{Group, Output};

use crate::common::{
    MSS_BYTES, NS_PER_S, PACKET_BYTES, US_PER_S, assert_within, bulk, column, dumbbell,
    goodput_bps, mean, simulate, with_params,
};

const LINK_RATE_BPS: u64 = 20_000_000;
const BASE_RTT_MS: u64 = 40;

/// A bottleneck with room for this much delay.
fn simulated(room_ms: u64, duration_s: u64, groups: Vec<Group>) -> Output {
    let limit_bytes = LINK_RATE_BPS as f64 / 8e3 * room_ms as f64;
    simulate(&dumbbell(LINK_RATE_BPS, limit_bytes, duration_s, groups))
}

fn ledbat(target_ms: i64) -> Group {
    let params = [("target_us", 1000 * target_ms)];
    with_params(bulk("ledbat", 1, BASE_RTT_MS), &params)
}

/// Mean time that a packet would wait, from `from_s` on, ms.
fn queueing_ms(output: &Output, from_s: f64) -> f64 {
    let time_us = column(output, "queue", "time_us");
    let backlog = column(output, "queue", "backlog_bytes");
    let settled = time_us.iter().zip(backlog);
    let settled = settled.filter(|(time_us, _)| **time_us > from_s * US_PER_S);
    mean(settled.map(|(_, bytes)| bytes * 8e3 / LINK_RATE_BPS as f64))
}

/// RFC 6817 §2.1: in the steady state off_target is 0. Half a window's growth lasts as many round trips as the target
/// holds packets, 165 of 140 ms at 100 ms, so three minutes settle it. Four packets (2.4 ms) either way: one is on the
/// wire, and the smallest of four delays is taken.
#[test]
fn a_lone_flow_adds_its_target_to_the_delay() {
    for target_ms in [5, 25, 100] {
        let output = simulated(400, 240, vec![ledbat(target_ms)]);
        let waits_ms = queueing_ms(&output, 180.0);
        let link = &output.summary.bottleneck;
        println!(
            "target {target_ms} ms: {waits_ms:.2} ms wait, {:.1} % used",
            100.0 * link.utilization
        );
        let packets_ms = 4.0 * PACKET_BYTES * 8e3 / LINK_RATE_BPS as f64;
        let around_target = target_ms as f64 - packets_ms..=target_ms as f64 + packets_ms;
        assert_within("the queue, ms", waits_ms, around_target);
        assert!(link.utilization > 0.95 && link.dropped_pkts == 0);
    }
}

/// RFC 6817 §3.2.2: Reno's queue is between (240/2 − 40) = 80 and 200 ms, so above a target of 50 ms all the
/// time, and what remains is MIN_CWND, two packets per round trip.
#[test]
fn next_to_reno_in_a_queue_beyond_the_target_two_packets_remain() {
    let output = simulated(200, 120, vec![bulk("reno", 1, BASE_RTT_MS), ledbat(50)]);
    let flow = &output.summary.flows[1];
    let least_bps = 2.0 * 8.0 * f64::from(MSS_BYTES) / (flow.rtt_mean_us / US_PER_S);
    let ratio = flow.goodput_bps / least_bps;
    println!(
        "next to Reno: {:.0} kbit/s, {ratio:.2} times two packets per round trip; Reno {:.1} Mbit/s",
        flow.goodput_bps / 1e3,
        goodput_bps(&output, "reno") / 1e6
    );
    // It begins with the link to share, in Reno's slow start.
    assert_within("two packets per round trip", ratio, 0.8..=1.3);
    assert!(output.summary.bottleneck.utilization > 0.98);
}

/// RFC 6817 §3.3: a queue shorter than the target never slows it down, so it is Reno with a gain of 1 − queue/target.
/// Losses are shared, so windows are about as their growth: 1 − 5/100 on average, and half at least.
#[test]
fn in_a_queue_below_the_target_it_competes_like_reno() {
    let output = simulated(10, 240, vec![bulk("reno", 1, BASE_RTT_MS), ledbat(100)]);
    let [reno, ledbat] = [0, 1].map(|flow| output.summary.flows[flow].goodput_bps);
    println!("queue of 10 ms: LEDBAT:Reno {:.2}", ledbat / reno);
    assert_within("LEDBAT:Reno", ledbat / reno, 0.5..=1.5);
}

/// RFC 6817 §4.4 names it, and LEDBAT++ is about it: a flow that begins while another holds its target takes that queue for the path, and
/// adds its own target on top, before which the first withdraws.
#[test]
fn a_latecomer_takes_the_link() {
    let late = Group {
        start_ns: 60 * NS_PER_S,
        ..ledbat(25)
    };
    let output = simulated(400, 300, vec![ledbat(25), late]);
    let time_us = column(&output, "flows", "time_us");
    let flow = column(&output, "flows", "flow");
    let cwnd_pkts = column(&output, "flows", "cwnd_pkts");
    let settled_pkts = |number: f64| {
        let rows = (time_us.iter().zip(&flow)).zip(&cwnd_pkts);
        let own =
            rows.filter(|((time_us, flow), _)| **flow == number && **time_us > 240.0 * US_PER_S);
        mean(own.map(|(_, cwnd_pkts)| *cwnd_pkts))
    };
    let (first, second) = (settled_pkts(0.0), settled_pkts(1.0));
    let waits_ms = queueing_ms(&output, 240.0);
    println!("first {first:.1} packets, second {second:.1}; {waits_ms:.1} ms wait");
    assert!(second > 5.0 * first);
    assert_within("the queue, ms", waits_ms, 40.0..=55.0);
}
