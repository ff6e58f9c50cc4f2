//! Reports that a test is skipped on this machine.

use std::io::{Write as _, stdout};

/// Prints the reason; `tests/run_all.py` counts these lines. Not with `println!`, which the test
/// harness captures when a test passes.
pub(crate) fn skipped(test: &str, reason: &str) {
    // One write, so that no other thread's line comes between.
    let line = format!("SKIPPED: {test}: {reason}\n");
    let _ = stdout().write_all(line.as_bytes());
}
