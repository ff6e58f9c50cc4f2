//! CCP's agent and datapath: when an answer acts, and what both do at a timeout and an undo.

use crate::copa::script::{Ack, BASE_US, INIT_CWND, PER_ACK, Script};
use dumbbell_cc::CaState;

const CCP_KERNEL: [(&str, i64); 4] = [
    ("agent_delay_us", 25),
    ("rto_keeps_cwnd", 1),
    ("rto_reports", 2),
    ("undo_doubles_ssthresh", 1),
];

/// Competes, is out of slow start, and has a window of 50 or more.
fn running(params: &[(&str, i64)]) -> Script {
    let mut script = Script::new(params);
    script.acks_for(10 * BASE_US, BASE_US);
    script.leave_slow_start_at(50, 1_000_000);
    script
}

#[test]
fn a_decision_acts_at_the_first_ack_after_the_agents_delay() {
    for (delay_us, acts_after_us) in [(0, 0), (1, 10), (25, 30), (30, 30), (31, 40)] {
        let mut script = Script::new(&[("agent_delay_us", delay_us)]);
        // Nothing is in the queue: slow start counts the packet, 40 ms after the start.
        script.ack(BASE_US, Ack::of(3, BASE_US));
        let mut waited_us = 0;
        while script.cwnd() == INIT_CWND {
            script.ack(10, Ack::of(1, BASE_US));
            waited_us += 10;
        }
        assert_eq!(script.cwnd(), INIT_CWND + 3, "a delay of {delay_us} µs");
        assert_eq!(waited_us, acts_after_us, "a delay of {delay_us} µs");
    }
}

#[test]
fn the_pacing_rate_is_that_of_the_window_that_acts() {
    let mut script = Script::new(&[("agent_delay_us", 25)]);
    script.ack(BASE_US, Ack::of(3, BASE_US));
    let before = script.flow.sock.sk_pacing_rate;
    script.ack(25, Ack::of(1, BASE_US));
    let after = script.flow.sock.sk_pacing_rate;
    assert_eq!(after * 10, before * 13);
}

#[test]
fn answers_come_although_every_ack_asks() {
    // Each ACK is a report, closer together than the delay: no answer is put off for a later one.
    let mut params = vec![("agent_delay_us", 25)];
    params.extend(PER_ACK);
    let mut script = Script::new(&params);
    for _ in 0..10 {
        script.ack(10, Ack::of(1, BASE_US));
    }
    assert!(script.cwnd() >= INIT_CWND + 6, "{}", script.cwnd());
}

#[test]
fn an_ack_without_a_sample_takes_no_answer() {
    let mut script = Script::new(&[("agent_delay_us", 25)]);
    script.ack(BASE_US, Ack::of(3, BASE_US));
    script.ack(1000, Ack::of(1, BASE_US).without_rate_sample());
    assert_eq!(script.cwnd(), INIT_CWND);
    script.ack(1000, Ack::of(1, BASE_US));
    assert_eq!(script.cwnd(), INIT_CWND + 3);
}

#[test]
fn a_timeout_writes_the_old_window_back_until_the_agent_answers() {
    for (keeps, at_timeout) in [(0, None), (1, Some(()))] {
        let mut script = running(&[("rto_keeps_cwnd", keeps)]);
        let cwnd = script.cwnd();
        script.retransmission_timeout(200_000);
        let expected = at_timeout.map_or(1, |()| cwnd);
        assert_eq!(script.cwnd(), expected, "rto_keeps_cwnd={keeps}");
        script.ack(BASE_US / 2, Ack::of(1, BASE_US));
        assert_eq!(script.cwnd(), INIT_CWND);
        assert_eq!(script.series("slow_start"), 1.0);
    }
}

#[test]
fn the_agents_answer_to_a_timeout_takes_its_time_too() {
    let mut script = running(&CCP_KERNEL);
    let cwnd = script.cwnd();
    script.retransmission_timeout(200_000);
    script.ack(10, Ack::of(1, BASE_US));
    assert_eq!(script.cwnd(), cwnd, "the answer is on its way");
    script.ack(20, Ack::of(1, BASE_US));
    assert_eq!(script.cwnd(), INIT_CWND);
}

#[test]
fn a_timeout_is_reported_twice() {
    for reports in [1, 2] {
        let mut script = running(&[("rto_reports", reports)]);
        let inv_delta = script.inv_delta();
        script.retransmission_timeout(200_000);
        assert_eq!(script.inv_delta(), inv_delta + 1.0);
        script.ack(1000, Ack::of(1, BASE_US));
        assert_eq!(script.inv_delta(), inv_delta + reports as f64);
        // The second restarts as the first: slow start, at the initial window.
        assert_eq!(script.cwnd(), INIT_CWND);
        assert_eq!(script.series("slow_start"), 1.0);
        script.ack(1000, Ack::of(1, BASE_US));
        assert_eq!(script.inv_delta(), inv_delta + reports as f64);
    }
}

#[test]
fn the_second_report_has_the_losses_of_its_ack() {
    let mut script = running(&[("rto_reports", 2)]);
    script.retransmission_timeout(200_000);
    let inv_delta = script.inv_delta();
    script.ack(1000, Ack::of(1, BASE_US).with_losses(1));
    assert_eq!(script.inv_delta(), inv_delta / 2.0);
}

#[test]
fn an_undo_restores_the_window_until_the_agent_writes_its_own() {
    let mut script = running(&CCP_KERNEL);
    let cwnd = script.cwnd();
    script.flow.sock.snd_ssthresh = script.flow.ssthresh();
    assert_eq!(script.flow.sock.snd_ssthresh, cwnd / 2);
    script.flow.set_state(CaState::Recovery);
    script.flow.sock.snd_cwnd = 7;
    assert_eq!(script.flow.undo_cwnd(), cwnd / 2 * 2);
    script.flow.sock.snd_cwnd = 3;
    assert_eq!(script.flow.ssthresh(), 2);
    script.ack(1000, Ack::of(1, 2 * BASE_US));
    assert!(script.cwnd() >= cwnd - 1);
}

/// What needs no parameter: a window rests while a hole is open, and what was SACKed counts at once
/// when it closes, up to a window.
#[test]
fn the_window_rests_while_a_hole_is_open() {
    let mut script = Script::new(&[("mode_switching", 0)]);
    script.acks_for(3 * BASE_US, BASE_US);
    let cwnd = script.cwnd();
    script.acks_for(BASE_US, BASE_US);
    assert!(script.cwnd() > cwnd);
    let (cwnd, held) = (script.cwnd(), 3 * script.cwnd());
    // What arrives is SACKed above the hole, for three windows.
    for sacked in 1..=held {
        script.flow.sock.sacked_out = sacked;
        script.ack(1000, Ack::of(1, BASE_US));
        // The decision at the first may count what came before.
        assert!(script.cwnd() <= cwnd + 42, "{sacked}");
    }
    let rested = script.cwnd();
    script.flow.sock.sacked_out = 0;
    script.ack(BASE_US, Ack::of(1, BASE_US));
    assert_eq!(script.cwnd(), 2 * rested);
}
