//! Short flows: how long one takes alone, and how much longer among others.

use dumbbell_app::traffic::{TrafficConfig, deterministic, poisson};
use dumbbell_app::{Distribution, distribution};
use dumbbell_net::queue::fq_codel;
use dumbbell_sim::{Group, Host, Limit, Output, Queue, Scenario};

use crate::common::{
    MSS_BYTES, NS_PER_MS, NS_PER_S, PACKET_BYTES, assert_near, assert_within, bulk, column, mean,
    simulate,
};

/// Flow completion times, µs; every transfer has ended.
fn completion_times_us(output: &Output) -> Vec<f64> {
    let start_us = column(output, "transfers", "start_us");
    let end_us = column(output, "transfers", "end_us");
    let times_us = end_us.iter().zip(start_us).map(|(end, start)| end - start);
    times_us.filter(|time_us| !time_us.is_nan()).collect()
}

fn over(link_rate_bps: u64, queue: Queue, duration_s: u64, group: Group) -> Output {
    simulate(&Scenario {
        seed: 1,
        duration_ns: duration_s * NS_PER_S,
        groups: vec![group],
        ..Scenario::dumbbell(link_rate_bps, queue)
    })
}

fn one_flow(size_bytes: u64) -> TrafficConfig {
    let config = deterministic::Config {
        gap_ns: NS_PER_S,
        size_bytes: Distribution::Constant(size_bytes),
        strata: 1,
        count: Some(1),
    };
    config.into()
}

/// From the SYN to the ACK of the last byte, alone, from a window of 10 (RFC 6928): the handshake, and
/// as many rounds as doubling windows need for n segments, ⌈log₂(n/10 + 1)⌉ (Dukkipati et al., "An
/// argument for increasing TCP's initial congestion window", 2010, §2). Packets follow each other at
/// the link's rate: in each round one packet is waited for, in the last all of its packets.
#[test]
fn one_flow_takes_its_slow_start_rounds() {
    const LINK_RATE_BPS: u64 = 1_000_000_000;
    const BASE_RTT_MS: u64 = 40;
    let packet_ms = PACKET_BYTES * 8e3 / LINK_RATE_BPS as f64;
    for segments in [1_u64, 9, 10, 11, 30, 31, 70, 71, 150, 310, 630, 631] {
        for cc in ["reno", "cubic", "dctcp"] {
            let group = Group {
                traffic: one_flow(segments * u64::from(MSS_BYTES)),
                host: Host {
                    delayed_ack: false,
                    tso: false,
                    ..Host::default()
                },
                ..bulk(cc, 1, BASE_RTT_MS)
            };
            let queue = Queue::drop_tail(Limit::Packets(10_000));
            let output = over(LINK_RATE_BPS, queue, 2, group);
            let [time_us] = completion_times_us(&output)[..] else {
                panic!("one flow");
            };
            let rounds = (segments as f64 / 10.0 + 1.0).log2().ceil();
            let before_last = 10.0 * ((rounds - 1.0).exp2() - 1.0);
            let in_last = segments as f64 - before_last;
            let waited_ms = (rounds - 1.0 + in_last) * packet_ms;
            let expected_ms = (1.0 + rounds) * BASE_RTT_MS as f64 + waited_ms;
            println!("{cc}, {segments} segments: {time_us} µs, expected {expected_ms:.3} ms");
            assert_within(
                "flow completion time, ms",
                time_us / 1e3,
                expected_ms - 0.01..=expected_ms + 0.01,
            );
        }
    }
}

/// Kleinrock, "Queueing Systems", vol. 2 (1976), §4.4: where all flows share a link's rate equally,
/// each takes 1/(1 − ρ) times as long as alone, with any distribution of sizes. FQ-CoDel shares it
/// packet by packet, and hosts fill the link as the round trip is shorter than a packet.
#[test]
fn fair_queueing_slows_flows_as_processor_sharing_does() {
    const LINK_RATE_BPS: u64 = 100_000_000;
    const MEAN_BYTES: u64 = 150_000;
    let exponential = distribution::exponential::Config {
        mean: MEAN_BYTES,
        max: None,
    };
    let sizes: [(&str, Distribution); 2] = [
        ("constant", Distribution::Constant(MEAN_BYTES)),
        ("exponential", exponential.into()),
    ];
    for (name, size_bytes) in sizes {
        for load in [0.3, 0.5] {
            let wire_bits = MEAN_BYTES as f64 / f64::from(MSS_BYTES) * PACKET_BYTES * 8.0;
            let gap_s = wire_bits / (load * LINK_RATE_BPS as f64);
            let traffic = poisson::Config {
                gap_ns: (gap_s * 1e9) as u64,
                size_bytes: size_bytes.clone(),
                strata: 1,
                count: None,
            };
            let group = Group {
                traffic: traffic.into(),
                base_rtt_ns: NS_PER_MS / 20,
                host: Host {
                    rwnd_bytes: 200_000,
                    delayed_ack: false,
                    ..Host::default()
                },
                ..bulk("reno", 1, 1)
            };
            let queue = fq_codel::Config {
                perfect_hash: true,
                target_ns: NS_PER_S,
                ..fq_codel::Config::default()
            };
            let output = over(LINK_RATE_BPS, queue.into(), 200, group);
            assert_eq!(output.summary.bottleneck.dropped_pkts, 0);
            let times_us = completion_times_us(&output);
            let alone_us = 100.0 + wire_bits / LINK_RATE_BPS as f64 * 1e6;
            let slowdown = mean(times_us.iter().copied()) / alone_us;
            let found = output.summary.bottleneck.utilization;
            println!(
                "{name}: {} flows at {load} ({found:.3}): slowdown {slowdown:.3}",
                times_us.len()
            );
            assert_near("slowdown", slowdown, 1.0 / (1.0 - found), 0.1);
        }
    }
}
