//! One thing that a machine has or lacks.

use serde::Serialize;

/// One thing that a machine has or lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Whether it is there.
    pub status: Status,
    /// What was found.
    pub value: String,
    /// What is impossible, or worse, without it.
    pub costs: &'static str,
    /// How to get it.
    pub remedy: &'static str,
    /// What does not work at all while it is missing.
    pub needed_for: &'static [Need],
}

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Status {
    /// The requirement is met.
    Ok,
    /// There is less of it than is desirable.
    Limited,
    /// It is not.
    Missing,
}

/// What a fact may be needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Need {
    /// The kernel engine.
    Kernel,
    /// Our congestion control algorithms in the kernel.
    Bpf,
}
