//! The connection IDs of an end, which a seed determines; compiled once for each version.

use std::time::Duration;

use super::proto::{ConnectionId, ConnectionIdGenerator};
use crate::random::word;

/// Bytes of a connection ID, as the stacks have by default.
const CONNECTION_ID_BYTES: usize = 8;

/// A connection ID that `seed`, a place and a number determine.
pub(super) fn connection_id(seed: u64, place: u64, number: u64) -> ConnectionId {
    ConnectionId::new(&word(seed, place, number).to_be_bytes())
}

/// Connection IDs of an end.
pub(super) struct ConnectionIds {
    seed: u64,
    place: u64,
    number: u64,
}

impl ConnectionIds {
    pub(super) fn new(seed: u64, place: u64) -> Self {
        Self {
            seed,
            place,
            number: 0,
        }
    }
}

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        self.number += 1;
        connection_id(self.seed, self.place, self.number)
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
