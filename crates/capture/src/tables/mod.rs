//! Results as tables: column names carry units, null means unknown.

mod connections;
mod series;

use dumbbell_table::Column;

use crate::analysis::direction::Direction;
use crate::analysis::flight::Flight;
use crate::connection::View;
use crate::network::NetworkId;
use crate::points::Points;
pub(crate) use connections::connections;
pub(crate) use series::series;

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

/// Names of points.
pub(crate) fn point_column(
    places: impl Iterator<Item = (u32, NetworkId)>,
    points: &Points,
) -> Column {
    Column::texts(places.map(|place| points.name(place)))
}

/// Codes with labels.
pub(crate) fn labelled<const N: usize>(codes: Vec<u8>, labels: [&str; N]) -> Column {
    Column::labelled(codes, &Column::texts(labels))
}

pub(crate) fn uints<T>(rows: &[T], of: impl Fn(&T) -> u64) -> Column {
    rows.iter().map(of).collect()
}

fn maybe_uints<T>(rows: &[T], of: impl Fn(&T) -> Option<u64>) -> Column {
    rows.iter().map(of).collect()
}

pub(crate) fn floats<T>(rows: &[T], of: impl Fn(&T) -> Option<f64>) -> Column {
    rows.iter().map(of).collect()
}

/// Nanoseconds in, microseconds out.
pub(crate) fn micros<T>(rows: &[T], of_ns: impl Fn(&T) -> Option<f64>) -> Column {
    floats(rows, |row| of_ns(row).map(|ns| ns / 1e3))
}

fn bools<T>(rows: &[T], of: impl Fn(&T) -> Option<bool>) -> Column {
    rows.iter().map(of).collect()
}
