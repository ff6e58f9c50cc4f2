//! Captures for Python: their analysis, and two of them matched.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use dumbbell_capture::{AnalysisOptions, ReadCounts, Reader};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::interruptible::{Interrupt, Interruptible};
use crate::{Table, to_json};

create_exception!(
    dumbbell._core,
    CaptureError,
    PyValueError,
    "A capture cannot be read, or has not what was asked of it; the message is for the user."
);

/// How a reading went, as JSON, and tables by name.
type Result = PyResult<(String, BTreeMap<String, Table>)>;

/// What Python asks of an analysis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    interval_ns: Option<u64>,
    segments: Vec<u64>,
    points: Option<Vec<String>>,
}

/// Analyse a capture, `-` for standard input: how the reading went, as JSON, and tables.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, path: &str, options_json: &str) -> Result {
    let asked: Options = serde_json::from_str(options_json)
        .map_err(|error| CaptureError::new_err(format!("options: {error}")))?;
    let options = AnalysisOptions {
        interval_ns: asked.interval_ns,
        segments: asked.segments,
        points: asked.points,
        ..AnalysisOptions::default()
    };
    let interrupt = Interrupt::default();
    let result = py.detach(|| {
        let mut reader = open(path, &interrupt)?;
        let analysis = dumbbell_capture::analyze(&mut reader, &options)?;
        Ok((summary(&reader), analysis))
    });
    raise(interrupt)?;
    todo!()
}
