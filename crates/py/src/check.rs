//! What `dumbbell cc check` needs from the engine.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::{EngineError, cc_error, to_json};

/// A directory for compilers, removed at the end of its `with` block, or, if the process is killed,
/// when the next is made.
#[pyclass(module = "dumbbell._core")]
#[derive(Default)]
pub(crate) struct ScratchDirectory(Option<dumbbell_cc::ScratchDir>);

#[pymethods]
impl ScratchDirectory {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __enter__(&mut self) -> PyResult<PathBuf> {
        let dir = dumbbell_cc::ScratchDir::new()?;
        let path = dir.path().to_owned();
        self.0 = Some(dir);
        Ok(path)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&mut self, _exception: &Bound<'_, PyTuple>) {
        self.0 = None;
    }
}

/// Write the storm's sources and the headers to a directory; return how to build it, as JSON.
#[pyfunction]
pub(crate) fn write_storm(
    py: Python<'_>,
    name_or_path: &str,
    directory: PathBuf,
) -> PyResult<String> {
    let sources = py.detach(|| dumbbell_cc::write_storm(name_or_path, &directory));
    to_json(&sources.map_err(cc_error)?)
}

/// Compile a congestion control algorithm for the running kernel, without loading it.
#[pyfunction]
pub(crate) fn compile_for_kernel(py: Python<'_>, name_or_path: &str) -> PyResult<()> {
    py.detach(|| dumbbell_cc::compile_for_kernel(name_or_path))
        .map_err(cc_error)
}

/// Load a congestion control algorithm into the running kernel, so that its verifier checks it, and unload
/// it.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, name_or_path: &str) -> PyResult<()> {
    py.detach(|| dumbbell_emu::verify(name_or_path))
        .map_err(|error| EngineError::new_err(error.to_string()))
}
