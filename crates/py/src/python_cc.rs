//! Congestion control algorithms written in Python: `dumbbell.CongestionControl`, hosted instead of C.
//!
//! `dumbbell.congestion_control.python.load` finds the class and describes it; here its hooks are
//! called, with a socket that is a copy of the sender's. What a hook may write is copied back.

use std::rc::Rc;

use dumbbell_cc::{
    AckSample, Error, Hook, Hooks, Hosted, Instance, Param, RateSample, Request, Series, Sock,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::python_samples::{PyAckSample, PyRateSample};
use crate::python_socket::PySocket;

/// Where Python finds and describes a class.
const LOADER: &str = "dumbbell.congestion_control.python";

/// Loads congestion control algorithms in Python, and others as C.
pub(crate) fn load(request: &Request, seed: u64) -> Result<Rc<Instance>, Error> {
    if !is_python(&request.name) {
        return Instance::load(request, seed);
    }
    let hosted = Python::attach(|py| {
        describe(py, request, seed).map_err(|error| describe_error(py, &error))
    });
    let hosted = hosted.map_err(|problem| Error::Invalid {
        file: request.name.clone(),
        problem,
    })?;
    Instance::host(&request.name, hosted)
}

fn is_python(name: &str) -> bool {
    name.starts_with("python/") || name.rsplit('#').any(|part| part.ends_with(".py"))
}

/// What Python's `load` returns about a class.
#[derive(FromPyObject)]
struct Loaded {
    name: String,
    build: String,
    params: std::collections::BTreeMap<String, i64>,
    parameters: Vec<LoadedParameter>,
    series: Vec<LoadedSeries>,
    hooks: Vec<String>,
    new_flow: Py<PyAny>,
}

#[derive(FromPyObject)]
struct LoadedParameter {
    name: String,
    unit: String,
    doc: String,
    min: i64,
    max: i64,
    default: i64,
}

impl LoadedParameter {
    fn param(&self) -> Param {
        let range = (self.min, self.max);
        Param::of(&self.name, &self.unit, &self.doc, range, self.default)
    }
}

#[derive(FromPyObject)]
struct LoadedSeries {
    attribute: String,
    name: String,
    unit: String,
    doc: String,
    labels: Vec<String>,
}

impl LoadedSeries {
    fn series(&self) -> Series {
        let bytes = if self.labels.is_empty() { 8 } else { 1 };
        let mut series = Series::unscaled(&self.name, &self.unit, &self.doc, bytes);
        series.signed = self.labels.is_empty();
        series.labels.clone_from(&self.labels);
        series
    }
}

fn describe(py: Python<'_>, request: &Request, seed: u64) -> PyResult<Hosted> {
    let loaded: Loaded = py
        .import(LOADER)?
        .call_method1("load", (&request.name, request.params.clone(), seed))?
        .extract()?;
    let series = loaded.series.iter().map(LoadedSeries::series).collect();
    let attributes: Vec<Py<PyString>> = loaded
        .series
        .iter()
        .map(|series| PyString::intern(py, &series.attribute).unbind())
        .collect();
    let (hooks, new_flow) = (loaded.hooks.clone(), loaded.new_flow);
    let new_flow = move || {
        Python::attach(|py| {
            PythonFlow::new(py, &new_flow, &hooks, &attributes)
                .map(|flow| Box::new(flow) as Box<dyn Hooks>)
                .map_err(|error| describe_error(py, &error))
        })
    };
    Ok(Hosted {
        name: loaded.name,
        build: loaded.build,
        params: loaded.params,
        parameters: loaded
            .parameters
            .iter()
            .map(LoadedParameter::param)
            .collect(),
        series,
        hooks: loaded.hooks,
        new_flow: Box::new(new_flow),
    })
}

/// The exception and its place, as the end of a sentence about the congestion control algorithm.
fn describe_error(py: Python<'_>, error: &PyErr) -> String {
    let described = py
        .import(LOADER)
        .and_then(|module| module.call_method1("tell", (error.value(py), error.traceback(py))))
        .and_then(|text| text.extract::<String>());
    described.unwrap_or_else(|_| format!("raised {error}"))
}

/// One flow's object, its bound methods and the socket that they receive.
struct PythonFlow {
    object: Py<PyAny>,
    socket: Py<PySocket>,
    methods: Methods,
    series: Vec<Py<PyString>>,
}

/// By hook; those that the class does not have are not called.
#[derive(Default)]
struct Methods {
    ssthresh: Option<Py<PyAny>>,
    cong_avoid: Option<Py<PyAny>>,
    set_state: Option<Py<PyAny>>,
    cwnd_event: Option<Py<PyAny>>,
    in_ack_event: Option<Py<PyAny>>,
    pkts_acked: Option<Py<PyAny>>,
    min_tso_segs: Option<Py<PyAny>>,
    cong_control: Option<Py<PyAny>>,
    undo_cwnd: Option<Py<PyAny>>,
    sndbuf_expand: Option<Py<PyAny>>,
    init: Option<Py<PyAny>>,
    release: Option<Py<PyAny>>,
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>, hooks: &[String]) -> PyResult<Self> {
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            if !hooks.iter().any(|hook| hook == name) {
                return Ok(None);
            }
            Ok(Some(object.getattr(name)?.unbind()))
        };
        Ok(Self {
            ssthresh: method("ssthresh")?,
            cong_avoid: method("cong_avoid")?,
            set_state: method("set_state")?,
            cwnd_event: method("cwnd_event")?,
            in_ack_event: method("in_ack_event")?,
            pkts_acked: method("pkts_acked")?,
            min_tso_segs: method("min_tso_segs")?,
            cong_control: method("cong_control")?,
            undo_cwnd: method("undo_cwnd")?,
            sndbuf_expand: method("sndbuf_expand")?,
            init: method("init")?,
            release: method("release")?,
        })
    }
}

impl PythonFlow {
    fn new(
        py: Python<'_>,
        new_flow: &Py<PyAny>,
        hooks: &[String],
        series: &[Py<PyString>],
    ) -> PyResult<Self> {
        let object = new_flow.call0(py)?;
        Ok(Self {
            methods: Methods::of(object.bind(py), hooks)?,
            object,
            socket: Py::new(py, PySocket { sock: Sock::new() })?,
            series: series.iter().map(|name| name.clone_ref(py)).collect(),
        })
    }

    fn invoke(&self, py: Python<'_>, hook: Hook<'_>) -> PyResult<u32> {
        let (methods, sk) = (&self.methods, &self.socket);
        let with = |method: &Option<Py<PyAny>>| method.as_ref().map(|method| method.clone_ref(py));
        let no_value = |result: PyResult<Py<PyAny>>| result.map(|_| 0);
        let value = |result: PyResult<Py<PyAny>>| result?.extract::<u32>(py);
        let call0 = |method: &Option<Py<PyAny>>| match with(method) {
            Some(method) => method.call1(py, (sk,)),
            None => Ok(py.None()),
        };
        let call1 = |method: &Option<Py<PyAny>>, argument: u32| match with(method) {
            Some(method) => method.call1(py, (sk, argument)),
            None => Ok(py.None()),
        };
        match hook {
            Hook::Ssthresh => value(call0(&methods.ssthresh)),
            Hook::MinTsoSegs => value(call0(&methods.min_tso_segs)),
            Hook::UndoCwnd => value(call0(&methods.undo_cwnd)),
            Hook::SndbufExpand => value(call0(&methods.sndbuf_expand)),
            Hook::Init => no_value(call0(&methods.init)),
            Hook::Release => no_value(call0(&methods.release)),
            Hook::SetState(state) => no_value(call1(&methods.set_state, state.into())),
            Hook::CwndEvent(event) => no_value(call1(&methods.cwnd_event, event)),
            Hook::InAckEvent(flags) => no_value(call1(&methods.in_ack_event, flags)),
            Hook::CongAvoid { ack, acked } => match with(&methods.cong_avoid) {
                Some(method) => no_value(method.call1(py, (sk, ack, acked))),
                None => Ok(0),
            },
            Hook::PktsAcked(sample) => {
                let AckSample {
                    pkts_acked,
                    rtt_us,
                    in_flight,
                } = *sample;
                let sample = PyAckSample {
                    pkts_acked,
                    rtt_us,
                    in_flight,
                };
                match with(&methods.pkts_acked) {
                    Some(method) => no_value(method.call1(py, (sk, sample))),
                    None => Ok(0),
                }
            }
            Hook::CongControl { ack, flag, rs } => match with(&methods.cong_control) {
                Some(method) => {
                    let rs: RateSample = *rs;
                    no_value(method.call1(py, (sk, ack, flag, PyRateSample { rs })))
                }
                None => Ok(0),
            },
        }
    }
}

impl Hooks for PythonFlow {
    fn call(&mut self, sock: &mut Sock, hook: Hook<'_>) -> Result<u32, String> {
        Python::attach(|py| {
            let refused = |error: PyErr| describe_error(py, &error);
            self.socket
                .try_borrow_mut(py)
                .map_err(|error| refused(error.into()))?
                .sock
                .clone_from(sock);
            let value = self.invoke(py, hook).map_err(refused)?;
            self.socket.borrow(py).write_back(sock);
            Ok(value)
        })
    }

    fn read_series(&self, take: &mut dyn FnMut(usize, u64)) {
        Python::attach(|py| {
            for (index, name) in self.series.iter().enumerate() {
                let value = self.object.getattr(py, name.bind(py));
                let value = value.and_then(|value| value.bind(py).call_method0("__int__"));
                // A value that is not a number is reported as 0; `load` has checked the first.
                let value = value.and_then(|value| value.extract::<i64>()).unwrap_or(0);
                take(index, value as u64);
            }
        });
    }
}
