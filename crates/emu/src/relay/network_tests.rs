//! Networks of several links between real namespaces: two links in a row, and ACKs over a link of their own.

use dumbbell_net::medium::tclink_htb;
use dumbbell_net::{Limit, QueueConfig};
use dumbbell_results::Summary;
use dumbbell_scenario::{Control, Group, Link};

use super::tests::{MS, group, receive, scenario, transfer, udp_sockets};
use super::*;
use crate::machine::clock::monotonic_ns;
use crate::testbed::hosts;

fn link(name: &str, link_rate_bps: u64, limit_bytes: u64, delay_ms: u64) -> Link {
    Link {
        name: name.to_owned(),
        link_rate_bps,
        delay_ns: Some(delay_ms * MS),
        queue: QueueConfig::drop_tail(Limit::Bytes(limit_bytes)),
        ..Link::default()
    }
}

/// A group of a flow over these links.
fn over(base_rtt_ms: u64, route: &[&str], back: &[&str]) -> Group {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Group {
        cc: "linux/reno".into(),
        flows: 1,
        route: names(route),
        back: names(back),
        ..group(base_rtt_ms)
    }
}

fn of(links: Vec<Link>, groups: Vec<Group>) -> Scenario {
    Scenario {
        links,
        duration_ns: 2_000 * MS,
        ..scenario(1, 1, groups)
    }
}

/// What was measured of the link of this name.
fn measured<'a>(report: &'a RelayReport, scenario: &Scenario, name: &str) -> &'a MeasuredLink {
    let names = scenario.link_names();
    let index = names.iter().position(|of_link| of_link == name);
    &report.links[index.expect("it is a link")]
}

#[test]
fn packets_pass_two_links_at_the_rate_of_the_slower() {
    // 5 ms and 10 ms there, and the rest of the 20 ms back.
    let links = vec![
        link("fast", 40_000_000, 200_000, 5),
        link("slow", 20_000_000, 20_000, 10),
    ];
    let scenario = of(links, vec![over(20, &["fast", "slow"], &[])]);
    let Some((_turn, hosts)) = hosts(
        "packets_pass_two_links_at_the_rate_of_the_slower",
        &scenario,
    ) else {
        return;
    };
    let relay = Relay::start(&hosts, &scenario, 0, u64::MAX, Vec::new());
    let relay = relay.expect("it starts");
    let (sender, receiver) = udp_sockets(&hosts, 0);
    let sent_ns = monotonic_ns();
    for number in 0..30_u8 {
        sender.send(&[number; 1000]).expect("it is sent");
    }
    // 1042 bytes take 0.2084 ms on the first link and 0.4168 ms on the second. The queue there grows by half a
    // packet for each that comes, so all 30 fit.
    for number in 0..30_u8 {
        let mut packet = [0; 2000];
        receive(&receiver, &mut packet);
        let after_ms = (monotonic_ns() - sent_ns) as f64 / 1e6;
        assert_eq!(packet[0], number, "the path keeps their order");
        let earliest_ms = 15.0 + 0.2084 + 0.4168 * f64::from(number + 1);
        assert!(
            after_ms >= earliest_ms,
            "{after_ms} ms before {earliest_ms} ms"
        );
    }
    let report = relay.stop().expect("it relays");
    let (slow, fast) = (
        measured(&report, &scenario, "slow"),
        measured(&report, &scenario, "fast"),
    );
    assert_eq!((fast.meter.offered_pkts, fast.meter.dropped_pkts), (30, 0));
    assert_eq!(slow.meter.offered_pkts, 30, "what left the first link");
    assert_eq!((slow.meter.taken_pkts, slow.meter.dropped_pkts), (30, 0));
    assert_eq!(fast.meter.busy_ns, 30 * 208_400);
    assert_eq!(slow.meter.busy_ns, 30 * 416_800);
}

/// Mininet's link: what is delayed counts in the queue, and leaves it at the start of its service time. 30 packets come at once
/// into room for 20.
#[test]
fn a_delay_in_the_queue_passes_before_the_rate() {
    let tclink = Link {
        queue: QueueConfig::drop_tail(Limit::Packets(20)),
        medium: Some(tclink_htb::Config::default().into()),
        ..link("tclink", 20_000_000, 0, 10)
    };
    let scenario = of(vec![tclink], vec![over(20, &["tclink"], &[])]);
    let Some((_turn, hosts)) = hosts("a_delay_in_the_queue_passes_before_the_rate", &scenario)
    else {
        return;
    };
    let relay = Relay::start(&hosts, &scenario, 0, u64::MAX, Vec::new());
    let relay = relay.expect("it starts");
    let (sender, receiver) = udp_sockets(&hosts, 0);
    let sent_ns = monotonic_ns();
    for number in 0..30_u8 {
        sender.send(&[number; 1000]).expect("it is sent");
    }
    // More are taken only where the relay was held up until the first had left.
    for number in 0..20_u8 {
        let mut packet = [0; 2000];
        receive(&receiver, &mut packet);
        let after_ms = (monotonic_ns() - sent_ns) as f64 / 1e6;
        assert!(packet[0] >= number, "the path keeps their order");
        // What 1042 bytes each are above the bucket's 1600 takes 0.4 µs a byte.
        let excess_bytes = (1042.0 * f64::from(number) - 1600.0).max(0.0);
        let earliest_ms = 10.0 + 0.0004 * excess_bytes;
        assert!(
            after_ms >= earliest_ms,
            "{after_ms} ms before {earliest_ms} ms"
        );
    }
    let report = relay.stop().expect("it relays");
    let tclink = &report.links[0].meter;
    assert_eq!(tclink.offered_pkts, 30);
    assert!(tclink.dropped_pkts <= 10, "{}", tclink.dropped_pkts);
}

#[test]
fn acks_queue_and_are_dropped_on_their_own_link() {
    // ACKs over 200 kbit/s with room for 20 of them; 10 ms there, 5 ms back.
    let links = vec![
        link("down", 20_000_000, 100_000, 10),
        link("up", 200_000, 20 * 66, 5),
    ];
    let scenario = of(links, vec![over(15, &["down"], &["up"])]);
    let test = "acks_queue_and_are_dropped_on_their_own_link";
    let Some((_turn, hosts)) = hosts(test, &scenario) else {
        return;
    };
    let report = transfer(&hosts, &scenario, 3000);
    let up = measured(&report, &scenario, "up");
    let (uplink, downlink) = (&up.meter, &measured(&report, &scenario, "down").meter);
    let flow = &report.flows[0];
    assert_eq!(flow.acks_dropped, uplink.dropped_pkts);
    assert!(
        uplink.dropped_pkts > 0,
        "one ACK per two packets is too many"
    );
    assert_eq!(
        uplink.offered_pkts,
        uplink.taken_pkts + uplink.dropped_pkts + up.backlog_pkts
    );
    // 3 s of 200 kbit/s are 1136 ACKs of 66 bytes without SACK blocks.
    assert!(
        (100..=1138).contains(&uplink.taken_pkts),
        "{}",
        uplink.taken_pkts
    );
    assert!(
        downlink.taken_pkts > uplink.taken_pkts,
        "ACKs are cumulative"
    );
    // Propagation is 15 ms, and an ACK alone takes 2.64 ms; behind 19 others it waits 50 ms.
    assert!(flow.rtt_min_us >= 17_600, "{} us", flow.rtt_min_us);
    assert!(flow.rtt_max_us > 50_000, "{} us", flow.rtt_max_us);
    assert_eq!(
        flow.entered_pkts,
        flow.arrived_pkts + flow.dropped_pkts + flow.on_path_pkts()
    );
    // A row per link and instant.
    assert_eq!(report.queue.link[..4], [0, 1, 0, 1]);
    assert_eq!(report.queue.time_us[..4], [10_000, 10_000, 20_000, 20_000]);
    assert_eq!(report.queue.link.len(), 2 * 300);
}

/// A parking lot of two links whose ACKs come back over a third: one flow over both, and one over each.
fn parking_lot() -> Scenario {
    let back = &["up"];
    of(
        vec![
            link("a", 20_000_000, 60_000, 2),
            link("b", 10_000_000, 60_000, 3),
            link("up", 2_000_000, 60_000, 1),
        ],
        vec![
            over(20, &["a", "b"], back),
            over(20, &["a"], back),
            over(20, &["b"], back),
        ],
    )
}

#[test]
fn a_scenario_of_three_links_runs_from_end_to_end() {
    let scenario = parking_lot();
    let test = "a_scenario_of_three_links_runs_from_end_to_end";
    let Some((_turn, _hosts)) = hosts(test, &scenario) else {
        return;
    };
    let mut seen = Vec::new();
    // Until the machine does not stand still in between.
    let is_seen = (0..5).any(|_| {
        let output = crate::run(&scenario, &Control::default(), None);
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        check_parking_lot(&scenario, &output.summary);
        let emulation = output.summary.emulation.expect("it ran on the kernel");
        // The narrowest link of the first group's route, not the other of twice its rate.
        let rate = emulation.calibrated_link_rate_bps / 10e6;
        let rtts_us = emulation.calibration.iter().map(|of| of.measured_rtt_us);
        let longest_us = rtts_us.fold(0.0, f64::max);
        seen.push((rate, longest_us));
        (0.6..1.4).contains(&rate) && longest_us < 40_000.0
    });
    assert!(is_seen, "{seen:?}");
}

/// What is true of a run of the parking lot however slow the machine is.
fn check_parking_lot(scenario: &Scenario, summary: &Summary) {
    let names: Vec<&str> = summary.links.iter().map(|link| &*link.name).collect();
    assert_eq!(names, scenario.link_names());
    let link = |name: &str| {
        let mut links = summary.links.iter();
        links.find(|link| link.name == name).expect("it is a link")
    };
    for link in &summary.links {
        assert_eq!(
            link.offered_pkts,
            link.forwarded_pkts + link.dropped_pkts + link.left_pkts,
            "{}",
            link.name
        );
    }
    for name in ["a", "b"] {
        let used = link(name).utilization;
        assert!(used > 0.0 && used <= 1.001, "{name}: {used}");
    }
    // All flows' ACKs, and nothing else, come back over the third.
    let arrived_pkts: u64 = summary.flows.iter().map(|flow| flow.arrived_pkts).sum();
    assert!((arrived_pkts / 4..2 * arrived_pkts).contains(&link("up").offered_pkts));
    assert!(link("up").forwarded_bytes < 200 * link("up").forwarded_pkts);
    for flow in &summary.flows {
        assert_eq!(
            flow.sent_pkts,
            flow.arrived_pkts + flow.dropped_pkts + flow.on_path_pkts
        );
        assert!(flow.rtt_min_us >= 20_000, "{} us", flow.rtt_min_us);
    }
    let emulation = summary.emulation.as_ref().expect("it ran on the kernel");
    for calibrated in &emulation.calibration {
        // Never shorter, but for the µs to which TCP rounds.
        let measured_us = calibrated.measured_rtt_us;
        assert!(measured_us >= 19_990.0, "{measured_us} us");
    }
}
