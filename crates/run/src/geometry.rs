//! Where the delays of the dumbbell lie.

use crate::scenario::Scenario;

/// Propagation delays of every group's path. Flows of the shortest base RTT sit at the
/// bottleneck; the others' extra delay is on their access link, half each way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// From the bottleneck to every receiver, ns.
    pub forward_ns: u64,
    /// The rest, by group.
    pub groups: Vec<GroupDelays>,
}

/// Delays of one group's path beside the shared part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDelays {
    /// From the sender to the bottleneck, ns.
    pub access_ns: u64,
    /// From the receiver back to the sender, ns.
    pub back_ns: u64,
}

impl Geometry {
    /// The delays that make the base RTTs of the scenario's groups, to the nanosecond.
    pub fn new(scenario: &Scenario) -> Self {
        let shortest_ns = scenario.shortest_base_rtt_ns();
        let forward_ns = shortest_ns / 2;
        let delays_of = |base_rtt_ns: u64| {
            let access_ns = (base_rtt_ns - shortest_ns) / 2;
            GroupDelays {
                access_ns,
                back_ns: base_rtt_ns - forward_ns - access_ns,
            }
        };
        Self {
            forward_ns,
            groups: scenario
                .groups
                .iter()
                .map(|group| delays_of(group.base_rtt_ns))
                .collect(),
        }
    }
}
