//! Handshake, initial window, slow start.

use dumbbell_tcp::{Behaviour, SYN_BYTES, SegmentKind, SenderConfig};

use crate::script::{SenderScript, bulk, load};

/// RFC 6928 §2: the initial window is ten segments (14,480 B of 1448 B each).
#[test]
fn rfc6928_initial_window_is_ten_segments() {
    let mut s = SenderScript::reno(100);
    s.play("100 > 0:10");
    assert_eq!(s.cwnd(), 10);
    assert_eq!(s.sock().max_packets_out, 10);
}

/// RFC 5681 §3.1: cwnd grows by what is acknowledged, so it doubles each round trip.
#[test]
fn rfc5681_slow_start_doubles_each_round_trip() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 2
         200 > 10:14
         200 < ack 10
         200 > 14:30
         300 < ack 30
         300 > 30:70",
    );
    assert_eq!(s.cwnd(), 40);
}

/// RFC 6298 §2.1, §5.7: the SYN is sent again after 1 s and its timeout doubles; in Linux from 6.5 on after four
/// more of the same length (`tcp_syn_linear_timeouts`).
#[test]
fn rfc6298_syn_timeout_starts_at_one_second_and_doubles() {
    for (doubles_syn_timeouts, times_ms) in [
        (false, [1000, 2000, 3000, 4000, 5000, 7000]),
        (true, [1000, 3000, 7000, 15_000, 31_000, 63_000]),
    ] {
        let behaviour = Behaviour {
            doubles_syn_timeouts,
            ..Behaviour::default()
        };
        let config = SenderConfig {
            behaviour,
            ..bulk()
        };
        let mut s = SenderScript::connecting(config, load("reno"), 1000);
        s.play("0 > syn");
        for time_ms in times_ms {
            s.play(&format!("{time_ms} > syn"));
        }
        assert_eq!(s.sender.counters().syn_retransmits, 6);
    }
}

/// RFC 6298 §3 (Karn): only the timestamp shows which SYN was answered.
#[test]
fn rfc6298_karn_rtt_of_a_repeated_syn_comes_from_its_timestamp() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 1000);
    s.play(
        "0 > syn
         1000 > syn
         1080 < synack ecr 1000
         1080 > ack
         1080 > 0:10",
    );
    assert_eq!(s.sock().srtt_us >> 3, 80_000);
    assert_eq!(s.sender.latest_rtt_us(), 80_000);
}

/// RFC 6298 §5.7, RFC 5681 §3.1: with the SYN lost the initial window is one segment. Linux
/// forgives the first loss, because a second of waiting was conservative enough.
#[test]
fn rfc5681_initial_window_is_one_segment_after_two_lost_syns() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 1000);
    s.play(
        "0 > syn
         1000 > syn
         2000 > syn
         2080 < synack ecr 2000
         2080 > ack
         2080 > 0",
    );
    assert_eq!(s.cwnd(), 1);
}

/// A path of more than 2 s: both repetitions were spurious, as the echo of the first SYN's time shows (RFC 4015).
#[test]
fn a_late_answer_to_the_first_syn_leaves_the_initial_window() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 1000);
    s.play(
        "0 > syn
         1000 > syn
         2000 > syn
         2100 < synack ecr 0
         2100 > ack
         2100 > 0:10",
    );
    assert_eq!(s.cwnd(), 10);
}

/// A SYN-ACK that arrives twice has no effect.
#[test]
fn a_second_syn_ack_is_ignored() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         101 < synack
         101 > ack
         200 .",
    );
    assert_eq!(s.sock().srtt_us >> 3, 100_000);
}

/// A SYN has 20 bytes of options: MSS, SACK-permitted, timestamps, window scale.
#[test]
fn a_syn_is_74_bytes_on_the_wire() {
    let s = SenderScript::connecting(bulk(), load("reno"), 1000);
    let (_, packet) = s.packets[0];
    assert_eq!(packet.header.kind(), SegmentKind::Syn);
    assert_eq!((packet.wire_bytes, SYN_BYTES), (74, 74));
}

/// Before the first ACK Linux paces (and sizes bursts) by 200 % of the initial window per SRTT.
#[test]
fn the_pacing_rate_is_known_from_the_handshake_on() {
    let s = SenderScript::reno(100);
    assert_eq!(s.sock().sk_pacing_rate, 2 * 10 * 1448 * 10);
}
