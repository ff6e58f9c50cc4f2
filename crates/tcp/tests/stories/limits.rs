//! What else limits a sender: receive window, send buffer, the application.

use dumbbell_tcp::SenderConfig;

use crate::script::{MSS_BYTES, NS_PER_MS, SenderScript, bulk, load};

/// RFC 9293 §3.8.6: nothing beyond SND.UNA + SND.WND; the time is charged to the receiver. RFC 7661
/// as in Linux: cwnd does not grow when it does not limit.
#[test]
fn rfc9293_the_receive_window_limits_and_is_charged() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 4);
    s.play(
        "0 > syn
         100 < synack
         100 > ack
         100 > 0:4
         200 < ack 2
         200 > 4:6
         201 < ack 4
         201 > 6:8",
    );
    assert_eq!(s.sender.counters().rwnd_limited_ns, 101 * NS_PER_MS);
    assert_eq!(s.sender.counters().cwnd_limited_ns, 0);
    assert_eq!(s.cwnd(), 10);
}

/// RFC 9293 §3.8.6.2.1 (SHLD-15): nothing new is sent while the window is smaller than what is on its
/// way, also after a larger offer.
#[test]
fn rfc9293_a_window_that_shrinks_stops_new_data() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 20);
    s.play(
        "0 > syn
         100 < synack
         100 > ack
         100 > 0:10
         200 < ack 1 win 5   // up to 20 was offered
         210 < ack 5 win 5   // as much as is on its way
         220 < ack 6 win 6
         220 > 10:12",
    );
}

/// The send buffer holds what is unacknowledged, and limits; what it limits counts as
/// application-limited for delivery rates, as in Linux.
#[test]
fn the_send_buffer_limits_and_is_charged() {
    let config = SenderConfig {
        sndbuf_pkts: 4,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play(
        "100 > 0:4
         200 < ack 2
         200 > 4:6",
    );
    assert_eq!(s.sender.counters().sndbuf_limited_ns, 100 * NS_PER_MS);
    assert_ne!(s.sock().app_limited, 0);
}

/// cwnd-limited time is charged to cwnd.
#[test]
fn cwnd_limits_and_is_charged() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 10
         200 > 10:30",
    );
    assert_eq!(s.sender.counters().cwnd_limited_ns, 100 * NS_PER_MS);
    assert!(s.sock().is_cwnd_limited());
}

/// In slow start cwnd grows to twice what was used of it at most (Linux's RFC 7661).
#[test]
fn rfc7661_slow_start_stops_at_twice_what_was_used() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 8);
    s.play(
        "0 > syn
         100 < synack
         100 > ack
         100 > 0:8
         200 < ack 8
         200 > 8:16
         300 < ack 16
         300 > 16:24
         400 < ack 24
         400 > 24:32",
    );
    assert_eq!(s.cwnd(), 18, "10 + 8; then 18 ≥ 2·8");
}

/// A transfer ends with the rest of its size, on the wire plus 66 bytes of headers.
#[test]
fn a_sized_transfer_sends_its_bytes_and_no_more() {
    let config = SenderConfig {
        size_bytes: Some(2 * u64::from(MSS_BYTES) + 100),
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    let wire_bytes: Vec<u32> = s.packets.iter().map(|(_, p)| p.wire_bytes).collect();
    assert_eq!(wire_bytes, [1514, 1514, 166]);
    s.play(
        "100 > 0:3
         200 < ack 2",
    );
    assert!(!s.sender.is_finished());
    s.play("201 < ack 3");
    assert!(s.sender.is_finished());
    assert_eq!(s.sender.next_timer_ns(), u64::MAX, "no timer without data");
}

/// After `stop` nothing new leaves, but what was sent is delivered, repairs included.
#[test]
fn a_stopped_sender_still_repairs_what_it_sent() {
    let mut s = SenderScript::reno(100);
    s.play("100 > 0:10");
    s.sender.stop();
    s.play(
        "200 < ack 1
         201 < ack 1 sack 2:5
         201 > 1 rtx
         301 < ack 10",
    );
    assert!(s.sender.is_finished());
}

/// RFC 7661 as in Linux: that cwnd was the limit is remembered for the round trip.
#[test]
fn rfc7661_being_limited_by_cwnd_is_remembered_for_a_round_trip() {
    let mut s = SenderScript::reno_within_10();
    s.play(
        "200 < ack 1
         200 > 10",
    );
    assert!(s.sock().packets_in_flight() < s.cwnd());
    assert!(s.sock().is_cwnd_limited());
    s.play(
        "201 < ack 10
         201 > 11:20",
    );
    assert!(!s.sock().is_cwnd_limited());
}

/// A probe respects the send buffer (and the receive window): the last segment is sent again.
#[test]
fn a_probe_stays_within_the_send_buffer() {
    let config = SenderConfig {
        sndbuf_pkts: 4,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play(
        "100 > 0:4
         302 > 3 rtx",
    );
}
