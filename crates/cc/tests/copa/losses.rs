//! What losses and retransmission timeouts do to 1/δ and cwnd.

use crate::copa::script::{Ack, BASE_US, DEFAULT_MODE_ONLY, INIT_CWND, Script};

/// A flow that competes with 1/δ of 12 or more: an RTT of `rtt_us` after the base RTT was seen.
fn competing(rtt_us: u64, params: &[(&str, i64)]) -> Script {
    let mut script = Script::new(params);
    script.acks_for(10 * BASE_US, BASE_US);
    script.acks_for(50 * rtt_us, rtt_us);
    assert_eq!(script.mode(), "competitive");
    assert!(script.inv_delta() >= 12.0);
    script
}

fn lose(script: &mut Script, gap_us: u64, rtt_us: u64) {
    script.ack(gap_us, Ack::of(1, rtt_us).with_losses(1));
}

#[test]
fn a_loss_halves_inv_delta_once_per_rtt_min() {
    let mut script = competing(60_000, &[]);
    let inv_delta = script.inv_delta();
    lose(&mut script, 1000, 60_000);
    assert_eq!(script.inv_delta(), inv_delta / 2.0);
    lose(&mut script, BASE_US, 60_000);
    assert_eq!(
        script.inv_delta(),
        inv_delta / 2.0,
        "not again within RTT_min, and no raise"
    );
    lose(&mut script, 1, 60_000);
    assert_eq!(script.inv_delta(), inv_delta / 4.0);
}

#[test]
fn loss_cut_per_srtt_halves_it_once_per_srtt() {
    let mut script = competing(60_000, &[("loss_cut_per_srtt", 1)]);
    let inv_delta = script.inv_delta();
    lose(&mut script, 1000, 60_000);
    lose(&mut script, BASE_US + 1, 60_000);
    assert_eq!(script.inv_delta(), inv_delta / 2.0);
    lose(&mut script, 20_000, 60_000);
    assert_eq!(script.inv_delta(), inv_delta / 4.0);
}

#[test]
fn halving_ends_at_the_default() {
    let mut script = competing(60_000, &[("default_inv_delta", 5)]);
    for _ in 0..10 {
        lose(&mut script, BASE_US + 1, 60_000);
    }
    assert_eq!(script.inv_delta(), 5.0);
}

#[test]
fn a_loss_leaves_cwnd_alone_and_decides_nothing() {
    let mut script = competing(60_000, &[]);
    let cwnd = script.cwnd();
    // A decision is due, but this report is about a loss.
    lose(&mut script, 100_000, 60_000);
    assert_eq!(script.cwnd(), cwnd);
}

#[test]
fn inv_delta_rises_at_every_decision_or_once_per_srtt_without_loss() {
    for (per_rtt, raises) in [(0, 19.0..=20.0), (1, 9.0..=10.0)] {
        let mut script = Script::new(&[
            ("competitive_start_windows", 40),
            ("inv_delta_per_rtt", per_rtt),
        ]);
        script.acks_for(10 * BASE_US, BASE_US);
        let before = script.inv_delta();
        script.acks_for(10 * BASE_US, BASE_US);
        let rise = script.inv_delta() - before;
        assert!(
            raises.contains(&rise),
            "inv_delta_per_rtt={per_rtt}: {rise} in ten RTTs"
        );
    }
}

#[test]
fn a_loss_puts_the_raise_per_srtt_off() {
    let mut script = competing(60_000, &[("inv_delta_per_rtt", 1)]);
    lose(&mut script, 1000, 60_000);
    // Within RTT_min of the first, so it does not halve 1/δ.
    lose(&mut script, 30_000, 60_000);
    let inv_delta = script.inv_delta();
    script.acks_for(60_000, 60_000);
    assert_eq!(script.inv_delta(), inv_delta);
    script.acks_for(43_000, 60_000);
    assert_eq!(script.inv_delta(), inv_delta + 1.0);
}

#[test]
fn default_mode_ignores_losses() {
    let [mut script, mut lossless] = [(); 2].map(|()| {
        let mut script = Script::new(&[DEFAULT_MODE_ONLY, ("velocity_max", 1)]);
        script.leave_slow_start_at(50, BASE_US);
        script.acks_for(10 * BASE_US, BASE_US);
        script
    });
    for _ in 0..20 {
        lose(&mut script, 1000, BASE_US);
        lossless.ack(1000, Ack::of(1, BASE_US));
    }
    assert_eq!(script.inv_delta(), 2.0);
    assert_eq!(script.mode(), "default");
    // The losses postpone the decision; then it counts the same packets.
    script.acks_for(2 * BASE_US, BASE_US);
    lossless.acks_for(2 * BASE_US, BASE_US);
    assert!(script.cwnd().abs_diff(lossless.cwnd()) <= 2);
}

#[test]
fn losses_long_after_a_decision_turn_to_loss_mode() {
    // ccp_copa's loss rate has packets over bytes: 10 % only in a cycle of 2 RTT_min with losses
    // and no decision. With an RTT of 10 RTT_min decisions are 5 RTT_min apart.
    let rtt_us = 10 * BASE_US;
    for (loss_mode, mode, divisor) in [(1, "loss", 4.0), (0, "competitive", 2.0)] {
        let mut script = competing(rtt_us, &[("loss_mode", loss_mode)]);
        let inv_delta = script.inv_delta();
        while script.inv_delta() == inv_delta {
            script.ack(1000, Ack::of(1, rtt_us));
        }
        let inv_delta = script.inv_delta();
        script.ack(2 * BASE_US, Ack::of(1, rtt_us));
        assert_eq!(script.inv_delta(), inv_delta, "no decision yet");
        lose(&mut script, 1000, rtt_us);
        assert_eq!(script.mode(), mode);
        lose(&mut script, 1000, rtt_us);
        assert_eq!(
            script.inv_delta(),
            inv_delta / divisor,
            "loss mode halves at every report"
        );
    }
}

#[test]
fn one_acknowledged_packet_hides_ten_losses_from_the_loss_rate() {
    let mut script = competing(60_000, &[]);
    for _ in 0..10 {
        lose(&mut script, 10_000, 60_000);
        script.acks_for(40_000, 60_000);
        assert_eq!(script.mode(), "competitive");
    }
}

#[test]
fn a_timeout_restarts_slow_start_at_the_initial_window_with_the_next_ack() {
    let mut script = competing(60_000, &[]);
    script.leave_slow_start_at(50, 1_000_000);
    assert!(script.cwnd() >= 50);
    script.retransmission_timeout(200_000);
    assert_eq!(script.cwnd(), 1, "the stack's own cwnd, until the next ACK");
    script.ack(BASE_US / 2, Ack::of(1, BASE_US));
    assert_eq!(
        script.cwnd(),
        INIT_CWND,
        "the timeout was a report: the next is not due yet"
    );
    assert_eq!(script.series("slow_start"), 1.0);
    for _ in 0..3 {
        script.window(BASE_US);
    }
    // Twofold per RTT, except for what the last decision has not counted yet.
    assert!(
        (40..=80).contains(&script.cwnd()),
        "{} packets",
        script.cwnd()
    );
}

#[test]
fn without_rto_restart_a_timeout_leaves_cwnd_alone() {
    let mut script = competing(60_000, &[("rto_restart", 0)]);
    script.leave_slow_start_at(50, 1_000_000);
    let cwnd = script.cwnd();
    script.retransmission_timeout(200_000);
    script.ack(10_000, Ack::of(1, BASE_US));
    assert_eq!(script.cwnd(), cwnd);
    assert_eq!(script.series("slow_start"), 0.0);
}

#[test]
fn a_timeout_raises_inv_delta_unless_it_is_set_to_halve_it() {
    let mut script = competing(60_000, &[]);
    let inv_delta = script.inv_delta();
    script.retransmission_timeout(200_000);
    assert_eq!(script.inv_delta(), inv_delta + 1.0);

    let mut script = competing(60_000, &[("rto_halves_inv_delta", 1)]);
    let inv_delta = script.inv_delta();
    script.retransmission_timeout(200_000);
    assert_eq!(script.inv_delta(), inv_delta / 2.0);
}

#[test]
fn many_losses_in_an_srtt_cut_cwnd_with_loss_cut_pct() {
    for (lost, params, is_cut) in [
        (1, Some(("loss_cut_pct", 2)), false), // of 53 in the srtt
        (2, Some(("loss_cut_pct", 2)), true),
        (50, None, false),
    ] {
        let params: Vec<_> = params.into_iter().chain([DEFAULT_MODE_ONLY]).collect();
        let mut script = Script::new(&params);
        script.acks_for(20 * BASE_US, BASE_US);
        script.ack(2 * BASE_US, Ack::of(1, BASE_US));
        let before = script.cwnd();
        assert!(before > 100);
        script.ack(1000, Ack::of(51, BASE_US).with_losses(lost));
        script.ack(2 * BASE_US, Ack::of(1, BASE_US));
        let after = script.cwnd();
        let is_seven_tenths = after.abs_diff(before * 7 / 10) <= 1;
        assert_eq!(is_seven_tenths, is_cut, "{lost} lost: {before} to {after}");
        assert!(is_cut || after >= before);
    }
}
