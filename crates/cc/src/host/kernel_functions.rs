//! The kernel functions that a natively built congestion control can call.

use libloading::os::unix::Library;

use crate::object::elf::Elf;

/// Defined by `cc/include/native.c`, named in messages.
const KERNEL_FUNCTIONS: [&str; 5] = [
    "tcp_slow_start",
    "tcp_cong_avoid_ai",
    "tcp_reno_ssthresh",
    "tcp_reno_cong_avoid",
    "tcp_reno_undo_cwnd",
];

/// Symbols that neither the object nor the process defines.
pub(crate) fn missing_symbols<'data>(elf: &Elf<'data>) -> Vec<&'data str> {
    let process = Library::this();
    let is_missing = |name: &&str| {
        // SAFETY: only looks the symbol up, and does not use it.
        unsafe { process.get::<*const ()>(*name) }.is_err()
    };
    elf.undefined().into_iter().filter(is_missing).collect()
}

/// An error message about them, with the remedy.
pub(crate) fn missing_functions(elf: &Elf<'_>) -> Option<String> {
    let missing: Vec<String> = missing_symbols(elf)
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "needs {} of the kernel, which the simulator does not have; it has {}. Define it in \
             the file, or use a kernel that has it (`--engine kernel`)",
            missing.join(", "),
            KERNEL_FUNCTIONS.join(", ")
        )
    })
}
