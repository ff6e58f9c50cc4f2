//! One run of a scenario, from its first packet to its end.

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Output;
use dumbbell_scenario::{Control, Group, ReceiverKind, Scenario};

use crate::emulation::Emulation;
use crate::error::Error;
use crate::prepared::Prepared;
use crate::programs::Spawner;

/// Linux's TCP_MIN_MSS; and the largest that fits, with headers, in the 16 bits of a frame's
/// length.
const MIN_MSS_BYTES: u32 = 88;
const MAX_MSS_BYTES: u32 = 65_000;

/// Runs `scenario` on this machine's Linux TCP, and captures its packets if `capture` is given. Its programs are
/// started, and if all clients among them have ended before its time, it is over.
///
/// # Errors
///
/// A scenario that cannot be run, a machine that cannot run it, a program that cannot be started, a capture that cannot
/// be written, or [`Error::Cancelled`].
pub fn run(
    scenario: &Scenario,
    control: &Control,
    capture: Option<&CaptureConfig>,
) -> Result<Output, Error> {
    let has_programs = scenario.groups.iter().any(|group| group.program.is_some());
    let spawner = has_programs.then(Spawner::start).transpose()?;
    let mut prepared = Prepared::new(scenario, control, spawner)?;
    prepared.start_servers(control)?;
    let mut emulation = Emulation::begin(prepared, capture)?;
    emulation.run_clients(control)?;
    emulation.stop()
}

/// Rejects what this engine cannot run on any machine, with the reason and the fix.
///
/// # Errors
///
/// [`Error::Refused`]: the scenario is inconsistent, or has what only the simulator has.
pub fn check(scenario: &Scenario) -> Result<(), Error> {
    scenario
        .check()
        .map_err(|refusal| Error::Refused(refusal.to_string()))?;
    check_mss(scenario)?;
    check_receive_offload(scenario)?;
    check_ooo_limit(scenario)?;
    check_super_packets(scenario)?;
    check_hosts(scenario)?;
    Ok(())
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
