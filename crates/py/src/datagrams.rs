//! Flows of UDP in a capture, for Python.

use std::collections::BTreeMap;

use dumbbell_capture::DatagramOptions;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::capture_input::{Answer, batches, line, open, or_interrupt, parse, reading};
use crate::interruptible::Interrupt;

/// Options from Python.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    points: Option<Vec<String>>,
    series_bins: usize,
    max_bytes: usize,
}

/// Read the flows of UDP in a capture, by the times and sizes of packets: its reading as JSON, tables as batches.
#[pyfunction]
pub(crate) fn datagrams(py: Python<'_>, path: &str, options_json: &str) -> PyResult<Answer> {
    let asked: Options = parse(options_json)?;
    let options = DatagramOptions {
        points: asked.points,
        series_bins: asked.series_bins,
        max_bytes: asked.max_bytes,
        ..DatagramOptions::default()
    };
    let interrupt = Interrupt::default();
    let done = py.detach(|| {
        let mut reader = open(path, &interrupt)?;
        let found = dumbbell_capture::datagrams(&mut reader, &options).map_err(line)?;
        Ok((reading(&reader), found))
    });
    let (mut summary, found) = or_interrupt(interrupt, done)?;
    summary["given_up_pkts"] = json!(found.given_up_pkts);
    let tables = BTreeMap::from([
        ("flows", batches(vec![found.flows])),
        ("series", batches(vec![found.series])),
    ]);
    Ok((summary.to_string(), tables))
}
