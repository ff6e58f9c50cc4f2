//! Captures: written by both engines, read from anyone, and analysed per connection.

#![forbid(unsafe_code)]

mod frame;
pub mod packet;
mod point;
mod writer;

pub use frame::{FrameFacts, ethernet_header};
pub use packet::{Checksum, Endpoint, SackBlocks, TcpFlags, TcpPacket};
pub use point::{CapturePoint, CapturePoints};
pub use writer::{CaptureConfig, CaptureWriter, DROPPED_COMMENT, WriteError};
