//! Kernels that now and then leave a BPF program out.

use std::sync::OnceLock;

use libbpf_rs::btf::{Btf, types};

/// Whether the running kernel leaves out BPF programs that another process than process 1 loaded, as long as process 1
/// is what runs on the CPU.
///
/// No Linux of kernel.org does; a patched one of a vendor of virtual machines does: `__bpf_prog_enter()` answers "leave it out"
/// if `current->tgid` is 1 and `prog->aux->init_owned` is not set. A timer of TCP that expires at such a moment calls a
/// congestion control that is left out, and a callback with a result then returns what was on the stack: a part of an address
/// for ssthresh, or for the number of segments of a burst (docs/notes/fidelity.md). The member's name gives such a kernel
/// away.
pub(crate) fn leaves_programs_out() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let Ok(btf) = Btf::from_vmlinux() else {
            return false;
        };
        let aux = btf.type_by_name::<types::Struct<'_>>("bpf_prog_aux");
        aux.is_some_and(|aux| {
            aux.iter()
                .any(|member| member.name.is_some_and(|name| name == "init_owned"))
        })
    })
}
