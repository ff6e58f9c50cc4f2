//! Transfers on one connection that each end at a byte of its stream.

use std::collections::VecDeque;

use crate::{Transfer, TransferKind};

/// Transfers under way on a connection, in order.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    kind: TransferKind,
    connection: u32,
    /// With the byte of the connection that ends each.
    transfers: VecDeque<(u64, u64, u64)>,
}

impl Pending {
    pub(super) fn new(kind: TransferKind, connection: u32) -> Self {
        Self {
            kind,
            connection,
            transfers: VecDeque::new(),
        }
    }

    /// Adds a transfer of `bytes` since `start_ns` that is complete with byte `end_byte`.
    pub(super) fn push(&mut self, end_byte: u64, bytes: u64, start_ns: u64) {
        self.transfers.push_back((end_byte, bytes, start_ns));
    }

    /// `bytes` of the connection are there at `now_ns`; appends the transfers that are complete.
    pub(super) fn complete(&mut self, now_ns: u64, bytes: u64, ended: &mut Vec<Transfer>) {
        while self
            .transfers
            .front()
            .is_some_and(|&(end_byte, ..)| end_byte <= bytes)
        {
            let transfer = self.transfers.pop_front();
            ended.extend(transfer.map(|transfer| self.row(transfer, Some(now_ns))));
        }
    }

    /// Those that are not complete.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = Transfer> {
        self.transfers
            .iter()
            .map(|&transfer| self.row(transfer, None))
    }

    /// Those that will never be complete: the connection failed.
    pub(super) fn take(&mut self) -> Vec<Transfer> {
        let failed = self.unfinished().collect();
        self.transfers.clear();
        failed
    }

    fn row(&self, (_, bytes, start_ns): (u64, u64, u64), end_ns: Option<u64>) -> Transfer {
        Transfer {
            kind: self.kind,
            connection: self.connection,
            bytes,
            start_ns,
            end_ns,
        }
    }
}
