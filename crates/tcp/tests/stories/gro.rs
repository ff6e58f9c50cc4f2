//! Receive offload: what reaches TCP together, when, and how it is acknowledged.

use dumbbell_tcp::{AccEcn, EcnMode, ReceiverConfig};

use crate::script::{NS_PER_MS, ReceiverScript, linux_receiver};

/// Holds for 0.2 ms; past the quick ACKs.
fn receiver(ecn: EcnMode) -> ReceiverScript {
    let mut script = ReceiverScript::with(ReceiverConfig {
        gro_ns: NS_PER_MS / 5,
        ecn,
        ..linux_receiver()
    });
    script.hear(
        "0 < syn ecn
         0 < ack",
    );
    // Sixteen ACKs are not delayed: of segments that come one by one.
    let quick: String = (0..16)
        .map(|seq| format!("{} < {seq}\n", seq + 1))
        .collect();
    script.hear(&quick);
    script.hear("20 < 16");
    script.play("60.2 > ack 17");
    script
}

/// `gro_flush_timeout`: 0.2 ms after the first, however many there are.
#[test]
fn segments_that_come_together_get_one_ack() {
    receiver(EcnMode::Off).play(
        "100 < 17:27
         100.1 < 27:30 ts 100
         100.2 > ack 30
         100.3 < 30:40 ts 100
         100.5 > ack 40",
    );
}

/// One alone waits as well, and then for a second one like any other (RFC 5681 §4.2).
#[test]
fn a_lone_segment_is_held_and_then_delayed() {
    receiver(EcnMode::Off).play(
        "100 < 17
         140.2 > ack 18
         200 < 18
         210 < 19
         210.2 > ack 20",
    );
}

/// 64 kB: 45 segments of 1448 bytes and their headers.
#[test]
fn an_aggregate_has_64_kb_at_most() {
    receiver(EcnMode::Off).play(
        "100 < 17:117
         100 > ack 62
         100 > ack 107
         100.2 > ack 117",
    );
}

/// Segments behind a hole are joined with each other, and reported by one duplicate ACK. The one that fills the
/// hole is held as well.
#[test]
fn what_is_out_of_order_goes_up_at_once() {
    receiver(EcnMode::Off).play(
        "100 < 17:20
         100.1 < 21:25 ts 100
         100.1 > ack 20
         100.3 > ack 20 sack 21:25
         101 < 20
         101.2 > ack 25",
    );
}

/// A duplicate aggregate is one D-SACK (RFC 2883 §4).
#[test]
fn what_came_before_is_reported_as_one_block() {
    receiver(EcnMode::Off).play(
        "100 < 17:20
         100.2 > ack 20
         101 < 17:20
         101.2 > ack 20 dsack 17:20",
    );
}

/// Linux joins segments only if their headers agree: each ms of the sender's clock begins a new aggregate.
#[test]
fn another_timestamp_ends_an_aggregate() {
    receiver(EcnMode::Off).play(
        "100 < 17:20
         100.1 < 20:23 ts 101
         100.1 > ack 20
         100.3 > ack 23",
    );
}

/// PSH, FIN and a short segment join and end the wait.
#[test]
fn the_end_of_a_message_is_not_held() {
    receiver(EcnMode::Off).play(
        "100 < 17:20
         100.1 < 20 ts 100 is psh
         100.1 > ack 21
         101 < 21:23
         101 < 23 len 100
         101 > ack 24
         102 < 24:26
         102 < 26 is last
         102 > fin ack 27",
    );
}

/// RFC 3168's echo and RFC 9768's counters see each mark, and an aggregate has one codepoint.
#[test]
fn another_codepoint_ends_an_aggregate() {
    receiver(EcnMode::Classic).play(
        "100 < 17:20 is ect
         100.1 < 20:22 ts 100 is ce
         100.1 > ack 20
         100.2 < 22:25 ts 100 is ect
         100.2 > ack 22 ece
         100.4 > ack 25 ece
         101 < 25 is cwr
         101 > ack 26",
    );
}

/// With Accurate ECN as well: every mark is counted, once.
#[test]
fn accurate_ecn_counts_what_is_joined() {
    let mut script = receiver(EcnMode::AccEcn(AccEcn::default()));
    script.hear(
        "100 < 17:20 is ect
         100 < 20:24 is ce
         101 < 24:26 is ect",
    );
    assert_eq!(script.receiver.counters().ce_pkts, 4);
}
