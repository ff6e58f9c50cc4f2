//! Where the delays of the dumbbell lie.

use dumbbell_path::{DelayLine, DelayStep};

use crate::scenario::{Group, Scenario};

/// Propagation delays of every group's path. Flows of the shortest base RTT sit at the
/// bottleneck; the others' extra delay is on their access link, half each way. Where a base RTT
/// changes, its smallest value counts here, and the way back has the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// From the bottleneck to every receiver, ns.
    pub forward_ns: u64,
    /// The rest, by group.
    pub groups: Vec<GroupDelays>,
}

/// Delays of one group's path beside the shared part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupDelays {
    /// From the sender to the bottleneck, ns.
    pub access_ns: u64,
    /// From the receiver back to the sender, ns.
    pub back_ns: u64,
    /// Later delays of the way back, in order of time from the start of the run.
    pub back_steps: Vec<DelayStep>,
}

impl Geometry {
    /// The delays that make the base RTTs of the scenario's groups, to the nanosecond.
    pub fn new(scenario: &Scenario) -> Self {
        let end_ns = scenario.duration_ns;
        let shortest_ns = scenario.shortest_base_rtt_ns();
        let forward_ns = shortest_ns / 2;
        let delays_of = |group: &Group| {
            let access_ns = (group.shortest_base_rtt_ns(end_ns) - shortest_ns) / 2;
            let back_ns = |base_rtt_ns: u64| base_rtt_ns - forward_ns - access_ns;
            let back_steps = group.rtt_steps_before(end_ns).map(|step| DelayStep {
                at_ns: step.at_ns,
                delay_ns: back_ns(step.base_rtt_ns),
            });
            GroupDelays {
                access_ns,
                back_ns: back_ns(group.base_rtt_ns),
                back_steps: back_steps.collect(),
            }
        };
        Self {
            forward_ns,
            groups: scenario.groups.iter().map(delays_of).collect(),
        }
    }
}

impl GroupDelays {
    /// The way back in a run that starts at `start_ns` of the engine's clock.
    pub fn back_line<T>(&self, start_ns: u64) -> DelayLine<T> {
        let on_clock = |step: &DelayStep| DelayStep {
            at_ns: start_ns.saturating_add(step.at_ns),
            ..*step
        };
        DelayLine::with_steps(self.back_ns, self.back_steps.iter().map(on_clock).collect())
    }
}
