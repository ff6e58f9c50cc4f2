//! What each column means, with stories that can be worked out by hand.

use crate::story::{self, HANDSHAKE, analyze_scripts, analyze_with, number_of, text_of};
use dumbbell_capture::{AnalysisOptions, Evicted};

#[test]
fn handshake_data_and_close() {
    let analyzed = analyze_scripts(&["
        0   > S mss 1460 ws 7 sackok
        40  < S ack 1 mss 1400 ws 2 sackok
        41  > - ack 1
        41  > P 1:1001 ack 1
        81  < - ack 1001
        82  > F ack 1
        122 < F ack 1002
        125 > - ack 2
    "]);
    analyzed.expect("pkts 5, data_pkts 1, pure_ack_pkts 2, payload_bytes 1000, unique_bytes 1000");
    analyzed.expect("syn_count 1, fin_count 1, rst_count 0, retransmitted_pkts 0, missing_bytes 0");
    analyzed.expect("duration_us 125000, goodput_bps 64000, throughput_bps 81280, is_initiator 1");
    analyzed
        .expect("mss_bytes 1460, window_scale 7, sack_permitted 1, has_timestamps 0, offload 0");
    analyzed.expect("wire_bytes 1270, largest_segment_bytes 1000, idle_max_us 43000");
    // SYN, data, FIN: 40 ms each.
    analyzed.expect("rtt_count 3, rtt_min_us 40000, rtt_mean_us 40000, rtt_max_us 40000");
    analyzed.expect("rtt_stddev_us 0, rtt_handshake_us 40000, rtt_ts_count 0, rtt_ts_min_us null");
    analyzed.expect_answered("pkts 3, data_pkts 0, mss_bytes 1400, window_scale 2, is_initiator 0");
    // SYN-ACK 1 ms, FIN 3 ms.
    analyzed.expect_answered("rtt_count 2, rtt_mean_us 2000, rtt_handshake_us 1000");
    assert_eq!(analyzed.text("vantage", 0), "sender");
    assert_eq!(analyzed.text("vantage", 1), "receiver");
    assert_eq!(analyzed.text("source", 0), "10.0.0.1");
    assert_eq!(analyzed.text("notes", 0), "");
}

/// Highest sent − cumulatively acknowledged, without SYN and FIN (tcptrace's owin has 1 more).
#[test]
fn inflight_by_cumulative_acks() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        60  > 1001:2001 ack 1
        90  < - ack 1001
        100 < - ack 2001
        100 > F ack 1
        150 < F ack 2002
        ",
    ]);
    // 1000 for 10 ms, 2000 for 30, 1000 for 10, 0 for 50.
    analyzed.expect("inflight_max_bytes 2000, inflight_mean_bytes 800");
    analyzed.expect("inflight_sack_max_bytes 2000, inflight_sack_mean_bytes 800");
}

/// The window that a packet advertises; scaled except on a SYN; 0 counted apart.
#[test]
fn windows() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  < - ack 1 win 500
        60  < - ack 1 win 0
        70  < - ack 1 win 200
        ",
    ]);
    analyzed.expect_answered("window_min_bytes 25600, window_max_bytes 64000, zero_window_pkts 1");
    let unscaled = analyze_scripts(&["
        0   > S win 3000
        10  < S ack 1 ws 3 win 4000
        20  < - ack 1 win 5000
    "]);
    unscaled.expect_answered("window_scale 0, window_min_bytes 4000, window_max_bytes 5000");
    let unknown = analyze_scripts(&["
        0   > 1:11 ack 1 win 3000
    "]);
    unknown.expect("window_scale null, window_min_bytes null, began_before_capture 1");
}

#[test]
fn ecn() {
    let analyzed = analyze_scripts(&["
        0   > SEC
        1   < SE ack 1
        2   > 1:101 ack 1 ect
        3   > 101:201 ack 1 ce
        4   < E ack 101
        5   > C 201:301 ack 1 ect
    "]);
    // On SYNs the flags negotiate.
    analyzed.expect("ecn_ect_pkts 2, ecn_ce_pkts 1, cwr_pkts 1, ece_pkts 0");
    analyzed.expect_answered("ece_pkts 1, cwr_pkts 0");
}

/// Captured twice: not a retransmission, and in no other count.
#[test]
fn duplicates_by_the_capture() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1 id 7
        50  > 1:1001 ack 1 id 7
        60  > 1:1001 ack 1 id 8   # sent again
        ",
    ]);
    analyzed.expect("pkts 5, data_pkts 2, payload_bytes 2000, unique_bytes 1000, duplicate_pkts 1");
    analyzed.expect("retransmitted_pkts 1, retransmitted_bytes 1000");
    assert_eq!(analyzed.text("notes", 0), "duplicates");
}

/// Data that fills a gap, and had not been seen: out of order, not a retransmission.
#[test]
fn reordering_before_the_capture_point() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        51  > 2001:3001 ack 1
        52  > 1001:2001 ack 1
        90  < - ack 3001
        ",
    ]);
    analyzed.expect("unique_bytes 3000, out_of_order_pkts 1, unseen_original_pkts 0");
    analyzed.expect("retransmitted_pkts 0, missing_bytes 0, inflight_max_bytes 3000");
}

/// What fills a gap long after is a retransmission, of something lost before the point.
#[test]
fn loss_before_the_capture_point() {
    let analyzed = analyze_scripts(&["
        0    > S sackok
        0.1  < S ack 1 sackok
        40   > - ack 1
        40.1 > 1001:2001 ack 1
        40.2 < - ack 1 sack 1001-2001
        81   > 1:1001 ack 1
        81.1 < - ack 2001
    "]);
    analyzed.expect("out_of_order_pkts 1, unseen_original_pkts 1, retransmitted_pkts 0");
    assert_eq!(analyzed.text("vantage", 0), "receiver");
    assert_eq!(analyzed.text("notes", 0), "at_receiver");
}

/// Timestamps decide: sent later than what was behind the gap, or not (RFC 7323 §5.2 compares them).
#[test]
fn reordered_or_resent_by_timestamps() {
    let story = |tsval: u32| {
        let filling = format!("50.5 > 1:1001 ack 1 ts {tsval},0");
        analyze_scripts(&[HANDSHAKE, "50 > 1001:2001 ack 1 ts 100,0", &filling])
    };
    story(99).expect("out_of_order_pkts 1, unseen_original_pkts 0");
    story(101).expect("out_of_order_pkts 1, unseen_original_pkts 1");
}

/// Acknowledged and never seen.
#[test]
fn what_the_capture_lost() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        51  > 2001:3001 ack 1
        90  < - ack 5001
        ",
    ]);
    analyzed.expect("missing_bytes 3000, unique_bytes 2000");
    assert_eq!(analyzed.text("notes", 0), "missing_data");
    let late = analyze_scripts(&[HANDSHAKE, "50 < - ack 1001", "51 > 1:1001 ack 1"]);
    late.expect("missing_bytes 0, unique_bytes 1000, out_of_order_pkts 0");
}

#[test]
fn a_connection_that_began_before() {
    let analyzed = analyze_scripts(&["
        0   > 5001:6001 ack 1
        1   > 6001:7001 ack 1
        40  < - ack 6001
        41  < - ack 7001
        42  > 4001:5001 ack 1        # never seen, but certainly sent before
    "]);
    analyzed.expect("began_before_capture 1, unique_bytes 3000, missing_bytes 0, syn_count 0");
    analyzed.expect("rtt_count 2, rtt_min_us 40000, sack_permitted null, mss_bytes null");
    assert_eq!(
        analyzed.text("notes", 0),
        "began_before_capture unknown_vantage"
    );
    let acked = analyze_scripts(&["
        0   < - ack 1001
        1   > 3001:4001 ack 1
    "]);
    // 2000 more were on their way when the capture began.
    acked.check(1, "inflight_max_bytes 3000, missing_bytes 0");
}

#[test]
fn one_direction_only() {
    let analyzed = analyze_scripts(&["
        0   > S
        40  > - ack 1
        41  > 1:1001 ack 1
        42  > 1001:2001 ack 1
        300 > 1001:2001 ack 1
    "]);
    assert_eq!(
        analyzed.analysis.connections.num_rows(),
        1,
        "no row for what was not seen"
    );
    analyzed.expect("retransmitted_pkts 1, inflight_max_bytes null, rtt_min_us null, rtt_count 0");
    assert_eq!(analyzed.text("vantage", 0), "unknown");
    assert_eq!(analyzed.text("notes", 0), "one_direction");
}

/// Ended, and opened again between the same ends (RFC 9293 §3.6.1): another connection.
#[test]
fn ports_used_again() {
    let first = "
        0   > S
        1   < S ack 1
        2   > F ack 1
        3   < F ack 2
        4   > - ack 2
    ";
    let again = "
        10  > S seq 5000
        11  < S seq 7000 ack 5001
        12  > 5001:5101 ack 7001
    ";
    let analyzed = analyze_scripts(&[first, again]);
    assert_eq!(analyzed.analysis.totals.connections, 2);
    analyzed.check(0, "connection 0, payload_bytes 0, fin_count 1");
    analyzed.check(
        2,
        "connection 1, payload_bytes 100, syn_count 1, fin_count 0",
    );
    let repeated = analyze_scripts(&["0 > S", "1000 > S", "3000 > S", "3040 < S ack 1"]);
    assert_eq!(
        repeated.analysis.totals.connections, 1,
        "the same SYN again"
    );
    repeated.expect("syn_count 3, retransmitted_pkts 2, rto_retransmitted_pkts 2, rto_count 2");
    // Karn: it is unknown which SYN was answered.
    repeated.expect("rtt_count 0, rtt_handshake_us null");
}

/// One connection at several points has one number.
#[test]
fn points_of_one_capture() {
    let analyzed = analyze_scripts(&["
        0   > S at 3
        10  > S at 5
        20  < S ack 1 at 5
        30  < S ack 1 at 3
        31  > 1:101 ack 1 at 3
        41  > 1:101 ack 1 at 5 dropped
    "]);
    assert_eq!(analyzed.analysis.totals.connections, 1);
    assert_eq!(analyzed.analysis.connections.num_rows(), 4);
    assert_eq!(
        (analyzed.text("point", 0), analyzed.text("point", 2)),
        ("3".to_owned(), "5".to_owned())
    );
    analyzed.check(0, "payload_bytes 100, dropped_pkts 0, retransmitted_pkts 0");
    analyzed.check(2, "payload_bytes 100, dropped_pkts 1, connection 0");
    let options = AnalysisOptions {
        points: Some(vec!["5".to_owned()]),
        ..AnalysisOptions::default()
    };
    let only = analyze_with(&["0 > S at 3", "10 > S at 5"], &options);
    assert_eq!(only.analysis.totals.tcp_pkts, 1);
    assert_eq!(only.text("point", 0), "5");
}

/// Segments that the network card cuts: larger than the MSS. An ACK may end inside one.
#[test]
fn offload() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:5841 ack 1
        90  < - ack 2921
        91  < - ack 5841
        ",
    ]);
    analyzed.expect("offload 1, largest_segment_bytes 5840, rtt_count 3, rtt_max_us 41000");
    assert_eq!(analyzed.text("notes", 0), "offload");
    let small = analyze_scripts(&[
        HANDSHAKE,
        "50 > 1:1001 ack 1",
        "90 < - ack 501",
        "91 < - ack 1001",
    ]);
    small.expect("offload 0, rtt_count 2, rtt_max_us 41000");
}

/// A byte into a closed window asks whether it has opened (RFC 9293 §3.8.6.1).
#[test]
fn zero_window_probes() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "
        50  > 1:1001 ack 1
        90  < - ack 1001 win 0
        300 > 1001:1002 ack 1
        340 < - ack 1001 win 0
        800 > 1001:1002 ack 1
        840 < - ack 1002 win 100
        ",
    ]);
    analyzed.expect("zero_window_probe_pkts 2, retransmitted_pkts 0, unique_bytes 1001");
    analyzed.expect("rto_count 0, missing_bytes 0");
    analyzed.expect_answered("zero_window_pkts 2");
}

#[test]
fn what_ends_drop_is_not_analysed() {
    let analyzed = analyze_scripts(&[HANDSHAKE, "50 > 1:1001 ack 1 bad", "51 > 1:1001 ack 1"]);
    analyzed.expect("data_pkts 1, retransmitted_pkts 0");
    assert_eq!(analyzed.analysis.totals.bad_checksum_pkts, 1);
}

#[test]
fn sequence_numbers_that_jump() {
    let analyzed = analyze_scripts(&[
        HANDSHAKE,
        "50 > 1:1001 ack 1",
        "60 > 1500000001:1500001001 ack 1",
        "100 < - ack 1500001001",
    ]);
    analyzed.expect("unique_bytes 2000, missing_bytes 0, rtt_count 2");
    assert_eq!(analyzed.text("notes", 0), "sequence_jump");
}

#[test]
fn series_in_bins() {
    let options = AnalysisOptions {
        interval_ns: Some(100_000_000),
        ..AnalysisOptions::default()
    };
    let analyzed = analyze_with(
        &[
            HANDSHAKE,
            "
            50  > 1:1001 ack 1
            60  > 1001:2001 ack 1
            90  < - ack 1001
            110 < - ack 2001
            250 > 2001:2501 ack 1
            295 > 2001:2501 ack 1
            ",
        ],
        &options,
    );
    let series = &analyzed.analysis.series;
    let column = |name: &str| -> Vec<Option<f64>> {
        (0..series.num_rows())
            .map(|row| number_of(series, name, row))
            .collect()
    };
    assert_eq!(
        column("time_us"),
        [Some(0.0), Some(100_000.0), Some(200_000.0)]
    );
    assert_eq!(column("bin_us"), [Some(100_000.0); 3]);
    assert_eq!(
        column("payload_bytes"),
        [Some(2000.0), Some(0.0), Some(1000.0)]
    );
    assert_eq!(
        column("unique_bytes"),
        [Some(2000.0), Some(0.0), Some(500.0)]
    );
    assert_eq!(
        column("retransmitted_pkts"),
        [Some(0.0), Some(0.0), Some(1.0)]
    );
    assert_eq!(column("rtt_us"), [Some(40_000.0), Some(50_000.0), None]);
    assert_eq!(
        column("inflight_bytes"),
        [Some(1000.0), Some(0.0), Some(500.0)]
    );
    assert_eq!(column("window_bytes"), [Some(128_000.0); 3]);
}

#[test]
fn segments_of_a_connection() {
    let options = AnalysisOptions {
        segments: vec![0],
        ..AnalysisOptions::default()
    };
    let analyzed = analyze_with(
        &[
            HANDSHAKE,
            "
            50  > 1:1001 ack 1
            51  > 2001:3001 ack 1
            90  < - ack 1001 sack 2001-3001
            91  > 1:1001 ack 1
            92  > 1001:2001 ack 1
            ",
        ],
        &options,
    );
    let rows = &analyzed.analysis.segments[0];
    let analyzed: Vec<_> = (0..rows.num_rows())
        .map(|row| {
            let number = |name| number_of(rows, name, row).map(|value| value as i64);
            (
                text_of(rows, "kind", row),
                number("seq"),
                number("bytes"),
                number("ack"),
            )
        })
        .collect();
    let row = |kind: &str, seq, bytes, ack| (kind.to_owned(), Some(seq), Some(bytes), Some(ack));
    assert_eq!(
        analyzed,
        [
            row("ack", 0, 0, 1),
            row("ack", 1, 0, 1),
            row("data", 1, 1000, 1),
            row("data", 2001, 1000, 1),
            row("ack", 1, 0, 1001),
            row("sack", 2001, 1000, 1001),
            row("retransmission", 1, 1000, 1),
            row("out_of_order", 1001, 1000, 1),
        ]
    );
}

/// Where memory is short, the bins of long series get wider, and nothing is given up yet.
#[test]
fn long_connections_in_little_memory() {
    let exchange = |millisecond: u32| {
        let (seq, end) = (1 + 100 * millisecond, 101 + 100 * millisecond);
        let (sent, acked) = (10 * millisecond + 1, 10 * millisecond + 5);
        format!("{sent} > {seq}:{end} ack 1\n{acked} < ack {end}\n")
    };
    let script: String = (0..400).map(exchange).collect();
    let packets = story::packets_from(&format!("0 > S\n{script}"), story::SYN_SEQS);
    let analyze = |max_view_bytes| {
        let options = AnalysisOptions {
            max_view_bytes,
            ..AnalysisOptions::default()
        };
        story::analyze_packets(packets.clone(), &options)
    };
    let (roomy, crowded) = (analyze(1 << 28), analyze(1 << 14));
    let bins = |analyzed: &story::Analyzed| analyzed.analysis.series.num_rows();
    assert!((200..=512).contains(&bins(&roomy)), "{}", bins(&roomy));
    assert!((16..=128).contains(&bins(&crowded)), "{}", bins(&crowded));
    assert_eq!(crowded.analysis.totals.evicted, Evicted::default());
    crowded.check(0, "connection 0, payload_bytes 40000");
}

/// Beyond that, views are given up and counted, however few they are.
#[test]
fn many_connections_in_little_memory() {
    let mut packets = Vec::new();
    for port in 0..200 {
        let transfer = "0 > S\n1 < S ack 1\n2 > 1:101 ack 1\n3 < ack 101";
        for mut packet in story::packets_from(transfer, story::SYN_SEQS) {
            let initiator = if packet.source.port == 40000 {
                &mut packet.source
            } else {
                &mut packet.destination
            };
            initiator.port = 1000 + port;
            packets.push(packet);
        }
    }
    let options = AnalysisOptions {
        max_view_bytes: 100_000,
        ..AnalysisOptions::default()
    };
    let totals = story::analyze_packets(packets, &options).analysis.totals;
    assert_eq!(totals.connections, 200);
    // A view of this kind has 1 to 3 kB.
    let held = 200 - totals.evicted.views;
    assert!((33..=100).contains(&held), "{held} views are held");
    assert_eq!(totals.evicted.pkts, 4 * totals.evicted.views);
    assert_eq!(totals.evicted.payload_bytes, 100 * totals.evicted.views);
}

/// Views beyond the limit are given up, those without payload first, and counted.
#[test]
fn many_connections() {
    let options = AnalysisOptions {
        max_views: 10,
        ..AnalysisOptions::default()
    };
    let mut packets = story::packets_from("0 > S\n1 > 1:101 ack 1", story::SYN_SEQS);
    let syn = packets[0];
    for port in 0..100 {
        let mut next = syn;
        next.source.port = 1000 + port;
        packets.push(next);
    }
    let analyzed = story::analyze_packets(packets, &options);
    let totals = analyzed.analysis.totals;
    assert_eq!((totals.connections, totals.tcp_pkts), (101, 102));
    assert_eq!((totals.evicted.views, totals.evicted.pkts), (91, 91));
    assert_eq!(analyzed.analysis.connections.num_rows(), 10);
    analyzed.check(0, "connection 0, payload_bytes 100");
}
