//! Facts of a parameter beside its value: which engines have it, and how users write it.

use serde::Serialize;

use crate::{Parameter, Unit};

/// Which engines have a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engines {
    /// The simulator and the kernel.
    #[default]
    Both,
    /// The simulator alone; another engine refuses a value that is not the default.
    Simulator,
}

/// Facts of a parameter; most have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]

pub struct Facts {
    /// Which engines have it.
    #[serde(skip_serializing_if = "is_default")]
    pub engines: Engines,
    /// Why the others do not, as it follows "not supported by the kernel engine"; empty: the message names the value.
    #[serde(skip_serializing_if = "is_default")]
    pub why: &'static str,
    /// A value other than the default, as a user writes it; empty: the other of two.
    #[serde(skip_serializing_if = "is_default")]
    pub example: &'static str,
    /// What the default amounts to.
    #[serde(skip_serializing_if = "is_default")]
    pub note: &'static str,
    /// Other words for it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub synonyms: &'static [&'static str],
    /// Whether what an engine gets and what a result records have it at its default too. Those from before it was added do
    /// not.
    #[serde(skip_serializing_if = "is_default")]
    pub is_recorded: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A parameter that is not at its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Which.
    pub parameter: Parameter,
    /// Its value, if that is a number.
    pub number: Option<u64>,
}

impl Changed {
    /// The value as a user writes it, if it has a unit.
    pub fn text(&self) -> Option<String> {
        let number = self.number?;
        match self.parameter.unit {
            Unit::Ns if number % 1000 == 0 => Some(format!("{}us", number / 1000)),
            Unit::Ns => Some(format!("{number}ns")),
            Unit::Bytes => Some(format!("{number}B")),
            Unit::Pkts => Some(format!("{number}pkt")),
            _ => None,
        }
    }
}
