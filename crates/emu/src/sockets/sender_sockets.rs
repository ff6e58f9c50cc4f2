//! The senders' sockets before they connect: congestion control, send buffer, port.

use std::io;
use std::os::fd::OwnedFd;

use dumbbell_scenario::{Group, Scenario, UNLIMITED_BYTES};

use crate::error::Error;
use crate::hosts::host::{FIRST_FLOW_PORT, Host};
use crate::sockets::socket;

/// What the kernel counts for a packet of the send queue in addition to its payload.
const SEND_OVERHEAD_BYTES: u64 = 832;

/// Full packets that Linux puts in one buffer of the send queue with segmentation offload, at least: pacing
/// makes no smaller bursts (`tcp_min_tso_segs`).
const OFFLOADED_PKTS: u64 = 2;

/// The senders' sockets of a group, bound to the flows' ports.
pub(crate) fn sender_sockets(
    host: &Host,
    index: usize,
    group: &Group,
    kernel_cc: &str,
    unsent_bytes: libc::c_int,
) -> Result<Vec<OwnedFd>, Error> {
    let last_port = u32::from(FIRST_FLOW_PORT) + group.flows.saturating_sub(1);
    if last_port > u32::from(u16::MAX) {
        return Err(Error::Refused(format!(
            "group {index} has {} flows, more than the {} ports of its sender; split it into several groups",
            group.flows,
            u32::from(u16::MAX) - u32::from(FIRST_FLOW_PORT) + 1,
        )));
    }
    let make = || {
        (FIRST_FLOW_PORT..)
            .take(group.flows as usize)
            .map(|port| sender_socket(host, index, group, kernel_cc, unsent_bytes, port))
            .collect()
    };
    host.namespace.within(make)?
}

fn sender_socket(
    host: &Host,
    index: usize,
    group: &Group,
    kernel_cc: &str,
    unsent_bytes: libc::c_int,
    port: u16,
) -> Result<OwnedFd, Error> {
    let failed = |what: &str| failed(index, what);
    let sender = socket::tcp().map_err(failed("could not be made"))?;
    make_sender(&sender, index, group, kernel_cc, unsent_bytes)?;
    socket::set_dscp(&sender, group.dscp).map_err(failed("could not set its DSCP"))?;
    socket::bind(&sender, host.address, port)
        .map_err(failed(&format!("could not bind port {port}")))?;
    Ok(sender)
}

fn failed(index: usize, what: &str) -> impl FnOnce(io::Error) -> Error + use<> {
    let what = format!("the sender of group {index} {what}");
    move |source| Error::System { what, source }
}

/// Gives a socket that is not yet connected what a sender of the group has: congestion control and send buffer.
pub(crate) fn make_sender(
    sender: &OwnedFd,
    index: usize,
    group: &Group,
    kernel_cc: &str,
    unsent_bytes: libc::c_int,
) -> Result<(), Error> {
    let failed = |what: &str| failed(index, what);
    socket::set_congestion_control(sender, kernel_cc).map_err(|error| {
        let name = &group.cc.name;
        match error.raw_os_error() {
            Some(libc::ENOENT) => Error::Refused(format!(
                "this kernel has no congestion control `{kernel_cc}` (asked for as `{name}`); \
                 /proc/sys/net/ipv4/tcp_available_congestion_control lists what it has"
            )),
            Some(libc::EPERM) => Error::Refused(format!(
                "the kernel does not let this user run the congestion control `{kernel_cc}` (asked for as \
                 `{name}`); run as root, or name one of /proc/sys/net/ipv4/tcp_allowed_congestion_control"
            )),
            _ => failed(&format!("could not run the congestion control `{kernel_cc}`"))(error),
        }
    })?;
    if group.host.sndbuf_bytes < UNLIMITED_BYTES {
        fix_send_buffer(sender, group).map_err(failed("could not set its send buffer"))?;
    } else {
        socket::set(
            sender,
            libc::IPPROTO_TCP,
            libc::TCP_NOTSENT_LOWAT,
            unsent_bytes,
        )
        .map_err(failed("could not bound its unsent data"))?;
    }
    if !group.host.nagle {
        socket::set(sender, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)
            .map_err(failed("could not set TCP_NODELAY"))?;
    }
    Ok(())
}

/// How much a flow without a limit may have written and not sent: what the fastest link carries while the
/// application is not scheduled, with room for a flow that has more than its share, but not enough
/// that thousands of flows fill the machine's memory.
pub(crate) fn unsent_bytes(scenario: &Scenario) -> libc::c_int {
    const AWAY_NS: u64 = 200_000_000;
    let rates_bps = (scenario.links.iter()).map(|link| link.highest_rate_bps(scenario.duration_ns));
    let link_bytes_per_s = rates_bps.max().unwrap_or(0) / 8;
    let link_bytes = u128::from(link_bytes_per_s) * u128::from(AWAY_NS) / 1_000_000_000;
    let flow_bytes = link_bytes / scenario.flow_count().max(1) as u128;
    flow_bytes.clamp(128 << 10, 4 << 20) as libc::c_int
}

/// Memory of a limited send buffer, bytes. The kernel counts what the send queue takes, so the limit is made larger by
/// the overhead of its buffers.
pub(crate) fn send_memory_bytes(group: &Group) -> u64 {
    let pkts = if group.host.tso { OFFLOADED_PKTS } else { 1 };
    let payload_bytes = pkts * u64::from(group.host.mss_bytes);
    group.host.sndbuf_bytes * (payload_bytes + SEND_OVERHEAD_BYTES) / payload_bytes
}

/// Limits payload that is written and not acknowledged.
fn fix_send_buffer(sender: &OwnedFd, group: &Group) -> io::Result<()> {
    // The kernel doubles the value.
    let half_bytes = i32::try_from(send_memory_bytes(group) / 2).unwrap_or(i32::MAX / 2);
    let set = |option| socket::set(sender, libc::SOL_SOCKET, option, half_bytes);
    match set(libc::SO_SNDBUFFORCE) {
        // Without privilege, up to `net.core.wmem_max`.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => set(libc::SO_SNDBUF)?,
        other => return other,
    }
    if socket::get(sender, libc::SOL_SOCKET, libc::SO_SNDBUF)? < half_bytes.saturating_mul(2) {
        return Err(io::Error::other(
            "without root it is at most net.core.wmem_max; use a smaller `sndbuf`, or none",
        ));
    }
    Ok(())
}
