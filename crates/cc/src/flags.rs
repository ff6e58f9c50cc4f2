//! The native build line of a congestion control, the same in `build.rs` and at run time.

/// Flags of the compiler for a machine of this architecture (Rust's name for it).
///
/// The kernel's dialect: wrapping arithmetic, no type-based aliasing, no floating point.
pub(crate) fn compiler(arch: &str) -> Vec<&'static str> {
    let mut flags = vec![
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        // As in the kernel's own build: a callback takes what its slot passes.
        "-Wno-unused-parameter",
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

/// Flags that make a shared object of it.
///
/// `-Bsymbolic` binds the file's globals to itself, so that two instances in one
/// process never see each other's. The declarations of `dumbbell.h`, which no code
/// refers to, must survive (`zig cc` collects sections by default).
pub(crate) const LINKER: [&str; 4] = [
    "-shared",
    "-nostdlib",
    "-Wl,-Bsymbolic",
    "-Wl,--no-gc-sections",
];
