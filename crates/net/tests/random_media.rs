//! Properties of any chain of links of any media.

use std::collections::VecDeque;

use dumbbell_net::medium::{
    Channel, cellular, docsis, dummynet_pipe, mmwave, slot, starlink, tclink_htb, tclink_tbf,
    trace, wifi,
};
use dumbbell_net::queue::codel;
use dumbbell_net::{
    DelayLine, DropReason, Ecn, Event, Header, Hop, Limit, Link, MediumConfig, MediumSite, Network,
    Observer, Packet, QueueConfig, Site, Transmitter,
};
use proptest::prelude::*;

const CASES: u32 = 400;
const FLOWS: u32 = 3;
const MS: u64 = 1_000_000;

/// A packet's number, and whether it is the packet that entered: a driver's packets may own what a copy lacks.
#[derive(Debug)]
struct Number(u32, bool);

impl Clone for Number {
    fn clone(&self) -> Self {
        Self(self.0, false)
    }
}

impl Header for Number {
    fn is_data(&self) -> bool {
        true
    }

    fn is_forward(&self) -> bool {
        true
    }
}

#[derive(Clone, Debug)]
struct LinkPlan {
    seed: u64,
    link_rate_bps: u64,
    delay_ns: u64,
    queue: QueueConfig,
    medium: Option<MediumConfig>,
}

#[derive(Clone, Debug)]
struct Plan {
    links: Vec<LinkPlan>,
    /// Flow, gap to the packet before, ns, wire bytes.
    arrivals: Vec<(u32, u64, u32)>,
    start_ns: u64,
}

/// Any medium, acting within a case.
fn medium() -> impl Strategy<Value = MediumConfig> {
    (0..10_u8, 1..50_u64, 1..20_u64, 0..500_000_000_u64).prop_map(|(kind, a, b, ppb)| match kind {
        0 => MediumConfig::from(trace::Config {
            opportunities: vec![(b - 1, a), (a, 1 + a % 3), (b, 1)],
            ..trace::Config::default()
        }),
        1 => slot::Config {
            min_ns: b * MS,
            max_ns: Some((a + b) * MS),
            packets: (a % 2 == 0).then_some(a),
            ..slot::Config::default()
        }
        .into(),
        2 => wifi::Config {
            channel: a % 2,
            mpdus: a,
            error_ppb: ppb,
            tries: 1 + b % 4,
            stations: b % 3,
            ..wifi::Config::default()
        }
        .into(),
        3 => docsis::Config {
            map_ns: b * MS,
            ..docsis::Config::default()
        }
        .into(),
        4 => cellular::Config {
            fade_ns: (a % 3 > 0).then_some(a * MS),
            error_ppb: ppb,
            grant_min_ns: b * MS,
            grant_max_ns: (a + b) * MS,
            ..cellular::Config::default()
        }
        .into(),
        5 => mmwave::Config {
            sight_ns: a * MS,
            shadow_ns: b * MS,
            block_ns: b * MS,
            ..mmwave::Config::default()
        }
        .into(),
        6 => tclink_htb::Config {
            delay_in_queue: a % 3 > 0,
            cburst_bytes: a * 100,
        }
        .into(),
        7 => tclink_tbf::Config {
            delay_in_queue: a % 3 > 0,
            burst_bytes: 1_600 + a * 500,
        }
        .into(),
        8 => dummynet_pipe::Config {
            tick_ns: b * MS / 4,
            ..dummynet_pipe::Config::default()
        }
        .into(),
        _ => starlink::Config {
            slot_ns: 300 * MS,
            phase_ns: a * MS,
            edge_loss_ppb: ppb,
            ..starlink::Config::default()
        }
        .into(),
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let queue = (any::<bool>(), 1..60_u64).prop_map(|(is_codel, limit_pkts)| {
        if is_codel {
            QueueConfig::from(codel::Config {
                limit_pkts,
                ..codel::Config::default()
            })
        } else {
            QueueConfig::drop_tail(Limit::Packets(limit_pkts))
        }
    });
    let rate_bps = (200_000.0_f64.ln()..1e9_f64.ln()).prop_map(|log| log.exp() as u64);
    let medium = prop::option::weighted(0.85, medium());
    let link = (any::<u64>(), rate_bps, 0..30 * MS, queue, medium).prop_map(
        |(seed, link_rate_bps, delay_ns, queue, medium)| {
            let needs_head = medium.as_ref().is_some_and(MediumConfig::needs_head);
            LinkPlan {
                seed,
                link_rate_bps,
                delay_ns,
                queue: if needs_head {
                    QueueConfig::drop_tail(queue.limit())
                } else {
                    queue
                },
                medium,
            }
        },
    );
    (
        prop::collection::vec(link, 1..=4),
        prop::collection::vec((0..FLOWS, 0..5 * MS, 40..1600_u32), 1..150),
        prop_oneof![Just(0), 0..1_000_000 * MS],
    )
        .prop_map(|(links, arrivals, start_ns)| Plan {
            links,
            arrivals,
            start_ns,
        })
}

impl Plan {
    fn network(&self) -> Network<Number> {
        let link = |plan: &LinkPlan| {
            let mut link = Link::new(
                Vec::new(),
                plan.queue.build(&Site::default()),
                Transmitter::new(plan.link_rate_bps, VecDeque::new()),
            );
            if let Some(medium) = &plan.medium {
                assert_eq!(medium.check(), Ok(()));
                link.set_medium(medium.build(&MediumSite {
                    seed: plan.seed,
                    start_ns: self.start_ns,
                    link_rate_bps: plan.link_rate_bps,
                    delay_ns: plan.delay_ns,
                }));
            }
            let holds_delay = plan.medium.as_ref().is_some_and(MediumConfig::holds_delay);
            let behind_ns = if holds_delay { 0 } else { plan.delay_ns };
            (link, DelayLine::new(behind_ns))
        };
        let route = (0..self.links.len()).map(Hop::Link).collect();
        let links = self.links.iter().map(link).collect();
        let mut network = Network::new(links, Vec::new(), &[route]);
        for channel in 0..2 {
            let of_channel = |plan: &LinkPlan| plan.medium.as_ref()?.channel();
            let members = (0..).zip(&self.links).filter_map(|(index, plan)| {
                let (number, settings) = of_channel(plan)?;
                (number == channel).then_some((index, settings))
            });
            let mut shared = Channel::default();
            let members: Vec<usize> = members
                .map(|(index, settings)| {
                    shared.widen(&settings);
                    index
                })
                .collect();
            if !members.is_empty() {
                network.share_channel(&members, shared);
            }
        }
        network
    }
}

/// What was dropped or lost, and when packets were through at each link.
#[derive(Default)]
struct Log {
    gone: u64,
    done: Vec<(usize, u64, u64)>,
}

impl Observer<Number> for Log {
    fn refused(&mut self, _: u64, _: usize, _: &Packet<Number>, _: DropReason) {
        self.gone += 1;
    }

    fn dropped(&mut self, _: u64, _: usize, _: &Packet<Number>, _: DropReason) {
        self.gone += 1;
    }

    fn lost(&mut self, _: u64, _: usize, _: &Packet<Number>) {
        self.gone += 1;
    }

    fn departs(&mut self, taken_ns: u64, link: usize, _: &Packet<Number>, done_ns: u64) {
        self.done.push((link, taken_ns, done_ns));
    }
}

/// Runs `plan` until nothing moves any more; what was delivered when, ns.
fn run(plan: &Plan, log: &mut Log) -> Result<Vec<(u32, u32, u64)>, TestCaseError> {
    let mut network = plan.network();
    let mut meter = network.meter(FLOWS as usize, plan.start_ns, |_| true);
    let mut delivered = Vec::new();
    let mut at_ns = plan.start_ns;
    let mut arrivals = (0..).zip(&plan.arrivals);
    let mut entered = 0;
    loop {
        let next = arrivals.next();
        if let Some((_, &(_, gap_ns, _))) = next {
            at_ns += gap_ns;
        }
        let until_ns = next.map_or(u64::MAX >> 8, |_| at_ns);
        while let Some((now_ns, event)) = network.advance(until_ns, &mut (&mut *log, &mut meter)) {
            if let Event::Delivery(exit, _) = event {
                let packet = network.take_delivery(exit);
                prop_assert!(packet.header.1, "a copy came out");
                delivered.push((packet.flow, packet.header.0, now_ns));
            }
        }
        let mut inside = 0;
        network.for_each(&mut |_| inside += 1);
        prop_assert_eq!(entered, delivered.len() as u64 + log.gone + inside);
        let Some((number, &(flow, _, wire_bytes))) = next else {
            break;
        };
        let packet = Packet {
            flow,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: Number(number, true),
        };
        network.enter(at_ns, 0, packet, &mut (&mut *log, &mut meter));
        entered += 1;
    }
    for (link, meter) in network.links().iter().zip(&meter.links) {
        prop_assert_eq!(
            (link.backlog_pkts(), link.held_pkts()),
            (0, 0),
            "all is through"
        );
        prop_assert_eq!(meter.offered_pkts, meter.taken_pkts + meter.dropped_pkts);
    }
    Ok(delivered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Packets are conserved, stay in order, take at least the propagation, and do the same again.
    #[test]
    fn packets_are_conserved_and_in_order(plan in plan()) {
        let mut log = Log::default();
        let delivered = run(&plan, &mut log)?;
        let propagation_ns: u64 = plan.links.iter().map(|link| link.delay_ns).sum();
        let mut came_ns = plan.start_ns;
        let entered_ns: Vec<u64> = (plan.arrivals.iter())
            .map(|&(_, gap_ns, _)| {
                came_ns += gap_ns;
                came_ns
            })
            .collect();
        for flow in 0..FLOWS {
            let of_flow = delivered.iter().filter(|packet| packet.0 == flow);
            prop_assert!(of_flow.is_sorted_by_key(|packet| packet.1), "a flow is reordered");
        }
        for &(_, number, at_ns) in &delivered {
            prop_assert!(at_ns >= entered_ns[number as usize] + propagation_ns);
        }
        for &(_, taken_ns, done_ns) in &log.done {
            prop_assert!(taken_ns <= done_ns);
        }
        prop_assert_eq!(run(&plan, &mut Log::default())?, delivered);
    }
}
