//! Turns the measurements into the run's [`Output`].

use dumbbell_results::{
    CalibratedRtt, ChangeMade, Connection, ENGINE_VERSION, Emulation, FlowSummary, LinkSummary,
    Output, RequestSummary, Summary, Table, TimeSeries, bits_per_second, ratio,
};
use dumbbell_scenario::Scenario;

use crate::applications::RequestBooks;
use crate::bpf::congestion_controls::KernelCc;
use crate::error::Error;
use crate::machine::kernel;
use crate::measured::Measured;
use crate::relay::{FlowOnPath, MeasuredLink, RelayReport, RequestsOnPath};
use crate::sampling::flow_report::FlowReport;

/// A packet is late if it is late by this fraction of the smallest base RTT.
const LATE_DIVISOR: u64 = 10;

/// Summarizes the run.
pub(crate) fn output(scenario: &Scenario, mut measured: Measured) -> Result<Output, Error> {
    let emulation = emulation(scenario, &measured);
    let of_scenario = scenario.network_links();
    let of_link = |link: &MeasuredLink| {
        LinkSummary::new(
            scenario,
            of_scenario[link.index],
            &link.meter,
            link.backlog_pkts,
            link.statistics.clone(),
            measured.epoch_ns,
        )
    };
    let links: Vec<LinkSummary> = measured.relay.links.iter().map(of_link).collect();
    let summary = Summary {
        engine: "kernel",
        engine_version: ENGINE_VERSION,
        seed: scenario.seed,
        duration_ns: scenario.duration_ns,
        congestion_controls: (0..)
            .zip(measured.ccs.iter())
            .map(|(group, cc)| cc.summary(group))
            .collect(),
        flows: flows(scenario, &measured),
        bottleneck: LinkSummary::most_used(&links),
        links,
        emulation: Some(emulation),
        programs: std::mem::take(&mut measured.programs),
        ..Summary::default()
    };
    let transfers = measured.traffic.transfers.take();
    let connections = std::mem::take(&mut measured.relay.connections);
    let mut tables = if scenario.sample_interval_ns == 0 {
        Vec::new()
    } else {
        tables(scenario, measured)
    };
    if let Some(transfers) = transfers {
        tables.push(transfers.into_table());
    }
    if scenario.groups.iter().any(|group| group.program.is_some()) {
        tables.push(Connection::table_of(&connections));
    }
    Ok(Output { summary, tables })
}

fn flows(scenario: &Scenario, measured: &Measured) -> Vec<FlowSummary> {
    (0..)
        .zip(&measured.traffic.flows)
        .zip(&measured.relay.flows)
        .zip(&measured.states.lost_pkts)
        .map(|(((flow, report), on_path), &lost_pkts)| FlowSummary {
            flow,
            lost_pkts: lost_pkts.map(u64::from),
            ..flow_summary(scenario, report, on_path, &measured.ccs[report.group])
        })
        .collect()
}

fn flow_summary(
    scenario: &Scenario,
    report: &FlowReport,
    on_path: &FlowOnPath,
    cc: &KernelCc,
) -> FlowSummary {
    let application = report.application.as_ref();
    let end_ns = report.finished_ns.unwrap_or(scenario.duration_ns);
    // It may have been to start later, in a run that ended before its time.
    let start_ns = report.start_ns.min(end_ns);
    let life_ns = end_ns - start_ns;
    let rtt_us = &on_path.rtt_us;
    let rtt_max_us = u64::from(on_path.rtt_max_us);
    let rtt_quantile_us = |quantile| rtt_us.quantile(quantile, rtt_max_us);
    FlowSummary {
        group: report.group as u32,
        cc: cc.display_name(&report.kernel_cc),
        base_rtt_us: scenario.groups[report.group].shortest_base_rtt_ns(scenario.duration_ns)
            / 1000,
        start_us: start_ns / 1000,
        end_us: end_ns / 1000,
        finished: report.finished_ns.is_some(),
        received_bytes: report.received_bytes,
        goodput_bps: bits_per_second(report.received_bytes, life_ns),
        throughput_bps: bits_per_second(on_path.forwarded_bytes, life_ns),
        rtt_mean_us: ratio(on_path.rtt_sum_us as f64, rtt_us.count() as f64),
        rtt_min_us: if rtt_us.count() == 0 {
            0
        } else {
            u64::from(on_path.rtt_min_us)
        },
        rtt_p50_us: rtt_quantile_us(0.5),
        rtt_p95_us: rtt_quantile_us(0.95),
        rtt_p99_us: rtt_quantile_us(0.99),
        rtt_max_us,
        inflight_mean_pkts: report.inflight_mean_pkts,
        outstanding_mean_pkts: report.outstanding_mean_pkts,
        cwnd_mean_pkts: report.cwnd_mean_pkts,
        cwnd_max_pkts: Some(report.cwnd_max_pkts),
        ssthresh_max_pkts: Some(report.ssthresh_max_pkts),
        sent_pkts: on_path.entered_pkts,
        retransmitted_pkts: on_path.retransmitted_pkts,
        dropped_pkts: on_path.dropped_pkts,
        marked_pkts: (scenario.links.iter().any(|link| link.marks()))
            .then_some(on_path.marked_pkts),
        ce_arrived_pkts: (scenario.links.iter().any(|link| link.marks()))
            .then_some(on_path.ce_arrived_pkts),
        acks_dropped: (on_path.acks_dropped > 0).then_some(on_path.acks_dropped),
        duplicated_pkts: (on_path.duplicated_pkts > 0).then_some(on_path.duplicated_pkts),
        arrived_pkts: on_path.arrived_pkts,
        on_path_pkts: on_path.on_path_pkts(),
        spurious_retransmits: report.spurious_retransmits.unwrap_or(0),
        syn_retransmits: Some(report.syn_retransmits),
        rto_count: report.rto_count,
        cwnd_limited_us: report.cwnd_limited_us,
        rwnd_limited_us: report.rwnd_limited_us,
        sndbuf_limited_us: report.sndbuf_limited_us,
        connections: application.map(|application| application.connections),
        requests: match scenario.groups[report.group].program {
            Some(_) => {
                let has_link = !scenario.groups[report.group].back.is_empty();
                uploads(&on_path.requests, has_link.then_some(life_ns))
            }
            None => application
                .and_then(|application| application.requests)
                .map(|requests| request_summary(&requests, &on_path.requests)),
        },
        application: application
            .map(|application| application.measurements.iter().copied().collect())
            .unwrap_or_default(),
        // What the simulator alone knows. The kernel's stall is another: until the whole window is repaired.
        ..FlowSummary::default()
    }
}

fn request_summary(requests: &RequestBooks, on_path: &RequestsOnPath) -> RequestSummary {
    RequestSummary {
        received_bytes: requests.received_bytes,
        sent_pkts: on_path.entered_pkts,
        retransmitted_pkts: on_path.retransmitted_pkts,
        dropped_pkts: on_path.dropped_pkts,
        duplicated_pkts: (on_path.duplicated_pkts > 0).then_some(on_path.duplicated_pkts),
        arrived_pkts: on_path.arrived_pkts,
        on_path_pkts: on_path.on_path_pkts(),
        rto_count: Some(requests.rto_count),
        ..RequestSummary::default()
    }
}

/// What programs sent from client to server, if anything; their sockets are not ours to ask.
/// The throughput is that of the last link on their way, over the flow's time, if there is a link.
fn uploads(on_path: &RequestsOnPath, life_ns: Option<u64>) -> Option<RequestSummary> {
    let asked = RequestBooks {
        received_bytes: on_path.received_bytes,
        ..RequestBooks::default()
    };
    (on_path.entered_pkts > 0).then(|| RequestSummary {
        throughput_bps: life_ns.map(|life_ns| bits_per_second(on_path.forwarded_bytes, life_ns)),
        rto_count: None,
        ..request_summary(&asked, on_path)
    })
}

fn emulation(scenario: &Scenario, measured: &Measured) -> Emulation {
    let RelayReport {
        lateness,
        busiest_cpu_ns,
        is_realtime,
        ..
    } = &measured.relay;
    let us = |ns: u64| ns as f64 / 1000.0;
    let cores = |ns: u64| ratio(ns as f64, measured.elapsed_ns as f64);
    let jitter_ns = &measured.traffic.sample_jitter_ns;
    let machine = &measured.machine_cpu;
    // What our programs compute is not another's load.
    let programs_us = measured.programs.iter().filter_map(|it| it.cpu_us);
    let ours_ns = measured.process_cpu_ns + programs_us.sum::<u64>() * 1000;
    Emulation {
        kernel_release: kernel::release(),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        realtime: *is_realtime,
        calibrated_link_rate_bps: measured.calibration.link_rate_bps,
        calibration: (0..)
            .zip(&scenario.groups)
            .zip(&measured.calibration.base_rtt_us)
            .map(|((group, config), &measured_rtt_us)| CalibratedRtt {
                group,
                base_rtt_us: us(config.base_rtt_ns),
                measured_rtt_us,
            })
            .collect(),
        lateness_p50_us: lateness.quantile_us(0.5),
        lateness_p99_us: lateness.quantile_us(0.99),
        lateness_max_us: lateness.max_us(),
        written_pkts: lateness.written_pkts(),
        late_pkts: lateness.later_than_pkts(scenario.shortest_base_rtt_ns() / LATE_DIVISOR),
        sample_jitter_p50_us: us(jitter_ns.value_at_quantile(0.5)),
        sample_jitter_p99_us: us(jitter_ns.value_at_quantile(0.99)),
        sample_jitter_max_us: us(jitter_ns.max()),
        missed_samples: measured.traffic.missed_instants,
        relay_cpu_share: cores(*busiest_cpu_ns),
        own_cpu_cores: cores(measured.process_cpu_ns),
        other_cpu_cores: cores(machine.busy_ns.saturating_sub(ours_ns)),
        stolen_cpu_cores: cores(machine.stolen_ns),
        idle_cpu_cores: cores(machine.idle_ns),
        host_dropped_pkts: measured.host_dropped_pkts + refused_datagrams(&measured.traffic.flows),
        hosts_sent_pkts: measured
            .traffic
            .flows
            .iter()
            .map(FlowReport::sent_both_ways_pkts)
            .sum(),
        path_entered_pkts: measured
            .relay
            .flows
            .iter()
            .map(|flow| flow.entered_pkts + flow.requests.entered_pkts)
            .sum(),
        captured_pkts: measured.capture.map(|capture| capture.captured_pkts),
        capture_lost_pkts: measured.capture.map(|capture| capture.lost_pkts),
        ect1_groups: (0..)
            .zip(measured.ccs.iter())
            .filter(|(_, cc)| cc.sends_ect1())
            .map(|(group, _)| group)
            .collect(),
        began_ns: measured.began_ns,
        changes: (measured.relay.changes.iter())
            .map(|(at_ns, change)| ChangeMade {
                at_us: at_ns / 1000,
                change: change.clone(),
            })
            .collect(),
    }
}

/// Datagrams that hosts did not take from their applications.
fn refused_datagrams(flows: &[FlowReport]) -> u64 {
    let applications = flows.iter().filter_map(|flow| flow.application.as_ref());
    applications.map(|it| it.refused_datagrams).sum()
}

fn tables(scenario: &Scenario, measured: Measured) -> Vec<Table> {
    let loaded = measured.states.samples;
    let states = loaded
        .into_iter()
        .zip(measured.traffic.bbr_states)
        .zip(measured.ccs.iter())
        .map(|((loaded, own), cc)| loaded.or(own).unwrap_or_else(|| no_state(cc)))
        .collect();
    let series = TimeSeries {
        flows: measured.traffic.samples,
        queue: measured.relay.queue,
        states,
    };
    Table::of_run(scenario, series)
}

/// Without series a group has no table.
fn no_state(cc: &KernelCc) -> dumbbell_results::StateSamples {
    dumbbell_results::StateSamples::with_capacity(cc.kernel_name(), &[], 0)
}
