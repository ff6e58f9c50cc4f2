//! What a queue discipline, an impairment or an application declares of its parameters, once, in its
//! own file.
//!
//! [`settings!`](crate::settings) makes from one declaration the struct that a scenario holds, its defaults, its JSON
//! and the table that Python reads: the words of the command line, their help and their errors.

use std::ops::RangeInclusive;

use serde::Serialize;

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
            Some(Unit::Choice) => V::CHOICES.len() as u64 - 1,
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

/// A type of value.
pub trait Value {
    /// Its unit if the type alone decides it, and not the field's suffix.
    const UNIT: Option<Unit> = None;
    /// Whether it can be off.
    const IS_OPTIONAL: bool = false;
    /// Whether it may be drawn from a distribution.
    const IS_DISTRIBUTION: bool = false;
    /// Whether it is a list.
    const IS_LIST: bool = false;
    /// The words that it can be.
    const CHOICES: &'static [&'static str] = &[];
    /// Values that have a name.
    const NAMES: &'static [(&'static str, u64)] = &[];

    /// It as a number; `None`: off, or not one number.
    fn number(&self) -> Option<u64>;

    /// As a default: its unit, if that is part of the value.
    fn unit_of_default(&self) -> Option<&'static str> {
        None
    }

    /// It as a list of numbers, if it is one.
    fn list(&self) -> Option<Vec<u64>> {
        None
    }

    /// Refuses a value that `parameter`, which it is of, does not allow.
    fn check(&self, parameter: &Parameter) -> Result<(), String> {
        let mut values = self
            .number()
            .into_iter()
            .chain(self.list().into_iter().flatten());
        values.try_for_each(|value| parameter.check(value))
    }
}

impl Value for u64 {
    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

impl Value for u32 {
    fn number(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl<V: Value> Value for Option<V> {
    const UNIT: Option<Unit> = V::UNIT;
    const IS_OPTIONAL: bool = true;
    const IS_DISTRIBUTION: bool = V::IS_DISTRIBUTION;
    const CHOICES: &'static [&'static str] = V::CHOICES;
    const NAMES: &'static [(&'static str, u64)] = V::NAMES;

    fn number(&self) -> Option<u64> {
        self.as_ref().and_then(V::number)
    }

    /// One that is off is an empty list.
    fn list(&self) -> Option<Vec<u64>> {
        let off = V::IS_LIST.then(Vec::new);
        self.as_ref().map_or(off, V::list)
    }

    fn check(&self, parameter: &Parameter) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |value| value.check(parameter))
    }
}

/// An amount whose unit is part of the value; in JSON `{"pkts": 20}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Wire bytes.
    Bytes(u64),
    /// Packets.
    Pkts(u64),
    /// A time, ns.
    Ns(u64),
}

impl Value for Amount {
    const UNIT: Option<Unit> = Some(Unit::Amount);

    fn number(&self) -> Option<u64> {
        match *self {
            Self::Bytes(number) | Self::Pkts(number) | Self::Ns(number) => Some(number),
        }
    }

    /// 0 is none: it has to be set.
    fn unit_of_default(&self) -> Option<&'static str> {
        match *self {
            Self::Bytes(0) | Self::Pkts(0) | Self::Ns(0) => None,
            Self::Bytes(_) => Some("B"),
            Self::Pkts(_) => Some("pkt"),
            Self::Ns(_) => Some("ns"),
        }
    }
}

impl Value for bool {
    const UNIT: Option<Unit> = Some(Unit::Flag);

    fn number(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl Value for Vec<u64> {
    const IS_LIST: bool = true;

    fn number(&self) -> Option<u64> {
        None
    }

    fn list(&self) -> Option<Vec<u64>> {
        Some(self.clone())
    }
}

/// Points of a cumulative distribution.
impl Value for Vec<(u64, u64)> {
    const UNIT: Option<Unit> = Some(Unit::Points);

    fn number(&self) -> Option<u64> {
        None
    }
}

/// Settings that [`settings!`](crate::settings) made.
pub trait Settings: Default {
    /// What they are of, in a sentence.
    fn doc() -> &'static str;
    /// Every parameter, in the order of the declaration.
    fn parameters() -> Vec<Parameter>;
    /// Refuses a value out of its range.
    fn check(&self) -> Result<(), String>;
}

/// Declares the settings of a discipline, an impairment, an application or a distribution:
///
/// ```text
/// settings! {
///     /// What it is, in a sentence.
///     pub struct Config {
///         /// What the parameter is, in a sentence.
///         target_ns: u64 = 5_000_000, in 0..=MAX_NS;
///         ecn: bool = false;
///         ce_threshold_ns: Option<u64> = None, in 0..=MAX_NS;
///     }
/// }
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct Config {$(
            $(#[doc = $doc:literal])+
            $field:ident: $type:ty = $default:expr $(, in $range:expr)?;
        )*}
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {$(
            $(#[doc = $doc])+
            pub $field: $type,
        )*}

        impl Default for Config {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::declaration::Settings for Config {
            fn doc() -> &'static str {
                concat!($($about),+).trim()
            }

            fn parameters() -> Vec<$crate::declaration::Parameter> {
                vec![$(
                    $crate::declaration::Parameter::new(
                        stringify!($field),
                        &Self::default().$field,
                        None $(.or(Some($range)))?,
                        concat!($($doc),+),
                    )
                ),*]
            }

            fn check(&self) -> Result<(), String> {
                let mut parameters = <Self as $crate::declaration::Settings>::parameters().into_iter();
                $(
                    if let Some(parameter) = parameters.next() {
                        $crate::declaration::Value::check(&self.$field, &parameter)?;
                    }
                )*
                let _ = parameters;
                Ok(())
            }
        }
    };
}

/// Declares words that a parameter can be, as variants of their names:
///
/// ```text
/// choices! {
///     /// What they are, in a sentence.
///     pub enum Protocol {
///         /// What it means.
///         http1,
///     }
/// }
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {$(
            $(#[doc = $doc:literal])+
            $choice:ident
        ),+ $(,)?}
    ) => {
        $(#[doc = $about])+
        #[allow(non_camel_case_types, reason = "they are the choices' names")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {$(
            $(#[doc = $doc])+
            $choice,
        )+}

        impl $crate::declaration::Value for $name {
            const UNIT: Option<$crate::declaration::Unit> = Some($crate::declaration::Unit::Choice);
            const CHOICES: &'static [&'static str] = &[$(stringify!($choice)),+];

            fn number(&self) -> Option<u64> {
                Some(*self as u64)
            }
        }
    };
}

pub use {choices, settings};
