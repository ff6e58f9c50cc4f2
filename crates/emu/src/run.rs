//! One run: hosts, calibration, traffic and relay together.

use std::sync::Arc;

use dumbbell_run::{Control, Output, Scenario};

use crate::calibration::{Calibration, calibrate};
use crate::clock::monotonic_ns;
use crate::congestion_controls::KernelCc;
use crate::cpu::{MachineCpu, process_cpu_ns};
use crate::error::Error;
use crate::host::Hosts;
use crate::relay::{Relay, RelayReport};
use crate::states::{Columns, States};
use crate::summarize;
use crate::traffic::{Traffic, TrafficReport};
use crate::window::with_reachable_windows;

/// From the moment that everything is ready to the start of the run, so that no thread misses it.
const LEAD_NS: u64 = 20_000_000;

/// What was measured of a run, before it is summed up.
pub(crate) struct Measured {
    /// Start of the run on the monotonic clock.
    pub(crate) epoch_ns: u64,
    pub(crate) ccs: Arc<Vec<KernelCc>>,
    pub(crate) calibration: Calibration,
    pub(crate) traffic: TrafficReport,
    pub(crate) states: Columns,
    pub(crate) relay: RelayReport,
    /// Packets that the hosts' devices dropped.
    pub(crate) host_dropped_pkts: u64,
    pub(crate) machine_cpu: MachineCpu,
    pub(crate) process_cpu_ns: u64,
    /// How long the CPU times were taken over.
    pub(crate) elapsed_ns: u64,
}

/// Runs `scenario` on this machine's Linux TCP.
///
/// # Errors
///
/// A scenario that cannot be run, a machine that cannot run it, or [`Error::Cancelled`].
pub fn run(scenario: &Scenario, control: &Control) -> Result<Output, Error> {
    scenario
        .check()
        .map_err(|refusal| Error::Refused(refusal.to_string()))?;
    let scenario = Arc::new(with_reachable_windows(scenario));
    let measured = measure(&scenario, control)?;
    summarize::output(&scenario, measured)
}

fn measure(scenario: &Arc<Scenario>, control: &Control) -> Result<Measured, Error> {
    let ccs = Arc::new(KernelCc::of_groups(scenario)?);
    let hosts = Arc::new(Hosts::new(scenario)?);
    let calibration = calibrate_idle(&hosts, scenario, control)?;

    let kernel_names: Vec<String> = ccs.iter().map(|cc| cc.kernel_name().to_owned()).collect();
    let traffic = Traffic::prepare(&hosts, scenario, &kernel_names)?;
    let mut states = States::new(scenario, &ccs, traffic.sender_sockets())?;

    let epoch_ns = monotonic_ns() + LEAD_NS;
    let end_ns = epoch_ns + scenario.duration_ns;
    let relay = Relay::start(&hosts, scenario, epoch_ns, end_ns)?;
    let (machine_before, process_before_ns) = (MachineCpu::read()?, process_cpu_ns());
    let before_ns = monotonic_ns();
    let traffic = traffic.start(epoch_ns, relay.latest_rtt_us(), states.source())?;
    traffic.wait(control)?;
    let machine_cpu = MachineCpu::read()?.since(machine_before);
    let process_cpu_ns = process_cpu_ns() - process_before_ns;
    let elapsed_ns = monotonic_ns() - before_ns;
    let traffic = traffic.finish()?;
    Ok(Measured {
        epoch_ns,
        ccs,
        calibration,
        traffic,
        states: states.take(),
        relay: relay.stop()?,
        host_dropped_pkts: hosts.dropped_pkts()?,
        machine_cpu,
        process_cpu_ns,
        elapsed_ns,
    })
}

/// Calibrates with a relay of its own, so that nothing of it is left in the run's.
fn calibrate_idle(
    hosts: &Arc<Hosts>,
    scenario: &Arc<Scenario>,
    control: &Control,
) -> Result<Calibration, Error> {
    let relay = Relay::start(hosts, scenario, monotonic_ns(), u64::MAX)?;
    let calibration = calibrate(hosts, scenario, control)?;
    relay.stop()?;
    Ok(calibration)
}
