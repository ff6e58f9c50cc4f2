//! Whole runs of the simulator.

mod applications;
mod bbr3;
mod capture;
mod capture_file;
mod common;
mod conservation;
mod determinism;
mod impairments;
mod networks;
mod ooo_limit;
mod papers_hosts;
mod phase_effects;
mod quic_flows;
mod random_mixes;
mod rate_steps;
mod receive_offload;
mod refusals;
mod rtt_steps;
mod socket_memory;
mod super_packets;
mod testbed;
mod theory;
