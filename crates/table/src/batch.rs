//! Columns of one length, with names.

use std::ops::Index;

use crate::column::Column;

/// A table, or one of several parts of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub(crate) columns: Vec<Named>,
    pub(crate) rows: usize,
}

/// A column and what its schema says of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) is_nullable: bool,
    pub(crate) column: Column,
}

impl Batch {
    /// A table. Its schema says which columns have gaps.
    ///
    /// # Panics
    ///
    /// If the columns differ in length.
    pub fn new(columns: Vec<(&str, Column)>) -> Self {
        Self::with_schema(columns, Column::has_gaps)
    }

    /// A part of a table. Its schema is the same in all parts: every column may have gaps.
    ///
    /// # Panics
    ///
    /// If the columns differ in length.
    pub fn part(columns: Vec<(&str, Column)>) -> Self {
        Self::with_schema(columns, |_| true)
    }

    fn with_schema(columns: Vec<(&str, Column)>, is_nullable: impl Fn(&Column) -> bool) -> Self {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        let named = |(name, column): (&str, Column)| {
            assert_eq!(column.len(), rows, "rows of `{name}`");
            Named {
                name: name.to_owned(),
                is_nullable: is_nullable(&column),
                column,
            }
        };
        Self {
            columns: columns.into_iter().map(named).collect(),
            rows,
        }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.rows
    }

    /// Names and columns, in their order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns
            .iter()
            .map(|named| (&named.name[..], &named.column))
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns()
            .find_map(|(each, column)| (each == name).then_some(column))
    }
}

impl Index<&str> for Batch {
    type Output = Column;

    fn index(&self, name: &str) -> &Column {
        self.column(name)
            .unwrap_or_else(|| panic!("no column `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_may_have_gaps_where_it_has_some_and_a_part_everywhere() {
        let columns = || {
            vec![
                ("whole", Column::from(vec![1_u32, 2])),
                ("gaps", Column::from(vec![Some(1_u32), None])),
            ]
        };
        let nullable = |batch: Batch| -> Vec<bool> {
            batch
                .columns
                .iter()
                .map(|named| named.is_nullable)
                .collect()
        };
        assert_eq!(nullable(Batch::new(columns())), [false, true]);
        assert_eq!(nullable(Batch::part(columns())), [true, true]);
        assert_eq!(Batch::new(columns())["gaps"].number(0), Some(1.0));
    }

    #[test]
    #[should_panic(expected = "rows of `short`")]
    fn columns_of_two_lengths_are_no_table() {
        Batch::new(vec![
            ("long", Column::from(vec![1_u8, 2])),
            ("short", Column::from(vec![1_u8])),
        ]);
    }
}
