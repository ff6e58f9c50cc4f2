//! What a run reports of its programs' flows.

use dumbbell_results::ProgramSummary;
use dumbbell_scenario::Scenario;

use crate::bpf::congestion_controls::KernelCc;
use crate::programs::Side;
use crate::relay::RelayReport;
use crate::sampling::flow_report::{Crossed, FlowReport};

/// A flow for each group of programs: from the start of its first client to the end of its last, if all ended before the run.
pub(crate) fn flows_of_programs(
    scenario: &Scenario,
    ccs: &[KernelCc],
    relay: &RelayReport,
    programs: &[ProgramSummary],
) -> Vec<FlowReport> {
    let mut flow = 0;
    let mut reports = Vec::new();
    for (number, group) in scenario.groups.iter().enumerate() {
        if group.program.is_some() {
            let on_path = &relay.flows[flow as usize];
            let clients = || {
                let all = programs.iter();
                all.filter(|it| it.group as usize == number && it.side == Side::Client.name())
            };
            let ns = |us: i64| u64::try_from(us).unwrap_or(0) * 1000;
            let start_ns = clients().map(|client| ns(client.start_us)).min();
            let end_ns = clients().map(|client| ns(client.end_us)).max();
            let crossed = Crossed {
                entered_pkts: on_path.entered_pkts + on_path.requests.entered_pkts,
                arrived_pkts: on_path.arrived_pkts,
                received_bytes: on_path.received_bytes + on_path.requests.received_bytes,
            };
            reports.push(FlowReport::of_program(
                (flow, number),
                ccs[number].kernel_name(),
                crossed,
                start_ns.unwrap_or(0),
                // What still ran at the end was ended after it.
                end_ns.filter(|&end_ns| end_ns <= scenario.duration_ns),
            ));
        }
        flow += group.flows;
    }
    reports
}
