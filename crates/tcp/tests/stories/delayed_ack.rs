//! How long an ACK waits (RFC 1122 §4.2.3.2, RFC 5681 §4.2), as Linux decides it.

use dumbbell_tcp::ReceiverConfig;

use crate::script::{ReceiverScript, linux_receiver};

/// RFC 5681 §4.2, RFC 1122 §4.2.3.2: an ACK is delayed by at most 500 ms; Linux's delay is 40 ms.
#[test]
fn rfc5681_a_lone_segment_is_acknowledged_after_40_ms() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "10 < 16
         50 > ack 17
         60 < 17
         61 < 18
         61 > ack 19
         200 .",
    );
}

/// An ACK that leaves because its delay has passed makes the next delays longer, up to the round trip that the handshake
/// measured (`tcp_delack_timer_handler`, `tcp_send_delayed_ack`).
#[test]
fn a_delay_doubles_when_it_was_for_nothing_but_is_no_longer_than_a_round_trip() {
    let mut r = ReceiverScript::past_quickacks_of_rtt_ms(100);
    r.play(
        "150 < 16
         190 > ack 17
         350 < 17
         430 > ack 18
         600 < 18
         700 > ack 19",
    );
    let mut r = ReceiverScript::past_quickacks_of_rtt_ms(20);
    r.play(
        "100 < 16
         140 > ack 17
         250 < 17
         290 > ack 18",
    );
}

/// Gaps of 35 ms raise the estimate above them, and a second segment is waited for; where the round trip is shorter, not
/// that long.
#[test]
fn gaps_between_segments_lengthen_the_delay_up_to_a_round_trip() {
    let gaps = "150 < 16
         185 < 17
         185 > ack 18
         220 < 18
         255 < 19
         255 > ack 20
         290 < 20";
    let mut r = ReceiverScript::past_quickacks_of_rtt_ms(100);
    r.play(&format!("{gaps}\n 358.125 > ack 21"));
    let mut r = ReceiverScript::past_quickacks_of_rtt_ms(20);
    r.play(&format!("{gaps}\n 330 > ack 21"));
}

/// Without delayed ACKs every segment is acknowledged.
#[test]
fn without_delayed_acks_every_segment_is_acknowledged() {
    let mut r = ReceiverScript::with(ReceiverConfig {
        delayed_ack: false,
        ..linux_receiver()
    });
    let script: String = (0..40)
        .map(|seq| format!("{seq} < {seq}\n {seq} > ack {}\n", seq + 1))
        .collect();
    r.play(&script);
}

/// Linux: a gap longer than the sender's RTO asks for quick ACKs; segments out of order do not
/// count, the gap is between those that advance the window.
#[test]
fn a_long_gap_asks_for_quick_acks_again() {
    let mut r = ReceiverScript::past_quickacks_of_rtt_ms(100);
    r.play(
        "500 < 16
         500 > ack 17
         501 < 17
         501 > ack 18",
    );
    let mut r = ReceiverScript::past_quickacks_of_rtt_ms(100);
    r.play(
        "300 < 17
         300 > ack 16 sack 17
         401 < 16
         401 > ack 18
         402 < 18
         402 > ack 19",
    );
}
