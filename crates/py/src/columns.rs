//! Columns as bytes, for a process without an Arrow library.

use dumbbell_table::Column;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Name, Arrow's name of the type, whether values are missing, rows, the bits of those that are there, values, and what
/// labels the values number.
pub(crate) type ColumnBytes<'py> = (
    String,
    String,
    bool,
    usize,
    Option<Bound<'py, PyBytes>>,
    Bound<'py, PyBytes>,
    Option<Vec<String>>,
);

pub(crate) fn column_bytes<'py>(py: Python<'py>, name: &str, column: &Column) -> ColumnBytes<'py> {
    let type_name = column.type_name().to_lowercase();
    // Of labels that of their numbers: `dictionary(uint8, utf8)`.
    let numbers = type_name
        .strip_prefix("dictionary(")
        .and_then(|inner| inner.split(',').next())
        .unwrap_or(&type_name);
    let bits = column.has_gaps().then(|| {
        let is_there = |row| u8::from(!column.is_gap(row));
        let byte = |first| {
            let rows = first..column.len().min(first + 8);
            rows.rev().fold(0, |byte, row| byte << 1 | is_there(row))
        };
        let bytes: Vec<u8> = (0..column.len()).step_by(8).map(byte).collect();
        PyBytes::new(py, &bytes)
    });
    let labels = column.labels().map(|labels| {
        (0..labels.len())
            .filter_map(|row| labels.text(row).map(str::to_owned))
            .collect()
    });
    (
        name.to_owned(),
        numbers.replace("float64", "double"),
        column.has_gaps(),
        column.len(),
        bits,
        PyBytes::new(py, &column.bytes()),
        labels,
    )
}
