//! What a run is given and what it leaves, whichever engine does it.
//!
//! | file | what |
//! |---|---|
//! | `scenario` | what to run, in integers and base units |
//! | `description` | the same in a line |
//! | `geometry`, `address_plan` | where the delays of the dumbbell lie; addresses of its hosts |
//! | `queue_discipline`, `bottleneck` | the queues a scenario can name; the shared link, counting |
//! | `samples`, `table` | time series: columns that an engine fills, and their Arrow tables |
//! | `summary`, `emulation`, `output` | counts and means; how well the kernel engine kept time; all of it |
//! | `random` | a seed per element |
//! | `control` | progress and cancelling |
//!
//! The simulator drives [`Bottleneck`] in virtual time, the kernel engine on the monotonic clock.

#![forbid(unsafe_code)]

pub mod address_plan;
mod bottleneck;
mod control;
mod description;
mod emulation;
mod geometry;
mod histogram;
mod output;
mod queue_discipline;
pub mod random;
mod rate;
mod refusal;
mod samples;
mod scenario;
mod summary;
mod table;

pub use bottleneck::Bottleneck;
pub use control::Control;
pub use emulation::{CalibratedRtt, Emulation};
pub use geometry::{Geometry, GroupDelays};
pub use histogram::Histogram;
pub use output::Output;
pub use queue_discipline::QueueDiscipline;
pub use rate::{bits_per_second, ratio};
pub use refusal::Refusal;
pub use samples::{FlowSamples, QueueSamples, RawColumn, StateSamples, UNKNOWN, per_second};
pub use scenario::{
    CongestionControl, EcnThreshold, Group, MAX_ROWS, Queue, RateStep, RttStep, Scenario,
};
pub use summary::{BottleneckSummary, FlowSummary, LoadedCc, Summary};
pub use table::{Table, TimeSeries};

/// The shared link in the scenario; [`Bottleneck`] is the one that carries packets.
pub use scenario::Bottleneck as BottleneckConfig;

/// Version of the engines, part of every result's provenance.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");
