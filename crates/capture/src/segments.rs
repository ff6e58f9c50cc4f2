//! The table `segments`: every packet of chosen connections, for time-sequence plots.

use dumbbell_table::Batch;

use crate::analysis::flight::SentOutcome;
use crate::connection::View;
use crate::network::NetworkId;
use crate::packet::{TcpFlags, TcpPacket};
use crate::points::Points;
use crate::tables::{labelled, point_column};

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 16;
/// Kinds of rows.
const KINDS: [&str; 5] = ["data", "retransmission", "out_of_order", "ack", "sack"];
const DATA: u8 = 0;
const RETRANSMISSION: u8 = 1;
const OUT_OF_ORDER: u8 = 2;
const ACK: u8 = 3;
const SACK: u8 = 4;

/// Rows of packets, as columns.
#[derive(Debug, Default)]
struct Rows {
    connection: Vec<u64>,
    place: Vec<(u32, NetworkId)>,
    /// Direction of the packet; the initiator is known only at the end.
    is_initiator: Vec<bool>,
    time_us: Vec<f64>,
    seq: Vec<i64>,
    bytes: Vec<u32>,
    kind: Vec<u8>,
    ack: Vec<Option<i64>>,
    window_bytes: Vec<Option<u64>>,
}

/// Rows in batches.
#[derive(Debug)]
pub(crate) struct SegmentRows {
    full: Vec<Rows>,
    rows: Rows,
    left: usize,
    dropped_rows: u64,
}

impl SegmentRows {
    pub(crate) fn new(max_rows: usize) -> Self {
        Self {
            full: Vec::new(),
            rows: Rows::default(),
            left: max_rows,
            dropped_rows: 0,
        }
    }

    pub(crate) fn dropped_rows(&self) -> u64 {
        self.dropped_rows
    }

    /// A packet: a row for its payload, or for its ACK if it has none; and one for each SACK block.
    pub(crate) fn push(
        &mut self,
        view: &View,
        packet: &TcpPacket,
        direction: usize,
        since_ns: u64,
        sent: &SentOutcome,
    ) {
        let has_ack = packet.flags.has(TcpFlags::ACK);
        let kind = if packet.payload_bytes == 0 {
            if !has_ack {
                return;
            }
            ACK
        } else if sent.retransmission.is_some() {
            RETRANSMISSION
        } else if sent.is_out_of_order {
            OUT_OF_ORDER
        } else {
            DATA
        };
        let this = view.directions[direction].as_ref();
        let row = Row {
            connection: view.connection,
            place: view.key.place(),
            is_initiator: view.initiator() == direction,
            time_us: since_ns as f64 / 1e3,
            ack: has_ack.then(|| relative(view, 1 - direction, packet.ack)),
            window_bytes: this.and_then(|this| this.window.last_bytes),
        };
        self.push_row(
            &row,
            relative(view, direction, packet.seq),
            packet.payload_bytes,
            kind,
        );
        for &(start, end) in packet.sack.as_slice() {
            let seq = relative(view, 1 - direction, start);
            self.push_row(&row, seq, end.wrapping_sub(start), SACK);
        }
    }

    fn push_row(&mut self, row: &Row, seq: i64, bytes: u32, kind: u8) {
        if self.left == 0 {
            self.dropped_rows += 1;
            return;
        }
        self.left -= 1;
        let rows = &mut self.rows;
        rows.connection.push(row.connection);
        rows.place.push(row.place);
        rows.is_initiator.push(row.is_initiator);
        rows.time_us.push(row.time_us);
        rows.seq.push(seq);
        rows.bytes.push(bytes);
        rows.kind.push(kind);
        rows.ack.push(row.ack);
        rows.window_bytes.push(row.window_bytes);
        if rows.kind.len() >= BATCH_ROWS {
            self.full.push(std::mem::take(rows));
        }
    }

    /// The table, in batches.
    pub(crate) fn finish(mut self, points: &Points) -> Vec<Batch> {
        if !self.rows.kind.is_empty() || self.full.is_empty() {
            self.full.push(self.rows);
        }
        self.full
            .into_iter()
            .map(|rows| rows.into_batch(points))
            .collect()
    }
}

/// Columns shared by the rows of one packet.
struct Row {
    connection: u64,
    place: (u32, NetworkId),
    is_initiator: bool,
    time_us: f64,
    ack: Option<i64>,
    window_bytes: Option<u64>,
}

impl Rows {
    fn into_batch(self, points: &Points) -> Batch {
        Batch::part(vec![
            ("connection", self.connection.into()),
            ("point", point_column(self.place.into_iter(), points)),
            ("is_initiator", self.is_initiator.into()),
            ("time_us", self.time_us.into()),
            ("seq", self.seq.into()),
            ("bytes", self.bytes.into()),
            ("kind", labelled(self.kind, KINDS)),
            ("ack", self.ack.into()),
            ("window_bytes", self.window_bytes.into()),
        ])
    }
}

/// A sequence number relative to the SYN's; without a SYN, to one before the first seen.
fn relative(view: &View, direction: usize, seq: u32) -> i64 {
    let Some(this) = &view.directions[direction] else {
        return i64::from(seq);
    };
    if let Some(flight) = &this.flight {
        return flight.relative(seq);
    }
    let first = this
        .syn
        .map_or(this.first_seq.wrapping_sub(1), |syn| syn.seq);
    i64::from(seq.wrapping_sub(first).cast_signed())
}
