//! Hosts for tests on the real kernel.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dumbbell_scenario::Scenario;

use crate::facts::{Need, Status, machine};
use crate::hosts::host::Hosts;
use crate::skipped::skipped;

/// Tests of the kernel engine would disturb each other's times.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Hosts for the test called `test`, and the machine to itself; `None` where the machine lacks what
/// they need, which is reported. A failure although it has everything fails the test.
pub(crate) fn hosts(
    test: &str,
    scenario: &Scenario,
) -> Option<(MutexGuard<'static, ()>, Arc<Hosts>)> {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = machine()
        .into_iter()
        .find(|fact| fact.status == Status::Missing && fact.needed_for.contains(&Need::Kernel));
    if let Some(fact) = missing {
        skipped(test, &format!("{}: {}", fact.name, fact.value));
        return None;
    }
    let hosts = Hosts::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    Some((turn, Arc::new(hosts)))
}
