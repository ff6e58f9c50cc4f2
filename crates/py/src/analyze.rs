//! Captures for Python: their analysis, and two of them matched.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use arrow_array::RecordBatch;
use dumbbell_capture::{Analysis, AnalysisOptions, Reader};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Table;
use crate::interruptible::{Interrupt, Interruptible};

create_exception!(
    dumbbell._core,
    CaptureError,
    PyValueError,
    "A capture cannot be read, or has not what was asked of it; the message is for the user."
);

/// How a reading went, as JSON, and tables in batches.
type Answer = (String, BTreeMap<&'static str, Vec<Table>>);

/// What Python asks of an analysis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    interval_ns: Option<u64>,
    segments: Vec<u64>,
    points: Option<Vec<String>>,
}

/// Analyse a capture, `-` for standard input: how the reading went, as JSON, and tables in batches.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, path: &str, options_json: &str) -> PyResult<Answer> {
    let asked: Options = parse(options_json)?;
    let options = AnalysisOptions {
        interval_ns: asked.interval_ns,
        segments: asked.segments,
        points: asked.points,
        ..AnalysisOptions::default()
    };
    let interrupt = Interrupt::default();
    let done = py.detach(|| {
        let mut reader = open(path, &interrupt)?;
        let analysis = dumbbell_capture::analyze(&mut reader, &options).map_err(line)?;
        Ok((reading(&reader, &analysis), analysis))
    });
    let (reading, analysis) = or_interrupt(interrupt, done)?;
    let tables = BTreeMap::from([
        ("connections", batches(vec![analysis.connections])),
        ("series", batches(vec![analysis.series])),
        ("segments", batches(analysis.segments)),
    ]);
    Ok((reading.to_string(), tables))
}

fn parse<'a, T: Deserialize<'a>>(options_json: &'a str) -> PyResult<T> {
    serde_json::from_str(options_json)
        .map_err(|error| CaptureError::new_err(format!("options: {error}")))
}

/// Opens a capture so that Ctrl-C ends its reading.
fn open(path: &str, interrupt: &Interrupt) -> Result<Reader, String> {
    let source: Box<dyn Read + Send> = if path == "-" {
        Box::new(Interruptible::new(io::stdin(), Arc::clone(interrupt)))
    } else {
        let file = File::open(path).map_err(|error| format!("{path}: cannot be read: {error}"))?;
        Box::new(Interruptible::new(file, Arc::clone(interrupt)))
    };
    let name = if path == "-" { "standard input" } else { path };
    Reader::with_name(name.to_owned(), source).map_err(line)
}

fn line(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// What was done; or what Python raised meanwhile, for which it may have ended early.
fn or_interrupt<T>(interrupt: Interrupt, done: Result<T, String>) -> PyResult<T> {
    match Arc::into_inner(interrupt).and_then(|raised| raised.into_inner()) {
        Some(raised) => Err(raised),
        None => done.map_err(CaptureError::new_err),
    }
}

/// How a reading went, and what is in no table.
fn reading(reader: &Reader, analysis: &Analysis) -> Value {
    let counts = reader.counts();
    let totals = &analysis.totals;
    let damage = counts.damage.as_ref();
    json!({
        "packets": counts.packets,
        "tcp_pkts": counts.tcp_pkts,
        "not_ip": counts.not_ip,
        "not_tcp": counts.not_tcp,
        "fragments": counts.fragments,
        "cut_headers": counts.cut_headers,
        "bad_lengths": counts.bad_lengths,
        "unknown_link_type": counts.unknown_link_type,
        "damage": damage.map(|damage| json!({ "offset": damage.offset, "what": damage.what })),
        "interfaces": interfaces(reader),
        "bad_checksum_pkts": totals.bad_checksum_pkts,
        "connections": totals.connections,
        "evicted": {
            "views": totals.evicted.views,
            "pkts": totals.evicted.pkts,
            "payload_bytes": totals.evicted.payload_bytes,
        },
        "dropped_segment_rows": totals.dropped_segment_rows,
        "first_ns": totals.first_ns,
        "last_ns": totals.last_ns,
    })
}

fn interfaces(reader: &Reader) -> Vec<Value> {
    let interfaces = reader.interfaces().iter().enumerate();
    interfaces
        .map(|(number, interface)| {
            json!({
                "name": interface.name.clone().unwrap_or_else(|| number.to_string()),
                "link_type": interface.link_type.to_string(),
                "snap_bytes": interface.snap_bytes,
                "missed_pkts": interface.missed_pkts,
            })
        })
        .collect()
}

fn batches(batches: Vec<RecordBatch>) -> Vec<Table> {
    batches.into_iter().map(|batch| Table { batch }).collect()
}
