//! Retransmissions, SACK and RTT, clause by clause, with stories that can be worked out by hand.

use crate::story::{self, HANDSHAKE, analyze_scripts, text_of};

/// Five segments at 50 ms; the first four of 1000 bytes are numbered below.
const FIVE_SENT: &str = "
    50  > 1:1001 ack 1
    51  > 1001:2001 ack 1
    52  > 2001:3001 ack 1
    53  > 3001:4001 ack 1
    54  > 4001:5001 ack 1
";

/// RFC 6675 §5, RFC 8985 §6.2: what was sent later was SACKed. Fast, once each.
#[test]
fn fast_retransmission_by_sack() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        91  < - ack 1 sack 1001-2001
        92  < - ack 1 sack 1001-3001
        93  < - ack 1 sack 1001-4001
        93  > 1:1001 ack 1
        133 < - ack 5001
        ",
    ]);
    analyzed.expect("retransmitted_pkts 1, retransmitted_bytes 1000, fast_retransmitted_pkts 1");
    analyzed
        .expect("rto_retransmitted_pkts 0, tlp_pkts 0, rto_count 0, spurious_retransmitted_pkts 0");
    analyzed.expect("dup_acks 3, triple_dup_acks 1, unique_bytes 5000, payload_bytes 6000");
    analyzed.expect_answered("sack_pkts 3, sack_blocks 3, dsack_pkts 0");
}

/// RFC 5681 §3.2: three duplicate ACKs, without SACK; then RFC 6582 §3.2: a partial ACK.
#[test]
fn fast_retransmission_without_sack() {
    let analyzed = analyze_scripts(&[
        "0 > S mss 1460 \n 40 < S ack 1 mss 1460 \n 40 > - ack 1",
        FIVE_SENT,
        "
        54.5 > 5001:6001 ack 1
        92  < - ack 1
        93  < - ack 1
        94  < - ack 1
        94  > 1:1001 ack 1
        134 < - ack 2001
        134 > 2001:3001 ack 1
        174 < - ack 6001
        ",
    ]);
    analyzed
        .expect("fast_retransmitted_pkts 2, retransmitted_pkts 2, triple_dup_acks 1, dup_acks 3");
}

/// RFC 6298 §5.4: nothing came back, and the oldest segment is sent again.
#[test]
fn timeout() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        300 > 1:1001 ack 1
        340 < - ack 1001
        340 > 1001:2001 ack 1   # still of the timeout: outstanding when it struck
        340 > 2001:3001 ack 1
        380 < - ack 5001
        380 > 5001:6001 ack 1
        420 < - ack 6001
        ",
    ]);
    analyzed.expect("retransmitted_pkts 3, rto_retransmitted_pkts 3, rto_count 1");
    analyzed.expect("fast_retransmitted_pkts 0, tlp_pkts 0");
}

/// RFC 6298 §5.5–5.7: again and again, with backoff.
#[test]
fn timeouts_that_back_off() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        300  > 1:1001 ack 1
        800  > 1:1001 ack 1
        1800 > 1:1001 ack 1
        1840 < - ack 5001
        ",
    ]);
    analyzed.expect("rto_retransmitted_pkts 3, rto_count 3, retransmitted_bytes 3000");
}

/// RFC 8985 §7.3: the last segment again, without evidence of a loss. Then its timeout.
#[test]
fn tail_loss_probe() {
    let story = [
        HANDSHAKE,
        FIVE_SENT,
        "
        91  < - ack 1001
        92  < - ack 3001
        180 > 4001:5001 ack 1
        ",
    ];
    let analyzed = analyze_scripts(&[&story[..], &["220 < - ack 5001"]].concat());
    analyzed.expect("tlp_pkts 1, retransmitted_pkts 1, rto_count 0, fast_retransmitted_pkts 0");
    let analyzed = analyze_scripts(&[&story[..], &["400 > 3001:4001 ack 1"]].concat());
    analyzed.expect("tlp_pkts 1, rto_retransmitted_pkts 1, rto_count 1");
    // The probe is SACKed: that is evidence for the one before.
    let sacked = "220 < - ack 3001 sack 4001-5001\n 221 > 3001:4001 ack 1";
    let analyzed = analyze_scripts(&[&story[..], &[sacked]].concat());
    analyzed.expect("tlp_pkts 1, fast_retransmitted_pkts 1, rto_count 0");
}

/// RFC 8985 §7.1 needs SACK: without it the last segment is sent again only by a timeout.
#[test]
fn no_probe_without_sack() {
    let analyzed = analyze_scripts(&[
        "0 > S mss 1460 \n 40 < S ack 1 mss 1460 \n 40 > - ack 1",
        "50 > 1:1001 ack 1 \n 300 > 1:1001 ack 1 \n 340 < - ack 1001",
    ]);
    analyzed.expect("tlp_pkts 0, rto_retransmitted_pkts 1, rto_count 1");
}

/// RFC 8985 §6.2 for retransmissions: one is lost too when something sent after it was SACKed.
#[test]
fn lost_retransmission() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        93  < - ack 1 sack 1001-4001
        93  > 1:1001 ack 1
        94  > 5001:6001 ack 1
        134 < - ack 1 sack 5001-6001,1001-4001
        134 > 1:1001 ack 1
        174 < - ack 4001 sack 5001-6001
        ",
    ]);
    analyzed.expect("fast_retransmitted_pkts 2, rto_count 0");
}

/// RFC 2883 §4.1 and RFC 3708: the receiver had it twice.
#[test]
fn spurious_by_dsack() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        93  < - ack 1 sack 1001-4001
        93  > 1:1001 ack 1
        95  < - ack 5001
        133 < - ack 5001 sack 1-1001
        ",
    ]);
    analyzed.expect("spurious_retransmitted_pkts 1, retransmitted_pkts 1");
    analyzed.expect_answered("dsack_pkts 1");
    // RFC 2883 §4.3: a D-SACK above the cumulative ACK is inside the second block.
    let above = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        93  < - ack 1 sack 2001-3001
        94  > 2001:3001 ack 1
        134 < - ack 1 sack 2001-3001,2001-4001
        ",
    ]);
    above.expect("spurious_retransmitted_pkts 1");
    above.expect_answered("dsack_pkts 1, sack_pkts 2");
}

/// RFC 3522 §3.2: the ACK of a retransmission echoes the original's timestamp.
#[test]
fn spurious_by_timestamps() {
    let story = |echoed: u32| {
        let ack = format!("345 < - ack 1001 ts 5000,{echoed}");
        analyze_scripts(&[
            "
            0   > S sackok ts 100,0
            40  < S ack 1 sackok ts 4000,100
            40  > - ack 1 ts 140,4000
            50  > 1:1001 ack 1 ts 150,4000
            51  > 1001:2001 ack 1 ts 151,4000
            340 > 1:1001 ack 1 ts 440,4000
        ",
            &ack,
        ])
    };
    story(150).expect("spurious_retransmitted_pkts 1, rto_retransmitted_pkts 1");
    story(440).expect("spurious_retransmitted_pkts 0, rto_retransmitted_pkts 1");
}

/// Karn and Partridge; RFC 6298 §3: no sample of what was sent twice.
#[test]
fn no_sample_of_what_was_sent_twice() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        300 > 1:1001 ack 1
        340 < - ack 1001
        341 > 1001:2001 ack 1
        391 < - ack 2001
        ",
    ]);
    analyzed.expect("rtt_count 2, rtt_min_us 40000, rtt_max_us 50000");
}

/// Nor of what waited for a retransmission before it (tcptrace's "post-loss ACKs").
#[test]
fn no_sample_of_what_waited_for_a_retransmission() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        93  < - ack 1 sack 1001-4001
        93  > 1:1001 ack 1
        133 < - ack 5001
        ",
    ]);
    analyzed.expect("rtt_count 1, rtt_max_us 40000");
}

/// One sample per ACK: of the last segment that it covers.
#[test]
fn a_delayed_ack_gives_one_sample() {
    let analyzed = analyze_scripts(&[HANDSHAKE, FIVE_SENT, "100 < - ack 2001 \n 101 < - ack 2501"]);
    // 100 − 51; the second ends inside a segment.
    analyzed.expect("rtt_count 2, rtt_min_us 40000, rtt_max_us 49000, rtt_mean_us 44500");
    // Sample standard deviation of 40 and 49.
    let stddev_us = analyzed.sent("rtt_stddev_us").expect("two samples");
    assert!((stddev_us - 4500.0 * 2f64.sqrt()).abs() < 1e-6);
}

/// RFC 7323 §4: the echo says which transmission was acknowledged; only ACKs that advance count.
#[test]
fn rtt_by_timestamps() {
    let analyzed = analyze_scripts(&["
        0   > S ts 100,0
        40  < S ack 1 ts 900,100
        40  > - ack 1 ts 140,900
        50  > 1:1001 ack 1 ts 150,900
        350 > 1:1001 ack 1 ts 450,900
        395 < - ack 1001 ts 1250,450
        400 > 1001:2001 ack 1 ts 500,1250
        400 > 2001:3001 ack 1 ts 500,1250
        450 < - ack 3001 ts 1300,500
        460 < - ack 3001 ts 1310,500
    "]);
    analyzed
        .expect("rtt_ts_count 2, rtt_ts_min_us 45000, rtt_ts_max_us 50000, rtt_ts_mean_us 47500");
    analyzed.expect("rtt_count 2, has_timestamps 1");
}

/// Both definitions of in-flight: cumulative, and RFC 6675 §4's pipe as Linux keeps it.
#[test]
fn inflight_with_sack() {
    let story = [
        HANDSHAKE,
        FIVE_SENT,
        "
        91  < - ack 1 sack 1001-2001
        92  < - ack 1 sack 1001-3001
        93  < - ack 1 sack 1001-4001
        ",
    ];
    let options = dumbbell_capture::AnalysisOptions {
        interval_ns: Some(1_000_000),
        ..Default::default()
    };
    let last = |more: &str| {
        let analyzed = story::analyze_with(&[&story[..], &[more]].concat(), &options);
        let row = analyzed.analysis.series.num_rows() - 1;
        let column = |name| story::number_of(&analyzed.analysis.series, name, row);
        (column("inflight_bytes"), column("inflight_sack_bytes"))
    };
    // 3 SACKed, the first lost; the fifth is on its way.
    assert_eq!(last(""), (Some(5000.0), Some(1000.0)));
    // The retransmission too.
    assert_eq!(last("94 > 1:1001 ack 1"), (Some(5000.0), Some(2000.0)));
    assert_eq!(
        last("94 > 1:1001 ack 1 \n 134 < - ack 5001"),
        (Some(0.0), Some(0.0))
    );
    // With a timeout everything not SACKed is lost (RFC 5681 §3.1), except what is sent then.
    assert_eq!(last("400 > 1:1001 ack 1"), (Some(5000.0), Some(1000.0)));
}

/// A lost retransmission leaves the network, too.
#[test]
fn inflight_with_a_lost_retransmission() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        FIVE_SENT,
        "
        93  < - ack 1 sack 1001-5001    # the network is empty
        94  > 1:1001 ack 1
        95  > 5001:6001 ack 1
        135 < - ack 1 sack 5001-6001,1001-5001
        136 > F ack 1
        335 > F seq 6001 ack 1
        ",
    ]);
    // 1000 and 2000 … 5000 from 50 to 54, 0 at 93, 1000 at 94, 2000 at 95, 0 from 135.
    let byte_ms = (1000 + 2000 + 3000 + 4000 + 39 * 5000 + 1000 + 40 * 2000) as f64;
    let mean = analyzed
        .sent("inflight_sack_mean_bytes")
        .expect("it had ACKs");
    assert!((mean - byte_ms / (335.0 - 50.0)).abs() < 1e-6, "{mean}");
    analyzed.expect("inflight_sack_max_bytes 5000, inflight_max_bytes 6000");
}

/// SACK with segments that the network card cut: blocks end inside them.
#[test]
fn sack_inside_a_large_segment() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:14601 ack 1
        90  < - ack 1461 sack 2921-14601
        91  > 1461:2921 ack 1
        131 < - ack 14601
        ",
    ]);
    analyzed.expect("retransmitted_bytes 1460, fast_retransmitted_pkts 1, missing_bytes 0");
    analyzed.expect("inflight_sack_max_bytes 14600");
}

/// A packet that repeats and goes on: partly a retransmission.
#[test]
fn partial_retransmission() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        300 > 501:1501 ack 1
        340 < - ack 1501
        ",
    ]);
    analyzed.expect("retransmitted_pkts 1, retransmitted_bytes 500, unique_bytes 1500");
    analyzed.expect("out_of_order_pkts 0");
}

/// A FIN takes a sequence number, and is sent again like data; its bytes are none.
#[test]
fn fin_sent_again() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > F 1:1001 ack 1
        400 > F 1:1001 ack 1
        440 < - ack 1002
        500 > F seq 1001 ack 1
        ",
    ]);
    analyzed.expect("fin_count 3, retransmitted_pkts 2, retransmitted_bytes 1000, missing_bytes 0");
}

/// A FIN that the capture lacks, or has after its ACK, is not missing data; a byte is.
#[test]
fn fin_not_seen_before_its_ack() {
    let data = "50 > 1:1001 ack 1 \n 90 < - ack 1002";
    let late = "91 > F seq 1001 ack 1";
    let sacked = "50 > 1:1001 ack 1 \n 90 < - ack 1 sack 1-1002";
    let again = "300 > S seq 900000 \n 340 < S ack 900001";
    for rest in [
        vec![data],
        vec![data, late],
        vec![data, again],
        vec!["90 < - ack 2"],
        vec![sacked, late, "95 < - ack 1002"],
    ] {
        let analyzed = analyze_scripts(&[&[HANDSHAKE], rest.as_slice()].concat());
        analyzed.expect("missing_bytes 0");
        let notes = text_of(&analyzed.analysis.connections, "notes", 0);
        assert!(!notes.contains("missing_data"), "{rest:?}: {notes}");
    }
    let analyzed = analyze_scripts(&[HANDSHAKE, data, "100 > 1002:2002 ack 1"]);
    analyzed.expect("missing_bytes 1");
    let analyzed = analyze_scripts(&[HANDSHAKE, "50 > 1:1001 ack 1 \n 90 < - ack 1003"]);
    analyzed.expect("missing_bytes 2");
}

/// RFC 5681 §2: what is not a duplicate ACK.
#[test]
fn no_duplicate_acks() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        45  < - ack 1                # nothing outstanding
        50  > 1:1001 ack 1
        60  < - ack 1                # one
        61  < - ack 1 win 999        # a window update
        62  < 1:101 ack 1 win 999    # with data
        63  < - ack 1 win 999        # two
        64  < F ack 1 win 999        # a FIN
        ",
    ]);
    analyzed.expect("dup_acks 2, triple_dup_acks 0");
}

/// An ACK of what was never sent, further than any window, is ignored (RFC 9293 §3.10.7.4).
#[test]
fn absurd_acks() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        60  < - ack 2000000000
        90  < - ack 1001
        ",
    ]);
    analyzed.expect("rtt_count 2, missing_bytes 0, unique_bytes 1000");
}

/// The last segment and its FIN are one packet, and one tail loss probe.
#[test]
fn tail_loss_probe_with_fin() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        51  > F 1001:1501 ack 1
        91  < - ack 1001
        180 > F 1001:1501 ack 1
        220 < F ack 1502 sack 1001-1502
        ",
    ]);
    analyzed.expect("tlp_pkts 1, retransmitted_pkts 1, rto_count 0, spurious_retransmitted_pkts 1");
}
