//! Distributions of sizes, times and numbers.
//!
//! A distribution is a file here: it declares its parameters (`settings!`) and its quantiles
//! ([`Quantiles`]). Its name in `catalog!` below makes it known. What it is of, bytes or
//! nanoseconds, says the parameter that has it.
//!
//! A parameter of type `Distribution` is a number in JSON, or an object with `distribution`; the parameter's suffix is
//! its unit. A distribution is its quantiles (`Quantiles::at(rank)`, a rank of 2⁶⁴): a draw is a random rank, a
//! truncated distribution is a range of ranks, strata are parts of them, and the mean is their integral. Logarithms,
//! powers and the normal quantile are integers with 48 binary places (`fixed_point`), so that a seed gives the same
//! traffic on every machine.

mod sampler;
mod tables;
mod truncated;

use std::fmt;

use dumbbell_declare::{Parameter, Settings, Unit, Value, catalog};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use sampler::Sampler;

/// The values of a distribution by their rank.
pub trait Quantiles: fmt::Debug + Send {
    /// The value that (`rank` + ½)·2⁻⁶⁴ of all do not exceed.
    fn at(&self, rank: u64) -> u64;

    /// Its mean in thousandths, where there is a formula for it.
    fn known_mean_milli(&self) -> Option<u128> {
        None
    }
}

/// The settings of a distribution.
pub trait DistributionSettings: Settings {
    /// Refuses settings that do not fit together.
    fn check_together(&self) -> Result<(), String> {
        Ok(())
    }

    /// What they make.
    fn quantiles(&self) -> Box<dyn Quantiles>;
}

/// A distribution's declaration, for what names and explains it.
#[derive(Clone, Debug, Serialize)]
pub struct DistributionDeclaration {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// Its parameters, in the order in which they may be given without names.
    pub parameters: Vec<Parameter>,
}

catalog! { ($)
    /// A distribution by its name, with its settings.
    pub enum NamedDistribution, tag "distribution", each_distribution:
    exponential, pareto, lognormal, uniform, points, web_search, data_mining, cache
}

impl NamedDistribution {
    fn check(&self) -> Result<(), String> {
        each_distribution!(self, config => config.check().and_then(|()| config.check_together()))
    }

    fn quantiles(&self) -> Box<dyn Quantiles> {
        each_distribution!(self, config => config.quantiles())
    }
}

each_distribution! {
    all Config:
    impl From<Config> for Distribution {
        fn from(config: Config) -> Self {
            Self::Named(Box::new(config.into()))
        }
    }
}

/// Every distribution. A parameter that has no unit of its own has that of what is distributed.
pub fn distributions() -> Vec<DistributionDeclaration> {
    each_distribution!(all Config, name => DistributionDeclaration {
        name,
        doc: <Config as Settings>::doc(),
        parameters: of_variates(<Config as Settings>::parameters()),
    })
}

fn of_variates(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    for parameter in &mut parameters {
        if parameter.unit == Unit::Count {
            parameter.unit = Unit::Variate;
        }
    }
    parameters
}

/// Where values come from: all are the same, or each is drawn. In JSON a number, or
/// `{"distribution": "exponential", "mean": 10000}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// All are the same.
    Constant(u64),
    /// Each is drawn.
    Named(Box<NamedDistribution>),
}

impl Distribution {
    /// Refuses settings out of their ranges, or that do not fit together.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Constant(_) => Ok(()),
            Self::Named(named) => named
                .check()
                .map_err(|message| format!("distribution `{}`: {message}", named.name())),
        }
    }

    /// Its mean in thousandths of its unit, to about 10⁻⁵; it has been checked.
    pub fn mean_milli(&self) -> u64 {
        let mean_milli = match self {
            Self::Constant(value) => u128::from(*value) * 1000,
            Self::Named(named) => {
                let quantiles = named.quantiles();
                let known = quantiles.known_mean_milli();
                known.unwrap_or_else(|| integrated_mean_milli(&*quantiles))
            }
        };
        u64::try_from(mean_milli).unwrap_or(u64::MAX)
    }

    fn quantiles(&self) -> Box<dyn Quantiles> {
        match self {
            Self::Constant(value) => Box::new(Same(*value)),
            Self::Named(named) => named.quantiles(),
        }
    }
}

impl From<u64> for Distribution {
    fn from(value: u64) -> Self {
        Self::Constant(value)
    }
}

#[derive(Debug)]
struct Same(u64);

impl Quantiles for Same {
    fn at(&self, _rank: u64) -> u64 {
        self.0
    }
}

/// The integral of the quantiles: midpoints of intervals that halve towards both ends, where a heavy
/// tail rises.
fn integrated_mean_milli(quantiles: &dyn Quantiles) -> u128 {
    const POINTS: u64 = 256;
    let mut sum = 0_u128;
    for halvings in 1..=54 {
        let step = (1_u64 << (63 - halvings)) / POINTS;
        let nearest_end = 1_u64 << (63 - halvings);
        for point in 0..POINTS {
            let from_end = nearest_end + point * step + step / 2;
            let value = u128::from(quantiles.at(from_end)) + u128::from(quantiles.at(!from_end));
            sum = sum.saturating_add(value.saturating_mul(u128::from(step) * 1000));
        }
    }
    sum >> 64
}

impl Value for Distribution {
    const IS_DISTRIBUTION: bool = true;

    fn number(&self) -> Option<u64> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Named(_) => None,
        }
    }

    fn check(&self, parameter: &Parameter) -> Result<(), String> {
        self.check()
            .map_err(|message| format!("`{}`: {message}", parameter.field))?;
        self.number().map_or(Ok(()), |value| parameter.check(value))
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(value) => serializer.serialize_u64(*value),
            Self::Named(named) => named.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrMap;

        impl<'de> Visitor<'de> for NumberOrMap {
            type Value = Distribution;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a whole number or a distribution")
            }

            fn visit_u64<E>(self, value: u64) -> Result<Distribution, E> {
                Ok(Distribution::Constant(value))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Distribution, A::Error> {
                let deserializer = MapAccessDeserializer::new(map);
                let named = NamedDistribution::deserialize(deserializer)?;
                Ok(Distribution::Named(Box::new(named)))
            }
        }

        deserializer.deserialize_any(NumberOrMap)
    }
}

#[cfg(test)]
mod tests;
