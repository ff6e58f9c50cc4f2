//! What a guest is to make for a scenario: a host for each end of a group, and the flows.

use std::net::Ipv4Addr;

use dumbbell_scenario::address_plan::{FIRST_FLOW_PORT, RECEIVER_PORT, host_addresses};
use dumbbell_scenario::{Group, GroupEcn, PROMPT_BYTES, Scenario, UNLIMITED_BYTES};

use crate::bpf::congestion_controls::{KERNELS_DEFAULT, KernelCc};
use crate::error::Error;
use crate::hosts::host::mtu_bytes;
use crate::hosts::sysctls::{tcp_rmem, tcp_wmem};
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
    /// `tcp_rmem` and `tcp_wmem`, bytes.
    pub buffers_bytes: [[u64; 3]; 2],
    /// The sysctl `tcp_slow_start_after_idle`.
    pub slow_start_after_idle: bool,
    /// The sysctl `tcp_ecn`.
    pub ecn: u8,
    /// What it listens with, if it receives.
    pub listener: Option<PlannedListener>,
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
        if group.program.is_some() {
            return refused("a program".to_owned());
        }
        if !group.traffic.is_bulk() {
            return refused("an application".to_owned());
        }
        if !group.host.delayed_ack {
            return refused("`delayed_ack = false`".to_owned());
        }
        if group.host.ecn == GroupEcn::AccEcn {
            return refused("ecn `accecn`".to_owned());
        }
        if name == KERNELS_DEFAULT {
            return refused("`linux/default`".to_owned());
        }
    }
    Ok(())
}

/// The scenario as a guest runs it: with drawn RTTs and windows that Linux reaches.
pub(super) fn as_guests_run_it(scenario: &Scenario) -> Scenario {
    with_reachable_windows(scenario.with_drawn_rtts().into_owned())
}

/// The hosts: of each group the sender's, then the receiver's.
pub(super) fn hosts(scenario: &Scenario) -> Vec<PlannedHost> {
    let groups = (0..).zip(&scenario.groups);
    groups
        .flat_map(|(index, group)| {
            let (sender, receiver) = host_addresses(index);
            [
                host(group, sender, None),
                host(group, receiver, Some(listener(group))),
            ]
        })
        .collect()
}

fn host(group: &Group, address: Ipv4Addr, listener: Option<PlannedListener>) -> PlannedHost {
    PlannedHost {
        address,
        mtu_bytes: mtu_bytes(group),
        gso_max_segs: (!group.host.tso).then_some(1),
        buffers_bytes: [tcp_rmem(group), tcp_wmem(group)],
        slow_start_after_idle: group.host.slow_start_after_idle,
        // 1 requests and accepts ECN, 2 only accepts it.
        ecn: if group.host.ecn == GroupEcn::On { 1 } else { 2 },
        listener,
    }
}

fn listener(group: &Group) -> PlannedListener {
    PlannedListener {
        port: RECEIVER_PORT,
        dscp: group.dscp,
        window_bytes: limited_window(group).map(|window| (window, buffer_bytes(window))),
    }
}

/// The flows, by number.
pub(super) fn flows(scenario: &Scenario, ccs: &[KernelCc]) -> Vec<PlannedFlow> {
    let mut planned = Vec::with_capacity(scenario.flow_count());
    for (number, (group, cc)) in (0..).zip(scenario.groups.iter().zip(ccs)) {
        for port in (FIRST_FLOW_PORT..).take(group.flows as usize) {
            let flow = planned.len() as u32;
            let is_limited = group.host.sndbuf_bytes < UNLIMITED_BYTES;
            let third_bytes = (group.host.sndbuf_bytes / 3).clamp(1, WRITE_BYTES as u64);
            planned.push(PlannedFlow {
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
