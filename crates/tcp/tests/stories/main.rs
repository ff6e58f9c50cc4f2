//! Tests of TCP: one story per binding clause, then properties and response functions.
//!
//! Where Linux and an RFC differ the stories follow Linux, and note it.

#[path = "../script/mod.rs"]
mod script;

mod accecn;
mod ack_path;
mod close;
mod delayed_ack;
mod delivery_rate;
mod deterministic_loss;
mod earlier_linux;
mod earlier_timing;
mod ecn;
mod establish;
mod fast_recovery;
mod freebsd_receiver;
mod gro;
mod limits;
mod loss_probe;
mod ooo_limit;
mod pacing;
mod properties;
mod rack;
mod receiver;
mod response_functions;
mod stream;
mod super_packets;
mod timeout;
mod transfers;
mod undo;
