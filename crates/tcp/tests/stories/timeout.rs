//! Retransmission timeouts (RFC 6298) and whether they were spurious (F-RTO, RFC 5682).

use dumbbell_cc::CaState;

use crate::script::SenderScript;

/// RFC 6298 §2.2: after the first sample R, RTO = R + 4·R/2; §2.4's floor of 1 s is in Linux
/// 200 ms, and on the variance term: RTO = srtt + max(200 ms, 4·rttvar).
#[test]
fn rfc6298_rto_is_srtt_and_at_least_200_ms() {
    // Segments 1..: a timeout needs the probe first; the RTO counts from the probe.
    for (rtt_ms, rto_ms) in [(1, 201), (50, 250), (100, 300), (300, 900)] {
        let mut s = SenderScript::reno_sized(rtt_ms, 10);
        s.run_until((rtt_ms + 2 * rtt_ms + 2) * 1_000_000);
        assert_eq!(s.sender.counters().tlp_count, 1);
        assert_eq!(s.next_timer_ms(), f64::from(rto_ms), "RTT {rtt_ms} ms");
    }
}

/// RFC 6298 §5.5 doubles the timeout each time; a sample (by timestamp: Karn, §3) resets it.
/// RFC 5681 §3.1: ssthresh halves once, cwnd restarts at one segment.
#[test]
fn rfc6298_backoff_doubles_and_ends_with_progress() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         302 > 9 rtx   // tail loss probe
         602 > 0 rtx
         1202 > 0 rtx
         2402 > 0 rtx",
    );
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (1, 5));
    s.play(
        "2502 < ack 1
         2502 > 1 rtx
         2502 > 2 rtx",
    );
    assert_eq!(s.next_timer_ms(), 300.0);
    assert_eq!(s.sock().srtt_us >> 3, 100_000);
    // Slow start through what is lost.
    s.play(
        "2602 < ack 3
         2602 > 3 rtx
         2602 > 4 rtx
         2602 > 5 rtx
         2602 > 6 rtx
         2702 < ack 10",
    );
    assert_eq!(s.state(), CaState::Open);
    assert!(s.sender.is_finished());
    let counters = s.sender.counters();
    assert_eq!((counters.rto_count, counters.spurious_rto_count), (3, 0));
    // From the SYN-ACK to the first acknowledgment.
    assert_eq!(counters.rto_stall_max_ns, 2_402_000_000);
}

/// RFC 6298 §2.5: the timeout has a ceiling, in Linux 120 s.
#[test]
fn rfc6298_backoff_stops_at_120_s() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.run_until(1_000_000_000_000);
    s.skip();
    assert!(s.next_timer_ms() <= 120_000.0);
    let count = s.sender.counters().rto_count;
    s.run_until(1_240_000_000_000);
    assert_eq!(s.sender.counters().rto_count, count + 2);
}

/// RFC 6298 §5.3: an ACK of new data restarts the timer.
#[test]
fn rfc6298_progress_restarts_the_timer() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         302 > 9 rtx
         550 < ack 1 ecr 100",
    );
    // The RTO would have been at 602 ms; now the probe timer (2·srtt) starts over at 550 ms.
    assert!(s.next_timer_ms() > 200.0);
    assert_eq!(s.sender.counters().rto_count, 0);
}

/// A timeout at 602 ms; only the head is sent again and arrives.
fn timed_out() -> SenderScript {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         302 > 10      // tail loss probe
         602 > 0 rtx",
    );
    assert_eq!((s.state(), s.cwnd()), (CaState::Loss, 1));
    s
}

/// RFC 4015: the answer echoes the original: the timeout was spurious.
#[test]
fn rfc4015_an_echo_of_the_original_undoes_the_timeout() {
    let mut s = timed_out();
    s.play(
        "650 < ack 1 ecr 100
         650 > 11",
    );
    assert_eq!(s.state(), CaState::Open);
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (11, 0x7fff_ffff));
    assert_eq!(s.sock().lost_out, 0);
    assert_eq!(s.sender.counters().spurious_rto_count, 1);
}

/// RFC 5682 §3.1 step 2b, 3b: after the first ACK two new segments go; a SACK of something sent
/// before the timeout and never again shows that the timeout was spurious.
#[test]
fn rfc5682_frto_undoes_a_spurious_timeout() {
    let mut s = timed_out();
    s.play(
        "702 < ack 1
         702 > 11:13
         750 < ack 1 sack 2",
    );
    assert_eq!(s.sender.counters().spurious_rto_count, 1);
    assert_eq!(s.state(), CaState::Disorder);
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (10, 0x7fff_ffff));
}

/// RFC 5682 §3.1 step 3a: only new data arrives: the timeout was genuine.
#[test]
fn rfc5682_frto_goes_on_retransmitting_after_a_genuine_timeout() {
    let mut s = timed_out();
    s.play(
        "702 < ack 1
         702 > 11:13
         802 < ack 1 sack 11
         802 > 1 rtx
         803 < ack 1 sack 9 11:13  // too late to decide, but reordering: SACKs now raise cwnd
         803 > 2 rtx
         803 > 3 rtx
         803 > 4 rtx
         902 < ack 2 sack 9 11:13
         902 > 5 rtx
         902 > 6 rtx",
    );
    assert_eq!(s.state(), CaState::Loss);
    assert_eq!(s.sender.counters().spurious_rto_count, 0);
    assert_eq!(s.sock().snd_ssthresh, 5);
}

/// RFC 6298 §3 (Karn): an ACK of retransmitted data gives a sample only by timestamp.
#[test]
fn rfc6298_karn_retransmitted_data_is_timed_by_timestamps_only() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 0 sack 1:4
         200 > 0 rtx
         200 > 10",
    );
    let srtt_us = s.sock().srtt_us >> 3;
    s.run_until(350_000_000);
    // 150 ms since the retransmission, 250 since the original.
    // In whole milliseconds it is not reported, but it counts.
    assert_eq!(s.feed(&["ack", "5", "ecr", "200"]), None);
    assert_eq!(s.sender.latest_rtt_us(), 150_000);
    s.skip();
    assert_eq!(s.sock().srtt_us >> 3, srtt_us + (150_000 - srtt_us) / 8);
}
