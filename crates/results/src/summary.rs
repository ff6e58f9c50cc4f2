//! What is reported of a run.

use std::collections::BTreeMap;

use dumbbell_cc::Declared;
use dumbbell_declare::{IF_ANY, KERNEL, SIMULATOR, records};

use crate::emulation::Emulation;
use crate::flow::FlowSummary;
use crate::link::LinkSummary;
use crate::program::ProgramSummary;

records! {
    /// One run, summarised: the `summary` of `run.json`.
    pub struct Summary: "summary" {
        /// `simulator` or `kernel`.
        engine: &'static str;
        /// Version of the engine.
        engine_version: &'static str;
        /// Seed of every random draw of the run.
        seed: u64;
        /// How long the run lasted: simulated time, on the kernel real time.
        duration_ns: u64;
        /// The congestion control algorithm of each group, as loaded.
        congestion_controls: Vec<LoadedCc>;
        /// Every flow, by its number.
        flows: Vec<FlowSummary>;
        /// Every link, downstream first and then by name.
        links: Vec<LinkSummary>;
        /// The link with the largest `utilization`, the first of several alike.
        bottleneck: LinkSummary;
        /// How well the kernel engine kept time.
        emulation: Option<Emulation>, IF_ANY.and(KERNEL);
        /// How often the memory of all sockets came under pressure; only with `tcp_mem`.
        tcp_mem_pressure_count: Option<u64>, IF_ANY.and(SIMULATOR);
        /// The user's programs, in the order in which they started; only where there were any.
        programs: Vec<ProgramSummary>, IF_ANY.and(KERNEL);
    }
}

records! {
    /// The congestion control algorithm that a group really ran.
    pub struct LoadedCc: "congestion_control" {
        /// Index of the group.
        group: u32;
        /// Name of the ops table that was loaded.
        cc: String;
        /// Digest of the build that ran.
        build: String;
        /// Every parameter with the value in force.
        params: BTreeMap<String, i64>;
        /// It always enables ECN; only if it does.
        needs_ecn: bool, IF_ANY;
        /// What it declares about itself, so that a result can be read without it.
        declared: Declared;
    }
}
