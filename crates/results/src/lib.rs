//! What a run leaves, whichever engine does it.
//!
//! | file | what |
//! |---|---|
//! | `samples`, `table` | time series: columns that an engine fills, and their Arrow tables |
//! | `transfers` | what applications began, and when it was complete |
//! | `connections` | what crossed the path of programs, by its ports |
//! | `summary`, `emulation`, `output` | counts and means; how well the kernel engine kept time; all of it |
//! | `program` | what became of the user's programs |
//! | `rate` | ratios and rates without a division by zero |

#![forbid(unsafe_code)]

mod connections;
mod emulation;
mod output;
mod program;
mod rate;
mod samples;
mod summary;
mod table;
mod transfers;

pub use connections::{Connection, ConnectionEnds, WayCounts};
pub use emulation::{CalibratedRtt, ChangeMade, Emulation};
pub use output::Output;
pub use program::ProgramSummary;
pub use rate::{bits_per_second, ratio};
pub use samples::{
    FlowSamples, GroupBacklog, QueueSamples, RawColumn, StateSamples, StatisticSamples, UNKNOWN,
    per_second,
};
pub use summary::{FlowSummary, LinkSummary, LoadedCc, QueueStatistics, RequestSummary, Summary};
pub use table::{Table, TimeSeries};
pub use transfers::Transfers;

/// Version of the engines, part of every result's provenance.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");
