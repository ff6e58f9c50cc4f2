//! FreeBSD's receiver: `DELAY_ACK` and what it reports, next to Linux's.

use dumbbell_tcp::{ReceiverConfig, ReceiverRules};

use crate::script::{ReceiverScript, linux_receiver};

fn receiver(rules: ReceiverRules) -> ReceiverScript {
    ReceiverScript::with(ReceiverConfig {
        rules,
        ..linux_receiver()
    })
}

/// From the first segment on every second is acknowledged, where Linux has quick ACKs; one alone after 100 ms, where Linux's
/// delay is 40 ms at first. A short segment is one of two, too.
#[test]
fn every_second_segment_is_acknowledged_or_one_after_100_ms() {
    receiver(ReceiverRules::FreeBsd).play(
        "0 < 0
         1 < 1
         1 > ack 2
         2 < 2 len 100
         3 < 3
         3 > ack 4
         10 < 4
         110 > ack 5
         200 .",
    );
    receiver(ReceiverRules::Linux).play(
        "0 < 0
         0 > ack 1
         1 < 1
         1 > ack 2",
    );
}

/// Above a hole, and when it is filled partly, each segment is acknowledged at once. Six blocks are remembered (four by
/// Linux): when the newest three are acknowledged, three older ones are reported.
#[test]
fn above_a_hole_each_segment_is_acknowledged_and_six_blocks_are_remembered() {
    let story = |rules, last: &str| {
        let mut s = receiver(rules);
        s.hear("0 < 0:2");
        s.hear(
            "10 < 3
             11 < 5
             12 < 7
             13 < 9
             14 < 11
             15 < 13",
        );
        s.play(last);
    };
    story(
        ReceiverRules::FreeBsd,
        "20 < 2
         20 > ack 4 sack 13 11 9
         21 < 4
         21 > ack 6 sack 13 11 9
         22 < 13
         22 > ack 6 sack 13 11 9",
    );
}

/// A duplicate is acknowledged at once, without a D-SACK.
#[test]
fn a_duplicate_is_not_reported() {
    let mut s = receiver(ReceiverRules::FreeBsd);
    s.hear("0 < 0:2");
    s.play(
        "10 < 1
         10 > ack 2",
    );
    let mut s = receiver(ReceiverRules::Linux);
    s.hear("0 < 0:2");
    s.play(
        "10 < 1
         10 > ack 2 dsack 1",
    );
}
