//! What a decision does to cwnd, velocity and pacing rate.

use crate::copa::script::{Ack, BASE_US, DEFAULT_MODE_ONLY, INIT_CWND, MSS_BYTES, PER_ACK, Script};

/// Default mode after slow start, RTT_min known, the queue empty.
fn steady(cwnd_pkts: u32, params: &[(&str, i64)]) -> Script {
    let mut all = vec![DEFAULT_MODE_ONLY];
    all.extend(params);
    let mut script = Script::new(&all);
    script.leave_slow_start_at(cwnd_pkts, BASE_US);
    script
}

#[test]
fn slow_start_doubles_per_rtt_and_ends_without_a_cut() {
    let mut script = Script::new(&[PER_ACK[0], PER_ACK[1], DEFAULT_MODE_ONLY]);
    for rtt in 1..=5 {
        script.window(BASE_US);
        assert_eq!(script.cwnd(), INIT_CWND << rtt);
    }
    script.ack(1000, Ack::of(1, 2 * BASE_US));
    assert_eq!(
        (script.cwnd(), script.series("slow_start")),
        (INIT_CWND << 5, 0.0)
    );
}

#[test]
fn the_target_is_one_over_delta_packets_in_the_queue() {
    // cwnd/RTT <= 1/(δ d_q), that is d_q <= 2 RTT/cwnd with 1/δ = 2.
    for (grows, slack_us) in [(true, -2), (false, 2)] {
        let mut script = steady(100, &PER_ACK);
        let before = script.cwnd();
        assert_eq!(before, 100);
        // d_q = 2 (BASE + d_q)/100, so BASE 2/98.
        let queueing_us = (BASE_US * 2 / 98).saturating_add_signed(slack_us);
        script.ack(1000, Ack::of(100, BASE_US + queueing_us));
        assert_eq!(
            script.cwnd(),
            if grows { 102 } else { 98 },
            "{queueing_us} µs"
        );
    }
}

#[test]
fn a_window_of_acks_moves_cwnd_by_one_over_delta_packets() {
    // Decided per ACK: 2/cwnd packets at a time. A fraction lost each time would show.
    for (inv_delta, cwnd_pkts) in [(2, 1000), (1, 3000), (10, 300)] {
        let params = [
            PER_ACK[0],
            PER_ACK[1],
            ("velocity_max", 1),
            ("default_inv_delta", inv_delta),
        ];
        let mut script = steady(cwnd_pkts, &params);
        let before = script.cwnd();
        for _ in 0..50 {
            script.window(BASE_US);
        }
        let moved = script.cwnd().abs_diff(before + 50 * inv_delta as u32);
        assert!(
            moved <= 2 * inv_delta as u32,
            "{before} -> {}",
            script.cwnd()
        );
    }
}

#[test]
fn a_decision_counts_a_window_of_packets_at_most() {
    let mut script = steady(100, &[("velocity_max", 1)]);
    script.window(BASE_US);
    let before = script.cwnd();
    script.ack(BASE_US, Ack::of(100_000, BASE_US));
    let rise = script.cwnd() - before;
    assert!((1..=3).contains(&rise), "{rise}");
}

#[test]
fn competing_decreases_count_one_packet_more() {
    // Losses set 1/δ to 2, and the decision raises it to 3: it steps by 3 per window, or by 4.
    let fall = |extra| {
        let mut script = Script::new(&[("competitive_decrease_extra", extra)]);
        script.leave_slow_start_at(300, 1_000_000);
        for _ in 0..100 {
            script.ack(BASE_US + 1, Ack::of(1, BASE_US * 20).with_losses(1));
        }
        assert_eq!(script.inv_delta(), 2.0);
        let before = script.cwnd();
        script.ack(1_000_000, Ack::of(before, BASE_US * 20));
        assert_eq!(
            (script.mode().as_str(), script.inv_delta()),
            ("competitive", 3.0)
        );
        before - script.cwnd()
    };
    assert!((3..=4).contains(&fall(0)), "{}", fall(0));
    assert_eq!(fall(1), fall(0) + 1);
}

#[test]
fn cwnd_does_not_fall_below_the_initial_window_or_cwnd_min() {
    for (cwnd_min, floor) in [(0, INIT_CWND), (2, 2), (25, 25)] {
        let mut script = steady(40, &[("cwnd_min_pkts", cwnd_min)]);
        let mut lowest = script.cwnd();
        for _ in 0..2000 {
            script.ack(BASE_US, Ack::of(2, BASE_US + 1_000_000));
            lowest = lowest.min(script.cwnd());
        }
        assert_eq!(lowest, floor);
    }
}

/// The velocity at the end of each of `rtts` round trips upwards.
fn velocities(script: &mut Script, rtts: usize) -> Vec<f64> {
    (0..rtts)
        .map(|_| {
            script.acks_for(BASE_US, BASE_US);
            script.series("velocity")
        })
        .collect()
}

#[test]
fn velocity_doubles_every_two_rtts_after_three_in_one_direction() {
    let mut script = steady(50, &[]);
    let velocities = velocities(&mut script, 20);
    let doublings: Vec<usize> = (1..20)
        .filter(|&rtt| velocities[rtt] == 2.0 * velocities[rtt - 1])
        .collect();
    assert!((4..=6).contains(&doublings[0]), "{velocities:?}");
    for pair in doublings.windows(2) {
        assert!((2..=3).contains(&(pair[1] - pair[0])), "{velocities:?}");
    }
}

#[test]
fn velocity_is_back_to_one_at_the_first_opposite_decision() {
    let mut script = steady(50, &[]);
    velocities(&mut script, 12);
    assert!(script.series("velocity") >= 4.0);
    assert_eq!(crate::copa::script::state(&script.flow, "direction"), "up");
    let reset_by_us = script.now_us + 3 * BASE_US;
    let mut cwnd = script.cwnd();
    while script.series("velocity") > 1.0 {
        cwnd = script.cwnd();
        script.ack(1000, Ack::of(1, BASE_US + 100_000));
    }
    assert!(script.now_us < reset_by_us);
    let fall = cwnd - script.cwnd();
    assert!((1..=2).contains(&fall), "it counts no more: {fall}");
}

#[test]
fn velocity_by_cwnd_changes_at_the_next_look_only() {
    let mut script = steady(50, &[("velocity_by_cwnd", 1), ("velocity_check_rtts", 4)]);
    velocities(&mut script, 26);
    let velocity = script.series("velocity");
    assert!(velocity >= 4.0);
    let looked_us = script.now_us;
    while script.series("velocity") == velocity {
        script.acks_for(1000, BASE_US);
    }
    let velocity = script.series("velocity");
    assert!(script.now_us - looked_us <= 5 * BASE_US);
    let cwnd = script.cwnd();
    script.acks_for(5 * BASE_US, BASE_US + 100_000);
    assert_eq!(script.series("velocity"), velocity);
    assert!(
        cwnd - script.cwnd() >= velocity as u32,
        "it counts downwards, too"
    );
    script.acks_for(20 * BASE_US, BASE_US + 100_000);
    assert_eq!(
        crate::copa::script::state(&script.flow, "direction"),
        "down"
    );
}

#[test]
fn direction_is_of_most_decisions_or_of_cwnd() {
    // Four decisions up on a packet each, one down on a whole window.
    for (by_cwnd, direction) in [(0, "up"), (1, "down")] {
        let params = [
            PER_ACK[0],
            PER_ACK[1],
            ("velocity_by_cwnd", by_cwnd),
            ("velocity_max", 1),
        ];
        let mut script = steady(50, &params);
        for _ in 0..10 {
            for _ in 0..4 {
                script.ack(10_000, Ack::of(1, BASE_US));
            }
            script.ack(10_000, Ack::of(50, 2 * BASE_US));
        }
        assert_eq!(
            crate::copa::script::state(&script.flow, "direction"),
            direction
        );
    }
}

#[test]
fn velocity_is_one_again_at_the_least_cwnd() {
    let mut script = steady(300, &[("velocity_by_cwnd", 1)]);
    while script.cwnd() > INIT_CWND {
        script.acks_for(BASE_US, 2 * BASE_US);
        assert!(script.cwnd() == INIT_CWND || script.now_us < 60_000_000);
    }
    assert_eq!(script.series("velocity"), 1.0);
}

#[test]
fn velocity_delay_check_and_limit_are_parameters() {
    let quick = [
        ("velocity_check_rtts", 1),
        ("velocity_delay_rtts", 1),
        ("velocity_max", 12),
    ];
    let mut script = steady(50, &quick);
    let velocities = velocities(&mut script, 12);
    assert!(velocities[3] > 1.0, "{velocities:?}");
    assert_eq!(velocities[11], 12.0, "{velocities:?}");

    let mut script = steady(50, &[("velocity_delay_rtts", 20)]);
    assert_eq!(self::velocities(&mut script, 20), vec![1.0; 20]);
}

#[test]
fn it_paces_at_twice_cwnd_per_rtt_min_or_per_rtt_standing() {
    for (on_standing, rtt_us) in [(0, BASE_US), (1, 100_000)] {
        let mut script = steady(50, &[("pacing_on_standing", on_standing)]);
        script.acks_for(5_000_000, 100_000);
        let bytes_per_s = 2 * u64::from(script.cwnd()) * u64::from(MSS_BYTES) * 1_000_000 / rtt_us;
        // cwnd has a fraction.
        let ratio = script.flow.sock.sk_pacing_rate as f64 / bytes_per_s as f64;
        assert!((1.0..1.1).contains(&ratio), "{ratio}");
    }
}

#[test]
fn it_never_paces_below_2000_bytes_per_second() {
    let mut script = Script::new(&[]);
    script.ack(20_000_000, Ack::of(1, 20_000_000));
    assert_eq!(script.flow.sock.sk_pacing_rate, 2000);
}

#[test]
fn cwnd_stays_within_the_clamp() {
    let mut script = Script::new(&[]);
    script.flow.sock.snd_cwnd_clamp = 64;
    script.acks_for(5_000_000, BASE_US);
    assert_eq!(script.cwnd(), 64);
}
