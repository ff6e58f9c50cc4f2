//! A limit of the segments held above a hole: what a receiver drops, and what it then acknowledges.

use dumbbell_tcp::ReceiverConfig;

use crate::script::{MSS_BYTES, NS_PER_MS, ReceiverScript, linux_receiver};

/// Holds `limit_pkts`; segments below 16 have arrived.
fn receiver(limit_pkts: u32, gro_ns: u64) -> ReceiverScript {
    let mut script = ReceiverScript::with(ReceiverConfig {
        gro_ns,
        ooo_limit_pkts: Some(limit_pkts),
        ..linux_receiver()
    });
    script.hear("0 < 0:16");
    script
}

/// FreeBSD's `tcp_reass`: what is beyond the limit is dropped and not reported. It is acknowledged at once,
/// where Linux would compress the fourth duplicate ACK.
#[test]
fn what_is_beyond_the_limit_is_dropped_and_not_reported() {
    let mut script = receiver(3, 0);
    script.play(
        "10 < 17
         10 > ack 16 sack 17
         11 < 18
         11 > ack 16 sack 17:19
         12 < 20
         12 > ack 16 sack 20 17:19
         13 < 19
         13 > ack 16 sack 20 17:19
         14 < 21:23
         14 > ack 16 sack 20 17:19
         14 > ack 16 sack 20 17:19",
    );
    assert_eq!(script.receiver.counters().ooo_dropped_pkts, 3);
    assert_eq!(script.receiver.counters().duplicate_pkts, 0);
}

/// `th->th_seq != tp->rcv_nxt`: the one that fills the hole is taken, and makes room as far as it releases.
#[test]
fn the_one_that_fills_the_hole_is_always_taken() {
    let mut script = receiver(2, 0);
    script.play(
        "10 < 17
         10 > ack 16 sack 17
         11 < 19
         11 > ack 16 sack 19 17
         12 < 21
         12 > ack 16 sack 19 17
         20 < 16
         20 > ack 18 sack 19
         21 < 21
         21 > ack 18 sack 21 19
         22 < 22
         22 > ack 18 sack 21 19
         30 < 18
         30 > ack 20 sack 21
         31 < 20
         31 > ack 22",
    );
    let counters = script.receiver.counters();
    assert_eq!(counters.ooo_dropped_pkts, 2);
    assert_eq!(counters.received_bytes, 22 * u64::from(MSS_BYTES));
}

/// One that is held already takes no room: it is a duplicate (RFC 2883 §4), whether or not there is room.
#[test]
fn a_duplicate_of_what_is_held_is_reported() {
    let mut script = receiver(1, 0);
    script.play(
        "10 < 17
         10 > ack 16 sack 17
         11 < 17
         11 > ack 16 dsack 17 sack 17
         12 < 18
         12 > ack 16 sack 17",
    );
    let counters = script.receiver.counters();
    assert_eq!((counters.duplicate_pkts, counters.ooo_dropped_pkts), (1, 1));
}

/// A FIN beyond the limit is dropped as well, and ends the connection when it comes again. Without payload it is
/// not counted.
#[test]
fn a_fin_beyond_the_limit_comes_again() {
    let mut script = receiver(1, 0);
    script.play(
        "10 < 17
         10 > ack 16 sack 17
         11 < 18 is fin
         11 > ack 16 sack 17
         20 < 16
         20 > ack 18
         30 < 18 is fin
         30 > fin ack 19",
    );
    assert_eq!(script.receiver.counters().ooo_dropped_pkts, 0);
}

/// Segments that receive offload joins count one by one, and get one ACK.
#[test]
fn what_came_up_together_is_cut_at_the_limit() {
    let mut script = receiver(3, NS_PER_MS / 5);
    script.play("0.2 > ack 16");
    script.play(
        "10 < 17:23
         10.2 > ack 16 sack 17:20",
    );
    assert_eq!(script.receiver.counters().ooo_dropped_pkts, 3);
}
