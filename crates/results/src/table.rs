//! Samples as Arrow tables: column names carry units, enumerations are dictionaries.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowDictionaryKeyType, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, PrimitiveArray, RecordBatch,
    StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema};
use dumbbell_cc::{Series, TCP_INFINITE_SSTHRESH};

use crate::samples::{FlowSamples, GroupBacklog, QueueSamples, RawColumn, StateSamples, UNKNOWN};
use dumbbell_scenario::Scenario;

/// A named table of a run.
#[derive(Clone, Debug)]
pub struct Table {
    /// `flows`, `queue`, `queue_by_group`, `state-<group>-<cc>`, `transfers` or `connections`.
    pub name: String,
    /// Its rows.
    pub batch: RecordBatch,
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
    pub fn of_run(scenario: &Scenario, series: TimeSeries) -> Result<Vec<Self>, ArrowError> {
        let flow_counts = scenario.groups.iter().map(|group| group.flows as usize);
        let group_of: Vec<usize> = flow_counts
            .enumerate()
            .flat_map(|(group, flows)| std::iter::repeat_n(group, flows))
            .collect();
        let links = scenario.link_names();
        let by_group = scenario
            .samples_backlog_by_group()
            .then(|| Self::queue_by_group(&series.queue.by_group, &links))
            .transpose()?;
        let mut tables = vec![
            Self::flows(series.flows)?,
            Self::queue(series.queue, &links)?,
        ];
        tables.extend(by_group);
        for (group, samples) in series.states.into_iter().enumerate() {
            let mss_bytes = scenario.groups[group].mss_bytes;
            let is_row_of_group = |flow: u32| group_of[flow as usize] == group;
            let state = Self::state(group, samples, mss_bytes, &tables[0], &is_row_of_group)?;
            tables.extend(state);
        }
        Ok(tables)
    }

    /// The table `flows`.
    pub(crate) fn flows(samples: FlowSamples) -> Result<Self, ArrowError> {
        let is_finite: Vec<bool> = samples
            .ssthresh_pkts
            .iter()
            .map(|&pkts| pkts < TCP_INFINITE_SSTHRESH)
            .collect();
        let ssthresh = UInt32Array::new(
            ScalarBuffer::from(samples.ssthresh_pkts),
            Some(NullBuffer::from(is_finite)),
        );
        let is_paced: Vec<bool> = samples
            .pacing_rate_bps
            .iter()
            .map(|&bps| bps < u64::MAX)
            .collect();
        let pacing_rate = UInt64Array::new(
            ScalarBuffer::from(samples.pacing_rate_bps),
            Some(NullBuffer::from(is_paced)),
        );
        table(
            "flows".to_owned(),
            vec![
                ("time_us", column_i64(samples.time_us)),
                ("flow", column_u32(samples.flow)),
                ("cwnd_pkts", column_with_gaps(samples.cwnd_pkts)),
                ("ssthresh_pkts", Arc::new(ssthresh)),
                ("inflight_pkts", column_with_gaps(samples.inflight_pkts)),
                (
                    "outstanding_pkts",
                    column_with_gaps(samples.outstanding_pkts),
                ),
                ("srtt_us", column_u32(samples.srtt_us)),
                ("rtt_us", column_with_gaps(samples.rtt_us)),
                ("min_rtt_us", column_u32(samples.min_rtt_us)),
                ("delivery_rate_bps", column_u64(samples.delivery_rate_bps)),
                ("goodput_bps", column_u64(samples.goodput_bps)),
                ("pacing_rate_bps", Arc::new(pacing_rate)),
                ("retransmitted_pkts", column_u32(samples.retransmitted_pkts)),
                ("lost_pkts", column_with_gaps(samples.lost_pkts)),
                ("ca_state", dictionary(samples.ca_state, CA_STATES)?),
            ],
        )
    }

    /// The table `queue`.
    pub(crate) fn queue(samples: QueueSamples, links: &[String]) -> Result<Self, ArrowError> {
        let mut columns = vec![
            ("time_us", column_i64(samples.time_us)),
            ("backlog_bytes", column_u64(samples.backlog_bytes)),
            ("backlog_pkts", column_u32(samples.backlog_pkts)),
            (
                "sojourn_us",
                Arc::new(UInt32Array::from(samples.sojourn_us)),
            ),
            ("forwarded_pkts", column_u64(samples.forwarded_pkts)),
            ("dropped_pkts", column_u64(samples.dropped_pkts)),
            ("link", labelled::<UInt32Type>(samples.link, links)?),
        ];
        for column in samples.statistics {
            let values: ArrayRef = Arc::new(UInt64Array::from(column.values));
            columns.push((column.name, values));
        }
        table("queue".to_owned(), columns)
    }

    /// The table `queue_by_group`.
    fn queue_by_group(rows: &[GroupBacklog], links: &[String]) -> Result<Self, ArrowError> {
        let link = rows.iter().map(|row| row.link).collect();
        let columns = vec![
            (
                "time_us",
                column_i64(rows.iter().map(|row| row.time_us).collect()),
            ),
            (
                "group",
                column_u32(rows.iter().map(|row| row.group).collect()),
            ),
            (
                "backlog_bytes",
                column_u64(rows.iter().map(|row| row.backlog_bytes).collect()),
            ),
            ("link", labelled::<UInt32Type>(link, links)?),
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
    ) -> Result<Option<Self>, ArrowError> {
        if samples.series.is_empty() {
            return Ok(None);
        }
        let (time_us, flow) = flows.rows_of(is_row_of_group);
        let mut columns = vec![("time_us", time_us), ("flow", flow)];
        for (series, raw) in samples.series.iter().zip(samples.columns) {
            columns.push((&series.name, state_column(series, raw, mss_bytes)?));
        }
        let name = samples.name.replace('/', "-");
        table(format!("state-{group}-{name}"), columns).map(Some)
    }

    /// `time_us` and `flow` of the rows of some flows; shared, not copied, when all are.
    fn rows_of(&self, is_row_of_group: &impl Fn(u32) -> bool) -> (ArrayRef, ArrayRef) {
        let (time_us, flow) = (self.batch.column(0), self.batch.column(1));
        let flows = flow.as_primitive::<UInt32Type>().values();
        if flows.iter().all(|&flow| is_row_of_group(flow)) {
            return (Arc::clone(time_us), Arc::clone(flow));
        }
        let times = time_us.as_primitive::<Int64Type>().values();
        let rows_of_group = times
            .iter()
            .zip(flows)
            .filter(|&(_, &flow)| is_row_of_group(flow));
        let row_count = rows_of_group.clone().count();
        let mut columns = (Vec::with_capacity(row_count), Vec::with_capacity(row_count));
        columns.extend(rows_of_group);
        (column_i64(columns.0), column_u32(columns.1))
    }
}

/// A series as declared: labels, whole numbers, or `raw · mul / div` (· MSS).
fn state_column(series: &Series, raw: RawColumn, mss_bytes: u32) -> Result<ArrayRef, ArrowError> {
    if !series.labels.is_empty() {
        let last = series.labels.len() - 1;
        let codes = match raw {
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
        return dictionary(codes, &series.labels);
    }
    let is_scaled = series.mul != series.div || series.per_mss;
    let mss = if series.per_mss {
        f64::from(mss_bytes)
    } else {
        1.0
    };
    let scale = series.mul as f64 / series.div as f64 * mss;
    Ok(match raw {
        RawColumn::Bytes(values) if is_scaled => {
            column_f64(values.into_iter().map(|value| f64::from(value) * scale))
        }
        RawColumn::Words(values) if is_scaled => {
            column_f64(values.into_iter().map(|value| f64::from(value) * scale))
        }
        RawColumn::Longs(values) if is_scaled && series.signed => {
            column_f64(values.into_iter().map(|value| value as i64 as f64 * scale))
        }
        RawColumn::Longs(values) if is_scaled => {
            column_f64(values.into_iter().map(|value| value as f64 * scale))
        }
        RawColumn::Longs(values) if series.signed => {
            column_i64(values.into_iter().map(|value| value as i64).collect())
        }
        RawColumn::Bytes(values) => Arc::new(UInt8Array::from(values)),
        RawColumn::Words(values) => column_u32(values),
        RawColumn::Longs(values) => column_u64(values),
    })
}

fn column_f64(values: impl ExactSizeIterator<Item = f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values))
}

pub(crate) fn table(name: String, columns: Vec<(&str, ArrayRef)>) -> Result<Table, ArrowError> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), array.is_nullable()))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(Table {
        name,
        batch: RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?,
    })
}

pub(crate) fn dictionary<S: AsRef<str>>(
    codes: Vec<u8>,
    labels: impl IntoIterator<Item = S>,
) -> Result<ArrayRef, ArrowError> {
    labelled::<UInt8Type>(codes, labels)
}

/// Codes as the labels that they number.
fn labelled<K: ArrowDictionaryKeyType>(
    codes: Vec<K::Native>,
    labels: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<ArrayRef, ArrowError> {
    let labels = StringArray::from_iter_values(labels);
    let keys = PrimitiveArray::<K>::new(ScalarBuffer::from(codes), None);
    Ok(Arc::new(DictionaryArray::<K>::try_new(
        keys,
        Arc::new(labels),
    )?))
}

pub(crate) fn column_i64(values: Vec<i64>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

pub(crate) fn column_u32(values: Vec<u32>) -> ArrayRef {
    Arc::new(UInt32Array::from(values))
}

/// Null where the value is [`UNKNOWN`].
fn column_with_gaps(values: Vec<u32>) -> ArrayRef {
    if !values.contains(&UNKNOWN) {
        return column_u32(values);
    }
    let is_known: Vec<bool> = values.iter().map(|&value| value != UNKNOWN).collect();
    Arc::new(UInt32Array::new(
        ScalarBuffer::from(values),
        Some(NullBuffer::from(is_known)),
    ))
}

pub(crate) fn column_u64(values: Vec<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from(values))
}
