//! CAKE against what its paper (Høiland-Jørgensen, Täht, Morton 2018) and deficit round robin say of it.

use dumbbell_net::queue::cake::{AckFilter, Config, Rtt};
use dumbbell_sim::{Group, Host, Link, Output, Scenario};

use crate::common::{
    MSS_BYTES, NS_PER_MS, NS_PER_S, PACKET_BYTES, assert_near, assert_within, bulk, dumbbell,
    goodput_bps, jain, simulate,
};

const LINK_RATE_BPS: u64 = 50_000_000;
/// 95 % of the link's, as users of CAKE set it to have the queue where it is.
const SHAPED_BPS: u64 = 47_500_000;

fn over_cake(groups: Vec<Group>, config: Config) -> Output {
    let mut scenario = dumbbell(LINK_RATE_BPS, 0.0, 60, groups);
    scenario.sample_interval_ns = 0;
    scenario.links[0].queue = config.into();
    simulate(&scenario)
}

fn shaped() -> Config {
    Config {
        rate_bps: Some(SHAPED_BPS),
        ..Config::default()
    }
}

/// Flows of one pair of hosts share equally, and use what the shaper lets pass.
#[test]
fn eight_flows_share_equally_and_fill_the_shaped_rate() {
    for cc in ["cubic", "bbr"] {
        let output = over_cake(vec![bulk(cc, 8, 40)], shaped());
        let link = &output.summary.bottleneck;
        let of_shaped = link.utilization * LINK_RATE_BPS as f64 / SHAPED_BPS as f64;
        let index = jain(&output.summary.flows);
        println!(
            "8 {cc}: Jain {index:.4}, {of_shaped:.4} of the shaped rate, median delay {} µs",
            link.queue_delay_p50_us
        );
        assert!(index >= 0.99, "{index}");
        assert_within("the share of the shaped rate", of_shaped, 0.97..=1.0005);
        assert_within(
            "the median delay, ms",
            link.queue_delay_p50_us as f64 / 1e3,
            0.5..=12.0,
        );
    }
}

/// A flow that sends less than its share waits for packets that are on the link and those of other new flows,
/// not in a queue.
#[test]
fn a_sparse_flow_does_not_wait_behind_bulk_flows() {
    let sparse = Group {
        host: Host {
            rwnd_bytes: 1448,
            delayed_ack: false,
            ..Host::default()
        },
        ..bulk("reno", 1, 40)
    };
    let output = over_cake(vec![bulk("cubic", 8, 40), sparse], shaped());
    let (bulk_flows, sparse) = output.summary.flows.split_at(8);
    let packet_us = PACKET_BYTES * 8.0 * 1e6 / SHAPED_BPS as f64;
    let wait_us = sparse[0].rtt_p99_us as f64 - 40_000.0;
    let bulk_us = bulk_flows[0].rtt_p50_us as f64 - 40_000.0;
    println!("the sparse flow waits {wait_us:.0} µs at p99, a bulk flow {bulk_us:.0} µs at p50");
    // As of FQ-CoDel, and the packet that the shaper has just let pass.
    assert_within(
        "the sparse flow's wait, µs",
        wait_us,
        packet_us..=4.0 * packet_us + 640.0,
    );
    assert!(bulk_us > 4.0 * wait_us, "{bulk_us} against {wait_us}");
    assert_eq!(sparse[0].dropped_pkts, 0);
}

/// Triple isolation: a host with one flow has as much as a host with nine, with any CCAs. The one is
/// BBR, because a single CUBIC or Reno flow leaves some of its half unused behind CoDel.
#[test]
fn hosts_share_equally_whatever_their_number_of_flows() {
    for nine in ["cubic", "reno"] {
        let output = over_cake(vec![bulk("bbr", 1, 20), bulk(nine, 9, 20)], shaped());
        let (first, others) = output.summary.flows.split_at(1);
        let nine_bps = goodput_bps(&output, nine);
        println!(
            "bbr {:.0}, nine {nine} {nine_bps:.0} bit/s",
            first[0].goodput_bps
        );
        let share = first[0].goodput_bps / (first[0].goodput_bps + nine_bps);
        assert_near("the host with one flow", share, 0.5, 0.04);
        assert!(jain(others) > 0.99);
    }
}

/// DSCPs reach the tins: voice within its quarter has what it wants next to best effort and bulk, and bulk
/// keeps its 16th.
#[test]
fn groups_have_the_tins_of_their_dscp() {
    let of_class = |dscp, flows| Group {
        dscp,
        ..bulk("cubic", flows, 20)
    };
    let output = over_cake(
        vec![of_class(0, 2), of_class(8, 2), of_class(46, 2)],
        shaped(),
    );
    let rate = |group| -> f64 {
        let flows = output
            .summary
            .flows
            .iter()
            .filter(|flow| flow.group == group);
        let goodput_bps: f64 = flows.map(|flow| flow.goodput_bps).sum();
        goodput_bps * PACKET_BYTES / f64::from(MSS_BYTES) / SHAPED_BPS as f64
    };
    let shares = [rate(0), rate(1), rate(2)];
    println!("best effort, bulk, voice: {shares:.3?}");
    for (found, expected) in shares.into_iter().zip([0.6875, 0.0625, 0.25]) {
        assert_within("a tin's share", found, 0.9 * expected..=1.15 * expected);
    }
}

/// Over a way back that is 200 times slower, ACKs that nothing is lost with are dropped, and the download has more.
/// RFC 3449 §2.2: k is the ACKs that a full download needs over those that the way back carries.
#[test]
fn the_ack_filter_lets_a_download_use_its_link() {
    const DOWN_BPS: u64 = 50_000_000;
    const UP_BPS: u64 = 250_000;
    let link = |name: &str, link_rate_bps, config: Config| Link {
        name: name.to_owned(),
        link_rate_bps,
        delay_ns: Some(5 * NS_PER_MS),
        queue: config.into(),
        ..Link::default()
    };
    let run = |ack_filter| {
        let up = Config {
            ack_filter,
            ..Config::default()
        };
        let download = Group {
            route: vec!["down".to_owned()],
            back: vec!["up".to_owned()],
            ..bulk("cubic", 1, 40)
        };
        let output = simulate(&Scenario {
            seed: 1,
            duration_ns: 60 * NS_PER_S,
            links: vec![
                link("down", DOWN_BPS, Config::default()),
                link("up", UP_BPS, up),
            ],
            groups: vec![download],
            ..Scenario::default()
        });
        let back = output.summary.links.iter().find(|link| link.name == "up");
        let back = back.expect("the way back");
        let dropped = back.dropped_pkts as f64 / (back.dropped_pkts + back.forwarded_pkts) as f64;
        let flow = &output.summary.flows[0];
        let share = flow.goodput_bps * PACKET_BYTES / f64::from(MSS_BYTES) / DOWN_BPS as f64;
        let wait_us = back.queue_delay_p50_us;
        println!(
            "{ack_filter:?}: {share:.3} of the downlink, {dropped:.3} of the ACKs dropped, {wait_us} µs"
        );
        (share, dropped, wait_us)
    };
    let (plain, _, plain_wait_us) = run(AckFilter::off);
    let (filtered, dropped, wait_us) = run(AckFilter::normal);
    assert!(filtered > 1.1 * plain, "{filtered} against {plain}");
    assert!(dropped > 0.5, "{dropped}");
    assert!(wait_us < plain_wait_us, "{wait_us} against {plain_wait_us}");
}

/// A smaller RTT is a smaller target: the delay follows it.
#[test]
fn the_delay_follows_the_rtt_that_is_set() {
    let median_us = [10, 100].map(|ms| {
        let config = Config {
            rtt_ns: Rtt(ms * NS_PER_MS),
            ..shaped()
        };
        let output = over_cake(vec![bulk("cubic", 4, 10)], config);
        let link = &output.summary.bottleneck;
        println!(
            "rtt {ms} ms: median {} µs, used {:.3}",
            link.queue_delay_p50_us, link.utilization
        );
        assert!(link.utilization > 0.85, "{}", link.utilization);
        link.queue_delay_p50_us as f64
    });
    assert!(median_us[0] < 0.6 * median_us[1], "{median_us:?}");
}
