//! Confines foreign code: processes that run a congestion control algorithm, compilers that read one, and
//! programs made of one.
//!
//! | file | what |
//! |---|---|
//! | `confinement` | all that is taken from a process, prepared first and then applied at once |
//! | `files` | Landlock: which files it can open, and no signals to others |
//! | `system_calls` | seccomp: which system calls it can make |
//! | `system_call_names` | their names, for messages |
//! | `limits` | memory, CPU time, file sizes |
//! | `pieces` | which of these the running kernel has, and what a missing one costs |
//! | `confined_command` | a compiler, or a program: its output, within its bounds |
//! | `supervisor` | the process that ends such a command |
//! | `this_process` | confines the process that runs congestion control algorithms, in two steps |
//!
//! Everything that is taken from a process is prepared before a fork (`confinement`: Landlock rules, seccomp programs,
//! limits), because a child of a process with threads may only make system calls.
//!
//! A process that runs congestion control algorithms has a list of allowed system calls. A second, shorter list applies
//! from the moment at which the last algorithm was loaded (`seal()`, called by `crates/sim`): from then on no file is
//! opened, no code mapped, no thread started.
//!
//! A compiler starts programs, so it has a list of forbidden calls instead; the calls by which it could leave its
//! session are among them. It runs under a supervisor, which is forked between it and the requester. The supervisor
//! kills the session when the compiler has ended, at its limits, or when the requester dies; then it also removes the
//! scratch directory. `build/toolchain.rs` lists what a compiler can read: the system's directories, its own, and those
//! of the user's files that `build/readable_sources.rs` finds. If a process was killed together with its supervisor,
//! the next compiler removes its directory, because the lock on it is free (`build/scratch.rs`). An object made from C
//! that has constructors is refused (`object/constructors.rs`); that gives a clear message and is not the boundary.
//!
//! `tests/hostile` holds what all this must withstand: each file tries one thing. docs/security.md says what is
//! promised.

pub(crate) mod confined_command;
mod confinement;
mod files;
mod limits;
pub(crate) mod pieces;
mod supervisor;
pub(crate) mod system_call_names;
mod system_calls;
pub(crate) mod this_process;

use std::env;

/// Set by `--unsafe-no-sandbox`.
const NO_SANDBOX: &str = "DUMBBELL_UNSAFE_NO_SANDBOX";

/// Whether the user has turned all confinement off.
pub fn is_off() -> bool {
    env::var_os(NO_SANDBOX).is_some_and(|value| value == "1")
}
