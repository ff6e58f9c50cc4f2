//! The log as tables.

use std::collections::HashMap;

use dumbbell_table::{Batch, Column};
use foldhash::fast::RandomState;

use super::header::Flow;
use super::{Link, PacketLog, PacketLogTotals, Row};
use crate::tables::labelled;

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

    pub(super) fn finish(self, links: &[Link], mut totals: PacketLogTotals) -> PacketLog {
        totals.dropped_rows = self.dropped_rows;
        let zero_ns = totals.first_ns.unwrap_or(0);
        let names = Names {
            links: Column::texts(links.iter().map(|link| &link.name)),
            reasons: Column::texts(&self.reasons),
        };
        // One without rows has the columns too.
        let chunks = self
            .rows
            .chunks(BATCH_ROWS)
            .chain(self.rows.is_empty().then_some(&[][..]));
        PacketLog {
            packets: chunks.map(|rows| names.batch(rows, zero_ns)).collect(),
            flows: flows(&self.flows),
            totals,
        }
    }
}

/// The values of columns that repeat.
struct Names {
    links: Column,
    reasons: Column,
}

impl Names {
    fn batch(&self, rows: &[Row], zero_ns: u64) -> Batch {
        let rows = rows.iter();
        let micros = |ns: u64| ns as f64 / 1e3;
        let time_us = |row: &Row| micros(row.time_ns.saturating_sub(zero_ns));
        let link: Column = rows.clone().map(|row| row.link).collect();
        let reason: Column = rows.clone().map(|row| row.reason).collect();
        let event = rows.clone().map(|row| row.event as u8).collect();
        let ecn = rows.clone().map(|row| row.ecn as u8).collect();
        let in_link_us = |row: &Row| row.in_link_ns.map(micros);
        Batch::part(vec![
            ("time_us", rows.clone().map(time_us).collect()),
            ("link", Column::labelled(link, &self.links)),
            ("event", labelled(event, EVENTS)),
            ("reason", Column::labelled(reason, &self.reasons)),
            ("flow", rows.clone().map(|row| row.flow).collect()),
            (
                "wire_bytes",
                rows.clone().map(|row| row.wire_bytes).collect(),
            ),
            ("ecn", labelled(ecn, ECN)),
            ("marked", rows.clone().map(|row| row.is_marked).collect()),
            ("in_link_us", rows.clone().map(in_link_us).collect()),
            (
                "backlog_pkts",
                rows.clone().map(|row| row.backlog_pkts).collect(),
            ),
            ("backlog_bytes", rows.map(|row| row.backlog_bytes).collect()),
        ])
    }
}

/// The table `flows`.
fn flows(flows: &[Flow]) -> Batch {
    let text = |of: &dyn Fn(&Flow) -> String| Column::texts(flows.iter().map(of));
    let port = |of: &dyn Fn(&Flow) -> u16| -> Column {
        let ports = flows.iter().map(of);
        ports
            .map(|port| Some(port).filter(|&port| port > 0))
            .collect()
    };
    Batch::part(vec![
        ("flow", (0..flows.len() as u32).collect()),
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
