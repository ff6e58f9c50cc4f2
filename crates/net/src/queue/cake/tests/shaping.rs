//! The shaper and the tins.

use super::*;

/// What leaves in any second is the rate's to a packet, and nothing leaves in bursts.
#[test]
fn the_rate_is_exact_to_a_packet_and_there_are_no_bursts() {
    for rate_bps in [1_000_000, 9_500_000, 950_000_000] {
        let mut bed = Bed::new(&shaped(rate_bps));
        let time_ns = 60 * S / (rate_bps / 1_000_000).min(20);
        bed.offer(time_ns, &[(1, 3 * rate_bps / 2, Head::default())]);
        let packet_ns = u64::from(FULL) * 8 * S / rate_bps;
        let sent = &bed.sent;
        let gaps = sent.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns);
        assert!(gaps.into_iter().all(|gap| gap >= packet_ns - 1));
        let window_ns = 1000 * packet_ns;
        for first in (0..sent.len() - 1001).step_by(37) {
            let end_ns = sent[first].at_ns + window_ns;
            let count = sent[first..]
                .iter()
                .take_while(|sent| sent.at_ns < end_ns)
                .count();
            assert!((999..=1001).contains(&count), "{count} at {rate_bps} bit/s");
        }
        // Over the whole run to a packet, and to the ns that each packet's time is rounded to, as in Linux.
        let busy_ns = sent[sent.len() - 1].at_ns - sent[0].at_ns;
        let exact_ns = (sent.len() as u128 - 1) * u128::from(FULL) * 8 * u128::from(S);
        let exact_ns = (exact_ns / u128::from(rate_bps)) as u64;
        let off_ns = exact_ns.abs_diff(busy_ns);
        assert!(
            off_ns <= packet_ns + sent.len() as u64,
            "{off_ns} ns at {rate_bps} bit/s"
        );
    }
}

/// After an idle time the shaper starts with now and has saved nothing.
#[test]
fn idle_time_is_not_saved_for_a_burst() {
    let mut bed = Bed::new(&shaped(12_112_000)); // 1 ms a packet
    bed.enqueue(packet(1, FULL, Head::default()));
    bed.run_until(5 * S);
    for _ in 0..5 {
        bed.enqueue(packet(1, FULL, Head::default()));
    }
    bed.run_until(6 * S);
    let times: Vec<u64> = bed.sent.iter().map(|sent| sent.at_ns).collect();
    let expected = [
        0,
        5 * S,
        5 * S + MS,
        5 * S + 2 * MS,
        5 * S + 3 * MS,
        5 * S + 4 * MS,
    ];
    for (time, expected) in times.iter().zip(expected) {
        assert!(time.abs_diff(expected) <= 10, "{times:?}");
    }
    assert_eq!(times.len(), 6);
}

/// 1 Mbit/s: a packet takes 12.112 ms, target is 1.5 of them and the interval grows with it.
#[test]
fn target_and_interval_have_room_for_packets_at_a_low_rate() {
    let bed = Bed::new(&shaped(1_000_000));
    assert_eq!(bed.statistic("tin0_target_ns") / 1000, 18_168);
    assert_eq!(bed.statistic("tin0_interval_ns") / 1000, 113_168);
    let fast = Bed::new(&shaped(100_000_000));
    assert_eq!(fast.statistic("tin0_target_ns"), 5 * MS);
    assert_eq!(fast.statistic("tin0_interval_ns"), 100 * MS);
    let metro = Bed::new(&Config {
        rtt_ns: Rtt(10 * MS),
        ..shaped(100_000_000)
    });
    assert_eq!(metro.statistic("tin0_target_ns"), MS / 2);
    assert_eq!(metro.statistic("tin0_interval_ns"), 10 * MS);
    // The bulk tin has a 16th of the rate, where a packet takes 1.94 ms.
    assert_eq!(metro.statistic("tin1_target_ns") / 1000, 2906);
}

fn dscp(dscp: u8) -> Head {
    Head {
        dscp,
        ..Head::default()
    }
}

/// Shares of best effort, bulk (LE) and voice (EF) when all want more than the link has.
fn shares_of_tins(config: &Config, link_bps: u64) -> [f64; 3] {
    let mut bed = Bed::new(config);
    let flows: Vec<(u32, u64, Head)> = (0..)
        .zip([0, 1, 46])
        .map(|(flow, codepoint)| (flow, link_bps, dscp(codepoint)))
        .collect();
    bed.offer(10 * S, &flows);
    let total = bed.bytes_since(2 * S, |_| true) as f64;
    [0, 1, 46].map(|codepoint| {
        bed.bytes_since(2 * S, |packet| packet.header.dscp == codepoint) as f64 / total
    })
}

/// With a rate, tins within their share go first: voice has its quarter and bulk its 16th, and best effort what
/// is left.
#[test]
fn tins_have_their_shares_of_the_rate_when_all_are_full() {
    let [best_effort, bulk, voice] = shares_of_tins(&shaped(10_000_000), 10_000_000);
    for (found, expected) in [(voice, 0.25), (bulk, 0.0625), (best_effort, 0.6875)] {
        assert!(
            (found - expected).abs() < 0.01,
            "{best_effort} {bulk} {voice}"
        );
    }
}

/// A tin may use what the others leave, and voice within its quarter does not wait for best effort.
#[test]
fn a_tin_alone_has_the_whole_rate_and_voice_goes_first() {
    let mut bed = Bed::new(&shaped(10_000_000));
    bed.offer(5 * S, &[(1, 20_000_000, dscp(46))]);
    let bytes = bed.bytes_since(S, |_| true);
    assert!(
        (bytes as f64 / (4.0 * 1_250_000.0) - 1.0).abs() < 0.002,
        "{bytes}"
    );
    let mut bed = Bed::new(&shaped(10_000_000));
    bed.offer(5 * S, &[(1, 20_000_000, dscp(0)), (2, 2_000_000, dscp(46))]);
    let packet_ns = u64::from(FULL) * 8 * 100;
    let delays = bed.sent.iter().filter(|sent| sent.packet.flow == 2);
    let longest_ns = delays.map(|sent| sent.at_ns - sent.packet.arrived_ns).max();
    // The one that is on the link, and none of best effort.
    assert!(
        longest_ns.is_some_and(|longest_ns| longest_ns <= packet_ns + 1000),
        "{longest_ns:?}"
    );
    assert!(bed.dropped.iter().all(|(packet, _)| packet.flow == 1));
}

/// Without a rate tins take turns with quanta of 1024, 64 and 256.
#[test]
fn without_a_rate_tins_have_shares_by_their_quanta() {
    let config = Config {
        limit_bytes: Some(1 << 31),
        ..Config::default()
    };
    let mut bed = Bed::new(&config);
    for (flow, codepoint) in (0..).zip([0, 1, 46]) {
        for _ in 0..20_000 {
            bed.enqueue(packet(flow, FULL, dscp(codepoint)));
        }
    }
    for _ in 0..20_000 {
        bed.take();
    }
    let total = bed.bytes_since(0, |_| true) as f64;
    for (codepoint, weight) in [(0, 1024.0), (1, 64.0), (46, 256.0)] {
        let bytes = bed.bytes_since(0, |packet| packet.header.dscp == codepoint) as f64;
        let expected = weight / 1344.0;
        assert!(
            (bytes / total / expected - 1.0).abs() < 0.01,
            "{codepoint}: {}",
            bytes / total
        );
    }
}

/// What is dropped at an ingress has crossed the link before: it is charged, so that sent and dropped together
/// are the rate, down to two thirds of it for what is sent.
#[test]
fn an_ingress_charges_what_it_drops() {
    let mut sent_bytes = [0; 2];
    for (sent_bytes, ingress) in sent_bytes.iter_mut().zip([false, true]) {
        let config = Config {
            ingress,
            limit_bytes: Some(100_000),
            ..shaped(10_000_000)
        };
        let mut bed = Bed::new(&config);
        bed.offer(10 * S, &[(1, 12_000_000, Head::default())]);
        *sent_bytes = bed.bytes_since(2 * S, |_| true);
    }
    let seconds_of_rate = 8.0 * 1_250_000.0;
    let shares = sent_bytes.map(|bytes| bytes as f64 / seconds_of_rate);
    assert!((shares[0] - 1.0).abs() < 0.002, "{shares:?}");
    // 12 come, so at least 2 are dropped and 8 are left for what is sent.
    assert!((0.66..0.81).contains(&shares[1]), "{shares:?}");
}

/// An ATM link: each packet takes whole cells, and the shaper leaves room for them.
#[test]
fn the_shaper_counts_what_packets_take_on_the_link() {
    let config = Config {
        link_layer: LinkLayer::pppoe_llcsnap,
        ..shaped(10_000_000)
    };
    let mut bed = Bed::new(&config);
    bed.offer(4 * S, &[(1, 20_000_000, Head::default())]);
    let bytes = bed.bytes_since(S, |_| true);
    // 1500 + 40 bytes in 33 cells.
    let expected = 3.0 * 1_250_000.0 * f64::from(FULL) / (33.0 * 53.0);
    assert!((bytes as f64 / expected - 1.0).abs() < 0.002, "{bytes}");
}
