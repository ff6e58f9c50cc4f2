//! Our congestion control algorithms in the running kernel: loading them, and reading their flows' state.
//!
//! `crates/cc/build.rs` compiles the built-in files for BPF, with clang or else with the compiler in Python's ziglang,
//! and embeds them. `crates/cc/src/build/bpf_object.rs` finds where the parameters are in `.rodata`. `loaded` writes
//! them there, writes a name unique to the instance into the ops table, and registers the table by a BPF link, so that
//! the kernel unregisters it however the process ends. A user's file that needs more than our `vmlinux.h` has is
//! compiled with the running kernel's types (`kernel_types`). If a file has several ops tables, one is chosen
//! (`crates/cc/src/object/ops_choice.rs`) and the others are not loaded.
//!
//! State is read by a BPF iterator (`crates/emu/bpf/socket_state.bpf.c`) over a socket-storage map in which each sender
//! is tagged with its flow: one read for all sockets of all namespaces.

pub(crate) mod congestion_controls;
mod failure;
mod instance_name;
mod kernel_types;
mod libbpf_log;
mod loaded;
pub(crate) mod skipping_kernel;
mod socket_state;
mod state_reader;
#[cfg(test)]
mod tests;

pub(crate) use loaded::Loaded;
pub(crate) use state_reader::{SocketTags, StateReader};
