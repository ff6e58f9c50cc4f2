//! What `build.rs` embeds: the built-in congestion control algorithms and the headers they are compiled with.

use crate::build::artifact::Embedded;

/// A congestion control algorithm compiled by `build.rs`.
pub(crate) struct BuiltIn {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) object: Embedded,
    /// The same compiled for BPF, if a compiler for it was found when dumbbell was built.
    pub(crate) bpf: Option<Embedded>,
}

/// A file that congestion control algorithms include or are linked with: `cc/include`, and what several
/// of `cc/*.bpf.c` share.
pub(crate) struct Header {
    /// Relative to `cc`.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

// BUILT_INS and HEADERS, sorted by name; BPF_COMPILER.
include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// Names of the built-in congestion control algorithms, sorted.
pub fn builtin_names() -> Vec<&'static str> {
    BUILT_INS.iter().map(|built_in| built_in.name).collect()
}

/// The compiler that made the built-ins' BPF objects, if there was one.
pub fn builtins_bpf_compiler() -> Option<&'static str> {
    BPF_COMPILER
}

/// The text of every source that the built-ins were compiled from, with its path below `cc`:
/// the congestion control algorithms, then the headers and what is linked with them.
pub fn builtin_sources() -> impl Iterator<Item = (String, &'static str)> {
    let congestion_controls = BUILT_INS
        .iter()
        .map(|built_in| (format!("{}.bpf.c", built_in.name), built_in.source));
    let headers = HEADERS
        .iter()
        .map(|header| (header.path.to_owned(), header.text));
    congestion_controls.chain(headers)
}
