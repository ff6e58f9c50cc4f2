//! What a run leaves, whichever engine does it.
//!
//! | file | what |
//! |---|---|
//! | `flow_samples`, `samples`, `table` | time series: columns that an engine fills, and their tables |
//! | `transfers` | what applications began, and when it was complete |
//! | `connections` | what crossed the path of programs, by its ports |
//! | `summary`, `flow`, `link` | counts and means |
//! | `emulation`, `output` | how well the kernel engine kept time; all of it |
//! | `program` | what became of the user's programs |
//! | `rate` | ratios and rates without a division by zero |

#![forbid(unsafe_code)]

use dumbbell_cc::{Declared, Param, Series};
use dumbbell_declare::{Record as _, RecordDeclaration};
use serde::Serialize;

mod connections;
mod emulation;
mod flow;
mod flow_samples;
mod link;
mod output;
mod program;
mod rate;
mod samples;
mod summary;
mod table;
mod transfers;

pub use connections::{Connection, ConnectionEnds, WayCounts};
pub use emulation::{CalibratedRtt, ChangeMade, Emulation};
pub use flow::{FlowSummary, RequestSummary};
pub use flow_samples::{FlowRow, FlowSamples};
pub use link::{LinkSummary, QueueStatistics};
pub use output::Output;
pub use program::ProgramSummary;
pub use rate::{bits_per_second, ratio};
pub use samples::{
    GroupBacklog, QueueSamples, RawColumn, StateSamples, StatisticSamples, UNKNOWN, per_second,
};
pub use summary::{LoadedCc, Summary};
pub use table::{Table, TimeSeries};
pub use transfers::Transfers;

/// What runs report: what Python checks, types and documents their results by.
#[derive(Debug, Serialize)]
pub struct Schema {
    /// Every record of `run.json`.
    pub records: Vec<RecordDeclaration>,
}

/// What runs report.
pub fn schema() -> Schema {
    Schema {
        records: vec![
            Summary::declaration(),
            LoadedCc::declaration(),
            Declared::declaration(),
            Param::declaration(),
            Series::declaration(),
            FlowSummary::declaration(),
            RequestSummary::declaration(),
            LinkSummary::declaration(),
            ProgramSummary::declaration(),
            Emulation::declaration(),
            CalibratedRtt::declaration(),
        ],
    }
}

/// Version of the engines, part of every result's provenance.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");
