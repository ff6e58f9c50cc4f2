//! All views of an analysis, found by packet; limited by memory.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::connection::View;
use crate::ends::{Ends, ViewKey};
use crate::network::NetworkId;
use crate::packet::{TcpFlags, TcpPacket};

/// How many are checked for one without payload before one with payload is given up.
const CHANCES: usize = 8;

/// A connection between two ends, the latest of possibly several.
#[derive(Clone, Copy, Debug)]
struct Instance {
    number: u64,
    /// Where it was seen first.
    interface: u32,
    network: NetworkId,
    /// Sequence number of the initiator's SYN, if seen.
    syn_seq: Option<u32>,
    /// Views of it that are held.
    views: u32,
}

/// What was given up for lack of room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Number of views that are in no table.
    pub views: u64,
    /// Number of their packets.
    pub pkts: u64,
    /// Payload of their packets.
    pub payload_bytes: u64,
}

/// Views by their identifying fields.
#[derive(Debug)]
pub(crate) struct Views {
    slots: Vec<Option<View>>,
    free: Vec<usize>,
    /// Views that may still get packets.
    by_key: HashMap<ViewKey, usize, RandomState>,
    instances: HashMap<Ends, Instance, RandomState>,
    next_number: u64,
    max_views: usize,
    /// In the order of their start, for eviction.
    by_age: VecDeque<usize>,
    last: usize,
    pub(crate) evicted: Evicted,
    /// Segments held by all.
    pub(crate) held_segments: isize,
    /// Memory held by all, without segments.
    held_bytes: usize,
    max_bytes: usize,
}

impl Views {
    pub(crate) fn new(max_views: usize, max_bytes: usize) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_key: HashMap::default(),
            instances: HashMap::default(),
            next_number: 0,
            max_views: max_views.max(1),
            by_age: VecDeque::new(),
            last: 0,
            evicted: Evicted::default(),
            held_segments: 0,
            held_bytes: 0,
            max_bytes,
        }
    }

    /// Number of connections so far.
    pub(crate) fn connections(&self) -> u64 {
        self.next_number
    }

    /// The view that a packet belongs to, its direction there, and whether the view is new.
    #[inline]
    pub(crate) fn of(&mut self, packet: &TcpPacket) -> (&mut View, usize, bool) {
        let (ends, direction) = Ends::of(packet);
        let key = ViewKey {
            ends,
            interface: packet.interface,
            network: packet.network,
        };
        let is_last = |view: &View| view.key == key;
        let mut index = match self.slots.get(self.last) {
            Some(Some(view)) if is_last(view) => Some(self.last),
            _ => match self.by_key.get(&key) {
                Some(&index) => Some(index),
                None => self.one_way_in_other_network(key, packet, direction),
            },
        };
        if let Some(open) = index
            && packet.flags.has(TcpFlags::SYN)
            && let Some(view) = self.slots.get_mut(open).and_then(Option::as_mut)
            && view.is_reopened_by(packet, direction)
        {
            self.held_segments -= view.held_segments().cast_signed();
            view.close();
            index = None;
        }
        let is_new = index.is_none();
        let index = index.unwrap_or_else(|| self.insert(key, packet, direction));
        self.last = index;
        let view = self.slots[index].get_or_insert_with(|| View::new(key, 0, packet, direction));
        (view, direction, is_new)
    }

    /// The latest view of the same ends at the same interface in another virtual network, if the packet is of the
    /// direction that it lacks; the direction is then found by its own network.
    #[cold]
    fn one_way_in_other_network(
        &mut self,
        key: ViewKey,
        packet: &TcpPacket,
        direction: usize,
    ) -> Option<usize> {
        let index = *self.by_key.get(&key.in_any_network())?;
        let view = self.slots.get_mut(index).and_then(Option::as_mut)?;
        if !view.is_answered_by(packet, direction) {
            return None;
        }
        view.other_network = Some(key.network);
        self.by_key.insert(key, index);
        Some(index)
    }

    fn insert(&mut self, key: ViewKey, packet: &TcpPacket, direction: usize) -> usize {
        if self.by_age.len() >= self.max_views {
            self.evict();
        }
        let number = self.number(key, packet);
        let view = View::new(key, number, packet, direction);
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[index] = Some(view);
        self.by_key.insert(key, index);
        let before = self.by_key.insert(key.in_any_network(), index);
        // The direction of an older connection that is in another network begins again too.
        let older = before.and_then(|before| self.slots.get(before)?.as_ref());
        if let Some(network) = older.and_then(|older| older.other_network) {
            self.by_key.remove(&ViewKey { network, ..key });
        }
        self.by_age.push_back(index);
        index
    }

    /// The number of a new view's connection: that of the same connection at another point, or
    /// the next one.
    fn number(&mut self, key: ViewKey, packet: &TcpPacket) -> u64 {
        let ends = key.ends;
        let is_first_syn = packet.flags.has(TcpFlags::SYN) && !packet.flags.has(TcpFlags::ACK);
        let syn_seq = is_first_syn.then_some(packet.seq);
        let same_file_has = self.instances.get_mut(&ends).filter(|instance| {
            let is_elsewhere =
                instance.interface != key.interface || instance.network == key.network;
            !packet.flags.has(TcpFlags::SYN) && is_elsewhere
                || match (instance.syn_seq, syn_seq) {
                    (Some(known), Some(seq)) => known == seq,
                    (Some(known), None) => packet.ack == known.wrapping_add(1),
                    (None, _) => false,
                }
        });
        if let Some(instance) = same_file_has {
            instance.views += 1;
            return instance.number;
        }
        let number = self.next_number;
        self.next_number += 1;
        let instance = Instance {
            number,
            interface: key.interface,
            network: key.network,
            syn_seq,
            views: 1,
        };
        self.instances.insert(ends, instance);
        number
    }

    /// Counts the memory of the view that got the last packet, and makes room if it is too much:
    /// first by wider bins in this view, then by giving up others.
    #[inline]
    pub(crate) fn count_bytes(&mut self) {
        let Some(view) = self.slots.get_mut(self.last).and_then(Option::as_mut) else {
            return;
        };
        let held_bytes = view.held_bytes();
        if held_bytes == view.counted_bytes {
            return;
        }
        self.held_bytes += held_bytes;
        self.held_bytes -= view.counted_bytes;
        view.counted_bytes = held_bytes;
        if self.held_bytes > self.max_bytes {
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        if let Some(view) = self.slots.get_mut(self.last).and_then(Option::as_mut) {
            view.coarsen_series();
            let held_bytes = view.held_bytes();
            self.held_bytes -= view.counted_bytes - held_bytes;
            view.counted_bytes = held_bytes;
        }
        while self.held_bytes > self.max_bytes && self.by_age.len() > 1 {
            self.evict();
        }
    }

    /// Gives up the oldest view without payload among the oldest few, else the oldest.
    fn evict(&mut self) {
        for _ in 0..CHANCES {
            let Some(&oldest) = self.by_age.front() else {
                return;
            };
            let view = self.slots.get(oldest).and_then(Option::as_ref);
            if !view.is_some_and(View::has_payload) {
                break;
            }
            self.by_age.rotate_left(1);
        }
        let Some(index) = self.by_age.pop_front() else {
            return;
        };
        let Some(view) = self.slots[index].take() else {
            return;
        };
        self.free.push(index);
        self.held_segments -= view.held_segments().cast_signed();
        self.held_bytes -= view.counted_bytes;
        let other_network = view.other_network.map(|network| ViewKey {
            network,
            ..view.key
        });
        let keys = [
            Some(view.key),
            Some(view.key.in_any_network()),
            other_network,
        ];
        for key in keys.into_iter().flatten() {
            if self.by_key.get(&key) == Some(&index) {
                self.by_key.remove(&key);
            }
        }
        if let Some(instance) = self.instances.get_mut(&view.key.ends)
            && instance.number == view.connection
        {
            instance.views -= 1;
            if instance.views == 0 {
                self.instances.remove(&view.key.ends);
            }
        }
        self.evicted.views += 1;
        for this in view.directions.iter().flatten() {
            self.evicted.pkts += this.counts.pkts;
            self.evicted.payload_bytes += this.counts.payload_bytes;
        }
    }

    /// All views held, by connection, then by the point that saw it first.
    pub(crate) fn into_sorted(self) -> Vec<View> {
        let mut views: Vec<View> = self.slots.into_iter().flatten().collect();
        views.sort_by_key(|view| (view.connection, view.key.interface));
        views
    }
}
