//! What a guest is to make for a scenario: a host for each end of a group, and the flows.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::net::{Ipv4Addr, Ipv6Addr};

use dumbbell_cc::{Instance, Request, builtin_names};
use dumbbell_scenario::address_plan::{
    FIRST_FLOW_PORT, RECEIVER_PORT, host_addresses, host_addresses6,
};
use dumbbell_scenario::{Group, GroupEcn, PROMPT_BYTES, Scenario, UNLIMITED_BYTES};

use crate::bpf::congestion_controls::{KERNELS_DEFAULT, KernelCc};
use crate::error::Error;
use crate::guest::KernelFacts;
use crate::hosts::host::mtu_bytes;
use crate::hosts::sysctls::{program_buffers, tcp_rmem, tcp_wmem};
use crate::programs::Names;
use crate::receive_window::with_reachable_windows;
use crate::sockets::receivers::{buffer_bytes, limited_window};
use crate::sockets::sender_sockets::{send_memory_bytes, unsent_bytes};
use crate::sockets::senders::WRITE_BYTES;

/// A network namespace with one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedHost {
    /// Its address; all hosts are in 10.0.0.0/8.
    pub address: Ipv4Addr,
    /// Largest IP packet, bytes.
    pub mtu_bytes: u32,
    /// Segments that TCP may put in one packet of the device; `None`: as many as the kernel likes.
    pub gso_max_segs: Option<u32>,
    /// `tcp_rmem` and `tcp_wmem`, bytes; `None`: the kernel's.
    pub buffers_bytes: [Option<[u64; 3]>; 2],
    /// The sysctl `tcp_slow_start_after_idle`.
    pub slow_start_after_idle: bool,
    /// The sysctl `tcp_ecn`.
    pub ecn: u8,
    /// Whether it has Accurate ECN's option.
    pub accecn_option: bool,
    /// Whether it acknowledges each segment at once.
    pub quick_ack: bool,
    /// What it listens with, if it receives.
    pub listener: Option<PlannedListener>,
    /// What it has for programs, if they run in it.
    pub for_programs: Option<PlannedForPrograms>,
}

/// What a host has for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedForPrograms {
    /// Its IPv6 address, from the address plan.
    pub address6: Ipv6Addr,
    /// The kernel's name of its sockets' congestion control algorithm; `None`: the kernel's default.
    pub cc: Option<String>,
    /// The content of `/etc/hosts`.
    pub names: CString,
    /// The content of `/etc/resolv.conf`.
    pub resolver: CString,
}

/// A socket that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedListener {
    /// Where it listens.
    pub port: u16,
    /// Differentiated services codepoint of what it sends.
    pub dscp: u8,
    /// Limit of the receive window and the buffer for it, bytes, if it is limited.
    pub window_bytes: Option<(u32, u64)>,
}

/// A connection, and what its ends do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFlow {
    /// Its number in the scenario.
    pub number: u32,
    /// The kernel's name of its congestion control algorithm.
    pub cc: String,
    /// Numbers of the two hosts.
    pub hosts: [u32; 2],
    /// Port of the sender.
    pub port: u16,
    /// Whether Nagle's algorithm is off.
    pub nodelay: bool,
    /// Differentiated services codepoint of what it sends.
    pub dscp: u8,
    /// After the start of the run; `u64::MAX`: never.
    pub start_ns: u64,
    /// After the start of the run; `u64::MAX`: never.
    pub stop_ns: u64,
    /// `u64::MAX`: without end.
    pub size_bytes: u64,
    /// Memory of its send buffer, bytes, if that is limited.
    pub send_memory_bytes: Option<u64>,
    /// How much may be written and not sent, bytes.
    pub unsent_bytes: u32,
    /// Bytes of a write.
    pub write_bytes: u32,
    /// Bytes that are read as they arrive.
    pub prompt_bytes: u32,
    /// Bytes that must have arrived after that before the reader is woken.
    pub low_water_bytes: u32,
}

/// Refuses what a guest does not run.
///
/// # Errors
///
/// [`Error::Refused`], with the fix.
pub fn check(scenario: &Scenario) -> Result<(), Error> {
    crate::check::check(scenario).map_err(|error| {
        Error::Refused(
            error
                .to_string()
                .replace("the kernel engine", "the UML engine"),
        )
    })?;
    for group in &scenario.groups {
        let name = &group.cc.name;
        let refused = |what: String| {
            Err(Error::Refused(format!(
                "{what} of `{name}` is not supported by the UML engine; use `--engine kernel` or `--engine simulator`"
            )))
        };
        if !group.host.delayed_ack && group.program.is_some() {
            return refused("`delayed_ack = false` of programs".to_owned());
        }
        if name == KERNELS_DEFAULT && group.program.is_none() {
            return refused("`linux/default`".to_owned());
        }
    }
    Ok(())
}

/// The algorithm of the first group that needs Accurate ECN, as far as that is known without running a file of the user's.
pub fn first_with_accecn(scenario: &Scenario) -> Option<&str> {
    let needs = |group: &&Group| {
        let request = Request {
            name: group.cc.name.clone(),
            params: BTreeMap::default(),
        };
        let is_built_in = builtin_names().contains(&request.name.as_str());
        group.host.ecn == GroupEcn::AccEcn
            || is_built_in && Instance::load(&request, 0).is_ok_and(|it| it.needs_accecn())
    };
    let first = scenario.groups.iter().find(needs);
    first.map(|group| group.cc.name.as_str())
}

/// Refuses Accurate ECN on a kernel that has none.
///
/// # Errors
///
/// [`Error::Refused`], with the kernel's release.
pub(super) fn check_accecn(
    scenario: &Scenario,
    ccs: &[KernelCc],
    kernel: &KernelFacts<'_>,
) -> Result<(), Error> {
    let mut groups = scenario.groups.iter().zip(ccs);
    match groups.find(|(group, cc)| has_accecn(group, cc)) {
        Some((group, _)) if !kernel.has_accecn() => Err(Error::Refused(format!(
            "`{}` needs Accurate ECN, which the guest's kernel, Linux {}, does not offer to dumbbell; build one of Linux 6.18 or later with `dumbbell kernel build`",
            group.cc.name, kernel.release
        ))),
        _ => Ok(()),
    }
}

fn has_accecn(group: &Group, cc: &KernelCc) -> bool {
    group.host.ecn == GroupEcn::AccEcn || cc.needs_accecn()
}

/// The scenario as a guest runs it: with drawn RTTs and windows that Linux reaches.
pub(super) fn as_guests_run_it(scenario: &Scenario) -> Scenario {
    with_reachable_windows(scenario.with_drawn_rtts().into_owned())
}

/// The hosts: of each group the sender's, then the receiver's.
pub(super) fn hosts(scenario: &Scenario, ccs: &[KernelCc]) -> Vec<PlannedHost> {
    let groups = (0..).zip(scenario.groups.iter().zip(ccs));
    groups
        .flat_map(|(index, (group, cc))| {
            if group.program.is_some() {
                return hosts_of_programs(index, group, cc);
            }
            let (sender, receiver) = host_addresses(index);
            [
                host(group, cc, sender, None),
                PlannedHost {
                    quick_ack: !group.host.delayed_ack,
                    // Applications make their sockets themselves.
                    ..host(
                        group,
                        cc,
                        receiver,
                        group.traffic.is_bulk().then(|| listener(group)),
                    )
                },
            ]
        })
        .collect()
}

fn host(
    group: &Group,
    cc: &KernelCc,
    address: Ipv4Addr,
    listener: Option<PlannedListener>,
) -> PlannedHost {
    PlannedHost {
        address,
        mtu_bytes: mtu_bytes(group),
        gso_max_segs: (!group.host.tso).then_some(1),
        buffers_bytes: [Some(tcp_rmem(group)), Some(tcp_wmem(group))],
        slow_start_after_idle: group.host.slow_start_after_idle,
        // 1 requests and accepts ECN, 2 only accepts it, 3 requests and accepts Accurate ECN.
        ecn: match group.host.ecn {
            _ if has_accecn(group, cc) => 3,
            GroupEcn::On => 1,
            _ => 2,
        },
        accecn_option: group.host.accecn_option,
        quick_ack: false,
        listener,
        for_programs: None,
    }
}

/// The hosts of a group of programs, the server's first.
fn hosts_of_programs(index: u16, group: &Group, cc: &KernelCc) -> [PlannedHost; 2] {
    let (server, client) = host_addresses(index);
    let (server6, client6) = host_addresses6(index);
    let all = |v4: Ipv4Addr, v6: Ipv6Addr| [v4.into(), v6.into()];
    let names = Names::of_group(
        usize::from(index),
        &all(server, server6),
        &all(client, client6),
        None,
    );
    // A file of names with a zero byte would be cut there.
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|&byte| byte == 0);
        CString::new(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or_default()
    };
    [(server, server6), (client, client6)].map(|(address, address6)| PlannedHost {
        buffers_bytes: program_buffers(group),
        for_programs: Some(PlannedForPrograms {
            address6,
            cc: (group.cc.name != KERNELS_DEFAULT).then(|| cc.kernel_name().to_owned()),
            names: text(names.hosts()),
            resolver: text(names.resolver()),
        }),
        ..host(group, cc, address, None)
    })
}

fn listener(group: &Group) -> PlannedListener {
    PlannedListener {
        port: RECEIVER_PORT,
        dscp: group.dscp,
        window_bytes: limited_window(group).map(|window| (window, buffer_bytes(window))),
    }
}

/// The flows that are ours, in the order of their numbers.
pub(super) fn flows(scenario: &Scenario, ccs: &[KernelCc]) -> Vec<PlannedFlow> {
    let mut planned = Vec::with_capacity(scenario.flow_count());
    let mut first_flow = 0;
    for (number, (group, cc)) in (0..).zip(scenario.groups.iter().zip(ccs)) {
        let numbers = first_flow..first_flow + group.flows;
        first_flow = numbers.end;
        if !group.has_own_sockets() {
            continue;
        }
        for (flow, port) in numbers.zip(FIRST_FLOW_PORT..) {
            let is_limited = group.host.sndbuf_bytes < UNLIMITED_BYTES;
            let third_bytes = (group.host.sndbuf_bytes / 3).clamp(1, WRITE_BYTES as u64);
            planned.push(PlannedFlow {
                number: flow,
                cc: cc.kernel_name().to_owned(),
                hosts: [2 * number, 2 * number + 1],
                port,
                nodelay: !group.host.nagle,
                dscp: group.dscp,
                start_ns: group.start_of(scenario.seed, flow),
                stop_ns: group.stop_ns.unwrap_or(u64::MAX),
                size_bytes: group.size_bytes.unwrap_or(u64::MAX),
                send_memory_bytes: is_limited.then(|| send_memory_bytes(group)),
                unsent_bytes: unsent_bytes(scenario) as u32,
                // See `Senders::write`.
                write_bytes: if is_limited {
                    third_bytes as u32
                } else {
                    WRITE_BYTES as u32
                },
                prompt_bytes: PROMPT_BYTES as u32,
                low_water_bytes: group.low_water_bytes() as u32,
            });
        }
    }
    planned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::KernelField;

    #[test]
    fn accurate_ecn_needs_a_kernel_that_has_it() {
        let mut group = Group::default();
        group.host.ecn = GroupEcn::AccEcn;
        let scenario = Scenario {
            groups: vec![group],
            ..Scenario::default()
        };
        let ccs = [KernelCc::Own("cubic".to_owned())];
        let checked = |fields: Vec<KernelField<'_>>| {
            let release = "6.12.117".to_owned();
            let kernel = KernelFacts {
                release,
                hz: 1000,
                fields,
            };
            check_accecn(&scenario, &ccs, &kernel)
        };
        let refused = checked(Vec::new()).expect_err("it has none").to_string();
        assert!(refused.contains("Linux 6.12.117, does not"), "{refused}");
        let field = KernelField {
            name: "received_ce",
            offset: 0,
            bytes: 4,
        };
        assert!(checked(vec![field]).is_ok());
        assert_eq!(hosts(&scenario, &ccs)[0].ecn, 3);
    }
}
