//! L3DR's mean, correction and phases. Equations and their sources: docs/notes/l3dr.md. Rounds are of
//! 40 ms; the ACK clock's path is 48 Mbit/s and 40 ms, a BDP of 168 packets.

use crate::ack_clock::{AckClock, assert_near};
use crate::common::load;
use crate::rounds::{RTT_US, Rounds, bps};

const STARTUP: u64 = 0;
const DRAIN: u64 = 1;
const PROBE_BW: u64 = 2;
const PROBE_RTT: u64 = 3;

/// The plain reconstruction of docs/notes/l3dr.md.
const PLAIN: &[(&str, i64)] = &[
    ("mean_by_phase", 0),
    ("by_gain", 0),
    ("mean_window", 10),
    ("rtt_least", 0),
    ("add_root", 0),
    ("pacing_margin_pct", 1),
    ("phase_by_inflight", 1),
    ("startup_queue", 0),
    ("probe_rtt_gain", 256),
    ("least_pkts", 0),
    ("loss_thresh", 256),
    ("startup_loss", 0),
    ("floor_windows", 1),
];

/// The plain reconstruction with some of its parameters changed.
fn plain(changes: &[(&'static str, i64)]) -> Vec<(&'static str, i64)> {
    let kept = PLAIN
        .iter()
        .filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    kept.chain(changes).copied().collect()
}

/// A flow in `PROBE_BW` after rounds of 100 packets.
fn start_in_probe_bw(params: &[(&str, i64)]) -> Rounds {
    let mut rounds = Rounds::start("l3dr", params);
    for _ in 0..5 {
        rounds.round(100, 0, |_| ());
    }
    assert_eq!(rounds.series("mode"), PROBE_BW);
    rounds
}

/// Rounds of 100 packets until the gain cycle paces at `gain`.
fn advance_to_gain(rounds: &mut Rounds, gain: u64) {
    let found = (0..40).any(|_| {
        rounds.round(100, 0, |_| ());
        rounds.series("pacing_gain") == gain
    });
    assert!(found, "no phase with gain {gain}/256");
}

fn start(params: &[(&str, i64)]) -> AckClock {
    AckClock::start(load("l3dr", params).new_flow(), 240, RTT_US)
}

#[test]
fn startup_is_bbr_s() {
    let mut rounds = Rounds::start("l3dr", PLAIN);
    rounds.round(100, 0, |_| ());
    rounds.round(50, 0, |_| ());
    assert_eq!(rounds.series("mode"), STARTUP);
    assert_near(rounds.series("bw_bps") as f64, bps(100), 1e-4);
}

#[test]
fn startup_also_ends_when_a_round_had_a_queue() {
    // A quarter of min_rtt: 50 ms, whatever the bandwidth does.
    for (rtt_us, mode) in [(49_900, STARTUP), (50_200, DRAIN)] {
        let mut rounds = Rounds::start("l3dr", &[]);
        rounds.flow.sock.packets_out = 200;
        rounds.round(50, 0, |_| ());
        rounds.round(100, 0, |rs| rs.rtt_us = rtt_us);
        assert_eq!(rounds.series("mode"), mode, "{rtt_us} µs");
    }
}

#[test]
fn startup_ends_after_a_round_that_loses_more_than_two_per_cent() {
    for (lost, mode) in [(1, STARTUP), (3, DRAIN)] {
        let mut rounds = Rounds::start("l3dr", &[]);
        rounds.flow.sock.packets_out = 200;
        rounds.round(50, 0, |_| ());
        rounds.round(100 - lost, lost, |_| ());
        rounds.round(100, 0, |_| ());
        assert_eq!(rounds.series("mode"), mode, "{lost} lost");
    }
    let mut rounds = Rounds::start("l3dr", &[("startup_loss", 0)]);
    rounds.flow.sock.packets_out = 200;
    for _ in 0..3 {
        rounds.round(97, 3, |_| ());
    }
    assert_eq!(rounds.series("mode"), STARTUP);
}

#[test]
fn the_mean_is_that_of_a_mean_gain_of_one() {
    // 100 packets per round trip, times (5/4 + 6)/7, the growth. With as many packets sent in each
    // phase, the mean of what they were paced by is 8/(4/5 + 4/3 + 6) = 0.984.
    let grown = 100.0 * 7.25 / 7.0;
    for (by_gain, sent, pkts) in [
        (1, [5, 3, 4], grown),
        (1, [4, 4, 4], grown * (4.0 / 5.0 + 4.0 / 3.0 + 6.0) / 8.0),
        (0, [4, 4, 4], 100.0),
    ] {
        let mut rounds = start_in_probe_bw(&[
            ("by_gain", by_gain),
            ("rtt_correction", 0),
            ("add_root", 0),
            ("startup_queue", 0),
        ]);
        let mut phase = 8;
        for _ in 0..60 {
            // A phase lasts more than min_rtt, two rounds here; it sends in the first.
            if rounds.series("cycle_phase") != phase {
                phase = rounds.series("cycle_phase");
                let gain = rounds.series("pacing_gain");
                let index = [320, 192, 256].iter().position(|&of| of == gain).unwrap();
                rounds.flow.sock.data_segs_out += sent[index];
            }
            rounds.round(100, 0, |_| ());
        }
        assert_near(rounds.series("mean_bw_bps") as f64, bps(1) * pkts, 2e-3);
    }
}

#[test]
fn the_mean_weighs_samples_by_the_gain_they_were_sent_with() {
    // Three rounds of 100 packets sent at a gain of 1, weight 1, and one of 120 sent at 5/4,
    // weight 3: (3 × 100 + 3 × 120)/6 = 110.
    let mut rounds = start_in_probe_bw(&plain(&[
        ("mean_window", 4),
        ("weight_up", 3),
        ("rtt_correction", 0),
    ]));
    advance_to_gain(&mut rounds, 320);
    rounds.round(120, 0, |_| ());
    assert_near(rounds.series("mean_bw_bps") as f64, bps(110), 1e-4);
    assert_near(rounds.series("bw_bps") as f64, bps(110), 1e-4);
}

#[test]
fn samples_sent_at_a_low_gain_do_not_count() {
    let params = plain(&[("mean_window", 4), ("rtt_correction", 0)]);
    let mut rounds = start_in_probe_bw(&params);
    advance_to_gain(&mut rounds, 320);
    // BBR's probe ends with a loss, and what was sent after that is paced at 3/4.
    while rounds.series("pacing_gain") != 192 {
        rounds.round(100, 1, |_| ());
    }
    rounds.round(60, 0, |_| ());
    assert_near(rounds.series("mean_bw_bps") as f64, bps(100), 1e-4);
}

#[test]
fn application_limited_samples_do_not_count() {
    let mut rounds = start_in_probe_bw(&plain(&[("rtt_correction", 0)]));
    for _ in 0..20 {
        rounds.round(30, 0, |rs| rs.is_app_limited = true);
    }
    assert_near(rounds.series("bw_bps") as f64, bps(100), 1e-4);
}

#[test]
fn the_rtt_takes_its_share_off_the_mean() {
    // κ (1 − 40/50) of 100 packets a round, for κ = 1 and 1/2; nothing without a queue.
    for (kappa, rtt_us, pkts) in [(256, 50_000, 80), (128, 50_000, 90), (256, 40_000, 100)] {
        let mut rounds = start_in_probe_bw(&plain(&[("rtt_correction", kappa)]));
        for _ in 0..3 {
            rounds.round(100, 0, |rs| rs.rtt_us = rtt_us);
        }
        assert_near(rounds.series("mean_bw_bps") as f64, bps(100), 1e-4);
        assert_near(rounds.series("bw_bps") as f64, bps(pkts), 1e-3);
    }
}

#[test]
fn the_least_rtt_of_a_window_counts_for_one_more() {
    // κ (1 − 40/50) off 100 packets a round while 40 ms counts, nothing when 50 ms is the least.
    for (windows, next, after) in [(1, 100, 100), (2, 80, 100)] {
        let mut rounds = start_in_probe_bw(&plain(&[
            ("rtt_correction", 256),
            ("floor_windows", windows),
        ]));
        for pkts in [next, after] {
            rounds.advance(10_001_000);
            for _ in 0..3 {
                rounds.round(100, 0, |rs| rs.rtt_us = 50_000);
            }
            assert_eq!(rounds.series("min_rtt_us"), 50_000);
            assert_near(rounds.series("bw_bps") as f64, bps(pkts), 1e-3);
        }
    }
}

#[test]
fn the_correction_stops_at_its_bound() {
    // 1 − 40/400 is 0.9; half of the bandwidth is the most here.
    let mut rounds =
        start_in_probe_bw(&plain(&[("rtt_correction", 256), ("correction_most", 128)]));
    rounds.round(100, 0, |rs| rs.rtt_us = 400_000);
    assert_near(rounds.series("bw_bps") as f64, bps(50), 1e-3);
}

#[test]
fn a_delayed_ack_s_rtt_does_not_count() {
    let mut rounds = start_in_probe_bw(&plain(&[("rtt_correction", 256)]));
    for _ in 0..3 {
        rounds.round(100, 0, |rs| (rs.rtt_us, rs.is_ack_delayed) = (80_000, true));
    }
    assert_near(rounds.series("bw_bps") as f64, bps(100), 1e-4);
}

#[test]
fn each_flow_adds_the_root_of_its_own_bdp() {
    // c = 1: 10 packets per round trip with 100, 5 with 25.
    for (pkts, expected) in [(100, 110), (25, 30)] {
        let params = plain(&[("add_root", 256), ("rtt_correction", 0)]);
        let mut rounds = Rounds::start("l3dr", &params);
        rounds.flow.sock.packets_out = 20;
        for _ in 0..20 {
            rounds.round(pkts, 0, |_| ());
        }
        assert_near(rounds.series("mean_bw_bps") as f64, bps(pkts), 1e-3);
        assert_near(rounds.series("bw_bps") as f64, bps(expected), 5e-3);
    }
}

#[test]
fn two_packets_per_round_trip_are_no_queue() {
    // One packet per 40 ms is corrected to less; two per RTT is the least, for any RTT.
    for (rtt_us, pkts_per_40_ms) in [(40_000, 2), (80_000, 1)] {
        let params = plain(&[("least_pkts", 2), ("rtt_correction", 256)]);
        let mut rounds = Rounds::start("l3dr", &params);
        rounds.flow.sock.packets_out = 1;
        for _ in 0..20 {
            rounds.round(1, 0, |_| ());
        }
        rounds.round(1, 0, |rs| rs.rtt_us = rtt_us);
        assert_near(rounds.series("bw_bps") as f64, bps(pkts_per_40_ms), 2e-3);
    }
}

#[test]
fn a_retransmission_s_rtt_does_not_count() {
    let mut rounds = start_in_probe_bw(&plain(&[("rtt_correction", 256)]));
    for _ in 0..3 {
        rounds.round(100, 0, |rs| (rs.rtt_us, rs.is_retrans) = (80_000, true));
    }
    assert_near(rounds.series("bw_bps") as f64, bps(100), 1e-4);
}

#[test]
fn rounds_that_lose_more_than_two_per_cent_bound_cwnd() {
    let mut rounds = start_in_probe_bw(&plain(&[("loss_thresh", 5), ("extra_acked_gain", 0)]));
    for _ in 0..5 {
        rounds.round(100, 1, |_| ());
    }
    let unbounded = f64::from(rounds.flow.sock.snd_cwnd);
    assert!(unbounded >= 200.0, "2 BDP: {unbounded}");
    rounds.round(97, 3, |_| ());
    let bounded = rounds.flow.sock.snd_cwnd;
    assert_near(f64::from(bounded), 0.7 * unbounded, 0.03);
    for later in 1..=10 {
        rounds.round(100, 0, |_| ());
        assert_eq!(rounds.flow.sock.snd_cwnd, bounded + later);
    }
}

#[test]
fn losses_do_not_bound_cwnd_below_a_bdp() {
    // One of 20 is 5 %, in every round: without an end to it the bound would fall to 4 packets.
    let mut rounds = start_in_probe_bw(&plain(&[("loss_thresh", 5), ("extra_acked_gain", 0)]));
    for _ in 0..40 {
        rounds.round(19, 1, |_| ());
    }
    assert_near(rounds.series("bw_bps") as f64, bps(19), 1e-3);
    // A BDP is rounded up.
    assert!((19..=20).contains(&rounds.flow.sock.snd_cwnd));
}

#[test]
fn a_phase_sends_a_burst_before_it_ends() {
    let mut rounds = start_in_probe_bw(&[]);
    let phase = rounds.series("cycle_phase");
    for _ in 0..10 {
        rounds.round(100, 0, |_| ());
        assert_eq!(rounds.series("cycle_phase"), phase);
    }
    rounds.flow.sock.data_segs_out += 1;
    rounds.round(100, 0, |_| ());
    assert_eq!(rounds.series("cycle_phase"), (phase + 1) % 8);
}

#[test]
fn phases_last_a_round_trip_each() {
    let mut clock = start(&[]);
    assert!(clock.run(2.0, |clock| clock.series("mode") == PROBE_BW));
    let mut begins: Vec<(u64, u64)> = Vec::new();
    clock.run(3.0, |clock| {
        let phase = clock.series("cycle_phase");
        if begins.last().is_none_or(|last| last.0 != phase) {
            begins.push((phase, clock.now_ns));
        }
        false
    });
    assert!(begins.len() > 50);
    let min_rtt_ns = 1000 * clock.series("min_rtt_us");
    for pair in begins[1..].windows(2) {
        let lasted_ns = pair[1].1 - pair[0].1;
        assert_eq!(pair[1].0, (pair[0].0 + 1) % 8);
        assert!(
            (min_rtt_ns..min_rtt_ns + 2_000_000).contains(&lasted_ns),
            "phase {}: {lasted_ns} ns",
            pair[0].0
        );
    }
}

#[test]
fn a_lone_flow_fills_the_link_and_keeps_the_queue_small() {
    let mut clock = start(&[]);
    clock.run(2.0, |_| false);
    let (delivered, from_ns) = (clock.flow.sock.delivered, clock.now_ns);
    let mut rtt_max_us = 0;
    clock.run(5.0, |clock| {
        rtt_max_us = rtt_max_us.max(clock.rtt_us);
        false
    });
    let pkts = f64::from(clock.flow.sock.delivered - delivered);
    let link_pkts = (clock.now_ns - from_ns) as f64 / clock.packet_ns as f64;
    assert!(pkts / link_pkts > 0.98, "{pkts} of {link_pkts}");
    // Its probe queues a quarter of a BDP, 10 ms. Between probes
    // κ (1 − min_rtt/RTT) = g − 1 + c/√BDP min_rtt/RTT, 0.036 + 0.375/√168·0.88, leaves 12 % of the RTT.
    assert!(rtt_max_us < 57_000, "{rtt_max_us}");
}

#[test]
fn the_plain_mean_leaves_a_lone_flow_short_of_the_link() {
    // Its own probe is all that grows, and it counts one in seven: docs/notes/l3dr.md, "Plain".
    let mut clock = start(PLAIN);
    clock.run(5.0, |_| false);
    let (delivered, from_ns) = (clock.flow.sock.delivered, clock.now_ns);
    clock.run(4.0, |_| false);
    let pkts = f64::from(clock.flow.sock.delivered - delivered);
    let share = pkts * clock.packet_ns as f64 / (clock.now_ns - from_ns) as f64;
    assert!((0.75..0.95).contains(&share), "{share}");
}

#[test]
fn probe_rtt_halves_the_rate_too() {
    let mut clock = start(&[]);
    assert!(clock.run(12.0, |clock| clock.series("mode") == PROBE_RTT));
    let rate_bps = clock.flow.sock.sk_pacing_rate as f64 * 8.0;
    assert_near(rate_bps, 0.5 * clock.series("bw_bps") as f64, 1e-3);
    assert_eq!(clock.flow.sock.snd_cwnd, 4);
}
