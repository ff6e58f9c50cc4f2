//! Which flow a packet belongs to.

use dumbbell_scenario::Scenario;

use crate::hosts::host::FIRST_FLOW_PORT;

/// `Packet::flow` of a packet that belongs to no flow.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// The flows of every group.
#[derive(Clone, Debug)]
pub(crate) struct FlowTable {
    /// First flow and number of flows, by group.
    groups: Vec<(u32, u32)>,
}

impl FlowTable {
    /// The flows of `scenario`.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut first_flow = 0;
        let groups = scenario
            .groups
            .iter()
            .map(|group| {
                let flows = (first_flow, group.flows);
                first_flow += group.flows;
                flows
            })
            .collect();
        Self { groups }
    }

    /// The flow of `group` whose sender uses `sender_port`, else [`NO_FLOW`].
    #[inline]
    pub(crate) fn flow_of(&self, group: u16, sender_port: u16) -> u32 {
        let (first_flow, flows) = self.groups[usize::from(group)];
        match sender_port.checked_sub(FIRST_FLOW_PORT) {
            Some(number) if u32::from(number) < flows => first_flow + u32::from(number),
            _ => NO_FLOW,
        }
    }
}
