//! Changes of a path between real namespaces while packets are on it.

use std::time::Duration;

use dumbbell_scenario::BOTTLENECK;

use super::tests::{MS, group, receive, scenario, udp_sockets};
use super::*;
use crate::machine::clock::monotonic_ns;
use crate::testbed::hosts;

fn relay(hosts: &Arc<Hosts>, scenario: &Scenario) -> Relay {
    let started = Relay::start(hosts, scenario, monotonic_ns(), u64::MAX, Vec::new());
    started.expect("it starts")
}

fn rate(link_rate_bps: u64) -> Change {
    Change::Rate {
        link: BOTTLENECK.to_owned(),
        link_rate_bps,
    }
}

#[test]
fn a_queue_drains_at_the_new_rate_from_the_moment_of_the_change() {
    // 1042 bytes take 83 ms at 100 kbit/s: of 20 packets two or so are through after 200 ms.
    let scenario = scenario(100_000, 30 * 1042, vec![group(20)]);
    let test = "a_queue_drains_at_the_new_rate_from_the_moment_of_the_change";
    let Some((_turn, hosts)) = hosts(test, &scenario) else {
        return;
    };
    // At the old rate the last would come 1.5 s later. The packet on the wire keeps its time, 83 ms at most. The
    // fastest of three: what is tested is the path, not how long this machine stands still.
    let within_ms = 83.4 + 20.0 * 0.83 + 10.0 + 300.0;
    let took_ms = [(); 3].map(|()| drain(&hosts, &scenario));
    assert!(took_ms.iter().any(|&ms| ms < within_ms), "{took_ms:?}");
}

/// Raises the rate while 20 packets wait; returns the time until the last has come, ms.
fn drain(hosts: &Arc<Hosts>, scenario: &Scenario) -> f64 {
    let relay = relay(hosts, scenario);
    let (sender, receiver) = udp_sockets(hosts, 0);
    for number in 0..20_u8 {
        sender.send(&[number; 1000]).expect("it is sent");
    }
    thread::sleep(Duration::from_millis(200));
    let before = relay.live().link(0);
    assert_eq!(before.link_rate_bps, 100_000);
    // Two are through and one is on the wire; on a machine that stood still, more.
    assert!((1..=18).contains(&before.backlog_pkts), "{before:?}");
    assert_eq!(before.backlog_bytes, 1042 * before.backlog_pkts);
    let changed_ns = monotonic_ns();
    relay.change(&rate(10_000_000)).expect("a rate above 0");
    let mut arrivals_ns = Vec::new();
    for number in 0..20 {
        let mut packet = [0; 2000];
        receive(&receiver, &mut packet);
        assert_eq!(packet[0], number);
        arrivals_ns.push(monotonic_ns());
    }
    thread::sleep(Duration::from_millis(50));
    let after = relay.live().link(0);
    assert_eq!(after.link_rate_bps, 10_000_000);
    assert_eq!((after.taken_pkts, after.backlog_pkts), (20, 0));
    assert!(after.at_ns > before.at_ns);
    let report = relay.stop().expect("it relays");
    assert_eq!(
        (report.changes.len(), &report.changes[0].1),
        (1, &rate(10_000_000))
    );
    // The time that the packet on the wire has left at the change counts at the new rate, though it goes on at the
    // old one; had the meter not heard of the change, it would be a sixth of what was carried.
    let bottleneck = &report.links[0].meter;
    assert_eq!(bottleneck.taken_pkts, 20);
    let carried_bits = bottleneck.taken_bytes as f64 * 8.0;
    let ratio = carried_bits / bottleneck.busy_capacity_bits();
    assert!((0.1..=1.0).contains(&ratio), "{ratio}");
    (arrivals_ns[19] - changed_ns) as f64 / 1e6
}

#[test]
fn a_reply_takes_the_base_rtt_that_was_set() {
    let scenario = scenario(50_000_000, 100_000, vec![group(20)]);
    let Some((_turn, hosts)) = hosts("a_reply_takes_the_base_rtt_that_was_set", &scenario) else {
        return;
    };
    let relay = relay(&hosts, &scenario);
    let (sender, receiver) = udp_sockets(&hosts, 0);
    // The fastest of several: what is tested is the path, not the scheduling of this test.
    let fastest_ms = || {
        let round_trip_ms = |_| {
            let sent_ns = monotonic_ns();
            sender.send(&[0; 100]).expect("it is sent");
            let from = receive(&receiver, &mut [0; 200]);
            receiver.send_to(&[0; 100], from).expect("it is sent");
            receive(&sender, &mut [0; 200]);
            (monotonic_ns() - sent_ns) as f64 / 1e6
        };
        (0..10).map(round_trip_ms).fold(f64::INFINITY, f64::min)
    };
    for base_rtt_ms in [20, 60, 6] {
        if base_rtt_ms != 20 {
            let change = Change::BaseRtt {
                group: None,
                base_rtt_ns: base_rtt_ms * MS,
            };
            relay.change(&change).expect("the link follows");
        }
        let base_rtt_ms = base_rtt_ms as f64;
        let found_ms = fastest_ms();
        let expected_ms = base_rtt_ms..base_rtt_ms + 15.0;
        assert!(
            expected_ms.contains(&found_ms),
            "{found_ms} ms for {base_rtt_ms} ms"
        );
    }
    relay.stop().expect("it relays");
}

#[test]
fn loss_begins_with_its_change_and_what_cannot_be_is_refused() {
    let scenario = scenario(50_000_000, 100_000, vec![group(2)]);
    let test = "loss_begins_with_its_change_and_what_cannot_be_is_refused";
    let Some((_turn, hosts)) = hosts(test, &scenario) else {
        return;
    };
    let relay = relay(&hosts, &scenario);
    let (sender, receiver) = udp_sockets(&hosts, 0);
    let loss = |loss_ppb| Change::Loss {
        link: BOTTLENECK.to_owned(),
        loss_ppb,
    };
    let refused = relay.change(&loss(1_000_000_000)).expect_err("all is lost");
    let expected = "every packet is lost at random before `bottleneck`; use a loss below `100%`";
    assert_eq!(refused.to_string(), expected);
    let send = |pkts: u64| {
        for _ in 0..pkts {
            sender.send(&[0; 100]).expect("it is sent");
            thread::sleep(Duration::from_micros(100));
        }
    };
    send(100);
    for _ in 0..100 {
        receive(&receiver, &mut [0; 200]);
    }
    relay.change(&loss(500_000_000)).expect("half of them");
    send(400);
    relay.change(&loss(0)).expect("none");
    send(100);
    thread::sleep(Duration::from_millis(100));
    let report = relay.stop().expect("it relays");
    // Half of 400: 200 ± 5 standard deviations of 10.
    let lost = report.links[0].meter.random_loss_pkts;
    assert!((150..=250).contains(&lost), "{lost}");
    assert_eq!(report.links[0].meter.offered_pkts, 600);
    assert_eq!(report.changes.len(), 2);
}

#[test]
fn a_change_counts_from_when_it_took_effect() {
    let scenario = scenario(50_000_000, 100_000, vec![group(2)]);
    let changes = Changes::new(&scenario, 0, 2).expect("it can be woken");
    changes.make(&rate(10_000_000)).expect("a rate above 0");
    let asked_ns = changes.made()[0].0;
    // One thread was already a millisecond further.
    for (thread, further_ns) in [(0, 0), (1, MS)] {
        let taken = changes.inbox(thread).take();
        assert_eq!(taken.len(), 1);
        taken[0].was_made(taken[0].at_ns + further_ns);
    }
    assert_eq!(changes.made(), [(asked_ns + MS, rate(10_000_000))]);
}
