//! Packets as bytes: headers, what a TUN device reads and writes, the frames of the relay.

pub(crate) mod frame;
pub(crate) mod joining;
mod pure_ack;
pub(crate) mod rewrite;
pub(crate) mod segment;
pub(crate) mod super_packet;
#[cfg(test)]
pub(crate) mod test_packets;
