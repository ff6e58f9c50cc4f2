//! The tables of a matching.

use dumbbell_table::{Batch, Column};

use super::Flow;
use crate::tables::{floats, micros, uints};

/// Whether a network card cut or merged packets between the points: the largest differ, and on both
/// sides some had no partner. A large packet that was only dropped, or a side that saw no data, is
/// no evidence.
fn is_offload(flow: &Flow) -> bool {
    let [before_bytes, after_bytes] = flow.largest_bytes;
    let have_both_data = before_bytes > 0 && after_bytes > 0;
    let have_both_single = flow.dropped_pkts > 0 && flow.only_after_pkts > 0;
    before_bytes != after_bytes && have_both_data && have_both_single
}

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// The table `matches`.
pub(super) fn matches(flows: &[Flow]) -> Batch {
    let text = |of: &dyn Fn(&Flow) -> String| -> Column { Column::texts(flows.iter().map(of)) };
    let port = |of: &dyn Fn(&Flow) -> u16| -> Column { flows.iter().map(of).collect() };
    let is_initiator = flows.iter().map(|flow| flow.is_initiator).collect();
    let is_offload = flows.iter().map(is_offload).collect();
    // Above the smallest delay.
    let sojourn_ns = |flow: &Flow, ns: Option<f64>| Some(ns? - flow.delays.min_ns()?);
    Batch::part(vec![
        ("connection", uints(flows, |flow| flow.connection)),
        ("source", text(&|flow| flow.source.address.to_string())),
        ("source_port", port(&|flow| flow.source.port)),
        (
            "destination",
            text(&|flow| flow.destination.address.to_string()),
        ),
        ("destination_port", port(&|flow| flow.destination.port)),
        ("is_initiator", is_initiator),
        ("before_pkts", uints(flows, |flow| flow.places[0])),
        ("after_pkts", uints(flows, |flow| flow.places[1])),
        ("matched_pkts", uints(flows, |flow| flow.delays.count())),
        ("dropped_pkts", uints(flows, |flow| flow.dropped_pkts)),
        ("only_after_pkts", uints(flows, |flow| flow.only_after_pkts)),
        ("undecided_pkts", uints(flows, |flow| flow.undecided_pkts)),
        ("reordered_pkts", uints(flows, |flow| flow.reordered_pkts)),
        ("delay_min_us", micros(flows, |flow| flow.delays.min_ns())),
        ("delay_mean_us", micros(flows, |flow| flow.delays.mean_ns())),
        ("delay_p95_us", micros(flows, |flow| flow.delays.p95_ns())),
        ("delay_max_us", micros(flows, |flow| flow.delays.max_ns())),
        (
            "sojourn_mean_us",
            micros(flows, |flow| sojourn_ns(flow, flow.delays.mean_ns())),
        ),
        (
            "sojourn_p95_us",
            micros(flows, |flow| sojourn_ns(flow, flow.delays.p95_ns())),
        ),
        (
            "sojourn_max_us",
            micros(flows, |flow| sojourn_ns(flow, flow.delays.max_ns())),
        ),
        ("offload", is_offload),
        (
            "dropped_share",
            floats(flows, |flow| {
                let decided = flow.delays.count() + flow.dropped_pkts;
                (decided > 0).then(|| flow.dropped_pkts as f64 / decided as f64)
            }),
        ),
    ])
}

/// The table `packets`, row by row.
pub(super) struct PacketRows {
    full: Vec<Rows>,
    rows: Rows,
    left: usize,
    dropped_rows: u64,
}

#[derive(Default)]
struct Rows {
    time_us: Vec<f64>,
    connection: Vec<u64>,
    is_initiator: Vec<bool>,
    seq: Vec<i64>,
    delay_us: Vec<Option<f64>>,
}

impl PacketRows {
    pub(super) fn new(max_rows: usize) -> Self {
        Self {
            full: Vec::new(),
            rows: Rows::default(),
            left: max_rows,
            dropped_rows: 0,
        }
    }

    pub(super) fn dropped_rows(&self) -> u64 {
        self.dropped_rows
    }

    pub(super) fn push(&mut self, flow: &Flow, since_ns: u64, seq: i64, delay_ns: Option<i64>) {
        if self.left == 0 {
            self.dropped_rows += 1;
            return;
        }
        self.left -= 1;
        let rows = &mut self.rows;
        rows.time_us.push(since_ns as f64 / 1e3);
        rows.connection.push(flow.connection);
        rows.is_initiator.push(flow.is_initiator);
        rows.seq.push(seq);
        rows.delay_us.push(delay_ns.map(|ns| ns as f64 / 1e3));
        if rows.seq.len() >= BATCH_ROWS {
            self.full.push(std::mem::take(rows));
        }
    }

    pub(super) fn finish(mut self) -> Vec<Batch> {
        if !self.rows.seq.is_empty() || self.full.is_empty() {
            self.full.push(self.rows);
        }
        self.full.into_iter().map(Rows::into_batch).collect()
    }
}

impl Rows {
    fn into_batch(self) -> Batch {
        Batch::part(vec![
            ("time_us", self.time_us.into()),
            ("connection", self.connection.into()),
            ("is_initiator", self.is_initiator.into()),
            ("seq", self.seq.into()),
            ("delay_us", self.delay_us.into()),
        ])
    }
}
