//! One run: hosts, calibration, traffic and relay together.

use std::sync::Arc;

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Output;
use dumbbell_scenario::{Control, Group, ReceiverKind, Scenario};

use crate::bpf::congestion_controls::KernelCc;
use crate::calibration::{Calibration, calibrate};
use crate::capture::Capture;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::machine::clock::monotonic_ns;
use crate::machine::cpu::{MachineCpu, process_cpu_ns};
use crate::machine::file_limit::{raise_file_limit, raise_file_limit_to_the_hard_one};
use crate::measured::Measured;
use crate::receive_window::with_reachable_windows;
use crate::relay::{Relay, parts};
use crate::sampling::states::States;
use crate::summarize;
use crate::traffic::{Path, Traffic};

/// From the moment that everything is ready to the start of the run, so that no thread misses it.
const LEAD_NS: u64 = 20_000_000;

/// Linux's TCP_MIN_MSS; and the largest that fits, with headers, in the 16 bits of a frame's
/// length.
const MIN_MSS_BYTES: u32 = 88;
const MAX_MSS_BYTES: u32 = 65_000;

/// Files open in a flow: the sender's and the receiver's socket.
const FILES_PER_FLOW: u64 = 2;
/// In a group: two namespaces, two devices, listening and calibrating sockets.
const FILES_PER_GROUP: u64 = 16;

/// Runs `scenario` on this machine's Linux TCP, and captures its packets if `capture` is given.
///
/// # Errors
///
/// A scenario that cannot be run, a machine that cannot run it, a capture that cannot be written, or
/// [`Error::Cancelled`].
pub fn run(
    scenario: &Scenario,
    control: &Control,
    capture: Option<&CaptureConfig>,
) -> Result<Output, Error> {
    scenario
        .check()
        .map_err(|refusal| Error::Refused(refusal.to_string()))?;
    check_mss(scenario)?;
    check_receive_offload(scenario)?;
    check_ooo_limit(scenario)?;
    check_super_packets(scenario)?;
    check_hosts(scenario)?;
    let scenario = Arc::new(with_reachable_windows(&scenario.with_drawn_rtts()));
    let measured = measure(&scenario, control, capture)?;
    summarize::output(&scenario, measured)
}

/// Rejects segments that no TUN device carries.
fn check_mss(scenario: &Scenario) -> Result<(), Error> {
    for group in &scenario.groups {
        if !(MIN_MSS_BYTES..=MAX_MSS_BYTES).contains(&group.mss_bytes) {
            return Err(Error::Refused(format!(
                "mss `{}B` of `{}` is not supported by the kernel engine; use `{MIN_MSS_BYTES}B` to `{MAX_MSS_BYTES}B`",
                group.mss_bytes, group.cc.name
            )));
        }
    }
    Ok(())
}

/// Rejects receive offload: the relay writes segments one or two at a time, which Linux's GRO does not join.
fn check_receive_offload(scenario: &Scenario) -> Result<(), Error> {
    let Some(group) = scenario.groups.iter().find(|group| group.gro_ns > 0) else {
        return Ok(());
    };
    let time = match group.gro_ns {
        ns if ns % 1000 == 0 => format!("{}us", ns / 1000),
        ns => format!("{ns}ns"),
    };
    Err(Error::Refused(format!(
        "gro `{time}` of `{}` is not supported by the kernel engine; omit `gro`, or use `--engine simulator`",
        group.cc.name
    )))
}

/// Rejects a limit of out-of-order segments: Linux holds as many as its receive buffer has room for.
fn check_ooo_limit(scenario: &Scenario) -> Result<(), Error> {
    let limit = |group: &Group| Some((group.ooo_limit_pkts?, group.cc.name.clone()));
    match scenario.groups.iter().find_map(limit) {
        Some((pkts, cc)) => Err(Error::Refused(format!(
            "ooo_limit `{pkts}pkt` of `{cc}` is not supported by the kernel engine; omit `ooo_limit`, or use `--engine simulator`"
        ))),
        None => Ok(()),
    }
}

/// Rejects super-packets: the relay cuts what a host sends as one into packets before it enters the network.
fn check_super_packets(scenario: &Scenario) -> Result<(), Error> {
    match scenario.groups.iter().find(|group| group.gso) {
        Some(group) => Err(Error::Refused(format!(
            "`gso` of `{}` is not supported by the kernel engine, whose relay cuts super-packets into packets; omit `gso`, or use `--engine simulator`",
            group.cc.name
        ))),
        None => Ok(()),
    }
}

/// Rejects what only a simulated host's TCP has.
fn check_hosts(scenario: &Scenario) -> Result<(), Error> {
    if scenario.tcp_mem_bytes.is_some() {
        return Err(Error::Refused(
            "`tcp_mem` is not supported by the kernel engine, whose sockets have this machine's memory; omit `tcp_mem`, or use `--engine simulator`".to_owned(),
        ));
    }
    for group in &scenario.groups {
        let fields = [
            ("tcp", !group.tcp.is_default()),
            ("timer_lateness", group.timer_lateness_ns > 0),
            ("receiver", group.receiver != ReceiverKind::Linux),
            ("sndbuf_auto", group.sndbuf_auto),
            ("ooo_memory", group.ooo_memory),
        ];
        if let Some((field, _)) = fields.iter().find(|(_, is_set)| *is_set) {
            return Err(Error::Refused(format!(
                "`{field}` of `{}` is not supported by the kernel engine, whose hosts have this machine's TCP; omit `{field}`, or use `--engine simulator`",
                group.cc.name
            )));
        }
    }
    Ok(())
}

fn measure(
    scenario: &Arc<Scenario>,
    control: &Control,
    capture: Option<&CaptureConfig>,
) -> Result<Measured, Error> {
    raise_file_limit(
        FILES_PER_FLOW * scenario.flow_count() as u64
            + FILES_PER_GROUP * scenario.groups.len() as u64,
    )?;
    if scenario.groups.iter().any(|group| !group.traffic.is_bulk()) {
        raise_file_limit_to_the_hard_one();
    }
    let ccs = Arc::new(KernelCc::of_groups(scenario)?);
    let mut hosts = Hosts::new(scenario)?;
    for (group, _) in (0..).zip(ccs.iter()).filter(|(_, cc)| cc.sends_ect1()) {
        hosts.identify_as_l4s(group)?;
    }
    let hosts = Arc::new(hosts);
    let calibration = calibrate_idle(&hosts, scenario, control)?;

    let kernel_names: Vec<String> = ccs.iter().map(|cc| cc.kernel_name().to_owned()).collect();
    let mut traffic = Traffic::prepare(&hosts, scenario, &kernel_names)?;
    let at_receivers = |(_, cc): &(usize, &KernelCc)| cc.runs_at_receivers();
    for (group, cc) in ccs.iter().enumerate().filter(at_receivers) {
        traffic.run_at_receivers(group, cc.kernel_name())?;
    }
    let mut states = States::new(scenario, &ccs, traffic.sender_sockets())?;

    let (mut capture, taps) = capture
        .map(|config| Capture::start(config, scenario, parts(scenario).len()))
        .transpose()?
        .unzip();

    let epoch_ns = monotonic_ns() + LEAD_NS;
    let end_ns = epoch_ns + scenario.duration_ns;
    let relay = Relay::start(&hosts, scenario, epoch_ns, end_ns, taps.unwrap_or_default())?;
    let (machine_before, process_before_ns) = (MachineCpu::read()?, process_cpu_ns());
    let before_ns = monotonic_ns();
    let tags = states.tags();
    let running = traffic.start(epoch_ns, Path::of(&relay), states.source(), tags)?;
    let waited = running.wait(control, || {
        relay.is_running() && capture.as_ref().is_none_or(Capture::is_running)
    });
    if !relay.is_running() {
        // Any other failure is a consequence of this one.
        relay.stop()?;
        return Err(stopped("relay"));
    }
    if let Some(capture) = capture.take_if(|capture| !capture.is_running()) {
        capture.finish()?;
        return Err(stopped("capture"));
    }
    waited?;
    let machine_cpu = MachineCpu::read()?.since(machine_before);
    let process_cpu_ns = process_cpu_ns() - process_before_ns;
    let elapsed_ns = monotonic_ns() - before_ns;
    let traffic = running.finish()?;
    Ok(Measured {
        epoch_ns,
        ccs,
        calibration,
        traffic,
        states: states.take(),
        relay: relay.stop()?,
        capture: capture.map(Capture::finish).transpose()?,
        host_dropped_pkts: hosts.dropped_pkts()?,
        machine_cpu,
        process_cpu_ns,
        elapsed_ns,
    })
}

/// The error for a part that ended without an error before it was stopped.
fn stopped(what: &str) -> Error {
    Error::Refused(format!("the {what} stopped in the middle of the run"))
}

/// Calibrates with a relay of its own, so that nothing of it remains in the run's. The path is as
/// at the start of the run, however long that takes.
fn calibrate_idle(
    hosts: &Arc<Hosts>,
    scenario: &Scenario,
    control: &Control,
) -> Result<Calibration, Error> {
    let mut scenario = scenario.clone();
    for link in &mut scenario.links {
        link.rate_steps.clear();
        // What a medium and impairments do to an idle path says nothing of the relay, and what is lost at
        // the start of a run would leave nothing to measure.
        link.medium = None;
        link.impairments.clear();
        link.random_loss_ppb = 0;
    }
    for group in &mut scenario.groups {
        group.rtt_steps.clear();
    }
    let relay = Relay::start(hosts, &scenario, monotonic_ns(), u64::MAX, Vec::new())?;
    let calibration = calibrate(hosts, &scenario, control);
    // If the relay failed, that is why calibration did.
    relay.stop()?;
    calibration
}

#[cfg(test)]
mod tests {
    use dumbbell_scenario::{Limit, Queue, tcp};

    use super::*;

    fn scenario(group: Group) -> Scenario {
        let group = Group {
            cc: "cubic".into(),
            base_rtt_ns: 20_000_000,
            ..group
        };
        Scenario {
            groups: vec![group],
            ..Scenario::dumbbell(1_000_000, Queue::drop_tail(Limit::Packets(10)))
        }
    }

    #[test]
    fn an_out_of_order_limit_is_refused_with_the_fix() {
        let refusal = |ooo_limit_pkts| {
            let group = Group {
                ooo_limit_pkts,
                ..Group::default()
            };
            check_ooo_limit(&scenario(group)).map_err(|error| error.to_string())
        };
        assert_eq!(refusal(None), Ok(()));
        let expected = "ooo_limit `48pkt` of `cubic` is not supported by the kernel engine; omit `ooo_limit`, or use `--engine simulator`";
        assert_eq!(refusal(Some(48)), Err(expected.to_owned()));
    }

    #[test]
    fn super_packets_are_refused_with_the_reason_and_the_fix() {
        let refusal = |gso| {
            let group = Group {
                gso,
                ..Group::default()
            };
            check_super_packets(&scenario(group)).map_err(|error| error.to_string())
        };
        assert_eq!(refusal(false), Ok(()));
        let expected = "`gso` of `cubic` is not supported by the kernel engine, whose relay cuts super-packets into packets; omit `gso`, or use `--engine simulator`";
        assert_eq!(refusal(true), Err(expected.to_owned()));
    }

    #[test]
    fn another_releases_tcp_is_refused_with_the_fix() {
        let refusal = |group| check_hosts(&scenario(group)).map_err(|error| error.to_string());
        assert_eq!(refusal(Group::default()), Ok(()));
        for (field, group) in [
            (
                "tcp",
                Group {
                    tcp: tcp::Config::linux_4_15(),
                    ..Group::default()
                },
            ),
            (
                "timer_lateness",
                Group {
                    timer_lateness_ns: 1,
                    ..Group::default()
                },
            ),
            (
                "receiver",
                Group {
                    receiver: ReceiverKind::FreeBsd,
                    ..Group::default()
                },
            ),
        ] {
            let expected = format!(
                "`{field}` of `cubic` is not supported by the kernel engine, whose hosts have this machine's TCP; omit `{field}`, or use `--engine simulator`"
            );
            assert_eq!(refusal(group), Err(expected));
        }
    }

    #[test]
    fn receive_offload_is_refused_with_the_fix() {
        let refusal = |gro_ns| {
            let group = Group {
                gro_ns,
                ..Group::default()
            };
            check_receive_offload(&scenario(group)).map_err(|error| error.to_string())
        };
        assert_eq!(refusal(0), Ok(()));
        for (gro_ns, time) in [(200_000, "200us"), (500, "500ns")] {
            let expected = format!(
                "gro `{time}` of `cubic` is not supported by the kernel engine; omit `gro`, or use `--engine simulator`"
            );
            assert_eq!(refusal(gro_ns), Err(expected));
        }
    }
}
