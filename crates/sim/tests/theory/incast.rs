//! Many servers that answer one client at the same moment, over its one link.

use dumbbell_sim::{Amount, Group, Output, Scenario};

use crate::common::{NS_PER_MS, assert_within, bulk, dumbbell, simulate};

const LINK_RATE_BPS: u64 = 1_000_000_000;
const SERVERS: u32 = 32;
const ANSWER_BYTES: u64 = 256 * 1024;
/// Round trip within a rack.
const BASE_RTT_NS: u64 = NS_PER_MS / 10;
/// A port's buffer and its threshold (Alizadeh et al. 2010, §4.2.1 and §3.4, 1 Gbit/s).
const LIMIT_BYTES: f64 = 100e3;
const THRESHOLD_PKTS: u64 = 20;

fn incast(cc: &str, seed: u64) -> Output {
    let servers = Group {
        base_rtt_ns: BASE_RTT_NS,
        start_jitter_ns: BASE_RTT_NS,
        size_bytes: Some(ANSWER_BYTES),
        ..bulk(cc, SERVERS, 1)
    };
    let mut scenario = Scenario {
        seed,
        sample_interval_ns: 0,
        ..dumbbell(LINK_RATE_BPS, LIMIT_BYTES, 5, vec![servers])
    };
    let threshold = Amount::Pkts(THRESHOLD_PKTS);
    scenario.links[0].queue = scenario.links[0].queue.marking_above(threshold);
    simulate(&scenario)
}

/// When the last answer was there, over the time that the link needs for all of them.
fn slowdown(output: &Output) -> f64 {
    let flows = &output.summary.flows;
    assert!(
        flows.iter().all(|flow| flow.finished),
        "an answer is missing"
    );
    let last_us = flows.iter().map(|flow| flow.end_us).max().expect("flows");
    let link_us = f64::from(SERVERS) * ANSWER_BYTES as f64 * 8e6 / LINK_RATE_BPS as f64;
    last_us as f64 / link_us
}

/// Vasudevan et al., "Safe and effective fine-grained TCP retransmissions for datacenter
/// communication" (2009), §2: answers that overflow the client's port wait for timeouts of 200 ms, a
/// multiple of what all of them take. Alizadeh et al., "Data center TCP (DCTCP)" (2010), §4.2.1: with
/// DCTCP and a static port of 100 kB there are none up to about 35 servers.
#[test]
fn answers_collapse_but_not_with_dctcp() {
    for seed in 1..=3 {
        for (cc, expected) in [
            ("reno", 2.0..=10.0),
            ("cubic", 2.0..=10.0),
            // Headers are 4.5 %.
            ("dctcp", 1.0..=1.1),
        ] {
            let output = incast(cc, seed);
            let flows = output.summary.flows.iter();
            let timeouts: u64 = flows.filter_map(|flow| flow.rto_count).sum();
            println!(
                "{SERVERS} servers, {cc}: {:.2} × the link's time, {} drops, {timeouts} timeouts",
                slowdown(&output),
                output.summary.bottleneck.dropped_pkts
            );
            assert_within(&format!("{cc}'s slowdown"), slowdown(&output), expected);
            assert_eq!(timeouts == 0, cc == "dctcp", "timeouts of {cc}: {timeouts}");
        }
    }
}
