//! The flow whose application opened the connection that uses a port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dumbbell_scenario::Scenario;

use crate::hosts::host::FIRST_FLOW_PORT;

/// Flow of a packet that belongs to none.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// Ports from which connections are opened.
pub(crate) const OPENING_PORTS: u32 = (u16::MAX - FIRST_FLOW_PORT) as u32 + 1;

/// The owner of each port's connection: written by the thread of the applications, read by the
/// relay's.
#[derive(Debug)]
pub(crate) struct PortTable {
    /// Flows by group and port from [`FIRST_FLOW_PORT`] on; no ports for groups without applications.
    flows: Vec<Box<[AtomicU32]>>,
}

/// Keeps whose connection a port is.
pub(crate) trait Ports: Send + Sync {
    /// From now on a port of `group` is that of a connection of `flow`.
    fn give(&self, group: usize, port: u16, flow: u32);
}

impl Ports for PortTable {
    fn give(&self, group: usize, port: u16, flow: u32) {
        let number = usize::from(port - FIRST_FLOW_PORT);
        self.flows[group][number].store(flow, Ordering::Release);
    }
}

impl PortTable {
    /// A table in which no port is in use yet.
    pub(crate) fn new(scenario: &Scenario) -> Arc<Self> {
        let ports = |has_applications| match has_applications {
            true => OPENING_PORTS,
            false => 0,
        };
        let groups = scenario.groups.iter();
        Arc::new(Self {
            flows: groups
                .map(|group| {
                    let ports = 0..ports(!group.traffic.is_bulk());
                    ports.map(|_| AtomicU32::new(NO_FLOW)).collect()
                })
                .collect(),
        })
    }

    /// The flow of the port that is number `number` of its group; [`NO_FLOW`] if it is not in use.
    #[inline]
    pub(crate) fn flow_of(&self, group: u16, number: u16) -> u32 {
        let of_group = &self.flows[usize::from(group)];
        let flow = of_group.get(usize::from(number));
        flow.map_or(NO_FLOW, |flow| flow.load(Ordering::Acquire))
    }
}
