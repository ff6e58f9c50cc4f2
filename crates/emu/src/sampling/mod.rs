//! Samples of the flows' sockets and of their congestion control algorithms' state.

pub(crate) mod flow_report;
pub(crate) mod reading;
pub(crate) mod sampler;
pub(crate) mod states;
