//! Simulates a resolved scenario (JSON on standard input) and prints its summary as JSON.

#![allow(
    clippy::print_stdout,
    reason = "printing the summary is the example's purpose"
)]

use std::error::Error;

use dumbbell_sim::{Control, Scenario, run};

fn main() -> Result<(), Box<dyn Error>> {
    let scenario: Scenario = serde_json::from_reader(std::io::stdin())?;
    let output = run(&scenario, &Control::default(), None)?;
    println!("{}", serde_json::to_string_pretty(&output.summary)?);
    Ok(())
}
