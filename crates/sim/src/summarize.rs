//! From the engine's end state to the [`Summary`].

use std::rc::Rc;

use dumbbell_cc::{Instance, Kind};
use dumbbell_net::{FlowMeter, Header as _};
use dumbbell_results::{
    ENGINE_VERSION, FlowSummary, LinkSummary, LoadedCc, QueueStatistics, RequestSummary, Summary,
    bits_per_second, ratio,
};
use dumbbell_scenario::{Group, Scenario};
use dumbbell_tcp::{ReceiverCounters, SackSlot, Segment, SenderCounters};

use crate::applications::{Books, User};
use crate::endpoints::Endpoints;
use crate::engine::Engine;
use crate::quic_flow::{self, QuicFlow};
use crate::rtt_meter::RttMeter;
use crate::tap::Tap;

/// Sums the run up.
pub(crate) fn summarize<T: Tap>(
    scenario: &Scenario,
    engine: &Engine<T>,
    instances: &[Rc<Instance>],
) -> Summary {
    let meter = &engine.watch.meter;
    let configs = scenario.network_links().into_iter();
    let measured = engine.network.links().iter().zip(&meter.links);
    let links: Vec<LinkSummary> = configs
        .zip(measured)
        .enumerate()
        .map(|(index, (config, (link, meter)))| {
            let statistics = QueueStatistics::of(link);
            LinkSummary::new(
                scenario,
                config,
                meter,
                engine.network.waiting_segments(index),
                statistics,
                0,
            )
        })
        .collect();
    let on_path = count_on_path(engine);
    let counts_of = |account: usize| Counts {
        meter: &meter.flows[account],
        on_path: on_path[account],
    };
    let transfers = engine.flows.iter().enumerate();
    let transfers =
        transfers.map(|(account, flow)| transfer_summary(flow, scenario, &counts_of(account)));
    let books = engine.applications.books();
    let users = engine.applications.users.iter().zip(&books);
    let users = (engine.flows.len()..).zip(users);
    let users = users.map(|(account, (user, books))| {
        let cc = instances[user.group as usize].name();
        user_summary(user, books, cc, scenario, &counts_of(account))
    });
    let quic = &engine.applications.quic.flows;
    let quic = (engine.flows.len() + engine.applications.users.len()..).zip(quic);
    let quic = quic.map(|(account, flow)| quic_summary(flow, scenario, &counts_of(account)));
    let mut flows: Vec<FlowSummary> = transfers.chain(users).chain(quic).collect();
    flows.sort_by_key(|flow| flow.flow);
    if !scenario.links.iter().any(|link| link.marks()) {
        for flow in &mut flows {
            flow.marked_pkts = None;
            flow.ce_arrived_pkts = None;
        }
    }
    Summary {
        engine: "simulator",
        engine_version: ENGINE_VERSION,
        seed: scenario.seed,
        duration_ns: scenario.duration_ns,
        congestion_controls: (0..)
            .zip(instances)
            .map(|(group, instance)| loaded_cc(group, instance, scenario))
            .collect(),
        flows,
        bottleneck: LinkSummary::most_used(&links),
        links,
        tcp_mem_pressure_count: engine
            .applications
            .memory
            .as_ref()
            .map(|memory| memory.pressure_count()),
        ..Summary::default()
    }
}

fn loaded_cc(group: u32, instance: &Instance, scenario: &Scenario) -> LoadedCc {
    let config = &scenario.groups[group as usize];
    if config.is_quic() {
        return loaded_over_quic(group, config, instance);
    }
    LoadedCc {
        group,
        cc: instance.name().to_owned(),
        build: instance.build().to_owned(),
        params: instance.params(),
        needs_ecn: instance.needs_ecn(),
        declared: instance.declared(),
    }
}

/// That of a QUIC flow: the stack, and either its own algorithm, which has no ops, or ours.
fn loaded_over_quic(group: u32, config: &Group, instance: &Instance) -> LoadedCc {
    let mut loaded = LoadedCc {
        group,
        cc: config.cc.name.clone(),
        build: instance.build().to_owned(),
        params: quic_flow::params(config, instance),
        needs_ecn: false,
        declared: instance.declared(),
    };
    let spec = dumbbell_quic::Spec::parse(&config.cc.name);
    if spec.as_ref().is_ok_and(|spec| spec.ours().is_none()) {
        loaded.declared.kind = Kind::Stack;
        loaded.declared.ops.clear();
    } else if let Ok(spec) = spec {
        loaded.build = format!("{}, {}", instance.build(), spec.build());
        loaded.declared.params.extend(dumbbell_quic::params(&spec));
    }
    loaded
}

/// What the network knows of a flow.
struct Counts<'a> {
    meter: &'a FlowMeter,
    on_path: OnPath,
}

/// Data packets of a flow that are still on their way.
#[derive(Clone, Copy, Debug, Default)]
struct OnPath {
    /// From sender to receiver.
    pkts: u64,
    /// From receiver to sender.
    requests: u64,
}

/// What is on its way, by the number under which it counts.
fn count_on_path<T>(engine: &Engine<T>) -> Vec<OnPath> {
    let users = engine.applications.users.len();
    let quic = engine.applications.quic.flows.len();
    let mut counts = vec![OnPath::default(); engine.flows.len() + users + quic];
    let mut acks_with_blocks = 0;
    engine.network.for_each(&mut |packet| {
        let mut account = packet.flow as usize;
        if account >= engine.flows.len() {
            account = engine.watch.connections.account(packet.flow) as usize;
        }
        if packet.header.is_data() && packet.header.is_forward() {
            counts[account].pkts += u64::from(packet.header.segments());
        } else if packet.header.is_data() {
            counts[account].requests += u64::from(packet.header.segments());
        }
        if let Segment::Ack(ack) = &packet.header {
            acks_with_blocks += usize::from(ack.sack != SackSlot::NONE);
        }
    });
    debug_assert_eq!(
        engine.watch.sacks.used(),
        acks_with_blocks,
        "SACK blocks are kept for the ACKs on their way, and for nothing else"
    );
    counts
}

/// When a flow was active.
struct Life {
    start_ns: u64,
    end_ns: u64,
    has_finished: bool,
    /// How long; 0 if it did not start.
    life_ns: u64,
    /// What the time averages are over.
    mean_ns: u64,
}

/// A flow that is one transfer.
fn transfer_summary(flow: &Endpoints, scenario: &Scenario, counts: &Counts<'_>) -> FlowSummary {
    let sender = flow.sender.counters();
    let end_ns = flow.finished_ns.unwrap_or(scenario.duration_ns);
    let life = Life {
        start_ns: flow.start_ns,
        end_ns,
        has_finished: flow.finished_ns.is_some(),
        life_ns: if flow.started {
            end_ns.saturating_sub(flow.start_ns)
        } else {
            0
        },
        mean_ns: sender.active_ns,
    };
    let cc = flow.sender.congestion_control();
    FlowSummary {
        flow: flow.flow,
        group: flow.group,
        cc: cc.name().to_owned(),
        base_rtt_us: base_rtt_us(scenario, flow.group),
        cwnd_zero_max_us: above_zero(cc.cwnd_zero_max_ns() / 1000),
        ..flow_summary(&life, sender, flow.receiver.counters(), &flow.rtt, counts)
    }
}

/// A flow of a QUIC stack.
fn quic_summary(flow: &QuicFlow, scenario: &Scenario, counts: &Counts<'_>) -> FlowSummary {
    let end_ns = flow.finished_ns.unwrap_or(scenario.duration_ns);
    let life = Life {
        start_ns: flow.start_ns,
        end_ns,
        has_finished: flow.finished_ns.is_some(),
        life_ns: if flow.has_started {
            end_ns.saturating_sub(flow.start_ns)
        } else {
            0
        },
        mean_ns: flow.sent.active_ns,
    };
    FlowSummary {
        flow: flow.flow,
        group: flow.group,
        cc: scenario.groups[flow.group as usize].cc.name.clone(),
        base_rtt_us: base_rtt_us(scenario, flow.group),
        failure: flow.failure().map(str::to_owned),
        ..flow_summary(&life, &flow.sent, &flow.arrived, &flow.rtt, counts)
    }
}

/// A flow with an application: sums over its connections.
fn user_summary(
    user: &User,
    books: &Books,
    cc: &str,
    scenario: &Scenario,
    counts: &Counts<'_>,
) -> FlowSummary {
    let has_finished = user.has_finished();
    let end_ns = if has_finished && user.opened > 0 {
        user.last_close_ns
    } else {
        scenario.duration_ns
    };
    let life_ns = if user.has_started {
        end_ns.saturating_sub(user.start_ns)
    } else {
        0
    };
    let life = Life {
        start_ns: user.start_ns,
        end_ns,
        has_finished,
        life_ns,
        mean_ns: life_ns,
    };
    let measurements = user.application.measurements(scenario.duration_ns);
    FlowSummary {
        flow: user.flow,
        group: user.group,
        cc: cc.to_owned(),
        base_rtt_us: base_rtt_us(scenario, user.group),
        cwnd_zero_max_us: above_zero(books.cwnd_zero_max_ns / 1000),
        connections: Some(user.opened),
        requests: books
            .requests
            .as_ref()
            .map(|(sent, arrived)| RequestSummary {
                received_bytes: arrived.received_bytes,
                throughput_bps: None,
                sent_pkts: sent.sent_pkts,
                retransmitted_pkts: sent.retransmitted_pkts,
                dropped_pkts: counts.meter.requests_dropped,
                duplicated_pkts: above_zero(counts.meter.requests_duplicated),
                arrived_pkts: arrived.arrived_pkts,
                ooo_dropped_pkts: above_zero(arrived.ooo_dropped_pkts),
                on_path_pkts: counts.on_path.requests,
                rto_count: Some(sent.rto_count),
            }),
        application: measurements.into_iter().collect(),
        ..flow_summary(&life, &books.sent, &books.arrived, &user.rtt, counts)
    }
}

fn base_rtt_us(scenario: &Scenario, group: u32) -> u64 {
    scenario.groups[group as usize].shortest_base_rtt_ns(scenario.duration_ns) / 1000
}

fn above_zero(count: u64) -> Option<u64> {
    Some(count).filter(|&count| count > 0)
}

/// What is summed up alike of all flows.
fn flow_summary(
    life: &Life,
    sender: &SenderCounters,
    receiver: &ReceiverCounters,
    rtt: &RttMeter,
    counts: &Counts<'_>,
) -> FlowSummary {
    let mean = |integral: u128| ratio(integral as f64, life.mean_ns as f64);
    let rtt_max_us = u64::from(rtt.max_us);
    let rtt_quantile_us = |quantile| rtt.rtt_us.quantile(quantile, rtt_max_us);
    FlowSummary {
        start_us: life.start_ns / 1000,
        end_us: life.end_ns / 1000,
        finished: life.has_finished,
        received_bytes: receiver.received_bytes,
        goodput_bps: bits_per_second(receiver.received_bytes, life.life_ns),
        throughput_bps: bits_per_second(counts.meter.forwarded_bytes, life.life_ns),
        rtt_mean_us: ratio(rtt.sum_us as f64, rtt.rtt_us.count() as f64),
        rtt_min_us: if rtt.rtt_us.count() == 0 {
            0
        } else {
            u64::from(rtt.min_us)
        },
        rtt_p50_us: rtt_quantile_us(0.5),
        rtt_p95_us: rtt_quantile_us(0.95),
        rtt_p99_us: rtt_quantile_us(0.99),
        rtt_max_us,
        inflight_mean_pkts: mean(sender.inflight_pkt_ns),
        outstanding_mean_pkts: mean(sender.outstanding_pkt_ns),
        cwnd_mean_pkts: mean(sender.cwnd_pkt_ns),
        sent_pkts: sender.sent_pkts,
        retransmitted_pkts: sender.retransmitted_pkts,
        dropped_pkts: counts.meter.dropped_pkts,
        marked_pkts: Some(counts.meter.marked_pkts),
        ce_arrived_pkts: Some(receiver.ce_pkts),
        acks_dropped: above_zero(counts.meter.acks_dropped),
        duplicated_pkts: above_zero(counts.meter.duplicated_pkts),
        lost_pkts: Some(sender.lost_pkts),
        arrived_pkts: receiver.arrived_pkts,
        on_path_pkts: counts.on_path.pkts,
        spurious_retransmits: sender.spurious_retransmits,
        fast_recovery_count: Some(sender.fast_recovery_count),
        spurious_recovery_count: Some(sender.spurious_recovery_count),
        syn_retransmits: Some(sender.syn_retransmits),
        duplicate_pkts: Some(receiver.duplicate_pkts),
        ooo_dropped_pkts: above_zero(receiver.ooo_dropped_pkts),
        rto_count: Some(sender.rto_count),
        spurious_rto_count: Some(sender.spurious_rto_count),
        tlp_count: Some(sender.tlp_count),
        rto_stall_max_us: Some(sender.rto_stall_max_ns / 1000),
        rto_stall_us: Some(sender.rto_stall_ns / 1000),
        cwnd_limited_us: sender.cwnd_limited_ns / 1000,
        rwnd_limited_us: sender.rwnd_limited_ns / 1000,
        sndbuf_limited_us: sender.sndbuf_limited_ns / 1000,
        ..FlowSummary::default()
    }
}
