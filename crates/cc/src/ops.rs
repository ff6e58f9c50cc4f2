//! Rust's mirror of `struct tcp_congestion_ops` in `cc/include/vmlinux.h`.

use std::ffi::c_int;
use std::mem::{offset_of, size_of};

use crate::sock::{AckSample, RateSample, Sock};

/// Bytes of `name`, its terminating zero included (`TCP_CA_NAME_MAX`).
pub(crate) const NAME_BYTES: usize = 16;

/// Flag of the table: the congestion control wants ECN on its connections.
pub(crate) const TCP_CONG_NEEDS_ECN: u32 = 1 << 1;

/// The table of callbacks. A null pointer in C is `None`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ops {
    pub(crate) ssthresh: Option<unsafe extern "C" fn(*mut Sock) -> u32>,
    pub(crate) cong_avoid: Option<unsafe extern "C" fn(*mut Sock, u32, u32)>,
    pub(crate) set_state: Option<unsafe extern "C" fn(*mut Sock, u8)>,
    pub(crate) cwnd_event: Option<unsafe extern "C" fn(*mut Sock, u32)>,
    pub(crate) cwnd_event_tx_start: Option<unsafe extern "C" fn(*mut Sock)>,
    pub(crate) in_ack_event: Option<unsafe extern "C" fn(*mut Sock, u32)>,
    pub(crate) pkts_acked: Option<unsafe extern "C" fn(*mut Sock, *const AckSample)>,
    pub(crate) min_tso_segs: Option<unsafe extern "C" fn(*mut Sock) -> u32>,
    pub(crate) cong_control: Option<unsafe extern "C" fn(*mut Sock, u32, c_int, *const RateSample)>,
    pub(crate) undo_cwnd: Option<unsafe extern "C" fn(*mut Sock) -> u32>,
    pub(crate) sndbuf_expand: Option<unsafe extern "C" fn(*mut Sock) -> u32>,
    pub(crate) init: Option<unsafe extern "C" fn(*mut Sock)>,
    pub(crate) release: Option<unsafe extern "C" fn(*mut Sock)>,
    pub(crate) flags: u32,
    pub(crate) name: [u8; NAME_BYTES],
}

/// Names of the callbacks, in the table's order; they fill its start, a pointer each.
pub(crate) const CALLBACKS: [&str; 13] = [
    "ssthresh",
    "cong_avoid",
    "set_state",
    "cwnd_event",
    "cwnd_event_tx_start",
    "in_ack_event",
    "pkts_acked",
    "min_tso_segs",
    "cong_control",
    "undo_cwnd",
    "sndbuf_expand",
    "init",
    "release",
];

impl Ops {
    /// Refuses what the kernel would refuse; returns the name.
    pub(crate) fn check(&self) -> Result<&str, String> {
        check(&self.present(), &self.name)
    }

    /// The first callback that it needs to be called at all and does not have.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        missing(&self.present())
    }

    /// Names of the callbacks that are there, in the table's order.
    pub(crate) fn present(&self) -> Vec<&'static str> {
        let present = [
            self.ssthresh.is_some(),
            self.cong_avoid.is_some(),
            self.set_state.is_some(),
            self.cwnd_event.is_some(),
            self.cwnd_event_tx_start.is_some(),
            self.in_ack_event.is_some(),
            self.pkts_acked.is_some(),
            self.min_tso_segs.is_some(),
            self.cong_control.is_some(),
            self.undo_cwnd.is_some(),
            self.sndbuf_expand.is_some(),
            self.init.is_some(),
            self.release.is_some(),
        ];
        CALLBACKS
            .into_iter()
            .zip(present)
            .filter_map(|(name, present)| present.then_some(name))
            .collect()
    }
}

/// A table that has not been linked: its bytes, and which of them await an address.
pub(crate) struct OpsImage<'data> {
    pub(crate) bytes: &'data [u8],
    /// Offsets of the addresses to fill in.
    pub(crate) relocations: Vec<u64>,
}

impl<'data> OpsImage<'data> {
    /// `flags` of the table; 0 if it is too short to have any.
    pub(crate) fn flags(&self) -> u32 {
        let flags = offset_of!(Ops, flags);
        let bytes = self.bytes.get(flags..flags + 4);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    }

    /// Refuses what the kernel would refuse; returns the name.
    pub(crate) fn check(&self) -> Result<&'data str, String> {
        let name = offset_of!(Ops, name);
        let name = self
            .bytes
            .get(name..name + NAME_BYTES)
            .and_then(|bytes| bytes.try_into().ok())
            .filter(|_| self.bytes.len() == size_of::<Ops>())
            .ok_or("was built against another `struct tcp_congestion_ops`")?;
        let present: Vec<&str> = CALLBACKS
            .into_iter()
            .zip((0..).step_by(8))
            .filter_map(|(callback, offset)| self.relocations.contains(&offset).then_some(callback))
            .collect();
        check(&present, name)
    }
}

fn check<'name>(present: &[&str], name: &'name [u8; NAME_BYTES]) -> Result<&'name str, String> {
    if let Some(missing) = missing(present) {
        return Err(format!(
            "has no `{missing}`; the kernel would not register it"
        ));
    }
    allowed_name(name)
        .ok_or_else(|| "needs a .name of 1 to 15 letters, digits, `_` or `.`".to_owned())
}

/// The first callback that Linux insists on and that is not there
/// (`tcp_validate_congestion_control`).
fn missing(present: &[&str]) -> Option<&'static str> {
    if !present.contains(&"ssthresh") {
        Some("ssthresh")
    } else if !present.contains(&"undo_cwnd") {
        Some("undo_cwnd")
    } else if !present.contains(&"cong_avoid") && !present.contains(&"cong_control") {
        Some("cong_avoid` or `cong_control")
    } else {
        None
    }
}

/// The name, if the kernel would take it: 1 to 15 letters, digits, `_` or `.`
/// (`bpf_obj_name_cpy`).
fn allowed_name(name: &[u8; NAME_BYTES]) -> Option<&str> {
    let end = name.iter().position(|&byte| byte == 0)?;
    let name = &name[..end];
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if name.is_empty() || !name.iter().all(allowed) {
        return None;
    }
    std::str::from_utf8(name).ok()
}
