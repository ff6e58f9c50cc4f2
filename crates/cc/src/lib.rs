//! Builds and hosts dumbbell's congestion controls: `cc/*.bpf.c`, natively.
//!
//! A congestion control is one C file that fills Linux's `struct tcp_congestion_ops`.
//! `build.rs` compiles the built-in ones to shared objects that this crate embeds
//! ([`builtin_names`]); a user's own file is compiled when it is loaded, against the
//! same headers, which are embedded too. The same files compiled for BPF are embedded beside
//! them, for the kernel ([`BpfObject`]).
//!
//! - [`Instance::load`] maps a private copy of the object and sets its parameters, so
//!   that two instances of one congestion control share nothing, not even globals.
//! - [`Instance::new_flow`] makes a [`Flow`]: a [`Sock`] (`struct tcp_sock`) running it.
//!   The simulated TCP keeps its state in the `Sock` and calls the `Flow`'s methods
//!   where Linux calls the ops.
//! - [`describe`] says what a congestion control declares of itself with
//!   `cc/include/dumbbell.h`: its parameters ([`Param`]) and time series ([`Series`]).
//!
//! It trusts the C as a kernel trusts a module: a file that writes through a wild pointer or
//! divides by zero takes the process with it. So a process of its own runs foreign code, and
//! [`report_crashes`] makes it say what happened; a cwnd that no TCP can have is a [`Fault`].

mod bpf;
mod bpf_compiler;
mod catalog;
mod compile;
mod compiler;
mod compiler_message;
mod crash;
mod declarations;
mod digest;
mod elf;
mod error;
mod fault;
mod field_watch;
mod file_name;
mod flags;
mod flow;
mod hosted;
mod instance;
mod kernel_congestion_controls;
mod kernel_functions;
mod kernel_headers;
mod kernel_module;
mod mapping;
mod ops;
mod ops_choice;
mod preprocessed;
mod remembered;
mod request;
mod running;
mod scratch;
mod sock;
// Beside the socket and not in its file, which crates/cc-abi compiles too.
#[cfg(test)]
mod sock_layout_tests;
mod storm;

pub use bpf::{BpfObject, Constant};
pub use catalog::{
    Description, bpf_compiler, builtin_names, compile_for_kernel, describe, precompile,
};
pub use crash::{report_crashes, running_call};
pub use declarations::{Param, Reader, Series};
pub use error::Error;
pub use fault::{Fault, MAX_CWND_PKTS};
pub use flow::Flow;
pub use hosted::{Hook, Hooks, Hosted, NewFlow};
pub use instance::Instance;
pub use request::Request;
pub use running::Call;
pub use scratch::ScratchDir;
pub use sock::{
    AckSample, CA_PRIV_WORDS, CaEvent, CaState, MinMax, RateSample, SK_PACING_NEEDED, Sock,
    TCP_INFINITE_SSTHRESH,
};
pub use storm::{StormSources, write_storm};
