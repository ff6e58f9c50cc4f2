//! The log of packets at links, for Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde_json::json;

use crate::capture_input::{Answer, batches, line, open, or_interrupt, reading};
use crate::interruptible::Interrupt;

/// Read what happened to every packet at every link of a run's capture: its reading as JSON, tables as batches.
#[pyfunction]
pub(crate) fn packet_log(py: Python<'_>, path: &str, max_rows: usize) -> PyResult<Answer> {
    let interrupt = Interrupt::default();
    let done = py.detach(|| {
        let mut reader = open(path, &interrupt)?;
        let log = dumbbell_capture::packet_log(&mut reader, max_rows).map_err(line)?;
        Ok((reading(&reader), log))
    });
    let (mut summary, log) = or_interrupt(interrupt, done)?;
    summary["first_ns"] = json!(log.totals.first_ns);
    summary["unmatched_pkts"] = json!(log.totals.unmatched_pkts);
    summary["dropped_rows"] = json!(log.totals.dropped_rows);
    let tables = BTreeMap::from([
        ("packets", batches(log.packets)),
        ("flows", batches(vec![log.flows])),
    ]);
    Ok((summary.to_string(), tables))
}
