//! From a congestion control algorithm's source to an object: the embedded ones, and the compilers for a
//! user's file. [`find`] is the entry point.
//!
//! The server of foreign code (`python/dumbbell/congestion_control/isolation`) keeps the latest build of each file,
//! with the content of every file that it was built from (`build_cache`). Before each run it checks whether any of
//! them has changed; the process that it forks takes the build from memory.

pub(crate) mod artifact;
pub(crate) mod bpf_compiler;
pub(crate) mod bpf_object;
pub(crate) mod build_cache;
pub(crate) mod compile;
pub(crate) mod compiler;
pub(crate) mod compiler_message;
pub(crate) mod constants;
pub(crate) mod digest;
pub(crate) mod embedded;
pub(crate) mod file_name;
pub(crate) mod find;
pub(crate) mod flags;
pub(crate) mod kernel_congestion_controls;
pub(crate) mod kernel_headers;
pub(crate) mod kernel_module;
pub(crate) mod makefile;
pub(crate) mod preprocessed;
pub(crate) mod python;
pub(crate) mod readable_sources;
pub(crate) mod scratch;
pub(crate) mod state_size;
pub(crate) mod toolchain;
