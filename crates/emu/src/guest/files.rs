//! Files by which the process of a guest and the one that starts it talk, in a directory of the run.

use dumbbell_results::Table;
use dumbbell_table::Batch;

/// The scenario, as JSON: the request.
pub const SCENARIO: &str = "scenario.json";

/// Tables, one after the other: a name and a batch.
pub const TABLES: &str = "tables";

/// The summary, as JSON. Where it is, the result is whole.
pub const SUMMARY: &str = "summary.json";

/// Why there is no result.
pub const ERROR: &str = "error";

/// How far the run has come: ns, in 8 bytes.
pub const PROGRESS: &str = "progress";

/// Appends a table.
pub fn put_table(to: &mut Vec<u8>, table: &Table) {
    to.extend((table.name.len() as u64).to_le_bytes());
    to.extend(table.name.as_bytes());
    table.batch.write(to);
}

/// The tables in these bytes; `None` if they are no tables.
pub(crate) fn read_tables(mut bytes: &[u8]) -> Option<Vec<Table>> {
    let mut tables = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (name, rest) = rest.split_at_checked(length)?;
        bytes = rest;
        tables.push(Table {
            name: String::from_utf8(name.to_vec()).ok()?,
            batch: Batch::read(&mut bytes)?,
        });
    }
    Some(tables)
}
