//! The types of values that a parameter can have.

use crate::{Parameter, Unit};

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

    /// The unit of a default, if it is part of the value.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// A number of wire bytes.
    Bytes(u64),
    /// A number of packets.
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
