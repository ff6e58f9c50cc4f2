//! Builds dumbbell's congestion control algorithms, `cc/*.bpf.c`, and runs them in this process.
//!
//! A congestion control algorithm is one C file that fills Linux's `struct tcp_congestion_ops`.
//! `build.rs` compiles the built-in ones to shared objects that this crate embeds
//! ([`builtin_names`]); a user's own file is compiled when it is loaded, against the
//! same headers, which are embedded too. The built-in ones are also embedded as BPF objects, for the
//! kernel ([`BpfObject`]).
//!
//! - [`Instance::load`] maps a private copy of the object and sets its parameters, so
//!   that two instances of one congestion control algorithm share nothing, not even globals.
//! - [`Instance::new_flow`] makes a [`Flow`]: a [`Sock`] (`struct tcp_sock`) running it.
//!   The simulated TCP keeps its state in the `Sock` and calls the `Flow`'s methods
//!   where Linux calls the ops.
//! - [`describe`] returns what a congestion control algorithm declares with `cc/include/dumbbell.h`:
//!   its parameters ([`Param`]) and time series ([`Series`]).
//!
//! The C is trusted as a kernel trusts a module: a file that writes through a wild pointer or
//! divides by zero takes the process with it. Therefore foreign code runs in a separate process. That process calls
//! [`confine()`] to restrict itself, and [`report_crashes`] to report a crash. What breaks TCP's rules without a crash,
//! such as an impossible cwnd, is a [`Fault`].
//!
//! The socket and the ops table are those of `crates/cc-abi`. A module uses those above it, and the
//! types of `describe`:
//!
//! | module | what |
//! |---|---|
//! | `sandbox` | what foreign code, and a compiler that reads it, can do to the machine |
//! | `object` | what can be read from an object before it is mapped or loaded: ELF, ops tables, declarations |
//! | `request` | a congestion control algorithm and its parameters, as requested |
//! | `build` | from source to object: compilers, headers, build cache, built-ins |
//! | `host` | loads an object, calls it, and detects crashes and broken rules |
//! | `describe` | a congestion control algorithm's parameters and series |
//! | `fetch`, `large_pages` | hints to processor and kernel about memory |
//! | `check` | the C program that `dumbbell cc check` compiles together with an algorithm |

mod build;
mod check;
mod describe;
mod error;
mod fetch;
mod host;
mod large_pages;
#[cfg(test)]
mod layout_tests;
mod object;
mod request;
mod sandbox;

pub use build::bpf_object::{BpfObject, Constant, compile_for_kernel};
pub use build::build_cache::use_finished_builds;
pub use build::compiler::{bpf_compiler, native_compiler, use_python};
pub use build::embedded::{builtin_names, builtin_sources, builtins_bpf_compiler};
pub use build::find::precompile;
pub use build::scratch::ScratchDir;
pub use build::toolchain::run_compiler;
pub use check::storm_sources::{StormSources, write_storm};
pub use describe::{Declared, Description, Kind, describe};
pub use dumbbell_cc_abi::{
    AckSample, CA_PRIV_WORDS, CaEvent, CaState, LostSegment, MinMax, RateSample, SK_PACING_FQ,
    SK_PACING_NEEDED, Sock, TCP_INFINITE_SSTHRESH,
};
pub use error::Error;
pub use fetch::fetch;
pub use host::crash::{report_crashes, running_call};
pub use host::fault::{Fault, MAX_CWND_PKTS};
pub use host::flow::Flow;
pub use host::hosted::{Hook, Hooks, Hosted, NewFlow};
pub use host::instance::Instance;
pub use host::running::Call;
pub use large_pages::vec_in_large_pages;
pub use object::declarations::{Param, Series};
pub use request::Request;
pub use sandbox::confined_command::{ConfinedCommand, Ended};
pub use sandbox::is_off as sandbox_is_off;
pub use sandbox::pieces::{Piece, landlock, missing_pieces};
pub use sandbox::system_call_names::name_of_system_call;
pub use sandbox::this_process::{Confine, confine, die_with_parent, seal};
