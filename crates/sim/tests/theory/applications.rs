//! Applications alone: media, requests and pages take the time that the path makes them take.

use dumbbell_app::Distribution;
use dumbbell_app::traffic::{TrafficConfig, cbr, datagram, page, rpc};
use dumbbell_net::queue::fq_codel;
use dumbbell_sim::{FlowSummary, Group, Host, Limit, Output, Queue, Scenario};

use crate::common::{NS_PER_S, assert_near, assert_within, bulk, column, mean, simulate};

const BASE_RTT_MS: u64 = 40;

fn over(link_rate_bps: u64, queue: Queue, traffic: TrafficConfig) -> Output {
    of(Group::default(), link_rate_bps, queue, traffic)
}

/// The same with the switches of `group`.
fn of(group: Group, link_rate_bps: u64, queue: Queue, traffic: TrafficConfig) -> Output {
    let group = Group {
        traffic,
        host: Host {
            delayed_ack: false,
            tso: false,
            nagle: group.host.nagle,
            slow_start_after_idle: group.host.slow_start_after_idle,
            ..Host::default()
        },
        ..bulk("reno", 1, BASE_RTT_MS)
    };
    simulate(&Scenario {
        seed: 1,
        duration_ns: 20 * NS_PER_S,
        groups: vec![group],
        ..Scenario::dumbbell(link_rate_bps, queue)
    })
}

fn deep() -> Queue {
    Queue::drop_tail(Limit::Packets(10_000))
}

fn measured_us(flow: &FlowSummary, name: &str) -> f64 {
    flow.application[name] as f64
}

/// Time of each transfer, ms.
fn times_ms(output: &Output) -> Vec<f64> {
    let start_us = column(output, "transfers", "start_us");
    let end_us = column(output, "transfers", "end_us");
    let times_us = end_us.iter().zip(start_us).map(|(end, start)| end - start);
    times_us
        .filter(|time_us| !time_us.is_nan())
        .map(|time_us| time_us / 1e3)
        .collect()
}

/// A source of datagrams that sends a fifth more than the link carries keeps its queue full: each waits
/// for what is there, then takes its own time and half the round trip.
#[test]
fn a_datagrams_delay_is_the_queues_and_the_paths() {
    const LINK_RATE_BPS: u64 = 10_000_000;
    const SIZE_BYTES: u64 = 1000;
    let wire_bits = (SIZE_BYTES + 42) as f64 * 8.0;
    for share in [0.5, 0.9, 1.2] {
        let payload_share = SIZE_BYTES as f64 * 8.0 / wire_bits;
        let config = datagram::Config {
            size_bytes: SIZE_BYTES,
            rate_bps: Some((share * LINK_RATE_BPS as f64 * payload_share) as u64),
            ..datagram::Config::default()
        };
        let queue = Queue::drop_tail(Limit::Packets(50));
        let output = over(LINK_RATE_BPS, queue, config.into());
        let (flow, link) = (&output.summary.flows[0], &output.summary.bottleneck);
        let on_path_us = BASE_RTT_MS as f64 * 500.0 + wire_bits / LINK_RATE_BPS as f64 * 1e6;
        for (quantile, queue_us) in [
            ("p50", link.queue_delay_p50_us),
            ("p95", link.queue_delay_p95_us),
        ] {
            let delay_us = measured_us(flow, &format!("one_way_delay_{quantile}_us"));
            println!("{share}: {quantile} {delay_us} µs, in the queue {queue_us} µs");
            assert_near(
                "one-way delay, µs",
                delay_us,
                queue_us as f64 + on_path_us,
                0.015,
            );
        }
        if share > 1.0 {
            let full_us = 49.5 * wire_bits / LINK_RATE_BPS as f64 * 1e6;
            assert_near("queue, µs", link.queue_delay_p50_us as f64, full_us, 0.03);
            assert_near(
                "lost",
                flow.dropped_pkts as f64 / flow.sent_pkts as f64,
                1.0 / 6.0,
                0.03,
            );
        } else {
            assert_eq!(flow.dropped_pkts, 0);
        }
    }
}

/// What TCP writes at a constant rate below the link's arrives half a round trip later.
#[test]
fn a_constant_rate_over_tcp_is_as_late_as_the_path_is_long() {
    let config = cbr::Config {
        rate_bps: 1_000_000,
        write_bytes: 1448,
    };
    let output = over(10_000_000, deep(), config.into());
    let flow = &output.summary.flows[0];
    let expected_us = BASE_RTT_MS as f64 * 500.0 + 1514.0 * 8.0 / 10.0;
    let delay_us = measured_us(flow, "one_way_delay_p50_us");
    println!("{:?}", flow.application);
    assert_near("one-way delay, µs", delay_us, expected_us, 0.01);
    assert_near("goodput, bit/s", flow.goodput_bps, 1e6, 0.01);
}

/// A client that waits for each response has one every round trip and the time of both on the link
/// (netperf's TCP_RR); the requests cross none here.
#[test]
fn a_request_alone_takes_a_round_trip() {
    const LINK_RATE_BPS: u64 = 10_000_000;
    for response_bytes in [1_u64, 1000, 1448] {
        let config = rpc::Config {
            response_bytes: Distribution::Constant(response_bytes),
            ..rpc::Config::default()
        };
        let output = over(LINK_RATE_BPS, deep(), config.into());
        let times_ms = times_ms(&output);
        let on_link_ms = (response_bytes + 66) as f64 * 8e3 / LINK_RATE_BPS as f64;
        // The first waits for the handshake too; the ACK of a request goes ahead of the response.
        let later = &times_ms[1..];
        let ack_ms = 66.0 * 8e3 / LINK_RATE_BPS as f64;
        println!(
            "{response_bytes} bytes: {} ms, then {} ms",
            times_ms[0], later[0]
        );
        for &time_ms in later {
            let expected_ms = BASE_RTT_MS as f64 + on_link_ms;
            assert_within(
                "latency, ms",
                time_ms,
                expected_ms - 0.002..=expected_ms + ack_ms + 0.002,
            );
        }
        assert_near("the first, ms", times_ms[0], 2.0 * BASE_RTT_MS as f64, 0.05);
        let rounds = 20_000.0 / (BASE_RTT_MS as f64 + on_link_ms);
        assert_near("requests", times_ms.len() as f64, rounds, 0.01);
    }
}

/// RFC 5681 §4.1: responses of 70 segments, a second apart, take three rounds of slow start each, as the
/// first; without the restart cwnd is kept, and from the second on they take one.
#[test]
fn a_response_after_a_pause_starts_over() {
    for (slow_start_after_idle, later_rounds) in [(true, 3.0), (false, 1.0)] {
        let config = rpc::Config {
            response_bytes: Distribution::Constant(70 * 1448),
            think_ns: Distribution::Constant(NS_PER_S),
            ..rpc::Config::default()
        };
        let group = Group {
            host: Host {
                slow_start_after_idle,
                ..Host::default()
            },
            ..Group::default()
        };
        let times_ms = times_ms(&of(group, 10_000_000_000, deep(), config.into()));
        println!("restart {slow_start_after_idle}: {times_ms:?}");
        let rounds = |time_ms: f64| time_ms / BASE_RTT_MS as f64;
        assert_near(
            "the first, with its handshake",
            rounds(times_ms[0]),
            4.0,
            0.01,
        );
        for &time_ms in &times_ms[1..] {
            assert_near("a later one", rounds(time_ms), later_rounds, 0.01);
        }
    }
}

/// RFC 1122 §4.2.3.4: of small writes every 5 ms Nagle makes one segment per round trip; without it each
/// is a segment of its own.
#[test]
fn nagle_makes_a_segment_a_round_trip() {
    for (nagle, interval_ms) in [(true, BASE_RTT_MS as f64), (false, 5.0)] {
        let config = cbr::Config {
            rate_bps: 160_000,
            write_bytes: 100,
        };
        let group = Group {
            host: Host {
                nagle,
                ..Host::default()
            },
            ..Group::default()
        };
        let output = of(group, 1_000_000_000, deep(), config.into());
        let flow = &output.summary.flows[0];
        println!("Nagle {nagle}: {} packets", flow.sent_pkts);
        assert_near(
            "packets",
            flow.sent_pkts as f64,
            20_000.0 / interval_ms,
            0.01,
        );
        assert_near("goodput, bit/s", flow.goodput_bps, 160e3, 0.01);
    }
}

/// A page at a high rate takes its round trips: the handshake, the main object, then with one request at
/// a time ⌈objects/connections⌉ rounds, or all at once on one connection as many as slow start needs.
#[test]
fn a_page_takes_its_rounds() {
    const OBJECTS: u64 = 50;
    const LINK_RATE_BPS: u64 = 10_000_000_000;
    for (protocol, rounds) in [
        (page::Protocol::http1, 2.0 + 9.0),
        // 10 segments are in the first window; the main object has taken 7 of them and grown it to 17.
        (page::Protocol::http2, 2.0 + 5.0),
    ] {
        let config = page::Config {
            protocol,
            connections: 6,
            objects: Distribution::Constant(OBJECTS),
            main_bytes: Distribution::Constant(10_000),
            object_bytes: Distribution::Constant(10_000),
            count: Some(1),
            ..page::Config::default()
        };
        let output = over(LINK_RATE_BPS, deep(), config.into());
        let [time_ms] = times_ms(&output)[..] else {
            panic!("one page");
        };
        let expected_ms = rounds * BASE_RTT_MS as f64;
        println!("{protocol:?}: {time_ms} ms, expected {expected_ms} ms");
        assert_within(
            "page load time, ms",
            time_ms,
            expected_ms..=expected_ms + 1.0,
        );
    }
}

/// Behind a bulk flow a response waits in its queue: the median latency is the round trip and the median
/// delay there. With a queue of its own it waits for a packet or two.
#[test]
fn a_request_behind_bulk_waits_in_the_queue_unless_it_has_its_own() {
    const LINK_RATE_BPS: u64 = 50_000_000;
    let config = rpc::Config {
        response_bytes: Distribution::Constant(1000),
        ..rpc::Config::default()
    };
    let client = Group {
        traffic: config.into(),
        ..bulk("reno", 1, BASE_RTT_MS)
    };
    let latency_ms = |queue: Queue| {
        let output = simulate(&Scenario {
            seed: 1,
            duration_ns: 60 * NS_PER_S,
            groups: vec![client.clone(), bulk("cubic", 1, BASE_RTT_MS)],
            ..Scenario::dumbbell(LINK_RATE_BPS, queue)
        });
        let mut times_ms = times_ms(&output);
        times_ms.sort_by(f64::total_cmp);
        let queue_ms = output.summary.bottleneck.queue_delay_p50_us as f64 / 1e3;
        (times_ms[times_ms.len() / 2], queue_ms)
    };
    let fifo = Queue::drop_tail(Limit::Bytes(250_000));
    let (time_ms, queue_ms) = latency_ms(fifo);
    println!("FIFO: {time_ms} ms, in the queue {queue_ms} ms");
    assert!(queue_ms > 10.0);
    assert_near("latency, ms", time_ms, BASE_RTT_MS as f64 + queue_ms, 0.05);
    let (time_ms, queue_ms) = latency_ms(fq_codel::Config::default().into());
    println!("FQ-CoDel: {time_ms} ms, in the queue {queue_ms} ms");
    assert_within("latency, ms", time_ms, 40.0..=41.0);
}

/// Where packets are lost one window suffers for all objects of a page, six suffer for their own: pages
/// take longer over HTTP/2's one connection.
#[test]
fn losses_delay_a_page_more_on_one_connection_than_on_six() {
    let mean_ms = |protocol| {
        let config = page::Config {
            protocol,
            count: Some(200),
            ..page::Config::default()
        };
        let group = Group {
            traffic: config.into(),
            ..bulk("cubic", 1, BASE_RTT_MS)
        };
        let mut scenario = Scenario {
            seed: 1,
            duration_ns: 600 * NS_PER_S,
            groups: vec![group],
            ..Scenario::dumbbell(1_000_000_000, deep())
        };
        scenario.links[0].random_loss_ppb = 20_000_000;
        let times_ms = times_ms(&simulate(&scenario));
        assert_eq!(times_ms.len(), 200);
        mean(times_ms)
    };
    let [six, one] = [page::Protocol::http1, page::Protocol::http2].map(mean_ms);
    println!("HTTP/1.1 {six:.0} ms, HTTP/2 {one:.0} ms");
    assert!(one > six);
}
