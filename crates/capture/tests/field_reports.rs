//! Captures as people have reported them about other tools, each of a kind that was once analysed wrongly here:
//! `tests/data/field-reports`.

use std::path::PathBuf;

use dumbbell_capture::dissect::dissect;
use dumbbell_capture::{
    Analysis, AnalysisOptions, LinkType, MatchOptions, NetworkId, Reader, analyze, match_captures,
};

use crate::story::{
    Analyzed, HANDSHAKE, SYN_SEQS, analyze_packets, analyze_scripts, number_of, packets_from,
};

/// A file of ours with the fault that was reported.
struct Report {
    kind: &'static str,
    file: &'static str,
    /// What is right of the initiator's direction and the other one.
    sent: &'static str,
    answered: &'static str,
    notes: [&'static str; 2],
}

const REPORTS: &[Report] = &[
    Report {
        kind: "sent again a second later with the same IP id: no copy",
        file: "rexmit_same_ip_id_1s.pcap",
        sent: "retransmitted_pkts 5, rto_count 5, duplicate_pkts 0, rtt_max_us 40000, rtt_count 16",
        answered: "pkts 21, duplicate_pkts 0",
        notes: ["", ""],
    },
    Report {
        kind: "a mirror port that sends everything twice, without IP ids",
        file: "mirrored_twice_ipv6.pcap",
        sent: "retransmitted_pkts 0, duplicate_pkts 12, unique_bytes 10000, rtt_count 11, rtt_max_us 40000, tlp_pkts 0",
        answered: "retransmitted_pkts 0, duplicate_pkts 11, rto_count 0",
        notes: ["duplicates", "duplicates"],
    },
    Report {
        kind: "data in a sequence space that the SYN did not announce",
        file: "data_off_isn_below.pcap",
        sent: "unique_bytes 200, retransmitted_pkts 0",
        answered: "unique_bytes 5000, retransmitted_pkts 0, inflight_max_bytes 500, missing_bytes 0",
        notes: ["", "at_receiver sequence_jump"],
    },
    Report {
        kind: "an ACK captured just before its data",
        file: "ack_before_data.pcap",
        sent: "out_of_order_pkts 0, unique_bytes 20000, missing_bytes 0",
        answered: "pkts 21",
        notes: ["in_the_middle", ""],
    },
    Report {
        kind: "a lone segment that is sent again after three seconds: no probe",
        file: "lone_segment_rto_3s.pcap",
        sent: "tlp_pkts 0, rto_retransmitted_pkts 10, rto_count 10",
        answered: "pkts 11",
        notes: ["", ""],
    },
    Report {
        kind: "a byte that a window probe carried first",
        file: "zero_window_probe_1_byte.pcap",
        sent: "retransmitted_pkts 0, rto_count 0, zero_window_probe_pkts 4, unique_bytes 6000, dup_acks 0",
        answered: "zero_window_pkts 5",
        notes: ["", ""],
    },
    Report {
        kind: "the counter of accurate ECN",
        file: "accecn.pcap",
        sent: "ece_pkts null, cwr_pkts null, ecn_ce_pkts 4",
        answered: "ece_pkts null, cwr_pkts null, accecn_ce_pkts 4",
        notes: ["", ""],
    },
    Report {
        kind: "records in the order of time, for comparison",
        file: "sorted_reference.pcap",
        sent: "inflight_max_bytes 4000, rtt_count 21, retransmitted_pkts 0",
        answered: "rtt_count 1",
        notes: ["", ""],
    },
    Report {
        kind: "records of one direction after those of the other",
        file: "unsorted_directions_one_after_the_other.pcap",
        sent: "inflight_max_bytes 4000, rtt_count 21, retransmitted_pkts 0",
        answered: "rtt_count 1",
        notes: ["", ""],
    },
    Report {
        kind: "an interface for each direction, of a tap",
        file: "tap_interface_per_direction.pcapng",
        sent: "connection 0, pkts 12, unique_bytes 10000, rtt_count 11, rtt_max_us 40000",
        answered: "connection 0, pkts 11, rtt_count 1",
        notes: ["", ""],
    },
    Report {
        kind: "two VLANs with the same addresses and ports",
        file: "two_vlans_same_5_tuple.pcap",
        sent: "connection 0, pkts 12, unique_bytes 10000, rtt_count 11, rto_count 0",
        answered: "connection 0, pkts 11",
        notes: ["", ""],
    },
    Report {
        kind: "packets of TCP that IP cut in fragments",
        file: "ip_fragments.pcap",
        sent: "pkts 8, data_pkts 6, unique_bytes 18000, missing_bytes 0, rtt_count 7",
        answered: "pkts 7",
        notes: ["offload", ""],
    },
    Report {
        kind: "TCP inside GRE",
        file: "enc_gre.pcap",
        sent: "connection 0, pkts 7, unique_bytes 5000, rtt_count 6, rtt_max_us 40000",
        answered: "connection 0, pkts 6",
        notes: ["", ""],
    },
    Report {
        kind: "TCP inside IP in IP",
        file: "enc_ipip.pcap",
        sent: "connection 0, pkts 7, unique_bytes 5000, rtt_count 6, rtt_max_us 40000",
        answered: "connection 0, pkts 6",
        notes: ["", ""],
    },
    Report {
        kind: "TCP inside IPv6 in IPv4",
        file: "enc_6in4.pcap",
        sent: "connection 0, pkts 7, unique_bytes 5000, rtt_count 6, rtt_max_us 40000",
        answered: "connection 0, pkts 6",
        notes: ["", ""],
    },
    Report {
        kind: "TCP inside MPLS",
        file: "enc_mpls.pcap",
        sent: "connection 0, pkts 7, unique_bytes 5000, rtt_count 6, rtt_max_us 40000",
        answered: "connection 0, pkts 6",
        notes: ["", ""],
    },
    Report {
        kind: "TCP inside PPP over Ethernet",
        file: "enc_pppoe.pcap",
        sent: "connection 0, pkts 7, unique_bytes 5000, rtt_count 6, rtt_max_us 40000",
        answered: "connection 0, pkts 6",
        notes: ["", ""],
    },
    Report {
        kind: "TCP inside a VLAN",
        file: "enc_vlan.pcap",
        sent: "connection 0, pkts 7, unique_bytes 5000, rtt_count 6, rtt_max_us 40000",
        answered: "connection 0, pkts 6",
        notes: ["", ""],
    },
];

fn path(file: &str) -> PathBuf {
    let data = "../../tests/data/field-reports";
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(data)
        .join(file)
}

fn analyzed(file: &str) -> Analyzed {
    let analysis = analyze_file(file, &AnalysisOptions::default());
    let better = analysis.better_options(&AnalysisOptions::default());
    Analyzed {
        analysis: better.map_or(analysis, |better| analyze_file(file, &better)),
    }
}

fn analyze_file(file: &str, options: &AnalysisOptions) -> Analysis {
    let mut reader = Reader::open(&path(file)).expect("a capture");
    analyze(&mut reader, options).expect("it can be read")
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "names the kind whose numbers are wrong"
)]
fn each_reported_kind_has_the_right_numbers() {
    for report in REPORTS {
        let analyzed = analyzed(report.file);
        println!("{}: {}", report.file, report.kind);
        analyzed.expect(report.sent);
        analyzed.expect_answered(report.answered);
        let notes = [0, 1].map(|row| analyzed.text("notes", row));
        assert_eq!(notes, report.notes);
    }
}

/// A copy is distinguished from a retransmission by its time, unless a retransmission was possible then.
#[test]
fn a_repeat_is_a_copy_while_nothing_can_have_been_sent_again() {
    let repeated = |after_ms: &str, words: &str| {
        let again = format!("{after_ms} > 1:1001 ack 1 {words}");
        let first = format!("100 > 1:1001 ack 1 {words}");
        analyze_scripts(&[HANDSHAKE, &first, &again, "160 < - ack 1001"])
    };
    // The round trip takes 40 ms.
    for (after_ms, words) in [
        ("100.005", ""),
        ("130", ""),
        ("130", "id 7"),
        ("130", "ts 5,5"),
    ] {
        repeated(after_ms, words).expect("duplicate_pkts 1, retransmitted_pkts 0, rtt_count 2");
    }
    for (after_ms, words) in [("141", ""), ("141", "id 7"), ("141", "ts 5,5")] {
        repeated(after_ms, words).expect("duplicate_pkts 0, retransmitted_pkts 1, rtt_count 1");
    }
    // With evidence of loss it is a retransmission already within the shortest round trip.
    let lost = "
        100 > 1:1001 ack 1
        101 > 1001:2001 ack 1
        121 < - ack 1
        121.5 > 1:1001 ack 1
    ";
    analyze_scripts(&[HANDSHAKE, lost]).expect("duplicate_pkts 0, retransmitted_pkts 1");
    // Headers that changed are of another transmission, however soon it came.
    let changed = ["100 > 1:1001 ack 1 id 7", "101 > 1:1001 ack 1 id 8"];
    let changed = analyze_scripts(&[HANDSHAKE, changed[0], changed[1]]);
    changed.expect("duplicate_pkts 0, retransmitted_pkts 1");
}

/// Duplicate ACKs are equal too, and are no copies, unless the capture has everything twice.
#[test]
fn duplicate_acks_without_an_id_are_no_copies() {
    let acks = "
        90      < - ack 1
        90.001  < - ack 1
        90.002  < - ack 1
    ";
    let data = "50 > 1:1001 ack 1 \n 51 > 1001:2001 ack 1";
    analyze_scripts(&[HANDSHAKE, data, acks]).expect("dup_acks 3, triple_dup_acks 1");
    let mirrored = "
        0       > S
        0.002   > S
        40      < S ack 1
        40.002  < S ack 1
        50      > 1:1001 ack 1
        50.002  > 1:1001 ack 1
    ";
    let analyzed = analyze_scripts(&[mirrored, "90 < - ack 1001 \n 90.002 < - ack 1001"]);
    analyzed.expect("dup_acks 0, duplicate_pkts 2");
    analyzed.expect_answered("duplicate_pkts 2, pure_ack_pkts 1");
}

/// Where headers and time leave it open, there is a note and no sample (Karn).
#[test]
fn what_may_be_a_copy_or_a_retransmission_is_said() {
    let story = "
        0    > 1:1001 ack 1
        40   < - ack 1001
        50   > 1001:2001 ack 1
        51   > 2001:3001 ack 1
        91   > 1001:2001 ack 1
        92   < - ack 3001
    ";
    let analyzed = analyze_scripts(&["0 > S\n 40 < S ack 1\n 40 > - ack 1", story]);
    analyzed.expect("retransmitted_pkts 1, rto_count 1");
    let late = "
        50   > 1:1001 ack 1
        51   > 1001:2001 ack 1
        92   > 1001:2001 ack 1
        92.5 < - ack 2001
    ";
    let analyzed = analyze_scripts(&["0 > S\n 40 < S ack 1\n 40 > - ack 1", late]);
    assert_eq!(analyzed.text("notes", 0), "undecided_repeats");
    analyzed.expect("retransmitted_pkts 1, rtt_count 1");
}

/// RFC 9293 §3.8.4: the sequence number before the next one, with a byte or none; no retransmissions.
#[test]
fn keep_alives_are_counted_apart() {
    let story = "
        50      > 1:1001 ack 1
        90      < - ack 1001
        10000   > 1000:1001 ack 1
        10040   < - ack 1001
        20000   > - seq 1000 ack 1
        20040   < - ack 1001
    ";
    let analyzed = analyze_scripts(&[HANDSHAKE, story]);
    analyzed.expect("keep_alive_pkts 2, retransmitted_pkts 0, unique_bytes 1000, rto_count 0");
    // Before any data the number is that of the SYN.
    let idle = "10000 > 0:1 ack 1 \n 10040 < - ack 1 \n 10100 > 1:1001 ack 1 \n 10140 < - ack 1001";
    let analyzed = analyze_scripts(&[HANDSHAKE, idle]);
    analyzed.expect("keep_alive_pkts 1, retransmitted_pkts 0, unique_bytes 1000, rtt_count 2");
    assert_eq!(analyzed.text("notes", 0), "");
    // A byte that is sent again soon is a retransmission.
    let byte = "50 > 1:2 ack 1 \n 90 < - ack 2 \n 350 > 1:2 ack 1";
    analyze_scripts(&[HANDSHAKE, byte]).expect("keep_alive_pkts 0, retransmitted_pkts 1");
}

/// Data ahead of the SYN by more than windows allow was not lost by the capture: it was never sent.
#[test]
fn data_far_ahead_of_the_syn_begins_anew() {
    let ahead = "100 > 99000001:99001001 ack 1 \n 140 < - ack 99001001";
    let analyzed = analyze_scripts(&[HANDSHAKE, ahead]);
    analyzed.expect("missing_bytes 0, unique_bytes 1000, inflight_max_bytes 1000");
    assert_eq!(analyzed.text("notes", 0), "sequence_jump");
    // What fits into the window was lost by the capture.
    let near = "100 > 100001:101001 ack 1 \n 140 < - ack 101001";
    let analyzed = analyze_scripts(&[HANDSHAKE, near]);
    analyzed.expect("missing_bytes 100000, unique_bytes 1000");
    assert_eq!(analyzed.text("notes", 0), "missing_data");
}

/// RFC 8985 §7.2: the probe comes two round trips after the last packet, and the delay of an ACK.
#[test]
fn a_probe_that_comes_too_late_is_a_timeout() {
    let resent = |at_ms: u32| {
        let again = format!("{at_ms} > 1:1001 ack 1");
        analyze_scripts(&[HANDSHAKE, "50 > 1:1001 ack 1", &again])
    };
    resent(320).expect("tlp_pkts 1, rto_count 0");
    resent(400).expect("tlp_pkts 0, rto_count 1");
}

/// RFC 9768 §3.2.2.5: the counter wraps, and ACKs that were overtaken have an old one.
#[test]
fn the_counter_of_accurate_ecn_goes_round() {
    let story = |acks: &str| {
        let start = "
            0   > SAEC mss 1460 ws 7 sackok
            40  < SA ack 1 mss 1460 ws 7 sackok
            40  > A ack 1
            50  > 1:1001 ack 1
        ";
        analyze_scripts(&[start, acks])
    };
    let around = story("90 < CA ack 1001\n 91 < E ack 2001\n 92 < EA ack 3001");
    around.expect_answered("accecn_ce_pkts 8, ece_pkts null");
    let overtaken = story("90 < CEA ack 3001\n 91 < CA ack 2001\n 92 < CEA ack 4001");
    overtaken.expect_answered("accecn_ce_pkts 2");
    let cleared = story("90 < - ack 1001\n 91 < - ack 2001");
    cleared.expect_answered("accecn_ce_pkts null, ece_pkts null");
}

#[test]
fn connections_in_two_vlans_are_two() {
    let analyzed = analyzed("two_vlans_same_5_tuple.pcap");
    assert_eq!(analyzed.analysis.totals.connections, 2);
    analyzed.check(2, "connection 1, pkts 12, unique_bytes 10000, rtt_count 11");
    let points = [0, 2].map(|row| analyzed.text("point", row));
    assert_eq!(points, ["0 vlan 10", "0 vlan 20"]);
}

/// Mirror ports may tag one direction, or each with a VLAN of its own: still one connection.
#[test]
fn a_vlan_per_direction_is_one_connection() {
    let data = "50 > 1:1001 ack 1 \n 90 < - ack 1001 \n 100 > 1001:2001 ack 1 \n 140 < - ack 2001";
    for (script, rtt_count) in [([HANDSHAKE, data].join("\n"), 3), (data.to_owned(), 2)] {
        let mut packets = packets_from(&script, SYN_SEQS);
        for packet in &mut packets {
            if packet.source.port != 40_000 {
                packet.network = vlan(20);
            }
        }
        let analyzed = analyze_packets(packets, &AnalysisOptions::default());
        assert_eq!(analyzed.analysis.totals.connections, 1);
        analyzed.expect(&format!("rtt_count {rtt_count}, unique_bytes 2000"));
        assert_eq!(analyzed.text("point", 0), "0");
    }
}

fn vlan(number: u16) -> NetworkId {
    let mut frame = vec![0; 12];
    frame.extend([0x81, 0x00]);
    frame.extend(number.to_be_bytes());
    frame.extend([0x08, 0x00, 0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0]);
    frame.extend([0; 28]);
    frame[18 + 20 + 12] = 0x50;
    let packet = dissect(LinkType::ETHERNET, &frame, frame.len() as u32, false);
    packet.expect("a packet of TCP").network
}

/// What was acknowledged is missing too if none of the data was captured.
#[test]
fn data_of_which_nothing_was_captured_is_missing() {
    let story = "100 > - seq 1 ack 1 \n 200 < - ack 18001 \n 300 > - seq 18001 ack 1";
    let analyzed = analyze_scripts(&[HANDSHAKE, story]);
    analyzed.expect("missing_bytes 18000, data_pkts 0");
    assert_eq!(analyzed.text("notes", 0), "missing_data");
    // A FIN takes a number too.
    let closed = analyze_scripts(&[HANDSHAKE, "200 < - ack 2"]);
    closed.expect("missing_bytes 0");
}

/// A snap length may cut the options: what they are is unknown then.
#[test]
fn options_that_were_cut_are_unknown() {
    let script = [HANDSHAKE, "50 > 1:1001 ack 1"].join("\n");
    let mut packets = packets_from(&script, SYN_SEQS);
    for packet in &mut packets {
        (packet.mss, packet.window_scale, packet.sack_permitted) = (None, None, false);
        packet.has_cut_options = true;
    }
    let analyzed = analyze_packets(packets, &AnalysisOptions::default());
    analyzed.expect("has_timestamps null, sack_permitted null, window_scale null, mss_bytes null");
}

/// A pipe cannot be read again, to be sorted: there is a note.
#[test]
fn records_out_of_order_are_said_where_they_stay_so() {
    let file = "unsorted_directions_one_after_the_other.pcap";
    let analysis = analyze_file(file, &AnalysisOptions::default());
    assert_eq!(analysis.totals.unsorted_pkts, 16);
    let analyzed = Analyzed { analysis };
    assert_eq!(analyzed.text("notes", 0), "unknown_vantage unsorted");
}

#[test]
fn the_lines_of_a_tap_are_one_point() {
    let analyzed = analyzed("tap_interface_per_direction.pcapng");
    assert_eq!(analyzed.text("point", 0), "in+out");
    assert_eq!(analyzed.analysis.joined_points, [["in", "out"]]);
}

/// Links of a network see one direction too; where a point saw both, nothing is joined.
#[test]
fn points_of_one_direction_are_apart_where_another_has_both() {
    let script = "
        0   > S at 0
        1   > S at 1
        39  < S ack 1 at 2
        40  < S ack 1 at 0
        40  > - ack 1 at 0
        41  > - ack 1 at 1
    ";
    let analyzed = analyze_scripts(&[script]);
    assert!(analyzed.analysis.joined_points.is_empty());
}

/// Behind a NAT the same packets have other addresses and ports.
#[test]
fn captures_on_both_sides_of_a_nat_are_matched_by_the_rest() {
    let matching = |options: &MatchOptions| {
        let [mut before, mut after] = ["nat_before.pcap", "nat_after.pcap"]
            .map(|file| Reader::open(&path(file)).expect("a capture"));
        match_captures(&mut before, &mut after, options).expect("they can be read")
    };
    let options = MatchOptions::default();
    let apart = matching(&options);
    assert_eq!(apart.totals.matched_pkts, 0);
    let better = apart
        .better_options(&options)
        .expect("connections of one capture only");
    let joined = matching(&better);
    assert!(joined.better_options(&better).is_none());
    assert_eq!(joined.totals.translated_directions, 2);
    assert_eq!(joined.matches.num_rows(), 2);
    for (column, value) in [
        ("before_pkts", 22.0),
        ("after_pkts", 20.0),
        ("matched_pkts", 20.0),
        ("dropped_pkts", 2.0),
        ("only_after_pkts", 0.0),
    ] {
        assert_eq!(
            number_of(&joined.matches, column, 0),
            Some(value),
            "{column}"
        );
    }
}
