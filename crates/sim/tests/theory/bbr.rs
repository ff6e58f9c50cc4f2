//! BBRv1 (Cardwell et al., "BBR: congestion-based congestion control", 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00).

use dumbbell_sim::{Output, Scenario};

use crate::common::{
    NS_PER_MS, PACKET_BYTES, US_PER_S, assert_near, assert_within, bdp_bytes, bulk, column,
    dumbbell, jain, labels, mean, simulate, stretches,
};

/// Link and base RTT.
const PATHS: [(u64, u64); 4] = [
    (20_000_000, 40),
    (50_000_000, 40),
    (100_000_000, 20),
    (10_000_000, 100),
];
/// 2/ln 2: STARTUP's gain of pacing and of cwnd.
const HIGH_GAIN: f64 = 2.885;

fn alone((link_rate_bps, rtt_ms): (u64, u64), buffer_bdp: f64, duration_s: u64) -> Output {
    let limit_bytes = buffer_bdp * bdp_bytes(link_rate_bps, rtt_ms);
    simulate(&Scenario {
        sample_interval_ns: NS_PER_MS,
        ..dumbbell(
            link_rate_bps,
            limit_bytes,
            duration_s,
            vec![bulk("bbr", 1, rtt_ms)],
        )
    })
}

fn modes(output: &Output) -> Vec<(String, f64, f64)> {
    let time_us = column(output, "state-0-bbr", "time_us");
    stretches(&time_us, &labels(output, "state-0-bbr", "mode"))
}

/// Share of the link used from 20 s on.
fn settled_utilization(output: &Output, link_rate_bps: u64) -> f64 {
    let time_us = column(output, "queue", "time_us");
    let forwarded_pkts = column(output, "queue", "forwarded_pkts");
    let from = time_us
        .iter()
        .position(|&time_us| time_us >= 20.0 * US_PER_S);
    let (from, to) = (from.expect("longer than 20 s"), time_us.len() - 1);
    let bits = (forwarded_pkts[to] - forwarded_pkts[from]) * PACKET_BYTES * 8.0;
    bits / ((time_us[to] - time_us[from]) / US_PER_S) / link_rate_bps as f64
}

/// Alone BBR loses the time of PROBE_RTT: 200 ms and up to two round trips every 10 s, 2 % to
/// 4 %. 0.7 %: the pacing margin of 1 %, which the probing phase mostly makes up for.
#[test]
fn alone_it_uses_all_of_the_link_but_probe_rtt() {
    for path in PATHS {
        let (link_rate_bps, rtt_ms) = path;
        let found = settled_utilization(&alone(path, 4.0, 100), link_rate_bps);
        let expected = 1.0 - (0.2 + 1.5 * rtt_ms as f64 / 1e3) / 10.3;
        println!("{path:?}: utilization {found:.4}");
        assert_near("utilization", found, expected, 0.007);
    }
}

/// Alone it does so with every buffer, which it leaves all but empty: the mean queue is a
/// fraction of a BDP, the probing phase adds a quarter, and nothing is dropped.
#[test]
fn alone_it_neither_fills_nor_needs_a_buffer() {
    let path = PATHS[0];
    let (link_rate_bps, rtt_ms) = path;
    for buffer_bdp in [0.5, 1.0, 4.0, 18.0] {
        let output = alone(path, buffer_bdp, 60);
        assert_within(
            "utilization",
            settled_utilization(&output, link_rate_bps),
            0.96..=1.0,
        );
        let time_us = column(&output, "queue", "time_us");
        let backlog_bytes = column(&output, "queue", "backlog_bytes");
        let settled = time_us.iter().zip(&backlog_bytes);
        let settled = settled.filter(|(time_us, _)| **time_us > 5.0 * US_PER_S);
        let mean_bdp = mean(settled.map(|(_, &bytes)| bytes)) / bdp_bytes(link_rate_bps, rtt_ms);
        assert_within("mean queue, BDP", mean_bdp, 0.0..=0.25);
    }
}

/// STARTUP doubles the delivery rate per round trip from an initial window of 10 packets and
/// ends three rounds after it stops growing (draft §4.3.2). Delayed ACKs and bursts cost up to
/// a round trip each.
#[test]
fn startup_doubles_per_round_trip_and_ends_three_rounds_after_the_link_is_full() {
    for path in PATHS {
        let (link_rate_bps, rtt_ms) = path;
        let modes = modes(&alone(path, 8.0, 4));
        let (mode, begin_s, end_s) = &modes[0];
        assert_eq!(mode, "startup");
        let rtt_s = rtt_ms as f64 / 1e3;
        let doublings = (bdp_bytes(link_rate_bps, rtt_ms) / PACKET_BYTES / 10.0).log2();
        // Rounds grow with the queue, which ends at HIGH_GAIN − 1 BDP.
        let earliest_s = (doublings + 3.0) * rtt_s;
        let latest_s = (doublings.ceil() + 2.0 + 4.0 * HIGH_GAIN) * rtt_s;
        assert_within("STARTUP, s", end_s - begin_s, earliest_s..=latest_s);
    }
}

/// STARTUP's cwnd of 2.885 BDP leaves at most 1.885 BDP in the queue (and a burst or two more);
/// DRAIN's pacing at 1/2.885 takes that out in 1.885/(1 − 1/2.885) = 2.9 round trips at most.
#[test]
fn drain_empties_startups_queue() {
    for path in PATHS {
        let (link_rate_bps, rtt_ms) = path;
        let output = alone(path, 8.0, 4);
        let modes = modes(&output);
        let (mode, begin_s, end_s) = &modes[1];
        assert_eq!(mode, "drain");
        let excess = HIGH_GAIN - 1.0;
        let backlog_bytes = column(&output, "queue", "backlog_bytes");
        let time_us = column(&output, "queue", "time_us");
        let highest_bdp =
            backlog_bytes.iter().copied().fold(0.0, f64::max) / bdp_bytes(link_rate_bps, rtt_ms);
        assert_within("STARTUP's queue, BDP", highest_bdp, 1.0..=excess * 1.25);
        let longest_s = highest_bdp / (1.0 - 1.0 / HIGH_GAIN) * rtt_ms as f64 / 1e3;
        assert_within("DRAIN, s", end_s - begin_s, 0.5 * longest_s..=longest_s);
        let drained = time_us
            .iter()
            .position(|&time_us| time_us >= end_s * US_PER_S);
        let left_bdp =
            backlog_bytes[drained.expect("it was sampled")] / bdp_bytes(link_rate_bps, rtt_ms);
        assert_within("the queue after DRAIN, BDP", left_bdp, 0.0..=0.35);
    }
}

/// PROBE_RTT comes when min_rtt is 10 s old and lasts until four packets are in flight (a
/// round trip), then 200 ms and to the end of a round (draft §4.3.5). What it finds is the
/// base RTT and a packet's serialisation, or two's: the burst before it was acknowledged with it.
#[test]
fn probe_rtt_comes_every_ten_seconds_for_200_ms_and_finds_the_base_rtt() {
    for path in PATHS {
        let (link_rate_bps, rtt_ms) = path;
        let output = alone(path, 4.0, 64);
        let probes: Vec<_> = modes(&output)
            .into_iter()
            .filter(|(mode, ..)| mode == "probe_rtt")
            .collect();
        let rtt_s = rtt_ms as f64 / 1e3;
        assert_eq!(probes.len(), 6, "in 64 s");
        for (_, begin_s, end_s) in &probes {
            let lasted_s = end_s - begin_s;
            assert_within("PROBE_RTT, s", lasted_s, 0.2..=0.205 + 3.0 * rtt_s);
        }
        for pair in probes.windows(2) {
            assert_within("its period, s", pair[1].1 - pair[0].1, 10.0..=11.1);
        }
        let time_us = column(&output, "state-0-bbr", "time_us");
        let min_rtt_us = column(&output, "state-0-bbr", "min_rtt_us");
        let (_, _, end_s) = probes[1];
        let after = time_us
            .iter()
            .position(|&time_us| time_us >= end_s * US_PER_S);
        let found_us = min_rtt_us[after.expect("it was sampled")] - rtt_ms as f64 * 1e3;
        let packet_us = PACKET_BYTES * 8e6 / link_rate_bps as f64;
        assert_within(
            "min_rtt over the base RTT, µs",
            found_us,
            packet_us - 1.0..=4.0 * packet_us,
        );
    }
}

/// Several flows over-estimate their bandwidths until cwnd, 2 BDP for all of them, holds them
/// back: a standing queue of 1 BDP and some, without loss in a buffer that holds it, in equal
/// shares (Hock et al., "Experimental evaluation of BBR congestion control", 2017: 1 to 1.5
/// BDP). cwnd also has room for three bursts and for aggregated ACKs, hence 1.75.
#[test]
fn among_its_like_it_keeps_one_bdp_queued_and_shares_equally() {
    let (link_rate_bps, rtt_ms) = (50_000_000, 40);
    for flows in [2, 8] {
        let limit_bytes = 8.0 * bdp_bytes(link_rate_bps, rtt_ms);
        let group = bulk("bbr", flows, rtt_ms);
        let summary = simulate(&dumbbell(link_rate_bps, limit_bytes, 120, vec![group])).summary;
        let queue_bdp = summary.bottleneck.queue_delay_mean_us / (rtt_ms as f64 * 1e3);
        println!(
            "{flows} flows: {queue_bdp:.2} BDP, Jain {:.4}",
            jain(&summary.flows)
        );
        assert_within("mean queue, BDP", queue_bdp, 1.0..=1.75);
        assert_eq!(summary.bottleneck.dropped_pkts, 0);
        assert_within("Jain's index", jain(&summary.flows), 0.98..=1.0);
    }
}
