//! What goes into a run and what comes out, declared once.
//!
//! [`settings!`]: what a queue discipline, an impairment, a medium, an application or a distribution has as
//! parameters. It makes the struct that a scenario holds, its defaults, its JSON and the table that Python
//! reads: the words of the command line, their help and their errors.
//!
//! [`catalog!`]: a list of modules with such settings, of which a scenario names one.
//!
//! [`records!`]: what a run reports. It makes the struct that both engines fill, its JSON and the table from which
//! Python checks results, types their rows and writes their pages.

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
