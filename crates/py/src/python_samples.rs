//! What Linux measures for a congestion control algorithm, as seen by one in Python.

use dumbbell_cc::RateSample;
use pyo3::prelude::*;

/// `struct ack_sample`.
#[pyclass(name = "AckSample", module = "dumbbell._core", frozen, get_all)]
pub(crate) struct PyAckSample {
    pub(crate) pkts_acked: u32,
    pub(crate) rtt_us: i32,
    pub(crate) in_flight: u32,
}

/// `struct rate_sample`.
#[pyclass(name = "RateSample", module = "dumbbell._core", frozen)]
pub(crate) struct PyRateSample {
    pub(crate) rs: RateSample,
}

#[pymethods]
impl PyRateSample {
    #[getter]
    fn prior_mstamp(&self) -> u64 {
        self.rs.prior_mstamp
    }

    #[getter]
    fn prior_delivered(&self) -> u32 {
        self.rs.prior_delivered
    }

    #[getter]
    fn prior_delivered_ce(&self) -> u32 {
        self.rs.prior_delivered_ce
    }

    #[getter]
    fn delivered(&self) -> i32 {
        self.rs.delivered
    }

    #[getter]
    fn delivered_ce(&self) -> i32 {
        self.rs.delivered_ce
    }

    #[getter]
    fn interval_us(&self) -> i64 {
        self.rs.interval_us
    }

    #[getter]
    fn snd_interval_us(&self) -> u32 {
        self.rs.snd_interval_us
    }

    #[getter]
    fn rcv_interval_us(&self) -> u32 {
        self.rs.rcv_interval_us
    }

    #[getter]
    fn rtt_us(&self) -> i64 {
        self.rs.rtt_us
    }

    #[getter]
    fn losses(&self) -> i32 {
        self.rs.losses
    }

    #[getter]
    fn acked_sacked(&self) -> u32 {
        self.rs.acked_sacked
    }

    #[getter]
    fn prior_in_flight(&self) -> u32 {
        self.rs.prior_in_flight
    }

    #[getter]
    fn last_end_seq(&self) -> u32 {
        self.rs.last_end_seq
    }

    #[getter]
    fn is_app_limited(&self) -> bool {
        self.rs.is_app_limited
    }

    #[getter]
    fn is_retrans(&self) -> bool {
        self.rs.is_retrans
    }

    #[getter]
    fn is_ack_delayed(&self) -> bool {
        self.rs.is_ack_delayed
    }
}
