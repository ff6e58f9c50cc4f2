//! What is reported of a link.

use dumbbell_declare::{IF_ANY, Kind, Recorded, records};
use dumbbell_net::{Header, Limit, LinkMeter, MediumConfig};
use dumbbell_scenario::{Link, Scenario};
use serde::{Serialize, Serializer};

use crate::rate::{bits_per_second, ratio};

records! {
    /// A link over the run.
    pub struct LinkSummary: "link" {
        /// Name in the scenario; `bottleneck` of a dumbbell.
        name: String;
        /// Capacity on the wire, at the start if `rate_steps` change it.
        link_rate_bps: u64;
        /// What carries the link's packets: `trace`, `wifi`, …; only if that is not a wire of its rate.
        medium: Option<&'static str>, IF_ANY;
        /// Bytes of each packet that the medium does not count, Ethernet's header with a trace; only if there are some.
        uncounted_bytes: Option<u64>, IF_ANY;
        /// What the medium may carry above its rate in the long run, the token bucket of `docsis` or of Mininet's link;
        /// only if it saves up anything.
        saved_up_bytes: Option<u64>, IF_ANY;
        /// What the link could carry in the run; only with `rate_steps`, or what its `medium` offered, in bytes as that
        /// counts them: `utilization` is of these.
        capacity_bytes: Option<f64>, IF_ANY;
        /// Smallest base RTT that any flow ever has whose data or ACKs cross the link.
        base_rtt_us: u64;
        /// Name of the queue discipline; only if it is not drop-tail.
        queue: Option<&'static str>, IF_ANY;
        /// The queue's limit in bytes; null if that counts packets.
        limit_bytes: Option<u64>;
        /// The queue's limit in packets; null if that counts bytes.
        limit_pkts: Option<u64>;
        /// Packets that arrived at the link. Each segment of a super-packet (`gso`) counts, here and in all that counts
        /// packets but `backlog_pkts` and `limit_pkts`.
        offered_pkts: u64;
        /// Packets that the link forwarded.
        forwarded_pkts: u64;
        /// Wire bytes that the link forwarded.
        forwarded_bytes: u64;
        /// Packets that the link dropped.
        dropped_pkts: u64;
        /// Wire bytes that the link dropped.
        dropped_bytes: u64;
        /// Dropped packets that an impairment dropped before the queue, at random or not; only with `loss` or `impair`.
        random_loss_pkts: Option<u64>, IF_ANY;
        /// Forwarded packets that an impairment behind the link lost; they are not among the dropped ones. Only if there
        /// were any.
        lost_behind_pkts: Option<u64>, IF_ANY;
        /// Copies that impairments made, before the queue (where they are among the offered packets) or behind the link;
        /// only if there were any.
        duplicated_pkts: Option<u64>, IF_ANY;
        /// Dropped packets that the queue discipline dropped with room left; only if there were any. The other dropped
        /// packets met a full queue.
        aqm_dropped_pkts: Option<u64>, IF_ANY;
        /// Packets that this link marked CE, not those that came with a mark; only if it can mark.
        marked_pkts: Option<u64>, IF_ANY;
        /// Packets that left the queue after one of their flow that had joined it later; only if there were any and the
        /// discipline keeps flows in order, which makes the verdict INVALID.
        reordered_pkts: Option<u64>, IF_ANY;
        /// Time in which a packet was being transmitted or waited to be; at a queue that holds packets back (a shaper),
        /// only the former.
        busy_us: u64;
        /// What the link could carry in that time; only with `rate_steps`.
        busy_capacity_bytes: Option<f64>, IF_ANY;
        /// Packets that were still queued at the end.
        left_pkts: u64;
        /// Forwarded bits over what the link could carry in the run, 0 to 1.
        utilization: f64;
        /// Mean time that a packet waited in the queue, without the link's delay where that passes in the queue
        /// (`tclink_htb`).
        queue_delay_mean_us: f64;
        /// Median time that a packet waited in the queue.
        queue_delay_p50_us: u64;
        /// 95th percentile of the times that packets waited in the queue.
        queue_delay_p95_us: u64;
        /// 99th percentile of the times that packets waited in the queue.
        queue_delay_p99_us: u64;
        /// Longest time that a packet waited in the queue.
        queue_delay_max_us: u64;
        /// The queue's length, averaged over time.
        backlog_mean_bytes: f64;
        /// The queue's largest length.
        backlog_max_bytes: u64;
        /// The queue discipline's own statistics when the run ends, by the names of `tc -s qdisc` with units (`_pkts`,
        /// `_bytes`, `_ns`, `_ppb`: parts per billion); only of disciplines that do. On the kernel engine it includes the
        /// packets of the calibration. In Python: `result.link("bottleneck").statistics`.
        statistics: QueueStatistics, IF_ANY;
    }
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
}

impl Recorded for QueueStatistics {
    const KIND: Kind = Kind::Named(&Kind::Count);

    fn is_none(&self) -> bool {
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
