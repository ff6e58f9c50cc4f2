//! Delivery-rate samples (draft-ietf-ccwg-bbr §4.1), by hand.

use dumbbell_tcp::SenderConfig;

use crate::script::{SenderScript, bulk, load};

/// The last sample kept: packets, µs.
fn rate(s: &SenderScript) -> (u32, u32) {
    (s.sock().rate_delivered, s.sock().rate_interval_us)
}

fn is_app_limited(s: &SenderScript) -> bool {
    s.sock().limited_bits & 2 != 0
}

/// §4.1.1.2: delivered since the newest acknowledged segment left, over the ACK phase.
#[test]
fn samples_of_an_even_ack_train() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 2
         200 > 10:14",
    );
    assert_eq!(rate(&s), (2, 100_000));
    s.play(
        "220 < ack 4
         220 > 14:18",
    );
    assert_eq!(rate(&s), (4, 120_000));
    s.hear("240 < ack 10");
    assert_eq!(rate(&s), (10, 140_000));
    // 12 and 13 left at 200 ms with 2 delivered: 12 more in 100 ms.
    s.hear("300 < ack 14");
    assert_eq!(rate(&s), (12, 100_000));
}

/// §4.1.1.3: ACKs that arrive all at once (compression) do not make the path faster: the send phase
/// was longer.
#[test]
fn ack_compression_does_not_inflate_the_rate() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 2
         200 > 10:14
         220 < ack 4
         220 > 14:18
         240 < ack 6
         240 > 18:22
         260 < ack 8
         260 > 22:26
         280 < ack 10
         280 > 26:30
         380 < ack 30
         380 > 30:70",
    );
    // 29 left at 280 ms, the newest delivered then (9) at 100 ms: 20 in 180 ms, not in 100.
    assert_eq!(rate(&s), (20, 180_000));
}

/// §4.1.1.4: samples of packets sent without more data to send are marked, until those are
/// delivered.
#[test]
fn application_limited_samples_are_marked_until_the_bubble_left() {
    let config = SenderConfig {
        sndbuf_pkts: 4,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play("100 > 0:4");
    assert_eq!(s.sock().app_limited, 1 + 4, "the SYN and four in flight");
    s.play(
        "200 < ack 4
         200 > 4:8",
    );
    assert!(!is_app_limited(&s), "0 to 3 left before the bubble");
    s.play(
        "300 < ack 8
         300 > 8:12",
    );
    assert!(is_app_limited(&s));
    assert_eq!(rate(&s), (4, 100_000));
}

/// A low application-limited sample does not measure the path and is not kept.
#[test]
fn a_lower_application_limited_sample_is_not_kept() {
    let config = SenderConfig {
        sndbuf_pkts: 4,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play(
        "100 > 0:4
         200 < ack 4
         200 > 4:8
         400 < ack 8
         400 > 8:12",
    );
    assert_eq!(rate(&s), (4, 100_000));
    assert!(!is_app_limited(&s));
}

/// A retransmission's delivery is sampled again: its interval begins when it was sent.
#[test]
fn a_retransmission_is_sampled_from_its_own_departure() {
    let mut s = SenderScript::reno(100);
    s.hear(
        "200 < ack 0 sack 1:4
         300 < ack 4",
    );
    // It left at 200 ms with 3 delivered; itself is the only one since.
    assert_eq!(rate(&s), (1, 100_000));
}

/// §4.1.1.4: the mark ends when everything that was in flight with it is delivered.
#[test]
fn the_application_limited_mark_ends_with_its_bubble() {
    let config = SenderConfig {
        sndbuf_pkts: 12,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.hear("200 < ack 10"); // twelve of twenty allowed are sent
    assert_eq!(s.sock().app_limited, 11 + 12);
    s.hear(
        "300 < ack 10 sack 11:22
         400 < ack 22",
    );
    // cwnd is 10 now and limits, but the mark's packets are only just delivered.
    assert_ne!(s.sock().app_limited, 0);
    s.hear("500 < ack 32");
    assert_eq!(s.sock().app_limited, 0);
    assert_ne!(rate(&s), (10, 100_000), "22 to 31 left with the mark");
    s.hear("600 < ack 42");
    assert_eq!(rate(&s), (10, 100_000));
}
