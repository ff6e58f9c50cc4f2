//! Tables of columns, passed to other languages without a copy.
//!
//! Columns have the layout of [Arrow]: little-endian values one after another, and a bit per value that says whether it
//! is there. Python reads the tables and computes with them, so this crate only exports them. It implements Arrow's C
//! data interface by hand, as the interface's [goals] intend. An Arrow library in Rust would also bring its own
//! types, calendar and big numbers.
//!
//! [Arrow]: https://arrow.apache.org/docs/format/Columnar.html
//! [goals]: https://arrow.apache.org/docs/format/CDataInterface.html#goals

mod arrow;
mod batch;
mod bits;
mod bytes;
mod column;

pub use arrow::{ArrowArray, ArrowSchema};
pub use batch::Batch;
pub use column::{Column, Number, Value};
