//! The pieces of the sandbox that the running kernel has.

use crate::sandbox::files::{FIRST_WITH_SIGNALS, landlock_version};
use crate::sandbox::system_calls::has_seccomp;

/// A piece of the sandbox that a kernel may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Landlock: access to files.
    Files,
    /// Landlock's right to truncate files.
    Truncation,
    /// Landlock's right to control devices.
    Devices,
    /// Landlock's scope of signals.
    Signals,
    /// seccomp filters: system calls.
    SystemCalls,
}

impl Piece {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Files,
        Self::Truncation,
        Self::Devices,
        Self::Signals,
        Self::SystemCalls,
    ];

    /// Its name for messages, with the version of Linux that brought it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "Landlock (Linux 5.13)",
            Self::Truncation => "Landlock for truncation (Linux 6.2)",
            Self::Devices => "Landlock for device control (Linux 6.10)",
            Self::Signals => "Landlock for signals (Linux 6.12)",
            Self::SystemCalls => "seccomp",
        }
    }

    /// What foreign code can do without it.
    pub fn costs(self) -> &'static str {
        match self {
            Self::Files => "foreign code can read and write all files that you can",
            Self::Truncation => "foreign code can empty files that you can write",
            Self::Devices => "foreign code can send commands to devices that it was given",
            Self::Signals => "a compiler of foreign code can signal your other processes",
            Self::SystemCalls => {
                "foreign code can start programs and use the network, and outlive its run"
            }
        }
    }

    /// Whether the running kernel has it.
    pub fn is_present(self) -> bool {
        match self {
            Self::Files => landlock_version() >= 1,
            Self::Truncation => landlock_version() >= 3,
            Self::Devices => landlock_version() >= 5,
            Self::Signals => landlock_version() >= FIRST_WITH_SIGNALS,
            Self::SystemCalls => has_seccomp(),
        }
    }
}

/// The pieces that the running kernel lacks. What Landlock lacks is not listed where there is none.
pub fn missing_pieces() -> Vec<Piece> {
    let mut missing: Vec<Piece> = Piece::ALL
        .into_iter()
        .filter(|piece| !piece.is_present())
        .collect();
    if missing.contains(&Piece::Files) {
        missing.retain(|piece| matches!(piece, Piece::Files | Piece::SystemCalls));
    }
    missing
}

/// The kernel's version of Landlock, 0 for none.
pub fn landlock() -> u32 {
    landlock_version()
}
