//! Responsiveness by number: traffic.md §7.

use super::*;

/// Half a round trip each way and nothing waits, as the fake network has no window: a load has one segment
/// under way for each of the link's.
#[test]
fn probes_begin_once_the_goodput_is_stable_and_keep_to_their_share() {
    let network = FakeNetwork {
        rate_bps: 20_000_000,
        end_ns: 30 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let log = run(
        r#"{"kind":"responsiveness","interval_ns":1000000000}"#,
        &network,
    );
    // Seven intervals: the goodput is the same with each connection, as one fills the link.
    let opened = log.times(|command| matches!(command, Command::Open { .. }));
    assert_eq!(
        opened.iter().filter(|&&at_ns| at_ns < 7 * NS_PER_S).count(),
        7
    );
    assert_eq!(log.measurements["load_connections"], 7);
    // 5 % of 20 Mbit/s are 20.8 pairs of 6000 bytes a second, for 23 s.
    let probes = opened.len() - 7;
    assert!((450..=480).contains(&probes), "{probes}");
    assert!(
        log.transfers
            .iter()
            .all(|transfer| transfer.kind == TransferKind::Request)
    );
    assert!(log.transfers.len() + 10 >= probes);
}

/// An idle link of 20 ms is 3000 round trips a minute: with loads that leave no queue, which round robin
/// between seven connections nearly does, 20 ms and a few segments.
#[test]
fn a_short_queue_leaves_nearly_the_round_trips_of_the_path() {
    let network = FakeNetwork {
        rate_bps: 100_000_000,
        end_ns: 30 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let log = run(
        r#"{"kind":"responsiveness","interval_ns":1000000000}"#,
        &network,
    );
    let rpm = log.measurements["rpm"];
    assert!((2500..=3000).contains(&rpm), "{rpm}");
    assert!((19_900..21_000).contains(&log.measurements["handshake_mean_us"]));
}
