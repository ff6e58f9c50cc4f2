//! `records!`: what comes out of a run, with what Python and its readers know of it.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A whole number of 0 or more.
    Count,
    /// A whole number.
    Whole,
    /// A finite number of 0 or more.
    Real,
    /// A short line.
    Text,
    /// Yes or no.
    Flag,
    /// An object that is declared elsewhere.
    Object,
    /// Any number of values.
    List(&'static Kind),
    /// Values by what users call them.
    Map(&'static Kind),
    /// Values by names of ours, with units.
    Named(&'static Kind),
    /// A record by its name.
    Record(&'static str),
}

/// When a value is there, and who may choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Presence {
    /// Whether the key is missing where there is nothing to report.
    pub if_any: bool,
    /// The engine that reports it, of both.
    pub engine: Option<&'static str>,
    /// Whether users choose the text, in any length.
    pub is_free: bool,
}

/// Every run of both engines has it.
pub const ALWAYS: Presence = Presence {
    if_any: false,
    engine: None,
    is_free: false,
};

/// The key is missing where there is nothing to report.
pub const IF_ANY: Presence = Presence {
    if_any: true,
    ..ALWAYS
};

/// The simulator reports it; on the kernel it is null.
pub const SIMULATOR: Presence = Presence {
    engine: Some("simulator"),
    ..ALWAYS
};

/// The kernel engine reports it; in the simulator it is null.
pub const KERNEL: Presence = Presence {
    engine: Some("kernel"),
    ..ALWAYS
};

/// A text that users choose, in any length.
pub const FREE: Presence = Presence {
    is_free: true,
    ..ALWAYS
};

impl Presence {
    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            if_any: self.if_any || other.if_any,
            engine: match self.engine {
                None => other.engine,
                engine => engine,
            },
            is_free: self.is_free || other.is_free,
        }
    }
}

/// One value of a record.
#[derive(Clone, Debug, Serialize)]
pub struct RecordField {
    /// Its key, with its unit.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Whether it may be null.
    pub nullable: bool,
    /// When it is there.
    #[serde(flatten)]
    pub presence: Presence,
    /// What it means, in Markdown.
    pub doc: String,
}

/// A record as Python reads it.
#[derive(Clone, Debug, Serialize)]
pub struct RecordDeclaration {
    /// Its name.
    pub name: &'static str,
    /// What it is of, in a sentence.
    pub doc: &'static str,
    /// Its values, in their order.
    pub fields: Vec<RecordField>,
}

/// What [`records!`](crate::records) made.
pub trait Record {
    /// What is known of it.
    fn declaration() -> RecordDeclaration;
}

/// A type of value.
pub trait Recorded {
    /// What it is.
    const KIND: Kind;
    /// Whether it may be null.
    const NULLABLE: bool = false;

    /// Whether there is nothing to report.
    fn is_none(&self) -> bool {
        false
    }
}

macro_rules! recorded {
    ($($kind:ident: $($type:ty),+;)+) => {
        $($(
            impl Recorded for $type {
                const KIND: Kind = Kind::$kind;
            }
        )+)+
    };
}

recorded! {
    Count: u32, u64;
    Whole: i32, i64;
    Real: f64;
    Text: String, &'static str;
}

/// `false` is nothing to report.
impl Recorded for bool {
    const KIND: Kind = Kind::Flag;

    fn is_none(&self) -> bool {
        !self
    }
}

impl<T: Recorded> Recorded for Option<T> {
    const KIND: Kind = T::KIND;
    const NULLABLE: bool = true;

    fn is_none(&self) -> bool {
        self.is_none()
    }
}

impl<T: Recorded> Recorded for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);

    fn is_none(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Recorded> Recorded for BTreeMap<String, T> {
    const KIND: Kind = Kind::Map(&T::KIND);

    fn is_none(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Recorded> Recorded for BTreeMap<&'static str, T> {
    const KIND: Kind = Kind::Named(&T::KIND);

    fn is_none(&self) -> bool {
        self.is_empty()
    }
}

/// Declares a record of a run's results: a struct with `Default` and its JSON, and the table that Python reads.
///
/// ```text
/// records! {
///     /// What it is of, in a sentence.
///     pub struct FlowSummary: "flow" {
///         /// What the value means; its unit is the suffix of its name.
///         sent_pkts: u64;
///         /// Null where the engine cannot see it.
///         lost_pkts: Option<u64>;
///         /// Not in JSON where there is nothing to report.
///         ooo_dropped_pkts: Option<u64>, IF_ANY.and(SIMULATOR);
///         // Not in JSON at all.
///         hidden position: usize;
///     }
/// }
/// ```
#[macro_export]
macro_rules! records {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+)])?
        pub struct $record:ident: $name:literal {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty $(, $presence:expr)?;
            )*
            $(hidden $visible:vis $hidden:ident: $hidden_type:ty;)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default $($(, $derive)+)?)]
        pub struct $record {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($visible $hidden: $hidden_type,)*
        }

        impl $record {
            $(
                #[allow(non_upper_case_globals, reason = "it is named as its field")]
                const $field: $crate::Presence = $crate::ALWAYS $(.and($presence))?;
            )*
        }

        impl $crate::Record for $record {
            fn declaration() -> $crate::RecordDeclaration {
                $crate::RecordDeclaration {
                    name: $name,
                    doc: concat!($($about),+).trim(),
                    fields: vec![$(
                        $crate::RecordField {
                            name: stringify!($field),
                            kind: <$type as $crate::Recorded>::KIND,
                            nullable: <$type as $crate::Recorded>::NULLABLE,
                            presence: Self::$field,
                            doc: concat!($($doc),+).trim().to_owned(),
                        }
                    ),*],
                }
            }
        }

        impl $crate::Recorded for $record {
            const KIND: $crate::Kind = $crate::Kind::Record($name);
        }

        impl serde::Serialize for $record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $(
                    if !(Self::$field.if_any && $crate::Recorded::is_none(&self.$field)) {
                        serde::ser::SerializeMap::serialize_entry(
                            &mut map, stringify!($field), &self.$field,
                        )?;
                    }
                )*
                serde::ser::SerializeMap::end(map)
            }
        }
    };
}
