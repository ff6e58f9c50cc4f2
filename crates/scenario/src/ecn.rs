//! How a group's flows use explicit congestion notification.

use dumbbell_declare::{Unit, Value};
use serde::{Deserialize, Serialize};

/// Explicit congestion notification of a group's flows, without regard to what their congestion control
/// needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Word", try_from = "Word")]
pub enum GroupEcn {
    /// ECN is not used.
    #[default]
    Off,
    /// Classic (RFC 3168).
    On,
    /// Accurate ECN (RFC 9768).
    AccEcn,
}

impl GroupEcn {
    /// Whether it is off.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

impl Value for GroupEcn {
    const UNIT: Option<Unit> = Some(Unit::Choice);
    const CHOICES: &'static [&'static str] = &["off", "on", "accecn"];

    fn number(&self) -> Option<u64> {
        Some(*self as u64)
    }
}

impl From<bool> for GroupEcn {
    /// Classic ECN, or none.
    fn from(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }
}

/// The setting in JSON: what was there before Accurate ECN stays a flag.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Word {
    Flag(bool),
    Name(String),
}

impl From<GroupEcn> for Word {
    fn from(ecn: GroupEcn) -> Self {
        match ecn {
            GroupEcn::Off => Self::Flag(false),
            GroupEcn::On => Self::Flag(true),
            GroupEcn::AccEcn => Self::Name("accecn".to_owned()),
        }
    }
}

impl TryFrom<Word> for GroupEcn {
    type Error = String;

    fn try_from(word: Word) -> Result<Self, String> {
        match word {
            Word::Flag(false) => Ok(Self::Off),
            Word::Flag(true) => Ok(Self::On),
            Word::Name(name) if name == "accecn" => Ok(Self::AccEcn),
            Word::Name(name) => Err(format!(
                "invalid ecn `{name}`: use false, true or \"accecn\""
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_ecn_is_a_flag_as_before() {
        for ecn in [GroupEcn::Off, GroupEcn::On, GroupEcn::AccEcn] {
            let word = Word::from(ecn);
            let is_flag = matches!(word, Word::Flag(on) if on == (ecn == GroupEcn::On));
            assert_eq!(is_flag, ecn != GroupEcn::AccEcn);
            assert_eq!(GroupEcn::try_from(word), Ok(ecn));
        }
        let refused = GroupEcn::try_from(Word::Name("dctcp".to_owned()));
        assert!(refused.is_err_and(|says| says.contains("`dctcp`")));
    }
}
