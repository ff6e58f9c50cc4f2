//! What the relay measured, all parts together.

use dumbbell_results::{Connection, GroupBacklog, QueueSamples, StatisticSamples};
use dumbbell_scenario::Change;

use super::Done;
use super::carrier::{MeasuredLink, Measurement};
use super::connections::{Counted, connections_on_path};
use super::flows::FlowOnPath;
use super::lateness::Lateness;
use super::program_connections::Numbering;
use crate::error::Error;

/// What the relay measured.
#[derive(Debug)]
pub(crate) struct RelayReport {
    /// In the network's order.
    pub(crate) links: Vec<MeasuredLink>,
    /// A row per link and sampling interval.
    pub(crate) queue: QueueSamples,
    /// Counts of each flow.
    pub(crate) flows: Vec<FlowOnPath>,
    /// Connections of programs, in the order in which they came.
    pub(crate) connections: Vec<Connection>,
    /// What was changed of the path, and when, ns from the start of the run.
    pub(crate) changes: Vec<(u64, Change)>,
    /// Lateness over all parts.
    pub(crate) lateness: Lateness,
    /// CPU time of the busiest thread, which includes what the hosts' TCP does in its writes.
    pub(crate) busiest_cpu_ns: u64,
    /// All threads had real-time priority.
    pub(crate) is_realtime: bool,
    /// What hosts sent other than TCP and UDP packets for one another; none of it crossed the path.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "tests see by it that hosts keep quiet")
    )]
    pub(crate) foreign_pkts: u64,
}

impl RelayReport {
    /// Adds up all threads. Connections of programs have the numbers of `numbering`; the run started at
    /// `epoch_ns`.
    pub(super) fn new(
        threads: impl Iterator<Item = Done>,
        numbering: &Numbering,
        epoch_ns: u64,
    ) -> Result<Self, Error> {
        let mut report = Self {
            links: Vec::new(),
            queue: QueueSamples::default(),
            flows: Vec::new(),
            connections: Vec::new(),
            changes: Vec::new(),
            lateness: Lateness::new(),
            busiest_cpu_ns: 0,
            is_realtime: true,
            foreign_pkts: 0,
        };
        let mut connections: Vec<Vec<Counted>> = Vec::new();
        // All of them, so that each has ended when one has failed.
        for done in threads.collect::<Vec<_>>() {
            report.busiest_cpu_ns = report.busiest_cpu_ns.max(done.cpu_ns);
            report.is_realtime &= done.is_realtime;
            report.foreign_pkts += done.foreign_pkts;
            let mut measurement = done.measurement?;
            connections.push(std::mem::take(&mut measurement.connections));
            report.add(measurement);
        }
        let parts = connections.iter().map(Vec::as_slice);
        report.connections = connections_on_path(parts, numbering, epoch_ns);
        report.links.sort_by_key(|link| link.index);
        report.queue = in_order(&report.queue);
        Ok(report)
    }

    fn add(&mut self, part: Measurement) {
        self.links.extend(part.links);
        self.lateness.add(&part.lateness);
        append(&mut self.queue, &part.queue, 0..part.queue.link.len());
        self.queue.by_group.extend(part.queue.by_group);
        if self.flows.is_empty() {
            self.flows = part.flows;
        } else {
            for (flow, other) in self.flows.iter_mut().zip(part.flows) {
                flow.add(other);
            }
        }
    }
}

/// Rows in order of time, and at one time in order of the links.
fn in_order(rows: &QueueSamples) -> QueueSamples {
    let mut order: Vec<usize> = (0..rows.link.len()).collect();
    order.sort_by_key(|&row| (rows.time_us[row], rows.link[row]));
    let mut sorted = QueueSamples::default();
    append(&mut sorted, rows, order.into_iter());
    sorted.by_group.clone_from(&rows.by_group);
    let order = |row: &GroupBacklog| (row.time_us, row.link, row.group);
    sorted.by_group.sort_by_key(order);
    sorted
}

fn append(to: &mut QueueSamples, from: &QueueSamples, rows: impl Iterator<Item = usize>) {
    if to.statistics.is_empty() {
        let columns = from.statistics.iter();
        to.statistics = columns.map(StatisticSamples::without_rows).collect();
    }
    for row in rows {
        for (to, from) in to.statistics.iter_mut().zip(&from.statistics) {
            to.values.push(from.values[row]);
        }
        to.time_us.push(from.time_us[row]);
        to.backlog_bytes.push(from.backlog_bytes[row]);
        to.backlog_pkts.push(from.backlog_pkts[row]);
        to.sojourn_us.push(from.sojourn_us[row]);
        to.forwarded_pkts.push(from.forwarded_pkts[row]);
        to.dropped_pkts.push(from.dropped_pkts[row]);
        to.link.push(from.link[row]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_links_are_in_order_of_time_and_link() {
        let of_link = |link: u32| QueueSamples {
            time_us: vec![10, 20],
            backlog_bytes: vec![0, u64::from(link)],
            backlog_pkts: vec![0; 2],
            sojourn_us: vec![None; 2],
            forwarded_pkts: vec![0; 2],
            dropped_pkts: vec![0; 2],
            link: vec![link; 2],
            statistics: vec![StatisticSamples {
                name: "count_pkts",
                is_of_link: vec![false, true],
                values: vec![None, (link == 1).then_some(7)],
            }],
            ..QueueSamples::default()
        };
        let of_group = |time_us, link, group| GroupBacklog {
            time_us,
            link,
            group,
            backlog_bytes: 1,
        };
        let mut rows = QueueSamples::default();
        for link in [1, 0] {
            append(&mut rows, &of_link(link), 0..2);
            let by_group =
                [10, 20].map(|time_us| [0, 1].map(|group| of_group(time_us, link, group)));
            rows.by_group.extend(by_group.concat());
        }
        let sorted = in_order(&rows);
        let expected =
            [10, 20].map(|at| [0, 1].map(|link| [0, 1].map(|it| of_group(at, link, it))));
        assert_eq!(sorted.by_group, expected.concat().concat());
        assert_eq!(sorted.time_us, [10, 10, 20, 20]);
        assert_eq!(sorted.link, [0, 1, 0, 1]);
        assert_eq!(sorted.backlog_bytes, [0, 0, 0, 1]);
        assert_eq!(sorted.statistics[0].values, [None, None, None, Some(7)]);
    }
}
