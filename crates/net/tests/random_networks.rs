//! Properties of any network: up to eight links, four routes, every discipline and impairment.

use std::collections::{BTreeMap, VecDeque};

use crate::any_queue::queue_named;
use dumbbell_net::queue::disciplines;
use dumbbell_net::{
    DelayLine, DropReason, Ecn, Event, Header, Hop, Impairment, Limit, Link, Network, Observer,
    Packet, Policer, QueueConfig, RandomLoss, Site, Transmitter,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const CASES: u32 = 1000;
const FLOWS: u32 = 5;
const NS_PER_S: u128 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// A packet's number.
#[derive(Clone, Copy, Debug)]
struct Number(u32);

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
    loss: Option<(u32, u64)>,
    policer: Option<(u64, u64)>,
}

#[derive(Clone, Debug)]
struct Arrival {
    flow: u32,
    at_ns: u64,
    route: usize,
    wire_bytes: u32,
    ecn: Ecn,
}

impl Arrival {
    /// The packet with that number.
    fn packet(&self, number: u32) -> Packet<Number> {
        Packet {
            flow: self.flow,
            wire_bytes: self.wire_bytes,
            ecn: self.ecn,
            hop: 0,
            arrived_ns: 0,
            header: Number(number),
        }
    }
}

/// A network and what enters it.
#[derive(Clone, Debug)]
struct Plan {
    links: Vec<LinkPlan>,
    lines_ns: Vec<u64>,
    routes: Vec<Vec<Hop>>,
    arrivals: Vec<Arrival>,
}

/// Any of all disciplines that there are.
fn queue() -> impl Strategy<Value = QueueConfig> {
    let all = disciplines();
    let names: Vec<_> = all.iter().map(|discipline| discipline.name).collect();
    select(names).prop_flat_map(queue_named)
}

fn rate_bps() -> impl Strategy<Value = u64> {
    (100_000.0_f64.ln()..10e9_f64.ln()).prop_map(|log| log.exp() as u64)
}

fn link() -> impl Strategy<Value = LinkPlan> {
    let loss = prop::option::weighted(0.3, (0..300_000_000_u32, any::<u64>()));
    let policer = prop::option::weighted(0.2, (rate_bps(), 1_000..50_000_u64));
    (
        any::<u64>(),
        rate_bps(),
        prop_oneof![Just(0), 0..50_000_000_u64],
        queue(),
        loss,
        policer,
    )
        .prop_map(
            |(seed, link_rate_bps, delay_ns, queue, loss, policer)| LinkPlan {
                seed,
                link_rate_bps,
                delay_ns,
                queue,
                loss,
                policer,
            },
        )
}

/// A route over some of the links, each once, between delay lines or not.
fn route(links: usize, lines: usize) -> impl Strategy<Value = Vec<Hop>> {
    let all: Vec<usize> = (0..links).collect();
    (
        Just(all).prop_shuffle(),
        any::<Index>(),
        prop::option::of(0..lines),
        prop::option::of(0..lines),
    )
        .prop_map(|(order, count, before, after)| {
            let links = &order[..=count.index(order.len())];
            let before = before.map(Hop::Line);
            let links = links.iter().map(|&link| Hop::Link(link));
            let hops = before.into_iter().chain(links);
            hops.chain(after.map(Hop::Line)).collect()
        })
}

fn plan() -> impl Strategy<Value = Plan> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0)];
    let arrival = (
        0..FLOWS,
        0..3_000_000_u64,
        any::<Index>(),
        40..9000_u32,
        ecn,
    );
    (
        prop::collection::vec(link(), 1..=8),
        prop::collection::vec(0..50_000_000_u64, 1..=4),
    )
        .prop_flat_map(move |(links, lines_ns)| {
            let routes = prop::collection::vec(route(links.len(), lines_ns.len()), 1..=4);
            let arrivals = prop::collection::vec(arrival.clone(), 1..200);
            (Just(links), Just(lines_ns), routes, arrivals)
        })
        .prop_map(|(links, lines_ns, routes, arrivals)| {
            let mut at_ns = 0;
            let arrivals = arrivals
                .into_iter()
                .map(|(flow, gap_ns, route, wire_bytes, ecn)| {
                    at_ns += gap_ns;
                    Arrival {
                        flow,
                        at_ns,
                        route: route.index(routes.len()),
                        wire_bytes,
                        ecn,
                    }
                })
                .collect();
            Plan {
                links,
                lines_ns,
                routes,
                arrivals,
            }
        })
}

impl Plan {
    fn network(&self) -> Network<Number> {
        let link = |plan: &LinkPlan| {
            let site = Site {
                seed: plan.seed,
                ..Site::default()
            };
            let loss = plan.loss.map(|(loss_ppb, seed)| {
                let loss = RandomLoss::new(loss_ppb, seed);
                Impairment::random_loss(loss)
            });
            let policer = plan.policer.map(|(rate_bps, burst_bytes)| {
                let policer = Policer::new(rate_bps, burst_bytes);
                Impairment::policer(policer)
            });
            let link = Link::new(
                loss.into_iter().chain(policer).collect(),
                plan.queue.build(&site),
                Transmitter::new(plan.link_rate_bps, VecDeque::new()),
            );
            (link, DelayLine::new(plan.delay_ns))
        };
        Network::new(
            self.links.iter().map(link).collect(),
            self.lines_ns
                .iter()
                .map(|&delay_ns| DelayLine::new(delay_ns))
                .collect(),
            &self.routes,
        )
    }

    /// Makes every time a multiple of 1 ms, so that much happens at the same time.
    fn round_to_ms(&mut self) {
        for link in &mut self.links {
            (link.link_rate_bps, link.delay_ns) =
                (8_000_000, link.delay_ns / NS_PER_MS * NS_PER_MS);
        }
        for delay_ns in &mut self.lines_ns {
            *delay_ns = *delay_ns / NS_PER_MS * NS_PER_MS;
        }
        for arrival in &mut self.arrivals {
            (arrival.wire_bytes, arrival.at_ns) = (1000, arrival.at_ns / NS_PER_MS * NS_PER_MS);
        }
    }

    /// Both side by side, sharing nothing; and which of the packets are the own ones.
    fn beside(&self, other: &Self) -> (Self, Vec<bool>) {
        let shift = |hop: &Hop| match *hop {
            Hop::Link(link) => Hop::Link(link + self.links.len()),
            Hop::Line(line) => Hop::Line(line + self.lines_ns.len()),
        };
        let others = other.arrivals.iter().map(|arrival| Arrival {
            route: arrival.route + self.routes.len(),
            ..arrival.clone()
        });
        let own = self.arrivals.iter().map(|arrival| (arrival.clone(), true));
        let mut arrivals: Vec<(Arrival, bool)> =
            own.chain(others.map(|other| (other, false))).collect();
        arrivals.sort_by_key(|(arrival, _)| arrival.at_ns);
        let (arrivals, is_own) = arrivals.into_iter().unzip();
        let routes = other
            .routes
            .iter()
            .map(|hops| hops.iter().map(shift).collect());
        let plan = Self {
            links: [self.links.clone(), other.links.clone()].concat(),
            lines_ns: [self.lines_ns.clone(), other.lines_ns.clone()].concat(),
            routes: self.routes.iter().cloned().chain(routes).collect(),
            arrivals,
        };
        (plan, is_own)
    }
}

/// What `plan` leads to, and the number of events: packets by the time of their delivery, stays at links, and what the
/// meter counted, looked at while packets are under way and at the end.
fn outcome(plan: &Plan, foresees: bool) -> (String, u64) {
    let (mut network, mut log) = (plan.network(), Log::default());
    network.count_by_route();
    if foresees {
        network.foresee();
    }
    let mut meter = network.meter(FLOWS as usize, 0, |_| true);
    let (mut seen, mut events) = (Vec::new(), 0);
    let ends = [u64::MAX >> 8];
    let times_ns = plan
        .arrivals
        .iter()
        .map(|arrival| arrival.at_ns)
        .chain(ends);
    for (number, until_ns) in (0..).zip(times_ns) {
        while let Some((now_ns, event)) = network.advance(until_ns, &mut (&mut log, &mut meter)) {
            events += 1;
            if let Event::Delivery(exit, _) = event {
                let packet = network.take_delivery(exit);
                seen.push((packet.header.0, now_ns));
            }
        }
        network.settle(until_ns + 1, &mut (&mut log, &mut meter));
        let waiting = (0..plan.links.len()).map(|link| network.waiting_segments(link));
        seen.extend(waiting.map(|waiting| (u32::MAX, waiting)));
        for link in network.links() {
            let waiting = (0..plan.routes.len()).map(|route| link.backlog_of_route_bytes(route));
            seen.extend(waiting.map(|waiting| (u32::MAX, waiting)));
        }
        let Some(arrival) = plan.arrivals.get(number as usize) else {
            continue;
        };
        network.close_books(until_ns, &mut (&mut log, &mut meter));
        let packet = arrival.packet(number);
        let observer = &mut (&mut log, &mut meter);
        network.enter(until_ns, arrival.route, packet, observer);
    }
    (format!("{seen:?} {:?} {meter:?}", log.visits), events)
}

/// A packet's stay at a link, ns.
#[derive(Clone, Copy, Debug)]
struct Visit {
    link: usize,
    arrived_ns: u64,
    /// When its first and its last bit went on the wire.
    wire_ns: Option<(u64, u64)>,
}

/// Everything that happened.
#[derive(Default)]
struct Log {
    visits: BTreeMap<u32, Vec<Visit>>,
    dropped: u64,
    arrived: BTreeMap<usize, u64>,
    departed: BTreeMap<usize, u64>,
    dropped_at: BTreeMap<usize, u64>,
}

impl Log {
    fn drops(&mut self, link: usize) {
        self.dropped += 1;
        *self.dropped_at.entry(link).or_default() += 1;
    }
}

impl Observer<Number> for Log {
    fn arrives(&mut self, now_ns: u64, link: usize, packet: &Packet<Number>) {
        *self.arrived.entry(link).or_default() += 1;
        let visit = Visit {
            link,
            arrived_ns: now_ns,
            wire_ns: None,
        };
        self.visits.entry(packet.header.0).or_default().push(visit);
    }

    fn refused(&mut self, _: u64, link: usize, _: &Packet<Number>, _: DropReason) {
        self.drops(link);
    }

    fn dropped(&mut self, _: u64, link: usize, _: &Packet<Number>, _: DropReason) {
        self.drops(link);
    }

    fn departs(&mut self, now_ns: u64, link: usize, packet: &Packet<Number>, done_ns: u64) {
        *self.departed.entry(link).or_default() += 1;
        let visits = self.visits.get_mut(&packet.header.0);
        let visit = visits.and_then(|visits| visits.last_mut());
        visit.expect("it arrived").wire_ns = Some((now_ns, done_ns));
    }
}

/// Runs `plan` until nothing moves any more; returns when each packet was delivered, ns, in order.
fn run(plan: &Plan, log: &mut Log) -> Result<Vec<(u32, u64)>, TestCaseError> {
    let mut network = plan.network();
    network.count_by_route();
    let mut meter = network.meter(FLOWS as usize, 0, |_| true);
    let mut delivered = Vec::new();
    let never_ns = u64::MAX >> 8;
    let mut entered = 0;
    let mut arrivals = (0..).zip(&plan.arrivals).peekable();
    loop {
        let until_ns = arrivals.peek().map_or(never_ns, |(_, next)| next.at_ns);
        while let Some((now_ns, event)) = network.advance(until_ns, &mut (&mut *log, &mut meter)) {
            if let Event::Delivery(exit, _) = event {
                let packet = network.take_delivery(exit);
                delivered.push((packet.header.0, now_ns));
            }
        }
        let mut inside = 0;
        network.for_each(&mut |_| inside += 1);
        prop_assert_eq!(
            entered,
            delivered.len() as u64 + log.dropped + inside,
            "what entered is delivered, dropped or inside"
        );
        for link in network.links() {
            let mut waiting = vec![0; plan.routes.len()];
            link.for_each(&mut |packet| {
                let route = plan.arrivals[packet.header.0 as usize].route;
                waiting[route] += u64::from(packet.wire_bytes);
            });
            let counted = (0..waiting.len()).map(|route| link.backlog_of_route_bytes(route));
            prop_assert_eq!(counted.collect::<Vec<_>>(), waiting, "what waits, by route");
        }
        let Some((number, arrival)) = arrivals.next() else {
            break;
        };
        let packet = arrival.packet(number);
        let observer = &mut (&mut *log, &mut meter);
        network.enter(arrival.at_ns, arrival.route, packet, observer);
        entered += 1;
    }
    for (index, (link, meter)) in network.links().iter().zip(&meter.links).enumerate() {
        let count = |counts: &BTreeMap<usize, u64>| counts.get(&index).copied().unwrap_or(0);
        prop_assert_eq!(link.backlog_pkts(), 0, "the end is when nothing waits");
        let counts = [&log.arrived, &log.departed, &log.dropped_at].map(count);
        prop_assert_eq!(counts[0], counts[1] + counts[2]);
        let metered = [meter.offered_pkts, meter.taken_pkts, meter.dropped_pkts];
        prop_assert_eq!(metered, counts, "the meter counts the same");
    }
    Ok(delivered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Packets are conserved at every link and in all; a packet's way is waiting, serialisation and
    /// propagation, without a nanosecond between them; and the same happens again.
    #[test]
    fn every_nanosecond_of_a_packet_s_way_is_accounted_for(plan in plan()) {
        let mut log = Log::default();
        let delivered = run(&plan, &mut log)?;
        for &(number, delivered_ns) in &delivered {
            let arrival = &plan.arrivals[number as usize];
            let mut visits = log.visits.remove(&number).unwrap_or_default().into_iter();
            let mut now_ns = arrival.at_ns;
            let (mut queueing_ns, mut wire_ns, mut propagation_ns) = (0, 0, 0);
            for &hop in &plan.routes[arrival.route] {
                let delay_ns = match hop {
                    Hop::Line(line) => plan.lines_ns[line],
                    Hop::Link(link) => {
                        let visit = visits.next().expect("it passed every link");
                        prop_assert_eq!((visit.link, visit.arrived_ns), (link, now_ns));
                        let (start_ns, done_ns) = visit.wire_ns.expect("it left every link");
                        let bit_ns = u128::from(arrival.wire_bytes) * 8 * NS_PER_S;
                        let exact_ns = (bit_ns / u128::from(plan.links[link].link_rate_bps)) as u64;
                        let took_ns = done_ns - start_ns;
                        prop_assert!(took_ns == exact_ns || took_ns == exact_ns + 1);
                        queueing_ns += start_ns - visit.arrived_ns;
                        wire_ns += took_ns;
                        now_ns = done_ns;
                        plan.links[link].delay_ns
                    }
                };
                propagation_ns += delay_ns;
                now_ns += delay_ns;
            }
            prop_assert!(visits.next().is_none(), "it passed no other link");
            prop_assert_eq!(now_ns, delivered_ns);
            prop_assert_eq!(
                delivered_ns - arrival.at_ns,
                queueing_ns + wire_ns + propagation_ns
            );
        }
        prop_assert_eq!(run(&plan, &mut Log::default())?, delivered);
    }

    /// A network whose plain links have no events delivers the same at the same times and counts the same.
    #[test]
    fn links_without_events_do_the_same(
        plan in plan(),
        drop_tail in prop::array::uniform8(any::<bool>()),
        limit_pkts in 1_u64..20,
        coincide in any::<bool>(),
    ) {
        let mut plan = plan;
        for (link, _) in plan.links.iter_mut().zip(drop_tail).filter(|(_, is)| *is) {
            link.queue = QueueConfig::drop_tail(Limit::Packets(limit_pkts));
            link.policer = None;
        }
        if coincide {
            plan.round_to_ms();
        }
        let (with_events, all) = outcome(&plan, false);
        let (without, fewer) = outcome(&plan, true);
        prop_assert_eq!(without, with_events);
        prop_assert!(fewer <= all);
        let is_used = plan.routes[plan.arrivals[0].route][0] == Hop::Link(0);
        prop_assert!(!(drop_tail[0] && is_used) || fewer < all, "a plain link has fewer events");
    }

    /// Two networks that share nothing do in one what they do alone.
    #[test]
    fn networks_that_share_nothing_do_not_see_each_other(one in plan(), other in plan()) {
        let (both, is_own) = one.beside(&other);
        // Numbers of each part, in the numbers of both.
        let numbers = |own: bool| -> Vec<u32> {
            let all = (0..).zip(&is_own);
            all.filter(|&(_, &is_own)| is_own == own).map(|(number, _)| number).collect()
        };
        // Which packets of one time go first is decided among all elements; compare by packet.
        let together: BTreeMap<u32, u64> =
            run(&both, &mut Log::default())?.into_iter().collect();
        let mut alone = BTreeMap::new();
        for (plan, own) in [(&one, true), (&other, false)] {
            let numbers = numbers(own);
            for (number, at_ns) in run(plan, &mut Log::default())? {
                alone.insert(numbers[number as usize], at_ns);
            }
        }
        prop_assert_eq!(together, alone);
    }
}
