//! Checks a congestion control outside of any run: `storm/storm.c` calls it with everything that a
//! TCP could, compiled with sanitizers.

pub(crate) mod storm_sources;
