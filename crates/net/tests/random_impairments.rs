//! Properties of any chain of impairments on any line of links: packets are conserved, the same happens again,
//! elements do not depend on each other's random numbers, and the order that is declared is kept.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dumbbell_net::impair::{
    ack_thinning, bleach, bursts, check_order, corrupt, duplicate, every, gilbert_elliott,
    impairments, jitter, listed, loss_state, outage, policer, random_loss, reorder, route_change,
};
use dumbbell_net::{
    DelayLine, DropReason, Ecn, Event, Header, Hop, ImpairmentConfig, Limit, Link, Network,
    Observer, Order, Packet, Place, PureAck, QueueConfig, Site, Transmitter,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const CASES: u32 = 1000;
const FLOWS: u32 = 3;
const MS: u64 = 1_000_000;

/// A packet's number; copies have the same.
#[derive(Clone, Copy, Debug)]
struct Number(u32);

impl Header for Number {
    fn is_data(&self) -> bool {
        true
    }

    fn is_forward(&self) -> bool {
        true
    }

    /// Every other packet is one.
    fn pure_ack(&self) -> Option<PureAck> {
        self.0.is_multiple_of(2).then(PureAck::default)
    }
}

fn loss() -> impl Strategy<Value = ImpairmentConfig> {
    let side = prop_oneof![
        Just(dumbbell_net::impair::Side::before),
        Just(dumbbell_net::impair::Side::behind)
    ];
    (0..10_u8, 10_000_000..300_000_000_u64, 1..20_u64, side).prop_map(
        |(kind, ppb, count, place)| match kind {
            0 => ImpairmentConfig::from(random_loss::Config {
                loss_ppb: ppb,
                max_run: (count % 2 == 0).then_some(count),
                place,
            }),
            1 => ImpairmentConfig::from(gilbert_elliott::Config {
                loss_ppb: Some(ppb),
                burst_milli: Some(1000 + 200 * count),
                place,
                ..gilbert_elliott::Config::default()
            }),
            2 => ImpairmentConfig::from(loss_state::Config {
                p13_ppb: ppb,
                p32_ppb: ppb / 2,
                p14_ppb: ppb,
                place,
                ..loss_state::Config::default()
            }),
            3 => ImpairmentConfig::from(bursts::Config {
                rate_ppb: ppb,
                most: count,
                place,
                ..bursts::Config::default()
            }),
            4 => ImpairmentConfig::from(every::Config {
                n: 1 + count,
                offset: count,
                place,
            }),
            5 => ImpairmentConfig::from(listed::Config {
                packets: vec![count, 1, 2 * count],
                flow: (count % 3 > 0).then_some(count % u64::from(FLOWS)),
                place,
                ..listed::Config::default()
            }),
            6 => ImpairmentConfig::from(outage::Config {
                off_ns: count * MS,
                on_ns: (count % 2 == 0).then_some(3 * count * MS),
                at_ns: 5 * MS,
                times: (count % 4 == 0).then_some(count),
                exponential: count % 3 == 0,
                place,
            }),
            7 => ImpairmentConfig::from(corrupt::Config {
                probability_ppb: ppb,
                max_run: (count % 2 == 0).then_some(count),
                ..corrupt::Config::default()
            }),
            8 => ImpairmentConfig::from(ack_thinning::Config {
                every: 1 + count,
                keep_news: count % 2 == 0,
                place,
            }),
            _ => ImpairmentConfig::from(policer::Config {
                rate_bps: count * 1_000_000,
                burst_bytes: 20_000,
            }),
        },
    )
}

fn change() -> impl Strategy<Value = ImpairmentConfig> {
    (
        0..5_u8,
        10_000_000..500_000_000_u64,
        1..20_u64,
        any::<bool>(),
    )
        .prop_map(|(kind, ppb, count, flag)| match kind {
            0 => ImpairmentConfig::from(duplicate::Config {
                probability_ppb: ppb,
                place: if flag {
                    dumbbell_net::impair::Side::before
                } else {
                    dumbbell_net::impair::Side::behind
                },
            }),
            1 => ImpairmentConfig::from(jitter::Config {
                normal_ns: (count % 2 == 0).then_some(count * MS / 4),
                pareto_ns: (count % 2 == 1).then_some(count * MS / 4),
                delay_ns: count * MS / 2,
                reorder: flag,
                ..jitter::Config::default()
            }),
            2 => ImpairmentConfig::from(reorder::Config {
                probability_ppb: ppb,
                gap: count,
                late_ns: flag.then_some(count * MS),
                early_ns: (!flag).then_some(count * MS),
            }),
            3 => ImpairmentConfig::from(route_change::Config {
                at_ns: count * MS,
                late_ns: 2 * MS,
                until_ns: Some(3 * count * MS),
                reorder: flag,
            }),
            _ => ImpairmentConfig::from(bleach::Config {
                probability_ppb: ppb,
                ..bleach::Config::default()
            }),
        })
}

#[derive(Clone, Debug)]
struct LinkPlan {
    link_rate_bps: u64,
    delay_ns: u64,
    limit_pkts: u64,
    /// With the seed of each.
    impairments: Vec<(ImpairmentConfig, u64)>,
}

#[derive(Clone, Debug)]
struct Plan {
    links: Vec<LinkPlan>,
    /// Flow, time after the one before it in ns, and size.
    arrivals: Vec<(u32, u64, u32)>,
}

fn chain() -> impl Strategy<Value = Vec<(ImpairmentConfig, u64)>> {
    let one = (prop_oneof![loss(), change()], any::<u64>());
    prop::collection::vec(one, 0..6).prop_filter("an order that is refused", |chain| {
        let configs: Vec<_> = chain.iter().map(|(config, _)| config.clone()).collect();
        check_order(&configs).is_ok()
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let link = (1_000_000..200_000_000_u64, 0..20 * MS, 1..60_u64, chain()).prop_map(
        |(link_rate_bps, delay_ns, limit_pkts, impairments)| LinkPlan {
            link_rate_bps,
            delay_ns,
            limit_pkts,
            impairments,
        },
    );
    let arrival = (0..FLOWS, 0..2 * MS, 40..1515_u32);
    (
        prop::collection::vec(link, 1..=3),
        prop::collection::vec(arrival, 1..150),
    )
        .prop_map(|(links, arrivals)| Plan { links, arrivals })
}

impl LinkPlan {
    fn build(&self) -> Link<Number> {
        let queue = QueueConfig::drop_tail(Limit::Packets(self.limit_pkts));
        let mut link = Link::new(
            Vec::new(),
            queue.build(&Site::default()),
            Transmitter::new(self.link_rate_bps, VecDeque::new()),
        );
        for (config, seed) in &self.impairments {
            assert_eq!(config.check(), Ok(()), "{config:?}");
            let element = config.build(*seed, 0);
            match config.place() {
                Place::BeforeQueue => link.add_impairment(element),
                Place::BehindLink => link.add_impairment_behind(element),
            }
        }
        link
    }

    fn changes_order(&self) -> bool {
        let mut impairments = self.impairments.iter();
        impairments.any(|(config, _)| config.order() == Order::Changed)
    }
}

/// Counts of a run.
#[derive(Default)]
struct Log {
    copied: u64,
    lost: u64,
    /// Numbers of packets that an impairment lost before the first link's queue, in their order.
    refused_first: Vec<u32>,
}

impl Observer<Number> for Log {
    fn refused(&mut self, _: u64, link: usize, packet: &Packet<Number>, reason: DropReason) {
        self.lost += 1;
        if link == 0 && reason == DropReason::Impairment {
            self.refused_first.push(packet.header.0);
        }
    }

    fn dropped(&mut self, _: u64, _: usize, _: &Packet<Number>, _: DropReason) {
        self.lost += 1;
    }

    fn duplicated(&mut self, _: u64, _: usize, _: &Packet<Number>) {
        self.copied += 1;
    }

    fn lost(&mut self, _: u64, _: usize, _: &Packet<Number>) {
        self.lost += 1;
    }
}

/// A packet's flow and number, and when it was delivered, ns.
type Delivered = Vec<(u32, u32, u64)>;

/// Runs `plan` until nothing moves any more.
fn run(plan: &Plan, log: &mut Log) -> Result<Delivered, TestCaseError> {
    let links: Vec<_> = (plan.links.iter())
        .map(|link| (link.build(), DelayLine::new(link.delay_ns)))
        .collect();
    let route = (0..links.len()).map(Hop::Link).collect();
    let mut network = Network::new(links, Vec::new(), &[route]);
    let mut meter = network.meter(FLOWS as usize, 0, |_| true);
    let mut delivered = Vec::new();
    let (mut at_ns, mut last_ns) = (0, 0);
    let arrivals = plan.arrivals.iter().map(Some).chain([None]);
    for (number, arrival) in (0..).zip(arrivals) {
        at_ns += arrival.map_or(u64::MAX >> 9, |&(_, gap_ns, _)| gap_ns);
        while let Some((now_ns, event)) = network.advance(at_ns, &mut (&mut *log, &mut meter)) {
            prop_assert!(now_ns >= last_ns, "time does not go back");
            last_ns = now_ns;
            if let Event::Delivery(exit, _) = event {
                let packet = network.take_delivery(exit);
                delivered.push((packet.flow, packet.header.0, now_ns));
            }
        }
        let mut inside = 0;
        network.for_each(&mut |_| inside += 1);
        prop_assert_eq!(
            u64::from(number) + log.copied,
            delivered.len() as u64 + log.lost + inside,
            "what entered or was copied is delivered, lost or inside"
        );
        if let Some(&(flow, _, wire_bytes)) = arrival {
            let packet = Packet {
                flow,
                wire_bytes,
                ecn: Ecn::Ect0,
                hop: 0,
                arrived_ns: 0,
                header: Number(number),
            };
            network.enter(at_ns, 0, packet, &mut (&mut *log, &mut meter));
        } else {
            prop_assert_eq!(inside, 0, "the end is when nothing moves");
        }
    }
    let mut entered = plan.arrivals.len() as u64;
    for meter in &meter.links {
        prop_assert!(
            meter.offered_pkts >= entered,
            "copies before the queue arrive too"
        );
        prop_assert_eq!(meter.offered_pkts, meter.taken_pkts + meter.dropped_pkts);
        let copied_before = meter.offered_pkts - entered;
        let copied_behind = meter.duplicated_pkts - copied_before;
        entered = meter.taken_pkts + copied_behind - meter.lost_behind_pkts;
    }
    prop_assert_eq!(entered, delivered.len() as u64);
    let flows = meter.flows.iter();
    let of_flows = flows.map(|flow| (flow.duplicated_pkts, flow.dropped_pkts));
    let sums = of_flows.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    prop_assert_eq!(sums, (log.copied, log.lost), "flows count the same");
    Ok(delivered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn packets_are_conserved_and_the_declared_order_is_kept(plan in plan()) {
        let mut log = Log::default();
        let delivered = run(&plan, &mut log)?;
        if !plan.links.iter().any(LinkPlan::changes_order) {
            let mut last = BTreeMap::new();
            for &(flow, number, _) in &delivered {
                let before = last.insert(flow, number);
                prop_assert!(before.is_none_or(|before| before <= number), "{number} of {flow}");
            }
        }
        prop_assert_eq!(run(&plan, &mut Log::default())?, delivered, "the same happens again");
    }

    /// What an element before the queue decides of each packet does not depend on what comes after it.
    #[test]
    fn an_element_draws_the_same_whatever_follows_it(
        mut plan in plan(),
        loss_ppb in 10_000_000..500_000_000_u64,
        seed in any::<u64>(),
    ) {
        let first = ImpairmentConfig::from(random_loss::Config {
            loss_ppb,
            ..random_loss::Config::default()
        });
        let alone = vec![(first.clone(), seed)];
        plan.links[0].impairments.retain(|(config, _)| config.place() == Place::BehindLink);
        let mut log = Log::default();
        plan.links[0].impairments.insert(0, (first, seed));
        run(&plan, &mut log)?;
        let mut log_alone = Log::default();
        plan.links[0].impairments = alone;
        run(&plan, &mut log_alone)?;
        prop_assert_eq!(log.refused_first, log_alone.refused_first);
    }
}

/// A new impairment belongs in `loss` or `change`.
#[test]
fn chains_have_every_impairment() {
    let mut runner = TestRunner::deterministic();
    let one = prop_oneof![loss(), change()];
    let found: BTreeSet<_> = (0..1000)
        .map(|_| {
            one.new_tree(&mut runner)
                .expect("it is made")
                .current()
                .name()
        })
        .collect();
    let all = impairments();
    let all: BTreeSet<_> = all.iter().map(|impairment| impairment.name).collect();
    assert_eq!(found, all);
}

/// An outage and a duplication act in the order in which they are declared.
#[test]
fn elements_act_in_the_declared_order() {
    let everything_twice = ImpairmentConfig::from(duplicate::Config {
        probability_ppb: 1_000_000_000,
        ..duplicate::Config::default()
    });
    let all_lost = ImpairmentConfig::from(outage::Config {
        off_ns: 1_000_000 * MS,
        place: dumbbell_net::impair::Side::behind,
        ..outage::Config::default()
    });
    let counts = |first: &ImpairmentConfig, second: &ImpairmentConfig| {
        let plan = Plan {
            links: vec![LinkPlan {
                link_rate_bps: 1_000_000_000,
                delay_ns: 0,
                limit_pkts: 100,
                impairments: vec![(first.clone(), 1), (second.clone(), 2)],
            }],
            arrivals: vec![(0, MS, 1000); 50],
        };
        let mut log = Log::default();
        let delivered = run(&plan, &mut log).expect("it is conserved");
        (log.copied, log.lost, delivered.len())
    };
    assert_eq!(counts(&all_lost, &everything_twice), (0, 50, 0));
    assert_eq!(counts(&everything_twice, &all_lost), (50, 100, 0));
}
