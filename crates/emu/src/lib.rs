//! dumbbell's kernel engine: the scenario on this machine's Linux TCP.
//!
//! Hosts are network namespaces, flows are sockets, and the path between them is
//! `dumbbell-path`'s, driven on the monotonic clock.

mod bbr_info;
mod bpf;
mod calibration;
mod capture;
mod clock;
mod congestion_controls;
mod connection;
mod cpu;
mod datagram;
mod error;
mod file_limit;
mod flow_report;
mod host;
mod kernel;
mod machine;
mod namespace;
mod netlink;
mod readiness;
mod realtime;
mod receivers;
mod relay;
mod rtt_probe;
mod run;
mod sampler;
mod senders;
#[cfg(test)]
mod skipped;
mod socket;
mod states;
mod summarize;
mod super_packet;
mod tcp_info;
#[cfg(test)]
mod test_bed;
mod traffic;
#[cfg(test)]
mod traffic_tests;
mod tun;
mod window;
mod wire;

pub use error::Error;
pub use machine::{Fact, Need, Status, machine};
pub use run::run;

/// Loads a congestion control into the running kernel, whose verifier so checks it, and takes it out
/// again.
///
/// # Errors
///
/// What the verifier says, or why this machine cannot ask it.
pub fn verify(name: &str) -> Result<(), Error> {
    let request = dumbbell_cc::Request {
        name: name.to_owned(),
        ..dumbbell_cc::Request::default()
    };
    bpf::Loaded::load(&request).map(drop)
}
