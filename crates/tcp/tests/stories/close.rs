//! Handshake and close by RFC 9293, also when packets are lost.

use dumbbell_tcp::{SegmentKind, SenderConfig};

use crate::script::{
    Fate, MSS_BYTES, NS_PER_MS, Pair, Path, ReceiverScript, SenderScript, bulk, load,
};

// Handshake.

/// RFC 9293 §3.5, figure 6: the SYN-ACK is acknowledged, before the data.
#[test]
fn rfc9293_the_third_packet_of_the_handshake_goes_first() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 1000);
    s.play(
        "0 > syn
         100 < synack
         100 > ack
         100 > 0:10",
    );
}

/// RFC 9293 §3.10.7.4: a SYN-ACK that arrives again is acknowledged again, and does not restart
/// anything.
#[test]
fn rfc9293_a_repeated_syn_ack_is_acknowledged_again() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 2
         200 > 10:14
         201 < synack
         201 > ack",
    );
    assert_eq!(s.cwnd(), 12);
}

/// RFC 6298 §5.5 for the passive side: an unacknowledged SYN-ACK is sent again after 1 s, then
/// after 2 s; Linux gives up after five.
#[test]
fn rfc6298_an_unacknowledged_syn_ack_is_repeated_with_backoff() {
    let mut s = ReceiverScript::new();
    s.play(
        "0 < syn
         0 > synack
         1000 > synack
         3000 > synack
         7000 > synack
         15000 > synack
         31000 > synack
         500000 .",
    );
}

/// RFC 9293 §3.10.7.4: the ACK of the SYN-ACK ends that, and so does data, which carries the same.
#[test]
fn rfc9293_ack_or_data_completes_the_handshake() {
    for completes in ["100 < ack", "100 < 0"] {
        let mut s = ReceiverScript::new();
        s.play("0 < syn\n0 > synack").hear(completes);
        s.play("5000 .");
    }
}

/// RFC 9293 §3.10.7.4, "fourth": an old SYN on an open connection gets an ACK, not a SYN-ACK.
#[test]
fn rfc9293_a_late_syn_gets_a_challenge_ack() {
    let mut s = ReceiverScript::new();
    s.play(
        "0 < syn
         0 > synack
         100 < 0:2
         100 > ack 1
         100 > ack 2
         150 < syn
         150 > ack 2
         5000 .",
    );
}

// The sender's close.

/// RFC 9293 §3.10.4: with all data out when the application closes, the FIN follows alone, when
/// cwnd lets it. Its ACK brings the receiver's FIN, which is acknowledged.
#[test]
fn rfc9293_a_fin_follows_data_that_is_out_already() {
    let mut s = SenderScript::reno_closing(100, 4);
    s.play(
        "100 > 0:4
         100 > 4 fin
         200 < ack 4",
    );
    assert!(s.sender.is_finished() && !s.sender.is_closed());
    s.play(
        "201 < fin ack 5
         201 > last ack
         100000 .",
    );
    assert!(s.sender.is_finished() && s.sender.is_closed());
    assert_eq!(s.sender.counters().sent_pkts, 4, "a FIN is not data");
    assert_eq!(s.sock().bytes_acked, 4 * u64::from(MSS_BYTES));
}

/// `tcp_send_fin`: data that still waits in the send buffer when the application closes carries the
/// FIN in its last segment.
#[test]
fn linux_the_fin_rides_on_data_that_waits() {
    let mut s = SenderScript::reno_closing(100, 13);
    s.play(
        "100 > 0:10
         200 < ack 2
         200 > 10:12
         200 > 12 last
         300 < fin ack 13
         300 > last ack
         100000 .",
    );
    assert!(s.sender.is_closed());
}

/// A stop in mid-transfer: nothing new, and the FIN as soon as cwnd has room.
#[test]
fn a_stopped_sender_closes() {
    let config = SenderConfig {
        closes: true,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play("100 > 0:10");
    s.sender.stop();
    s.play(
        "200 < ack 2
         200 > 10 fin
         300 < fin ack 11
         300 > last ack",
    );
    assert!(s.sender.is_finished() && s.sender.is_closed());
}

/// RFC 9293 §3.10.4: a connection on which nothing was written closes as well.
#[test]
fn rfc9293_a_stop_before_the_handshake_is_done_closes_after_it() {
    let config = SenderConfig {
        closes: true,
        ..bulk()
    };
    let mut s = SenderScript::connecting(config, load("reno"), 1000);
    s.sender.stop();
    s.play(
        "0 > syn
         100 < synack
         100 > ack
         100 > 0 fin
         200 < fin ack 1
         200 > last ack",
    );
}

/// RFC 9293 §3.8.1 with RFC 8985 §7: a FIN that is lost is sent again, first as a probe, then by
/// timeout (RFC 6298), until it is acknowledged.
#[test]
fn rfc9293_a_lost_fin_is_sent_again() {
    let mut s = SenderScript::reno_closing(100, 4);
    s.play(
        "100 > 0:4
         100 > 4 fin
         200 < ack 4
         500 > 4 fin rtx     // the probe, after one RTO of 300 ms at the latest
         800 > 4 fin rtx     // the timeout
         1400 > 4 fin rtx",
    );
    let counters = s.sender.counters();
    assert_eq!((counters.tlp_count, counters.rto_count), (1, 2));
    assert_eq!(counters.retransmitted_pkts, 0, "a FIN is not data");
    s.play(
        "1500 < fin ack 5
         1500 > last ack
         100000 .",
    );
}

/// RFC 2883 §4 of a FIN that arrived twice: no data was retransmitted, so none unnecessarily.
#[test]
fn rfc2883_an_unnecessary_fin_is_not_a_spurious_retransmission() {
    let mut s = SenderScript::reno_closing(100, 4);
    s.play(
        "100 > 0:4
         100 > 4 fin
         200 < ack 4
         500 > 4 fin rtx
         501 < ack 4 dsack 4:5",
    );
    let counters = s.sender.counters();
    assert_eq!(
        (counters.retransmitted_pkts, counters.spurious_retransmits),
        (0, 0)
    );
}

/// The same for a FIN on a data segment: that segment carries it every time.
#[test]
fn rfc9293_a_lost_last_segment_brings_its_fin_again() {
    let mut s = SenderScript::reno_closing(100, 11);
    s.play(
        "100 > 0:10
         200 < ack 10
         200 > 10 last
         500 > 10 last rtx
         700 < fin ack 11
         700 > last ack",
    );
    assert_eq!(s.sender.counters().retransmitted_pkts, 1);
}

/// RFC 9293 §3.10.7.4, "eighth": in TIME-WAIT a FIN that arrives again is acknowledged again.
#[test]
fn rfc9293_time_wait_acknowledges_a_repeated_fin() {
    let mut s = SenderScript::reno_closing(100, 1);
    s.play(
        "100 > 0
         100 > 1 fin
         200 < fin ack 2
         200 > last ack
         500 < fin ack 2
         500 > last ack",
    );
}

// The receiver's close.

/// RFC 9293 §3.10.7.4: the FIN is acknowledged when all before it has arrived, with the receiver's
/// own; it takes one sequence number.
#[test]
fn rfc9293_a_fin_is_acknowledged_with_the_receivers_own() {
    let mut s = ReceiverScript::new();
    s.play(
        "0 < syn
         0 > synack
         100 < 0
         100 > ack 1
         100 < 1 is fin
         100 > fin ack 2
         200 < last-ack
         100000 .",
    );
    assert!(s.receiver.is_closed());
    assert_eq!(s.receiver.counters().received_bytes, u64::from(MSS_BYTES));
    assert_eq!(s.receiver.counters().arrived_pkts, 1, "a FIN is not data");
}

/// The same for a FIN that came with the last, shorter segment: no delayed ACK.
#[test]
fn rfc9293_a_riding_fin_is_acknowledged_at_once() {
    let mut s = ReceiverScript::past_quickacks();
    s.play(
        "10 < 16 len 100 is last
         10 > fin ack 17
         60 < last-ack
         100000 .",
    );
    let received_bytes = s.receiver.counters().received_bytes;
    assert_eq!(received_bytes, 16 * u64::from(MSS_BYTES) + 100);
}

/// RFC 2018 §3: a FIN beyond a hole is SACKed like data and waits; it counts no byte.
#[test]
fn rfc2018_a_fin_beyond_a_hole_is_sacked() {
    let mut s = ReceiverScript::past_quickacks();
    s.play(
        "10 < 17 len 100
         10 > ack 16 sack 17
         11 < 18 is fin
         11 > ack 16 sack 17:19
         50 < 16
         50 > fin ack 19",
    );
    let received_bytes = s.receiver.counters().received_bytes;
    assert_eq!(received_bytes, 17 * u64::from(MSS_BYTES) + 100);
}

/// RFC 2883 §4: data that arrives again after the FIN is a duplicate like any other.
#[test]
fn rfc2883_duplicates_after_the_fin_are_reported() {
    let mut s = ReceiverScript::past_quickacks();
    s.play(
        "10 < 16 is last
         10 > fin ack 17
         20 < 16 is last
         20 > ack 17 dsack 16 after fin
         30 < last-ack
         40 < 16 is last
         40 > ack 17 dsack 16 after fin",
    );
}

/// RFC 9293 §3.8.1, RFC 6298 §2.2: an unacknowledged FIN of the receiver is sent again after the
/// RTO that its handshake measured: 100 ms + Linux's 200 ms, then twice that.
#[test]
fn rfc9293_the_receivers_fin_is_repeated_until_acknowledged() {
    let mut s = ReceiverScript::new();
    s.play(
        "0 < syn
         0 > synack
         100 < ack
         100 < 0 is last
         100 > fin ack 1
         400 > fin ack 1
         1000 > fin ack 1
         1100 < last-ack
         100000 .",
    );
}

// Both.

/// Whole connections in which one packet of handshake or close is lost: each closes on both sides.
#[test]
fn a_connection_closes_whichever_control_packet_is_lost() {
    let path = Path {
        rtt_ns: 40 * NS_PER_MS,
        bottleneck: Some((50_000_000, 1000)),
        back: None,
        rwnd_pkts: 1 << 20,
        delayed_ack: true,
    };
    for segments in [5, 100] {
        for lost in 0..7 {
            let config = SenderConfig {
                size_bytes: Some(segments * u64::from(MSS_BYTES)),
                closes: true,
                ..bulk()
            };
            let mut pair = Pair::new(config, load("reno"), path).on_control(|number| {
                if number == lost {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            });
            pair.run_to_close(10_000 * NS_PER_MS);
            assert_eq!(
                Some(pair.receiver.counters().received_bytes),
                config.size_bytes
            );
            let fins = pair.sent.iter().filter(|(_, header)| {
                matches!(header.kind(), SegmentKind::Fin | SegmentKind::LastData)
            });
            assert!(fins.count() >= 1);
        }
    }
}
