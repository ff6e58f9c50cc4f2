//! One parameter as Python reads it, and the units.

use std::ops::RangeInclusive;

use serde::Serialize;

use crate::{Facts, Value};

/// What a value counts; the suffix of its field says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// `_ns`: a time.
    Ns,
    /// `_bytes`: wire bytes.
    Bytes,
    /// `_pkts`: packets.
    Pkts,
    /// `_ppb`: a probability in parts per billion.
    Ppb,
    /// `_bps`: bit/s.
    Bps,
    /// `_milli`: a number in thousandths.
    Milli,
    /// A number without a unit.
    Count,
    /// Yes or no.
    Flag,
    /// A word of several.
    Choice,
    /// A name, which is one of `choices`, with parameters.
    Named,
    /// Bytes, packets or a time: its unit is part of the value.
    Amount,
    /// Points of a cumulative distribution: pairs of a value and the share up to it,
    /// in parts per billion.
    Points,
    /// A distribution's parameter: what the distribution is of.
    Variate,
}

/// The suffixes of fields.
const SUFFIXES: [(&str, Unit); 6] = [
    ("_ns", Unit::Ns),
    ("_bytes", Unit::Bytes),
    ("_pkts", Unit::Pkts),
    ("_ppb", Unit::Ppb),
    ("_bps", Unit::Bps),
    ("_milli", Unit::Milli),
];

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// What a user calls it: `target`.
    pub name: &'static str,
    /// Its field in a scenario's JSON: `target_ns`.
    pub field: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// Whether it can be off.
    pub is_optional: bool,
    /// Its value when it is not set; `None`: off, or a list. A flag is 0 or 1, a word its place in
    /// `choices`, a distribution constant.
    pub default: Option<u64>,
    /// The unit of an amount's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_unit: Option<&'static str>,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// What it is, in a sentence.
    pub doc: String,
    /// Whether each use may draw a value of its own: a number in JSON, or a distribution.
    #[serde(skip_serializing_if = "is_false")]
    pub is_distribution: bool,
    /// The words that it can be.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub choices: &'static [&'static str],
    /// Values that have a name, which may be written instead.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub names: &'static [(&'static str, u64)],
    /// The values of a list when it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_list: Option<Vec<u64>>,
    /// What else is known of it.
    #[serde(flatten)]
    pub facts: Facts,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Parameter {
    /// A parameter with a default; without a range it is a flag, a word or has any value.
    pub fn new<V: Value>(
        field: &'static str,
        default: &V,
        range: Option<RangeInclusive<u64>>,
        doc: &str,
    ) -> Self {
        let by_suffix = SUFFIXES
            .iter()
            .find_map(|&(suffix, unit)| Some((field.strip_suffix(suffix)?, unit)));
        let (name, unit) = match V::UNIT {
            Some(unit) => (field, unit),
            None => by_suffix.unwrap_or((field, Unit::Count)),
        };
        let last = match V::UNIT {
            Some(Unit::Flag) => 1,
            Some(Unit::Choice | Unit::Named) => V::CHOICES.len() as u64 - 1,
            _ => u64::MAX,
        };
        let range = range.unwrap_or(0..=last);
        Self {
            name,
            field,
            unit,
            is_optional: V::IS_OPTIONAL,
            default: default.number(),
            default_unit: default.unit_of_default(),
            min: *range.start(),
            max: *range.end(),
            doc: doc.trim().to_owned(),
            is_distribution: V::IS_DISTRIBUTION,
            choices: V::CHOICES,
            names: V::NAMES,
            default_list: default.list(),
            facts: Facts::default(),
        }
    }

    /// Refuses a number out of its range.
    pub fn check(&self, value: u64) -> Result<(), String> {
        if value < self.min || value > self.max {
            return Err(format!(
                "`{}` is {value}; use {} to {}",
                self.field, self.min, self.max
            ));
        }
        Ok(())
    }
}
