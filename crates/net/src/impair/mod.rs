//! Impairments: what happens to packets on their way to a link's queue.
//!
//! An impairment is a file here: it declares its parameters (`settings!`) and what it does with
//! packets ([`Impair`]). Its name in `impairments!` below makes it known.

use serde::{Deserialize, Serialize};

use crate::Packet;
use crate::declaration::{Parameter, Settings};

pub use policer::Policer;
pub use random_loss::RandomLoss;

/// The settings of an impairment.
pub trait ImpairmentSettings: Settings {
    /// The element that they make.
    type Element: Impair;

    /// The element, with random numbers of its own.
    fn build(&self, seed: u64) -> Self::Element;
}

/// An element that packets pass before they join a link's queue.
pub trait Impair {
    /// Whether the packet that arrives at `now_ns` is dropped.
    fn drops<H>(&mut self, now_ns: u64, packet: &Packet<H>) -> bool;
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

            /// The element, with random numbers of its own.
            pub fn build(&self, seed: u64) -> Impairment {
                match self {
                    $(Self::$name(config) => Impairment::$name(config.build(seed))),+
                }
            }
        }

        /// An impairment of a link. A packet passes those of its link in their order, then joins the
        /// queue.
        #[allow(missing_docs, non_camel_case_types, reason = "they are the impairments' names")]
        #[derive(Clone, Debug)]
        pub enum Impairment {
            $($name(<$name::Config as ImpairmentSettings>::Element)),+
        }

        impl Impair for Impairment {
            #[inline]
            fn drops<H>(&mut self, now_ns: u64, packet: &Packet<H>) -> bool {
                match self {
                    $(Self::$name(element) => element.drops(now_ns, packet)),+
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
