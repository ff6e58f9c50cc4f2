//! When Copa competes.

use crate::copa::script::{Ack, BASE_US, PER_ACK, Script};

/// No competitive start, and RTT_min known.
fn started(params: &[(&str, i64)]) -> Script {
    let mut all = vec![("competitive_start_windows", 0)];
    all.extend(params);
    let mut script = Script::new(&all);
    script.acks_for(20 * BASE_US, BASE_US);
    assert_eq!(script.mode(), "default");
    script
}

/// ACKs of `rtt_us`, counting the ms in competitive mode.
fn competitive_ms(script: &mut Script, duration_us: u64, rtt_us: u64) -> u64 {
    let end_us = script.now_us + duration_us;
    let mut competitive = 0;
    while script.now_us < end_us {
        script.ack(1000, Ack::of(1, rtt_us));
        competitive += u64::from(script.mode() == "competitive");
    }
    competitive
}

#[test]
fn every_flow_competes_for_its_first_20_base_rtts() {
    let mut script = Script::new(&[]);
    let start_us = script.now_us;
    script.ack(BASE_US, Ack::of(1, BASE_US));
    while script.mode() == "competitive" {
        script.ack(1000, Ack::of(1, BASE_US));
    }
    // Nine windows of 2 RTT_min after the first ACK, each ended by the next decision.
    let rtts = (script.now_us - start_us) as f64 / BASE_US as f64;
    assert!((19.0..=21.0).contains(&rtts), "{rtts} base RTTs");
    assert_eq!(script.inv_delta(), 2.0, "default mode resets 1/δ at once");
}

#[test]
fn competitive_start_windows_sets_its_length() {
    let mut script = Script::new(&[("competitive_start_windows", 3)]);
    script.ack(BASE_US, Ack::of(1, BASE_US));
    // Decisions are 21 ms apart, so two windows are 2 * 84 ms; the last ACK of them ends it.
    assert_eq!(competitive_ms(&mut script, 40 * BASE_US, BASE_US), 167);
    let mut script = Script::new(&[("competitive_start_windows", 0)]);
    assert_eq!(competitive_ms(&mut script, 40 * BASE_US, BASE_US), 0);
}

#[test]
fn mode_switching_off_is_default_mode_whatever_the_queue() {
    let mut script = Script::new(&[("mode_switching", 0)]);
    script.ack(BASE_US, Ack::of(1, BASE_US));
    assert_eq!(competitive_ms(&mut script, 5_000_000, 3 * BASE_US), 0);
}

#[test]
fn a_queue_that_never_empties_makes_it_compete_after_mode_window_rtts() {
    for window in [5, 10] {
        let mut script = started(&[("mode_window_rtts", window)]);
        // srtt goes from 40 ms to 50 ms meanwhile; a decision is up to 42 ms late.
        let rtts = rtts_until_it_competes(&mut script, 50_000);
        let window = window as f64;
        assert!(
            (window..=window * 1.25 + 1.1).contains(&rtts),
            "{window}: {rtts} RTTs"
        );
    }
}

#[test]
fn deciding_per_ack_the_mode_window_ends_half_an_srtt_late_at_most() {
    for phase in 0..8 {
        let window = 5;
        let mut script = started(&[PER_ACK[0], PER_ACK[1], ("mode_window_rtts", window)]);
        script.acks_for(phase * 5_000, BASE_US);
        // srtt soon reaches 50 ms. An interval of srtt/4 is forgotten with its last ACK, and
        // searched for when the next one begins.
        let srtts = rtts_until_it_competes(&mut script, 50_000) * BASE_US as f64 / 50_000.0;
        let late = srtts - window as f64;
        assert!((0.0..=0.5).contains(&late), "{late} srtt late");
    }
}

/// Base RTTs until a standing queue, which makes `rtt_us`, turns default mode to competitive.
fn rtts_until_it_competes(script: &mut Script, rtt_us: u64) -> f64 {
    let from_us = script.now_us;
    while script.mode() == "default" {
        script.ack(1000, Ack::of(1, rtt_us));
    }
    (script.now_us - from_us) as f64 / BASE_US as f64
}

#[test]
fn one_nearly_empty_queue_ends_competing_at_once() {
    let mut script = started(&PER_ACK);
    script.acks_for(50 * BASE_US, 60_000);
    assert_eq!(script.mode(), "competitive");
    assert!(script.inv_delta() > 100.0);
    // 10 % of the largest queueing delay of 20 ms, plus 100 µs.
    assert_eq!(script.series("mode_threshold_rtt_us"), 42_100.0);
    script.ack(1000, Ack::of(1, 42_101));
    assert_eq!(script.mode(), "competitive");
    script.ack(1000, Ack::of(1, 42_100));
    assert_eq!(script.mode(), "default");
    assert_eq!(script.inv_delta(), 2.0);
}

#[test]
fn the_mode_window_bridges_fulls_between_empties() {
    // Empty for one RTT after every eight of 10 ms queueing.
    for (window, competes) in [(10, false), (5, true)] {
        let mut script = started(&[("mode_window_rtts", window)]);
        let mut competitive = 0;
        for _ in 0..10 {
            competitive += competitive_ms(&mut script, 8 * 50_000, 50_000);
            competitive += competitive_ms(&mut script, 50_000, BASE_US);
        }
        assert_eq!(
            competitive > 0,
            competes,
            "mode_window_rtts={window}: {competitive} ms"
        );
    }
}

#[test]
fn threshold_and_margin_define_nearly_empty() {
    // Queueing between 4 ms and 20 ms: 20 % of the largest.
    for (pct, mode) in [(19, "competitive"), (20, "default")] {
        let mut script = started(&[("mode_threshold_pct", pct), ("mode_margin_us", 0)]);
        for _ in 0..20 {
            script.acks_for(2 * BASE_US, 44_000);
            script.acks_for(2 * BASE_US, 60_000);
        }
        assert_eq!(script.mode(), mode, "{pct} %");
    }
    // A standing queue of 100 µs: 10 % of itself is 10 µs.
    for (margin_us, mode) in [(89, "competitive"), (90, "default")] {
        let mut script = started(&[("mode_margin_us", margin_us)]);
        script.acks_for(30 * BASE_US, 40_100);
        assert_eq!(script.mode(), mode, "{margin_us} µs");
    }
}

#[test]
fn the_full_queue_is_seen_in_minima_or_in_all_samples() {
    // RTTs of 42 ms and 80 ms alternate: RTT_standing is always 42 ms.
    for (of_minima, threshold_us) in [(1, 40_300.0), (0, 44_100.0)] {
        let mut script = started(&[("mode_max_of_minima", of_minima)]);
        for _ in 0..500 {
            script.ack(1000, Ack::of(1, 42_000));
            script.ack(1000, Ack::of(1, 80_000));
        }
        assert_eq!(script.series("mode_threshold_rtt_us"), threshold_us);
        let mode = if of_minima == 1 {
            "competitive"
        } else {
            "default"
        };
        assert_eq!(script.mode(), mode);
    }
}

#[test]
fn the_full_queue_is_forgotten_after_mode_max_window_rtts() {
    // Four RTTs of 100 ms, then a standing queue of 3 ms for six srtt or more.
    for (window, of_minima, remembers) in
        [(10, 1, true), (10, 0, true), (4, 1, false), (4, 0, false)]
    {
        let mut script = started(&[
            ("mode_max_window_rtts", window),
            ("mode_max_of_minima", of_minima),
        ]);
        script.acks_for(400_000, 100_000);
        script.acks_for(400_000, 43_000);
        let threshold_us = script.series("mode_threshold_rtt_us");
        assert_eq!(
            threshold_us == 46_100.0,
            remembers,
            "{window} RTTs: {threshold_us} µs"
        );
    }
}

#[test]
fn the_windows_can_be_as_long_as_they_may() {
    // 30 srtt of per-ACK decisions are 120 intervals of the detector's 128.
    let mut script = started(&[PER_ACK[0], PER_ACK[1], ("mode_window_rtts", 30)]);
    assert_eq!(competitive_ms(&mut script, 29 * BASE_US, 40_200), 0);
    assert!(competitive_ms(&mut script, 3 * BASE_US, 40_200) > 0);
}
