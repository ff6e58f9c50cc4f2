//! What became of the programs of a run.

use serde::Serialize;

/// A program that ran in a host.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "names and units say it; docs/format-run.md has the table"
)]
pub struct ProgramSummary {
    pub group: u32,
    /// `client` or `server`.
    pub side: &'static str,
    pub command: Vec<String>,
    /// When it ran, from the start of the run; servers start before.
    pub start_us: i64,
    pub end_us: i64,
    /// The code with which it ended, or else the signal that ended it.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether it still ran when it was asked to end.
    pub was_ended: bool,
    /// CPU time of it and all that it started.
    pub cpu_us: Option<u64>,
    /// Time that its threads were ready and had no CPU, as sampled.
    pub run_delay_us: u64,
    /// The last of what it printed; `None` where it printed elsewhere.
    pub output: Option<String>,
}
