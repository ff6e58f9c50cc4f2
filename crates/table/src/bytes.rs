//! Tables as bytes, from one process of dumbbell to another on the same machine.

use std::str;

use crate::batch::{Batch, Named};
use crate::column::{Column, Number};

/// Length of a text that is missing.
const MISSING: u32 = u32::MAX;

impl Batch {
    /// Appends the table to `to`; [`Batch::read`] reads it.
    pub fn write(&self, to: &mut Vec<u8>) {
        put_length(to, self.columns.len());
        for named in &self.columns {
            put_text(to, &named.name);
            to.push(u8::from(named.is_nullable));
            write_column(to, &named.column);
        }
        put_length(to, self.rows);
    }

    /// Reads a table from the front of `from`, which is moved behind it; `None` if it is none.
    pub fn read(from: &mut &[u8]) -> Option<Self> {
        let columns = (0..length(from)?)
            .map(|_| {
                Some(Named {
                    name: text(from)?.to_owned(),
                    is_nullable: byte(from)? != 0,
                    column: read_column(from)?,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let rows = length(from)?;
        let is_table = columns.iter().all(|named| named.column.len() == rows);
        is_table.then_some(Self { columns, rows })
    }
}

fn write_column(to: &mut Vec<u8>, column: &Column) {
    let type_name = column.type_name();
    let rows = 0..column.len();
    if let Some(labels) = column.labels() {
        put_text(to, "Labels");
        write_column(to, column.codes().expect("it has labels"));
        write_column(to, labels);
        return;
    }
    put_text(to, &type_name);
    put_length(to, column.len());
    if type_name == "Utf8" {
        for row in rows {
            match column.text(row) {
                Some(text) => put_text(to, text),
                None => to.extend(MISSING.to_le_bytes()),
            }
        }
        return;
    }
    to.push(u8::from(column.has_gaps()));
    if column.has_gaps() {
        to.extend(rows.clone().map(|row| u8::from(column.is_gap(row))));
    }
    match &type_name[..] {
        "Boolean" => to.extend(rows.map(|row| u8::from(column.number(row) == Some(1.0)))),
        _ => to.extend(column.bytes()),
    }
}

fn read_column(from: &mut &[u8]) -> Option<Column> {
    let type_name = text(from)?;
    if type_name == "Labels" {
        let (codes, labels) = (read_column(from)?, read_column(from)?);
        let mut known = (0..codes.len()).filter_map(|row| codes.number(row));
        return known
            .all(|code| code < labels.len() as f64)
            .then(|| Column::labelled(codes, &labels));
    }
    let rows = length(from)?;
    if type_name == "Utf8" {
        let texts: Option<Vec<Option<&str>>> = (0..rows).map(|_| optional_text(from)).collect();
        return Some(Column::texts_with_gaps(texts?));
    }
    let gaps = match byte(from)? {
        0 => None,
        _ => Some(taken(from, rows)?),
    };
    match type_name {
        "UInt8" => numbers(from, rows, gaps, u8::from_le_bytes),
        "UInt16" => numbers(from, rows, gaps, u16::from_le_bytes),
        "UInt32" => numbers(from, rows, gaps, u32::from_le_bytes),
        "UInt64" => numbers(from, rows, gaps, u64::from_le_bytes),
        "Int64" => numbers(from, rows, gaps, i64::from_le_bytes),
        "Float64" => numbers(from, rows, gaps, f64::from_le_bytes),
        "Boolean" => {
            let truths = taken(from, rows)?.iter().map(|&byte| byte != 0);
            Some(with_gaps(truths.collect(), gaps))
        }
        _ => None,
    }
}

fn numbers<T: Number, const BYTES: usize>(
    from: &mut &[u8],
    rows: usize,
    gaps: Option<&[u8]>,
    number: fn([u8; BYTES]) -> T,
) -> Option<Column>
where
    Column: From<Vec<T>> + From<Vec<Option<T>>>,
{
    let (chunks, _) = taken(from, rows.checked_mul(BYTES)?)?.as_chunks::<BYTES>();
    Some(with_gaps(
        chunks.iter().map(|&bytes| number(bytes)).collect(),
        gaps,
    ))
}

fn with_gaps<T: Copy>(values: Vec<T>, gaps: Option<&[u8]>) -> Column
where
    Column: From<Vec<T>> + From<Vec<Option<T>>>,
{
    match gaps {
        None => values.into(),
        Some(gaps) => {
            let there = values.iter().zip(gaps);
            let values = there.map(|(&value, &is_gap)| (is_gap == 0).then_some(value));
            values.collect::<Vec<_>>().into()
        }
    }
}

fn put_length(to: &mut Vec<u8>, length: usize) {
    to.extend((length as u64).to_le_bytes());
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend((text.len() as u32).to_le_bytes());
    to.extend(text.as_bytes());
}

fn taken<'a>(from: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(bytes)?;
    *from = rest;
    Some(taken)
}

fn byte(from: &mut &[u8]) -> Option<u8> {
    taken(from, 1).map(|bytes| bytes[0])
}

fn length(from: &mut &[u8]) -> Option<usize> {
    let bytes = taken(from, 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

fn optional_text<'a>(from: &mut &'a [u8]) -> Option<Option<&'a str>> {
    match u32::from_le_bytes(taken(from, 4)?.try_into().ok()?) {
        MISSING => Some(None),
        bytes => str::from_utf8(taken(from, bytes as usize)?).ok().map(Some),
    }
}

fn text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    optional_text(from)?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Batch {
        let labels = Column::texts(["open", "loss"]);
        Batch::new(vec![
            ("time_us", vec![-1_i64, 2].into()),
            ("rate", vec![Some(0.5), None].into()),
            ("pkts", vec![Some(1_u32), Some(u32::MAX)].into()),
            ("is_new", vec![Some(true), None].into()),
            ("name", Column::texts_with_gaps([Some("é"), None])),
            ("state", Column::labelled(vec![Some(1_u8), None], &labels)),
        ])
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        table().write(&mut bytes);
        bytes.extend(b"next");
        let mut rest = &bytes[..];
        assert_eq!(Batch::read(&mut rest), Some(table()));
        assert_eq!(rest, b"next");
    }

    #[test]
    fn what_is_cut_off_is_no_table() {
        let mut bytes = Vec::new();
        table().write(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Batch::read(&mut &bytes[..length]), None, "{length} bytes");
        }
    }
}
