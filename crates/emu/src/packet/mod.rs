//! Packets as bytes: headers, what a TUN device reads and writes, the frames of the relay.

pub(crate) mod frame;
pub(crate) mod ip;
pub(crate) mod joining;
mod pure_ack;
pub(crate) mod rewrite;
pub(crate) mod super_packet;
pub(crate) mod wire;
