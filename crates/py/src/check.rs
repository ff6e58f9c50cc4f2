//! What `dumbbell cc check` asks of the engine.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::{EngineError, cc_error, to_json};

/// Write the storm's sources and the headers to a directory; say as JSON how to build it.
#[pyfunction]
pub(crate) fn write_storm(
    py: Python<'_>,
    name_or_path: &str,
    directory: PathBuf,
) -> PyResult<String> {
    let sources = py.detach(|| dumbbell_cc::write_storm(name_or_path, &directory));
    to_json(&sources.map_err(cc_error)?)
}

/// Compile a congestion control for the running kernel, without loading it.
#[pyfunction]
pub(crate) fn compile_for_kernel(py: Python<'_>, name_or_path: &str) -> PyResult<()> {
    py.detach(|| dumbbell_cc::compile_for_kernel(name_or_path))
        .map_err(cc_error)
}

/// Load a congestion control into the running kernel, whose verifier so checks it, and take it out.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, name_or_path: &str) -> PyResult<()> {
    py.detach(|| dumbbell_emu::verify(name_or_path))
        .map_err(|error| EngineError::new_err(error.to_string()))
}
