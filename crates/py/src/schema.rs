//! What is declared once in Rust, for Python.

use dumbbell_declare::{Parameter, Settings as _};
use dumbbell_scenario::Host;
use pyo3::prelude::*;
use serde::Serialize;

/// Every declaration.
#[derive(Serialize)]
struct Schema {
    /// What runs report.
    #[serde(flatten)]
    results: dumbbell_results::Schema,
    /// The TCP stack of a group's hosts.
    host: Vec<Parameter>,
}

/// What goes into a run and what it reports, as JSON: the parameters of hosts, and every record with its values.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    crate::to_json(&Schema {
        results: dumbbell_results::schema(),
        host: Host::parameters(),
    })
}
