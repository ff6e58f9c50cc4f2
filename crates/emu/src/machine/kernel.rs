//! The running kernel, and what this process may do with it.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::error::Error;

/// Inode of the initial user namespace (`PROC_USER_INIT_INO`).
const INITIAL_USER_NAMESPACE: &str = "user:[4026531837]";

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// The release of the guest's kernel, in the process of a guest.
static GUESTS_RELEASE: OnceLock<String> = OnceLock::new();

/// From now on the kernel of this process is a guest's.
pub(crate) fn set_guests_release(release: &str) {
    GUESTS_RELEASE.get_or_init(|| release.to_owned());
}

/// The output of `uname -r`.
pub(crate) fn release() -> String {
    if let Some(release) = GUESTS_RELEASE.get() {
        return release.clone();
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease");
    release.unwrap_or_default().trim().to_owned()
}

/// Whether the kernel is this version or newer.
pub(crate) fn is_at_least(major: u32, minor: u32) -> bool {
    version(&release()) >= (major, minor)
}

fn version(release: &str) -> (u32, u32) {
    let mut numbers = release
        .split(|character: char| !character.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Names of the congestion control algorithms registered, of all namespaces: the kernel's own, and those
/// loaded by BPF.
pub(crate) fn congestion_controls() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// The congestion control algorithm that sockets have unless they choose another: the machine's own.
pub(crate) fn default_congestion_control() -> Result<String, Error> {
    const PATH: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    let read = fs::read_to_string(PATH).map_err(|source| Error::System {
        what: format!("cannot read {PATH}"),
        source,
    })?;
    Ok(read.trim().to_owned())
}

/// Whether the kernel describes its types.
pub(crate) fn has_btf() -> bool {
    Path::new("/sys/kernel/btf/vmlinux").exists()
}

/// Whether this process is in the user namespace that the machine booted with.
pub(crate) fn in_initial_user_namespace() -> bool {
    fs::read_link("/proc/self/ns/user").is_ok_and(|name| name == Path::new(INITIAL_USER_NAMESPACE))
}

/// Whether this process may load BPF programs of every type that we have.
pub(crate) fn may_load_bpf() -> bool {
    let held = effective_capabilities();
    let has = |capability: u32| held >> capability & 1 == 1;
    in_initial_user_namespace()
        && (has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON) && has(CAP_NET_ADMIN))
}

fn effective_capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("6.18.44-fc-v669"), (6, 18));
        assert!(version("6.4.0") < version("6.18-rc1"));
        assert_eq!(version(""), (0, 0));
    }
}
