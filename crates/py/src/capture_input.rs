//! Opens captures for Python, and reports the result of reading.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use dumbbell_capture::Reader;
use dumbbell_table::Batch;
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
    "A capture cannot be read, or lacks what was requested; the message is for the user."
);

/// The result of reading, as JSON, and tables in batches.
pub(crate) type Answer = (String, BTreeMap<&'static str, Vec<Table>>);

pub(crate) fn parse<'a, T: Deserialize<'a>>(options_json: &'a str) -> PyResult<T> {
    serde_json::from_str(options_json)
        .map_err(|error| CaptureError::new_err(format!("options: {error}")))
}

/// Opens a capture, `-` for standard input, so that Ctrl-C ends its reading.
pub(crate) fn open(path: &str, interrupt: &Interrupt) -> Result<Reader, String> {
    let source: Box<dyn Read + Send> = if path == "-" {
        Box::new(Interruptible::new(io::stdin(), Arc::clone(interrupt)))
    } else {
        let file = File::open(path).map_err(|error| format!("{path}: cannot be read: {error}"))?;
        Box::new(Interruptible::new(file, Arc::clone(interrupt)))
    };
    let name = if path == "-" { "standard input" } else { path };
    Reader::with_name(name.to_owned(), source).map_err(line)
}

/// Whether it can be read again; pipes cannot.
pub(crate) fn is_file(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

pub(crate) fn line(error: impl Display) -> String {
    error.to_string()
}

/// The result; or the exception raised by Python meanwhile, which may have ended it early.
pub(crate) fn or_interrupt<T>(interrupt: Interrupt, done: Result<T, String>) -> PyResult<T> {
    match Arc::into_inner(interrupt).and_then(|raised| raised.into_inner()) {
        Some(raised) => Err(raised),
        None => done.map_err(CaptureError::new_err),
    }
}

/// The result of reading.
pub(crate) fn reading(reader: &Reader) -> Value {
    let counts = reader.counts();
    let damage = counts.damage.as_ref();
    json!({
        "packets": counts.packets,
        "tcp_pkts": counts.tcp_pkts,
        "not_ip": counts.not_ip,
        "not_tcp": counts.not_tcp,
        "fragments": counts.fragments,
        "joined_fragments": counts.joined_fragments,
        "cut_headers": counts.cut_headers,
        "bad_lengths": counts.bad_lengths,
        "unknown_link_type": counts.unknown_link_type,
        "unread": counts.unread,
        "damage": damage.map(|damage| json!({ "offset": damage.offset, "what": damage.what })),
        "interfaces": interfaces(reader),
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

pub(crate) fn batches(batches: Vec<Batch>) -> Vec<Table> {
    batches.into_iter().map(|batch| Table { batch }).collect()
}
