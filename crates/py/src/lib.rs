//! `dumbbell._core`: the engines, for Python.
//!
//! Thin on purpose. A scenario comes in as JSON, a summary goes out as JSON and the time series as
//! Arrow, without a copy; `dumbbell_results` and `docs/format-run.md` define them.

mod analyze;
mod capture_input;
mod check;
mod columns;
mod confined;
mod datagrams;
mod emulation;
mod interruptible;
mod isolation;
mod match_captures;
mod packet_log;
mod python_cc;
mod python_samples;
mod python_socket;
mod schema;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dumbbell_capture::CaptureConfig;
use dumbbell_scenario::Scenario;
use dumbbell_table::Batch;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use self::columns::{ColumnBytes, column_bytes};

create_exception!(
    dumbbell._core,
    EngineError,
    PyValueError,
    "The engine rejects the scenario; the message is for the user."
);
create_exception!(
    dumbbell._core,
    CongestionControlFault,
    EngineError,
    "A congestion control violated the contract; the message is for the user."
);
create_exception!(
    dumbbell._core,
    Cancelled,
    PyException,
    "The run was cancelled through its `Control`."
);

/// A handle on a run in progress, to read its progress and to stop it.
#[pyclass(frozen, module = "dumbbell._core")]
#[derive(Default)]
struct Control {
    inner: Arc<dumbbell_scenario::Control>,
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ask the run to stop; it raises `Cancelled` within milliseconds.
    fn cancel(&self) {
        self.inner.cancel();
    }

    /// Send the clients among the programs of a run in virtual time a signal.
    fn send_signal(&self, signal: i32) {
        self.inner.send_signal(signal);
    }

    /// Whether it was asked to stop.
    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }

    /// Share of the run that has passed, 0 to 1.
    fn progress(&self) -> f64 {
        self.inner.progress()
    }

    /// Set the share that has passed, for a run in another process.
    fn set_progress(&self, share: f64) {
        self.inner
            .set_progress((share.clamp(0.0, 1.0) * 1e9) as u64, 1_000_000_000);
    }
}

/// The result of a run: its summary and its tables.
#[pyclass(frozen, module = "dumbbell._core")]
struct Output {
    summary: String,
    tables: Vec<dumbbell_results::Table>,
}

#[pymethods]
impl Output {
    /// The summary, as JSON.
    fn summary(&self) -> &str {
        &self.summary
    }

    /// Names of the tables, in the order they were recorded.
    fn table_names(&self) -> Vec<String> {
        self.tables.iter().map(|table| table.name.clone()).collect()
    }

    /// A table, without a copy; `pyarrow.table()` and other Arrow libraries accept it.
    fn table(&self, name: &str) -> PyResult<Table> {
        let table = self.tables.iter().find(|table| table.name == name);
        let table = table.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(Table {
            batch: table.batch.clone(),
        })
    }

    /// The columns of a table, for a process without an Arrow library.
    fn columns<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<ColumnBytes<'py>>> {
        let batch = self.table(name)?.batch;
        let columns = batch.columns();
        Ok(columns
            .map(|(name, column)| column_bytes(py, name, column))
            .collect())
    }
}

/// A table for any Arrow library, by the Arrow PyCapsule interface.
#[pyclass(frozen, module = "dumbbell._core")]
struct Table {
    batch: Batch,
}

#[pymethods]
impl Table {
    /// Schema and array capsules; a requested schema is only a hint, which is ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let (schema, array) = self.batch.to_arrow();
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

impl Output {
    fn of(output: dumbbell_results::Output) -> PyResult<Self> {
        Ok(Self {
            summary: to_json(&output.summary)?,
            tables: output.tables,
        })
    }
}

/// What to capture: any object with these attributes.
#[derive(FromPyObject)]
struct Capture {
    path: PathBuf,
    snap_bytes: Option<u32>,
    senders: bool,
    receivers: bool,
    links: bool,
}

impl From<Capture> for CaptureConfig {
    fn from(capture: Capture) -> Self {
        let Capture {
            path,
            snap_bytes,
            senders,
            receivers,
            links,
        } = capture;
        Self {
            path,
            snap_bytes,
            senders,
            receivers,
            links,
        }
    }
}

/// Run a scenario on an engine, `simulator` or `kernel`; other Python threads run meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario_json, control=None, engine="simulator", capture=None))]
fn run(
    py: Python<'_>,
    scenario_json: &str,
    control: Option<&Control>,
    engine: &str,
    capture: Option<Capture>,
) -> PyResult<Output> {
    let scenario = read_scenario(scenario_json)?;
    let control = control
        .map(|control| Arc::clone(&control.inner))
        .unwrap_or_default();
    let capture = capture.map(CaptureConfig::from);
    let output = match engine {
        "simulator" => py.detach(|| simulate(&scenario, &control, capture.as_ref())),
        "kernel" => py.detach(|| emulate(&scenario, &control, capture.as_ref())),
        _ => Err(Failure::Refused(format!(
            "unknown engine `{engine}`; use `simulator` or `kernel`"
        ))),
    };
    match output {
        Ok(output) => Output::of(output),
        Err(Failure::Cancelled) => Err(Cancelled::new_err("cancelled")),
        Err(Failure::Refused(message)) => Err(EngineError::new_err(message)),
        Err(Failure::Fault(message)) => Err(CongestionControlFault::new_err(message)),
    }
}

/// Run a scenario on a guest's kernel, in virtual time. `kernel` is the executable, `library` what its kernel loads. With
/// `programs` those are started instead of the scenario's: group, side, words, descriptors of standard input, output and
/// errors, ports that must be open before the next, and how long that may take, s.
#[pyfunction]
#[pyo3(signature = (scenario_json, kernel, library, control=None, capture=None, programs=None))]
fn run_in_guest(
    py: Python<'_>,
    scenario_json: &str,
    kernel: PathBuf,
    library: PathBuf,
    control: Option<&Control>,
    capture: Option<Capture>,
    programs: Option<Vec<emulation::GuestProgram>>,
) -> PyResult<Output> {
    let scenario = read_scenario(scenario_json)?;
    let programs = programs.map(emulation::guest_programs).transpose()?;
    let control = control
        .map(|control| Arc::clone(&control.inner))
        .unwrap_or_default();
    let guest = dumbbell_emu::uml::Guest { kernel, library };
    let capture = capture.map(CaptureConfig::from);
    let ran = py.detach(|| {
        let (capture, programs) = (capture.as_ref(), programs.as_deref());
        guest.run(scenario_json, &scenario, &control, capture, programs)
    });
    match ran {
        Ok(dumbbell_emu::uml::Ran { summary, tables }) => Ok(Output { summary, tables }),
        Err(dumbbell_emu::Error::Cancelled) => Err(Cancelled::new_err("cancelled")),
        Err(error) => Err(EngineError::new_err(error.to_string())),
    }
}

/// Reads what `Scenario.to_json` wrote.
fn read_scenario(json: &str) -> PyResult<Scenario> {
    serde_json::from_str(json).map_err(|error| EngineError::new_err(format!("scenario: {error}")))
}

/// Why an engine returned no output.
enum Failure {
    Cancelled,
    Refused(String),
    /// Of a congestion control.
    Fault(String),
}

fn simulate(
    scenario: &Scenario,
    control: &dumbbell_scenario::Control,
    capture: Option<&CaptureConfig>,
) -> Result<dumbbell_results::Output, Failure> {
    dumbbell_sim::run_with(scenario, control, capture, &python_cc::load).map_err(
        |error| match error {
            dumbbell_sim::Error::Cancelled => Failure::Cancelled,
            dumbbell_sim::Error::Fault(fault) => Failure::Fault(fault.to_string()),
            error => Failure::Refused(error.to_string()),
        },
    )
}

fn emulate(
    scenario: &Scenario,
    control: &dumbbell_scenario::Control,
    capture: Option<&CaptureConfig>,
) -> Result<dumbbell_results::Output, Failure> {
    dumbbell_emu::run(scenario, control, capture).map_err(|error| match error {
        dumbbell_emu::Error::Cancelled => Failure::Cancelled,
        error => Failure::Refused(error.to_string()),
    })
}

/// Refuse a scenario that the kernel engine cannot run on any machine.
#[pyfunction]
fn check_for_kernel(scenario_json: &str) -> PyResult<()> {
    dumbbell_emu::check(&read_scenario(scenario_json)?)
        .map_err(|error| EngineError::new_err(error.to_string()))
}

/// Refuse a scenario that no guest can run; return the first algorithm that needs Accurate ECN, files left out.
#[pyfunction]
fn check_for_guest(scenario_json: &str) -> PyResult<Option<String>> {
    let scenario = read_scenario(scenario_json)?;
    dumbbell_emu::guest::check(&scenario)
        .map_err(|error| EngineError::new_err(error.to_string()))?;
    Ok(dumbbell_emu::guest::first_with_accecn(&scenario).map(str::to_owned))
}

/// What this machine can do for the kernel engine, as JSON: a list of facts.
#[pyfunction]
fn machine(py: Python<'_>) -> PyResult<String> {
    to_json(&py.detach(dumbbell_emu::machine))
}

/// What the C compiler for a user's congestion control calls itself; `None` if there is none.
#[pyfunction]
fn native_compiler() -> Option<String> {
    dumbbell_cc::native_compiler()
}

/// Every built-in congestion control with its parameters and state series, as JSON.
#[pyfunction]
fn congestion_controls() -> PyResult<String> {
    let described: Result<Vec<_>, _> = dumbbell_cc::builtin_names()
        .into_iter()
        .map(dumbbell_cc::describe)
        .collect();
    to_json(&described.map_err(cc_error)?)
}

/// Every queue discipline with its facts and parameters, as JSON.
#[pyfunction]
fn queue_disciplines() -> PyResult<String> {
    to_json(&dumbbell_scenario::disciplines())
}

/// Every impairment of links with its parameters, as JSON.
#[pyfunction]
fn impairments() -> PyResult<String> {
    to_json(&dumbbell_scenario::impairments())
}

/// Every impairment of links with its parameters, as JSON.
#[pyfunction]
fn media() -> PyResult<String> {
    to_json(&dumbbell_scenario::media())
}

/// Every application with its facts, parameters and presets, as JSON.
#[pyfunction]
fn applications() -> PyResult<String> {
    to_json(&dumbbell_scenario::applications())
}

/// The switches of a simulated host's TCP, and the releases of Linux that are settings of them, as JSON.
#[pyfunction]
fn tcp_kernels() -> PyResult<String> {
    to_json(&dumbbell_scenario::linux_release::declaration())
}

/// Every distribution with its parameters, as JSON.
#[pyfunction]
fn distributions() -> PyResult<String> {
    to_json(&dumbbell_scenario::distributions())
}

/// Mean of a distribution, given as JSON, in thousandths of its unit.
#[pyfunction]
fn distribution_mean_milli(distribution: &str) -> PyResult<u64> {
    let distribution: dumbbell_scenario::Distribution = serde_json::from_str(distribution)
        .map_err(|error| EngineError::new_err(error.to_string()))?;
    distribution.check().map_err(EngineError::new_err)?;
    Ok(distribution.mean_milli())
}

/// Refuses an application, given as JSON, whose settings are out of their ranges or do not fit together.
#[pyfunction]
fn check_traffic(traffic: &str) -> PyResult<()> {
    let traffic: dumbbell_scenario::TrafficConfig =
        serde_json::from_str(traffic).map_err(|error| EngineError::new_err(error.to_string()))?;
    traffic.check().map_err(EngineError::new_err)
}

/// Refuses impairments of a link, given as a JSON list in their order, whose settings are out of their ranges or do
/// not fit together.
#[pyfunction]
fn check_impairments(impairments: &str) -> PyResult<()> {
    let impairments: Vec<dumbbell_scenario::ImpairmentConfig> =
        serde_json::from_str(impairments)
            .map_err(|error| EngineError::new_err(error.to_string()))?;
    dumbbell_scenario::check_impairments(&impairments).map_err(EngineError::new_err)
}

/// Refuses a link, given as JSON, whose medium does not fit its queue.
#[pyfunction]
fn check_medium(link: &str) -> PyResult<()> {
    let link: dumbbell_scenario::Link =
        serde_json::from_str(link).map_err(|error| EngineError::new_err(error.to_string()))?;
    link.check_medium().map_err(EngineError::new_err)
}

/// The text of the sources that the built-in algorithms were compiled from, by path.
#[pyfunction]
fn builtin_sources() -> BTreeMap<String, &'static str> {
    dumbbell_cc::builtin_sources().collect()
}

/// One congestion control, by name or by its source file, as JSON.
#[pyfunction]
fn describe(py: Python<'_>, name_or_path: &str) -> PyResult<String> {
    if dumbbell_scenario::is_quic(name_or_path) {
        let described = py.detach(|| dumbbell_sim::describe_over_quic(name_or_path));
        return to_json(&described.map_err(|error| EngineError::new_err(error.to_string()))?);
    }
    let described = py.detach(|| dumbbell_cc::describe(name_or_path));
    to_json(&described.map_err(cc_error)?)
}

/// Names of the algorithms that QUIC stacks have of their own, by stack and version.
#[pyfunction]
fn quic_algorithms() -> Vec<String> {
    dumbbell_sim::algorithms_of_quic_stacks()
}

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::analyze::analyze;
    #[pymodule_export]
    use super::capture_input::CaptureError;
    #[pymodule_export]
    use super::check::{ScratchDirectory, compile_for_kernel, verify, write_storm};
    #[pymodule_export]
    use super::confined::{ConfinedResult, run_compiler, run_confined};
    #[pymodule_export]
    use super::datagrams::datagrams;
    #[pymodule_export]
    use super::emulation::{Child, Emulation, KeptAwake};
    #[pymodule_export]
    use super::isolation::{
        confine, die_with_parent, name_of_system_call, precompile, report_crashes, running_call,
        sandbox_pieces, use_finished_builds,
    };
    #[pymodule_export]
    use super::match_captures::match_captures;
    #[pymodule_export]
    use super::packet_log::packet_log;
    #[pymodule_export]
    use super::python_samples::{PyAckSample, PyRateSample};
    #[pymodule_export]
    use super::python_socket::PySocket;
    #[pymodule_export]
    use super::schema::schema;
    #[pymodule_export]
    use super::{
        Cancelled, CongestionControlFault, Control, EngineError, Output, applications,
        builtin_sources, check_for_guest, check_for_kernel, check_impairments, check_medium,
        check_traffic, congestion_controls, describe, distribution_mean_milli, distributions,
        impairments, machine, media, native_compiler, queue_disciplines, quic_algorithms, run,
        run_in_guest, tcp_kernels,
    };

    /// The package ziglang may be installed for the Python that loads the engine.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let executable = module.py().import("sys")?.getattr("executable")?;
        if let Ok(executable) = executable.extract::<String>() {
            dumbbell_cc::use_python(executable);
        }
        Ok(())
    }

    /// Version of the engine.
    #[pymodule_export]
    const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Largest number of rows of a run's time series.
    #[pymodule_export]
    const MAX_ROWS: u64 = dumbbell_scenario::MAX_ROWS;
}

fn cc_error(error: dumbbell_cc::Error) -> PyErr {
    EngineError::new_err(error.to_string())
}

fn to_json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
