//! Tail loss probes (RFC 8985 §7).

use dumbbell_cc::CaState;

use dumbbell_tcp::{SenderConfig, TICK_NS};

use crate::script::{MSS_BYTES, SenderScript, bulk, load};

/// RFC 8985 §7.2: PTO = 2·SRTT; Linux adds two jiffies. §7.3: the probe is the last segment
/// when there is no new data, and only one is out at a time: then comes the RTO, from the probe.
#[test]
fn rfc8985_probe_after_two_srtt_then_the_timeout() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         302 > 9 rtx
         602 > 0 rtx",
    );
    assert_eq!(s.sender.counters().tlp_count, 1);
    assert_eq!(s.sender.counters().rto_count, 1);
    assert_eq!(s.state(), CaState::Loss);
}

/// A timer of Linux's that is 64 ticks away or more fires on the next eighth tick but one: 302 becomes 304, and the timeout
/// of 300 ms after that 608.
#[test]
fn the_probe_and_the_timeout_fire_on_ticks() {
    let config = SenderConfig {
        tick_ns: TICK_NS,
        size_bytes: Some(10 * u64::from(MSS_BYTES)),
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play(
        "100 > 0:10
         304 > 9 rtx
         608 > 0 rtx",
    );
}

/// RFC 8985 §7.3: new data is the better probe.
#[test]
fn rfc8985_probe_prefers_new_data_whatever_cwnd_says() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         302 > 10",
    );
    assert_eq!((s.cwnd(), s.sock().packets_in_flight()), (10, 11));
    assert_eq!(s.sender.counters().retransmitted_pkts, 0);
}

/// RFC 8985 §7.2: one segment in flight may wait for a delayed ACK: Linux adds RTO_MIN,
/// 200 ms. The probe is never later than the RTO.
#[test]
fn rfc8985_probe_of_a_lone_segment_waits_for_the_delayed_ack() {
    let mut s = SenderScript::reno_sized(20, 1);
    s.play(
        "20 > 0
         240 > 0 rtx  // RTO = 20 + 200 comes before 2·20 + 200",
    );
    assert_eq!(s.sender.counters().tlp_count, 1);
    // With rttvar large the RTO is late: 2·srtt + 200 ms it is.
    let mut s = SenderScript::reno_sized(150, 1);
    assert_eq!(
        s.next_timer_ms(),
        450.0,
        "RTO 150 + 300 ms before 2·150 + 200"
    );
    s.skip();
    let mut s = SenderScript::reno_sized(300, 1);
    assert_eq!(
        s.next_timer_ms(),
        800.0,
        "2·300 + 200 before RTO 300 + 600 ms"
    );
    s.skip();
}

/// RFC 8985 §7.4.2: the probe repaired a loss that nothing else revealed: cwnd is reduced, once,
/// when data sent after the probe is acknowledged and no D-SACK came.
#[test]
fn rfc8985_a_probe_that_repairs_a_loss_reduces_cwnd_once() {
    let mut s = SenderScript::reno_within_10();
    s.play(
        "200 < ack 9 win 1    // 9 is lost, and the receiver wants nothing beyond
         500 > 9 rtx
         600 < ack 10 win 100
         600 > 10:30
         699 .",
    );
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (20, 0x7fff_ffff));
    s.play("700 < ack 12 win 100");
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (10, 10));
    assert_eq!(s.state(), CaState::Open);
    s.play(
        "701 < ack 20 win 100
         701 > 30             // in flight was 10, cwnd is 11
         702 < ack 24 win 100
         702 > 31:35",
    );
    assert_eq!(s.sock().snd_ssthresh, 10);
    assert_eq!(s.sender.counters().rto_count, 0);
}

/// RFC 8985 §7.4.2: a duplicate ACK without D-SACK also shows that both arrived.
#[test]
fn rfc8985_a_probe_answered_by_a_duplicate_ack_reduces_nothing() {
    let mut s = SenderScript::reno_within_10();
    s.play(
        "200 < ack 9 win 1
         500 > 9 rtx
         501 < ack 10 win 100 ecr 100
         501 > 10:30
         600 < ack 10 win 100
         601 < ack 12 win 100
         601 > 30:34",
    );
    assert_eq!(s.sock().snd_ssthresh, 0x7fff_ffff);
}

/// RFC 8985 §7.4.2: both arrived, as the D-SACK shows: no reduction.
#[test]
fn rfc8985_a_probe_answered_by_dsack_reduces_nothing() {
    let mut s = SenderScript::reno_sized(100, 20);
    s.play(
        "100 > 0:10
         200 < ack 10
         200 > 10:20
         402 > 19 rtx
         403 < ack 20 ecr 200
         503 < ack 20 dsack 19 ecr 402",
    );
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (20, 0x7fff_ffff));
    assert_eq!(s.state(), CaState::Open);
    assert_eq!(s.sender.counters().spurious_retransmits, 1);
}

/// A probe is not a repair (RFC 8985 §7.3): its original is still in flight, and the probe is not
/// counted.
#[test]
fn rfc8985_a_probe_is_not_counted_in_flight_twice() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         302 > 9 rtx",
    );
    assert_eq!(
        (s.state(), s.sock().packets_in_flight()),
        (CaState::Open, 10)
    );
}

/// RFC 8985 §7.3, §7.4: the SACK of the probe reveals what was lost before it: fast recovery
/// instead of a timeout.
#[test]
fn rfc8985_the_probes_sack_starts_fast_recovery() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         200 < ack 6
         402 > 9 rtx
         502 < ack 6 sack 9
         502 > 6 rtx          // 6, 7 and 8 left 302 ms before the probe",
    );
    assert_eq!((s.state(), s.sock().lost_out), (CaState::Recovery, 3));
    assert_eq!(s.sender.counters().rto_count, 0);
}

/// RFC 8985 §7.3: while a probe is unresolved there is no second one; the timer then is the RTO,
/// from when the head left.
#[test]
fn rfc8985_no_second_probe_while_one_is_unresolved() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         302 > 9 rtx
         402 < ack 4 ecr 100
         // PTO at 402 + 2·125.25 + 2 ms; the RTO of 4, 477 ms after 100 ms, is overdue by then
         655.5 > 4 rtx",
    );
    assert_eq!(s.sender.counters().tlp_count, 1);
    assert_eq!(s.sender.counters().rto_count, 1);
}

/// RFC 8985 §7.4.2: the D-SACK of the probe settles it, although data after it is acknowledged.
#[test]
fn rfc8985_the_dsack_of_a_probe_settles_it() {
    let mut s = SenderScript::reno_within_10();
    s.play(
        "200 < ack 9 win 1
         500 > 9 rtx
         501 < ack 10 win 100 ecr 100
         501 > 10:30
         600 < ack 10 dsack 9 win 100",
    );
    s.hear("601 < ack 12 win 100");
    assert_eq!(s.sock().snd_ssthresh, 0x7fff_ffff);
}

/// RFC 8985 §6.2: a probe can be lost as well, which later data shows.
#[test]
fn rfc8985_a_lost_probe_is_detected() {
    let mut s = SenderScript::reno_within_10();
    s.play(
        "200 < ack 9 win 1
         500 > 9 rtx
         550 < ack 9 win 4
         550 > 10:13
         650 < ack 9 sack 10:13 win 4
         650 > 9 rtx",
    );
    assert_eq!(s.sender.counters().rto_count, 0);
}
