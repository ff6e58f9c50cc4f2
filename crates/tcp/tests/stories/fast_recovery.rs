//! Fast recovery: what is retransmitted when (RFC 6675), and how many packets may leave
//! meanwhile (proportional rate reduction, RFC 9937).

use dumbbell_cc::CaState;

use crate::script::SenderScript;

/// RFC 6675 §5: three SACKed segments above a hole cause its retransmission, once; until then each
/// allows a new segment (limited transmit, RFC 3042). Reno halves cwnd, 11 to 5.
#[test]
fn rfc6675_one_loss_is_repaired_by_one_retransmission() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play(
        "202 < ack 1 sack 2:4
         202 > 13
         203 < ack 1 sack 2:5
         203 > 1 rtx",
    );
    assert_eq!(s.state(), CaState::Recovery);
    assert_eq!((s.sock().snd_ssthresh, s.sock().prior_cwnd), (5, 11));
    // RFC 9937 §6.2, in flight above ssthresh: ⌈prr_delivered·5/11⌉ − prr_out, about every other
    // ACK allows one. (Linux's RecoverFS is cwnd at entry, here 11, not the flight.)
    s.play(
        "204 < ack 1 sack 2:6   // ⌈2·5/11⌉ − 1 = 0
         205 < ack 1 sack 2:7   // ⌈3·5/11⌉ − 1 = 1
         205 > 14
         206 < ack 1 sack 2:8   // ⌈4·5/11⌉ − 2 = 0
         207 < ack 1 sack 2:9   // ⌈5·5/11⌉ − 2 = 1
         207 > 15
         208 < ack 1 sack 2:10  // ⌈6·5/11⌉ − 3 = 0",
    );
    assert_eq!(s.sock().packets_in_flight(), 7);
    // At ssthresh: no more than what keeps 5 in flight.
    s.play(
        "300 < ack 1 sack 2:12  // in flight 5: not one more
         301 < ack 1 sack 2:13
         301 > 16
         302 < ack 1 sack 2:14
         302 > 17",
    );
    assert_eq!((s.cwnd(), s.sock().packets_in_flight()), (5, 5));
    // The retransmission arrives: everything sent before it is acknowledged, recovery is over.
    s.play(
        "303 < ack 14
         303 > 18",
    );
    assert_eq!(s.state(), CaState::Open);
    assert_eq!(s.cwnd(), 5, "RFC 9937 §6: cwnd = ssthresh at the end");
    assert_eq!(s.sender.counters().retransmitted_pkts, 1);
    assert_eq!(s.sender.counters().fast_recovery_count, 1);
    assert_eq!(s.sender.counters().spurious_recovery_count, 0);
}

/// RFC 6675 §5 (C), NextSeg(): lost segments leave in sequence order, before new data.
#[test]
fn rfc6675_many_losses_are_retransmitted_lowest_first_before_new_data() {
    let mut s = SenderScript::reno(100);
    s.first_hole().play(
        "202 < ack 1 sack 4 2
         202 > 13
         203 < ack 1 sack 6 4 2  // 1, 3 and 5 are lost; in flight 7, ssthresh 5
         203 > 1 rtx
         204 < ack 1 sack 6:8 4 2
         205 < ack 1 sack 6:9 4 2
         205 > 3 rtx
         206 < ack 1 sack 6:10 4 2
         300 < ack 1 sack 6:12 4 2
         300 > 5 rtx
         301 < ack 1 sack 6:13 4 2
         301 > 14
         302 < ack 1 sack 6:14 4 2
         302 > 15
         303 < ack 3 sack 6:14 4
         303 > 16
         305 < ack 5 sack 6:14
         305 > 17
         400 < ack 14
         400 > 18",
    );
    assert_eq!(s.state(), CaState::Open);
    assert_eq!(s.cwnd(), 5);
    assert_eq!(s.sender.counters().fast_recovery_count, 1, "one reduction");
    assert_eq!(s.sender.counters().lost_pkts, 3);
}

/// RFC 9937 §6.2: when losses put the flight below ssthresh, an ACK that advances SND.UNA without
/// new loss (SafeACK) allows one more than was delivered: slow start to ssthresh. Without progress
/// it is conservation: one for one.
#[test]
fn rfc9937_safe_acks_grow_the_flight_by_one_others_conserve_it() {
    let mut s = SenderScript::reno(100);
    // 0..6 are lost: three arrive of ten.
    s.play(
        "100 > 0:10
         200 < ack 0 sack 7
         200 > 10
         201 < ack 0 sack 7:9
         201 > 11
         202 < ack 0 sack 7:10  // in flight 2 of 12, ssthresh 5
         202 > 0 rtx            // prr_delivered 1: conservation
         300 < ack 0 sack 7:11  // not safe: 2 delivered, 1 sent
         300 > 1 rtx
         301 < ack 0 sack 7:12
         301 > 2 rtx",
    );
    assert_eq!(s.sock().packets_in_flight(), 3);
    s.play(
        "302 < ack 1 sack 7:12  // safe: one delivered, two sent
         302 > 3 rtx
         302 > 4 rtx
         400 < ack 2 sack 7:12
         400 > 5 rtx
         400 > 6 rtx",
    );
    assert_eq!(s.sock().packets_in_flight(), 5, "at ssthresh");
    s.play(
        "401 < ack 3 sack 7:12
         401 > 12",
    );
}

/// RFC 9937 §6.2: the fast retransmit always leaves, even with ssthresh packets in flight.
#[test]
fn rfc9937_the_first_fast_retransmit_always_leaves() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 0 sack 2:5  // 0 and 1 are lost: 5 in flight, and ssthresh is 5
         200 > 0 rtx",
    );
    assert_eq!((s.cwnd(), s.sock().packets_in_flight()), (6, 6));
}

/// RFC 6675 §5: a loss during recovery belongs to the same episode: no second reduction.
#[test]
fn rfc6675_a_loss_within_recovery_does_not_reduce_again() {
    let mut s = SenderScript::reno(100);
    s.lost_one().play(
        "206 < ack 1 sack 6:8 2:5  // 5 is lost as well
         206 > 5 rtx",
    );
    assert_eq!(s.sock().snd_ssthresh, 5);
    assert_eq!(s.sender.counters().fast_recovery_count, 1);
}
