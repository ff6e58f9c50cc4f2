//! Commands that read or are foreign code: compilers, and the storm's program.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dumbbell_cc::{ConfinedCommand, Ended};
use pyo3::prelude::*;

/// The result of a confined command.
#[pyclass(frozen, get_all, module = "dumbbell._core")]
pub(crate) struct ConfinedResult {
    /// Its status; a signal's number, negative, if one ended it.
    returncode: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// The bound at which it was ended, in words that follow its name; None if it ended by itself.
    stopped: Option<String>,
}

impl From<Ended> for ConfinedResult {
    fn from(ended: Ended) -> Self {
        let status = ended.status;
        Self {
            returncode: status
                .code()
                .or_else(|| status.signal().map(|signal| -signal))
                .unwrap_or(-1),
            stdout: ended.stdout,
            stderr: ended.stderr,
            stopped: ended.stopped,
        }
    }
}

/// Run a program made of foreign code: it neither starts processes nor reaches the network; it reads
/// its directory, `source` and the system's libraries, and writes nothing. The directory is removed
/// if this process dies meanwhile.
#[pyfunction]
#[pyo3(signature = (program, arguments, *, source, environment, time_limit_s, memory_bytes))]
pub(crate) fn run_confined(
    py: Python<'_>,
    program: PathBuf,
    arguments: Vec<String>,
    source: PathBuf,
    environment: BTreeMap<String, String>,
    time_limit_s: f64,
    memory_bytes: u64,
) -> PyResult<ConfinedResult> {
    let directory = program.parent().map(Path::to_owned).unwrap_or_default();
    let mut command = ConfinedCommand::program(&program);
    command
        .args(arguments)
        .remove_if_killed(&directory)
        .read([directory, source]);
    for (name, value) in environment {
        command.env(name, value);
    }
    command.time = Duration::from_secs_f64(time_limit_s.clamp(0.0, 1e9));
    command.cpu_s = command.time.as_secs() + 1;
    command.resident_bytes = Some(memory_bytes);
    Ok(py.detach(|| command.output())?.into())
}

/// Run a compiler, by the words of its command, in a directory that it can write: it reads a source,
/// and the sources near it.
#[pyfunction]
pub(crate) fn run_compiler(
    py: Python<'_>,
    words: Vec<String>,
    arguments: Vec<String>,
    directory: PathBuf,
    source: PathBuf,
) -> PyResult<ConfinedResult> {
    let run = || dumbbell_cc::run_compiler(&words, &arguments, &directory, &source);
    Ok(py.detach(run)?.into())
}
