//! Headers of Ethernet, IPv4, IPv6, TCP and UDP: each is read, written and changed in its bytes here and nowhere else.
//!
//! A view (`Ipv4`, `Ipv6`, `Tcp`) reads fields of a header whose fixed part is complete. What a contradiction between
//! lengths means is for the caller: the relay of the kernel engine ignores the length fields of super-packets, and a
//! capture may be cut anywhere.
//!
//! Not etherparse, which the tests compare with: it rejects a TCP header whose options are cut, as snap lengths do, and
//! takes ten times as long.

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
