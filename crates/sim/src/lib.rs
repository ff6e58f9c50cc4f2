//! dumbbell's simulator: groups of TCP flows through one bottleneck, in virtual time.
//!
//! [`run`] is a pure function of the [`Scenario`] (which holds the seed) and the congestion
//! controls' builds: the same bytes on every machine, in every thread, in debug and release.
//!
//! | file | what |
//! |---|---|
//! | `scenario` | what to simulate, in integers |
//! | `engine` | the event loop |
//! | `endpoints`, `bottleneck` | a flow, the shared link, and what is measured of them |
//! | `queue_discipline` | the queues a scenario can name |
//! | `timers`, `earliest` | who wants to be woken when |
//! | `recorder`, `table` | time series, as Arrow tables |
//! | `summarize`, `summary` | counts and means |
//! | `random` | a seed per element |
//! | `control` | progress and cancelling |

#![forbid(unsafe_code)]

mod bottleneck;
mod control;
mod earliest;
mod endpoints;
mod engine;
mod error;
mod queue_discipline;
mod random;
mod recorder;
mod scenario;
mod summarize;
mod summary;
mod table;
mod timers;

use std::rc::Rc;

use dumbbell_cc::{Instance, Request};

pub use control::Control;
pub use error::Error;
pub use scenario::{Bottleneck, CongestionControl, Group, Queue, Scenario};
pub use summarize::ENGINE_VERSION;
pub use summary::{BottleneckSummary, FlowSummary, LoadedCc, Summary};
pub use table::Table;

use engine::Engine;

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct Output {
    /// Counts and means.
    pub summary: Summary,
    /// Time series: `flows`, `queue` and `state-<group>-<cc>`; none when sampling is off.
    pub tables: Vec<Table>,
}

/// Simulates `scenario` from start to end.
///
/// # Errors
///
/// A congestion control that cannot be loaded, a scenario that cannot be simulated, or
/// [`Error::Cancelled`].
pub fn run(scenario: &Scenario, control: &Control) -> Result<Output, Error> {
    scenario.check()?;
    let instances = load(scenario)?;
    let mut engine = Engine::new(scenario, &instances);
    engine.run(control)?;
    let summary = summarize::summarize(scenario, &mut engine, &instances);
    let tables = if scenario.sample_interval_ns == 0 {
        Vec::new()
    } else {
        tables(scenario, engine)?
    };
    Ok(Output { summary, tables })
}

/// A private instance of each group's congestion control.
fn load(scenario: &Scenario) -> Result<Vec<Rc<Instance>>, Error> {
    (0..)
        .zip(&scenario.groups)
        .map(|(index, group)| {
            let request = Request {
                name: group.cc.name.clone(),
                params: group.cc.params.clone(),
            };
            Ok(Instance::load(
                &request,
                random::element_seed(scenario.seed, "cc", index),
            )?)
        })
        .collect()
}

fn tables(scenario: &Scenario, engine: Engine) -> Result<Vec<Table>, Error> {
    let group_of: Vec<u32> = engine.flows.iter().map(|flow| flow.group).collect();
    let recorder = engine.recorder;
    let mut tables = vec![Table::flows(recorder.flows)?, Table::queue(recorder.queue)?];
    for (group, samples) in recorder.states.into_iter().enumerate() {
        let mss_bytes = scenario.groups[group].mss_bytes;
        let is_row_of_group = |flow: u32| group_of[flow as usize] as usize == group;
        let state = Table::state(group, samples, mss_bytes, &tables[0], &is_row_of_group)?;
        tables.extend(state);
    }
    Ok(tables)
}
