//! The log as Arrow tables.

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::types::{UInt8Type, UInt16Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::ArrowError;

use super::header::Flow;
use super::{Link, PacketLog, PacketLogTotals, Row};
use crate::tables::{batch, dictionary};

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// Names of events by their number.
const EVENTS: [&str; 4] = ["enqueue", "dequeue", "drop", "loss"];

/// Names of the ECN field's values by their number (RFC 3168 §5).
const ECN: [&str; 4] = ["not-ECT", "ECT(1)", "ECT(0)", "CE"];

/// What has happened so far.
pub(super) struct Rows {
    rows: Vec<Row>,
    most: usize,
    dropped_rows: u64,
    flows: Vec<Flow>,
    numbers: HashMap<Flow, u32, RandomState>,
    reasons: Vec<String>,
}

impl Rows {
    pub(super) fn new(most: usize) -> Self {
        Self {
            rows: Vec::new(),
            most,
            dropped_rows: 0,
            flows: Vec::new(),
            numbers: HashMap::default(),
            reasons: Vec::new(),
        }
    }

    /// The number of a flow.
    pub(super) fn flow(&mut self, flow: &Flow) -> u32 {
        *self.numbers.entry(*flow).or_insert_with(|| {
            self.flows.push(*flow);
            (self.flows.len() - 1) as u32
        })
    }

    /// The number of a reason; of more than there is room for, the last.
    pub(super) fn reason(&mut self, reason: &str) -> u8 {
        let known = self.reasons.iter().position(|each| each == reason);
        let number = known.unwrap_or_else(|| {
            if self.reasons.len() < usize::from(u8::MAX) {
                self.reasons.push(reason.to_owned());
            }
            self.reasons.len() - 1
        });
        number as u8
    }

    pub(super) fn push(&mut self, row: Row) {
        if self.rows.len() < self.most {
            self.rows.push(row);
        } else {
            self.dropped_rows += 1;
        }
    }

    pub(super) fn finish(
        self,
        links: &[Link],
        mut totals: PacketLogTotals,
    ) -> Result<PacketLog, ArrowError> {
        totals.dropped_rows = self.dropped_rows;
        let zero_ns = totals.first_ns.unwrap_or(0);
        let names = Names {
            links: Arc::new(StringArray::from_iter_values(
                links.iter().map(|link| &link.name),
            )),
            reasons: Arc::new(StringArray::from_iter_values(&self.reasons)),
        };
        // One without rows has the columns too.
        let chunks = self
            .rows
            .chunks(BATCH_ROWS)
            .chain(self.rows.is_empty().then_some(&[][..]));
        let packets = chunks
            .map(|rows| names.batch(rows, zero_ns))
            .collect::<Result<_, _>>()?;
        Ok(PacketLog {
            packets,
            flows: flows(&self.flows)?,
            totals,
        })
    }
}

/// The values of columns that repeat.
struct Names {
    links: ArrayRef,
    reasons: ArrayRef,
}

impl Names {
    fn batch(&self, rows: &[Row], zero_ns: u64) -> Result<RecordBatch, ArrowError> {
        let link = UInt16Array::from_iter_values(rows.iter().map(|row| row.link));
        let reason: UInt8Array = rows.iter().map(|row| row.reason).collect();
        let micros = |ns: u64| ns as f64 / 1e3;
        let in_link: Float64Array = (rows.iter())
            .map(|row| row.in_link_ns.map(micros))
            .collect();
        let marked: BooleanArray = rows.iter().map(|row| Some(row.is_marked)).collect();
        let time = rows
            .iter()
            .map(|row| micros(row.time_ns.saturating_sub(zero_ns)));
        batch(vec![
            (
                "time_us",
                Arc::new(Float64Array::from_iter_values(time)) as ArrayRef,
            ),
            (
                "link",
                Arc::new(DictionaryArray::<UInt16Type>::try_new(
                    link,
                    Arc::clone(&self.links),
                )?),
            ),
            (
                "event",
                dictionary(rows.iter().map(|row| row.event as u8).collect(), EVENTS)?,
            ),
            (
                "reason",
                Arc::new(DictionaryArray::<UInt8Type>::try_new(
                    reason,
                    Arc::clone(&self.reasons),
                )?),
            ),
            (
                "flow",
                Arc::new(UInt32Array::from_iter_values(
                    rows.iter().map(|row| row.flow),
                )),
            ),
            (
                "wire_bytes",
                Arc::new(UInt32Array::from_iter_values(
                    rows.iter().map(|row| row.wire_bytes),
                )),
            ),
            (
                "ecn",
                dictionary(rows.iter().map(|row| row.ecn as u8).collect(), ECN)?,
            ),
            ("marked", Arc::new(marked)),
            ("in_link_us", Arc::new(in_link)),
            (
                "backlog_pkts",
                Arc::new(UInt64Array::from_iter_values(
                    rows.iter().map(|row| row.backlog_pkts),
                )),
            ),
            (
                "backlog_bytes",
                Arc::new(UInt64Array::from_iter_values(
                    rows.iter().map(|row| row.backlog_bytes),
                )),
            ),
        ])
    }
}

/// The table `flows`.
fn flows(flows: &[Flow]) -> Result<RecordBatch, ArrowError> {
    let text = |of: &dyn Fn(&Flow) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(flows.iter().map(of)))
    };
    let port = |of: &dyn Fn(&Flow) -> u16| -> ArrayRef {
        Arc::new(
            flows
                .iter()
                .map(|flow| Some(of(flow)).filter(|&port| port > 0))
                .collect::<UInt16Array>(),
        )
    };
    let numbers = UInt32Array::from_iter_values(0..flows.len() as u32);
    batch(vec![
        ("flow", Arc::new(numbers) as ArrayRef),
        ("protocol", text(&|flow| protocol_name(flow.protocol))),
        ("source", text(&|flow| flow.source.0.to_string())),
        ("source_port", port(&|flow| flow.source.1)),
        ("destination", text(&|flow| flow.destination.0.to_string())),
        ("destination_port", port(&|flow| flow.destination.1)),
    ])
}

/// Name of an IP protocol: <https://www.iana.org/assignments/protocol-numbers>.
fn protocol_name(number: u8) -> String {
    match number {
        1 => "ICMP".to_owned(),
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        58 => "ICMPv6".to_owned(),
        number => number.to_string(),
    }
}
