//! What a queue discipline, an impairment, a medium, an application or a distribution declares of its
//! parameters, once, in its own file.
//!
//! [`settings!`] makes from one declaration the struct that a scenario holds, its defaults, its JSON
//! and the table that Python reads: the words of the command line, their help and their errors.

#![forbid(unsafe_code)]

mod choices;
mod parameter;
mod settings;
mod value;

pub use parameter::{Parameter, Unit};
pub use settings::Settings;
pub use value::{Amount, Value};
