//! What a run has room for.

use dumbbell_net::{Network, Tournament};
use dumbbell_scenario::{Group, Link, Refusal, Scenario};
use dumbbell_tcp::Segment;

use crate::endpoints::Endpoints;

/// Refuses more time than a tournament of these flows has room for: 36 years of two flows, 19 hours
/// of 100,000.
pub(crate) fn check_time(scenario: &Scenario) -> Result<(), Refusal> {
    let flows = scenario.flow_count();
    let never_ns = Tournament::never_ns(
        Network::<Segment>::source_count(scenario.links.len(), 2 * scenario.groups.len())
            + 2 * flows,
    );
    if scenario.duration_ns < never_ns {
        return Ok(());
    }
    Err(Refusal(format!(
        "{flows} flows cannot be simulated for {} s; use less than `{}s`",
        scenario.duration_ns / 1_000_000_000,
        never_ns / 1_000_000_000
    )))
}

/// How many segments a flow numbers. The next number is that of no end, and the flow would stop there.
const MAX_SEGMENTS: u32 = u32::MAX;

/// Refuses a run that has more packets than its flows number, if they share its links equally: one flow at 50 Mbit/s
/// has enough for twelve days.
pub(crate) fn check_segments(scenario: &Scenario) -> Result<(), Refusal> {
    for group in &scenario.groups {
        if !group.traffic.is_bulk() || group.is_quic() {
            continue;
        }
        let of_links = scenario
            .links_of(group)
            .map(|link| packets_of_a_flow(scenario, group, link));
        let of_size = group
            .size_bytes
            .map(|bytes| bytes as f64 / f64::from(group.host.mss_bytes));
        let packets = of_links.chain(of_size).fold(f64::INFINITY, f64::min);
        if packets.is_finite() && packets >= f64::from(MAX_SEGMENTS) {
            let seconds = scenario.duration_ns as f64 / 1e9;
            return Err(Refusal(format!(
                "a `{}` flow would send {packets:.0} packets in {seconds:.0} s, and can number {MAX_SEGMENTS}; use less \
                 than `{:.0}s`, or a lower rate",
                group.cc.name,
                (seconds * f64::from(MAX_SEGMENTS) / packets).floor(),
            )));
        }
    }
    Ok(())
}

/// Full packets of a flow that a link carries, if its flows share it equally.
fn packets_of_a_flow(scenario: &Scenario, group: &Group, link: &Link) -> f64 {
    let crosses = |other: &&Group| scenario.links_of(other).any(|each| each.name == link.name);
    let flows: u32 = scenario
        .groups
        .iter()
        .filter(crosses)
        .map(|other| other.flows)
        .sum();
    let packet_bits = 8 * group.host.packet_bytes() * u64::from(flows);
    link.capacity_bits(scenario.duration_ns) / packet_bits as f64
}

/// Refuses the result of a run in which a flow has sent all segments that it numbers: it stopped there.
pub(crate) fn check_numbers(flows: &[Endpoints]) -> Result<(), Refusal> {
    let has_stopped = |flow: &&Endpoints| {
        let counters = flow.sender.counters();
        counters.sent_pkts - counters.retransmitted_pkts >= u64::from(MAX_SEGMENTS)
    };
    match flows.iter().find(has_stopped) {
        None => Ok(()),
        Some(stopped) => Err(Refusal(format!(
            "flow {} stopped after {MAX_SEGMENTS} packets, which is as many as it can number; use a shorter time",
            stopped.flow
        ))),
    }
}
