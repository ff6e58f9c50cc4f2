//! Samples of the flows' sockets and of their congestion controls' state.

pub(crate) mod flow_report;
mod reading;
pub(crate) mod sampler;
pub(crate) mod states;
