//! Packets of one capture that have not been found in the other yet.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::ends::Ends;
use crate::packet::TcpPacket;

/// The fields by which two records are the same packet.
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

    /// Without what a translation of addresses may change; some change timestamps too.
    pub(super) fn of_translated(packet: &TcpPacket) -> Self {
        Self {
            tsval: None,
            ..Self::of(packet, Ends::NONE, 0)
        }
    }
}

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) key: PacketKey,
    pub(super) time_ns: u64,
    /// Its place in the order of its direction at its point.
    pub(super) place: u64,
    pub(super) is_marked_dropped: bool,
    /// Sequence number relative to the first of its direction.
    pub(super) seq: i64,
    /// The flow of its direction.
    pub(super) flow: usize,
}

/// Waiting packets, by key and by age. Equal ones leave in the order in which they came. A packet
/// that has left takes no room, however long an older one waits.
#[derive(Debug, Default)]
pub(super) struct WaitingRoom {
    by_key: HashMap<PacketKey, VecDeque<u64>, RandomState>,
    /// Waiting packets by number, in the order in which they came.
    by_age: BTreeMap<u64, Waiting>,
    next_number: u64,
}

impl WaitingRoom {
    pub(super) fn count(&self) -> usize {
        self.by_age.len()
    }

    pub(super) fn add(&mut self, waiting: Waiting) {
        let number = self.next_number;
        self.next_number += 1;
        self.by_key
            .entry(waiting.key)
            .or_default()
            .push_back(number);
        self.by_age.insert(number, waiting);
    }

    /// The oldest with that key.
    pub(super) fn take(&mut self, key: &PacketKey) -> Option<Waiting> {
        let numbers = self.by_key.get_mut(key)?;
        let number = numbers.pop_front()?;
        if numbers.is_empty() {
            self.by_key.remove(key);
        }
        self.by_age.remove(&number)
    }

    /// The oldest of all, if it was captured before `time_ns`.
    pub(super) fn take_older_than(&mut self, time_ns: u64) -> Option<Waiting> {
        let (_, oldest) = self.by_age.first_key_value()?;
        if oldest.time_ns >= time_ns {
            return None;
        }
        let key = oldest.key;
        self.take(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(seq: u32) -> Waiting {
        let packet = TcpPacket {
            seq,
            ..TcpPacket::plain()
        };
        let (ends, direction) = Ends::of(&packet);
        Waiting {
            key: PacketKey::of(&packet, ends, direction),
            time_ns: 0,
            place: u64::from(seq),
            is_marked_dropped: false,
            seq: i64::from(seq),
            flow: 0,
        }
    }

    /// All at one time, so that the first never waits too long.
    #[test]
    fn what_was_matched_takes_no_room_behind_one_that_was_not() {
        let mut room = WaitingRoom::default();
        room.add(waiting(0));
        for seq in 1..10_000 {
            let packet = waiting(seq);
            room.add(packet);
            assert_eq!(room.take(&packet.key).map(|w| w.place), Some(packet.place));
        }
        assert_eq!(room.count(), 1);
        assert_eq!((room.by_age.len(), room.by_key.len()), (1, 1));
        let oldest = room.take_older_than(1).expect("the first waits still");
        assert_eq!(oldest.place, 0);
    }

    #[test]
    fn equal_ones_leave_in_the_order_they_came() {
        let mut room = WaitingRoom::default();
        for place in 0..3 {
            room.add(Waiting {
                place,
                ..waiting(7)
            });
        }
        let key = waiting(7).key;
        let places = [(); 3].map(|()| room.take(&key).map(|w| w.place));
        assert_eq!(places, [Some(0), Some(1), Some(2)]);
        assert!(room.take(&key).is_none() && room.count() == 0);
    }
}
