//! Reductions that were not warranted are undone: Eifel by timestamps (RFC 4015), D-SACK
//! (RFC 3708).

use dumbbell_cc::CaState;

use crate::script::SenderScript;

/// A spurious fast retransmit of 1 at 203 ms: cwnd 11 is reduced to 5.
fn spurious_retransmit() -> SenderScript {
    let mut s = SenderScript::reno(100);
    s.lost_one();
    assert_eq!((s.state(), s.sock().snd_ssthresh), (CaState::Recovery, 5));
    s
}

/// RFC 4015 §3.2: the ACK echoes the original's time: it was late, not lost.
#[test]
fn rfc4015_an_echo_older_than_the_retransmission_undoes_the_recovery() {
    let mut s = spurious_retransmit();
    s.play(
        "204 < ack 5 ecr 100
         204 > 13:17",
    );
    assert_eq!(s.state(), CaState::Open);
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (12, 0x7fff_ffff));
    assert_eq!(s.sender.counters().spurious_recovery_count, 1);
}

/// RFC 4015: an echo of the retransmission does not undo anything.
#[test]
fn rfc4015_an_echo_of_the_retransmission_undoes_nothing() {
    let mut s = spurious_retransmit();
    s.play(
        "303 < ack 5 ecr 203  // what left before the retransmission is lost as well
         303 > 5 rtx
         303 > 6 rtx",
    );
    assert_eq!((s.state(), s.sock().snd_ssthresh), (CaState::Recovery, 5));
}

/// RFC 3708: every retransmission of the episode came back as a duplicate. (ACKs of the original
/// were lost, and RFC 7323 §4.3 echoes the retransmission: Eifel cannot detect it.)
#[test]
fn rfc3708_dsack_of_every_retransmission_undoes_the_recovery() {
    let mut s = spurious_retransmit();
    s.hear("303 < ack 12 dsack 1 ecr 203");
    // 11, and slow start continues: 8 were delivered, and 1 twice.
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (11 + 9, 0x7fff_ffff));
    assert_eq!(s.state(), CaState::Open);
    assert_eq!(s.sender.counters().spurious_recovery_count, 1);
}

/// RFC 3708: the D-SACK may arrive when recovery is over.
#[test]
fn rfc3708_dsack_after_recovery_undoes_it() {
    let mut s = spurious_retransmit();
    s.hear("303 < ack 12 ecr 203");
    assert_eq!(s.cwnd(), 6, "ssthresh, and a round trip's growth");
    s.hear("304 < ack 12 dsack 1 ecr 203");
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (11, 0x7fff_ffff));
}

/// RFC 3708: also when nothing is outstanding any more.
#[test]
fn rfc3708_dsack_undoes_when_nothing_is_outstanding() {
    let mut s = SenderScript::reno_sized(100, 12);
    s.first_ack().play(
        "203 < ack 1 sack 2:5
         203 > 1 rtx
         303 < ack 12 ecr 203
         304 < ack 12 dsack 1 ecr 203",
    );
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (11, 0x7fff_ffff));
}

/// RFC 3708 §3: duplicates made by the network, more than were retransmitted, do not undo anything.
#[test]
fn rfc3708_dsacks_beyond_what_was_retransmitted_undo_nothing() {
    let mut s = SenderScript::reno(100);
    s.first_ack().play("201 < ack 1 dsack 0");
    assert_eq!(s.sender.counters().spurious_retransmits, 0);
    s.hear(
        "203 < ack 1 sack 2:5
         303 < ack 12 dsack 1 ecr 203",
    );
    assert_eq!(s.sock().snd_ssthresh, 5);
}

/// RFC 3708 with RFC 8985 §7: the probe in flight when recovery began is one of the retransmissions
/// that must come back.
#[test]
fn rfc3708_a_probe_counts_once_among_the_retransmissions() {
    let mut s = SenderScript::reno_sized(100, 10);
    s.play(
        "100 > 0:10
         200 < ack 6
         402 > 9 rtx
         410 < ack 6 sack 7:10
         410 > 6 rtx
         510 < ack 10 dsack 6 ecr 410",
    );
    assert!(s.cwnd() < 10, "the probe's duplicate is still missing");
    s.play("511 < ack 10 dsack 9 ecr 410");
    assert_eq!((s.cwnd(), s.sock().snd_ssthresh), (16, 0x7fff_ffff));
}

/// RFC 4015: also when one ACK of the original ends the recovery.
#[test]
fn rfc4015_the_last_ack_of_recovery_may_undo_it() {
    let mut s = spurious_retransmit();
    s.hear("204 < ack 12 ecr 100");
    assert_eq!(s.state(), CaState::Open);
    assert_eq!(s.sock().snd_ssthresh, 0x7fff_ffff);
    assert_eq!(s.sender.counters().spurious_recovery_count, 1);
}
