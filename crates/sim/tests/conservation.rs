//! Random dumbbells: packets are conserved, and nothing is faster, fuller or more than it can be.

use crate::common::{MSS_BYTES, NS_PER_MS, PACKET_BYTES, bulk, column, simulate};
use dumbbell_net::queue::{cake, codel, drr, dualpi2, fq, fq_codel, fq_pie, pie, red, sfq, tbf};
use dumbbell_sim::{
    Amount, Control, FlowSummary, Group, Host, Limit, LinkSummary, Output, Queue, RttStep,
    Scenario, run,
};
use proptest::prelude::*;

/// Packets that the link could carry in one run: what bounds the tests' time.
const LINK_PKTS: u64 = 25_000;

/// Numbers spread evenly over their orders of magnitude.
fn log_uniform(range: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    (range.start.ln()..range.end.ln()).prop_map(f64::exp)
}

/// What each flow has to send; a time is a share of the run.
#[derive(Clone, Copy, Debug)]
enum Demand {
    Endless,
    Sized(u64),
    StoppedAfter(f64),
}

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![
        3 => Just(Demand::Endless),
        2 => (1_u64..3_000_000).prop_map(Demand::Sized),
        1 => (0.0..0.9).prop_map(Demand::StoppedAfter),
    ]
}

/// A window that may bind, bytes.
fn window() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(1 << 30), 1 => log_uniform(1448.0..1e6).prop_map(|bytes| bytes as u64)]
}

/// A base RTT that changes up to three times, at shares of the run, in order.
fn rtt_steps(duration_ns: u64) -> impl Strategy<Value = Vec<RttStep>> {
    let step = (0.0..0.3, log_uniform(1.0..200.0));
    prop::collection::vec(step, 0..4).prop_map(move |steps| {
        let mut at_ns = 0;
        let step = |(share, rtt_ms): (f64, f64)| {
            at_ns += 1 + (share * duration_ns as f64) as u64;
            RttStep {
                at_ns,
                base_rtt_ns: (rtt_ms * NS_PER_MS as f64) as u64,
            }
        };
        steps.into_iter().map(step).collect()
    })
}

fn group(duration_ns: u64) -> impl Strategy<Value = Group> {
    let cc = prop::sample::select(vec![
        "reno", "cubic", "bbr", "bbr3", "copa", "dctcp", "ledbat", "nagi", "prague", "vegas",
    ]);
    let start = prop_oneof![Just(0.0), 0.0..0.7];
    let rtt_ms = log_uniform(1.0..200.0);
    let host = (
        any::<bool>(),
        any::<bool>(),
        window(),
        window(),
        any::<bool>(),
    );
    let path = (rtt_ms, rtt_steps(duration_ns));
    (cc, 1_u32..4, path, start, demand(), host).prop_map(
        move |(cc, flows, (rtt_ms, rtt_steps), start, demand, host)| {
            let (tso, delayed_ack, rwnd_bytes, sndbuf_bytes, ecn) = host;
            let at = |share: f64| (share * duration_ns as f64) as u64;
            Group {
                cc: cc.into(),
                base_rtt_ns: (rtt_ms * NS_PER_MS as f64) as u64,
                rtt_steps,
                start_ns: at(start),
                start_jitter_ns: at(0.05),
                stop_ns: match demand {
                    Demand::StoppedAfter(share) => Some(at(start + 0.05 + share) + 1),
                    _ => None,
                },
                size_bytes: match demand {
                    Demand::Sized(bytes) => Some(bytes),
                    _ => None,
                },
                host: Host {
                    rwnd_bytes,
                    sndbuf_bytes,
                    tso,
                    delayed_ack,
                    ecn: ecn.into(),
                    ..Host::default()
                },
                ..bulk(cc, flows, 1)
            }
        },
    )
}

fn queue(bdp_bytes: f64) -> impl Strategy<Value = Queue> {
    let pkts = log_uniform(1.0..(32.0 * bdp_bytes / PACKET_BYTES).max(2.0));
    // CoDel with an interval that is short enough for it to act.
    let interval_ns = log_uniform(5e6..100e6);
    (pkts, 0..16_u8, interval_ns, any::<bool>()).prop_map(|(pkts, kind, interval_ns, ecn)| {
        let (limit_pkts, interval_ns) = (pkts as u64, interval_ns as u64);
        match kind {
            0 => Queue::drop_tail(Limit::Bytes((pkts * PACKET_BYTES).ceil() as u64)),
            1 => Queue::drop_tail(Limit::Packets(limit_pkts)),
            2 => Queue::from(codel::Config {
                limit_pkts,
                target_ns: interval_ns / 20,
                interval_ns,
                ecn,
                ..codel::Config::default()
            }),
            3 => Queue::from(pie::Config {
                limit_pkts,
                target_ns: interval_ns / 20,
                ecn,
                ..pie::Config::default()
            }),
            4 => Queue::from(red::Config {
                limit_bytes: 16 * 1514 + (pkts * PACKET_BYTES).ceil() as u64,
                ecn,
                adaptive: ecn,
                ..red::Config::default()
            }),
            5 => Queue::from(fq_pie::Config {
                limit_pkts,
                flows: 4,
                target_ns: interval_ns / 20,
                ecn,
                ..fq_pie::Config::default()
            }),
            6 => Queue::from(dualpi2::Config {
                limit_pkts,
                target_ns: interval_ns / 20,
                // With `any_ect` a flow's ECT packets overtake those of its packets that are Not-ECT.
                any_ect: false,
                drop_early: limit_pkts % 2 == 0,
                ..dualpi2::Config::default()
            }),
            7 => Queue::from(sfq::Config {
                limit_pkts: limit_pkts + 1,
                divisor: 4,
                headdrop: ecn,
                perturb_ns: ecn.then_some(interval_ns),
                ..sfq::Config::default()
            }),
            8 => Queue::from(drr::Config {
                limit_pkts,
                classes: 4,
                perfect_hash: ecn,
                quantum_bytes: vec![64, 1514, 3000],
            }),
            9 => Queue::from(tbf::Config {
                limit_bytes: (pkts * PACKET_BYTES).ceil() as u64,
                rate_bps: interval_ns,
                burst_bytes: 9000,
                peakrate_bps: ecn.then_some(2 * interval_ns),
                ..tbf::Config::default()
            }),
            // Thresholds at half of what the buffer holds; the unit need not be the buffer's.
            10 => Queue::drop_tail(Limit::Packets(limit_pkts))
                .marking_above(Amount::Pkts((limit_pkts / 2).max(1))),
            11 => Queue::drop_tail(Limit::Packets(limit_pkts))
                .marking_above(Amount::Bytes((pkts * PACKET_BYTES / 2.0) as u64)),
            12 => Queue::drop_tail(Limit::Bytes((pkts * PACKET_BYTES).ceil() as u64))
                .marking_above(Amount::Ns(interval_ns / 20)),
            13 => Queue::from(cake::Config {
                limit_bytes: Some(limit_pkts * (1514 + 576)),
                rate_bps: ecn.then_some(20_000_000),
                rtt_ns: cake::Rtt(interval_ns),
                ack_filter: cake::AckFilter::aggressive,
                ..cake::Config::default()
            }),
            14 => Queue::from(fq::Config {
                limit_pkts,
                maxrate_bps: ecn.then_some(interval_ns),
                flows: 4,
                ..fq::Config::default()
            }),
            _ => Queue::from(fq_codel::Config {
                limit_pkts,
                target_ns: interval_ns / 20,
                interval_ns,
                ecn,
                flows: 4,
                ..fq_codel::Config::default()
            }),
        }
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    (log_uniform(1e6..200e6), any::<u64>()).prop_flat_map(|(link_rate_bps, seed)| {
        let duration_s = (LINK_PKTS as f64 * PACKET_BYTES * 8.0 / link_rate_bps).min(30.0);
        let duration_ns = (duration_s * 1e9) as u64;
        let groups = prop::collection::vec(group(duration_ns), 1..5);
        groups.prop_flat_map(move |groups| {
            let longest_rtt_ns = groups.iter().map(|group| group.base_rtt_ns).max();
            let bdp_bytes = link_rate_bps / 8.0 * longest_rtt_ns.unwrap_or(0) as f64 / 1e9;
            // None, or up to 5 %.
            let random_loss_ppb = prop_oneof![Just(0), 1..50_000_000_u32];
            (queue(bdp_bytes), random_loss_ppb).prop_map(move |(queue, random_loss_ppb)| {
                let mut scenario = Scenario {
                    seed,
                    duration_ns,
                    sample_interval_ns: 50 * NS_PER_MS,
                    groups: groups.clone(),
                    ..Scenario::dumbbell(link_rate_bps as u64, queue)
                };
                scenario.links[0].random_loss_ppb = random_loss_ppb;
                scenario
            })
        })
    })
}

/// Marks are of packets that crossed the bottleneck, and of flows that have ECN.
fn check_marks(output: &Output, scenario: &Scenario) {
    let of_bottleneck = output.summary.bottleneck.marked_pkts;
    assert_eq!(of_bottleneck.is_some(), scenario.links[0].marks());
    let mut of_flows = 0;
    for flow in &output.summary.flows {
        let marked_pkts = flow.marked_pkts.unwrap_or(0);
        assert!(marked_pkts <= flow.arrived_pkts + flow.on_path_pkts);
        let group = &scenario.groups[flow.group as usize];
        let has_ecn = !group.host.ecn.is_off() || ["dctcp", "prague"].contains(&flow.cc.as_str());
        assert!(marked_pkts == 0 || has_ecn);
        of_flows += marked_pkts;
    }
    // SYNs and the like are counted by the bottleneck alone.
    let others = of_bottleneck.unwrap_or(0) - of_flows;
    assert!(others <= output.summary.bottleneck.forwarded_pkts + 1);
}

fn check_flow(flow: &FlowSummary, group: &Group) {
    assert_eq!(
        flow.sent_pkts,
        flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts,
        "every packet sent was dropped, arrived or is on the path"
    );
    assert!(flow.retransmitted_pkts <= flow.sent_pkts);
    let mss_bytes = u64::from(MSS_BYTES);
    assert!(flow.received_bytes <= flow.arrived_pkts * mss_bytes);
    assert!(flow.received_bytes <= (flow.sent_pkts - flow.retransmitted_pkts) * mss_bytes);
    match group.size_bytes {
        Some(size_bytes) if flow.finished => assert_eq!(flow.received_bytes, size_bytes),
        Some(size_bytes) => assert!(flow.received_bytes <= size_bytes),
        None => {}
    }
    if flow.rtt_max_us > 0 {
        // A sample of a retransmission comes from timestamps, which count ms (RFC 7323).
        assert!(
            flow.rtt_min_us + 1000 > flow.base_rtt_us,
            "faster than light"
        );
        let rtts_us = [
            flow.rtt_min_us,
            flow.rtt_p50_us,
            flow.rtt_p95_us,
            flow.rtt_p99_us,
            flow.rtt_max_us,
        ];
        assert!(rtts_us.is_sorted(), "{rtts_us:?}");
    }
    if flow.dropped_pkts == 0 {
        assert_eq!(
            flow.fast_recovery_count,
            Some(0),
            "no loss, no reordering, no recovery"
        );
    }
}

fn check_bottleneck(bottleneck: &LinkSummary, duration_ns: u64) {
    assert_eq!(
        bottleneck.offered_pkts,
        bottleneck.forwarded_pkts + bottleneck.dropped_pkts + bottleneck.left_pkts,
        "every packet offered was forwarded, dropped or is left"
    );
    // The packet on the wire at the end counts whole.
    let link_bits = bottleneck.link_rate_bps as f64 * duration_ns as f64 / 1e9;
    assert!(bottleneck.utilization <= 1.0 + PACKET_BYTES * 8.0 / link_bits);
    if let Some(limit_bytes) = bottleneck.limit_bytes {
        assert!(bottleneck.backlog_max_bytes <= limit_bytes);
    }
    if let Some(limit_pkts) = bottleneck.limit_pkts {
        assert!(bottleneck.backlog_max_bytes <= limit_pkts * PACKET_BYTES as u64);
    }
}

/// Bottleneck and flows count the same packets, but for those of handshake and close, which flows do
/// not count.
fn check_sums(output: &Output) {
    let summary = &output.summary;
    let sum = |count: fn(&FlowSummary) -> u64| summary.flows.iter().map(count).sum::<u64>();
    assert!(sum(|flow| flow.dropped_pkts) <= summary.bottleneck.dropped_pkts);
    assert!(sum(|flow| flow.arrived_pkts) <= summary.bottleneck.forwarded_pkts);
}

fn check_queue_series(output: &Output, queue: &Queue) {
    for counter in ["time_us", "forwarded_pkts", "dropped_pkts"] {
        assert!(
            column(output, "queue", counter).is_sorted(),
            "{counter} falls"
        );
    }
    let (name, limit) = match queue.limit() {
        Limit::Bytes(bytes) => ("backlog_bytes", bytes),
        Limit::Packets(packets) => ("backlog_pkts", packets),
    };
    let backlog = column(output, "queue", name);
    assert!(backlog.iter().all(|&backlog| backlog <= limit as f64));
}

/// What waits of each group adds up to what waits.
fn check_queue_by_group(output: &Output, scenario: &Scenario) {
    if scenario.groups.len() < 2 {
        assert!(output.tables.iter().all(|it| it.name != "queue_by_group"));
        return;
    }
    let by_group = column(output, "queue_by_group", "backlog_bytes");
    let sums = by_group.chunks(scenario.groups.len());
    let sums: Vec<f64> = sums.map(|groups| groups.iter().sum()).collect();
    assert_eq!(sums, column(output, "queue", "backlog_bytes"));
}

fn check_flow_series(output: &Output, scenario: &Scenario) {
    let flow = column(output, "flows", "flow");
    assert!(column(output, "flows", "time_us").is_sorted());
    let of_flow = |name: &str, number: u32| -> Vec<f64> {
        let values = column(output, "flows", name).into_iter().zip(&flow);
        values
            .filter(|&(_, &flow)| flow == f64::from(number))
            .map(|(value, _)| value)
            .collect()
    };
    for summary in &output.summary.flows {
        for counter in ["time_us", "retransmitted_pkts", "lost_pkts"] {
            assert!(
                of_flow(counter, summary.flow).is_sorted(),
                "{counter} falls"
            );
        }
        let group = &scenario.groups[summary.group as usize];
        let window_bytes = group.host.rwnd_bytes.min(group.host.sndbuf_bytes);
        // A FIN of its own needs no room in the send buffer.
        let fin_pkts = u64::from(group.size_bytes.is_some() || group.stop_ns.is_some());
        let window_pkts = ((window_bytes / u64::from(MSS_BYTES)).max(1) + fin_pkts) as f64;
        let outstanding_pkts = of_flow("outstanding_pkts", summary.flow);
        assert!(outstanding_pkts.iter().all(|&pkts| pkts <= window_pkts));
        let interval_s = scenario.sample_interval_ns as f64 / 1e9;
        let sampled_bits: f64 =
            of_flow("goodput_bps", summary.flow).iter().sum::<f64>() * interval_s;
        assert!(sampled_bits <= summary.received_bytes as f64 * 8.0 + 1.0);
    }
}

/// A run; rejected if the engine ended it because Copa's cwnd ran away in a small buffer (docs/copa.md),
/// which takes windows that are not set.
fn simulate_to_the_end(scenario: &Scenario) -> Result<Output, TestCaseError> {
    match run(scenario, &Control::default(), None) {
        Err(error) if error.to_string().contains("`copa` let cwnd run away") => {
            Err(TestCaseError::reject("Copa's cwnd ran away"))
        }
        outcome => Ok(outcome.unwrap_or_else(|error| panic!("{error}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_without_being_counted(scenario in scenario()) {
        let output = simulate_to_the_end(&scenario)?;
        for flow in &output.summary.flows {
            check_flow(flow, &scenario.groups[flow.group as usize]);
        }
        check_bottleneck(&output.summary.bottleneck, scenario.duration_ns);
        check_sums(&output);
        check_marks(&output, &scenario);
        check_queue_series(&output, &scenario.links[0].queue);
        check_queue_by_group(&output, &scenario);
        check_flow_series(&output, &scenario);
    }
}

#[test]
fn a_sized_flow_delivers_every_byte_through_a_buffer_of_one_packet() {
    for cc in [
        "reno", "cubic", "bbr", "bbr3", "copa", "dctcp", "ledbat", "nagi", "prague", "vegas",
    ] {
        let sized = Group {
            size_bytes: Some(1_000_003),
            ..bulk(cc, 2, 30)
        };
        let mut scenario = crate::common::dumbbell(5_000_000, PACKET_BYTES, 300, vec![sized]);
        scenario.links[0].queue = Queue::drop_tail(Limit::Packets(1));
        for flow in simulate(&scenario).summary.flows {
            assert!(flow.finished, "{cc} finishes");
            assert_eq!(flow.received_bytes, 1_000_003, "{cc} delivers");
            assert!(flow.dropped_pkts > 0, "{cc} met losses");
        }
    }
}
