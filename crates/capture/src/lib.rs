//! Captures: written by both engines, read from anyone, and analysed per connection.

#![forbid(unsafe_code)]

mod checksum;
pub mod dissect;
pub mod error;
mod frame;
mod ip;
pub mod link_layer;
pub mod packet;
mod point;
pub mod reader;
mod tcp;
mod writer;

pub use error::Error;
pub use frame::{FrameFacts, ethernet_header};
pub use link_layer::LinkType;
pub use packet::{Checksum, Endpoint, SackBlocks, TcpFlags, TcpPacket};
pub use point::{CapturePoint, CapturePoints};
pub use reader::{Damage, Interface, ReadCounts, Reader};
pub use writer::{CaptureConfig, CaptureWriter, DROPPED_COMMENT, WriteError};
