//! Two captures of the same traffic matched, for Python.

use std::collections::BTreeMap;

use dumbbell_capture::{MatchOptions, Matching, Reader};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::capture_input::{Answer, batches, is_file, line, open, or_interrupt, parse, reading};
use crate::interruptible::Interrupt;

/// Options of a matching from Python.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    before_point: Option<String>,
    after_point: Option<String>,
}

/// Match two captures of the same traffic: their reading as JSON, tables as batches.
#[pyfunction]
pub(crate) fn match_captures(
    py: Python<'_>,
    before: &str,
    after: &str,
    options_json: &str,
) -> PyResult<Answer> {
    let asked: Options = parse(options_json)?;
    let options = MatchOptions {
        before_point: asked.before_point,
        after_point: asked.after_point,
        ..MatchOptions::default()
    };
    let interrupt = Interrupt::default();
    let done = py.detach(|| {
        let mut readers = [open(before, &interrupt)?, open(after, &interrupt)?];
        let [first, second] = &mut readers;
        let mut matching =
            dumbbell_capture::match_captures(first, second, &options).map_err(line)?;
        if is_file(before)
            && is_file(after)
            && let Some(better) = matching.better_options(&options)
        {
            readers = [open(before, &interrupt)?, open(after, &interrupt)?];
            let [first, second] = &mut readers;
            matching = dumbbell_capture::match_captures(first, second, &better).map_err(line)?;
        }
        Ok((summary(&readers, &matching), matching))
    });
    let (summary, matching) = or_interrupt(interrupt, done)?;
    let tables = BTreeMap::from([
        ("matches", batches(vec![matching.matches])),
        ("packets", batches(matching.packets)),
    ]);
    Ok((summary.to_string(), tables))
}

/// The results of reading, and totals that are in no table.
fn summary([before, after]: &[Reader; 2], matching: &Matching) -> Value {
    let totals = &matching.totals;
    json!({
        "before": reading(before),
        "after": reading(after),
        "before_pkts": totals.before_pkts,
        "after_pkts": totals.after_pkts,
        "matched_pkts": totals.matched_pkts,
        "translated_directions": totals.translated_directions,
        "hurried_pkts": totals.hurried_pkts,
        "dropped_rows": totals.dropped_rows,
    })
}
