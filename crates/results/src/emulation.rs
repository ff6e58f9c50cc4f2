//! How well the kernel engine kept time, for the verdict.

use dumbbell_scenario::Change;
use serde::Serialize;

/// Facts of one run on the kernel.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "names and units say it; docs/format-run.md has the table"
)]
pub struct Emulation {
    pub kernel_release: String,
    pub cpus: u32,
    /// The relay ran with real-time priority.
    pub realtime: bool,
    /// Measured on the idle path before the run.
    pub calibrated_link_rate_bps: f64,
    pub calibration: Vec<CalibratedRtt>,
    /// Writing of a packet to its host against when it was due, both directions.
    pub lateness_p50_us: f64,
    pub lateness_p99_us: f64,
    pub lateness_max_us: f64,
    pub written_pkts: u64,
    /// Packets later than a tenth of the smallest base RTT.
    pub late_pkts: u64,
    /// Sampling against the sampling instants.
    pub sample_jitter_p50_us: f64,
    pub sample_jitter_p99_us: f64,
    pub sample_jitter_max_us: f64,
    /// Sampling instants without rows, because sampling was that late.
    pub missed_samples: u64,
    /// CPU time of the busier relay thread over the run's time.
    pub relay_cpu_share: f64,
    /// Cores that this process, everything else and the hypervisor's other guests took on average.
    pub own_cpu_cores: f64,
    pub other_cpu_cores: f64,
    pub stolen_cpu_cores: f64,
    pub idle_cpu_cores: f64,
    /// Packets that the hosts' devices dropped: lost between TCP and the path.
    pub host_dropped_pkts: u64,
    /// Data packets that the hosts' TCP says it sent.
    pub hosts_sent_pkts: u64,
    /// Data packets that entered the path.
    pub path_entered_pkts: u64,
    /// Packets in the capture, one that passes several points at each; `None` without a capture.
    pub captured_pkts: Option<u64>,
    /// Packets that are missing from it, because writing did not keep up.
    pub capture_lost_pkts: Option<u64>,
    /// Groups whose packets the relay gave ECT(1) where their hosts sent ECT(0).
    pub ect1_groups: Vec<u32>,
    /// What was changed of the path during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeMade>,
}

/// A change of the path, and when it was made.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names and units say it")]
pub struct ChangeMade {
    /// From the start of the run.
    pub at_us: u64,
    #[serde(flatten)]
    pub change: Change,
}

/// Base RTT of a group's path.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names and units say it")]
pub struct CalibratedRtt {
    pub group: u32,
    /// Base RTT as configured, µs.
    pub base_rtt_us: f64,
    /// RTT as TCP measured it on the idle path, µs.
    pub measured_rtt_us: f64,
}
