//! Programs of the user in the run's hosts.
//!
//! A program is in its host's network namespace, with a PID namespace of its own, so that nothing that it starts outlives
//! it, and a mount namespace, in which `/etc/hosts` has the hosts' names.
//!
//! | file | what |
//! |---|---|
//! | `launch`, `messages` | what it takes to start one, as bytes; what the processes tell each other |
//! | `keeper` | the processes between the engine and a program |
//! | `spawner`, `child` | the same as the engine sees them |
//! | `names`, `output`, `ports`, `run_delay` | its names, what it prints, which ports are open, how long it waited for CPUs |
//! | `of_groups` | the programs of a run |
//!
//! A spawner is forked from the engine before the engine's threads start, so that starting a program later forks a
//! small process and holds up no relay. For each program it forks an init in a new PID and mount namespace. The init
//! enters the host's network, mounts names and `/proc`, and forks the command. The engine has several threads, so until
//! `execve` all of that only makes system calls: what is needed was laid out before in a file in memory (`launch`),
//! which the init maps.
//!
//! Each program has a socket pair to the engine. The init reports the program's start and end, and passes signals on.
//! It exits when the engine's end of the pair closes; then the kernel kills everything left in its namespace, and the
//! spawner reports its CPU time. Everything therefore ends with the engine, however the engine ends. `Emulation` is
//! what `run` and the Python binding share. A run with clients ends early by moving its end (`run_end.rs`), which every
//! thread looks at.

mod child;
mod keeper;
mod launch;
mod messages;
mod names;
mod of_groups;
mod output;
mod ports;
mod process;
mod run_delay;
mod spawner;
#[cfg(test)]
mod tests;

pub use child::{Command, Exit};
pub(crate) use child::{environment, find};
pub(crate) use names::Names;
pub use of_groups::Side;
pub(crate) use of_groups::{Programs, READY_WITHIN, Standard, described, listed, programs_of};
pub(crate) use output::Output;
pub use process::Process;
pub(crate) use spawner::Spawner;
