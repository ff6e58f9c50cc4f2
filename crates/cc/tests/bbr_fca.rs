//! BBR-FCA's loss events, CUBIC's window and the way back to BBR. Equations and their sources:
//! docs/notes/bbr-fca.md. Rounds are of 40 ms.

use crate::ack_clock::assert_near;
use crate::rounds::{RTT_US, Rounds};

const PROBE_BW: u64 = 2;

/// The plain reconstruction of docs/notes/bbr-fca.md, in which the flow's own loss is an event.
const PLAIN: &[(&str, i64)] = &[
    ("event_by_rtt", 0),
    ("fast_convergence", 0),
    ("trajectory", 0),
    ("unseen_growth", 0),
    ("recovery_rtts", 0),
    ("window_gain", 64),
    ("window_gain_first", 0),
    ("window_step_most", 384),
    ("loss_decrease", 0),
    ("quiet_ms", 10_000),
    ("quiet_rtts", 0),
];

/// Goes to the target at once.
const AT_ONCE: &[(&str, i64)] = &[
    ("interval_gain", 256),
    ("window_gain", 256),
    ("window_step_most", 25_600),
    ("quiet_ms", 60_000),
];

fn with(base: &[(&'static str, i64)], changes: &[(&'static str, i64)]) -> Vec<(&'static str, i64)> {
    let kept = base
        .iter()
        .filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    kept.chain(changes).copied().collect()
}

/// A flow that has had a loss in `PROBE_BW`: it competes, with the 50 packets it had in flight.
fn competing(params: &[(&str, i64)], rtt_us: i64) -> Rounds {
    let mut rounds = Rounds::start("bbr_fca", params);
    for _ in 0..6 {
        rounds.round(50, 0, |_| ());
    }
    assert_eq!(rounds.series("mode"), PROBE_BW);
    assert_eq!(rounds.series("competing"), 0);
    rounds.round(50, 1, |rs| rs.rtt_us = rtt_us);
    assert_eq!(rounds.series("competing"), 1);
    assert_eq!(rounds.series("window_pkts"), 50);
    rounds
}

/// Rounds until the flow's next own loss event, `seconds` after the last.
fn lose_after(rounds: &mut Rounds, seconds: u32, rtt_us: i64) {
    let count = seconds * 1_000_000 / RTT_US;
    for _ in 1..count {
        rounds.round(50, 0, |rs| rs.rtt_us = rtt_us);
    }
    rounds.round(50, 1, |rs| rs.rtt_us = rtt_us);
}

#[test]
fn the_plain_target_is_cubic_s_mean_window_at_the_loss_interval() {
    // 1.2333 T³ packets (RFC 9438 §4.2 at its fixed point); 3/2 T/RTT below √(1.2162/RTT).
    for (seconds, rtt_us, pkts) in [
        (2, 400_000, 9.87),
        (4, 200_000, 78.93),
        (6, 200_000, 266.4),
        (10, 200_000, 1233.3),
        (20, 200_000, 9866.7),
        (4, 50_000, 120.0),
    ] {
        let mut rounds = competing(&with(PLAIN, AT_ONCE), rtt_us);
        lose_after(&mut rounds, seconds, rtt_us);
        assert_near(
            rounds.series("loss_interval_us") as f64,
            f64::from(seconds) * 1e6,
            1e-3,
        );
        let tolerance = 1.0 / pkts + 1e-3;
        assert_near(rounds.series("cubic_window_pkts") as f64, pkts, tolerance);
        // A step is at most a hundredfold.
        assert_near(
            rounds.series("window_pkts") as f64,
            f64::min(pkts, 5000.0),
            tolerance,
        );
    }
}

#[test]
fn linux_s_cubic_has_a_smaller_window_at_the_same_interval() {
    // 10 s, of which 0.2 s of recovery, 0.2 s until the loss is seen, 0.16 s behind the curve.
    // K = (9.44 + h/2)/1.2937 = 8.455 s, h = ∛(1.89 K² 0.2) = 2.999 s, W_max = 0.4 K³/0.3 = 805.9,
    // the mean (2.2743 K - h)/(2.5874 K - h) W_max = 692.4 packets.
    let params = with(
        &with(PLAIN, AT_ONCE),
        &[
            ("fast_convergence", 1),
            ("unseen_growth", 1),
            ("recovery_rtts", 256),
        ],
    );
    let mut rounds = competing(&params, 200_000);
    lose_after(&mut rounds, 10, 200_000);
    assert_near(rounds.series("cubic_window_pkts") as f64, 692.4, 5e-3);
}

#[test]
fn a_cubic_flow_is_followed_through_its_intervals() {
    // RTT 200 ms, 40 ms without a queue. From a loss at 50 packets: 35, K = 3.347 s, and after 4 s
    // 50 + 0.4·0.293³; the mean of 0.2 s at 42.5 and 3.8 s at 50 + 0.1 (0.293² + 3.507²)(0.293 - 3.507).
    // After 1 s 50 - 0.4·2.707³ = 42.1. Less than 50, so it aims at 35.8 from 29.5 next, and Reno's
    // 29.5 + 0.529·3.8/0.2 = 39.5 is more than its curve.
    let params = with(AT_ONCE, &[("event_by_rtt", 0), ("loss_decrease", 0)]);
    let mut rounds = competing(&params, 200_000);
    for (seconds, mean, peak) in [(4, 45.9, 50.0), (1, 38.7, 42.1), (4, 34.6, 39.5)] {
        lose_after(&mut rounds, seconds, 200_000);
        let tolerance = 1.0 / mean;
        assert_near(rounds.series("cubic_window_pkts") as f64, mean, tolerance);
        assert_near(rounds.series("cubic_peak_pkts") as f64, peak, tolerance);
    }
}

#[test]
fn fast_convergence_of_that_flow() {
    // Without it the flow aims at 42.1, and after 4 s more has 42.1 + 0.4·0.47³.
    let params = with(
        AT_ONCE,
        &[
            ("event_by_rtt", 0),
            ("loss_decrease", 0),
            ("fast_convergence", 0),
        ],
    );
    let mut rounds = competing(&params, 200_000);
    for seconds in [4, 1, 4] {
        lose_after(&mut rounds, seconds, 200_000);
    }
    assert_near(rounds.series("cubic_peak_pkts") as f64, 42.1, 1.0 / 42.0);
}

#[test]
fn the_window_goes_a_quarter_of_the_way() {
    // 50 + (78.93 − 50)/4 = 57.2 packets.
    let mut rounds = competing(PLAIN, 200_000);
    lose_after(&mut rounds, 4, 200_000);
    assert_eq!(rounds.series("window_pkts"), 57);
}

#[test]
fn the_first_steps_are_longer() {
    // A half, then a quarter: 50 + 28.93/2 = 64.5; 64.5 + 14.5/4 = 68.1 packets.
    let params = with(PLAIN, &[("window_gain_first", 128), ("window_gain", 32)]);
    let mut rounds = competing(&params, 200_000);
    lose_after(&mut rounds, 4, 200_000);
    assert_eq!(rounds.series("window_pkts"), 64);
    lose_after(&mut rounds, 4, 200_000);
    assert_eq!(rounds.series("window_pkts"), 68);
}

#[test]
fn a_step_is_bounded_both_ways() {
    // From 50 packets by 3/2: 75 where CUBIC has 1233; 33 where CUBIC has 3 (T 0.4 s, RTT 200 ms).
    let params = with(PLAIN, &[("window_gain", 256)]);
    let mut rounds = competing(&params, 200_000);
    lose_after(&mut rounds, 9, 200_000);
    assert_eq!(rounds.series("window_pkts"), 75);

    let mut rounds = competing(&params, 200_000);
    rounds.flow.sock.srtt_us = 200_000 << 3;
    for _ in 0..10 {
        rounds.round(50, 0, |rs| rs.rtt_us = 200_000);
    }
    rounds.round(50, 1, |rs| rs.rtt_us = 200_000);
    assert_eq!(rounds.series("window_pkts"), 33);
}

#[test]
fn losses_within_a_round_trip_are_one_event() {
    let mut rounds = competing(&with(PLAIN, AT_ONCE), 200_000);
    rounds.flow.sock.srtt_us = 200_000 << 3;
    for _ in 0..5 {
        rounds.round(50, 1, |rs| rs.rtt_us = 200_000);
    }
    assert_eq!(rounds.series("steps"), 0);
    rounds.round(50, 1, |rs| rs.rtt_us = 200_000);
    assert_eq!(rounds.series("steps"), 1);
}

/// One saw tooth of the RTT: up to `peak_ms`, and down by `drop_ms` within a round.
fn saw_tooth(rounds: &mut Rounds, peak_ms: i64, drop_ms: i64, round_count: i64) {
    for round in 1..=round_count {
        let below_us = (round_count - round) * 1000 * drop_ms / round_count;
        rounds.round(50, 0, |rs| rs.rtt_us = 1000 * peak_ms - below_us);
    }
}

#[test]
fn a_fall_of_the_rtt_is_a_loss_event_of_others() {
    // Teeth of 100 rounds of 40 ms, 4 s, down from 200 to 170 ms: 15 %, which is the reduction of
    // one of two CUBIC flows. No loss of its own.
    let mut rounds = competing(&with(AT_ONCE, &[("window_gain_first", 0)]), 200_000);
    for _ in 0..4 {
        saw_tooth(&mut rounds, 200, 30, 100);
    }
    assert!(rounds.series("steps") >= 2);
    assert_near(rounds.series("loss_interval_us") as f64, 4e6, 0.01);
}

#[test]
fn a_small_wave_of_the_rtt_is_none() {
    // 4 of 200 ms are less than 1/32, the reduction of one of nine flows.
    let mut rounds = competing(AT_ONCE, 200_000);
    for _ in 0..4 {
        saw_tooth(&mut rounds, 200, 4, 100);
    }
    assert_eq!(rounds.series("steps"), 0);
}

#[test]
fn shallow_back_offs_count_in_part() {
    // One of 40 ms and three of 10 are 1.75 events; three of those have been in the last 12 s.
    let params = with(AT_ONCE, &[("interval_gain", 1)]);
    let mut weighed = competing(&params, 200_000);
    let mut counted = competing(&with(&params, &[("weigh_events", 0)]), 200_000);
    for rounds in [&mut weighed, &mut counted] {
        for drop_ms in [40, 40, 10, 10, 10, 10] {
            saw_tooth(rounds, 200, drop_ms, 100);
        }
    }
    let ratio =
        weighed.series("loss_interval_us") as f64 / counted.series("loss_interval_us") as f64;
    assert!((1.5..2.6).contains(&ratio), "{ratio}");
}

#[test]
fn losing_alone_again_and_again_counts() {
    // The buffer is always full and no flow backs off: w is too large.
    let mut rounds = competing(&with(AT_ONCE, &[("window_gain", 32)]), 200_000);
    rounds.flow.sock.srtt_us = 200_000 << 3;
    for _ in 0..200 {
        rounds.round(50, 1, |rs| rs.rtt_us = 200_000);
    }
    assert!(rounds.series("steps") > 2);
    assert!(rounds.series("window_pkts") < 25);
}

#[test]
fn what_was_lost_has_no_room() {
    let mut rounds = competing(&[], 200_000);
    rounds.round(50, 3, |rs| rs.rtt_us = 200_000);
    assert_eq!(rounds.series("window_pkts"), 47);
    // Not below the smallest window.
    rounds.round(4, 46, |rs| rs.rtt_us = 200_000);
    assert_eq!(rounds.series("window_pkts"), 4);
}

#[test]
fn cwnd_and_pacing_are_the_window_s() {
    let mut rounds = competing(PLAIN, 200_000);
    rounds.flow.sock.srtt_us = 200_000 << 3;
    for _ in 0..5 {
        rounds.round(50, 0, |rs| rs.rtt_us = 200_000);
    }
    assert_eq!(rounds.flow.sock.snd_cwnd, 50);
    // 0.99 × 307/256 × 50 × 1448 bytes per 200 ms.
    let expected = 0.99 * 307.0 / 256.0 * 50.0 * 1448.0 / 0.2;
    assert_near(rounds.flow.sock.sk_pacing_rate as f64, expected, 1e-3);
}

#[test]
fn probe_rtt_waits_while_it_competes() {
    let mut rounds = competing(&with(PLAIN, &[("quiet_ms", 60_000)]), 200_000);
    for _ in 0..1000 {
        rounds.round(50, 0, |rs| rs.rtt_us = 200_000);
        assert_eq!(rounds.series("mode"), PROBE_BW);
    }
    assert_eq!(rounds.series("min_rtt_us"), 40_000);
}

#[test]
fn it_is_bbr_again_when_no_flow_loses() {
    // 10 s, here 250 rounds, without an event; then cwnd is BBR's two BDPs and more.
    let mut rounds = competing(PLAIN, 200_000);
    for _ in 0..250 {
        assert_eq!(rounds.series("competing"), 1);
        rounds.round(50, 0, |rs| rs.rtt_us = 200_000);
    }
    rounds.round(50, 0, |rs| rs.rtt_us = 200_000);
    assert_eq!(rounds.series("competing"), 0);
    for _ in 0..3 {
        rounds.round(50, 0, |_| ());
    }
    assert!(rounds.flow.sock.snd_cwnd >= 100);
}

#[test]
fn it_is_bbr_again_when_the_queue_is_empty() {
    // Within 1/32 of the least RTT ever: 41.25 ms.
    let mut rounds = competing(&[], 200_000);
    rounds.round(50, 0, |rs| rs.rtt_us = 41_300);
    assert_eq!(rounds.series("competing"), 1);
    rounds.round(50, 0, |rs| rs.rtt_us = 41_200);
    assert_eq!(rounds.series("competing"), 0);
}

#[test]
fn a_loss_in_startup_is_not_a_competitor() {
    let mut rounds = Rounds::start("bbr_fca", &[]);
    rounds.round(50, 0, |_| ());
    rounds.round(100, 5, |_| ());
    assert_eq!(rounds.series("competing"), 0);
}
