//! Random networks: up to eight links, four routes there and back.

use crate::common::{MSS_BYTES, NS_PER_MS, PACKET_BYTES, bulk, simulate};
use dumbbell_net::queue::{codel, drr, dualpi2, fq_codel, fq_pie, pie, red, sfq, tbf};
use dumbbell_sim::{Amount, FlowSummary, Group, Host, Limit, Link, Output, Queue, Scenario};
use proptest::prelude::*;
use proptest::sample::Index;

const CASES: u32 = 1000;
/// Packets that the fastest link could carry in one run: what bounds the tests' time.
const LINK_PKTS: f64 = 2000.0;

fn queue() -> impl Strategy<Value = Queue> {
    (0..13_u8, 1..60_u64, 1..20_u64, any::<bool>()).prop_map(|(kind, limit_pkts, ms, ecn)| {
        // Short enough to act within a case.
        let (target_ns, interval_ns) = (ms * 50_000, ms * NS_PER_MS);
        match kind {
            0 => Queue::drop_tail(Limit::Packets(limit_pkts)),
            1 => Queue::drop_tail(Limit::Bytes(limit_pkts * PACKET_BYTES as u64)),
            2 => Queue::from(codel::Config {
                limit_pkts,
                target_ns,
                interval_ns,
                ecn,
                ..codel::Config::default()
            }),
            3 => Queue::from(pie::Config {
                limit_pkts,
                target_ns,
                ecn,
                dq_rate_estimator: limit_pkts % 2 == 0,
                ..pie::Config::default()
            }),
            4 => Queue::from(red::Config {
                limit_bytes: 16 * 1514 + limit_pkts * PACKET_BYTES as u64,
                ecn,
                adaptive: ecn,
                ..red::Config::default()
            }),
            5 => Queue::from(fq_pie::Config {
                limit_pkts,
                flows: 4,
                target_ns,
                ecn,
                ..fq_pie::Config::default()
            }),
            6 => Queue::from(dualpi2::Config {
                limit_pkts,
                target_ns,
                any_ect: ecn,
                drop_early: limit_pkts % 2 == 0,
                ..dualpi2::Config::default()
            }),
            7 => Queue::from(sfq::Config {
                limit_pkts: limit_pkts + 1,
                depth_pkts: 1 + limit_pkts / 2,
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
                limit_bytes: limit_pkts * 1514,
                rate_bps: ms * 5_000_000,
                burst_bytes: 9000,
                peakrate_bps: ecn.then_some(ms * 7_000_000),
                ..tbf::Config::default()
            }),
            10 => Queue::drop_tail(Limit::Packets(limit_pkts))
                .marking_above(Amount::Pkts((limit_pkts / 2).max(1))),
            11 => Queue::drop_tail(Limit::Bytes(limit_pkts * 1514))
                .marking_above(Amount::Ns(target_ns)),
            _ => Queue::from(fq_codel::Config {
                limit_pkts,
                flows: 4,
                target_ns,
                interval_ns,
                ecn,
                ..fq_codel::Config::default()
            }),
        }
    })
}

fn link() -> impl Strategy<Value = Link> {
    let rate_bps = (1e6_f64.ln()..50e6_f64.ln()).prop_map(|log| log.exp() as u64);
    let delay_ns = prop_oneof![Just(0), 0..20 * NS_PER_MS];
    let random_loss_ppb = prop_oneof![3 => Just(0), 1 => 1..50_000_000_u32];
    (rate_bps, delay_ns, queue(), random_loss_ppb).prop_map(
        |(link_rate_bps, delay_ns, queue, random_loss_ppb)| Link {
            link_rate_bps,
            delay_ns: Some(delay_ns),
            queue,
            random_loss_ppb,
            ..Link::default()
        },
    )
}

/// Some of the links, in any order; none if `may_be_empty`.
fn way(links: usize, may_be_empty: bool) -> impl Strategy<Value = Vec<usize>> {
    let all: Vec<usize> = (0..links).collect();
    (Just(all).prop_shuffle(), any::<Index>()).prop_map(move |(order, count)| {
        let count = if may_be_empty {
            count.index(order.len() + 1)
        } else {
            count.index(order.len()) + 1
        };
        order[..count].to_vec()
    })
}

#[derive(Clone, Debug)]
struct Flows {
    cc: &'static str,
    flows: u32,
    rest_ns: u64,
    size_bytes: Option<u64>,
    ecn: bool,
    delayed_ack: bool,
}

fn flows() -> impl Strategy<Value = Flows> {
    let cc = prop::sample::select(vec!["reno", "cubic", "bbr", "copa", "dctcp", "vegas"]);
    let rest_ns = NS_PER_MS..40 * NS_PER_MS;
    let size_bytes = prop::option::weighted(0.3, 1..300_000_u64);
    let host = (any::<bool>(), any::<bool>());
    (cc, 1..3_u32, rest_ns, size_bytes, host).prop_map(
        |(cc, flows, rest_ns, size_bytes, (ecn, delayed_ack))| Flows {
            cc,
            flows,
            rest_ns,
            size_bytes,
            ecn,
            delayed_ack,
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    (prop::collection::vec(link(), 1..=8), any::<u64>()).prop_flat_map(|(links, seed)| {
        let group = (flows(), way(links.len(), false), way(links.len(), true));
        prop::collection::vec(group, 1..=4).prop_map(move |groups| assemble(&links, &groups, seed))
    })
}

fn assemble(links: &[Link], groups: &[(Flows, Vec<usize>, Vec<usize>)], seed: u64) -> Scenario {
    let name = |&link: &usize| format!("link{link}");
    let is_used = |link: usize| {
        let mut groups = groups.iter();
        groups.any(|(_, route, back)| route.contains(&link) || back.contains(&link))
    };
    let named = (0..).zip(links).filter(|&(link, _)| is_used(link));
    let named = named.map(|(number, link)| Link {
        name: name(&number),
        ..link.clone()
    });
    let fastest_bps = links.iter().map(|link| link.link_rate_bps).max();
    let pkt_s = PACKET_BYTES * 8.0 / fastest_bps.unwrap_or(1) as f64;
    let delay_ns = |way: &[usize]| -> u64 {
        let delays = way.iter().filter_map(|&link| links[link].delay_ns);
        delays.sum()
    };
    let groups = groups.iter().map(|(flows, route, back)| Group {
        // The way there has at least half of the round trip.
        base_rtt_ns: 2 * delay_ns(route).max(delay_ns(back)) + flows.rest_ns,
        route: route.iter().map(name).collect(),
        back: back.iter().map(name).collect(),
        size_bytes: flows.size_bytes,
        start_jitter_ns: 20 * NS_PER_MS,
        host: Host {
            ecn: flows.ecn.into(),
            delayed_ack: flows.delayed_ack,
            ..Host::default()
        },
        ..bulk(flows.cc, flows.flows, 1)
    });
    Scenario {
        seed,
        duration_ns: ((LINK_PKTS * pkt_s).clamp(0.5, 3.0) * 1e9) as u64,
        sample_interval_ns: 50 * NS_PER_MS,
        links: named.collect(),
        groups: groups.collect(),
        ..Scenario::default()
    }
}

fn check_links(output: &Output, scenario: &Scenario) {
    for link in &output.summary.links {
        assert_eq!(
            link.offered_pkts,
            link.forwarded_pkts + link.dropped_pkts + link.left_pkts,
            "every packet offered to {} was forwarded, dropped or is left",
            link.name
        );
        let link_bits = link.link_rate_bps as f64 * scenario.duration_ns as f64 / 1e9;
        // The packet on the wire at the end counts whole.
        assert!(link.utilization <= 1.0 + PACKET_BYTES * 8.0 / link_bits);
    }
}

fn check_flow(flow: &FlowSummary, group: &Group) {
    assert_eq!(
        flow.sent_pkts,
        flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts,
        "every packet sent was dropped, arrived or is on its way"
    );
    assert!(flow.received_bytes <= flow.arrived_pkts * u64::from(MSS_BYTES));
    if let Some(size_bytes) = group.size_bytes {
        assert!(flow.received_bytes <= size_bytes);
    }
    if flow.rtt_max_us > 0 {
        // A sample of a retransmission comes from timestamps, which count ms (RFC 7323).
        assert!(
            flow.rtt_min_us + 1000 > flow.base_rtt_us,
            "faster than light"
        );
    }
}

fn links_by_name(output: &Output) -> Vec<String> {
    let links = output.summary.links.iter();
    let mut links: Vec<String> = links.map(|link| format!("{link:?}")).collect();
    links.sort();
    links
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Every packet is accounted for at every link and for every flow, the same happens again, and the
    /// order of the links in the scenario changes nothing.
    #[test]
    fn packets_are_conserved_and_runs_repeat_in_any_network(scenario in scenario()) {
        let output = simulate(&scenario);
        check_links(&output, &scenario);
        for flow in &output.summary.flows {
            check_flow(flow, &scenario.groups[flow.group as usize]);
        }
        let again = simulate(&scenario);
        prop_assert_eq!(format!("{:?}", again.summary), format!("{:?}", output.summary));
        let mut reversed = scenario.clone();
        reversed.links.reverse();
        let reversed = simulate(&reversed);
        prop_assert_eq!(
            format!("{:?}", reversed.summary.flows),
            format!("{:?}", output.summary.flows)
        );
        prop_assert_eq!(links_by_name(&reversed), links_by_name(&output));
    }
}

/// Two paths that share nothing give in one run the numbers of two runs.
#[test]
fn paths_that_share_nothing_do_not_see_each_other() {
    let link = |name: &str, rate_bps, limit_pkts| Link {
        name: name.to_owned(),
        link_rate_bps: rate_bps,
        delay_ns: Some(5 * NS_PER_MS),
        queue: Queue::drop_tail(Limit::Packets(limit_pkts)),
        ..Link::default()
    };
    let links = [link("one", 20_000_000, 60), link("other", 7_000_000, 25)];
    // Without random numbers: a run's elements have theirs by their number in it.
    let groups = [("one", "cubic", 40), ("other", "reno", 31)].map(|(name, cc, rtt_ms)| Group {
        route: vec![name.to_owned()],
        ..bulk(cc, 2, rtt_ms)
    });
    let run = |links: &[Link], groups: &[Group]| {
        simulate(&Scenario {
            seed: 1,
            duration_ns: 20_000 * NS_PER_MS,
            sample_interval_ns: 10 * NS_PER_MS,
            links: links.to_vec(),
            groups: groups.to_vec(),
            ..Scenario::default()
        })
    };
    let both = run(&links, &groups);
    for (index, first_flow) in [(0, 0), (1, 2)] {
        let alone = run(&links[index..=index], &groups[index..=index]);
        let of_both = both.summary.flows[first_flow..first_flow + 2].iter();
        for (together, alone) in of_both.zip(&alone.summary.flows) {
            assert!(alone.dropped_pkts > 0, "it has its losses");
            let renumbered = FlowSummary {
                flow: together.flow,
                group: together.group,
                ..alone.clone()
            };
            assert_eq!(format!("{together:?}"), format!("{renumbered:?}"));
        }
        let (together, alone) = (&both.summary.links[index], &alone.summary.links[0]);
        assert_eq!(format!("{together:?}"), format!("{alone:?}"));
    }
}

/// An uplink of 200 kbit/s carries 379 ACKs of 66 bytes a second, and a receiver of 20 Mbit/s sends
/// 826: the queue drops the rest, each of them counted, and the RTT has what the others wait.
#[test]
fn acks_wait_and_are_dropped_on_a_narrow_uplink() {
    let link = |name: &str, link_rate_bps, limit_pkts| Link {
        name: name.to_owned(),
        link_rate_bps,
        queue: Queue::drop_tail(Limit::Packets(limit_pkts)),
        ..Link::default()
    };
    let group = Group {
        route: vec!["down".to_owned()],
        back: vec!["up".to_owned()],
        ..bulk("cubic", 1, 40)
    };
    let output = simulate(&Scenario {
        seed: 1,
        duration_ns: 20_000 * NS_PER_MS,
        links: vec![link("down", 20_000_000, 100), link("up", 200_000, 10)],
        groups: vec![group],
        ..Scenario::default()
    });
    let [flow] = &output.summary.flows[..] else {
        panic!("one flow")
    };
    let link = |name: &str| {
        let mut links = output.summary.links.iter();
        links.find(|link| link.name == name).expect("it is there")
    };
    let (down, up) = (link("down"), link("up"));
    assert!(up.dropped_pkts > 1000, "{up:?}");
    assert_eq!(flow.acks_dropped, Some(up.dropped_pkts));
    assert_eq!(flow.dropped_pkts, down.dropped_pkts);
    assert!(up.utilization > 0.95, "{up:?}");
    // Pure ACKs, but for the SYN-ACK and those with SACK blocks.
    let mean_bytes = up.forwarded_bytes as f64 / up.forwarded_pkts as f64;
    assert!((66.0..68.0).contains(&mean_bytes), "{mean_bytes}");
    // The handshake's: 40 ms, a SYN of 74 bytes at 20 Mbit/s, as large a SYN-ACK at 200 kbit/s. Later
    // ACKs, of 2.64 ms, wait behind up to ten others.
    assert_eq!(flow.rtt_min_us, (40_000_000 + 29_600 + 2_960_000) / 1000);
    assert!(flow.rtt_p50_us >= flow.rtt_min_us + 8 * 2640, "{flow:?}");
}
