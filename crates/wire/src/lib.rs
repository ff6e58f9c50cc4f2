//! Headers of Ethernet, IPv4, IPv6, TCP and UDP. Only this crate reads, writes and changes their bytes.
//!
//! A view (`Ipv4`, `Ipv6`, `Tcp`) reads the fields of a header whose fixed part is complete. The caller decides what
//! lengths that contradict each other mean: the relay of the kernel engine ignores the length fields of super-packets,
//! and a capture may be truncated anywhere.
//!
//! This crate does not use etherparse, with which the tests compare it. etherparse rejects a TCP header with truncated
//! options, which a capture's snap length causes, and takes ten times as long.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod checksum;
pub mod ethernet;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod tcp;
pub mod tcp_options;
pub mod transport;
pub mod udp;
