//! Transfers: what applications began, and when it was complete.

use dumbbell_app::{Transfer, TransferKind};
use serde::{Deserialize, Serialize};

use crate::table::{Table, labelled, table};

/// The kinds, in the order of their codes.
const KINDS: [TransferKind; 5] = [
    TransferKind::Flow,
    TransferKind::Request,
    TransferKind::Page,
    TransferKind::Chunk,
    TransferKind::Burst,
];

/// Rows of the table `transfers`, in the order in which they ended; those without an end last.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Transfers {
    group: Vec<u32>,
    flow: Vec<u32>,
    connection: Vec<u32>,
    kind: Vec<u8>,
    size_bytes: Vec<u64>,
    start_us: Vec<i64>,
    end_us: Vec<Option<i64>>,
}

impl Transfers {
    /// Appends a transfer of flow number `flow` of the run, in a run that started at `start_ns` of its
    /// clock.
    pub fn push(&mut self, group: u32, flow: u32, start_ns: u64, transfer: &Transfer) {
        let since_start_us = |at_ns: u64| (at_ns.saturating_sub(start_ns) / 1000) as i64;
        let code = KINDS.iter().position(|&kind| kind == transfer.kind);
        self.group.push(group);
        self.flow.push(flow);
        self.connection.push(transfer.connection);
        self.kind.push(code.unwrap_or_default() as u8);
        self.size_bytes.push(transfer.bytes);
        self.start_us.push(since_start_us(transfer.start_ns));
        self.end_us.push(transfer.end_ns.map(since_start_us));
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }

    /// The table `transfers`.
    pub fn into_table(self) -> Table {
        table(
            "transfers".to_owned(),
            vec![
                ("group", self.group.into()),
                ("flow", self.flow.into()),
                ("connection", self.connection.into()),
                ("kind", labelled(self.kind, KINDS.map(TransferKind::name))),
                ("size_bytes", self.size_bytes.into()),
                ("start_us", self.start_us.into()),
                ("end_us", self.end_us.into()),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_that_did_not_end_has_no_end() {
        let mut transfers = Transfers::default();
        let ended = Transfer {
            kind: TransferKind::Chunk,
            connection: 3,
            bytes: 1_000,
            start_ns: 5_000_000,
            end_ns: Some(7_000_000),
        };
        transfers.push(0, 1, 1_000_000, &ended);
        let unfinished = Transfer {
            end_ns: None,
            ..ended
        };
        transfers.push(0, 1, 1_000_000, &unfinished);
        assert_eq!((transfers.len(), transfers.is_empty()), (2, false));
        let batch = transfers.into_table().batch;
        let end_us = [0, 1].map(|row| batch["end_us"].number(row));
        assert_eq!(end_us, [Some(6_000.0), None]);
        assert_eq!(batch["kind"].text(0), Some("chunk"));
    }
}
