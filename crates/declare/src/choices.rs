//! `choices!`: the words that a parameter can be.

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

        impl $crate::Value for $name {
            const UNIT: Option<$crate::Unit> = Some($crate::Unit::Choice);
            const CHOICES: &'static [&'static str] = &[$(stringify!($choice)),+];

            fn number(&self) -> Option<u64> {
                Some(*self as u64)
            }
        }
    };
}
