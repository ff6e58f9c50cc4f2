//! Samples of the flows' sockets and of their congestion control algorithms' state.

pub(crate) mod flow_report;
mod reading;
pub(crate) mod sampler;
pub(crate) mod states;
