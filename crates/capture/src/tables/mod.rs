//! Results as Arrow tables: column names carry units, null means unknown.

mod connections;
mod series;

use std::sync::Arc;

use arrow_array::types::UInt8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, RecordBatch, StringArray,
    UInt8Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};

use crate::analysis::direction::Direction;
use crate::analysis::flight::Flight;
use crate::connection::View;
use crate::points::Points;
pub(crate) use connections::connections;
pub(crate) use series::series;

/// Name and values.
type Column = (&'static str, ArrayRef);

/// A row of `connections`: a direction of a view.
struct Row<'a> {
    view: &'a View,
    side: usize,
    this: &'a Direction,
    flight: Option<&'a Flight>,
}

impl Row<'_> {
    fn duration_ns(&self) -> u64 {
        self.view.last_ns - self.view.first_ns
    }

    /// Bits per second over the view's duration.
    fn rate_bps(&self, bytes: u64) -> Option<f64> {
        let duration_ns = self.duration_ns();
        (duration_ns > 0).then(|| bytes as f64 * 8e9 / duration_ns as f64)
    }

    /// Values that need at least one ACK.
    fn acked_flight(&self) -> Option<&Flight> {
        self.flight.filter(|flight| flight.has_ack())
    }
}

/// The rows: directions without packets have none.
fn rows(views: &[View]) -> Vec<Row<'_>> {
    let mut rows = Vec::with_capacity(views.len() * 2);
    for view in views {
        let initiator = view.initiator();
        for side in [initiator, 1 - initiator] {
            if let Some(this) = &view.directions[side] {
                let flight = this.flight.as_deref();
                rows.push(Row {
                    view,
                    side,
                    this,
                    flight,
                });
            }
        }
    }
    rows
}

/// A table of columns of one length.
pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

/// Names of points.
pub(crate) fn point_column(
    interfaces: impl Iterator<Item = u32>,
    points: &Points,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(StringArray::from_iter_values(
        interfaces.map(|interface| points.name(interface)),
    )))
}

/// Codes with labels.
pub(crate) fn dictionary<const N: usize>(
    codes: Vec<u8>,
    labels: [&str; N],
) -> Result<ArrayRef, ArrowError> {
    let labels = StringArray::from_iter_values(labels);
    let keys = UInt8Array::from(codes);
    Ok(Arc::new(DictionaryArray::<UInt8Type>::try_new(
        keys,
        Arc::new(labels),
    )?))
}

pub(crate) fn uints<T>(rows: &[T], of: impl Fn(&T) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
}

fn maybe_uints<T>(rows: &[T], of: impl Fn(&T) -> Option<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter(rows.iter().map(of)))
}

pub(crate) fn floats<T>(rows: &[T], of: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter(rows.iter().map(of)))
}

/// Nanoseconds in, microseconds out.
pub(crate) fn micros<T>(rows: &[T], of_ns: impl Fn(&T) -> Option<f64>) -> ArrayRef {
    floats(rows, |row| of_ns(row).map(|ns| ns / 1e3))
}

fn bools<T>(rows: &[T], of: impl Fn(&T) -> Option<bool>) -> ArrayRef {
    Arc::new(BooleanArray::from_iter(rows.iter().map(of)))
}
