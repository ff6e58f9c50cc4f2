//! Captures: written by both engines, read from any source, and analysed per connection.

#![forbid(unsafe_code)]

mod analysis;
mod checksum;
mod connection;
mod datagram_frame;
mod datagrams;
pub mod dissect;
mod ends;
pub mod error;
mod ether_type;
mod fragments;
mod frame;
mod ip;
pub mod link_layer;
mod matching;
mod network;
pub mod packet;
mod packet_log;
mod point;
mod points;
pub mod reader;
mod segments;
mod series;
mod tables;
mod tunnel;
mod wifi;
mod writer;

pub use analysis::note::Note;
pub use analysis::options::AnalysisOptions;
pub use analysis::source::{PacketList, PacketSource};
pub use analysis::vantage::Vantage;
pub use analysis::views::Evicted;
pub use analysis::{Analysis, Analyzer, Totals, analyze};
pub use datagram_frame::DatagramFacts;
pub use datagrams::{DatagramOptions, Datagrams, datagrams};
pub use dumbbell_wire::tcp_options::AccEcnBytes;
pub use error::{Error, Unread};
pub use frame::FrameFacts;
pub use link_layer::LinkType;
pub use matching::{MatchOptions, MatchTotals, Matching, Translated, match_captures};
pub use network::NetworkId;
pub use packet::{Checksum, Endpoint, SackBlocks, TcpFlags, TcpPacket};
pub use packet_log::{PacketLog, PacketLogTotals, packet_log};
pub use point::{CapturePoint, CapturePoints};
pub use reader::{Damage, Interface, ReadCounts, Reader};
pub use writer::{CaptureConfig, CaptureWriter, DROPPED_COMMENT, WriteError, dropped_comment};
