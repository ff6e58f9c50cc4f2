//! What was measured of a run, before it is summarized.

use std::sync::Arc;

use dumbbell_results::ProgramSummary;

use crate::bpf::congestion_controls::KernelCc;
use crate::calibration::Calibration;
use crate::capture::CaptureReport;
use crate::machine::cpu::MachineCpu;
use crate::relay::RelayReport;
use crate::sampling::states::Columns;
use crate::traffic::TrafficReport;

/// The measurements of a run.
pub(crate) struct Measured {
    /// Start of the run on the monotonic clock.
    pub(crate) epoch_ns: u64,
    /// The same since 1970, where a guest's clock says so.
    pub(crate) began_ns: Option<u64>,
    pub(crate) ccs: Arc<Vec<KernelCc>>,
    pub(crate) calibration: Calibration,
    pub(crate) traffic: TrafficReport,
    pub(crate) states: Columns,
    pub(crate) relay: RelayReport,
    /// If the run was captured.
    pub(crate) capture: Option<CaptureReport>,
    pub(crate) programs: Vec<ProgramSummary>,
    /// Packets that the hosts' devices dropped.
    pub(crate) host_dropped_pkts: u64,
    pub(crate) machine_cpu: MachineCpu,
    pub(crate) process_cpu_ns: u64,
    /// How long the CPU times were taken over.
    pub(crate) elapsed_ns: u64,
}
