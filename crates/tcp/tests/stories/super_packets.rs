//! Super-packets: what leaves as one, and how what arrives as one is acknowledged.

use dumbbell_tcp::{DATA_HEADER_BYTES, SenderConfig};

use crate::script::{MSS_BYTES, NS_PER_MS, ReceiverScript, SenderScript, bulk, load};

fn gso() -> SenderConfig {
    SenderConfig {
        tso: true,
        gso: true,
        ..bulk()
    }
}

fn wire_bytes(segments: u32) -> u32 {
    segments * (MSS_BYTES + DATA_HEADER_BYTES)
}

/// Linux sizes bursts by the pacing rate, with two segments at least; each is a packet whose size counts the
/// headers of every segment.
#[test]
fn a_burst_is_one_packet() {
    let mut s = SenderScript::established(gso(), load("reno"), 100);
    let pairs: Vec<_> = (0..5).map(|pair| (2 * pair, 2, wire_bytes(2))).collect();
    assert_eq!(s.take_super_packets(), pairs);
    // On a path of 1 ms half a cwnd of 10 is the limit.
    let mut s = SenderScript::established(gso(), load("reno"), 1);
    let halves = [(0, 5, wire_bytes(5)), (5, 5, wire_bytes(5))];
    assert_eq!(s.take_super_packets(), halves);
}

/// Identifications of IP packets go on as if each segment had been a packet (`ip_select_ident_segs`).
#[test]
fn the_last_segment_may_be_short_and_carry_the_fin() {
    let config = SenderConfig {
        size_bytes: Some(9 * u64::from(MSS_BYTES) + 100),
        closes: true,
        ..gso()
    };
    let mut s = SenderScript::established(config, load("reno"), 1);
    let short = wire_bytes(4) + 100 + DATA_HEADER_BYTES;
    let ids: Vec<u16> = s.ip_ids();
    assert_eq!(
        s.take_super_packets(),
        [(0, 5, wire_bytes(5)), (5, 5, short)]
    );
    assert_eq!(ids[1] - ids[0], 5);
}

/// What is lost is sent again one segment at a time, a packet each.
#[test]
fn retransmissions_are_single_segments() {
    let mut s = SenderScript::established(gso(), load("reno"), 100);
    s.skip();
    s.run_until(200 * NS_PER_MS);
    s.feed(&["ack", "2", "sack", "4:10"]);
    let sent = s.take_super_packets();
    let again = [(2, 1, wire_bytes(1)), (3, 1, wire_bytes(1))];
    assert!(sent.starts_with(&again), "{sent:?}");
}

/// Two segments that arrive one by one after the quick ACKs get one ACK; as one packet, one as well, at once; so do ten.
#[test]
fn a_super_packet_is_acknowledged_at_once_by_one_ack() {
    ReceiverScript::past_quickacks().play(
        "100 < 16:18 as one
         100 > ack 18
         101 < 18:28 as one
         101 > ack 28
         102 < 28
         103 < 29:33 as one
         103 > ack 33",
    );
}

/// Behind a hole there is a duplicate ACK per super-packet, and a D-SACK covers what comes again as one.
#[test]
fn what_is_out_of_order_or_a_duplicate_is_reported_as_one() {
    ReceiverScript::past_quickacks().play(
        "100 < 21:26 as one
         100 > ack 16 sack 21:26
         101 < 16:21 as one
         101 > ack 26
         102 < 16:21 as one
         102 > ack 26 dsack 16:21",
    );
}

/// The end of a message closes a super-packet as it closes a segment.
#[test]
fn a_super_packet_with_the_last_segment_closes() {
    ReceiverScript::past_quickacks().play(
        "100 < 16:20 as one is last
         100 > fin ack 20",
    );
}
