//! Changes that are made while packets are in a network: the same as steps that were planned.

use std::collections::VecDeque;

use dumbbell_net::{
    DelayLine, DelayStep, Ecn, Event, Header, Hop, Limit, Link, Meter, Network, NetworkChange,
    Packet, QueueConfig, RateChange, Site, Transmitter,
};
use proptest::prelude::*;

/// A packet's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number(u32);

impl Header for Number {
    fn is_data(&self) -> bool {
        true
    }

    fn is_forward(&self) -> bool {
        true
    }
}

/// What is planned for the link, and for the delay line in front of it.
#[derive(Clone, Debug, Default)]
struct Steps {
    rates: VecDeque<RateChange>,
    line: VecDeque<DelayStep>,
}

const FIRST_RATE_BPS: u64 = 1_000_000;

fn network(steps: Steps) -> Network<Number> {
    let link = Link::new(
        Vec::new(),
        QueueConfig::drop_tail(Limit::Packets(5)).build(&Site::default()),
        Transmitter::new(FIRST_RATE_BPS, steps.rates),
    );
    let line = DelayLine::with_steps(2_000_000, steps.line);
    let routes = [vec![Hop::Line(0), Hop::Link(0)]];
    Network::new(vec![(link, DelayLine::new(3_000_000))], vec![line], &routes)
}

fn packet(number: u32, wire_bytes: u32) -> Packet<Number> {
    Packet {
        flow: 0,
        wire_bytes,
        ecn: Ecn::NotEct,
        hop: 0,
        arrived_ns: 0,
        header: Number(number),
    }
}

/// What is delivered, and when; and the meter.
struct Seen {
    delivered: Vec<(u64, u32)>,
    meter: Meter,
}

fn advance(network: &mut Network<Number>, until_ns: u64, seen: &mut Seen) {
    while let Some((now_ns, event)) = network.advance(until_ns, &mut seen.meter) {
        if let Event::Delivery(exit, _) = event {
            let packet = network.take_delivery(exit);
            seen.delivered.push((now_ns, packet.header.0));
        }
    }
}

/// Every packet is delivered until then, unless a rate is next to nothing.
const END_NS: u64 = 100_000_000_000;

/// Runs packets of `arrivals` (time and wire bytes), with changes at their times.
fn run(
    mut network: Network<Number>,
    arrivals: &[(u64, u32)],
    changes: &[(u64, NetworkChange)],
) -> Seen {
    let mut seen = Seen {
        delivered: Vec::new(),
        meter: network.meter(1, 0, |_| true),
    };
    let mut changes = changes.iter().peekable();
    let mut change_until = |now_ns, network: &mut Network<Number>, seen: &mut Seen| {
        while let Some(&(at_ns, change)) = changes.next_if(|(at_ns, _)| *at_ns <= now_ns) {
            // What is due at the same time comes after it, as with a step.
            advance(network, at_ns - 1, seen);
            network.change(at_ns, change, &mut seen.meter);
        }
    };
    for (number, &(at_ns, wire_bytes)) in (0..).zip(arrivals) {
        change_until(at_ns, &mut network, &mut seen);
        advance(&mut network, at_ns, &mut seen);
        network.enter(at_ns, 0, packet(number, wire_bytes), &mut seen.meter);
    }
    change_until(u64::MAX, &mut network, &mut seen);
    advance(&mut network, END_NS, &mut seen);
    network.close_books(END_NS, &mut seen.meter);
    seen
}

fn rate(link_rate_bps: u64) -> NetworkChange {
    NetworkChange::Rate {
        link: 0,
        link_rate_bps,
    }
}

#[test]
fn a_packet_on_the_wire_keeps_its_time_and_the_next_has_the_new_rate() {
    // 1250 bytes take 10 ms at 1 Mbit/s and 1 ms at 10 Mbit/s; they arrive behind 2 ms and take 3 ms more.
    const MS: u64 = 1_000_000;
    let arrivals = [(0, 1250), (0, 1250)];
    let seen = run(
        network(Steps::default()),
        &arrivals,
        &[(7 * MS, rate(10_000_000))],
    );
    assert_eq!(seen.delivered, [(15 * MS, 0), (16 * MS, 1)]);
    // 5 ms at the old rate, 6 ms at the new one.
    assert_eq!(seen.meter.links[0].busy_capacity_bits(), 5e3 + 60e3);
}

#[test]
fn nothing_overtakes_where_a_delay_falls() {
    const MS: u64 = 1_000_000;
    let arrivals = [(0, 125), (5 * MS, 125)];
    let change = NetworkChange::LinkDelay {
        link: 0,
        delay_ns: 0,
    };
    // The first is through at 3 ms and delivered at 6 ms; the second through at 8 ms.
    let seen = run(network(Steps::default()), &arrivals, &[(4 * MS, change)]);
    assert_eq!(seen.delivered, [(6 * MS, 0), (8 * MS, 1)]);
    // The second is on the wire from 3 ms on, and would be ahead of the first.
    let arrivals = [(0, 125), (MS, 125)];
    let seen = run(network(Steps::default()), &arrivals, &[(2_500_000, change)]);
    assert_eq!(seen.delivered, [(6 * MS, 0), (6 * MS, 1)]);
}

#[test]
fn loss_begins_and_ends() {
    let arrivals: Vec<(u64, u32)> = (0..3000).map(|number| (number * 1_000_000, 100)).collect();
    let loss = |loss_ppb| NetworkChange::Loss {
        link: 0,
        loss_ppb,
        seed: 7,
    };
    let changes = [(1_000_000_000, loss(250_000_000)), (2_000_000_000, loss(0))];
    let seen = run(network(Steps::default()), &arrivals, &changes);
    let arrived = |from, to| {
        let numbers = seen.delivered.iter().map(|&(_, number)| number);
        numbers.filter(|number| (from..to).contains(number)).count()
    };
    // What is on the line when it begins or ends arrives at the link 2 ms later.
    assert_eq!((arrived(0, 998), arrived(1998, 3000)), (998, 1002));
    // A quarter of 1000: 250 ± 4 standard deviations of 13.7.
    let lost = 1000 - arrived(998, 1998);
    assert!((196..=304).contains(&lost), "{lost}");
    assert_eq!(seen.meter.links[0].random_loss_pkts, lost as u64);
}

proptest! {
    #[test]
    fn changes_are_exact_as_planned_steps_are(
        gaps in prop::collection::vec((0_u64..20_000_000, 60_u32..1514), 1..60),
        changes in prop::collection::vec((1_u64..40_000_000, any::<bool>(), 1_u64..20_000_000), 0..12),
    ) {
        let mut at_ns = 0;
        let arrivals: Vec<(u64, u32)> = gaps
            .into_iter()
            .map(|(gap_ns, wire_bytes)| {
                at_ns += gap_ns;
                (at_ns, wire_bytes)
            })
            .collect();
        let mut steps = Steps::default();
        let mut live = Vec::new();
        let mut at_ns = 0;
        for (gap_ns, is_of_rate, value) in changes {
            at_ns += gap_ns;
            live.push((at_ns, if is_of_rate {
                steps.rates.push_back(RateChange { at_ns, link_rate_bps: value });
                rate(value)
            } else {
                steps.line.push_back(DelayStep { at_ns, delay_ns: value });
                NetworkChange::LineDelay { line: 0, delay_ns: value }
            }));
        }
        let planned = run(network(steps), &arrivals, &[]);
        let live = run(network(Steps::default()), &arrivals, &live);
        prop_assert_eq!(&planned.delivered, &live.delivered);
        let [planned, live] = [planned, live].map(|seen| seen.meter.links[0].clone());
        prop_assert_eq!(planned.busy_ns, live.busy_ns);
        prop_assert_eq!(planned.busy_capacity_bits(), live.busy_capacity_bits());
        prop_assert_eq!(planned.dropped_pkts, live.dropped_pkts);
    }
}
