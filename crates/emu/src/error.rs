//! Why a scenario could not be run on the kernel.

use std::io;

/// Each message is one line for the user: what is wrong, the value, the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A congestion control algorithm could not be found or loaded.
    #[error(transparent)]
    CongestionControl(#[from] dumbbell_cc::Error),
    /// The run's packets could not be written.
    #[error(transparent)]
    Capture(#[from] dumbbell_capture::WriteError),
    /// A scenario that cannot be run here, or a machine that cannot run it.
    #[error("{0}")]
    Refused(String),
    /// The kernel does not let root load a BPF program (EPERM), which it did not reject for what it does.
    #[error("{0}")]
    NotPermitted(String),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was being done, and the remedy where there is one.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// `Control::cancel` was called.
    #[error("the run was cancelled")]
    Cancelled,
}
