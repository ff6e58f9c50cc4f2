//! From the engine's end state to the [`Summary`].

use std::rc::Rc;

use dumbbell_cc::Instance;
use hdrhistogram::Histogram;

use crate::endpoints::Endpoints;
use crate::engine::Engine;
use crate::scenario::{Queue, Scenario};
use crate::summary::{BottleneckSummary, FlowSummary, LoadedCc, Summary};

/// Version of the simulator, part of every result's provenance.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Sums the run up; empties the bottleneck's queue to count what was left on the path.
pub(crate) fn summarize(
    scenario: &Scenario,
    engine: &mut Engine,
    instances: &[Rc<Instance>],
) -> Summary {
    let bottleneck = bottleneck_summary(scenario, engine);
    let on_path_pkts = count_on_path(engine);
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
            .zip(&engine.bottleneck.flow_dropped_pkts)
            .map(|(((index, flow), &on_path_pkts), &dropped_pkts)| {
                flow_summary(index, flow, engine.end_ns, on_path_pkts, dropped_pkts)
            })
            .collect(),
        bottleneck,
    }
}

fn loaded_cc(group: u32, instance: &Instance) -> LoadedCc {
    LoadedCc {
        group,
        cc: instance.name().to_owned(),
        build: instance.build().to_owned(),
        params: instance.params(),
    }
}

/// Data packets of each flow that are still on their way.
fn count_on_path(engine: &mut Engine) -> Vec<u64> {
    let mut counts = vec![0; engine.flows.len()];
    let queued = engine.bottleneck.drain(engine.end_ns);
    let access = engine
        .path
        .classes
        .iter()
        .flat_map(|class| class.access.iter());
    for packet in queued
        .iter()
        .chain(access)
        .chain(engine.path.forward.iter())
    {
        if !packet.header.syn {
            counts[packet.flow as usize] += 1;
        }
    }
    counts
}

fn flow_summary(
    index: u32,
    flow: &Endpoints,
    run_end_ns: u64,
    on_path_pkts: u64,
    dropped_pkts: u64,
) -> FlowSummary {
    let sender = flow.sender.counters();
    let receiver = flow.receiver.counters();
    let end_ns = flow.finished_ns.unwrap_or(run_end_ns);
    let life_ns = if flow.started {
        end_ns.saturating_sub(flow.start_ns)
    } else {
        0
    };
    let mean = |integral: u128| ratio(integral as f64, sender.active_ns as f64);
    FlowSummary {
        flow: index,
        group: flow.group,
        cc: flow.sender.congestion_control().name().to_owned(),
        base_rtt_us: flow.base_rtt_ns / 1000,
        start_us: flow.start_ns / 1000,
        end_us: end_ns / 1000,
        finished: flow.finished_ns.is_some(),
        received_bytes: receiver.received_bytes,
        goodput_bps: bits_per_second(receiver.received_bytes, life_ns),
        throughput_bps: bits_per_second(flow.forwarded_bytes, life_ns),
        rtt_mean_us: ratio(flow.rtt_sum_us as f64, flow.rtt_us.len() as f64),
        rtt_min_us: if flow.rtt_us.is_empty() {
            0
        } else {
            u64::from(flow.rtt_min_us)
        },
        rtt_p50_us: quantile(&flow.rtt_us, 0.5),
        rtt_p95_us: quantile(&flow.rtt_us, 0.95),
        rtt_p99_us: quantile(&flow.rtt_us, 0.99),
        rtt_max_us: u64::from(flow.rtt_max_us),
        inflight_mean_pkts: mean(sender.inflight_pkt_ns),
        outstanding_mean_pkts: mean(sender.outstanding_pkt_ns),
        cwnd_mean_pkts: mean(sender.cwnd_pkt_ns),
        sent_pkts: sender.sent_pkts,
        retransmitted_pkts: sender.retransmitted_pkts,
        dropped_pkts,
        lost_pkts: sender.lost_pkts,
        arrived_pkts: receiver.arrived_pkts,
        on_path_pkts,
        spurious_retransmits: sender.spurious_retransmits,
        fast_recovery_count: sender.fast_recovery_count,
        spurious_recovery_count: sender.spurious_recovery_count,
        syn_retransmits: sender.syn_retransmits,
        duplicate_pkts: receiver.duplicate_pkts,
        rto_count: sender.rto_count,
        spurious_rto_count: sender.spurious_rto_count,
        tlp_count: sender.tlp_count,
        rto_stall_max_us: sender.rto_stall_max_ns / 1000,
        rto_stall_us: sender.rto_stall_ns / 1000,
        cwnd_limited_us: sender.cwnd_limited_ns / 1000,
        rwnd_limited_us: sender.rwnd_limited_ns / 1000,
        sndbuf_limited_us: sender.sndbuf_limited_ns / 1000,
    }
}

fn bottleneck_summary(scenario: &Scenario, engine: &mut Engine) -> BottleneckSummary {
    let end_ns = engine.end_ns;
    let backlog_byte_ns = engine.bottleneck.backlog_byte_ns(end_ns);
    let bottleneck = &engine.bottleneck;
    let (forwarded_pkts, forwarded_bytes) = bottleneck.forwarded(end_ns);
    let (limit_bytes, limit_pkts) = match scenario.bottleneck.queue {
        Queue::Bfifo { limit_bytes } => (Some(limit_bytes), None),
        Queue::Pfifo { limit_pkts } => (None, Some(limit_pkts)),
    };
    let link_rate_bps = scenario.bottleneck.link_rate_bps;
    BottleneckSummary {
        link_rate_bps,
        base_rtt_us: scenario
            .groups
            .iter()
            .map(|group| group.base_rtt_ns)
            .min()
            .unwrap_or(0)
            / 1000,
        limit_bytes,
        limit_pkts,
        offered_pkts: bottleneck.offered_pkts,
        forwarded_pkts,
        forwarded_bytes,
        dropped_pkts: bottleneck.dropped_pkts,
        dropped_bytes: bottleneck.dropped_bytes,
        busy_us: bottleneck.busy_ns / 1000,
        left_pkts: bottleneck.backlog_pkts() + bottleneck.taken_pkts - forwarded_pkts,
        utilization: bits_per_second(forwarded_bytes, end_ns) / link_rate_bps as f64,
        queue_delay_mean_us: ratio(
            bottleneck.sojourn_sum_ns as f64 / 1000.0,
            bottleneck.taken_pkts as f64,
        ),
        queue_delay_p50_us: quantile(&bottleneck.sojourn_us, 0.5),
        queue_delay_p95_us: quantile(&bottleneck.sojourn_us, 0.95),
        queue_delay_p99_us: quantile(&bottleneck.sojourn_us, 0.99),
        queue_delay_max_us: bottleneck.sojourn_max_us,
        backlog_mean_bytes: ratio(backlog_byte_ns as f64, end_ns as f64),
        backlog_max_bytes: bottleneck.backlog_max_bytes,
    }
}

fn quantile(histogram: &Histogram<u32>, quantile: f64) -> u64 {
    histogram.value_at_quantile(quantile)
}

fn bits_per_second(bytes: u64, time_ns: u64) -> f64 {
    ratio(bytes as f64 * 8e9, time_ns as f64)
}

/// `amount / of`, 0 where there is nothing to divide by.
fn ratio(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 0.0 }
}
