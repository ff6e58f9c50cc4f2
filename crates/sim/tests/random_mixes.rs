//! Random mixes of applications over random networks: packets are conserved, transfers are what was
//! begun, and a repeat gives the same bytes.

use std::collections::BTreeMap;

use crate::common::{NS_PER_MS, bulk, column, simulate};
use dumbbell_app::traffic::{
    TrafficConfig, cbr, datagram, deterministic, onoff, page, poisson, rpc, video,
};
use dumbbell_app::{Distribution, distribution};
use dumbbell_net::medium::{dummynet_pipe, tclink_htb, tclink_tbf};
use dumbbell_net::queue::{codel, drr, dummynet, fq_codel, sfq, tbf};
use dumbbell_net::{Limit, MediumConfig};
use dumbbell_sim::{
    Amount, FlowSummary, Group, Host, Link, LinkSummary, Output, Queue, ReceiverKind, Scenario,
    linux_release,
};
use proptest::prelude::*;

/// Packets that a link could carry in one run: what bounds the tests' time.
const LINK_PKTS: f64 = 3_000.0;
/// Largest payload of a datagram that fits in a packet, bytes.
const MAX_PAYLOAD_BYTES: u64 = 1472;
const PACKET_BITS: f64 = 1514.0 * 8.0;

/// Numbers spread evenly over their orders of magnitude.
fn log_uniform(range: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    (range.start.ln()..range.end.ln()).prop_map(f64::exp)
}

fn distribution(range: std::ops::Range<f64>) -> impl Strategy<Value = Distribution> {
    (log_uniform(range), 0..3_u8).prop_map(|(mean, kind)| {
        let mean = mean as u64 + 1;
        match kind {
            0 => Distribution::Constant(mean),
            1 => distribution::exponential::Config { mean, max: None }.into(),
            _ => distribution::uniform::Config {
                min: 1,
                max: 2 * mean,
            }
            .into(),
        }
    })
}

fn sizes() -> impl Strategy<Value = Distribution> {
    distribution(100.0..1_000_000.0)
}

fn times(duration_ns: u64) -> impl Strategy<Value = Distribution> {
    distribution(1e5..duration_ns as f64)
}

fn gap_ns(duration_ns: u64) -> impl Strategy<Value = u64> {
    log_uniform(duration_ns as f64 / 200.0..duration_ns as f64).prop_map(|gap_ns| gap_ns as u64 + 1)
}

fn count() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(1..20_u64)
}

fn requests(duration_ns: u64) -> impl Strategy<Value = TrafficConfig> {
    let sizes = (sizes(), sizes());
    (sizes, times(duration_ns), any::<bool>(), count()).prop_map(
        |((request_bytes, response_bytes), think_ns, persistent, count)| {
            let config = rpc::Config {
                request_bytes,
                response_bytes,
                think_ns,
                persistent,
                count,
            };
            config.into()
        },
    )
}

fn pages(duration_ns: u64) -> impl Strategy<Value = TrafficConfig> {
    let objects = (0..30_u64, 1..8_u64, any::<bool>());
    (
        objects,
        distribution(10.0..50_000.0),
        times(duration_ns),
        count(),
    )
        .prop_map(
            |((objects, connections, is_multiplexed), object_bytes, reading_ns, count)| {
                let config = page::Config {
                    protocol: if is_multiplexed {
                        page::Protocol::http2
                    } else {
                        page::Protocol::http1
                    },
                    connections,
                    objects: Distribution::Constant(objects),
                    object_bytes,
                    reading_ns,
                    count,
                    ..page::Config::default()
                };
                config.into()
            },
        )
}

/// Constant rates, with and without TCP.
fn media() -> impl Strategy<Value = TrafficConfig> {
    (
        log_uniform(1e4..1e8),
        1..=MAX_PAYLOAD_BYTES,
        1..10_u64,
        any::<bool>(),
    )
        .prop_map(|(rate_bps, size_bytes, burst, is_tcp)| {
            let rate_bps = rate_bps as u64;
            if is_tcp {
                let config = cbr::Config {
                    rate_bps,
                    write_bytes: size_bytes * burst,
                };
                config.into()
            } else {
                let config = datagram::Config {
                    size_bytes,
                    burst,
                    rate_bps: Some(rate_bps),
                    ..datagram::Config::default()
                };
                config.into()
            }
        })
}

fn videos(duration_ns: u64) -> impl Strategy<Value = TrafficConfig> {
    let rules = prop::sample::select(vec![
        video::Rule::bba,
        video::Rule::rate,
        video::Rule::mpc,
        video::Rule::bola,
    ]);
    (rules, 4..40_u64, log_uniform(1e4..1e7), count()).prop_map(
        move |(rule, share, lowest_bps, chunks)| {
            let chunk_ns = (duration_ns / share).max(1_000_000);
            let lowest_bps = lowest_bps as u64;
            let config = video::Config {
                chunk_ns,
                ladder_bps: vec![lowest_bps, 2 * lowest_bps, 5 * lowest_bps],
                buffer_ns: 4 * chunk_ns,
                reservoir_ns: chunk_ns,
                cushion_ns: 2 * chunk_ns,
                rule,
                chunks,
                ..video::Config::default()
            };
            config.into()
        },
    )
}

fn traffic(duration_ns: u64) -> impl Strategy<Value = TrafficConfig> {
    let arrivals = (gap_ns(duration_ns), sizes(), count());
    let poisson = arrivals.prop_map(|(gap_ns, size_bytes, count)| {
        let config = poisson::Config {
            gap_ns,
            size_bytes,
            strata: 1,
            count,
        };
        config.into()
    });
    let arrivals = (gap_ns(duration_ns), sizes(), count());
    let deterministic = arrivals.prop_map(|(gap_ns, size_bytes, count)| {
        let config = deterministic::Config {
            gap_ns,
            size_bytes,
            strata: 1,
            count,
        };
        config.into()
    });
    let bursts = (
        times(duration_ns),
        times(duration_ns),
        prop::option::of(sizes()),
    );
    let onoff = bursts.prop_map(|(on_ns, off_ns, burst_bytes)| {
        let config = onoff::Config {
            on_ns,
            off_ns,
            burst_bytes,
        };
        config.into()
    });
    prop_oneof![
        1 => Just(TrafficConfig::default()),
        2 => poisson,
        1 => deterministic,
        2 => onoff,
        2 => requests(duration_ns),
        2 => pages(duration_ns),
        2 => media(),
        1 => videos(duration_ns),
    ]
}

fn group(duration_ns: u64, links: usize) -> impl Strategy<Value = Group> {
    let cc = prop::sample::select(vec!["reno", "cubic", "bbr", "copa", "dctcp"]);
    let window =
        prop_oneof![4 => Just(1_u64 << 30), 1 => log_uniform(1448.0..1e6).prop_map(|it| it as u64)];
    let gro_ns = prop_oneof![3 => Just(0), 1 => 10_000_u64..2 * NS_PER_MS];
    let ooo_limit_pkts = prop_oneof![2 => Just(None), 1 => (1_u32..60).prop_map(Some)];
    let kind = prop::sample::select(vec![ReceiverKind::linux, ReceiverKind::freebsd]);
    let receiver = (any::<bool>(), gro_ns, ooo_limit_pkts, kind, any::<bool>());
    let offload = prop::sample::select(vec![(false, false), (true, false), (true, true)]);
    let late_ns = prop_oneof![3 => Just(0), 1 => 1000_u64..NS_PER_MS];
    let send_buffer =
        prop_oneof![3 => Just(1_u64 << 30), 1 => log_uniform(5e3..1e6).prop_map(|it| it as u64)];
    let sender = (offload, tcp(), late_ns, (send_buffer, any::<bool>()));
    let host = (sender, receiver, any::<bool>(), window);
    let when = (0.0..0.5, prop::option::of(0.1..0.5));
    let route = prop::sample::subsequence((0..links).collect::<Vec<_>>(), 1..=links);
    let back = prop::sample::subsequence((0..links).collect::<Vec<_>>(), 0..=links);
    let path = (route, back, log_uniform(1.0..100.0));
    (cc, 1_u32..4, traffic(duration_ns), host, when, path).prop_map(
        move |(cc, flows, traffic, host, (start, stop), (route, back, rtt_ms))| {
            let (sender, receiver, ecn, window_bytes) = host;
            let (delayed_ack, gro_ns, ooo_limit_pkts, receiver, ooo_memory) = receiver;
            let ((tso, gso), tcp, timer_lateness_ns, (sndbuf_bytes, sndbuf_auto)) = sender;
            let at = |share: f64| (share * duration_ns as f64) as u64;
            // A link carries one way of a path.
            let back = back.into_iter().filter(|link| !route.contains(link));
            Group {
                base_rtt_ns: (rtt_ms * NS_PER_MS as f64) as u64 + 2 * NS_PER_MS,
                start_ns: at(start),
                start_jitter_ns: at(0.05),
                stop_ns: stop.map(|stop| at(start + 0.05 + stop) + 1),
                size_bytes: traffic.is_bulk().then_some(50_000),
                back: back.map(name).collect(),
                route: route.into_iter().map(name).collect(),
                traffic,
                host: Host {
                    rwnd_bytes: window_bytes,
                    tso,
                    gso,
                    delayed_ack,
                    gro_ns,
                    ooo_limit_pkts,
                    receiver,
                    ooo_memory,
                    tcp,
                    timer_lateness_ns,
                    sndbuf_bytes,
                    sndbuf_auto,
                    ecn: ecn.into(),
                    ..Host::default()
                },
                ..bulk(cc, flows, 1)
            }
        },
    )
}

/// A release of Linux, with some of another's switches.
fn tcp() -> impl Strategy<Value = linux_release::Config> {
    let releases = vec![
        linux_release::Config::default(),
        linux_release::Config::linux_4_15(),
        linux_release::Config::linux_4_12(),
    ];
    let release = prop::sample::select(releases);
    (release.clone(), release, any::<[bool; 4]>()).prop_map(
        |(one, other, [marks, cwnd, hint, pacing])| linux_release::Config {
            rto_marks: if marks {
                other.rto_marks
            } else {
                one.rto_marks
            },
            rto_cwnd: if cwnd { other.rto_cwnd } else { one.rto_cwnd },
            hint_defect: if hint {
                other.hint_defect
            } else {
                one.hint_defect
            },
            pacing: if pacing { other.pacing } else { one.pacing },
            ..one
        },
    )
}

fn name(link: usize) -> String {
    format!("link{link}")
}

fn queue() -> impl Strategy<Value = Queue> {
    (log_uniform(2.0..200.0), 0..9_u8, any::<bool>()).prop_map(|(pkts, kind, ecn)| {
        let limit_pkts = pkts as u64;
        match kind {
            0 => Queue::drop_tail(Limit::Bytes(limit_pkts * 1514)),
            1 => Queue::drop_tail(Limit::Packets(limit_pkts)),
            2 => Queue::from(codel::Config {
                limit_pkts,
                ecn,
                ..codel::Config::default()
            }),
            3 => Queue::from(sfq::Config {
                limit_pkts: limit_pkts + 1,
                ..sfq::Config::default()
            }),
            4 => Queue::from(drr::Config {
                limit_pkts,
                ..drr::Config::default()
            }),
            5 => Queue::from(tbf::Config {
                limit_bytes: limit_pkts * 1514,
                rate_bps: limit_pkts * 500_000,
                burst_bytes: 15_140,
                ..tbf::Config::default()
            }),
            6 => Queue::drop_tail(Limit::Packets(limit_pkts))
                .marking_above(Amount::Pkts((limit_pkts / 2).max(1))),
            7 => Queue::from(dummynet::Config {
                limit: match ecn {
                    true => Amount::Pkts(limit_pkts),
                    false => Amount::Bytes(limit_pkts * 1514),
                },
            }),
            _ => Queue::from(fq_codel::Config {
                limit_pkts,
                ecn,
                flows: 16,
                ..fq_codel::Config::default()
            }),
        }
    })
}

/// The papers' apparatus, over a queue that says which packet is next.
fn medium() -> impl Strategy<Value = Option<MediumConfig>> {
    (0..12_u8, any::<bool>()).prop_map(|(kind, delay_in_queue)| match kind {
        0 => Some(MediumConfig::from(tclink_htb::Config {
            delay_in_queue,
            ..tclink_htb::Config::default()
        })),
        1 => Some(MediumConfig::from(tclink_tbf::Config {
            delay_in_queue,
            ..tclink_tbf::Config::default()
        })),
        2 => Some(MediumConfig::from(dummynet_pipe::Config::default())),
        _ => None,
    })
}

fn link(index: usize, link_rate_bps: f64) -> impl Strategy<Value = Link> {
    let loss = prop_oneof![Just(0), 1..50_000_000_u32];
    (queue(), log_uniform(0.3..1.0), loss, medium()).prop_map(
        move |(queue, share, random_loss_ppb, medium)| Link {
            name: name(index),
            link_rate_bps: (link_rate_bps * share) as u64,
            delay_ns: Some(NS_PER_MS / 10),
            medium: medium.filter(|medium| queue.shows_head() || !medium.needs_head()),
            queue,
            random_loss_ppb,
            ..Link::default()
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let network = (log_uniform(1e6..200e6), any::<u64>(), 1..4_usize);
    network.prop_flat_map(|(link_rate_bps, seed, link_count)| {
        let duration_s = (LINK_PKTS * PACKET_BITS / link_rate_bps).min(10.0);
        let duration_ns = (duration_s * 1e9) as u64;
        let links: Vec<_> = (0..link_count)
            .map(|index| link(index, link_rate_bps))
            .collect();
        let groups = prop::collection::vec(group(duration_ns, link_count), 1..4);
        let tcp_mem_bytes = prop::option::of(100_000_u64..10_000_000);
        (links, groups, tcp_mem_bytes).prop_map(move |(links, groups, tcp_mem_bytes)| {
            let is_used = |link: &Link| {
                let mut ways = groups.iter().flat_map(|group| [&group.route, &group.back]);
                ways.any(|way| way.contains(&link.name))
            };
            Scenario {
                seed,
                duration_ns,
                sample_interval_ns: duration_ns / 20,
                links: links.into_iter().filter(is_used).collect(),
                tcp_mem_bytes,
                groups,
            }
        })
    })
}

fn check_flow(flow: &FlowSummary, group: &Group) {
    assert_eq!(
        flow.sent_pkts,
        flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts,
        "every packet sent was dropped, arrived or is on the path: {flow:?}"
    );
    let kept_pkts = flow.arrived_pkts - flow.ooo_dropped_pkts.unwrap_or(0);
    assert!(flow.received_bytes <= kept_pkts * MAX_PAYLOAD_BYTES);
    if group.host.ooo_limit_pkts.is_none() {
        assert_eq!(flow.ooo_dropped_pkts, None);
    }
    if let Some(requests) = &flow.requests {
        assert_eq!(
            requests.sent_pkts,
            requests.dropped_pkts + requests.arrived_pkts + requests.on_path_pkts,
            "so was every packet with requests: {flow:?}"
        );
        assert!(requests.received_bytes <= requests.arrived_pkts * MAX_PAYLOAD_BYTES);
    }
    assert_eq!(flow.connections.is_some(), !group.traffic.is_bulk());
}

fn check_link(link: &LinkSummary) {
    assert_eq!(
        link.offered_pkts,
        link.forwarded_pkts + link.dropped_pkts + link.left_pkts,
        "every packet offered was forwarded, dropped or is left"
    );
}

/// Transfers take at least half a round trip, and what they carried has arrived.
fn check_transfers(output: &Output, scenario: &Scenario) {
    if scenario.groups.iter().all(|group| group.traffic.is_bulk()) {
        return;
    }
    let of = |name: &str| column(output, "transfers", name);
    let (flows, sizes_bytes) = (of("flow"), of("size_bytes"));
    let (starts_us, ends_us) = (of("start_us"), of("end_us"));
    let mut complete_bytes: BTreeMap<u64, f64> = BTreeMap::new();
    for row in 0..flows.len() {
        if ends_us[row].is_nan() {
            continue;
        }
        let flow = flows[row] as u64;
        let summary = &output.summary.flows[flow as usize];
        let least_us = summary.base_rtt_us as f64 / 2.0;
        assert!(ends_us[row] - starts_us[row] >= least_us - 1.0);
        *complete_bytes.entry(flow).or_default() += sizes_bytes[row];
    }
    for (flow, bytes) in complete_bytes {
        let summary = &output.summary.flows[flow as usize];
        let of_requests = summary.requests.as_ref().map_or(0, |it| it.received_bytes);
        assert!(bytes <= (summary.received_bytes + of_requests) as f64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_and_a_repeat_is_the_same(scenario in scenario()) {
        let output = simulate(&scenario);
        for flow in &output.summary.flows {
            check_flow(flow, &scenario.groups[flow.group as usize]);
        }
        output.summary.links.iter().for_each(check_link);
        check_transfers(&output, &scenario);
        let again = simulate(&scenario);
        let json = |output: &Output| serde_json::to_string(&output.summary).expect("JSON");
        prop_assert_eq!(json(&output), json(&again));
        prop_assert_eq!(output.tables.len(), again.tables.len());
        for (table, again) in output.tables.iter().zip(&again.tables) {
            prop_assert!(table.batch == again.batch, "{}", table.name);
        }
    }
}
