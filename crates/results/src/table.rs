//! Samples as tables: column names carry units, enumerations are labels.

use dumbbell_cc::{Series, TCP_INFINITE_SSTHRESH};
use dumbbell_table::{Batch, Column};

use crate::flow_samples::FlowSamples;
use crate::samples::{GroupBacklog, QueueSamples, RawColumn, StateSamples, UNKNOWN};
use dumbbell_scenario::Scenario;

/// A named table of a run.
#[derive(Clone, Debug)]
pub struct Table {
    /// `flows`, `queue`, `queue_by_group`, `state-<group>-<cc>`, `transfers` or `connections`.
    pub name: String,
    /// Its rows.
    pub batch: Batch,
}

/// Names of `enum tcp_ca_state`.
const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// Time series of a run, as an engine filled them.
#[derive(Debug)]
pub struct TimeSeries {
    /// All flows.
    pub flows: FlowSamples,
    /// The links' queues.
    pub queue: QueueSamples,
    /// Private state, by group.
    pub states: Vec<StateSamples>,
}

impl Table {
    /// The tables of a run.
    pub fn of_run(scenario: &Scenario, series: TimeSeries) -> Vec<Self> {
        let flow_counts = scenario.groups.iter().map(|group| group.flows as usize);
        let group_of: Vec<usize> = flow_counts
            .enumerate()
            .flat_map(|(group, flows)| std::iter::repeat_n(group, flows))
            .collect();
        let links = scenario.link_names();
        let by_group = scenario
            .samples_backlog_by_group()
            .then(|| Self::queue_by_group(&series.queue.by_group, &links));
        let mut tables = vec![Self::flows(series.flows), Self::queue(series.queue, &links)];
        tables.extend(by_group);
        for (group, samples) in series.states.into_iter().enumerate() {
            let mss_bytes = scenario.groups[group].host.mss_bytes;
            let is_row_of_group = |flow: u32| group_of[flow as usize] == group;
            let state = Self::state(group, samples, mss_bytes, &tables[0], &is_row_of_group);
            tables.extend(state);
        }
        tables
    }

    /// The table `flows`.
    pub(crate) fn flows(samples: FlowSamples) -> Self {
        let ssthresh =
            Column::with_gaps(samples.ssthresh_pkts, |pkts| pkts < TCP_INFINITE_SSTHRESH);
        let pacing_rate = Column::with_gaps(samples.pacing_rate_bps, |bps| bps < u64::MAX);
        table(
            "flows".to_owned(),
            vec![
                ("time_us", samples.time_us.into()),
                ("flow", samples.flow.into()),
                ("cwnd_pkts", column_with_gaps(samples.cwnd_pkts)),
                ("ssthresh_pkts", ssthresh),
                ("inflight_pkts", column_with_gaps(samples.inflight_pkts)),
                (
                    "outstanding_pkts",
                    column_with_gaps(samples.outstanding_pkts),
                ),
                ("srtt_us", samples.srtt_us.into()),
                ("rtt_us", column_with_gaps(samples.rtt_us)),
                ("min_rtt_us", samples.min_rtt_us.into()),
                ("delivery_rate_bps", samples.delivery_rate_bps.into()),
                ("goodput_bps", samples.goodput_bps.into()),
                ("pacing_rate_bps", pacing_rate),
                ("retransmitted_pkts", samples.retransmitted_pkts.into()),
                ("lost_pkts", column_with_gaps(samples.lost_pkts)),
                ("ca_state", labelled(samples.ca_state, CA_STATES)),
            ],
        )
    }

    /// The table `queue`.
    pub(crate) fn queue(samples: QueueSamples, links: &[String]) -> Self {
        let mut columns = vec![
            ("time_us", samples.time_us.into()),
            ("backlog_bytes", samples.backlog_bytes.into()),
            ("backlog_pkts", samples.backlog_pkts.into()),
            ("sojourn_us", samples.sojourn_us.into()),
            ("forwarded_pkts", samples.forwarded_pkts.into()),
            ("dropped_pkts", samples.dropped_pkts.into()),
            ("link", labelled(samples.link, links)),
        ];
        for column in samples.statistics {
            columns.push((column.name, column.values.into()));
        }
        table("queue".to_owned(), columns)
    }

    /// The table `queue_by_group`.
    fn queue_by_group(rows: &[GroupBacklog], links: &[String]) -> Self {
        let link: Vec<_> = rows.iter().map(|row| row.link).collect();
        let columns = vec![
            ("time_us", rows.iter().map(|row| row.time_us).collect()),
            ("group", rows.iter().map(|row| row.group).collect()),
            (
                "backlog_bytes",
                rows.iter().map(|row| row.backlog_bytes).collect(),
            ),
            ("link", labelled(link, links)),
        ];
        table("queue_by_group".to_owned(), columns)
    }

    /// The private state of a group whose rows in the `flows` table `is_row_of_group` tells;
    /// `None` if its congestion control declares no series.
    pub(crate) fn state(
        group: usize,
        samples: StateSamples,
        mss_bytes: u32,
        flows: &Self,
        is_row_of_group: &impl Fn(u32) -> bool,
    ) -> Option<Self> {
        if samples.series.is_empty() {
            return None;
        }
        let (time_us, flow) = flows.rows_of(is_row_of_group);
        let mut columns = vec![("time_us", time_us), ("flow", flow)];
        for (series, raw) in samples.series.iter().zip(samples.columns) {
            columns.push((&series.name, state_column(series, raw, mss_bytes)));
        }
        let name = samples.name.replace('/', "-");
        Some(table(format!("state-{group}-{name}"), columns))
    }

    /// `time_us` and `flow` of the rows of some flows; shared, not copied, when all are.
    fn rows_of(&self, is_row_of_group: &impl Fn(u32) -> bool) -> (Column, Column) {
        let (time_us, flow) = (&self.batch["time_us"], &self.batch["flow"]);
        let flows = flow.numbers::<u32>();
        if flows.iter().all(|&flow| is_row_of_group(flow)) {
            return (time_us.clone(), flow.clone());
        }
        let rows = time_us.numbers::<i64>().iter().zip(flows);
        let (times, flows): (Vec<i64>, Vec<u32>) =
            rows.filter(|&(_, &flow)| is_row_of_group(flow)).unzip();
        (times.into(), flows.into())
    }
}

/// A series as declared: labels, whole numbers, or `raw · mul / div` (· MSS).
fn state_column(series: &Series, raw: RawColumn, mss_bytes: u32) -> Column {
    if !series.labels.is_empty() {
        let last = series.labels.len() - 1;
        let codes: Vec<u8> = match raw {
            RawColumn::Bytes(codes) => codes.into_iter().map(|code| code.min(last as u8)).collect(),
            RawColumn::Words(codes) => codes
                .into_iter()
                .map(|code| code.min(last as u32) as u8)
                .collect(),
            RawColumn::Longs(codes) => codes
                .into_iter()
                .map(|code| code.min(last as u64) as u8)
                .collect(),
        };
        return labelled(codes, &series.labels);
    }
    let is_scaled = series.mul != series.div || series.per_mss;
    let mss = if series.per_mss {
        f64::from(mss_bytes)
    } else {
        1.0
    };
    let scale = series.mul as f64 / series.div as f64 * mss;
    match raw {
        RawColumn::Bytes(values) if is_scaled => {
            let scaled = values.into_iter().map(|value| f64::from(value) * scale);
            scaled.collect()
        }
        RawColumn::Words(values) if is_scaled => {
            let scaled = values.into_iter().map(|value| f64::from(value) * scale);
            scaled.collect()
        }
        RawColumn::Longs(values) if is_scaled && series.signed => {
            let signed = values.into_iter().map(|value| value as i64 as f64);
            signed.map(|value| value * scale).collect()
        }
        RawColumn::Longs(values) if is_scaled => {
            let scaled = values.into_iter().map(|value| value as f64 * scale);
            scaled.collect()
        }
        RawColumn::Longs(values) if series.signed => {
            values.into_iter().map(|value| value as i64).collect()
        }
        RawColumn::Bytes(values) => values.into(),
        RawColumn::Words(values) => values.into(),
        RawColumn::Longs(values) => values.into(),
    }
}

pub(crate) fn table(name: String, columns: Vec<(&str, Column)>) -> Table {
    Table {
        name,
        batch: Batch::new(columns),
    }
}

/// Codes as the labels that they number.
pub(crate) fn labelled(
    codes: impl Into<Column>,
    labels: impl IntoIterator<Item = impl AsRef<str>>,
) -> Column {
    Column::labelled(codes, &Column::texts(labels))
}

/// Null where the value is [`UNKNOWN`].
fn column_with_gaps(values: Vec<u32>) -> Column {
    Column::with_gaps(values, |value| value != UNKNOWN)
}
