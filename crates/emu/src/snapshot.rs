//! How a running network is at a moment.

use dumbbell_scenario::Scenario;
use serde::Serialize;

use crate::relay::Relay;

/// A running network at a moment; counts are since its beginning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// Since its beginning, s.
    pub time_s: f64,
    /// In the order of the scenario.
    pub links: Vec<LinkSnapshot>,
    /// Flows by their number.
    pub flows: Vec<FlowSnapshot>,
}

/// A link at that moment, 20 ms old at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkSnapshot {
    /// The scenario's name of the link.
    pub name: String,
    /// Rate of the link, bit/s.
    pub rate_bps: u64,
    /// Packets put on the wire.
    pub forwarded_pkts: u64,
    /// Their bytes, Ethernet headers included.
    pub forwarded_bytes: u64,
    /// Packets dropped so far.
    pub dropped_pkts: u64,
    /// Packets on which the link set CE.
    pub marked_pkts: u64,
    /// Packets that wait.
    pub backlog_pkts: u64,
    /// Bytes of the waiting packets.
    pub backlog_bytes: u64,
}

/// A flow at that moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowSnapshot {
    /// Number of the flow.
    pub flow: u32,
    /// Latest RTT, µs; `None` before the first.
    pub rtt_us: Option<u32>,
    /// Wire bytes of data that reached its receiver.
    pub arrived_bytes: u64,
}

impl Snapshot {
    /// That of `relay` after `run_ns`.
    pub(crate) fn of(scenario: &Scenario, relay: &Relay, run_ns: u64) -> Self {
        let live = relay.live();
        let links = scenario.link_names().into_iter().enumerate();
        let latest_rtts = relay.latest_rtts();
        let rtts = latest_rtts.iter().zip(0..);
        Self {
            time_s: run_ns as f64 / 1e9,
            links: links
                .map(|(index, name)| {
                    let link = live.link(index);
                    LinkSnapshot {
                        name,
                        rate_bps: link.link_rate_bps,
                        forwarded_pkts: link.taken_pkts,
                        forwarded_bytes: link.taken_bytes,
                        dropped_pkts: link.dropped_pkts,
                        marked_pkts: link.marked_pkts,
                        backlog_pkts: link.backlog_pkts,
                        backlog_bytes: link.backlog_bytes,
                    }
                })
                .collect(),
            flows: rtts
                .map(|(latest, flow)| FlowSnapshot {
                    flow,
                    rtt_us: Some(latest.rtt_us()).filter(|&rtt_us| rtt_us > 0),
                    arrived_bytes: live.arrived_bytes(flow as usize),
                })
                .collect(),
        }
    }
}
