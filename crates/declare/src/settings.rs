//! `settings!`: parameters with their defaults, ranges and documentation.

use crate::{Changed, Parameter};

/// Settings that [`settings!`] made.
pub trait Settings: Default {
    /// What they are of, in a sentence.
    fn doc() -> &'static str;
    /// Every parameter, in the order of the declaration.
    fn parameters() -> Vec<Parameter>;
    /// Refuses a value out of its range.
    fn check(&self) -> Result<(), String>;
    /// The parameters that are not at their defaults.
    fn changed(&self) -> Vec<Changed>;
}

/// Declares the settings of a discipline, an impairment, an application, a distribution or a host:
///
/// ```text
/// settings! {
///     /// What it is, in a sentence.
///     pub struct Config {
///         /// What the parameter is, in a sentence.
///         target_ns: u64 = 5_000_000, in 0..=MAX_NS;
///         ecn: bool = false;
///         ce_threshold_ns: Option<u64> = None, in 0..=MAX_NS;
///         gso: bool = false, with { engines: Engines::Simulator };
///     }
/// }
/// ```
///
/// After `with` are [`Facts`](crate::Facts).
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {$(
            $(#[doc = $doc:literal])+
            $field:ident: $type:ty = $default:expr $(, in $range:expr)?
                $(, with { $($fact:ident: $said:expr),+ $(,)? })?;
        )*}
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {$(
            $(#[doc = $doc])+
            pub $field: $type,
        )*}

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::Settings for $name {
            fn doc() -> &'static str {
                concat!($($about),+).trim()
            }

            fn parameters() -> Vec<$crate::Parameter> {
                vec![$(
                    $crate::Parameter {
                        $(facts: $crate::Facts { $($fact: $said,)+ ..$crate::Facts::default() },)?
                        ..$crate::Parameter::new(
                            stringify!($field),
                            &Self::default().$field,
                            None $(.or(Some($range)))?,
                            concat!($($doc),+),
                        )
                    }
                ),*]
            }

            fn check(&self) -> Result<(), String> {
                let mut parameters = <Self as $crate::Settings>::parameters().into_iter();
                $(
                    if let Some(parameter) = parameters.next() {
                        $crate::Value::check(&self.$field, &parameter)?;
                    }
                )*
                let _ = parameters;
                Ok(())
            }

            fn changed(&self) -> Vec<$crate::Changed> {
                let default = Self::default();
                let mut parameters = <Self as $crate::Settings>::parameters().into_iter();
                let mut changed = Vec::new();
                $(
                    if let Some(parameter) = parameters.next()
                        && self.$field != default.$field
                    {
                        let number = $crate::Value::number(&self.$field);
                        changed.push($crate::Changed { parameter, number });
                    }
                )*
                let _ = (default, parameters);
                changed
            }
        }
    };
}
