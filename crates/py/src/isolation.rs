//! What a process that runs foreign congestion control algorithms needs from the engine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dumbbell_cc::Confine;
use pyo3::prelude::*;

use crate::cc_error;

/// Report crashes of this process to a descriptor, in a frame; the run must be in this thread.
#[pyfunction]
pub(crate) fn report_crashes(descriptor: i32) -> PyResult<()> {
    Ok(dumbbell_cc::report_crashes(descriptor)?)
}

/// The call into a congestion control algorithm that is in progress, or the latest: group, op, flow, whether
/// it is in progress, simulated ns. None unless `report_crashes` watches this process.
#[pyfunction]
pub(crate) fn running_call() -> Option<(usize, &'static str, u32, bool, u64)> {
    dumbbell_cc::running_call().map(|call| {
        (
            call.instance,
            call.op,
            call.flow,
            call.is_under_way,
            call.now_ns,
        )
    })
}

/// Compile a congestion control algorithm's source for the simulator, without running it; this process, and
/// those forked from it, need not do so again.
#[pyfunction]
pub(crate) fn precompile(py: Python<'_>, name_or_path: &str) -> PyResult<()> {
    py.detach(|| dumbbell_cc::precompile(name_or_path))
        .map_err(cc_error)
}

/// Confine this process, which must have one thread, to running congestion control algorithms. Returns the
/// names of what the kernel lacks for that.
#[pyfunction]
#[pyo3(signature = (read, write, *, trap, parent=None))]
pub(crate) fn confine(
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    trap: bool,
    parent: Option<u32>,
) -> PyResult<Vec<&'static str>> {
    let missing = dumbbell_cc::confine(Confine {
        read,
        write,
        trap,
        parent,
    })?;
    Ok(missing.into_iter().map(dumbbell_cc::Piece::name).collect())
}

/// End this process when the thread ends that forked it; at once if its parent is not `parent`.
#[pyfunction]
pub(crate) fn die_with_parent(parent: u32) -> PyResult<()> {
    Ok(dumbbell_cc::die_with_parent(Some(parent))?)
}

/// Take files as they were compiled last in this process or the one that forked it, without reading
/// them.
#[pyfunction]
pub(crate) fn use_finished_builds() {
    dumbbell_cc::use_finished_builds();
}

/// The pieces of the sandbox, and what foreign code can do without each.
#[pyfunction]
pub(crate) fn sandbox_pieces() -> BTreeMap<&'static str, &'static str> {
    let pieces = dumbbell_cc::Piece::ALL.into_iter();
    pieces.map(|piece| (piece.name(), piece.costs())).collect()
}

/// The name of a system call, for a message; None for an unusual one.
#[pyfunction]
pub(crate) fn name_of_system_call(number: i64) -> Option<&'static str> {
    dumbbell_cc::name_of_system_call(number)
}
