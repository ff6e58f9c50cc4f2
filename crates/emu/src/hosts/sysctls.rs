//! The settings of a host's network namespace.

use std::fs;
use std::io;

use dumbbell_scenario::{Group, GroupEcn, UNLIMITED_BYTES};

use crate::error::Error;

/// Smallest and largest socket buffer that is requested from Linux, bytes.
const MIN_BUFFER_BYTES: u64 = 1 << 20;
const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// `tcp_rmem`'s default, from which autotuning starts.
const RMEM_DEFAULT_BYTES: u64 = 131_072;

/// The default of Linux's `tcp_wmem`.
const WMEM_DEFAULT_BYTES: u64 = 16_384;

/// Linux charges a socket's buffer with whole buffers, not payload: at most about four times as much.
const BUFFER_BYTES_PER_PAYLOAD_BYTE: u64 = 4;

/// `tcp_rmem` of a group's hosts, bytes.
pub(crate) fn tcp_rmem(group: &Group) -> [u64; 3] {
    let largest = buffer_bytes(group.host.rwnd_bytes);
    // A window that is not a limit is left to Linux's autotuning, which starts from its usual
    // default: while a window grows towards its buffer, Linux acknowledges every packet.
    let start = match group.host.rwnd_bytes {
        UNLIMITED_BYTES.. => RMEM_DEFAULT_BYTES,
        _ => largest,
    };
    [4096, start, largest]
}

/// `tcp_wmem` of a group's hosts, bytes.
pub(crate) fn tcp_wmem(group: &Group) -> [u64; 3] {
    let largest = buffer_bytes(group.host.sndbuf_bytes);
    // A send buffer that is not a limit has its full size from the start. Linux's autotuning aims
    // at two cwnds and may limit a flow in recovery, when nothing is acknowledged for a round trip
    // or more.
    let start = match group.host.sndbuf_bytes {
        UNLIMITED_BYTES.. => largest,
        _ => WMEM_DEFAULT_BYTES,
    };
    [4096, start, largest]
}

fn buffer_bytes(payload_bytes: u64) -> u64 {
    payload_bytes
        .saturating_mul(BUFFER_BYTES_PER_PAYLOAD_BYTE)
        .clamp(MIN_BUFFER_BYTES, MAX_BUFFER_BYTES)
}

/// `tcp_rmem` and `tcp_wmem` of hosts of programs, bytes; `None`: the kernel's defaults.
pub(crate) fn program_buffers(group: &Group) -> [Option<[u64; 3]>; 2] {
    [group.host.rwnd_bytes, group.host.sndbuf_bytes].map(|payload_bytes| {
        let bytes = payload_bytes.saturating_mul(BUFFER_BYTES_PER_PAYLOAD_BYTE);
        let bytes = bytes.min(MAX_BUFFER_BYTES);
        (payload_bytes < UNLIMITED_BYTES).then_some([4096, bytes, bytes])
    })
}

fn shown([smallest, start, largest]: [u64; 3]) -> String {
    format!("{smallest} {start} {largest}")
}

/// Sets the calling thread's network namespace; no other has these values.
pub(crate) fn set_sysctls(group: &Group) -> Result<(), Error> {
    // Keeps router solicitations and multicast membership reports off the path.
    set_ipv6("disable_ipv6", "1")?;
    for (name, value) in [
        // A connection must not start with what an earlier one learned.
        ("tcp_no_metrics_save", "1".to_owned()),
        ("tcp_rmem", shown(tcp_rmem(group))),
        ("tcp_wmem", shown(tcp_wmem(group))),
        (
            "tcp_slow_start_after_idle",
            u8::from(group.host.slow_start_after_idle).to_string(),
        ),
    ] {
        let path = format!("/proc/sys/net/ipv4/{name}");
        fs::write(&path, value).map_err(|source| cannot_set(&path, source))?;
    }
    set_ecn(group)
}

/// The same for hosts of programs, which have the kernel's defaults, unless the scenario says otherwise: buffers, what TCP
/// remembers of earlier connections. They have IPv6 with the addresses that we give them, and no others: a link-local one would ask for
/// routers.
pub(crate) fn set_sysctls_of_programs(group: &Group) -> Result<(), Error> {
    /// The kernel's `IN6_ADDR_GEN_MODE_NONE`.
    const NO_ADDRESS: &str = "1";
    set_ipv6("disable_ipv6", "0")?;
    set_ipv6("addr_gen_mode", NO_ADDRESS)?;
    set_ipv6("accept_ra", "0")?;
    let [rmem, wmem] = program_buffers(group).map(|buffer| buffer.map(shown));
    let no_restart = (!group.host.slow_start_after_idle).then(|| "0".to_owned());
    for (name, value) in [
        ("tcp_rmem", rmem),
        ("tcp_wmem", wmem),
        ("tcp_slow_start_after_idle", no_restart),
    ] {
        if let Some(value) = value {
            let path = format!("/proc/sys/net/ipv4/{name}");
            fs::write(&path, value).map_err(|source| cannot_set(&path, source))?;
        }
    }
    set_ecn(group)
}

/// Where the settings of IPv6 are, of a kernel that has it.
pub(crate) const IPV6_SETTINGS: &str = "/proc/sys/net/ipv6/conf";

/// Sets what devices have of IPv6; without effect on a kernel without IPv6.
fn set_ipv6(name: &str, value: &str) -> Result<(), Error> {
    for which in ["all", "default"] {
        let path = format!("{IPV6_SETTINGS}/{which}/{name}");
        match fs::write(&path, value) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(cannot_set(&path, source));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Linux 6.18 has Accurate ECN, but refuses the value that asks for it: it has it only for congestion
/// controls that need it, which ours then do.
fn set_ecn(group: &Group) -> Result<(), Error> {
    const PATH: &str = "/proc/sys/net/ipv4/tcp_ecn";
    const OPTION: &str = "/proc/sys/net/ipv4/tcp_ecn_option";
    if !group.host.accecn_option {
        match fs::write(OPTION, "0") {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(cannot_set(OPTION, source));
            }
            _ => {} // a kernel without the file has no option
        }
    }
    let set = |value| fs::write(PATH, value);
    match set(tcp_ecn(group.host.ecn)) {
        Err(refused) if group.host.ecn == GroupEcn::AccEcn && is_invalid(&refused) => {
            if group.cc.name.starts_with("linux/") {
                return Err(Error::Refused(format!(
                    "`{}` cannot have ecn `accecn` on this kernel, which has it only for congestion controls that need it (net.ipv4.tcp_ecn = 3 is refused); use ecn `on`, or our own source of it",
                    group.cc.name
                )));
            }
            set("2").map_err(|source| cannot_set(PATH, source))
        }
        other => other.map_err(|source| cannot_set(PATH, source)),
    }
}

fn is_invalid(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

/// Values of `net.ipv4.tcp_ecn`: 1 requests and accepts ECN, 2 only accepts it, 3 requests and accepts
/// Accurate ECN (Linux 7.0 and later).
fn tcp_ecn(ecn: GroupEcn) -> &'static str {
    match ecn {
        GroupEcn::Off => "2",
        GroupEcn::On => "1",
        GroupEcn::AccEcn => "3",
    }
}

pub(crate) fn cannot_set(path: &str, source: io::Error) -> Error {
    Error::System {
        what: format!(
            "cannot set {path} in a network namespace of the run (in a container, mount /proc/sys read-write)"
        ),
        source,
    }
}
