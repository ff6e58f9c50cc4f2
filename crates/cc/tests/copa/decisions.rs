//! When Copa decides, and which ACKs it sees. While a flow competes at its start, every decision
//! raises 1/δ by 1, which counts them.

use crate::copa::script::{Ack, BASE_US, INIT_CWND, PER_ACK, Script};

/// Decisions in ten base RTTs of ACKs one ms apart without queue, after the first ten.
fn decisions_in_ten_rtts(params: &[(&str, i64)]) -> f64 {
    let mut all = vec![("competitive_start_windows", 40)];
    all.extend(params);
    let mut script = Script::new(&all);
    script.acks_for(10 * BASE_US, BASE_US);
    let before = script.inv_delta();
    script.acks_for(10 * BASE_US, BASE_US);
    script.inv_delta() - before
}

#[test]
fn decisions_are_half_an_rtt_apart_rounded_up_to_the_next_ack() {
    assert_eq!(decisions_in_ten_rtts(&[]), (10 * BASE_US / 21_000) as f64);
}

#[test]
fn either_interval_holds_decisions_back() {
    let reports = decisions_in_ten_rtts(&[("report_rtt_min_pct", 100), ("report_srtt_pct", 0)]);
    assert!((9.0..=10.0).contains(&reports), "{reports}");
    let srtt = decisions_in_ten_rtts(&[("report_rtt_min_pct", 0), ("report_srtt_pct", 100)]);
    assert!((9.0..=10.0).contains(&srtt), "{srtt}");
    assert_eq!(decisions_in_ten_rtts(&PER_ACK), 400.0);
}

#[test]
fn a_decision_waits_for_a_whole_number_of_reports() {
    // RTT of 1.5 RTT_min: reports every 21 ms, srtt/2 is 30 ms, so decisions every 42 ms.
    let mut script = Script::new(&[("competitive_start_windows", 40)]);
    script.ack(BASE_US, Ack::of(1, BASE_US));
    script.acks_for(2_000_000, BASE_US * 3 / 2);
    let before = script.inv_delta();
    script.acks_for(420_000, BASE_US * 3 / 2);
    assert_eq!(script.inv_delta() - before, 10.0);
}

#[test]
fn acks_without_a_rate_sample_wait_for_the_next_decision() {
    let mut script = Script::new(&PER_ACK);
    script.ack(BASE_US, Ack::of(2, BASE_US));
    let inv_delta = script.inv_delta();
    script.ack(1000, Ack::of(3, 9_000).without_rate_sample().with_losses(1));
    assert_eq!(script.cwnd(), INIT_CWND + 2);
    assert_eq!(
        script.series("rtt_min_us"),
        BASE_US as f64,
        "its RTT does not count"
    );
    assert_eq!(script.inv_delta(), inv_delta, "its loss does not count");
    script.ack(1000, Ack::of(1, BASE_US));
    assert_eq!(
        script.cwnd(),
        INIT_CWND + 6,
        "slow start counts its packets"
    );
}

#[test]
fn sacked_packets_count_when_the_cumulative_ack_passes_them() {
    let mut script = Script::new(&PER_ACK);
    script.ack(BASE_US, Ack::of(2, BASE_US));
    script.flow.sock.sacked_out = 3;
    script.ack(1000, Ack::of(3, BASE_US));
    assert_eq!(script.cwnd(), INIT_CWND + 2);
    script.flow.sock.sacked_out = 0;
    script.ack(1000, Ack::of(1, BASE_US));
    assert_eq!(script.cwnd(), INIT_CWND + 6);
}

#[test]
fn rtt_standing_is_the_smallest_rtt_since_the_last_decision() {
    let mut script = Script::new(&[]);
    script.ack(BASE_US, Ack::of(1, BASE_US));
    script.ack(10_000, Ack::of(1, 70_000));
    script.ack(5_000, Ack::of(1, 50_000));
    script.ack(10_000, Ack::of(1, 60_000));
    assert_eq!(script.series("rtt_standing_us"), 50_000.0);
    script.ack(30_000, Ack::of(1, 60_000));
    assert_eq!(script.series("rtt_standing_us"), 60_000.0);
}

#[test]
fn rtt_standing_can_be_over_a_share_of_srtt() {
    let mut script = Script::new(&[PER_ACK[0], PER_ACK[1], ("standing_window_pct", 50)]);
    script.acks_for(5_000_000, 60_000);
    script.ack(1000, Ack::of(1, 50_000));
    script.acks_for(20_000, 60_000);
    assert_eq!(script.series("rtt_standing_us"), 50_000.0);
    // srtt/2 is 30 ms.
    script.acks_for(12_000, 60_000);
    assert_eq!(script.series("rtt_standing_us"), 60_000.0);
}

#[test]
fn rtt_min_is_the_lifetime_s_unless_a_window_is_given() {
    for (window_ms, rtt_min_us) in [(0, 40_000.0), (10_000, 60_000.0)] {
        let mut script = Script::new(&[("rtt_min_window_ms", window_ms)]);
        script.acks_for(100_000, BASE_US);
        script.acks_for(9_500_000, 60_000);
        assert_eq!(script.series("rtt_min_us"), 40_000.0);
        script.acks_for(1_000_000, 60_000);
        assert_eq!(
            script.series("rtt_min_us"),
            rtt_min_us,
            "window of {window_ms} ms"
        );
    }
}
