//! What a run in a guest leaves.

use std::sync::Arc;

use dumbbell_results::Output;

use super::time_of_day::start_ns;
use super::{ENGINE, Guest};
use crate::calibration::Calibration;
use crate::capture::DrivenCapture;
use crate::error::Error;
use crate::flows_of_programs::flows_of_programs;
use crate::machine::clock::monotonic_ns;
use crate::machine::cpu::MachineCpu;
use crate::measured::Measured;
use crate::sampling::flow_report::FlowReport;
use crate::sampling::sampler::histogram_ns;
use crate::sampling::states::Columns;
use crate::summarize;
use crate::traffic::TrafficReport;

impl Guest {
    /// The run is over: what was measured.
    ///
    /// # Errors
    ///
    /// The first failure during the run.
    pub fn end(mut self, now_ns: u64) -> Result<Output, Error> {
        self.advance(now_ns);
        if let Some(error) = self.failure {
            return Err(error);
        }
        let relay = (self.relay.ok_or(Error::Cancelled)?).finish()?;
        let capture = self.capture.map(DrivenCapture::finish).transpose()?;
        let (samples, bbr_states, courses, ends, means, lost_pkts) = self.series.into_parts();
        let mut scenario = Arc::unwrap_or_clone(self.scenario);
        scenario.duration_ns = (self.end.ns().saturating_sub(self.epoch_ns)).max(1);
        let has_own_sockets = |group: usize| scenario.groups[group].has_own_sockets();
        let programs = self.programs.map_or(Vec::new(), |programs| {
            programs.summaries(self.epoch_ns, now_ns)
        });
        let flows = courses.iter().zip(&ends).zip(&means);
        let mut flows: Vec<FlowReport> = flows
            .filter(|((course, _), _)| has_own_sockets(course.group))
            .map(|((course, end), means)| FlowReport::new(course, end, means, self.epoch_ns))
            .collect();
        let (users, transfers) = (self.applications.report)
            .map(|report| (report.users, report.transfers))
            .unzip();
        let users = users.into_iter().flatten();
        flows.extend(users.map(|user| {
            let means = &means[user.flow as usize];
            FlowReport::of_user(user, means)
        }));
        flows.extend(flows_of_programs(&scenario, &self.ccs, &relay, &programs));
        flows.sort_by_key(|report| report.flow);
        let lost_pkts = courses.iter().zip(lost_pkts);
        let traffic = TrafficReport {
            samples,
            bbr_states,
            flows,
            transfers,
            sample_jitter_ns: histogram_ns(),
            missed_instants: 0,
        };
        let measured = Measured {
            epoch_ns: self.epoch_ns,
            began_ns: (!programs.is_empty()).then(|| start_ns() + self.epoch_ns),
            calibration: Calibration::not_made(&scenario),
            states: Columns {
                samples: self.algorithms.samples,
                lost_pkts: lost_pkts
                    .map(|(course, pkts)| has_own_sockets(course.group).then_some(pkts))
                    .collect(),
            },
            ccs: self.ccs,
            traffic,
            relay,
            capture,
            programs,
            host_dropped_pkts: 0,
            machine_cpu: MachineCpu::default(),
            process_cpu_ns: 0,
            elapsed_ns: monotonic_ns() - self.epoch_ns,
        };
        let mut output = summarize::output(&scenario, measured)?;
        output.summary.engine = ENGINE;
        Ok(output)
    }
}
