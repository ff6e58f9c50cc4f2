//! Confines foreign code: processes that run a congestion control, compilers that read one, and
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
//! | `this_process` | confines the process that runs congestion controls, in two steps |

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
