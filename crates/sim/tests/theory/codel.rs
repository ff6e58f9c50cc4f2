//! CoDel (RFC 8289) against what its RFC says of it.

use dumbbell_net::queue::codel;
use dumbbell_sim::{Group, Host, LinkSummary};

use crate::common::{NS_PER_MS, assert_within, bulk, dumbbell, simulate};

/// A minute over CoDel.
fn over_codel(link_rate_bps: u64, config: codel::Config, groups: Vec<Group>) -> LinkSummary {
    let mut scenario = dumbbell(link_rate_bps, 0.0, 60, groups);
    scenario.sample_interval_ns = 0;
    scenario.links[0].queue = config.into();
    simulate(&scenario).summary.bottleneck
}

fn with_target_ms(target_ms: u64) -> codel::Config {
    codel::Config {
        target_ns: target_ms * NS_PER_MS,
        ..codel::Config::default()
    }
}

/// RFC 8289 §3.2: with long-lived TCP the median delay tends to the target, below it where the link is
/// hardly used and above it where there are many flows for the bandwidth.
#[test]
fn the_median_delay_of_long_flows_tends_to_the_target() {
    for (cc, flows, rate_mbps, range_ms) in [
        ("reno", 4, 20, 2.0..=7.5),
        ("cubic", 4, 20, 2.0..=7.5),
        ("cubic", 8, 50, 2.0..=7.5),
        ("cubic", 16, 100, 2.0..=7.5),
        // Two packets in flight each are 31 ms of queue: overload.
        ("cubic", 64, 20, 5.0..=60.0),
    ] {
        let link = over_codel(
            rate_mbps * 1_000_000,
            codel::Config::default(),
            vec![bulk(cc, flows, 50)],
        );
        let median_ms = link.queue_delay_p50_us as f64 / 1e3;
        println!(
            "{flows} {cc} at {rate_mbps} Mbit/s: median {median_ms:.2} ms, p95 {:.1} ms, used {:.3}, \
             dropped {}",
            link.queue_delay_p95_us as f64 / 1e3,
            link.utilization,
            link.dropped_pkts
        );
        assert_within("the median delay, ms", median_ms, range_ms);
        assert!(link.dropped_pkts > 0);
    }
}

/// RFC 8289 §4.3: utilisation suffers below 5 ms of target and gains little above.
#[test]
fn a_target_of_five_ms_is_enough() {
    for rtt_ms in [50, 100] {
        let used = [1, 5, 20].map(|target_ms| {
            let link = over_codel(
                20_000_000,
                with_target_ms(target_ms),
                vec![bulk("reno", 4, rtt_ms)],
            );
            link.utilization
        });
        println!("RTT {rtt_ms} ms: used {used:.4?} with a target of 1, 5 and 20 ms");
        assert!(used[0] < used[1], "{used:?}");
        assert!(used[2] - used[1] < 0.1, "{used:?}");
        assert!(used[1] > 0.85, "{used:?}");
    }
}

/// RFC 8289 §4.2: 100 ms of interval is excellent for RTTs of 10 to 300 ms.
#[test]
fn an_interval_of_100_ms_does_for_rtts_from_10_to_300_ms() {
    for rtt_ms in [10, 30, 100, 300] {
        let link = over_codel(
            20_000_000,
            codel::Config::default(),
            vec![bulk("cubic", 4, rtt_ms)],
        );
        let median_ms = link.queue_delay_p50_us as f64 / 1e3;
        println!(
            "RTT {rtt_ms} ms: used {:.3}, median {median_ms:.2} ms",
            link.utilization
        );
        assert!(link.utilization > 0.8, "used {}", link.utilization);
        assert_within("the median delay, ms", median_ms, 0.0..=15.0);
    }
}

/// RFC 8289 §3.2: a slow link drops nothing of a flow that keeps one packet waiting, although each
/// waits longer than the target: 24 ms at 500 kbit/s.
#[test]
fn one_waiting_packet_is_left_alone_on_a_slow_link() {
    let two_packets = Group {
        host: Host {
            rwnd_bytes: 2 * 1448,
            ..Host::default()
        },
        ..bulk("reno", 1, 10)
    };
    let link = over_codel(500_000, codel::Config::default(), vec![two_packets]);
    assert_eq!(link.dropped_pkts, 0);
    assert!(
        link.queue_delay_p50_us > 5_000,
        "{}",
        link.queue_delay_p50_us
    );
}

/// ECN: what would be dropped is marked, and the delay is as it was.
#[test]
fn marks_take_the_place_of_drops() {
    let with_ecn = |ecn| {
        let flows = Group {
            host: Host {
                ecn,
                ..Host::default()
            },
            ..bulk("cubic", 4, 50)
        };
        let config = codel::Config {
            ecn: true,
            ..codel::Config::default()
        };
        over_codel(20_000_000, config, vec![flows])
    };
    let (marking, dropping) = (with_ecn(true.into()), with_ecn(false.into()));
    println!(
        "marked {:?}, dropped {}; median {} µs against {} µs",
        marking.marked_pkts,
        dropping.dropped_pkts,
        marking.queue_delay_p50_us,
        dropping.queue_delay_p50_us
    );
    assert_eq!(marking.dropped_pkts, 0);
    assert!(marking.marked_pkts > Some(0));
    assert_eq!(dropping.marked_pkts, Some(0));
    assert!(dropping.dropped_pkts > 0);
    assert_within(
        "the median delay, ms",
        marking.queue_delay_p50_us as f64 / 1e3,
        1.0..=10.0,
    );
}
