//! What a queue discipline or an impairment declares of its parameters, once, in its own file.
//!
//! [`settings!`] makes from one declaration the struct that a scenario holds, its defaults, its JSON
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
    /// A number without a unit.
    Count,
    /// Yes or no.
    Flag,
}

/// The suffixes of fields.
const SUFFIXES: [(&str, Unit); 5] = [
    ("_ns", Unit::Ns),
    ("_bytes", Unit::Bytes),
    ("_pkts", Unit::Pkts),
    ("_ppb", Unit::Ppb),
    ("_bps", Unit::Bps),
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
    /// Its value when it is not set; `None`: off. A flag is 0 or 1.
    pub default: Option<u64>,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// What it is, in a sentence.
    pub doc: String,
}

impl Parameter {
    /// A parameter with a default; without a range it is a flag.
    pub fn new<V: Value>(
        field: &'static str,
        default: V,
        range: Option<RangeInclusive<u64>>,
        doc: &str,
    ) -> Self {
        let by_suffix = SUFFIXES
            .iter()
            .find_map(|&(suffix, unit)| Some((field.strip_suffix(suffix)?, unit)));
        let (name, unit) = if V::IS_FLAG {
            (field, Unit::Flag)
        } else {
            by_suffix.unwrap_or((field, Unit::Count))
        };
        let range = range.unwrap_or(0..=1);
        Self {
            name,
            field,
            unit,
            is_optional: V::IS_OPTIONAL,
            default: default.number(),
            min: *range.start(),
            max: *range.end(),
            doc: doc.trim().to_owned(),
        }
    }
}

/// A type of value.
pub trait Value: Copy {
    /// Whether it is yes or no.
    const IS_FLAG: bool = false;
    /// Whether it can be off.
    const IS_OPTIONAL: bool = false;
    /// It as a number; `None`: off.
    fn number(self) -> Option<u64>;
}

impl Value for u64 {
    fn number(self) -> Option<u64> {
        Some(self)
    }
}

impl Value for u32 {
    fn number(self) -> Option<u64> {
        Some(u64::from(self))
    }
}

impl Value for Option<u64> {
    const IS_OPTIONAL: bool = true;
    fn number(self) -> Option<u64> {
        self
    }
}

impl Value for bool {
    const IS_FLAG: bool = true;
    fn number(self) -> Option<u64> {
        Some(u64::from(self))
    }
}

/// Settings that [`settings!`] made.
pub trait Settings: Default {
    /// What they are of, in a sentence.
    fn doc() -> &'static str;
    /// Every parameter, in the order of the declaration.
    fn parameters() -> Vec<Parameter>;
    /// Their values, in the same order.
    fn values(&self) -> Vec<Option<u64>>;

    /// Refuses a value out of its range.
    fn check(&self) -> Result<(), String> {
        for (parameter, value) in Self::parameters().iter().zip(self.values()) {
            let Some(value) = value else { continue };
            if value < parameter.min || value > parameter.max {
                return Err(format!(
                    "`{}` is {value}; use {} to {}",
                    parameter.field, parameter.min, parameter.max
                ));
            }
        }
        Ok(())
    }
}

/// Declares the settings of a discipline or an impairment:
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
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct Config {$(
            $(#[doc = $doc:literal])+
            $field:ident: $type:ty = $default:expr $(, in $range:expr)?;
        )+}
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {$(
            $(#[doc = $doc])+
            pub $field: $type,
        )+}

        impl Default for Config {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl $crate::declaration::Settings for Config {
            fn doc() -> &'static str {
                concat!($($about),+).trim()
            }

            fn parameters() -> Vec<$crate::declaration::Parameter> {
                let default = Self::default();
                vec![$(
                    $crate::declaration::Parameter::new(
                        stringify!($field),
                        default.$field,
                        None $(.or(Some($range)))?,
                        concat!($($doc),+),
                    )
                ),+]
            }

            fn values(&self) -> Vec<Option<u64>> {
                vec![$($crate::declaration::Value::number(self.$field)),+]
            }
        }
    };
}

pub(crate) use settings;
