//! Properties of any packets, sensible or not.

use crate::story::{self, Analyzed, SYN_SEQS, analyze_packets, number_of, packets_from};
use dumbbell_capture::{
    AnalysisOptions, MatchOptions, PacketList, SackBlocks, TcpFlags, TcpPacket, match_captures,
};
use proptest::prelude::*;

/// Any packet between two ends; sequence numbers near each other, so that they meet.
fn any_packet() -> impl Strategy<Value = TcpPacket> {
    let near = prop_oneof![8 => 0u32..20_000, 1 => any::<u32>()];
    let block = (near.clone(), 0u32..5000);
    let header = (any::<bool>(), near.clone(), near, 0u16..0x200, any::<u16>());
    let rest = (
        prop_oneof![Just(0u32), 1u32..1500, Just(100_000)],
        prop::collection::vec(block, 0..5),
        prop::option::of((0u32..50, 0u32..50)),
        prop::option::of(0u8..20),
        0u64..50_000_000,
        0u32..2,
    );
    (header, rest).prop_map(|((is_first, seq, ack, flags, window), rest)| {
        let (payload_bytes, blocks, timestamps, window_scale, time_ns, interface) = rest;
        let template = packets_from(if is_first { "0 > -" } else { "0 < -" }, [0, 0]);
        let mut sack = SackBlocks::default();
        for (start, len) in blocks {
            sack.push(start, start.wrapping_add(len));
        }
        // Mostly without SYN and RST.
        let unusual = TcpFlags::SYN | TcpFlags::RST | TcpFlags::FIN;
        let flags = if flags % 5 == 0 {
            flags
        } else {
            flags & !unusual | TcpFlags::ACK
        };
        TcpPacket {
            seq,
            ack,
            flags: TcpFlags(flags),
            window,
            payload_bytes,
            sack,
            timestamps,
            window_scale,
            time_ns,
            interface,
            ..template[0]
        }
    })
}

/// A sender's originals and retransmissions, some lost before the capture; and a receiver's ACKs.
fn transfer(events: &[(u8, u8)]) -> String {
    let mut script = story::HANDSHAKE.to_owned();
    let (mut next, mut acked) = (0u32, 0u32);
    for (step, &(event, choice)) in events.iter().enumerate() {
        let time_ms = 50 + step;
        let line = match event % 4 {
            0 | 1 => {
                next += 1;
                segment(time_ms, next - 1)
            }
            2 if next > 0 => segment(time_ms, u32::from(choice) % next),
            _ => {
                acked = acked.max(u32::from(choice) % (next + 1));
                format!("{time_ms} < - ack {}", acked * 100 + 1)
            }
        };
        script += &format!("{line}\n");
    }
    script
}

fn segment(time_ms: usize, number: u32) -> String {
    format!(
        "{time_ms} > {}:{} ack 1",
        number * 100 + 1,
        number * 100 + 101
    )
}

fn column(analyzed: &Analyzed, row: usize, name: &str) -> f64 {
    number_of(&analyzed.analysis.connections, name, row).unwrap_or(0.0)
}

fn check_counts(analyzed: &Analyzed) -> Result<(), TestCaseError> {
    for row in 0..analyzed.analysis.connections.num_rows() {
        let of = |name| column(analyzed, row, name);
        prop_assert!(of("unique_bytes") <= of("payload_bytes"));
        let accounted = of("unique_bytes") + of("retransmitted_bytes");
        prop_assert!(accounted <= of("payload_bytes"));
        if of("zero_window_probe_pkts") == 0.0 {
            prop_assert_eq!(accounted, of("payload_bytes"));
        }
        let kinds = [
            "fast_retransmitted_pkts",
            "rto_retransmitted_pkts",
            "tlp_pkts",
        ];
        prop_assert!(kinds.into_iter().map(of).sum::<f64>() <= of("retransmitted_pkts"));
        prop_assert!(of("rtt_min_us") <= of("rtt_max_us"));
        let inflight = ["inflight_max_bytes", "inflight_sack_max_bytes"];
        prop_assert!(
            inflight.into_iter().all(|name| of(name) < 1e12),
            "none below zero"
        );
        prop_assert!(of("inflight_mean_bytes") <= of("inflight_max_bytes") + 1e-6);
        prop_assert!(of("inflight_sack_mean_bytes") <= of("inflight_sack_max_bytes") + 1e-6);
        prop_assert!(of("spurious_retransmitted_pkts") <= of("payload_bytes") + of("pkts"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_packets_are_counted(packets in prop::collection::vec(any_packet(), 0..200)) {
        let options = AnalysisOptions {
            segments: vec![0, 1],
            max_views: 3,
            max_view_bytes: 1 << 13,
            series_bins: 4,
            ..AnalysisOptions::default()
        };
        let count = packets.len() as u64;
        let analyzed = analyze_packets(packets, &options);
        prop_assert_eq!(analyzed.analysis.totals.tcp_pkts, count);
        let listed: f64 = (0..analyzed.analysis.connections.num_rows())
            .map(|row| column(&analyzed, row, "pkts"))
            .sum();
        prop_assert_eq!(listed as u64 + analyzed.analysis.totals.evicted.pkts, count);
        check_counts(&analyzed)?;
    }

    #[test]
    fn any_packets_in_order_of_time(mut packets in prop::collection::vec(any_packet(), 0..200)) {
        packets.sort_by_key(|packet| packet.time_ns);
        check_counts(&analyze_packets(packets, &AnalysisOptions::default()))?;
    }

    #[test]
    fn a_transfer_adds_up(events in prop::collection::vec(any::<(u8, u8)>(), 0..300)) {
        let analyzed = analyze_packets(packets_from(&transfer(&events), SYN_SEQS), &AnalysisOptions::default());
        check_counts(&analyzed)?;
        let of = |name| column(&analyzed, 0, name);
        // Nothing was lost or reordered before the capture.
        prop_assert_eq!(of("out_of_order_pkts"), 0.0);
        prop_assert_eq!(of("missing_bytes"), 0.0);
        prop_assert_eq!(of("unique_bytes") + of("retransmitted_bytes"), of("payload_bytes"));
        prop_assert_eq!(of("retransmitted_bytes"), of("retransmitted_pkts") * 100.0);
        prop_assert!(of("inflight_max_bytes") <= of("unique_bytes"));
    }

    /// Each packet of either capture is matched, given up or undecided.
    #[test]
    fn any_packets_are_matched_or_not(
        before in prop::collection::vec(any_packet(), 0..100),
        after in prop::collection::vec(any_packet(), 0..100),
        taken_over in 0usize..100,
    ) {
        let after: Vec<TcpPacket> =
            before.iter().take(taken_over).chain(&after).copied().collect();
        let counts = [before.len(), after.len()];
        let options = MatchOptions { max_waiting_pkts: 20, ..MatchOptions::default() };
        let [mut before, mut after] = [before, after].map(|list| PacketList(list.into_iter()));
        let matching = match_captures(&mut before, &mut after, &options).expect("in memory");
        let sum = |name: &str| -> u64 {
            let rows = 0..matching.matches.num_rows();
            rows.filter_map(|row| number_of(&matching.matches, name, row)).sum::<f64>() as u64
        };
        let totals = matching.totals;
        prop_assert_eq!([totals.before_pkts, totals.after_pkts], counts.map(|count| count as u64));
        prop_assert_eq!(sum("matched_pkts"), totals.matched_pkts);
        let first = sum("matched_pkts") + sum("dropped_pkts") + sum("undecided_pkts");
        prop_assert_eq!(first, totals.before_pkts);
        prop_assert_eq!(sum("matched_pkts") + sum("only_after_pkts"), totals.after_pkts);
    }

    /// The position of the sequence numbers on the circle makes no difference.
    #[test]
    fn sequence_numbers_may_wrap(
        events in prop::collection::vec(any::<(u8, u8)>(), 0..200),
        syn_seqs in any::<[u32; 2]>(),
    ) {
        let script = transfer(&events);
        let options = AnalysisOptions::default();
        let plain = analyze_packets(packets_from(&script, SYN_SEQS), &options);
        let moved = analyze_packets(packets_from(&script, syn_seqs), &options);
        prop_assert!(plain.analysis.connections == moved.analysis.connections);
        prop_assert!(plain.analysis.series == moved.analysis.series);
    }

    /// Nor does it for a connection that began before the capture.
    #[test]
    fn sequence_numbers_may_wrap_without_a_handshake(
        events in prop::collection::vec(any::<(u8, u8)>(), 0..200),
        syn_seqs in any::<[u32; 2]>(),
        skipped in 3usize..20,
    ) {
        let script = transfer(&events);
        let options = AnalysisOptions::default();
        let analyze = |syn_seqs| {
            analyze_packets(packets_from(&script, syn_seqs).split_off(skipped.min(3 + events.len())), &options)
        };
        let (plain, moved) = (analyze(SYN_SEQS), analyze(syn_seqs));
        prop_assert!(plain.analysis.connections == moved.analysis.connections);
        prop_assert!(plain.analysis.series == moved.analysis.series);
    }
}
