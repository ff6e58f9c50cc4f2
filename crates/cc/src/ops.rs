//! Rust's mirror of `struct tcp_congestion_ops` in `cc/include/vmlinux.h`.

use std::ffi::c_int;

use crate::sock::{AckSample, RateSample, Sock};

/// Bytes of `name`, its terminating zero included (`TCP_CA_NAME_MAX`).
pub(crate) const NAME_BYTES: usize = 16;

/// The table of callbacks. A null pointer in C is `None`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ops {
    pub(crate) ssthresh: Option<unsafe extern "C" fn(*mut Sock) -> u32>,
    pub(crate) cong_avoid: Option<unsafe extern "C" fn(*mut Sock, u32, u32)>,
    pub(crate) set_state: Option<unsafe extern "C" fn(*mut Sock, u8)>,
    pub(crate) cwnd_event: Option<unsafe extern "C" fn(*mut Sock, u32)>,
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

impl Ops {
    /// The congestion control's name, if the kernel would take it: 1 to 15 letters,
    /// digits, `_` or `.` (`bpf_obj_name_cpy`).
    pub(crate) fn name(&self) -> Option<&str> {
        let end = self.name.iter().position(|&byte| byte == 0)?;
        let name = &self.name[..end];
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        if name.is_empty() || !name.iter().all(allowed) {
            return None;
        }
        std::str::from_utf8(name).ok()
    }

    /// The first callback that Linux insists on and that is not there
    /// (`tcp_validate_congestion_control`).
    pub(crate) fn missing(&self) -> Option<&'static str> {
        if self.ssthresh.is_none() {
            Some("ssthresh")
        } else if self.undo_cwnd.is_none() {
            Some("undo_cwnd")
        } else if self.cong_avoid.is_none() && self.cong_control.is_none() {
            Some("cong_avoid` or `cong_control")
        } else {
            None
        }
    }

    /// Names of the callbacks that are there, in the table's order.
    pub(crate) fn present(&self) -> Vec<&'static str> {
        [
            ("ssthresh", self.ssthresh.is_some()),
            ("cong_avoid", self.cong_avoid.is_some()),
            ("set_state", self.set_state.is_some()),
            ("cwnd_event", self.cwnd_event.is_some()),
            ("in_ack_event", self.in_ack_event.is_some()),
            ("pkts_acked", self.pkts_acked.is_some()),
            ("min_tso_segs", self.min_tso_segs.is_some()),
            ("cong_control", self.cong_control.is_some()),
            ("undo_cwnd", self.undo_cwnd.is_some()),
            ("sndbuf_expand", self.sndbuf_expand.is_some()),
            ("init", self.init.is_some()),
            ("release", self.release.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, present)| present.then_some(name))
        .collect()
    }
}
