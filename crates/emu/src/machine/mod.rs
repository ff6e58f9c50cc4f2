//! What a run needs of this machine: CPUs that are awake, clocks, CPU time, priorities, limits, readiness of files.

pub(crate) mod awake;
pub(crate) mod clock;
pub(crate) mod cpu;
pub(crate) mod file_limit;
pub(crate) mod kernel;
pub(crate) mod readiness;
pub(crate) mod realtime;
pub(crate) mod system_call;
