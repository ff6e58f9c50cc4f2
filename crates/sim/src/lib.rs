//! dumbbell's simulator: groups of TCP flows over a network of links, in virtual time.
//!
//! The output of [`run`] depends only on the [`Scenario`], which holds the seed, and on the compiled congestion control
//! algorithms. It has the same bytes on every machine, in every thread, in debug and release builds.
//!
//! | file | what |
//! |---|---|
//! | `engine`, `watch` | the event loop; the network's observer |
//! | `limits` | how long a run may be, and how many segments a flow may number |
//! | `endpoints`, `rtt_meter` | a flow without an application: unlimited, or of a given number of bytes; its RTT samples |
//! | `applications` | flows with an application |
//! | `driver`, `commands` | events for applications; commands from applications |
//! | `connection`, `connection_table` | an application's connection; the table of all, by number |
//! | `recorder` | time series |
//! | `summarize` | counts and means |
//! | `tap`, `tapped_flow` | captures packets; turns a flow's packets into the frames of the capture |
//!
//! A run's input is declared in `dumbbell-scenario`, its output in `dumbbell-results`. Both are re-exported here.

#![forbid(unsafe_code)]

mod applications;
mod clock_offsets;
mod commands;
mod connection;
mod connection_table;
mod driver;
mod endpoints;
mod engine;
mod error;
mod limits;
mod look_ahead;
mod payload_store;
mod quic_flow;
mod recorder;
mod rtt_meter;
mod summarize;
mod tap;
mod tapped_flow;
mod watch;

use std::rc::Rc;

pub use dumbbell_capture::CaptureConfig;
use dumbbell_cc::{Instance, Request};
pub use dumbbell_quic::{describe as describe_over_quic, names as algorithms_of_quic_stacks};
pub use dumbbell_results::{
    ENGINE_VERSION, FlowSummary, LinkSummary, LoadedCc, Output, Summary, Table,
};
pub use dumbbell_scenario::{
    Amount, CongestionControl, Control, Group, Host, Limit, Link, Queue, RateStep, ReceiverKind,
    RttStep, Scenario, linux_release,
};
use dumbbell_scenario::{UNLIMITED_BYTES, random};

pub use error::Error;

use engine::Engine;
use tap::{CaptureTap, Tap};

/// Simulates `scenario` from start to end, with a capture if one is asked for, which does not change
/// the result.
///
/// # Errors
///
/// A congestion control algorithm that cannot be loaded, a scenario that cannot be simulated, a capture that
/// cannot be written, or [`Error::Cancelled`]; then the capture has what was captured until then.
pub fn run(
    scenario: &Scenario,
    control: &Control,
    capture: Option<&CaptureConfig>,
) -> Result<Output, Error> {
    run_with(scenario, control, capture, &Instance::load)
}

/// Loads a congestion control algorithm, seeded.
pub type Loader<'a> = &'a dyn Fn(&Request, u64) -> Result<Rc<Instance>, dumbbell_cc::Error>;

/// [`run`] with congestion control algorithms from a loader of the caller's.
///
/// # Errors
///
/// As [`run`].
pub fn run_with(
    scenario: &Scenario,
    control: &Control,
    capture: Option<&CaptureConfig>,
    loader: Loader<'_>,
) -> Result<Output, Error> {
    scenario.check()?;
    scenario.check_queues_are_ours()?;
    let scenario = scenario.with_drawn_rtts();
    limits::check_time(&scenario)?;
    limits::check_segments(&scenario)?;
    let instances = load(&scenario, loader)?;
    let scenario = &scenario.into_owned().with_ample_windows();
    match capture {
        None => run_tapped(scenario, control, (), &instances),
        Some(config) => {
            let tap = CaptureTap::new(config, scenario)?;
            run_tapped(scenario, control, tap, &instances)
        }
    }
}

/// The run itself, which `tap` is shown.
fn run_tapped<T: Tap>(
    scenario: &Scenario,
    control: &Control,
    tap: T,
    instances: &[Rc<Instance>],
) -> Result<Output, Error> {
    let mut engine = Engine::new(scenario, instances, tap);
    dumbbell_cc::seal().map_err(Error::Unconfined)?;
    let ran = engine.run(control);
    engine.finish_capture()?;
    ran?;
    limits::check_numbers(&engine.flows)?;
    let summary = summarize::summarize(scenario, &engine, instances);
    let transfers = engine.applications.into_transfers();
    let mut tables = if scenario.sample_interval_ns == 0 {
        Vec::new()
    } else {
        Table::of_run(scenario, engine.recorder.into_series())
    };
    if let Some(transfers) = transfers {
        tables.push(transfers.into_table());
    }
    Ok(Output { summary, tables })
}

/// A private instance of each group's congestion control algorithm.
fn load(scenario: &Scenario, loader: Loader<'_>) -> Result<Vec<Rc<Instance>>, Error> {
    (0..)
        .zip(&scenario.groups)
        .map(|(index, group)| {
            if group.is_quic() {
                let seed = random::element_seed(scenario.seed, "cc", index);
                let instance = quic_flow::load(group, seed, loader)?;
                instance.set_path_pkts(scenario.path_pkts(group));
                return Ok(instance);
            }
            let request = Request {
                name: group.cc.name.clone(),
                params: group.cc.params.clone(),
            };
            let instance = loader(&request, random::element_seed(scenario.seed, "cc", index))?;
            instance.set_path_pkts(scenario.path_pkts(group));
            if group.host.rwnd_bytes >= UNLIMITED_BYTES {
                instance.set_default_window();
            }
            Ok(instance)
        })
        .collect()
}
