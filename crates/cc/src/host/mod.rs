//! Runs congestion control algorithms in this process: an [`instance`] is loaded, its [`flow`]s are called.
//!
//! One C file serves two builds. `SEC(".struct_ops")` puts the ops table in a section of that name in both. Natively,
//! `instance` finds the symbol there, maps a private copy of the shared object and calls through the table. `PARAM` and
//! `SERIES` (`cc/include/dumbbell.h`) put descriptors in section `dumbbell_decl`, which the kernel ignores.
//! `bpf_sk_storage_get()` natively returns a block that the flow owns. `Sock` (`crates/cc-abi`) mirrors `struct
//! tcp_sock`: `native.c` exports the offsets of the C side, and a difference makes the load fail.
//!
//! `native.c` is linked into each instance, because kernel helpers must be defined somewhere. The clock and the random
//! numbers are globals of the instance, set before each call: the BPF helpers take no socket, and an instance belongs
//! to one run. There are no locks.
//!
//! Before each call `flow` notes op, flow and time in two plain stores (`running`), so that a signal handler (`crash`)
//! and a watchdog can report where a crash or a hang happened. For a BPF source `field_watch` checks whether a call
//! wrote a field that the kernel would not let it write.

pub(crate) mod crash;
pub(crate) mod fault;
pub(crate) mod field_watch;
pub(crate) mod flow;
pub(crate) mod hosted;
pub(crate) mod instance;
pub(crate) mod kernel_functions;
pub(crate) mod mapping;
pub(crate) mod running;
