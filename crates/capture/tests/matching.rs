//! Two captures of the same packets, as stories.

use crate::story::{SYN_SEQS, number_of, packets_from};
use dumbbell_capture::{MatchOptions, Matching, PacketList, match_captures};

fn match_stories(before: &str, after: &str, options: &MatchOptions) -> Matching {
    let list = |script: &str| PacketList(packets_from(script, SYN_SEQS).into_iter());
    match_captures(&mut list(before), &mut list(after), options).expect("packets in memory")
}

#[track_caller]
fn check(matching: &Matching, columns: &str) {
    for wanted in columns.split(',') {
        let (name, value) = wanted.trim().split_once(' ').expect("name and value");
        let wanted = (value != "null").then(|| value.parse::<f64>().expect("a number"));
        assert_eq!(number_of(&matching.matches, name, 0), wanted, "{name}");
    }
}

#[test]
fn delay_and_sojourn() {
    let matching = match_stories(
        "0 > S \n 50 > 1:1001 ack 1 \n 51 > 1001:2001 ack 1",
        "20 > S \n 75 > 1:1001 ack 1 \n 86 > 1001:2001 ack 1",
        &MatchOptions::default(),
    );
    check(
        &matching,
        "matched_pkts 3, dropped_pkts 0, only_after_pkts 0, reordered_pkts 0",
    );
    // 20, 25, 35 ms
    check(
        &matching,
        "delay_min_us 20000, delay_max_us 35000, delay_p95_us 35000",
    );
    check(
        &matching,
        "sojourn_max_us 15000, sojourn_p95_us 15000, dropped_share 0",
    );
    let packets = &matching.packets[0];
    let delays: Vec<_> = (0..3)
        .map(|row| number_of(packets, "delay_us", row))
        .collect();
    assert_eq!(delays, [Some(20_000.0), Some(25_000.0), Some(35_000.0)]);
    let seqs: Vec<_> = (0..3).map(|row| number_of(packets, "seq", row)).collect();
    assert_eq!(seqs, [Some(0.0), Some(1.0), Some(1001.0)]);
}

#[test]
fn drops_and_their_retransmissions() {
    let before = "
        50  > 1:1001 ack 1 id 1
        51  > 1001:2001 ack 1 id 2
        52  > 2001:3001 ack 1 id 3
        100 > 1:1001 ack 1 id 4
    ";
    let after = "
        71  > 1001:2001 ack 1 id 2
        72  > 2001:3001 ack 1 id 3
        120 > 1:1001 ack 1 id 4
    ";
    let matching = match_stories(before, after, &MatchOptions::default());
    check(
        &matching,
        "matched_pkts 3, dropped_pkts 1, only_after_pkts 0, dropped_share 0.25",
    );
    check(
        &matching,
        "delay_min_us 20000, delay_max_us 20000, reordered_pkts 0",
    );
}

/// Equal packets without an IP id: the n-th with the n-th.
#[test]
fn equal_packets() {
    let matching = match_stories(
        "50 > - ack 1 \n 60 > - ack 1 \n 70 > - ack 1",
        "55 > - ack 1 \n 65 > - ack 1 \n 75 > - ack 1",
        &MatchOptions::default(),
    );
    check(
        &matching,
        "matched_pkts 3, delay_min_us 5000, delay_max_us 5000",
    );
}

/// RFC 4737 §3.3.
#[test]
fn reordering() {
    let before = "50 > 1:101 ack 1 \n 51 > 101:201 ack 1 \n 52 > 201:301 ack 1";
    let after = "71 > 101:201 ack 1 \n 72 > 201:301 ack 1 \n 75 > 1:101 ack 1";
    check(
        &match_stories(before, after, &MatchOptions::default()),
        "reordered_pkts 1",
    );
    let early = "21 > 101:201 ack 1 \n 22 > 201:301 ack 1 \n 25 > 1:101 ack 1";
    let matching = match_stories(before, early, &MatchOptions::default());
    check(
        &matching,
        "matched_pkts 3, reordered_pkts 1, delay_min_us -30000",
    );
}

/// Packets of a queue that was still full when the second capture ended are not dropped ones;
/// what something later has overtaken is, and what we marked.
#[test]
fn what_the_second_capture_ended_too_early_for() {
    let matching = match_stories(
        "
        50 > 1:101 ack 1
        51 > 101:201 ack 1
        52 > 201:301 ack 1
        60 > 301:401 ack 1
        61 > 401:501 ack 1 dropped
        ",
        "59 > 1:101 ack 1 \n 61 > 201:301 ack 1",
        &MatchOptions::default(),
    );
    check(
        &matching,
        "matched_pkts 2, dropped_pkts 2, undecided_pkts 1, offload 0",
    );
}

/// A large segment that the network card cut no longer matches its packets.
#[test]
fn offload_between_the_points() {
    let matching = match_stories(
        "50 > 1:2921 ack 1",
        "60 > 1:1461 ack 1 \n 61 > 1461:2921 ack 1",
        &MatchOptions::default(),
    );
    check(&matching, "matched_pkts 0, only_after_pkts 2, offload 1");
}

/// Segments merged by a network card are offload too; a drop of the largest packet, or a side
/// without data, is not.
#[test]
fn what_looks_like_offload_and_is_not() {
    let offload = |before: &str, after: &str| {
        let matching = match_stories(before, after, &MatchOptions::default());
        matching.matches["offload"].number(0) == Some(1.0)
    };
    let parts = "50 > 1:1461 ack 1 \n 51 > 1461:2921 ack 1";
    let whole = "60 > 1:2921 ack 1";
    assert!(offload(parts, whole), "merged");
    let sent = "50 > 1:1461 ack 1 \n 51 > 1461:1561 ack 1";
    assert!(
        !offload(sent, "71 > 1461:1561 ack 1"),
        "the largest dropped"
    );
    assert!(!offload(sent, "71 > - ack 1"), "no data after");
    assert!(!offload("50 > - ack 1", "71 > 1:1461 ack 1"), "none before");
}

#[test]
fn one_file_and_two_points() {
    let both = "
        50 > 1:101 ack 1 at 1
        51 > 101:201 ack 1 at 1
        52 > 1:101 ack 1 at 2
        60 > 201:301 ack 1 at 2
    ";
    let options = MatchOptions {
        before_point: Some("1".to_owned()),
        after_point: Some("2".to_owned()),
        ..MatchOptions::default()
    };
    let matching = match_stories(both, both, &options);
    check(
        &matching,
        "before_pkts 2, after_pkts 2, matched_pkts 1, dropped_pkts 1, only_after_pkts 1",
    );
}

#[test]
fn what_waits_too_long_was_dropped() {
    let options = MatchOptions {
        max_wait_ns: 1_000_000_000,
        ..MatchOptions::default()
    };
    let before = "0 > 1:101 ack 1 \n 1500 > 101:201 ack 1";
    let after = "2000 > 1:101 ack 1 \n 2001 > 101:201 ack 1";
    let matching = match_stories(before, after, &options);
    check(
        &matching,
        "matched_pkts 1, dropped_pkts 1, only_after_pkts 1",
    );
    let crowded = MatchOptions {
        max_waiting_pkts: 1,
        ..MatchOptions::default()
    };
    let matching = match_stories(before, after, &crowded);
    check(&matching, "matched_pkts 1, dropped_pkts 1");
    assert_eq!(matching.totals.hurried_pkts, 1);
}
