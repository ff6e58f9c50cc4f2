//! The ops tables that the kernel would register.

use std::mem::{offset_of, size_of};

use dumbbell_cc_abi::{CALLBACKS, Ops, TCP_CA_NAME_MAX};

/// Rejects what the kernel would reject; returns the name.
pub(crate) fn check(ops: &Ops) -> Result<&str, String> {
    let present: Vec<_> = ops.present().collect();
    check_parts(&present, &ops.name)
}

/// The first required callback that the table does not have.
pub(crate) fn missing(ops: &Ops) -> Option<&'static str> {
    let present: Vec<_> = ops.present().collect();
    first_missing(&present)
}

/// A table that has not been linked: its bytes, and where addresses will be filled in.
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

    /// Rejects what the kernel would reject; returns the name.
    pub(crate) fn check(&self) -> Result<&'data str, String> {
        let name = offset_of!(Ops, name);
        let name = self
            .bytes
            .get(name..name + TCP_CA_NAME_MAX)
            .and_then(|bytes| bytes.try_into().ok())
            .filter(|_| self.bytes.len() == size_of::<Ops>())
            .ok_or("was built against another `struct tcp_congestion_ops`")?;
        let present: Vec<&str> = self.present().collect();
        check_parts(&present, name)
    }

    /// Names of the callbacks that are set, in the order of the table.
    pub(crate) fn present(&self) -> impl Iterator<Item = &'static str> {
        CALLBACKS
            .into_iter()
            .zip((0..).step_by(8))
            .filter_map(|(callback, offset)| self.relocations.contains(&offset).then_some(callback))
    }
}

fn check_parts<'name>(
    present: &[&str],
    name: &'name [u8; TCP_CA_NAME_MAX],
) -> Result<&'name str, String> {
    if let Some(missing) = first_missing(present) {
        return Err(format!(
            "has no `{missing}`, without which the kernel{} would not register it",
            since(missing)
        ));
    }
    allowed_name(name)
        .ok_or_else(|| "needs a .name of 1 to 15 letters, digits, `_` or `.`".to_owned())
}

/// The first missing callback of those that Linux requires (`tcp_validate_congestion_control`).
fn first_missing(present: &[&str]) -> Option<&'static str> {
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

/// Since when Linux requires a callback, if older versions did not.
fn since(callback: &str) -> &'static str {
    match callback {
        "undo_cwnd" => " (Linux 4.10 and later)",
        _ => "",
    }
}

/// The name, if the kernel would accept it: 1 to 15 letters, digits, `_` or `.`
/// (`bpf_obj_name_cpy`).
fn allowed_name(name: &[u8; TCP_CA_NAME_MAX]) -> Option<&str> {
    let end = name.iter().position(|&byte| byte == 0)?;
    let name = &name[..end];
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if name.is_empty() || !name.iter().all(allowed) {
        return None;
    }
    std::str::from_utf8(name).ok()
}
