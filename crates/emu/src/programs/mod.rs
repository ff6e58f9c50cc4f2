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
pub use of_groups::Side;
pub(crate) use of_groups::{Programs, Standard};
pub use process::Process;
pub(crate) use spawner::Spawner;
