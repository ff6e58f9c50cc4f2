//! Packets of one capture that the other has not shown yet.

use std::collections::{HashMap, VecDeque};

use ahash::RandomState;

use crate::connection::Ends;
use crate::packet::TcpPacket;

/// What makes two records the same packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PacketKey {
    ends: Ends,
    direction: u8,
    flags: u16,
    seq: u32,
    ack: u32,
    payload_bytes: u32,
    tsval: Option<u32>,
    ip_id: Option<u16>,
}

impl PacketKey {
    pub(super) fn of(packet: &TcpPacket, ends: Ends, direction: usize) -> Self {
        Self {
            ends,
            direction: direction as u8,
            flags: packet.flags.0,
            seq: packet.seq,
            ack: packet.ack,
            payload_bytes: packet.payload_bytes,
            tsval: packet.timestamps.map(|(tsval, _)| tsval),
            ip_id: packet.ip_id,
        }
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) key: PacketKey,
    pub(super) time_ns: u64,
    /// Its place in the order of its direction at its point.
    pub(super) place: u64,
    pub(super) is_marked_dropped: bool,
    /// Sequence number relative to the first of its direction.
    pub(super) seq: i64,
    /// Of its direction.
    pub(super) flow: usize,
}

/// Packets that wait, by key and by age. Equal ones leave in the order they came.
#[derive(Debug, Default)]
pub(super) struct WaitingRoom {
    by_key: HashMap<PacketKey, VecDeque<u64>, RandomState>,
    by_age: VecDeque<Option<Waiting>>,
    /// Number of the first in `by_age`.
    first: u64,
    count: usize,
}

impl WaitingRoom {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn add(&mut self, waiting: Waiting) {
        let number = self.first + self.by_age.len() as u64;
        self.by_key
            .entry(waiting.key)
            .or_default()
            .push_back(number);
        self.by_age.push_back(Some(waiting));
        self.count += 1;
    }

    /// The oldest with that key.
    pub(super) fn take(&mut self, key: &PacketKey) -> Option<Waiting> {
        let numbers = self.by_key.get_mut(key)?;
        let number = numbers.pop_front()?;
        if numbers.is_empty() {
            self.by_key.remove(key);
        }
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let taken = self.by_age.get_mut(place)?.take();
        self.count -= 1;
        self.drop_taken();
        taken
    }

    /// The oldest of all, if it was captured before `time_ns`.
    pub(super) fn take_older_than(&mut self, time_ns: u64) -> Option<Waiting> {
        let oldest = (*self.by_age.front()?)?;
        if oldest.time_ns >= time_ns {
            return None;
        }
        self.take(&oldest.key)
    }

    /// So that the front is one that waits.
    fn drop_taken(&mut self) {
        while let Some(None) = self.by_age.front() {
            self.by_age.pop_front();
            self.first += 1;
        }
    }
}
