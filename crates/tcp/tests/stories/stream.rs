//! What an application that writes as it goes along sees of TCP: segments of any size, Nagle, pauses
//! and unused windows, short flows.

use dumbbell_cc::CaState;
use dumbbell_net::Header as _;
use dumbbell_tcp::{Half, Sender, SenderConfig};

use crate::script::{Fate, MSS_BYTES, NS_PER_MS, Pair, Path, SenderScript, bulk, load, load_with};

const MSS: u64 = MSS_BYTES as u64;

fn no_delay() -> SenderConfig {
    SenderConfig {
        nagle: false,
        ..bulk()
    }
}

// Segments.

/// RFC 9293 §3.4: bytes are numbered, however they are cut: the socket's fields, what is written and
/// what is acknowledged count them.
#[test]
fn rfc9293_bytes_are_counted_however_they_are_cut() {
    let mut s = SenderScript::writing(no_delay(), 100);
    s.play(
        "100 ! write 100
         100 > 0 len 100
         110 ! write 3000
         110 > 1:3
         110 > 3 len 104
         120 ! write 7
         120 > 4 len 7
         200 < ack 2",
    );
    assert_eq!(s.sender.written_bytes(), 3107);
    assert_eq!(s.sender.acknowledged_bytes(), 100 + MSS);
    let sock = s.sock();
    assert_eq!(
        (sock.snd_una, sock.snd_nxt, sock.write_seq),
        (1548, 3107, 3107)
    );
    assert_eq!((sock.bytes_sent, sock.bytes_acked), (3107, 1548));
    s.play("210 < ack 5");
    assert!(s.sender.is_finished());
    assert_eq!(s.sender.acknowledged_bytes(), 3107);
}

/// A short segment that is lost is sent again as it was (RFC 9293 §3.8.1).
#[test]
fn rfc9293_a_lost_short_segment_is_repeated_as_it_was() {
    let mut s = SenderScript::writing(no_delay(), 100);
    s.play(
        "100 ! write 10
         100 > 0 len 10
         101 ! write 20
         101 > 1 len 20
         102 ! write 30
         102 > 2 len 30
         103 ! write 40
         103 > 3 len 40
         200 < ack 0 sack 1
         201 < ack 0 sack 1:3
         202 < ack 0 sack 1:4
         202 > 0 rtx len 10
         302 < ack 4",
    );
    assert!(s.sender.is_finished());
    assert_eq!(s.sock().bytes_retrans, 10);
    assert_eq!(s.state(), CaState::Open);
}

/// What is written before a segment leaves joins it: only the last bytes written make a short one.
#[test]
fn what_waits_for_the_window_is_sent_in_full_segments() {
    let mut s = SenderScript::writing(no_delay(), 100);
    s.play(
        "100 ! write 14480
         100 > 0:10
         101 ! write 1000
         102 ! write 1000
         200 < ack 2
         200 > 10
         200 > 11 len 552",
    );
}

// Nagle.

/// RFC 1122 §4.2.3.4: while a short segment is unacknowledged no other leaves; full ones do. What
/// accumulated meanwhile leaves with the ACK.
#[test]
fn rfc1122_nagle_holds_a_second_short_segment() {
    let mut s = SenderScript::reno_writing(100);
    s.play(
        "100 ! write 100
         100 > 0 len 100
         110 ! write 100
         120 ! write 100
         130 ! write 1300
         130 > 1
         200 < ack 1
         200 > 2 len 52
         300 < ack 3",
    );
    assert!(s.sender.is_finished());
}

/// Minshall's form, as in Linux: full segments in flight do not hold a short one, so that the end of a
/// long write is not delayed.
#[test]
fn minshall_the_end_of_a_long_write_does_not_wait() {
    let mut s = SenderScript::reno_writing(100);
    s.play(
        "100 ! write 5000
         100 > 0:3
         100 > 3 len 656
         110 ! write 1
         200 < ack 3
         201 < ack 4
         201 > 4 len 1",
    );
}

/// RFC 1122 §4.2.3.4: an application can turn it off.
#[test]
fn rfc1122_without_nagle_every_write_leaves() {
    let mut s = SenderScript::writing(no_delay(), 100);
    s.play(
        "100 ! write 1
         100 > 0 len 1
         101 ! write 1
         101 > 1 len 1",
    );
}

/// Nor does the last segment wait when the application closes, as in Linux.
#[test]
fn the_fin_takes_what_nagle_held() {
    let mut s = SenderScript::reno_writing(100);
    s.play(
        "100 ! write 100
         100 > 0 len 100
         110 ! write 100
         120 ! close
         120 > 1 last len 100
         200 < fin ack 2
         200 > last ack",
    );
    assert!(s.sender.is_closed());
}

/// RFC 8985 §7.3: a loss probe sends what Nagle held, as in Linux. 2·RTT, and 200 ms more as the ACK
/// of a single packet may be delayed, but no later than the RTO.
#[test]
fn a_loss_probe_does_not_wait_for_nagle() {
    let mut s = SenderScript::reno_writing(50);
    s.play(
        "100 ! write 100
         100 > 0 len 100
         110 ! write 100
         350 > 1 len 100",
    );
    assert_eq!(s.sender.counters().tlp_count, 1);
}

/// A source without end that stops and at once goes on was never without data: what it sends is not
/// marked as application-limited where the receive window leaves room in cwnd. A new write would be.
#[test]
fn a_source_that_goes_on_at_once_is_not_application_limited() {
    for goes_on in [true, false] {
        let mut s = SenderScript::reno(100);
        s.hear("200 < ack 5 win 5");
        let marked_until = s.sock().app_limited;
        s.sender.stop();
        if goes_on {
            s.sender.write_on(u64::MAX);
        } else {
            s.sender.write(u64::MAX);
        }
        s.hear("210 < ack 5 win 5");
        assert_eq!(s.sock().app_limited == marked_until, goes_on);
    }
}

// Pauses and unused windows.

/// Slow start has made 40 of cwnd; then all is acknowledged.
fn with_cwnd_of_40() -> SenderScript {
    let mut s = SenderScript::reno_writing(100);
    s.hear(
        "100 ! write 14480
         200 < ack 10
         200 ! write 28960
         300 < ack 30
         300 .",
    );
    assert_eq!(s.cwnd(), 40);
    s
}

/// RFC 5681 §4.1: after a pause of more than an RTO no more than the restart window is sent. Linux
/// gets there by halving for every RTO of the pause (RFC 2861 §3.2).
#[test]
fn rfc5681_a_long_pause_restarts_from_the_initial_window() {
    let mut s = with_cwnd_of_40();
    s.play(
        "2000 ! write 57920
         2000 > 30:40",
    );
    assert_eq!(s.cwnd(), 10);
}

/// RFC 2861 §3.2: half for every RTO, which is 300 ms here: the variance has Linux's floor.
#[test]
fn rfc2861_cwnd_is_halved_for_every_rto_of_a_pause() {
    for (pause_ms, cwnd) in [(300, 40), (301, 20), (600, 20), (601, 10)] {
        let mut s = with_cwnd_of_40();
        s.hear(&format!("{} ! write 100", 200 + pause_ms));
        assert_eq!(s.cwnd(), cwnd, "{pause_ms} ms after it sent last");
    }
}

/// `tcp_slow_start_after_idle` off keeps it, and so does a congestion control algorithm that sets cwnd itself.
#[test]
fn a_pause_may_leave_cwnd_alone() {
    let kept = SenderConfig {
        slow_start_after_idle: false,
        ..bulk()
    };
    let mut s = SenderScript::writing(kept, 100);
    s.hear(
        "100 ! write 14480
         200 < ack 10
         2000 ! write 28960",
    );
    assert_eq!(s.cwnd(), 20);
    let mut s = SenderScript::writing_with(bulk(), load("bbr"), 100);
    s.hear(
        "100 ! write 14480
         200 < ack 10",
    );
    let cwnd = s.cwnd();
    s.hear("2000 ! write 28960");
    assert_eq!(s.cwnd(), cwnd);
}

/// RFC 2861 §3.2: an application that leaves cwnd unused for an RTO loses half of what it left, down
/// to the initial window. Linux counts from the last ACK that let cwnd grow, so that it takes ACKs
/// that are slow.
#[test]
fn rfc2861_an_unused_cwnd_falls() {
    let mut s = with_cwnd_of_40();
    s.hear("500 ! write 1448");
    assert_eq!(s.cwnd(), 40);
    s.hear("599 ! write 1448");
    assert_eq!(s.cwnd(), 40);
    s.hear("600 ! write 1448");
    assert_eq!(s.cwnd(), 25, "halfway to the initial window");
    s.hear("601 ! write 1448");
    assert_eq!(s.cwnd(), 25, "once per RTO");
}

/// A bulk transfer does not lose it, by any limit: it fills the send buffer.
#[test]
fn bulk_keeps_an_unused_cwnd() {
    let mut s = SenderScript::connecting(bulk(), load("reno"), 20);
    s.hear(
        "100 < synack
         200 < ack 10
         300 < ack 30",
    );
    let cwnd = s.cwnd();
    s.hear("590 < ack 31");
    s.hear("610 < ack 32");
    assert!(s.cwnd() >= cwnd);
}

/// RFC 7661 §4.3, draft-ietf-ccwg-bbr §4.1.1.4: what follows a pause measures the application, not
/// the path, until as much is delivered as was then.
#[test]
fn samples_after_a_pause_are_marked_as_limited_by_the_application() {
    let mut s = SenderScript::reno_writing(100);
    s.hear("100 ! write 14480");
    assert_eq!(
        s.sock().app_limited,
        1,
        "the first write finds nothing, as in Linux"
    );
    s.hear(
        "200 < ack 10
         250 ! write 57920",
    );
    assert_eq!(s.sock().app_limited, 11);
    s.hear("350 < ack 12");
    assert_eq!(s.sock().app_limited, 0);
    s.hear("360 ! write 28960");
    assert_eq!(s.sock().app_limited, 0, "there was more to send");
}

// Short flows.

/// RFC 6928: from ten segments on, slow start sends twice as many in every round trip: a flow of n
/// segments alone takes ⌈log₂(n/10 + 1)⌉ round trips after the handshake, to the millisecond.
#[test]
fn rfc6928_a_short_flow_takes_its_slow_start_rounds() {
    const RTT_MS: u64 = 100;
    let path = Path {
        rtt_ns: RTT_MS * NS_PER_MS,
        bottleneck: None,
        back: None,
        rwnd_pkts: 1 << 20,
        delayed_ack: false,
    };
    for (segments, rounds) in [
        (1, 1),
        (10, 1),
        (11, 2),
        (30, 2),
        (31, 3),
        (70, 3),
        (71, 4),
        (150, 4),
        (151, 5),
        (310, 5),
    ] {
        for cc in ["reno", "cubic"] {
            let config = SenderConfig::new(0, MSS_BYTES, Some(0));
            let config = SenderConfig {
                closes: false,
                tso: false,
                ..config
            };
            let mut pair = Pair::new(config, load_with(cc, &[]), path);
            pair.sender.write(segments * MSS - 1);
            pair.sender.close();
            pair.run_to_end(60_000 * NS_PER_MS);
            assert_eq!(
                pair.now_ns,
                (1 + rounds) * RTT_MS * NS_PER_MS,
                "{cc}, {segments} segments"
            );
        }
    }
}

/// Two writes on one connection, the second long after the first: it begins with the restart window,
/// so that it takes as long as the first.
#[test]
fn a_second_answer_after_a_pause_takes_as_long_as_the_first() {
    let path = Path {
        rtt_ns: 100 * NS_PER_MS,
        bottleneck: None,
        back: None,
        rwnd_pkts: 1 << 20,
        delayed_ack: false,
    };
    let mut rounds = Vec::new();
    for slow_start_after_idle in [true, false] {
        let config = SenderConfig {
            closes: false,
            tso: false,
            slow_start_after_idle,
            ..SenderConfig::new(0, MSS_BYTES, Some(0))
        };
        let mut pair = Pair::new(config, load("reno"), path);
        pair.sender.write(70 * MSS);
        pair.run_to_end(10_000 * NS_PER_MS)
            .run_until(5_000 * NS_PER_MS);
        pair.write(70 * MSS);
        pair.run_to_end(10_000 * NS_PER_MS);
        rounds.push((pair.now_ns / NS_PER_MS - 5_000) / 100);
    }
    assert_eq!(rounds, [3, 1], "cwnd 10 again, and cwnd 80 kept");
}

// Half-close.

/// RFC 9293 §3.6: each direction closes by itself: of one of two halves the FIN is acknowledged, and
/// the receiver's host goes on sending by its own half.
#[test]
fn rfc9293_each_half_closes_by_itself() {
    let path = Path {
        rtt_ns: 100 * NS_PER_MS,
        bottleneck: None,
        back: None,
        rwnd_pkts: 1 << 20,
        delayed_ack: true,
    };
    for half in [Half::Forward, Half::Reverse] {
        for lost in 0..6 {
            let config = SenderConfig {
                half,
                closes: false,
                ..SenderConfig::new(0, MSS_BYTES, Some(0))
            };
            let mut pair = Pair::new(config, load("reno"), path).on_control(move |number| {
                if number == lost {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            });
            pair.sender.write(20 * MSS + 1);
            pair.run_until(4_000 * NS_PER_MS);
            assert!(pair.sender.is_finished() && !pair.sender.is_closed());
            pair.close();
            pair.run_to_close(20_000 * NS_PER_MS);
            assert_eq!(pair.receiver.counters().received_bytes, 20 * MSS + 1);
            assert!(pair.receiver.has_received_all());
        }
    }
}

/// The second half of a connection needs no handshake: it begins with the initial window, the RTT that
/// the first half's handshake measured and the window that the peer offered; its packets say which
/// way they go.
#[test]
fn a_second_half_begins_where_the_handshake_ended() {
    let config = SenderConfig {
        half: Half::Reverse,
        closes: false,
        tso: false,
        ..SenderConfig::new(0, MSS_BYTES, Some(0))
    };
    for (window_pkts, sent_pkts) in [(100, 10), (4, 4)] {
        let mut sender = Sender::new(config, load("reno"));
        sender.open(
            100 * NS_PER_MS,
            Some(40_000),
            window_pkts * MSS_BYTES,
            dumbbell_tcp::EcnMode::Off,
        );
        assert!(sender.is_established() && sender.is_finished());
        assert_eq!(sender.sock().srtt_us >> 3, 40_000);
        sender.write(20 * MSS);
        let packets: Vec<_> = sender.poll_transmit(100 * NS_PER_MS).to_vec();
        assert_eq!(packets.len(), sent_pkts);
        assert!(packets.iter().all(|packet| !packet.header.is_forward()));
    }
}
