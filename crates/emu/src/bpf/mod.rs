//! Our congestion controls in the running kernel: loading them, and reading their flows' state.
//!
//! Without the cargo feature `bpf` the same types exist and say that it was left out.

pub(crate) mod congestion_controls;
#[cfg(feature = "bpf")]
mod failure;
#[cfg(feature = "bpf")]
mod instance_name;
#[cfg(feature = "bpf")]
mod kernel_types;
#[cfg(feature = "bpf")]
mod libbpf_log;
#[cfg(feature = "bpf")]
mod loaded;
mod socket_state;
#[cfg(feature = "bpf")]
mod state_reader;
#[cfg(all(test, feature = "bpf"))]
mod tests;
#[cfg(not(feature = "bpf"))]
mod without;

#[cfg(feature = "bpf")]
pub(crate) use loaded::Loaded;
#[cfg(feature = "bpf")]
pub(crate) use state_reader::StateReader;
#[cfg(not(feature = "bpf"))]
pub(crate) use without::{Loaded, StateReader};
