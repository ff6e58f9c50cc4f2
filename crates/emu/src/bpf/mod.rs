//! Our congestion controls in the running kernel: loading them, and reading their flows' state.

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
