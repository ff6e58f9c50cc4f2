//! Captures: written by both engines, read from anyone, and analysed per connection.

#![forbid(unsafe_code)]

pub mod packet;

pub use packet::{Checksum, Endpoint, SackBlocks, TcpFlags, TcpPacket};
