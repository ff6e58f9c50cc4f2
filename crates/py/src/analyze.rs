//! The analysis of a capture, for Python.

use std::collections::BTreeMap;

use dumbbell_capture::{Analysis, AnalysisOptions, Reader};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::capture_input::{Answer, batches, is_file, line, open, or_interrupt, parse, reading};
use crate::interruptible::Interrupt;

/// Options of an analysis from Python.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    interval_ns: Option<u64>,
    segments: Vec<u64>,
    points: Option<Vec<String>>,
    /// Largest number of bins of a series, and memory of all views; by default as in the engine.
    series_bins: Option<usize>,
    max_view_bytes: Option<usize>,
    /// Points that count as one, each a list of names; packets are then sorted by time.
    #[serde(default)]
    joined_points: Vec<Vec<String>>,
}

/// Analyse a capture, `-` for standard input: its reading as JSON, tables as batches.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, path: &str, options_json: &str) -> PyResult<Answer> {
    let asked: Options = parse(options_json)?;
    let default = AnalysisOptions::default();
    let options = AnalysisOptions {
        interval_ns: asked.interval_ns,
        segments: asked.segments,
        points: asked.points,
        series_bins: asked.series_bins.unwrap_or(default.series_bins),
        max_view_bytes: asked.max_view_bytes.unwrap_or(default.max_view_bytes),
        sorts: !asked.joined_points.is_empty(),
        joined_points: asked.joined_points,
        ..default
    };
    let interrupt = Interrupt::default();
    let done = py.detach(|| {
        let mut reader = open(path, &interrupt)?;
        let mut analysis = dumbbell_capture::analyze(&mut reader, &options).map_err(line)?;
        if is_file(path)
            && let Some(better) = analysis.better_options(&options)
        {
            reader = open(path, &interrupt)?;
            analysis = dumbbell_capture::analyze(&mut reader, &better).map_err(line)?;
        }
        Ok((summary(&reader, &analysis), analysis))
    });
    let (summary, analysis) = or_interrupt(interrupt, done)?;
    let tables = BTreeMap::from([
        ("connections", batches(vec![analysis.connections])),
        ("series", batches(vec![analysis.series])),
        ("segments", batches(analysis.segments)),
    ]);
    Ok((summary.to_string(), tables))
}

/// The result of reading, and totals that are in no table.
fn summary(reader: &Reader, analysis: &Analysis) -> Value {
    let totals = &analysis.totals;
    let mut summary = reading(reader);
    summary["connections"] = json!(totals.connections);
    summary["given_up"] = json!({
        "views": totals.evicted.views,
        "pkts": totals.evicted.pkts,
        "payload_bytes": totals.evicted.payload_bytes,
    });
    summary["unsorted_pkts"] = json!(totals.unsorted_pkts);
    summary["joined_points"] = json!(analysis.joined_points);
    summary["dropped_segment_rows"] = json!(totals.dropped_segment_rows);
    summary["first_ns"] = json!(totals.first_ns);
    summary["last_ns"] = json!(totals.last_ns);
    summary
}
