//! The receiver: when it acknowledges and what the ACK contains.

use dumbbell_tcp::{Reader, ReceiverConfig};

use crate::script::{MSS_BYTES, NS_PER_MS, ReceiverScript, linux_receiver};

/// Linux acknowledges the first sixteen segments one by one, so that slow start is not slowed.
#[test]
fn sixteen_quick_acks_then_every_second_segment() {
    let mut r = ReceiverScript::new();
    let quick: String = (0..16)
        .map(|seq| format!("{seq} < {seq}\n {seq} > ack {}\n", seq + 1))
        .collect();
    r.play(&quick);
    // RFC 5681 §4.2: an ACK at least for every second full-sized segment.
    r.play(
        "16 < 16
         17 < 17
         17 > ack 18
         18 < 18
         19 < 19
         19 > ack 20",
    );
}

/// RFC 5681 §4.2: out-of-order segments are acknowledged at once, and so is the one that fills
/// the gap. The ACK echoes the segment that fills it (RFC 7323 §4.3).
#[test]
fn rfc5681_out_of_order_and_gap_filling_segments_are_acknowledged_at_once() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "10 < 17
         10 > ack 16 sack 17 ecr 0
         11 < 18
         11 > ack 16 sack 17:19 ecr 0
         20 < 16
         20 > ack 19 ecr 20",
    );
}

/// RFC 2018 §4: the first block has the segment that just arrived, the others the most recently
/// reported; §3: three fit next to timestamps.
#[test]
fn rfc2018_newest_block_first_and_three_blocks_at_most() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 17
         1 > ack 16 sack 17
         2 < 19
         2 > ack 16 sack 19 17
         3 < 21
         3 > ack 16 sack 21 19 17
         5 < 23                        // the fourth duplicate ACK is compressed
         6.1 > ack 16 sack 23 21 19
         7 < 18                        // joins 17 and 19, which was pushed out of sight
         8.1 > ack 16 sack 17:20 23 21
         9 < 16
         9 > ack 20 sack 23 21",
    );
}

/// RFC 2883 §4: a duplicate is reported at once, in the first block, below the cumulative ACK.
#[test]
fn rfc2883_a_duplicate_below_the_ack_is_reported_at_once() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 3
         1 > ack 16 dsack 3
         2 < 18
         2 > ack 16 sack 18
         3 < 4
         3 > ack 16 dsack 4 sack 18",
    );
    assert_eq!(r.receiver.counters().duplicate_pkts, 2);
}

/// RFC 2883 §4: above the cumulative ACK the second block is the larger one that has the
/// duplicate.
#[test]
fn rfc2883_a_duplicate_above_the_ack_comes_with_the_block_that_has_it() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 18
         1 > ack 16 sack 18
         2 < 19
         2 > ack 16 sack 18:20
         3 < 22
         3 > ack 16 sack 22 18:20
         4 < 19
         4 > ack 16 dsack 19 sack 18:20 22",
    );
}

/// A D-SACK takes one of the three blocks.
#[test]
fn rfc2883_a_dsack_leaves_room_for_two_blocks() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 18
         1 > ack 16 sack 18
         2 < 20
         2 > ack 16 sack 20 18
         3 < 22
         3 > ack 16 sack 22 20 18
         4 < 0
         4 > ack 16 dsack 0 sack 22 20",
    );
}

/// RFC 5681 §4.2 wants an ACK per out-of-order segment; Linux sends three and compresses the
/// rest into one per min(1 ms, RTT/20) and 0.1 ms of slack, at most 44 segments each.
#[test]
fn sacks_beyond_the_third_duplicate_ack_are_compressed_for_a_millisecond() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "10 < 17
         10 > ack 16 sack 17
         10.1 < 18
         10.1 > ack 16 sack 17:19
         10.2 < 19
         10.2 > ack 16 sack 17:20
         10.3 < 20
         10.4 < 21
         11.2 < 22
         11.4 > ack 16 sack 17:23    // 1.1 ms after 20
         11.5 < 23
         12.6 > ack 16 sack 17:24",
    );
    // 44 are compressed at most: the 45th is acknowledged at once.
    r.play(
        "20 < 24:68
         20.5 < 68
         20.5 > ack 16 sack 17:69
         30 .",
    );
}

/// Linux: SACK compression is bounded by RTT/20, here 0.1 ms, and the slack.
#[test]
fn sack_compression_shrinks_with_the_rtt() {
    let mut r = ReceiverScript::with(ReceiverConfig {
        rwnd_bytes: 4 * MSS_BYTES,
        rtt_ns: 2 * NS_PER_MS,
        ..linux_receiver()
    });
    r.play(
        "0 < 0
         0 > ack 1
         1 < 1
         1 > ack 2      // two quick ACKs: half of the window
         2 < 3
         2 > ack 2 sack 3
         2.01 < 4
         2.01 > ack 2 sack 3:5
         2.02 < 5
         2.02 > ack 2 sack 3:6
         2.03 < 6
         2.23 > ack 2 sack 3:7",
    );
}

/// Linux from 5.8 on: an ACK is sure to have room for two blocks. Before a segment moves back others that no ACK has reported,
/// they are reported; the segment itself then waits.
#[test]
fn blocks_are_reported_before_they_are_pushed_out_of_sight() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 17
         1 > ack 16 sack 17
         1.1 < 19
         1.1 > ack 16 sack 19 17
         1.2 < 21
         1.2 > ack 16 sack 21 19 17
         1.3 < 23                        // compressed
         1.4 < 25
         1.4 > ack 16 sack 23 21 19      // without 25, of which no ACK is due
         1.5 < 27                        // compressed
         1.6 < 29
         1.6 > ack 16 sack 27 25 23
         1.7 < 30                        // joins 29, which is the first block
         2.8 > ack 16 sack 29:31 27 25",
    );
}

/// While the window grows from what a SYN can offer, Linux's next ACK is quick: one more than sixteen.
#[test]
fn a_window_that_grows_allows_a_seventeenth_quick_ack() {
    for (rwnd_bytes, quick) in [(45 * MSS_BYTES, 16), (1000 * MSS_BYTES, 17)] {
        let mut r = ReceiverScript::with(ReceiverConfig {
            rwnd_bytes,
            ..linux_receiver()
        });
        r.feed(&["0:17"]);
        assert_eq!(r.take_acks().len(), quick);
    }
}

/// What ends in PSH is acknowledged when the application has read it, which one that waits for 4 segments does later.
#[test]
fn psh_is_acknowledged_when_it_is_read() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 16 is psh
         1 > ack 17",
    );
    let mut r = ReceiverScript::with(ReceiverConfig {
        reader: Reader {
            prompt_bytes: 16 * u64::from(MSS_BYTES),
            low_water_bytes: 4 * u64::from(MSS_BYTES),
            read_bytes: 0,
        },
        ..linux_receiver()
    });
    r.hear("0 < 0:16");
    r.take_acks();
    r.play(
        "1 < 16 is psh      // not read
         2 < 17
         2 > ack 18         // the second segment
         3 < 18
         4 < 19 is psh      // the fourth is read
         4 > ack 20",
    );
}

/// A partial fill still leaves a gap: the count of duplicate ACKs restarts.
#[test]
fn a_partial_fill_restarts_the_duplicate_acks() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "1 < 18:21
         1 > ack 16 sack 18
         1 > ack 16 sack 18:20
         1 > ack 16 sack 18:21
         1.5 < 16
         1.5 > ack 17 sack 18:21",
    );
}

/// RFC 7323 §4.3: TS.Recent never goes back: a delayed original does not disguise that the
/// retransmission came first.
#[test]
fn rfc7323_the_echo_never_goes_back() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "20 < 16 ts 20
         21 < 17 ts 21
         21 > ack 18 ecr 20
         22 < 16 ts 1
         22 > ack 18 dsack 16 ecr 20",
    );
}

/// Data delivered to the application is counted to the byte, also when the short last segment of a
/// transfer overtakes the only other one.
#[test]
fn received_bytes_are_exact_when_the_last_segment_comes_first() {
    let mut r = ReceiverScript::new();
    r.play(
        "0 < syn
         0 > synack
         1 < 1 len 100
         1 > ack 0 sack 1
         2 < 0
         2 > ack 2",
    );
    assert_eq!(r.receiver.counters().received_bytes, 1448 + 100);
    assert_eq!(r.receiver.counters().arrived_pkts, 2);
}

/// Ethernet, IP and TCP headers with timestamps are 66 bytes; a SACK option is two NOPs, kind, length
/// and eight bytes a block (RFC 2018 §3), at most three beside timestamps; a SYN-ACK has a SYN's options.
#[test]
fn acks_have_wire_sizes() {
    let mut r = ReceiverScript::new();
    let mut sizes = |words: &[&[&str]]| -> Vec<u32> {
        for word in words {
            r.feed(word);
        }
        r.take_acks().iter().map(|ack| ack.wire_bytes).collect()
    };
    assert_eq!(sizes(&[&["syn"]]), [74]);
    assert_eq!(sizes(&[&["ack"], &["0"]]), [66]);
    let holes: [&[&str]; 3] = [&["2"], &["4"], &["6"]];
    assert_eq!(sizes(&holes), [78, 86, 94]);
    assert_eq!(
        sizes(&[&["6"]]),
        [94],
        "a duplicate and two of three blocks"
    );
    assert_eq!(
        sizes(&[&["1"], &["3"], &["5"], &["7", "is", "last"]]).last(),
        Some(&66),
        "a FIN"
    );
}

// Segments that are not full, and applications that answer.

/// RFC 5681 §4.2: it is bytes that count: a second full segment's worth, however many segments they
/// are.
#[test]
fn rfc5681_the_second_segment_is_counted_in_bytes() {
    let mut r = ReceiverScript::answering();
    r.play(
        "10 < 17
         11 < 18 len 1
         11 > ack 19",
    );
    let mut r = ReceiverScript::answering();
    r.play(
        "10 < 17 len 1447
         11 < 18 is psh
         11 > ack 19",
    );
}

/// Two ends of messages are acknowledged whether the application answers or not, as in Linux.
#[test]
fn a_second_message_does_not_wait_for_an_answer() {
    let mut r = ReceiverScript::answering();
    r.play(
        "10 < 17 len 100 is psh
         11 < 18 len 100 is psh
         11 > ack 19",
    );
}

/// A segment that is not full ends a message, and so does PSH: the application has read it all, and
/// Linux does not let the sender wait.
#[test]
fn the_end_of_a_message_is_acknowledged_when_it_is_read() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "10 < 16 len 100 is psh
         10 > ack 17
         20 < 17 is psh
         20 > ack 18
         30 < 18
         70 > ack 19",
    );
}

/// RFC 1122 §4.2.3.2: the ACK waits for the answer, once the application has answered in time
/// (Linux's pingpong mode); if no answer comes it leaves after 40 ms, and the next message's end is
/// acknowledged when it is read.
#[test]
fn rfc1122_the_ack_waits_for_an_answer() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "100 < 16 len 100 is psh
         100 > ack 17
         105 ! answer
         200 < 17 len 100 is psh
         205 ! answer
         205 > ack 18
         300 < 18 len 100 is psh
         340 > ack 19
         400 < 19 len 100 is psh
         400 > ack 20",
    );
}

/// The sixteen quick ACKs of the start do not disturb a conversation, as in Linux.
#[test]
fn quick_acks_wait_for_answers_too() {
    let mut r = ReceiverScript::new();
    r.play(
        "0 < 0 len 100 is psh
         0 > ack 1
         1 ! answer
         100 < 1 len 100 is psh
         101 ! answer
         101 > ack 2",
    );
}

/// An answer that comes later than an ACK may wait is none.
#[test]
fn a_late_answer_does_not_delay_acks() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "100 < 16 len 100 is psh
         100 > ack 17
         150 ! answer
         200 < 17 len 100 is psh
         200 > ack 18",
    );
}

/// Two segments of the same smaller size in a row: the sender's full segments have become that small,
/// and of those every second is acknowledged.
#[test]
fn smaller_full_segments_are_recognised() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "10 < 16 len 1000
         10 > ack 17
         11 < 17 len 1000
         12 < 18 len 1000
         12 > ack 19
         13 < 19 len 1000
         14 < 20 len 1000
         14 > ack 21",
    );
}

/// Short segments that waited beyond a hole are counted with their bytes (RFC 9293 §3.10.7.4).
#[test]
fn rfc9293_short_segments_beyond_a_hole_count_their_bytes() {
    let mut r = ReceiverScript::past_quickacks();
    r.hear(
        "10 < 17 len 10
         10 < 19 len 20
         10 < 18
         10 < 16 len 1",
    );
    let bytes = r.receiver.counters().received_bytes;
    assert_eq!(bytes, u64::from(17 * MSS_BYTES) + 31);
}
