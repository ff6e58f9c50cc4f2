//! Impairments: what happens to packets on their way to a link's queue, or behind the link.
//!
//! An impairment is a file here: it declares its parameters (`settings!`) and what it does with
//! packets ([`Impair`]). Its name in `impairments!` below makes it known.

use serde::{Deserialize, Serialize};

use crate::declaration::{Parameter, Settings};
use crate::{Header, Packet};

pub use policer::Policer;
pub use random_loss::RandomLoss;

/// The settings of an impairment.
pub trait ImpairmentSettings: Settings {
    /// The element that they make.
    type Element: Impair;

    /// Where packets pass it.
    fn place(&self) -> Place {
        Place::BeforeQueue
    }

    /// The element, with random numbers of its own.
    fn build(&self, seed: u64) -> Self::Element;
}

/// Where on a link packets pass an impairment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before they join the queue: what is lost takes no time of the link.
    BeforeQueue,
    /// When their last bit is on the wire.
    BehindLink,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Passes,
    /// It is lost.
    Lost,
    /// It goes on, and a copy of it too, which passes all impairments of the place by itself but is
    /// not copied again.
    Twice,
    /// It goes on so many ns later: only behind a link. Packets that were not held back, or less,
    /// overtake it; an element that keeps their order says for each how late it must be for that.
    Late(u64),
}

/// An element that packets pass.
pub trait Impair {
    /// What becomes of the packet that comes at `now_ns`. Before a queue times never go back; behind
    /// a link they do where an element in front of this one reorders.
    fn fate<H: Header>(&mut self, now_ns: u64, packet: &Packet<H>) -> Fate;
}

/// Sends a packet through all of `elements`: how much later it goes on, ns, if it does, and whether a
/// copy does too.
pub(crate) fn pass<H: Header>(
    elements: &mut [Impairment],
    now_ns: u64,
    packet: &Packet<H>,
) -> (Option<u64>, bool) {
    let (mut late_ns, mut is_copied) = (0, false);
    for element in elements {
        match element.fate(now_ns + late_ns, packet) {
            Fate::Passes => {}
            Fate::Lost => return (None, is_copied),
            Fate::Twice => is_copied = true,
            Fate::Late(ns) => late_ns += ns,
        }
    }
    (Some(late_ns), is_copied)
}

/// An impairment's declaration, for what names and explains it.
#[derive(Clone, Debug, Serialize)]
pub struct ImpairmentDeclaration {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// Makes of the modules' names all that knows more than one impairment.
macro_rules! impairments {
    ($($name:ident),+ $(,)?) => {
        $(pub mod $name;)+

        /// An impairment as a scenario names it, with its settings.
        #[allow(missing_docs, non_camel_case_types, reason = "they are the impairments' names")]
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum ImpairmentConfig {
            $($name($name::Config)),+
        }

        impl ImpairmentConfig {
            /// What a scenario calls it.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($name)),+
                }
            }

            /// Refuses settings out of their ranges.
            pub fn check(&self) -> Result<(), String> {
                match self {
                    $(Self::$name(config) => config.check()),+
                }
            }

            /// Where packets pass it.
            pub fn place(&self) -> Place {
                match self {
                    $(Self::$name(config) => config.place()),+
                }
            }

            /// The element, with random numbers of its own.
            pub fn build(&self, seed: u64) -> Impairment {
                match self {
                    $(Self::$name(config) => Impairment::$name(config.build(seed))),+
                }
            }
        }

        /// An impairment of a link. A packet passes those of one place in their order.
        #[allow(missing_docs, non_camel_case_types, reason = "they are the impairments' names")]
        #[derive(Clone, Debug)]
        pub enum Impairment {
            $($name(<$name::Config as ImpairmentSettings>::Element)),+
        }

        impl Impair for Impairment {
            #[inline]
            fn fate<H: Header>(&mut self, now_ns: u64, packet: &Packet<H>) -> Fate {
                match self {
                    $(Self::$name(element) => element.fate(now_ns, packet)),+
                }
            }
        }

        $(
            impl From<$name::Config> for ImpairmentConfig {
                fn from(config: $name::Config) -> Self {
                    Self::$name(config)
                }
            }

            impl From<<$name::Config as ImpairmentSettings>::Element> for Impairment {
                fn from(element: <$name::Config as ImpairmentSettings>::Element) -> Self {
                    Self::$name(element)
                }
            }
        )+

        /// Every impairment.
        pub fn impairments() -> Vec<ImpairmentDeclaration> {
            vec![$(
                ImpairmentDeclaration {
                    name: stringify!($name),
                    doc: <$name::Config as Settings>::doc(),
                    parameters: <$name::Config as Settings>::parameters(),
                }
            ),+]
        }
    };
}

impairments! { random_loss, policer }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_names_them_by_their_modules() {
        let json = r#"{"kind":"policer","rate_bps":8000000,"burst_bytes":1250}"#;
        let config: ImpairmentConfig = serde_json::from_str(json).expect("it is declared");
        assert_eq!(config.name(), "policer");
        assert_eq!(serde_json::to_string(&config).expect("JSON"), json);
        assert_eq!(config.check(), Ok(()));
        assert!(matches!(config.build(1), Impairment::policer(_)));
    }

    #[test]
    fn what_must_be_set_has_no_value_in_its_range() {
        for name in ["policer", "random_loss"] {
            let json = format!(r#"{{"kind":"{name}"}}"#);
            let config: ImpairmentConfig = serde_json::from_str(&json).expect("it is declared");
            assert!(config.check().is_err(), "{name}");
        }
        let unknown = r#"{"kind":"policer","rate":5}"#;
        assert!(serde_json::from_str::<ImpairmentConfig>(unknown).is_err());
    }
}
