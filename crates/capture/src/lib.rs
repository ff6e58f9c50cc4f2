//! Captures: written by both engines, read from anyone, and analysed per connection.

#![forbid(unsafe_code)]

pub mod packet;

mod analysis;
mod connection;
mod points;
mod segments;
mod series;
mod tables;

pub use analysis::note::Note;
pub use analysis::options::AnalysisOptions;
pub use analysis::source::{PacketList, PacketSource};
pub use analysis::vantage::Vantage;
pub use analysis::views::Evicted;
pub use analysis::{Analysis, AnalyzeError, Analyzer, Totals, analyze};
pub use packet::{Checksum, Endpoint, SackBlocks, TcpFlags, TcpPacket};
