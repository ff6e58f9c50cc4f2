//! dumbbell's kernel engine: the scenario on this machine's Linux TCP.
//!
//! Hosts are network namespaces, flows are sockets, and the path between them is
//! `dumbbell-path`'s, driven on the monotonic clock.

mod bpf;
mod clock;
mod cpu;
mod error;
mod host;
mod kernel;
mod namespace;
mod netlink;
mod realtime;
mod relay;
mod rtt_probe;
mod super_packet;
mod tun;
mod wire;

pub use error::Error;

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

/// What this machine can do for the kernel engine.
pub fn machine() -> Vec<()> {
    Vec::new()
}
