//! Checks a congestion control algorithm outside of a run: `storm/storm.c` calls it in every way that a TCP
//! could, compiled with sanitizers.

pub(crate) mod storm_sources;
