//! What foreign code can do to the machine: nothing. Each attack is shown to succeed without the
//! sandbox, as root and as an ordinary user.
#![allow(clippy::print_stdout, reason = "a test that was skipped says so")]

mod attacks;
mod commands;
mod compiling;
mod ordinary_user;
mod this_process;

use std::process::Command;

/// Another process of these tests, which runs one of them. The variable tells it to do its part.
fn one_test(name: &str, variable: &str, value: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture"])
        .env(variable, value);
    command
}

/// Prints the line that `tests/run_all.py` counts, and returns true, if the kernel lacks pieces.
fn skipped(test: &str) -> bool {
    let missing: Vec<&str> = dumbbell_cc::missing_pieces()
        .into_iter()
        .map(dumbbell_cc::Piece::name)
        .collect();
    if !missing.is_empty() {
        println!("SKIPPED: {test}: this kernel lacks {}", missing.join(", "));
    }
    !missing.is_empty()
}
