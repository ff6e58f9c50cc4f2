//! From the engine's end state to the [`Summary`].

use std::collections::BTreeMap;
use std::rc::Rc;

use dumbbell_cc::Instance;
use dumbbell_net::{FlowMeter, Header as _};
use dumbbell_results::{
    ENGINE_VERSION, FlowSummary, LinkSummary, LoadedCc, Summary, bits_per_second, ratio,
};
use dumbbell_scenario::Scenario;
use dumbbell_tcp::{SackSlot, Segment};

use crate::endpoints::Endpoints;
use crate::engine::Engine;
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
        .map(|(config, (link, meter))| {
            LinkSummary::new(scenario, config, meter, link.backlog_pkts(), 0)
        })
        .collect();
    let on_path_pkts = count_on_path(engine);
    let marks = scenario.links.iter().any(|link| link.marks());
    Summary {
        engine: "simulator",
        engine_version: ENGINE_VERSION,
        seed: scenario.seed,
        duration_ns: scenario.duration_ns,
        congestion_controls: (0..)
            .zip(instances)
            .map(|(group, instance)| loaded_cc(group, instance))
            .collect(),
        flows: (0..)
            .zip(&engine.flows)
            .zip(&on_path_pkts)
            .zip(&meter.flows)
            .map(|(((index, flow), &on_path_pkts), counts)| FlowSummary {
                marked_pkts: marks.then_some(counts.marked_pkts),
                ..flow_summary(index, flow, scenario, on_path_pkts, counts)
            })
            .collect(),
        bottleneck: LinkSummary::most_used(&links),
        links,
        emulation: None,
    }
}

fn loaded_cc(group: u32, instance: &Instance) -> LoadedCc {
    LoadedCc {
        group,
        cc: instance.name().to_owned(),
        build: instance.build().to_owned(),
        params: instance.params(),
        needs_ecn: instance.needs_ecn(),
        declared: instance.declared(),
    }
}

/// Data packets of each flow that are still on their way.
fn count_on_path<T>(engine: &Engine<T>) -> Vec<u64> {
    let mut counts = vec![0; engine.flows.len()];
    let mut acks_with_blocks = 0;
    engine.network.for_each(&mut |packet| {
        if packet.header.is_data() {
            counts[packet.flow as usize] += 1;
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

fn flow_summary(
    index: u32,
    flow: &Endpoints,
    scenario: &Scenario,
    on_path_pkts: u64,
    counts: &FlowMeter,
) -> FlowSummary {
    let group = &scenario.groups[flow.group as usize];
    let sender = flow.sender.counters();
    let receiver = flow.receiver.counters();
    let end_ns = flow.finished_ns.unwrap_or(scenario.duration_ns);
    let life_ns = if flow.started {
        end_ns.saturating_sub(flow.start_ns)
    } else {
        0
    };
    let mean = |integral: u128| ratio(integral as f64, sender.active_ns as f64);
    let rtt_max_us = u64::from(flow.rtt_max_us);
    let rtt_quantile_us = |quantile| flow.rtt_us.quantile(quantile, rtt_max_us);
    FlowSummary {
        flow: index,
        group: flow.group,
        cc: flow.sender.congestion_control().name().to_owned(),
        base_rtt_us: group.shortest_base_rtt_ns(scenario.duration_ns) / 1000,
        start_us: flow.start_ns / 1000,
        end_us: end_ns / 1000,
        finished: flow.finished_ns.is_some(),
        received_bytes: receiver.received_bytes,
        goodput_bps: bits_per_second(receiver.received_bytes, life_ns),
        throughput_bps: bits_per_second(counts.forwarded_bytes, life_ns),
        rtt_mean_us: ratio(flow.rtt_sum_us as f64, flow.rtt_us.count() as f64),
        rtt_min_us: if flow.rtt_us.count() == 0 {
            0
        } else {
            u64::from(flow.rtt_min_us)
        },
        rtt_p50_us: rtt_quantile_us(0.5),
        rtt_p95_us: rtt_quantile_us(0.95),
        rtt_p99_us: rtt_quantile_us(0.99),
        rtt_max_us,
        inflight_mean_pkts: mean(sender.inflight_pkt_ns),
        outstanding_mean_pkts: mean(sender.outstanding_pkt_ns),
        cwnd_mean_pkts: mean(sender.cwnd_pkt_ns),
        cwnd_max_pkts: None,
        ssthresh_max_pkts: None,
        sent_pkts: sender.sent_pkts,
        retransmitted_pkts: sender.retransmitted_pkts,
        dropped_pkts: counts.dropped_pkts,
        marked_pkts: None,
        acks_dropped: (counts.acks_dropped > 0).then_some(counts.acks_dropped),
        lost_pkts: Some(sender.lost_pkts),
        arrived_pkts: receiver.arrived_pkts,
        on_path_pkts,
        spurious_retransmits: sender.spurious_retransmits,
        fast_recovery_count: Some(sender.fast_recovery_count),
        spurious_recovery_count: Some(sender.spurious_recovery_count),
        syn_retransmits: Some(sender.syn_retransmits),
        duplicate_pkts: Some(receiver.duplicate_pkts),
        rto_count: Some(sender.rto_count),
        spurious_rto_count: Some(sender.spurious_rto_count),
        tlp_count: Some(sender.tlp_count),
        rto_stall_max_us: Some(sender.rto_stall_max_ns / 1000),
        rto_stall_us: Some(sender.rto_stall_ns / 1000),
        cwnd_zero_max_us: Some(flow.sender.congestion_control().cwnd_zero_max_ns() / 1000)
            .filter(|&max_us| max_us > 0),
        cwnd_limited_us: sender.cwnd_limited_ns / 1000,
        rwnd_limited_us: sender.rwnd_limited_ns / 1000,
        sndbuf_limited_us: sender.sndbuf_limited_ns / 1000,
        connections: None,
        requests: None,
        application: BTreeMap::new(),
    }
}
