//! What became of the programs of a run.

use dumbbell_declare::{FREE, IF_ANY, records};

records! {
    /// A program that ran in a host.
    pub struct ProgramSummary: "program" {
        /// Index of its group.
        group: u32;
        /// `client` or `server`.
        side: &'static str;
        /// Its words, as they were started.
        command: Vec<String>, FREE;
        /// When it started, from the start of the run; servers start before.
        start_us: i64;
        /// When it ended, from the start of the run.
        end_us: i64;
        /// The code with which it ended; null if a signal ended it.
        exit_code: Option<i32>;
        /// The signal that ended it; null if none did.
        signal: Option<u32>;
        /// Whether it still ran when it had to end.
        was_ended: bool;
        /// CPU time of it and all that it started.
        cpu_us: Option<u64>;
        /// Time that its threads were ready and had no CPU, as sampled.
        run_delay_us: u64;
        /// The last of what it printed; null where it printed elsewhere.
        output: Option<String>, FREE;
        /// The last number that `measure` found in what a client printed; null if there is none. Python adds it.
        measured: Option<f64>, IF_ANY;
    }
}
