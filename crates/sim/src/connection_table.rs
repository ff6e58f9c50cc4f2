//! Connections that applications opened, by the number that their packets carry.
//!
//! Flows without an application have the numbers below the first of these. No number is used twice,
//! so that queues that schedule by flow do not take a connection for an earlier one. The slot that a
//! connection lies in is used again: when both its directions are closed and the last of its packets
//! has left the network, delivered or dropped, which takes the place of TIME-WAIT. So nothing that
//! arrives is without a connection, and memory follows the connections that are open, but for 12 bytes
//! each of those that came after the oldest of them.

use std::collections::VecDeque;

/// Who sends datagrams, which belong to no connection.
const NO_SLOT: u32 = u32::MAX;

/// What is known of a number.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where the connection lies.
    slot: u32,
    /// The flow whose counts its packets go to.
    account: u32,
    /// Packets in the network, and in the highest bit whether the connection is closed.
    packets: u32,
}

const CLOSED: u32 = 1 << 31;

/// The numbers in use.
#[derive(Debug)]
pub(crate) struct ConnectionTable {
    /// Number of the first entry.
    first: u32,
    entries: VecDeque<Entry>,
    /// Slots of closed connections whose last packet was dropped.
    emptied: Vec<u32>,
}

impl ConnectionTable {
    /// No connection yet; the first will have number `first`.
    pub(crate) fn new(first: u32) -> Self {
        Self {
            first,
            entries: VecDeque::new(),
            emptied: Vec::new(),
        }
    }

    /// The number of a connection that is opened in `slot`; its packets count for `account`.
    pub(crate) fn open(&mut self, slot: u32, account: u32) -> u32 {
        let number = self.first + self.entries.len() as u32;
        self.entries.push_back(Entry {
            slot,
            account,
            packets: 0,
        });
        number
    }

    /// A number for the datagrams of `account`.
    pub(crate) fn open_without_slot(&mut self, account: u32) -> u32 {
        self.open(NO_SLOT, account)
    }

    /// Both directions of the connection are closed. Returns whether nothing of it is in the network.
    pub(crate) fn close(&mut self, number: u32) -> bool {
        let entry = self.entry_mut(number);
        entry.packets |= CLOSED;
        entry.packets == CLOSED
    }

    /// The connection's slot is used again.
    pub(crate) fn release(&mut self, number: u32) {
        self.entry_mut(number).slot = NO_SLOT;
        while let Some(entry) = self.entries.front()
            && entry.slot == NO_SLOT
            && entry.packets == CLOSED
        {
            self.entries.pop_front();
            self.first += 1;
        }
    }

    /// The flow whose counts a packet goes to.
    #[inline]
    pub(crate) fn account(&self, number: u32) -> u32 {
        self.entries[(number - self.first) as usize].account
    }

    /// A packet enters the network.
    #[inline]
    pub(crate) fn enter(&mut self, number: u32) {
        self.entry_mut(number).packets += 1;
    }

    /// A packet is delivered. Returns its connection's slot.
    #[inline]
    pub(crate) fn leave(&mut self, number: u32) -> usize {
        let entry = self.entry_mut(number);
        entry.packets -= 1;
        entry.slot as usize
    }

    /// A packet is dropped.
    pub(crate) fn drop_packet(&mut self, number: u32) {
        let entry = self.entry_mut(number);
        entry.packets -= 1;
        if entry.packets == CLOSED {
            let slot = entry.slot;
            self.emptied.push(slot);
        }
    }

    /// A slot whose connection's last packet was dropped after it had closed.
    pub(crate) fn take_emptied(&mut self) -> Option<usize> {
        self.emptied.pop().map(|slot| slot as usize)
    }

    #[inline]
    fn entry_mut(&mut self, number: u32) -> &mut Entry {
        &mut self.entries[(number - self.first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_free_when_the_connection_is_closed_and_its_last_packet_gone() {
        let mut table = ConnectionTable::new(10);
        assert_eq!([table.open(0, 3), table.open(1, 4)], [10, 11]);
        assert_eq!([table.account(10), table.account(11)], [3, 4]);
        for number in [10, 10, 11] {
            table.enter(number);
        }
        assert_eq!(table.leave(10), 0);
        assert!(!table.close(10), "a packet is on its way");
        table.drop_packet(10);
        assert_eq!(table.take_emptied(), Some(0));
        table.release(10);
        table.drop_packet(11);
        assert_eq!(table.take_emptied(), None, "it is open");
        assert!(table.close(11));
        table.release(11);
        assert_eq!(table.open(0, 3), 12, "no number is used twice");
    }
}
