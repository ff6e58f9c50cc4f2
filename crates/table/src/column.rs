//! Values of one type, some of which may be missing.

use std::sync::Arc;

use crate::bits::Bits;

/// A column; a clone shares its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub(crate) content: Arc<Content>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) values: Values,
    /// `None`: no value is missing.
    pub(crate) gaps: Option<Gaps>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Gaps {
    pub(crate) is_there: Bits,
    pub(crate) count: usize,
}

/// What can be in a column, and missing.
pub trait Value: Copy + Default {
    #[doc(hidden)]
    fn store(values: Vec<Self>) -> Stored;
}

/// A [`Value`] that is a number.
pub trait Number: Value {
    #[doc(hidden)]
    fn read(column: &Column) -> Option<&[Self]>;
}

/// Values on their way into a column.
#[doc(hidden)]
#[derive(Debug)]
pub struct Stored(Values);

macro_rules! values {
    ($($variant:ident: $number:ty, $name:literal;)*) => {
        #[derive(Debug, PartialEq)]
        pub(crate) enum Values {
            $($variant(Vec<$number>),)*
            Bools { bits: Bits, len: usize },
            /// Where each text ends, after a 0; and the texts.
            Texts { ends: Vec<i32>, text: String },
            /// Numbers of labels, and the labels.
            Labels { codes: Column, labels: Column },
        }

        $(
            impl Value for $number {
                fn store(values: Vec<Self>) -> Stored {
                    Stored(Values::$variant(values))
                }
            }

            impl Number for $number {
                fn read(column: &Column) -> Option<&[Self]> {
                    match &column.content.values {
                        Values::$variant(values) => Some(values),
                        _ => None,
                    }
                }
            }
        )*

        impl Values {
            fn len(&self) -> usize {
                match self {
                    $(Self::$variant(values) => values.len(),)*
                    Self::Bools { len, .. } => *len,
                    Self::Texts { ends, .. } => ends.len() - 1,
                    Self::Labels { codes, .. } => codes.len(),
                }
            }

            /// The number in a row; of a label its code.
            fn number(&self, row: usize) -> Option<f64> {
                match self {
                    $(Self::$variant(values) => Some(values[row] as f64),)*
                    Self::Bools { bits, .. } => Some(f64::from(u8::from(bits.get(row)))),
                    Self::Texts { .. } => None,
                    Self::Labels { codes, .. } => codes.number(row),
                }
            }

            /// Whether all are numbers below `limit`, those of rows that have no value included.
            fn are_below(&self, limit: f64) -> bool {
                match self {
                    $(Self::$variant(values) => values.iter().all(|&value| (value as f64) < limit),)*
                    Self::Bools { .. } | Self::Texts { .. } | Self::Labels { .. } => false,
                }
            }

            /// The name of the type in Arrow.
            fn type_name(&self) -> String {
                match self {
                    $(Self::$variant(_) => $name.to_owned(),)*
                    Self::Bools { .. } => "Boolean".to_owned(),
                    Self::Texts { .. } => "Utf8".to_owned(),
                    Self::Labels { codes, labels } => {
                        format!("Dictionary({}, {})", codes.type_name(), labels.type_name())
                    }
                }
            }

            /// The values' bytes, as the format lays them out: one buffer, of texts two.
            pub(crate) fn buffers(&self) -> Vec<&[u8]> {
                match self {
                    $(Self::$variant(values) => vec![bytes_of(values)],)*
                    Self::Bools { bits, .. } => vec![bits.bytes()],
                    Self::Texts { ends, text } => vec![bytes_of(ends), text.as_bytes()],
                    Self::Labels { codes, .. } => codes.content.values.buffers(),
                }
            }
        }
    };
}

values! {
    U8: u8, "UInt8";
    U16: u16, "UInt16";
    U32: u32, "UInt32";
    U64: u64, "UInt64";
    I64: i64, "Int64";
    F64: f64, "Float64";
}

/// The bytes of numbers.
fn bytes_of<T>(numbers: &[T]) -> &[u8] {
    // SAFETY: only called for integers and floats, which have no padding; the slice covers what `numbers` does.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

impl Value for bool {
    fn store(values: Vec<Self>) -> Stored {
        Stored(Values::Bools {
            len: values.len(),
            bits: values.into_iter().collect(),
        })
    }
}

impl Column {
    fn new(Stored(values): Stored, is_there: Option<Vec<bool>>) -> Self {
        let gaps = is_there.and_then(|is_there| {
            let count = is_there.iter().filter(|&&is_there| !is_there).count();
            let is_there = is_there.into_iter().collect();
            (count > 0).then_some(Gaps { is_there, count })
        });
        Self {
            content: Arc::new(Content { values, gaps }),
        }
    }

    /// Values that are missing unless `is_there`.
    pub fn with_gaps<T: Value>(values: Vec<T>, is_there: impl Fn(T) -> bool) -> Self {
        if values.iter().all(|&value| is_there(value)) {
            return Self::new(T::store(values), None);
        }
        let is_there = values.iter().map(|&value| is_there(value)).collect();
        Self::new(T::store(values), Some(is_there))
    }

    /// A column of texts.
    ///
    /// # Panics
    ///
    /// If they have more than 2 GiB together.
    pub fn texts(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self::texts_with_gaps(texts.into_iter().map(Some))
    }

    /// Texts, some of which are missing.
    ///
    /// # Panics
    ///
    /// If they have more than 2 GiB together.
    pub fn texts_with_gaps(texts: impl IntoIterator<Item = Option<impl AsRef<str>>>) -> Self {
        let mut text = String::new();
        let mut ends = vec![0];
        let mut is_there = Vec::new();
        for each in texts {
            text.push_str(each.as_ref().map_or("", AsRef::as_ref));
            ends.push(i32::try_from(text.len()).expect("at most 2 GiB of text"));
            is_there.push(each.is_some());
        }
        Self::new(Stored(Values::Texts { ends, text }), Some(is_there))
    }

    /// Labels by their numbers in a column of texts.
    ///
    /// # Panics
    ///
    /// If a number has no label.
    pub fn labelled(codes: impl Into<Self>, labels: &Self) -> Self {
        let codes = codes.into();
        let count = labels.len() as f64;
        let has_label = |row| codes.number(row).is_none_or(|code| code < count);
        let have_labels = codes.content.values.are_below(count) || (0..codes.len()).all(has_label);
        assert!(have_labels, "a label");
        let labels = labels.clone();
        Self::new(Stored(Values::Labels { codes, labels }), None)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.content.values.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a value is missing.
    pub fn has_gaps(&self) -> bool {
        self.gaps().is_some()
    }

    /// Whether the value of a row is missing.
    pub fn is_gap(&self, row: usize) -> bool {
        self.gaps().is_some_and(|gaps| !gaps.is_there.get(row))
    }

    pub(crate) fn gaps(&self) -> Option<&Gaps> {
        match &self.content.values {
            Values::Labels { codes, .. } => codes.gaps(),
            _ => self.content.gaps.as_ref(),
        }
    }

    /// The numbers, with some value where one is missing.
    ///
    /// # Panics
    ///
    /// If the column has another type.
    pub fn numbers<T: Number>(&self) -> &[T] {
        T::read(self).unwrap_or_else(|| panic!("the column is {}", self.type_name()))
    }

    /// The number in a row, of a truth 0 or 1, of a label its code; `None` where it is missing, and of texts.
    pub fn number(&self, row: usize) -> Option<f64> {
        (!self.is_gap(row)).then(|| self.content.values.number(row))?
    }

    /// The text or the label in a row; `None` where it is missing, and of numbers.
    pub fn text(&self, row: usize) -> Option<&str> {
        match &self.content.values {
            _ if self.is_gap(row) => None,
            Values::Texts { ends, text } => Some(&text[ends[row] as usize..ends[row + 1] as usize]),
            Values::Labels { codes, labels } => labels.text(codes.number(row)? as usize),
            _ => None,
        }
    }

    /// The name of the type in Arrow.
    pub fn type_name(&self) -> String {
        self.content.values.type_name()
    }

    /// The bytes of the values, of texts those of where they end first.
    pub fn bytes(&self) -> Vec<u8> {
        self.content.values.buffers().concat()
    }

    /// The numbers of the labels, if it has labels.
    pub(crate) fn codes(&self) -> Option<&Self> {
        match &self.content.values {
            Values::Labels { codes, .. } => Some(codes),
            _ => None,
        }
    }

    /// The labels that the column's codes number.
    pub fn labels(&self) -> Option<&Self> {
        match &self.content.values {
            Values::Labels { labels, .. } => Some(labels),
            _ => None,
        }
    }
}

impl<T: Value> From<Vec<T>> for Column {
    fn from(values: Vec<T>) -> Self {
        Self::new(T::store(values), None)
    }
}

impl<T: Value> From<Vec<Option<T>>> for Column {
    fn from(values: Vec<Option<T>>) -> Self {
        let is_there = values.iter().map(Option::is_some).collect();
        let values = values.into_iter().map(Option::unwrap_or_default).collect();
        Self::new(T::store(values), Some(is_there))
    }
}

impl<T> FromIterator<T> for Column
where
    Self: From<Vec<T>>,
{
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        values.into_iter().collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_without_gaps_has_none_to_say() {
        assert!(!Column::from(vec![Some(1_u8)]).has_gaps());
        assert!(!Column::with_gaps(vec![1_u8], |_| true).has_gaps());
        let column = Column::with_gaps(vec![1_u8, 2], |value| value < 2);
        assert_eq!((column.is_gap(0), column.is_gap(1)), (false, true));
        assert_eq!(column.numbers::<u8>(), [1, 2]);
    }

    #[test]
    fn texts_labels_and_truths_are_read_by_row() {
        let texts = Column::texts_with_gaps([Some("é"), None, Some("b")]);
        assert_eq!(
            [0, 1, 2].map(|row| texts.text(row)),
            [Some("é"), None, Some("b")]
        );
        let labels = Column::texts(["low", "high"]);
        let column = Column::labelled(vec![Some(1_u8), None], &labels);
        assert_eq!([0, 1].map(|row| column.text(row)), [Some("high"), None]);
        assert_eq!(column.type_name(), "Dictionary(UInt8, Utf8)");
        let truths: Column = [Some(true), None].into_iter().collect();
        assert_eq!([0, 1].map(|row| truths.number(row)), [Some(1.0), None]);
    }

    #[test]
    #[should_panic(expected = "a label")]
    fn a_code_has_a_label() {
        Column::labelled(vec![2_u8], &Column::texts(["low", "high"]));
    }
}
