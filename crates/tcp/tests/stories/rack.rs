//! Loss detection by time: RACK (RFC 8985 §6).

use dumbbell_cc::CaState;

use crate::script::SenderScript;

/// RFC 8985 §6.2 step 4: a segment may come min_rtt/4 = 25 ms late. Disorder, no loss.
#[test]
fn rfc8985_reordering_within_the_window_retransmits_nothing() {
    let mut s = SenderScript::reno(100);
    s.first_hole();
    assert_eq!(s.state(), CaState::Disorder);
    s.play(
        "225 < ack 3
         225 > 13:15
         240 .",
    );
    assert_eq!(s.state(), CaState::Open);
    assert_eq!(s.sender.counters().retransmitted_pkts, 0);
}

/// RFC 8985 §6.2 step 5: RACK_detect_loss_and_arm_timer(). 1 is lost when RACK.rtt (101 ms) and
/// reo_wnd (25 ms) have passed since it left; Linux's timer adds two jiffies.
#[test]
fn rfc8985_the_reordering_timer_declares_the_loss_after_a_quarter_min_rtt() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play("228 > 1 rtx");
    assert_eq!(s.state(), CaState::Recovery);
    assert_eq!(s.sender.counters().rto_count, 0);
    // Linux's PRR takes the timer for an ACK of one packet.
    assert_eq!((s.sock().prr_delivered, s.sock().prr_out), (1, 1));
}

/// RFC 8985 §6.2 step 4: as long as no reordering was seen, three SACKed segments (DupThresh)
/// need no window; once it was, they wait for it.
#[test]
fn rfc8985_after_reordering_three_dupacks_no_longer_prove_a_loss() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play(
        "205 < ack 3           // 1 came late: reordering
         205 > 13:15
         206 < ack 3 sack 4:7
         206 > 15:18           // three SACKed, and still only reordering
         233 > 3 rtx",
    );
    assert_eq!(s.sender.counters().fast_recovery_count, 1);
}

/// RFC 8985 §6.2: also a retransmission is lost when something sent later arrives. It is
/// repaired without a timeout, within the same reduction.
#[test]
fn rfc8985_a_lost_retransmission_is_detected() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play(
        "202 < ack 1 sack 2:4
         202 > 13
         203 < ack 1 sack 2:5
         203 > 1 rtx
         205 < ack 1 sack 2:7
         205 > 14
         300 < ack 1 sack 2:12
         300 > 15
         302 < ack 1 sack 2:14
         302 > 16:18
         304.9 .
         305 < ack 1 sack 2:15  // 14 left after the retransmission
         305 > 1 rtx
         305 > 18
         405 < ack 15
         405 > 19",
    );
    assert_eq!(s.sender.counters().lost_pkts, 2);
    assert_eq!(s.sender.counters().fast_recovery_count, 1);
    assert_eq!(s.sender.counters().rto_count, 0);
    assert_eq!(s.cwnd(), 5);
}

/// Two ACKs arrive at once. What the first lets out is not after what the second lets out again, though both leave at 203 ms:
/// Linux takes a while for each ACK.
#[test]
fn new_data_of_an_earlier_ack_of_the_same_instant_are_not_after_the_retransmission() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play(
        "203 < ack 1 sack 2:4
         203 < ack 1 sack 2:5
         203 > 13
         203 > 1 rtx
         205 < ack 1 sack 2:7
         205 > 14
         300 < ack 1 sack 2:12
         300 > 15
         303 < ack 1 sack 2:14
         303 > 16:18
         304.9 .",
    );
    assert_eq!(s.sender.counters().lost_pkts, 1);
    s.play(
        "305 < ack 1 sack 2:15  // 14 left after the retransmission
         305 > 1 rtx
         305 > 18",
    );
    assert_eq!(s.sender.counters().lost_pkts, 2);
}

/// RFC 8985 §6.2 step 2: an ACK sooner than min_rtt after a retransmission answers the original,
/// and does not show anything about what left before the retransmission.
#[test]
fn rfc8985_an_ack_faster_than_the_path_is_the_originals() {
    let mut s = SenderScript::reno(100);
    s.lost_one().play(
        "205 < ack 5 ecr 203   // 2 ms after the retransmission
         205 .",
    );
    // RACK.xmit_ts stays at 100 ms: 5 to 11 are not lost although they left before 203 ms.
    assert_eq!(s.sock().lost_out, 0);
    assert_eq!(s.sender.counters().lost_pkts, 1);
}

/// RFC 8985 §6.3: a timeout proves lost the head and what was sent RACK.rtt ago, not what
/// left recently.
#[test]
fn rfc8985_a_timeout_marks_only_segments_old_enough() {
    let mut s = SenderScript::reno_within_10();
    s.play(
        "200 < ack 1 win 9
         203 < ack 1 sack 2:8 win 9
         203 > 1 rtx
         450 < ack 1 sack 2:8 win 11  // the window opens
         450 > 10:12
         503.375 > 1 rtx",
    );
    assert_eq!(s.sender.counters().rto_count, 1);
    // 1, 8 and 9 are lost; 10 and 11 left 53 ms ago, and RACK.rtt is 103 ms.
    assert_eq!(s.sock().lost_out, 3);
    assert_eq!(s.cwnd(), 3, "in flight (10, 11) and the retransmission");
}

/// RFC 8985 §6.2 step 4: each round trip with a D-SACK widens the window by min_rtt/4, if
/// reordering was seen.
#[test]
fn rfc8985_dsack_widens_the_window_once_per_round_trip() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play(
        "228 > 1 rtx            // 25 ms + 2 ms
         230 < ack 3 ecr 100    // the original: reordering; undone
         230 > 13:15
         232 < ack 3 dsack 1 ecr 100
         240 < ack 4
         240 > 15:17
         241 < ack 4 sack 5
         241 > 17",
    );
    // 4 left at 100 ms, RACK.rtt is 141 ms: 50 ms + 2 ms from 241 on.
    assert_eq!(s.next_timer_ms(), 52.0);
    s.play("293 > 4 rtx");
    // A second D-SACK within the same round trip changes nothing.
    s.play(
        "294 < ack 6 ecr 100
         294 > 18:20
         295 < ack 6 dsack 4 ecr 100
         296 < ack 7
         296 > 20:22
         297 < ack 7 sack 8
         297 > 22",
    );
    assert_eq!(s.next_timer_ms(), 52.0);
}
