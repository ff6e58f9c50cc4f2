//! dumbbell's kernel engine: the scenario on this machine's Linux TCP.
//!
//! Hosts are network namespaces, flows are sockets, and the path between them is
//! `dumbbell-path`'s, driven on the monotonic clock.

mod bpf;
mod error;
mod kernel;
mod machine;
#[cfg(all(test, feature = "bpf"))]
mod skipped;

pub use error::Error;
pub use machine::{Fact, Need, Status, machine};

/// Runs `scenario` on this machine's Linux TCP.
///
/// # Errors
///
/// A scenario that cannot be run, a machine that cannot run it, or [`Error::Cancelled`].
pub fn run(
    scenario: &dumbbell_run::Scenario,
    _control: &dumbbell_run::Control,
) -> Result<dumbbell_run::Output, Error> {
    let _ = scenario;
    Err(Error::Refused(
        "the kernel engine is under construction".to_owned(),
    ))
}
