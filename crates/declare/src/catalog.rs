//! `catalog!`: a list of modules that are alternatives of one thing.

/// Makes of a list of modules, each with a `Config` that [`settings!`](crate::settings) declared, what a scenario
/// names: an enumeration of the `Config`s with its JSON, `name()` and `From<Config>`.
///
/// ```text
/// catalog! { ($)
///     /// A queue discipline as a scenario names it, with its settings.
///     pub enum QueueConfig, tag "kind", each_discipline: bfifo, pfifo, codel
/// }
/// ```
///
/// All else that knows more than one of them is written with the macro that it names. Everything is dispatched
/// statically:
///
/// - `each_discipline!(self, config => config.limit())`: an expression for whichever it is;
/// - `each_discipline!(self as Running, config => config.build())`: the same as a variant of another enumeration;
/// - `each_discipline! { /// … pub enum Running<H>: Discipline::Queue }`: the enumeration of what they build;
/// - `each_discipline!(all Config, name => Declaration { … })`: a list of the expression for every module;
/// - `each_discipline! { all Config: impl From<Config> for … }`: an item for every module.
#[macro_export]
macro_rules! catalog {
    (
        ($d:tt)
        $(#[doc = $about:literal])+
        pub enum $config:ident, tag $tag:literal, $each:ident: $($name:ident),+ $(,)?
    ) => {
        $(pub mod $name;)+

        $(#[doc = $about])+
        #[allow(missing_docs, non_camel_case_types, reason = "they are the modules' names")]
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = $tag)]
        pub enum $config {
            $($name($name::Config)),+
        }

        macro_rules! $each {
            (all $d known:ident, $d named:ident => $d body:expr) => {
                vec![$({
                    type $d known = $name::Config;
                    let $d named = stringify!($name);
                    $d body
                }),+]
            };
            (all $d known:ident: $d item:item) => {
                $(const _: () = {
                    type $d known = $name::Config;
                    $d item
                };)+
            };
            (
                $d(#[$d attribute:meta])*
                pub enum $d running:ident $d(<$d header:ident>)?: $d settings:ident::$d built:ident
            ) => {
                $d(#[$d attribute])*
                #[allow(missing_docs, non_camel_case_types, reason = "they are the modules' names")]
                #[derive(Clone, Debug)]
                pub enum $d running $d(<$d header>)? {
                    $($name(<$name::Config as $d settings>::$d built $d(<$d header>)?)),+
                }
            };
            ($d value:ident as $d other:ident, $d it:ident => $d body:expr) => {
                match $d value {
                    $(Self::$name($d it) => $d other::$name($d body)),+
                }
            };
            ($d value:expr, $d it:ident => $d body:expr) => {
                match $d value {
                    $(Self::$name($d it) => $d body),+
                }
            };
        }

        impl $config {
            /// What a scenario calls it.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($name)),+
                }
            }
        }

        $(
            impl From<$name::Config> for $config {
                fn from(config: $name::Config) -> Self {
                    Self::$name(config)
                }
            }
        )+
    };
}
