//! What earlier kernels' BBR and CCP's agent do in whole runs (docs/bbr.md, "Earlier versions"; docs/copa.md).

use crate::common::{
    MSS_BYTES, NS_PER_MS, NS_PER_S, US_PER_S, assert_near, bdp_bytes, bulk, column, dumbbell, mean,
    simulate, with_params,
};
use dumbbell_net::ImpairmentConfig;
use dumbbell_net::impair::outage;
use dumbbell_sim::{Group, Output, Scenario};

const LINK_RATE_BPS: u64 = 50_000_000;
const BASE_RTT_MS: u64 = 40;
const INTERNAL_PACING: [(&str, i64); 3] = [
    ("pacing_margin_pct", 0),
    ("rate_header_bytes", 52),
    ("timer_burst_bytes", 32),
];

/// One BBR flow in a buffer of 8 BDP.
fn bbr(params: &[(&str, i64)]) -> Scenario {
    let group = with_params(bulk("bbr", 1, BASE_RTT_MS), params);
    Scenario {
        sample_interval_ns: NS_PER_MS,
        ..dumbbell(
            LINK_RATE_BPS,
            8.0 * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS),
            9,
            vec![group],
        )
    }
}

/// What waits, bytes, from 2 s on.
fn backlog_bytes(output: &Output) -> Vec<f64> {
    let time_us = column(output, "queue", "time_us");
    let backlog = column(output, "queue", "backlog_bytes");
    let settled = time_us.iter().zip(backlog);
    let settled = settled.filter(|(time_us, _)| **time_us > 2.0 * US_PER_S);
    settled.map(|(_, bytes)| bytes).collect()
}

/// Six phases at 3 % above the link's rate fill the queue by 7 ms, the probing phase by 11 ms, and the phase that
/// drains takes 9 ms off. So it grows until cwnd, 2 BDP, holds it: a queue of a BDP, 40 ms, where there is next to
/// none today.
#[test]
fn too_fast_a_pace_makes_a_queue() {
    let wait_ms = |params: &[(&str, i64)]| {
        let bytes = mean(backlog_bytes(&simulate(&bbr(params))));
        bytes * 8e3 / LINK_RATE_BPS as f64
    };
    let (now, then) = (wait_ms(&[]), wait_ms(&INTERNAL_PACING));
    assert!(now < 5.0 && (35.0..=45.0).contains(&then), "{now} {then}");
}

/// The pacing rate is bandwidth times gain, 1500 k/(1448 k + 32): the series of a whole run.
#[test]
fn the_pacing_rate_is_what_the_timer_made_of_it() {
    let output = simulate(&bbr(&INTERNAL_PACING));
    let rate_bps = column(&output, "flows", "pacing_rate_bps");
    let bw_bps = column(&output, "state-0-bbr", "bw_bps");
    let gain = column(&output, "state-0-bbr", "pacing_gain");
    let phase = column(&output, "state-0-bbr", "cycle_phase");
    let mut seen = 0;
    for at in 3000..rate_bps.len() {
        if gain[at] == 256.0 && phase[at] >= 3.0 {
            let segs = (rate_bps[at] / 8.0 / 1024.0 / f64::from(MSS_BYTES)).floor();
            let expected = bw_bps[at] * 1500.0 * segs / (1448.0 * segs + 32.0);
            assert_near("pacing rate", rate_bps[at], expected, 2e-3);
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen}");
}

/// Unpaced, a window's packets leave when ACKs come: bursts of more than a pacer lets through.
#[test]
fn unpaced_bbr_sends_bursts() {
    let most = |params: &[(&str, i64)]| {
        let backlog = backlog_bytes(&simulate(&bbr(params)));
        backlog.into_iter().fold(0.0, f64::max)
    };
    let (paced, unpaced) = (most(&[]), most(&[("unpaced", 1)]));
    assert!(unpaced > 2.0 * paced, "{paced} {unpaced}");
}

/// One Copa flow that loses all it sends from 5 to 6.5 s.
fn copa(params: &[(&str, i64)]) -> Output {
    let group: Group = with_params(bulk("copa", 1, BASE_RTT_MS), params);
    let mut scenario = Scenario {
        sample_interval_ns: NS_PER_MS,
        ..dumbbell(
            LINK_RATE_BPS,
            4.0 * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS),
            8,
            vec![group],
        )
    };
    scenario.links[0].impairments = vec![ImpairmentConfig::from(outage::Config {
        off_ns: 3 * NS_PER_S / 2,
        at_ns: 5 * NS_PER_S,
        ..outage::Config::default()
    })];
    simulate(&scenario)
}

/// cwnd between the first timeout, at 5.4 s, and the second, at 5.9 s.
fn cwnd_in_outage(output: &Output) -> f64 {
    let time_us = column(output, "flows", "time_us");
    let cwnd = column(output, "flows", "cwnd_pkts");
    let at = time_us.iter().position(|&us| us >= 5.6 * US_PER_S);
    cwnd[at.expect("it lasts longer")]
}

/// A timeout sets cwnd to 1; ccp-kernel's program sets it back to the window before, and a whole window is sent
/// again into the outage.
#[test]
fn at_a_timeout_the_old_window_is_written_back() {
    let (plain, ccp) = (copa(&[]), copa(&[("rto_keeps_cwnd", 1)]));
    for output in [&plain, &ccp] {
        assert!(output.summary.flows[0].rto_count > Some(1));
    }
    let (before, after) = (cwnd_in_outage(&plain), cwnd_in_outage(&ccp));
    assert!(before <= 2.0 && after >= 100.0, "{before} {after}");
    let resent = |output: &Output| output.summary.flows[0].retransmitted_pkts as f64;
    assert!(resent(&ccp) > resent(&plain) + 0.9 * after);
}
