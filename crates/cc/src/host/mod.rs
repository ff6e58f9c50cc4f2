//! Runs congestion controls in this process: an [`instance`] is loaded, its [`flow`]s are called.

pub(crate) mod crash;
pub(crate) mod fault;
pub(crate) mod field_watch;
pub(crate) mod flow;
pub(crate) mod hosted;
pub(crate) mod instance;
pub(crate) mod kernel_functions;
pub(crate) mod mapping;
pub(crate) mod running;
