//! Reno through slow start, congestion avoidance and loss, which is also how the kernel
//! functions of `cc/include/native.c` count.

use crate::common::cwnd_limited;

#[test]
fn slow_start_grows_by_the_packets_acknowledged() {
    // RFC 5681 §3.1 with appropriate byte counting (RFC 3465): cwnd doubles each round trip.
    let mut flow = cwnd_limited("reno", 10);
    flow.cong_avoid(0, 4);
    assert_eq!(flow.sock.snd_cwnd, 14);
    flow.cong_avoid(0, 6);
    assert_eq!(flow.sock.snd_cwnd, 20);
    assert_eq!(flow.sock.snd_cwnd_cnt, 0);
}

#[test]
fn what_slow_start_leaves_counts_for_congestion_avoidance() {
    // 10 → 12 takes two of the eight; the other six are credit towards 12 for the next packet.
    let mut flow = cwnd_limited("reno", 10);
    flow.sock.snd_ssthresh = 12;
    flow.cong_avoid(0, 8);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (12, 6));
    flow.cong_avoid(0, 6);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (13, 0));
}

#[test]
fn congestion_avoidance_grows_by_one_packet_per_window() {
    let mut flow = cwnd_limited("reno", 10);
    flow.sock.snd_ssthresh = 10;
    for acked in 1..10 {
        flow.cong_avoid(0, 1);
        assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (10, acked));
    }
    flow.cong_avoid(0, 1);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (11, 0));
}

#[test]
fn an_ack_of_several_windows_grows_cwnd_by_as_many_packets() {
    let mut flow = cwnd_limited("reno", 10);
    flow.sock.snd_ssthresh = 10;
    flow.cong_avoid(0, 25);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (12, 5));
}

#[test]
fn credit_saved_at_a_larger_window_grows_cwnd_by_one() {
    let mut flow = cwnd_limited("reno", 4);
    flow.sock.snd_ssthresh = 4;
    flow.sock.snd_cwnd_cnt = 30;
    flow.cong_avoid(0, 1);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (5, 1));
}

#[test]
fn the_clamp_holds_in_slow_start_and_in_avoidance() {
    let mut flow = cwnd_limited("reno", 10);
    flow.sock.snd_cwnd_clamp = 13;
    flow.cong_avoid(0, 10);
    assert_eq!(flow.sock.snd_cwnd, 13);
    flow.sock.snd_ssthresh = 13;
    flow.cong_avoid(0, 13);
    assert_eq!(flow.sock.snd_cwnd, 13);
}

#[test]
fn cwnd_does_not_grow_unless_it_limits_sending() {
    // RFC 7661, as tcp_is_cwnd_limited: below half of cwnd in slow start; in avoidance by the flag.
    let mut flow = cwnd_limited("reno", 10);
    flow.sock.max_packets_out = 5;
    flow.cong_avoid(0, 10);
    assert_eq!(flow.sock.snd_cwnd, 10);
    flow.sock.max_packets_out = 6;
    flow.cong_avoid(0, 10);
    assert_eq!(flow.sock.snd_cwnd, 20);

    flow.sock.snd_ssthresh = 20;
    flow.sock.set_cwnd_limited(false);
    flow.cong_avoid(0, 20);
    assert_eq!(flow.sock.snd_cwnd, 20);
}

#[test]
fn a_loss_halves_cwnd_down_to_two_packets() {
    // RFC 5681 §3.1 equation (4).
    let mut flow = cwnd_limited("reno", 31);
    assert_eq!(flow.ssthresh(), 15);
    flow.sock.snd_cwnd = 3;
    assert_eq!(flow.ssthresh(), 2);
}

#[test]
fn undo_restores_cwnd_but_never_shrinks_it() {
    let mut flow = cwnd_limited("reno", 15);
    flow.sock.prior_cwnd = 31;
    assert_eq!(flow.undo_cwnd(), 31);
    flow.sock.snd_cwnd = 40;
    assert_eq!(flow.undo_cwnd(), 40);
}

#[test]
fn absent_ops_do_nothing() {
    let mut flow = cwnd_limited("reno", 10);
    assert!(!flow.has_cong_control() && !flow.has_pkts_acked());
    assert_eq!((flow.min_tso_segs(), flow.sndbuf_expand()), (None, None));
    flow.cwnd_event(dumbbell_cc::CaEvent::Loss);
    flow.in_ack_event(0);
    flow.set_state(dumbbell_cc::CaState::Loss);
    assert_eq!(flow.sock.snd_cwnd, 10);
    let mut series = Vec::new();
    flow.read_series(|_, value| series.push(value));
    assert!(series.is_empty());
}
