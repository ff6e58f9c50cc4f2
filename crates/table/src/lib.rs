//! Tables of columns, handed to other languages without a copy.
//!
//! Columns have the layout of [Arrow]: little-endian values one after another, and a bit for each value that is there.
//! What reads or computes with them is on the other side, in Python. An Arrow library in Rust would bring its types,
//! calendar and big numbers; the C data interface is [meant] to be written down by those who only hand over.
//!
//! [Arrow]: https://arrow.apache.org/docs/format/Columnar.html
//! [meant]: https://arrow.apache.org/docs/format/CDataInterface.html#goals

mod arrow;
mod batch;
mod bits;
mod column;

pub use arrow::{ArrowArray, ArrowSchema};
pub use batch::Batch;
pub use column::{Column, Number, Value};
