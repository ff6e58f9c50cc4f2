//! Captures: written by both engines, read from anyone, and analysed per connection.

#![forbid(unsafe_code)]

mod checksum;
pub mod dissect;
pub mod error;
mod ip;
pub mod link_layer;
pub mod packet;
pub mod reader;
mod tcp;

pub use error::Error;
pub use link_layer::LinkType;
pub use packet::{Checksum, Endpoint, SackBlocks, TcpFlags, TcpPacket};
pub use reader::{Damage, Interface, ReadCounts, Reader};
