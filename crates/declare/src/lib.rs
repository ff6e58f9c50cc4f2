//! Macros that declare what goes into a run and what comes out of it, each once.
//!
//! [`settings!`] declares the parameters of a queue discipline, an impairment, a medium, an application, a distribution
//! or a host. It generates the struct that a scenario holds, its defaults, its JSON, and the table that Python reads.
//! The table gives Python the parameters' names on the command line, their help and their error messages.
//!
//! [`catalog!`] lists the modules that are alternatives, such as the queue disciplines. A scenario names one of them.
//!
//! [`records!`] declares what a run reports. It generates the struct that both engines fill, its JSON, and the table
//! from which Python checks results, takes the types of their rows and writes their pages.

#![forbid(unsafe_code)]

mod catalog;
mod choices;
mod facts;
mod parameter;
mod records;
mod settings;
mod value;

pub use facts::{Changed, Engines, Facts};
pub use parameter::{Parameter, Unit};
pub use records::{
    ALWAYS, FREE, IF_ANY, KERNEL, Kind, Presence, Record, RecordDeclaration, RecordField, Recorded,
    SIMULATOR,
};
pub use settings::Settings;
pub use value::{Amount, Value};
