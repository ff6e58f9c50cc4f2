//! What a run amounts to: counts and means per flow and per link.

use std::collections::BTreeMap;

use dumbbell_cc::Declared;
use dumbbell_net::{Header, Limit, LinkMeter, MediumConfig};
use serde::{Serialize, Serializer};

use crate::emulation::Emulation;
use crate::program::ProgramSummary;
use crate::rate::{bits_per_second, ratio};
use dumbbell_scenario::{Link, Scenario};

/// One run, summarised. Serialises to the `summary` of `run.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// `simulator` or `kernel`.
    pub engine: &'static str,
    /// Version of the engine.
    pub engine_version: &'static str,
    /// Seed of the run.
    pub seed: u64,
    /// How long it lasted, ns.
    pub duration_ns: u64,
    /// Congestion control of each group, as loaded.
    pub congestion_controls: Vec<LoadedCc>,
    /// Every flow, in flow order.
    pub flows: Vec<FlowSummary>,
    /// Every link, in the network's order.
    pub links: Vec<LinkSummary>,
    /// The most used of them.
    pub bottleneck: LinkSummary,
    /// How well the kernel engine kept time; none in virtual time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulation: Option<Emulation>,
    /// How often the sockets' memory came under pressure; only where the scenario limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_mem_pressure_count: Option<u64>,
    /// The user's programs, in the order in which they started; only where there were any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramSummary>,
}

/// The congestion control a group really ran.
#[derive(Clone, Debug, Serialize)]
pub struct LoadedCc {
    /// Index of the group.
    pub group: u32,
    /// `name` of the ops table that was loaded.
    pub cc: String,
    /// Digest of the build that ran.
    pub build: String,
    /// Every parameter with the value in force.
    pub params: BTreeMap<String, i64>,
    /// It always enables ECN.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_ecn: bool,
    /// What it declares about itself, so that a result can be read without it.
    pub declared: Declared,
}

/// One flow over its life; `None` is what the engine cannot see.
#[derive(Clone, Debug, Serialize)]
#[allow(
    missing_docs,
    reason = "names and units say it; docs/format-run.md has the table"
)]
pub struct FlowSummary {
    pub flow: u32,
    pub group: u32,
    /// `name` of the ops table this flow's socket used.
    pub cc: String,
    pub base_rtt_us: u64,
    pub start_us: u64,
    /// When the flow ended: when all that a sized or stopped flow had sent was acknowledged, else
    /// the end of the run.
    pub end_us: u64,
    /// Whether a flow with a size or a stop time had all that it sent acknowledged.
    pub finished: bool,
    /// Payload the receiving application got, in order.
    pub received_bytes: u64,
    /// `received_bytes` over the flow's time.
    pub goodput_bps: f64,
    /// Wire bytes of this flow that crossed the bottleneck, over the flow's time.
    pub throughput_bps: f64,
    pub rtt_mean_us: f64,
    pub rtt_min_us: u64,
    pub rtt_p50_us: u64,
    pub rtt_p95_us: u64,
    pub rtt_p99_us: u64,
    pub rtt_max_us: u64,
    /// Time average of the kernel's count: out, not SACKed, not lost, plus retransmitted.
    pub inflight_mean_pkts: f64,
    /// Time average of tcptrace's count: highest sent minus cumulatively acknowledged.
    pub outstanding_mean_pkts: f64,
    pub cwnd_mean_pkts: f64,
    /// Largest cwnd and ssthresh that were sampled, ssthresh without "unlimited"; only of real sockets, whose
    /// kernel may let them be anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_max_pkts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh_max_pkts: Option<u64>,
    /// Data packets sent, retransmissions included.
    pub sent_pkts: u64,
    pub retransmitted_pkts: u64,
    /// Data packets of this flow that the links of its route dropped.
    pub dropped_pkts: u64,
    /// Data packets of this flow that the links of its route marked CE; only where one can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_pkts: Option<u64>,
    /// Data packets that reached the receiver with CE; only where a link can mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_arrived_pkts: Option<u64>,
    /// ACKs of this flow that the links of its way back dropped; only where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks_dropped: Option<u64>,
    /// Copies of its data packets that impairments made; only where they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicated_pkts: Option<u64>,
    /// Packets the sender declared lost.
    pub lost_pkts: Option<u64>,
    /// Data packets that reached the receiver, duplicates included.
    pub arrived_pkts: u64,
    /// Data packets still on the path at the end.
    pub on_path_pkts: u64,
    /// Retransmissions of data the receiver already had (D-SACK, RFC 2883).
    pub spurious_retransmits: u64,
    pub fast_recovery_count: Option<u64>,
    /// Fast recoveries undone because nothing was lost (timestamps or D-SACK).
    pub spurious_recovery_count: Option<u64>,
    /// SYNs sent again.
    pub syn_retransmits: Option<u64>,
    /// Data packets that reached the receiver when it had them already.
    pub duplicate_pkts: Option<u64>,
    /// Data packets that reached the receiver and were dropped by it, beyond its out-of-order limit; only
    /// where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ooo_dropped_pkts: Option<u64>,
    pub rto_count: Option<u64>,
    /// RTOs undone as spurious (F-RTO or timestamps).
    pub spurious_rto_count: Option<u64>,
    pub tlp_count: Option<u64>,
    /// Longest time in a row without forward progress after an RTO.
    pub rto_stall_max_us: Option<u64>,
    pub rto_stall_us: Option<u64>,
    /// Longest time for which the congestion control left cwnd at 0; only where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_zero_max_us: Option<u64>,
    pub cwnd_limited_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
    /// Connections that its application opened; only where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// What its connections carried from receiver to sender; only where they did. All other counts
    /// are of the direction from sender to receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestSummary>,
    /// What its application measured by itself, by names with units; only where it did.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub application: BTreeMap<&'static str, i64>,
}

/// What the receiver's end of a flow wrote.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "names and units say it; docs/format-run.md has the table"
)]
pub struct RequestSummary {
    /// Payload that the sender's end got, in order.
    pub received_bytes: u64,
    pub sent_pkts: u64,
    pub retransmitted_pkts: u64,
    pub dropped_pkts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicated_pkts: Option<u64>,
    pub arrived_pkts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ooo_dropped_pkts: Option<u64>,
    pub on_path_pkts: u64,
    pub rto_count: u64,
}

/// A link over the run.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(
    missing_docs,
    reason = "names and units say it; docs/format-run.md has the table"
)]
pub struct LinkSummary {
    pub name: String,
    /// At the start of the run.
    pub link_rate_bps: u64,
    /// What carries its packets; only if that is not a wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<&'static str>,
    /// Bytes of each packet that the medium does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncounted_bytes: Option<u64>,
    /// What the medium may carry above its rate in the long run, as a token bucket does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_up_bytes: Option<u64>,
    /// What the link could carry in the run, wire bytes; only where its rate changes, or what its medium
    /// offered, in bytes as that counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<f64>,
    /// Smallest base RTT of any flow whose data or ACKs cross it.
    pub base_rtt_us: u64,
    /// Name of its queue discipline; only if that is not drop-tail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<&'static str>,
    pub limit_bytes: Option<u64>,
    pub limit_pkts: Option<u64>,
    pub offered_pkts: u64,
    pub forwarded_pkts: u64,
    pub forwarded_bytes: u64,
    pub dropped_pkts: u64,
    pub dropped_bytes: u64,
    /// Dropped packets that were lost before the queue; only where the link has impairments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_loss_pkts: Option<u64>,
    /// Packets lost behind the link, which are not among the dropped ones; only where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_behind_pkts: Option<u64>,
    /// Copies that its impairments made, before the queue or behind the link; only where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicated_pkts: Option<u64>,
    /// Dropped packets that the discipline dropped with room left; only where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm_dropped_pkts: Option<u64>,
    /// Packets marked CE here; only where it marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_pkts: Option<u64>,
    /// Packets that left after one of their flow that had joined the queue later; only where there were any,
    /// unless the queue discipline lets packets do so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered_pkts: Option<u64>,
    /// Time during which a packet waited or was on the wire.
    pub busy_us: u64,
    /// What the link could carry in that time, wire bytes; only where its rate changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_capacity_bytes: Option<f64>,
    /// Packets still queued or being transmitted at the end.
    pub left_pkts: u64,
    /// Forwarded bits over what the link could carry in the run.
    pub utilization: f64,
    pub queue_delay_mean_us: f64,
    pub queue_delay_p50_us: u64,
    pub queue_delay_p95_us: u64,
    pub queue_delay_p99_us: u64,
    pub queue_delay_max_us: u64,
    pub backlog_mean_bytes: f64,
    pub backlog_max_bytes: u64,
    /// What its queue discipline counts of its own, and where it stands at the end; only where it does.
    #[serde(skip_serializing_if = "QueueStatistics::is_empty")]
    pub statistics: QueueStatistics,
}

/// What a queue discipline tells of itself: names as `tc -s qdisc` has them, with units, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics(Vec<(&'static str, u64)>);

impl QueueStatistics {
    /// What the discipline of `link` tells now.
    pub fn of<H: Header>(link: &dumbbell_net::Link<H>) -> Self {
        let mut told = Vec::new();
        link.statistics(&mut |name, value| told.push((name, value)));
        Self(told)
    }

    /// Whether it tells nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for QueueStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl LinkSummary {
    /// The link that used the largest part of its rate; of several alike the first.
    ///
    /// # Panics
    ///
    /// If there is no link.
    pub fn most_used(links: &[Self]) -> Self {
        let mut links = links.iter();
        let first = links.next().expect("a network has a link");
        let most = links.fold(first, |most, link| {
            if link.utilization > most.utilization {
                link
            } else {
                most
            }
        });
        most.clone()
    }

    /// Sums up what `link` did in a run that started at `start_ns` of its clock; the meter's books
    /// reach to the end, when `backlog_pkts` wait and its discipline tells `statistics`.
    pub fn new(
        scenario: &Scenario,
        link: &Link,
        meter: &LinkMeter,
        backlog_pkts: u64,
        statistics: QueueStatistics,
        start_ns: u64,
    ) -> Self {
        let duration_ns = scenario.duration_ns;
        let end_ns = start_ns + duration_ns;
        let (forwarded_pkts, forwarded_bytes) = meter.forwarded(end_ns);
        let (limit_bytes, limit_pkts) = match link.queue.limit() {
            Limit::Bytes(bytes) => (Some(bytes), None),
            Limit::Packets(packets) => (None, Some(packets)),
        };
        let link_rate_bps = link.link_rate_bps;
        // What a medium offers is known before, from a trace, or afterwards.
        let account = meter.medium();
        let medium_bits = account.map(|account| account.offered_bytes as f64 * 8.0);
        let changes = !link.rate_steps.is_empty() || account.is_some();
        let known_bits = link.capacity_bits(duration_ns);
        let medium = link.medium.as_ref();
        let is_known = medium.is_none_or(|medium| medium.offered_bytes(duration_ns).is_some());
        let capacity_bits = medium_bits.filter(|_| !is_known).unwrap_or(known_bits);
        let uncounted_bytes = medium.map_or(0, MediumConfig::uncounted_bytes);
        let saved_up_bytes = medium.map_or(0, |medium| medium.saved_up_bytes(link_rate_bps));
        let counted_bytes = forwarded_bytes.saturating_sub(uncounted_bytes * forwarded_pkts);
        let mean_rate_bps = if changes {
            ratio(capacity_bits * 1e9, duration_ns as f64)
        } else {
            link_rate_bps as f64
        };
        let delay_max_us = meter.sojourn_max_us;
        let delay_quantile_us = |quantile| meter.sojourn_us.quantile(quantile, delay_max_us);
        Self {
            name: link.name.clone(),
            link_rate_bps,
            medium: medium.map(MediumConfig::name),
            uncounted_bytes: (uncounted_bytes > 0).then_some(uncounted_bytes),
            saved_up_bytes: (saved_up_bytes > 0).then_some(saved_up_bytes),
            capacity_bytes: changes.then_some(capacity_bits / 8.0),
            base_rtt_us: scenario.shortest_base_rtt_over_ns(link) / 1000,
            queue: (!link.queue.is_drop_tail()).then_some(link.queue.name()),
            limit_bytes,
            limit_pkts,
            offered_pkts: meter.offered_pkts,
            forwarded_pkts,
            forwarded_bytes,
            dropped_pkts: meter.dropped_pkts,
            dropped_bytes: meter.dropped_bytes,
            random_loss_pkts: link.impairs().then_some(meter.random_loss_pkts),
            lost_behind_pkts: (meter.lost_behind_pkts > 0).then_some(meter.lost_behind_pkts),
            duplicated_pkts: (meter.duplicated_pkts > 0).then_some(meter.duplicated_pkts),
            aqm_dropped_pkts: (meter.aqm_dropped_pkts > 0).then_some(meter.aqm_dropped_pkts),
            marked_pkts: (link.marks()).then_some(meter.marked_pkts),
            reordered_pkts: (link.queue.keeps_order() && meter.reordered_pkts > 0)
                .then_some(meter.reordered_pkts),
            busy_us: meter.busy_ns / 1000,
            busy_capacity_bytes: (changes && medium.is_none())
                .then(|| meter.busy_capacity_bits() / 8.0),
            left_pkts: backlog_pkts + meter.held_pkts + meter.taken_pkts - forwarded_pkts,
            utilization: ratio(bits_per_second(counted_bytes, duration_ns), mean_rate_bps),
            queue_delay_mean_us: ratio(
                meter.sojourn_sum_ns as f64 / 1000.0,
                meter.sojourn_us.count() as f64,
            ),
            queue_delay_p50_us: delay_quantile_us(0.5),
            queue_delay_p95_us: delay_quantile_us(0.95),
            queue_delay_p99_us: delay_quantile_us(0.99),
            queue_delay_max_us: delay_max_us,
            backlog_mean_bytes: ratio(meter.backlog_byte_ns as f64, duration_ns as f64),
            backlog_max_bytes: meter.backlog_max_bytes,
            statistics,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottleneck_is_the_most_used_link_and_of_equal_ones_the_first() {
        let link = |name: &str, utilization| LinkSummary {
            name: name.to_owned(),
            utilization,
            ..LinkSummary::default()
        };
        let links = [link("a", 0.5), link("b", 0.75), link("c", 0.75)];
        assert_eq!(LinkSummary::most_used(&links).name, "b");
        assert_eq!(LinkSummary::most_used(&links[..1]).name, "a");
    }
}
