//! Pages by number: traffic.md §3.

use super::*;

/// 50 objects of 10 kB over six open connections are nine rounds, after the handshake and the main
/// object.
#[test]
fn fifty_objects_over_six_connections_take_nine_rounds_and_two() {
    let network = FakeNetwork {
        rate_bps: 1_000 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let log = run(r#"{"kind":"page","count":5}"#, &network);
    assert_eq!(log.transfers.len(), 5);
    for transfer in &log.transfers {
        assert_eq!(transfer.kind, TransferKind::Page);
        assert_eq!(transfer.bytes, 51 * 10_000);
    }
    let rounds_ns = (1 + 1 + 50_u64.div_ceil(6)) * network.rtt_ns;
    assert!(
        log.durations_ns()
            .iter()
            .all(|ns| ns.abs_diff(rounds_ns) < 100_000)
    );
    let firsts: Vec<u32> = log
        .transfers
        .iter()
        .map(|transfer| transfer.connection)
        .collect();
    assert_eq!(firsts, [0, 6, 12, 18, 24]);
}

/// All requests at once: a handshake, the main object, and one more round without a window.
#[test]
fn one_connection_with_all_requests_at_once_takes_three_rounds() {
    let network = FakeNetwork {
        rate_bps: 1_000 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let log = run(r#"{"kind":"page","protocol":"http2","count":2}"#, &network);
    assert!(
        log.durations_ns()
            .iter()
            .all(|ns| ns.abs_diff(3 * network.rtt_ns) < 100_000)
    );
    assert_eq!(
        log.times(|command| matches!(command, Command::Open { .. }))
            .len(),
        2
    );
}

#[test]
fn parsing_and_reading_take_their_time() {
    let network = FakeNetwork {
        rate_bps: 1_000 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let log = run(
        r#"{"kind":"page","objects":6,"parse_ns":130000000,"reading_ns":1000000000}"#,
        &network,
    );
    let page_ns = 3 * network.rtt_ns + 130 * NS_PER_MS;
    assert!(
        log.durations_ns()
            .iter()
            .all(|ns| ns.abs_diff(page_ns) < 100_000)
    );
    let starts = log
        .transfers
        .windows(2)
        .map(|pair| pair[1].start_ns - pair[0].start_ns);
    assert!(
        starts
            .into_iter()
            .all(|ns| ns.abs_diff(page_ns + NS_PER_S) < 100_000)
    );
}

#[test]
fn a_page_may_be_its_main_object_alone() {
    let log = run(
        r#"{"kind":"page","objects":0,"count":3}"#,
        &FakeNetwork::default(),
    );
    assert_eq!(log.transfers.len(), 3);
    let expected_ns = 2 * 20 * NS_PER_MS;
    assert!(
        log.durations_ns()
            .iter()
            .all(|ns| ns.abs_diff(expected_ns) < NS_PER_MS)
    );
}

/// The 3GPP set has the means of its distributions, truncated as they are.
#[test]
fn the_3gpp_web_has_its_means() {
    let all = applications();
    let page = all
        .iter()
        .find(|each| each.name == "page")
        .expect("it is listed");
    let preset = page
        .presets
        .iter()
        .find(|preset| preset.name == "3gpp")
        .expect("it is listed");
    let TrafficConfig::page(settings) = &preset.settings else {
        panic!("{preset:?}");
    };
    let mean = |distribution: &Distribution| distribution.mean_milli() as f64 / 1000.0;
    assert!((mean(&settings.main_bytes) / 10_710.0 - 1.0).abs() < 0.03);
    // σ is 2.362: 17 % are below 50 bytes; what is above 2 MB has 12 % of the bytes.
    let objects = mean(&settings.object_bytes);
    assert!(
        (objects / 7758.0 * 0.83 / 0.879 - 1.0).abs() < 0.01,
        "{objects}"
    );
    assert!(
        (3.0..7.0).contains(&mean(&settings.objects)),
        "{}",
        mean(&settings.objects)
    );
    let network = FakeNetwork {
        end_ns: 3600 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let log = network.run(&mut *preset.settings.build(1));
    // A page every 30 s of reading and a little for loading: 120 ± 3·√120.
    assert!(
        (87..=150).contains(&log.transfers.len()),
        "{}",
        log.transfers.len()
    );
}

#[test]
fn a_failed_connection_fails_its_page_and_the_next_one_begins() {
    let mut application = config(r#"{"kind":"page"}"#).build(1);
    let mut outcome = Outcome::default();
    application.on_event(0, Event::Start, &mut outcome);
    application.on_event(5, Event::Closed { connection: 3 }, &mut outcome);
    let ends: Vec<Option<u64>> = outcome
        .transfers
        .iter()
        .map(|transfer| transfer.end_ns)
        .collect();
    assert_eq!(ends, [None]);
    let closed = |command: &&Command| matches!(command, Command::Close { .. });
    assert_eq!(
        outcome.commands.iter().filter(closed).count(),
        10,
        "both ends of the five others"
    );
    let next = Command::Open {
        connection: 6,
        by: End::Receiver,
    };
    assert!(outcome.commands.contains(&next));
}
