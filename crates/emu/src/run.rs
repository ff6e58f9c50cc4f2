//! One run of a scenario, from its first packet to its end.

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Output;
use dumbbell_scenario::{Control, Scenario};

use crate::emulation::Emulation;
use crate::error::Error;
use crate::prepared::Prepared;
use crate::programs::Spawner;

/// Runs `scenario` on this machine's Linux TCP, and captures its packets if `capture` is given. Its programs are
/// started, and if all clients among them have ended before its time, it is over.
///
/// # Errors
///
/// A scenario that cannot be run, a machine that cannot run it, a program that cannot be started, a capture that cannot
/// be written, or [`Error::Cancelled`].
pub fn run(
    scenario: &Scenario,
    control: &Control,
    capture: Option<&CaptureConfig>,
) -> Result<Output, Error> {
    let has_programs = scenario.groups.iter().any(|group| group.program.is_some());
    let spawner = has_programs.then(Spawner::start).transpose()?;
    let mut prepared = Prepared::new(scenario, control, spawner, None)?;
    prepared.start_servers(control)?;
    let mut emulation = Emulation::begin(prepared, capture)?;
    emulation.run_clients(control)?;
    emulation.stop()
}
