use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::fake_network::{FakeNetwork, Log};
use crate::{Command, Distribution, End, Event, Outcome, Transfer, TransferKind};

mod any_order;
mod player;
mod probes;
mod web;

const NS_PER_MS: u64 = 1_000_000;

fn config(json: &str) -> TrafficConfig {
    let config: TrafficConfig = serde_json::from_str(json).expect("it is declared");
    assert_eq!(config.check(), Ok(()), "{json}");
    config
}

fn run(json: &str, network: &FakeNetwork) -> Log {
    network.run(&mut *config(json).build(7))
}

/// Time that bytes take at a rate, ns.
fn serialization_ns(bytes: u64, rate_bps: u64) -> u64 {
    bytes * 8 * NS_PER_S / rate_bps
}

#[test]
fn a_scenario_names_them_by_their_modules() {
    let json = r#"{"kind":"poisson","gap_ns":28650000,"size_bytes":{"distribution":"web_search"},"strata":1,"count":null}"#;
    let poisson = config(json);
    assert_eq!(poisson.name(), "poisson");
    assert_eq!(serde_json::to_string(&poisson).expect("JSON"), json);
    assert!(TrafficConfig::default().is_bulk());
    assert_eq!(
        serde_json::to_string(&TrafficConfig::default()).expect("JSON"),
        r#"{"kind":"bulk"}"#
    );
}

#[test]
fn presets_are_settings_that_can_run() {
    let mut names = BTreeSet::new();
    for application in applications() {
        for preset in application.presets {
            assert_eq!(preset.settings.name(), application.name);
            assert_eq!(preset.settings.check(), Ok(()), "{}", preset.name);
            assert!(names.insert(preset.name), "{} is named twice", preset.name);
        }
    }
    assert!(names.len() >= 5);
}

#[test]
fn every_parameter_has_a_default_in_its_range_or_must_be_set() {
    for application in applications() {
        for parameter in application.parameters {
            let of = format!("{} of {}", parameter.name, application.name);
            assert!(!parameter.doc.is_empty(), "{of}");
            match parameter.default {
                Some(default) => assert!(default <= parameter.max, "{of}"),
                None => assert!(
                    parameter.is_optional || parameter.default_list.is_some(),
                    "{of}"
                ),
            }
        }
    }
}

#[test]
fn bad_settings_are_refused_with_a_remedy() {
    for (json, part) in [
        (
            r#"{"kind":"poisson","size_bytes":1}"#,
            "traffic `poisson`: `gap_ns` is 0; use 1 to",
        ),
        (
            r#"{"kind":"poisson","gap_ns":1}"#,
            "`size_bytes` is 0; use 1 to",
        ),
        (
            r#"{"kind":"poisson","gap_ns":1,"size_bytes":{"distribution":"pareto","shape_milli":900,"scale":1}}"#,
            "`size_bytes`: distribution `pareto`: there is no mean",
        ),
        (r#"{"kind":"cbr"}"#, "`rate_bps` is 0"),
        (r#"{"kind":"datagram"}"#, "set `rate_bps` or `interval_ns`"),
        (
            r#"{"kind":"datagram","rate_bps":1,"interval_ns":1}"#,
            "set one of them",
        ),
        (
            r#"{"kind":"page","connections":0}"#,
            "`connections` is 0; use 1 to 1000",
        ),
    ] {
        let bad: TrafficConfig = serde_json::from_str(json).expect("it is declared");
        let message = bad.check().expect_err(json);
        assert!(message.contains(part), "{json}: {message}");
    }
    for json in [
        r#"{"kind":"ftp"}"#,
        r#"{"kind":"bulk","size_bytes":3}"#,
        r#"{"kind":"page","protocol":"gopher"}"#,
    ] {
        assert!(
            serde_json::from_str::<TrafficConfig>(json).is_err(),
            "{json}"
        );
    }
}

/// traffic.md §1: web search at 1 Gbit/s and half the load is 34.9 flows/s. Of 600 s of them number,
/// mean size and load are within three standard errors.
#[test]
fn poisson_arrivals_offer_the_load_that_was_asked_for() {
    let mean_bytes =
        Distribution::from(crate::distribution::web_search::Config {}).mean_milli() as f64 / 1e3;
    let per_s = 0.5 * 1e9 * (1448.0 / 1514.0) / (8.0 * mean_bytes);
    assert!((per_s - 34.9).abs() < 0.05, "{per_s}");
    let gap_ns = (1e9 / per_s) as u64;
    let json = format!(
        r#"{{"kind":"poisson","gap_ns":{gap_ns},"size_bytes":{{"distribution":"web_search"}}}}"#
    );
    let network = FakeNetwork {
        end_ns: 600 * NS_PER_S,
        segment_bytes: 1_000_000,
        ..FakeNetwork::default()
    };
    let log = run(&json, &network);
    let opened = log.times(|command| matches!(command, Command::Open { .. }));
    let expected = per_s * 600.0;
    assert!((opened.len() as f64 - expected).abs() <= 3.0 * expected.sqrt());
    // Exponential gaps: their standard deviation is their mean.
    let gaps: Vec<f64> = opened
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64)
        .collect();
    let mean_ns = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
    assert!(((square - mean_ns * mean_ns).sqrt() / mean_ns - 1.0).abs() < 0.05);
    // The load: of a compound process the variance is λt·E[S²].
    let sizes: Vec<f64> = log
        .transfers
        .iter()
        .chain(&log.unfinished)
        .map(|each| each.bytes as f64)
        .collect();
    let offered: f64 = sizes.iter().sum();
    assert_eq!(offered as i64, log.measurements["offered_bytes"]);
    let deviation = sizes.iter().map(|size| size * size).sum::<f64>().sqrt();
    assert!(
        (offered - expected * mean_bytes).abs() <= 3.0 * deviation,
        "{offered}"
    );
}

#[test]
fn a_flow_lasts_from_its_syn_to_the_ack_of_its_last_byte() {
    let network = FakeNetwork::default();
    let log = run(
        r#"{"kind":"deterministic","gap_ns":1000000000,"size_bytes":14480,"count":3}"#,
        &network,
    );
    let opened = log.times(|command| matches!(command, Command::Open { .. }));
    assert_eq!(opened, [0, NS_PER_S, 2 * NS_PER_S]);
    let alone_ns = 2 * network.rtt_ns + serialization_ns(14_480, network.rate_bps);
    assert_eq!(log.durations_ns().len(), 3);
    for duration_ns in log.durations_ns() {
        assert!(duration_ns.abs_diff(alone_ns) < 1000, "{duration_ns}");
    }
    let connections: Vec<u32> = log
        .transfers
        .iter()
        .map(|transfer| transfer.connection)
        .collect();
    assert_eq!(connections, [0, 1, 2]);
    assert_eq!(log.transfers[0].kind, TransferKind::Flow);
}

#[test]
fn after_stop_nothing_begins_and_what_has_begun_ends() {
    for json in [
        r#"{"kind":"poisson","gap_ns":100000000,"size_bytes":2000000}"#,
        r#"{"kind":"onoff","on_ns":300000000,"off_ns":200000000}"#,
        r#"{"kind":"onoff","burst_bytes":2000000,"off_ns":200000000}"#,
        r#"{"kind":"rpc","response_bytes":2000000,"think_ns":50000000}"#,
        r#"{"kind":"rpc","response_bytes":2000000,"persistent":false}"#,
        r#"{"kind":"page","reading_ns":50000000,"parse_ns":30000000}"#,
        r#"{"kind":"page","protocol":"http2"}"#,
        r#"{"kind":"cbr","rate_bps":5000000}"#,
        r#"{"kind":"video"}"#,
        r#"{"kind":"responsiveness","interval_ns":100000000}"#,
        r#"{"kind":"bulk"}"#,
    ] {
        let network = FakeNetwork {
            rate_bps: 100_000_000,
            stop_ns: 5 * NS_PER_S + 123_456_789,
            ..FakeNetwork::default()
        };
        let log = run(json, &network);
        assert_eq!(log.unfinished, [], "{json}");
        let began = log.times(|command| matches!(command, Command::Open { .. }));
        assert!(
            began.iter().all(|&at_ns| at_ns <= network.stop_ns),
            "{json}"
        );
        for (key, [written, received, acknowledged]) in log.bytes {
            assert_eq!(
                (written, received),
                (received, acknowledged),
                "{json}: {key:?}"
            );
        }
        let count = |is_wanted: fn(&Command) -> bool| {
            log.commands
                .iter()
                .filter(|each| is_wanted(&each.1))
                .count()
        };
        let closes = count(|command| {
            matches!(
                command,
                Command::Close {
                    from: End::Sender,
                    ..
                }
            )
        });
        assert_eq!(closes, began.len(), "{json}: every connection is closed");
    }
}

/// A second on and a second off at 100 Mbit/s: 30 bursts in 60 s, each of what a second carries.
#[test]
fn an_on_off_source_sends_while_it_is_on() {
    let network = FakeNetwork {
        rate_bps: 100_000_000,
        ..FakeNetwork::default()
    };
    let log = run(r#"{"kind":"onoff"}"#, &network);
    let writes = log.times(|command| matches!(command, Command::Write { .. }));
    let expected: Vec<u64> = (0..30).map(|burst| 2 * burst * NS_PER_S).collect();
    assert_eq!(writes, expected);
    assert_eq!(log.transfers.len(), 30);
    for transfer in &log.transfers[1..] {
        assert_eq!(transfer.kind, TransferKind::Burst);
        assert!(transfer.bytes.abs_diff(12_500_000) < 3000, "{transfer:?}");
        let end_ns = transfer.end_ns.expect("complete");
        let lasts_ns = end_ns - transfer.start_ns;
        assert!(
            lasts_ns.abs_diff(NS_PER_S + network.rtt_ns) < NS_PER_MS,
            "{lasts_ns}"
        );
    }
}

/// Bursts of bytes: the pause begins where the last byte is acknowledged.
#[test]
fn a_burst_of_bytes_is_followed_by_a_pause() {
    let network = FakeNetwork::default();
    let log = run(
        r#"{"kind":"onoff","burst_bytes":1250000,"off_ns":1000000000}"#,
        &network,
    );
    let writes = log.times(|command| matches!(command, Command::Write { .. }));
    let round_ns = network.rtt_ns + serialization_ns(1_250_000, network.rate_bps) + NS_PER_S;
    for pair in writes.windows(2).skip(1) {
        assert!((pair[1] - pair[0]).abs_diff(round_ns) < 10_000, "{pair:?}");
    }
    assert!(
        log.transfers
            .iter()
            .all(|transfer| transfer.bytes == 1_250_000)
    );
}

/// traffic.md §2: alone a connection makes 1/(RTT + 8(q + s)/C) transactions per second.
#[test]
fn a_closed_loop_makes_a_transaction_per_round_trip() {
    let network = FakeNetwork {
        rate_bps: 10_000_000,
        ..FakeNetwork::default()
    };
    let log = run(
        r#"{"kind":"rpc","request_bytes":1000,"response_bytes":20000}"#,
        &network,
    );
    let round_ns = network.rtt_ns + serialization_ns(21_000, network.rate_bps);
    let expected = (network.end_ns - network.rtt_ns) / round_ns;
    assert!((log.transfers.len() as u64).abs_diff(expected) <= 1);
    assert_eq!(
        log.durations_ns()[0],
        round_ns + network.rtt_ns,
        "with the handshake"
    );
    assert!(log.durations_ns()[1..].iter().all(|&ns| ns == round_ns));
    assert!(
        log.transfers
            .iter()
            .all(|transfer| transfer.bytes == 21_000)
    );
}

#[test]
fn new_connections_cost_a_round_trip_each_and_thinking_its_time() {
    let network = FakeNetwork::default();
    let log = run(
        r#"{"kind":"rpc","persistent":false,"think_ns":100000000,"count":20}"#,
        &network,
    );
    assert_eq!(log.transfers.len(), 20);
    for (number, transfer) in log.transfers.iter().enumerate() {
        assert_eq!(transfer.connection as usize, number);
    }
    let two_rtt_ns = 2 * network.rtt_ns;
    assert!(
        log.durations_ns()
            .iter()
            .all(|ns| ns.abs_diff(two_rtt_ns) < 1000)
    );
    let starts = log
        .transfers
        .windows(2)
        .map(|pair| pair[1].start_ns - pair[0].start_ns);
    assert!(
        starts
            .into_iter()
            .all(|ns| ns.abs_diff(two_rtt_ns + 100 * NS_PER_MS) < 1000)
    );
}

/// 8 datagrams of 900 bytes every 50 ms are 1.152 Mbit/s; of a burst the last waits for seven others.
#[test]
fn datagrams_keep_their_rate_and_meet_the_queue() {
    let network = FakeNetwork {
        rate_bps: 10_000_000,
        ..FakeNetwork::default()
    };
    let log = run(
        r#"{"kind":"datagram","size_bytes":900,"burst":8,"interval_ns":50000000}"#,
        &network,
    );
    assert_eq!(log.measurements["sent_datagrams"], 60 * 20 * 8);
    assert_eq!(log.measurements["received_datagrams"], 60 * 20 * 8);
    let (packet_us, half_us) = (720, 10_000);
    assert_eq!(
        log.measurements["one_way_delay_max_us"],
        half_us + 8 * packet_us
    );
    let mean_us = half_us + packet_us * 9 / 2;
    assert!(log.measurements["one_way_delay_mean_us"].abs_diff(mean_us) <= 1);
    assert!(!log.measurements.contains_key("r_milli"));
}

#[test]
fn a_rate_is_kept_exactly() {
    let log = run(
        r#"{"kind":"datagram","rate_bps":7000000,"size_bytes":1472}"#,
        &FakeNetwork::default(),
    );
    let expected = (60.0 * 7e6 / (8.0 * 1472.0)) as i64;
    assert!(log.measurements["sent_datagrams"].abs_diff(expected) <= 1);
}

/// Every twentieth is lost, every tenth comes 200 ms later than the others: 5 % and 10 % are of no use.
#[test]
fn lost_and_late_datagrams_are_counted_and_spoil_a_call() {
    let network = FakeNetwork {
        loses: |number| number % 20 == 7,
        jitter_ns: |number| if number % 10 == 3 { 200 * NS_PER_MS } else { 0 },
        ..FakeNetwork::default()
    };
    let voip = r#"{"kind":"datagram","interval_ns":20000000,"codec":"g711"}"#;
    let log = run(voip, &network);
    assert_eq!(log.measurements["sent_datagrams"], 3000);
    // One that is late is still on its way at the end.
    assert_eq!(log.measurements["lost_datagrams"], 150 + 1);
    assert!((299..=300).contains(&log.measurements["late_datagrams"]));
    assert!(log.measurements["jitter_us"] > 10_000);
    // 15 % of no use, played out at the deadline of 150 ms and 20 ms of packetisation.
    let expected = 93.2 - 0.024 * 170.0 - 95.0 * 15.0 / (15.0 + 25.1);
    let rating = log.measurements["r_milli"] as f64 / 1000.0;
    assert!((rating - expected).abs() < 0.2, "{rating}, {expected}");
    let good = run(voip, &FakeNetwork::default());
    assert_eq!(good.measurements["r_milli"], 93_200 - 24 * 30);
    assert_eq!(
        (
            good.measurements["lost_datagrams"],
            good.measurements["jitter_us"]
        ),
        (0, 0)
    );
}

#[test]
fn a_constant_rate_over_tcp_waits_where_the_link_is_slower() {
    let network = FakeNetwork {
        rate_bps: 10_000_000,
        end_ns: 10 * NS_PER_S,
        ..FakeNetwork::default()
    };
    let slow = run(r#"{"kind":"cbr","rate_bps":1158400}"#, &network);
    // 100 writes a second; those during the handshake wait for it.
    assert_eq!(slow.measurements["offered_bytes"], 1000 * 1448);
    let alone_us = (network.rtt_ns / 2 + serialization_ns(1448, network.rate_bps)) / 1000;
    let median_us = slow.measurements["one_way_delay_p50_us"];
    assert!(
        (median_us as f64 / alone_us as f64 - 1.0).abs() < 0.01,
        "{median_us}"
    );
    let fast = run(r#"{"kind":"cbr","rate_bps":20000000}"#, &network);
    // Twice too fast: what arrives at 10 s was written at 5 s.
    let longest_us = fast.measurements["one_way_delay_max_us"];
    assert!((longest_us as f64 / 5e6 - 1.0).abs() < 0.01, "{longest_us}");
}
