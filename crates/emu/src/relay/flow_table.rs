//! Which flow a packet belongs to.

use std::sync::Arc;

use dumbbell_scenario::Scenario;

use crate::applications::{NO_FLOW, OPENING_PORTS, PortTable};
use crate::hosts::host::FIRST_FLOW_PORT;

/// What a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// What tells it from packets of other connections; the flow where that is one connection.
    pub(crate) connection: u32,
    /// Of the scenario.
    pub(crate) flow: u32,
}

impl Owner {
    pub(crate) const NONE: Self = Self {
        connection: NO_FLOW,
        flow: NO_FLOW,
    };
}

/// The flows of every group.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable {
    groups: Vec<Flows>,
    ports: Arc<PortTable>,
    connections: u32,
}

/// The flows of a group.
#[derive(Clone, Copy, Debug)]
enum Flows {
    /// A connection each: the first flow, and how many they are.
    Static(u32, u32),
    /// Applications, whose connections have numbers from this one on.
    Applications(u32),
}

impl FlowTable {
    /// The flows of `scenario`, whose applications' connections are in `ports`.
    pub(crate) fn new(scenario: &Scenario, ports: &Arc<PortTable>) -> Self {
        let mut first_flow = 0;
        let mut connections = scenario.flow_count() as u32;
        let groups = scenario.groups.iter().map(|group| {
            let flows = if group.traffic.is_bulk() {
                Flows::Static(first_flow, group.flows)
            } else {
                connections += OPENING_PORTS;
                Flows::Applications(connections - OPENING_PORTS)
            };
            first_flow += group.flows;
            flows
        });
        Self {
            groups: groups.collect(),
            ports: Arc::clone(ports),
            connections,
        }
    }

    /// Numbers of connections are below this.
    pub(crate) fn connections(&self) -> usize {
        self.connections as usize
    }

    /// What a packet of `group` between these ports belongs to: the one from which connections are opened, which
    /// is the higher, tells it.
    #[inline]
    pub(crate) fn owner(&self, group: u16, ports: [u16; 2]) -> Owner {
        let port = ports[0].max(ports[1]);
        let Some(number) = port.checked_sub(FIRST_FLOW_PORT) else {
            return Owner::NONE;
        };
        match self.groups[usize::from(group)] {
            Flows::Static(first_flow, flows) if u32::from(number) < flows => Owner {
                connection: first_flow + u32::from(number),
                flow: first_flow + u32::from(number),
            },
            Flows::Static(..) => Owner::NONE,
            Flows::Applications(first) => match self.ports.flow_of(group, number) {
                NO_FLOW => Owner::NONE,
                flow => Owner {
                    connection: first + u32::from(number),
                    flow,
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_app::TrafficConfig;
    use dumbbell_app::traffic::onoff;

    use super::super::tests::{group, scenario};
    use super::*;

    #[test]
    fn the_port_that_opened_tells_the_flow() {
        let mut of_users = group(40);
        of_users.traffic = TrafficConfig::onoff(onoff::Config::default());
        let scenario = scenario(50_000_000, 100_000, vec![group(40), of_users, group(40)]);
        let ports = PortTable::new(&scenario);
        let table = FlowTable::new(&scenario, &ports);
        let flow = |number| Owner {
            connection: number,
            flow: number,
        };
        // Two flows each: those of the group of applications are 2 and 3.
        assert_eq!(table.owner(0, [10_001, 5001]), flow(1));
        assert_eq!(table.owner(2, [5001, 10_000]), flow(4));
        assert_eq!(table.owner(0, [10_002, 5001]), Owner::NONE);
        assert_eq!(table.owner(0, [9000, 5003]), Owner::NONE);
        assert_eq!(table.owner(1, [10_007, 5001]), Owner::NONE, "not yet");
        ports.give(1, 10_007, 3);
        let owner = Owner {
            connection: 6 + 7,
            flow: 3,
        };
        assert_eq!(table.owner(1, [10_007, 5001]), owner);
        assert_eq!(table.owner(1, [5001, 10_007]), owner);
        assert_eq!(table.connections(), 6 + 55_536);
    }
}
