//! The sockets of the flows, and what the kernel reports about them.

pub(crate) mod bbr_info;
pub(crate) mod connection;
pub(crate) mod datagram;
pub(crate) mod receivers;
pub(crate) mod sender_sockets;
pub(crate) mod senders;
pub(crate) mod socket;
pub(crate) mod tcp_info;
