//! The native build line of a congestion control algorithm, the same in `build.rs` and at run time.

/// Flags of the compiler for a machine of this architecture (Rust's name for it).
///
/// The kernel's dialect: wrapping arithmetic, no type-based aliasing, no floating point.
pub(crate) fn compiler(arch: &str) -> Vec<&'static str> {
    let mut flags = vec![
        "-std=gnu11",
        "-O2",
        "-g0",
        "-fPIC",
        "-fwrapv",
        "-fno-strict-aliasing",
    ];
    // Other architectures' compilers do not know the flag; there the BPF build catches floats.
    if matches!(arch, "x86_64" | "aarch64") {
        flags.push("-mgeneral-regs-only");
    }
    flags
}

/// Warnings for our own sources, for BPF too; each is an error.
#[allow(dead_code, reason = "for build scripts")]
pub(crate) const OUR_WARNINGS: [&str; 4] = [
    "-Wall",
    "-Wextra",
    "-Werror",
    // As in the kernel's own build: a callback has the parameters of its op.
    "-Wno-unused-parameter",
];

/// Warnings for users' sources, for BPF too: the kernel's sources are compiled with other warnings
/// than ours, so only what cannot work is an error.
#[allow(dead_code, reason = "build scripts compile ours alone")]
pub(crate) const USERS_WARNINGS: [&str; 2] = ["-w", "-Werror=implicit-function-declaration"];

/// Flags that link a shared object.
///
/// `-Bsymbolic` binds the file's globals to itself, so that two instances in one process never see
/// each other's. The declarations of `dumbbell.h`, which no code refers to, must be kept (`zig cc`
/// discards unused sections by default).
pub(crate) const LINKER: [&str; 4] = [
    "-shared",
    "-nostdlib",
    "-Wl,-Bsymbolic",
    "-Wl,--no-gc-sections",
];

/// Files of `cc/include` that every object is linked with: the kernel's side of the contract.
pub(crate) const LINKED: [&str; 2] = ["native.c", "maps.c"];
