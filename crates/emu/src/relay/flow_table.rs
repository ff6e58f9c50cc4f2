//! Finds the flow that a packet belongs to.

use std::sync::Arc;

use dumbbell_scenario::Scenario;

use super::program_connections::{Known, Numbering, Tuple};
use crate::applications::{NO_FLOW, OPENING_PORTS, PortTable};
use crate::hosts::host::{FIRST_FLOW_PORT, Host};
use crate::packet::frame::GroupRoute;
use crate::packet::super_packet::SuperPacket;

/// What a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// What distinguishes it from packets of other connections; the flow where that is one connection.
    pub(crate) connection: u32,
    /// Number of the scenario's flow.
    pub(crate) flow: u32,
}

impl Owner {
    pub(crate) const NONE: Self = Self {
        connection: NO_FLOW,
        flow: NO_FLOW,
    };
}

/// The flows of every group. A thread's own: copies share what they number.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable {
    groups: Vec<Flows>,
    ports: Arc<PortTable>,
    connections: u32,
    programs: Known,
}

/// The flows of a group.
#[derive(Clone, Copy, Debug)]
enum Flows {
    /// A connection each: the first flow, and how many they are.
    Static(u32, u32),
    /// Applications, whose connections have numbers from this one on.
    Applications(u32),
    /// Programs: their flow, and the connection of what has no ports.
    Programs { flow: u32, rest: u32 },
}

impl FlowTable {
    /// The flows of `scenario`, whose applications' connections are in `ports`.
    pub(crate) fn new(scenario: &Scenario, ports: &Arc<PortTable>) -> Self {
        let mut first_flow = 0;
        let mut connections = scenario.flow_count() as u32;
        // Those without ports have the last numbers, so that all connections of programs are together.
        let programs = (0..).zip(&scenario.groups);
        let of_programs: Vec<u16> = programs
            .filter_map(|(index, group)| group.program.is_some().then_some(index))
            .collect();
        let opened = scenario.groups.iter();
        let opening = opened.filter(|group| !group.traffic.is_bulk()).count() as u32;
        let mut rest = connections + opening * OPENING_PORTS;
        let numbering = Numbering::new(rest, of_programs);
        let groups = scenario.groups.iter().map(|group| {
            let flows = if group.program.is_some() {
                rest += 1;
                Flows::Programs {
                    flow: first_flow,
                    rest: rest - 1,
                }
            } else if group.traffic.is_bulk() {
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
            programs: Known::new(numbering),
        }
    }

    /// Numbers of connections are below this, except those of programs, which follow.
    pub(crate) fn connections(&self) -> usize {
        self.connections as usize
    }

    /// The connections of programs.
    pub(crate) fn numbering(&self) -> &Arc<Numbering> {
        self.programs.numbering()
    }

    /// What a packet of a group of programs belongs to: the connection of its protocol and ports, and behind a gateway of
    /// its address, or the one of all that has none.
    #[inline]
    pub(crate) fn owner_of_program(
        &mut self,
        route: GroupRoute,
        packets: &SuperPacket,
        gateway: Option<&Host>,
    ) -> Owner {
        let Flows::Programs { flow, rest } = self.groups[usize::from(route.group)] else {
            return Owner::NONE;
        };
        let tuple = Tuple::of(route, packets, gateway);
        let number = tuple.and_then(|tuple| self.programs.number_of(tuple));
        Owner {
            connection: number.unwrap_or(rest),
            flow,
        }
    }

    /// What a packet of `group` between these ports belongs to: the one from which connections are opened, which
    /// is the higher, shows it.
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
            Flows::Static(..) | Flows::Programs { .. } => Owner::NONE,
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
    use std::net::Ipv4Addr;

    use dumbbell_app::TrafficConfig;
    use dumbbell_app::traffic::onoff;
    use dumbbell_scenario::{Group, Program, Way};

    use super::super::tests::{group, scenario};
    use super::*;
    use crate::applications::Ports as _;
    use crate::packet::super_packet::{Taken, VNET_HEADER_BYTES};

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
        assert_eq!(table.numbering().first(), u32::MAX, "no programs");
    }

    #[test]
    fn programs_have_the_numbers_above_all_others() {
        let mut of_users = group(40);
        of_users.traffic = TrafficConfig::onoff(onoff::Config::default());
        let of_programs = Group {
            flows: 1,
            program: Some(Program::default()),
            ..group(40)
        };
        let groups = vec![of_programs.clone(), group(40), of_users, of_programs];
        let scenario = scenario(50_000_000, 100_000, groups);
        let mut table = FlowTable::new(&scenario, &PortTable::new(&scenario));
        // Six flows; the applications' connections; the groups' packets without ports.
        let first = 6 + 55_536;
        assert_eq!(
            (table.connections(), table.numbering().first()),
            (first as usize, first)
        );
        let mut read = vec![0; VNET_HEADER_BYTES];
        read.extend([0x45, 0, 0, 32, 0, 7, 0, 0, 64, 17, 0, 0]);
        read.extend([10, 0, 0, 2, 10, 0, 0, 1]);
        read.extend([0x27, 0x10, 0x13, 0x89, 0, 12, 0, 0, 1, 2, 3, 4]);
        let taken = Taken {
            address: Ipv4Addr::new(10, 0, 0, 1),
            address6: None,
            any_protocol: true,
            for_others: false,
        };
        let owner = |table: &mut FlowTable, group, read: &[u8]| {
            let route = GroupRoute {
                group,
                way: Way::Back,
            };
            let packets = SuperPacket::parse(read, &taken).expect("a datagram");
            let Owner { connection, flow } = table.owner_of_program(route, &packets, None);
            (connection, flow)
        };
        assert_eq!(owner(&mut table, 0, &read), (first + 2, 0));
        assert_eq!(owner(&mut table, 3, &read), (first + 3, 5));
        assert_eq!(owner(&mut table.clone(), 3, &read), (first + 3, 5));
        // A fragment.
        read[VNET_HEADER_BYTES + 6] = 0x20;
        assert_eq!(owner(&mut table, 0, &read), (first, 0));
        assert_eq!(owner(&mut table, 3, &read), (first + 1, 5));
        assert_eq!(owner(&mut table, 1, &read), (NO_FLOW, NO_FLOW));
        assert_eq!(table.owner(3, [10_000, 5001]), Owner::NONE);
    }
}
