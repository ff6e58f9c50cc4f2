//! A network that runs until it is stopped, and programs in its hosts.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dumbbell_capture::CaptureConfig;
use dumbbell_emu::uml;
use dumbbell_emu::{Between, Command, Exit, Gateway, Process, Side};
use dumbbell_scenario::{Change, Port, Scenario};
use pyo3::prelude::*;

use crate::{Cancelled, Capture, Control, EngineError, Output, to_json};

/// How long a call waits until Python may handle Ctrl-C.
const PAUSE: Duration = Duration::from_millis(20);

/// A running network with hosts: of each group two, in which programs are started.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct Emulation {
    /// `None` after it was stopped.
    inner: Mutex<Option<dumbbell_emu::Emulation>>,
    control: Arc<dumbbell_scenario::Control>,
}

/// CPUs that do not sleep until `end`.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct KeptAwake {
    inner: Mutex<Option<dumbbell_emu::KeptAwake>>,
}

#[pymethods]
impl KeptAwake {
    /// Keep idle CPUs from sleeping.
    #[new]
    fn new() -> PyResult<Self> {
        let kept = dumbbell_emu::KeptAwake::start().map_err(to_python)?;
        Ok(Self {
            inner: Mutex::new(Some(kept)),
        })
    }

    /// Let them sleep again.
    fn end(&self) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A program in a host.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct Child {
    inner: Process,
}

#[pymethods]
impl Emulation {
    /// Make the hosts, measure the idle path, and start the relay and the flows of groups without programs.
    #[new]
    #[pyo3(signature = (scenario_json, control=None, capture=None, gateway_json=None))]
    fn new(
        py: Python<'_>,
        scenario_json: &str,
        control: Option<&Control>,
        capture: Option<Capture>,
        gateway_json: Option<&str>,
    ) -> PyResult<Self> {
        let scenario: Scenario = serde_json::from_str(scenario_json)
            .map_err(|error| EngineError::new_err(format!("scenario: {error}")))?;
        let gateway: Option<Gateway> = gateway_json
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| EngineError::new_err(format!("gateway: {error}")))?;
        let control = control
            .map(|control| Arc::clone(&control.inner))
            .unwrap_or_default();
        let capture = capture.map(CaptureConfig::from);
        let started = py.detach(|| {
            dumbbell_emu::Emulation::start(&scenario, &control, capture.as_ref(), gateway.as_ref())
        });
        Ok(Self {
            inner: Mutex::new(Some(started.map_err(to_python)?)),
            control,
        })
    }

    /// Like the constructor, with the first group's hosts behind interfaces of this machine.
    #[staticmethod]
    fn between(py: Python<'_>, scenario_json: &str, between_json: &str) -> PyResult<Self> {
        let scenario: Scenario = serde_json::from_str(scenario_json)
            .map_err(|error| EngineError::new_err(format!("scenario: {error}")))?;
        let between: Between = serde_json::from_str(between_json)
            .map_err(|error| EngineError::new_err(format!("interfaces: {error}")))?;
        let control = Arc::default();
        let started = py.detach(|| dumbbell_emu::Emulation::between(&scenario, &control, &between));
        Ok(Self {
            inner: Mutex::new(Some(started.map_err(to_python)?)),
            control,
        })
    }

    /// What the NAT has replaced since this was last asked, as JSON: a list `rebound`, and `unbound_pkts`.
    fn rebound(&self) -> PyResult<String> {
        let inner = self.lock();
        let (rebound, unbound_pkts) = inner.as_ref().ok_or_else(stopped)?.take_rebound();
        let rebound = to_json(&rebound)?;
        Ok(format!(
            r#"{{"rebound": {rebound}, "unbound_pkts": {unbound_pkts}}}"#
        ))
    }

    /// Start a program in the `client` or `server` host of a group, with these descriptors as its standard input, output
    /// and errors.
    #[pyo3(signature = (group, side, argv, env=None, cwd=None, stdio=(0, 1, 2), new_session=false))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn spawn(
        &self,
        py: Python<'_>,
        group: usize,
        side: &str,
        argv: Vec<String>,
        env: Option<BTreeMap<String, String>>,
        cwd: Option<PathBuf>,
        stdio: (i32, i32, i32),
        new_session: bool,
    ) -> PyResult<Child> {
        let side = side_named(side)?;
        let command = Command {
            environment: env.map(|variables| variables.into_iter().collect()),
            directory: cwd,
            new_session,
            ..Command::new(&argv)
        };
        let standard = standard(stdio)?;
        let started = py.detach(|| {
            let mut inner = self.lock();
            let emulation = inner.as_mut().ok_or_else(stopped)?;
            emulation
                .spawn(group, side, command, standard)
                .map_err(to_python)
        });
        Ok(Child { inner: started? })
    }

    /// Wait until ports like `tcp:80` are open at a group's server.
    fn wait_ready(
        &self,
        py: Python<'_>,
        group: usize,
        ports: Vec<String>,
        timeout_s: f64,
    ) -> PyResult<()> {
        let ports = ports_named(&ports)?;
        let longest = Duration::from_secs_f64(timeout_s.clamp(0.0, 1e9));
        let until = Instant::now() + longest;
        loop {
            let are_open = py.detach(|| {
                let inner = self.lock();
                let emulation = inner.as_ref().ok_or_else(stopped)?;
                let are_open = emulation.is_ready(group, &ports).map_err(to_python)?;
                if !are_open && Instant::now() >= until {
                    let error = emulation.not_ready(group, &ports, longest);
                    return Err(EngineError::new_err(error.to_string()));
                }
                Ok(are_open)
            })?;
            if are_open {
                return Ok(());
            }
            if self.control.is_cancelled() {
                return Err(Cancelled::new_err("cancelled"));
            }
            py.check_signals()?;
            py.detach(|| std::thread::sleep(PAUSE));
        }
    }

    /// Change the path from now on.
    fn change(&self, change_json: &str) -> PyResult<()> {
        let change: Change = serde_json::from_str(change_json)
            .map_err(|error| EngineError::new_err(format!("change: {error}")))?;
        let inner = self.lock();
        let emulation = inner.as_ref().ok_or_else(stopped)?;
        emulation.change(&change).map_err(to_python)
    }

    /// How the path is now, as JSON.
    fn snapshot(&self) -> PyResult<String> {
        let inner = self.lock();
        to_json(&inner.as_ref().ok_or_else(stopped)?.snapshot())
    }

    /// Addresses of a group's hosts, as JSON: lists by `client` and `server`.
    fn addresses(&self, group: usize) -> PyResult<String> {
        let inner = self.lock();
        let emulation = inner.as_ref().ok_or_else(stopped)?;
        let mut found = BTreeMap::new();
        for side in [Side::Client, Side::Server] {
            let addresses = emulation.addresses(group, side).map_err(to_python)?;
            found.insert(side.name(), addresses);
        }
        to_json(&found)
    }

    /// The descriptor of the network of a group's host, which is open until `stop`.
    fn network(&self, group: usize, side: &str) -> PyResult<i32> {
        let inner = self.lock();
        let emulation = inner.as_ref().ok_or_else(stopped)?;
        let network = emulation.network(group, side_named(side)?);
        Ok(network.map_err(to_python)?.as_raw_fd())
    }

    /// End all programs, and what is measured: the result.
    fn stop(&self, py: Python<'_>) -> PyResult<Output> {
        let emulation = self.lock().take().ok_or_else(stopped)?;
        let inner = py.detach(|| emulation.stop()).map_err(to_python)?;
        Output::of(inner)
    }
}

impl Emulation {
    fn lock(&self) -> MutexGuard<'_, Option<dumbbell_emu::Emulation>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Child {
    /// Number of its process.
    #[getter]
    fn pid(&self) -> i32 {
        self.inner.id()
    }

    /// Its exit code, or minus the signal that ended it; None while it runs.
    fn poll(&self) -> PyResult<Option<i32>> {
        Ok(self.inner.poll().map_err(to_python)?.map(code_of))
    }

    /// Wait until it has ended, or for so long; as `poll`.
    #[pyo3(signature = (timeout_s=None))]
    fn wait(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<Option<i32>> {
        let longest = timeout_s.map(|time_s| Duration::from_secs_f64(time_s.clamp(0.0, 1e9)));
        let until = longest.map(|longest| Instant::now() + longest);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let pause = left.unwrap_or(PAUSE).min(PAUSE);
            let exit = py.detach(|| self.inner.wait(Some(pause)));
            let exit = exit.map_err(to_python)?;
            if exit.is_some() || left == Some(Duration::ZERO) {
                return Ok(exit.map(code_of));
            }
            py.check_signals()?;
        }
    }

    /// Send it a signal, unless it has ended.
    fn signal(&self, number: i32) {
        self.inner.signal(number);
    }
}

fn code_of(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => -signal,
    }
}

/// A program for a guest: group, side, words, descriptors, ports, and how long these may take, s.
pub(crate) type GuestProgram = (
    usize,
    String,
    Vec<String>,
    (i32, i32, i32),
    Vec<String>,
    f64,
);

/// Reads programs for a guest, whose descriptors the caller has open during the run.
pub(crate) fn guest_programs(
    programs: Vec<GuestProgram>,
) -> PyResult<Vec<uml::GuestProgram<'static>>> {
    let read = |(group, side, words, stdio, ports, ready_within_s): GuestProgram| {
        Ok(uml::GuestProgram {
            group,
            side: side_named(&side)?,
            words,
            standard: Some(standard(stdio)?),
            ready: ports_named(&ports)?,
            ready_within: Duration::from_secs_f64(ready_within_s.clamp(0.0, 1e9)),
        })
    };
    programs.into_iter().map(read).collect()
}

/// Standard input, output and errors, which the caller has open as long as they are used.
fn standard<'a>((input, output, errors): (i32, i32, i32)) -> PyResult<[BorrowedFd<'a>; 3]> {
    if [input, output, errors].iter().any(|&it| it < 0) {
        return Err(EngineError::new_err("`stdio` has a negative descriptor"));
    }
    // SAFETY: the caller has them open; if not, the kernel refuses them.
    Ok([input, output, errors].map(|it| unsafe { BorrowedFd::borrow_raw(it) }))
}

fn ports_named(names: &[String]) -> PyResult<Vec<Port>> {
    let port = |text: &String| text.parse().map_err(EngineError::new_err);
    names.iter().map(port).collect()
}

fn side_named(name: &str) -> PyResult<Side> {
    [Side::Client, Side::Server]
        .into_iter()
        .find(|side| side.name() == name)
        .ok_or_else(|| {
            EngineError::new_err(format!("unknown host `{name}`; use `client` or `server`"))
        })
}

fn stopped() -> PyErr {
    EngineError::new_err("the emulation has been stopped; start another")
}

fn to_python(error: dumbbell_emu::Error) -> PyErr {
    match error {
        dumbbell_emu::Error::Cancelled => Cancelled::new_err("cancelled"),
        error => EngineError::new_err(error.to_string()),
    }
}
