//! How well the kernel engine kept time, for the verdict.

use dumbbell_declare::{IF_ANY, Kind, Recorded, records};
use dumbbell_scenario::Change;
use serde::Serialize;

records! {
    /// Facts of one run on the kernel.
    pub struct Emulation: "emulation" {
        /// Release of the machine's kernel.
        kernel_release: String;
        /// CPUs of the machine.
        cpus: u32;
        /// Whether the relay ran with real-time priority.
        realtime: bool;
        /// Rate of the idle bottleneck, measured before the run.
        calibrated_link_rate_bps: f64;
        /// Base RTTs on the idle path, by group.
        calibration: Vec<CalibratedRtt>;
        /// Median of how long after it was due a packet had been written to its host, both directions.
        lateness_p50_us: f64;
        /// 99th percentile of the same.
        lateness_p99_us: f64;
        /// The largest of the same.
        lateness_max_us: f64;
        /// Packets that lateness is measured over.
        written_pkts: u64;
        /// Packets later than 10 % of the smallest base RTT.
        late_pkts: u64;
        /// Median of how far samples were from their instants.
        sample_jitter_p50_us: f64;
        /// 99th percentile of the same.
        sample_jitter_p99_us: f64;
        /// The largest of the same.
        sample_jitter_max_us: f64;
        /// Sampling instants without rows, because sampling was a whole interval late.
        missed_samples: u64;
        /// CPU time of the busier relay thread over the run's time.
        relay_cpu_share: f64;
        /// Cores that this process used on average.
        own_cpu_cores: f64;
        /// Cores that everything else used.
        other_cpu_cores: f64;
        /// Cores that the hypervisor used.
        stolen_cpu_cores: f64;
        /// Cores that were idle.
        idle_cpu_cores: f64;
        /// Packets lost between TCP and the path.
        host_dropped_pkts: u64;
        /// Data packets that the hosts' TCP says it sent.
        hosts_sent_pkts: u64;
        /// Data packets that entered the path.
        path_entered_pkts: u64;
        /// Packets in the capture, counted at each point; null without a capture.
        captured_pkts: Option<u64>;
        /// Packets missing because the capture could not be written fast enough; null without a capture.
        capture_lost_pkts: Option<u64>;
        /// Groups whose packets the relay gave ECT(1) where their hosts sent ECT(0), because Linux does so after the
        /// handshake ([prague.md](prague.md#on-the-kernel)).
        ect1_groups: Vec<u32>;
        /// When the run began, since 1970, by the clock of the guest's programs; only if there were any.
        began_ns: Option<u64>, IF_ANY;
        /// What was changed of the path during the run, only if something was: `at_us`, from the start of the run,
        /// `kind` (`rate`, `delay`, `loss`, `base_rtt`), and the link or group (null: all) with its new value. The
        /// scenario is what was asked for; capacities and base RTTs of the results follow the changes of rates and base
        /// RTTs.
        changes: Vec<ChangeMade>, IF_ANY;
    }
}

records! {
    /// Base RTT of a group's path.
    pub struct CalibratedRtt: "calibrated_rtt" {
        /// Index of the group.
        group: u32;
        /// Base RTT as configured.
        base_rtt_us: f64;
        /// Base RTT as TCP measured it on the idle path, without the SYN's time on the link.
        measured_rtt_us: f64;
    }
}

/// A change of the path, and when it was made.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeMade {
    /// Time from the start of the run.
    pub at_us: u64,
    /// What was changed.
    #[serde(flatten)]
    pub change: Change,
}

impl Recorded for ChangeMade {
    const KIND: Kind = Kind::Object;
}
