//! What a receiver counts.

/// What arrived, in packets and payload bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverCounters {
    /// Data packets, duplicates included.
    pub arrived_pkts: u64,
    /// Data packets marked CE.
    pub ce_pkts: u64,
    /// Data packets that had arrived before.
    pub duplicate_pkts: u64,
    /// Data packets above a hole that were dropped because enough were held.
    pub ooo_dropped_pkts: u64,
    /// Payload delivered to the application in order, bytes.
    pub received_bytes: u64,
}

impl ReceiverCounters {
    /// Adds another connection's.
    pub fn add(&mut self, other: &Self) {
        self.arrived_pkts += other.arrived_pkts;
        self.ce_pkts += other.ce_pkts;
        self.duplicate_pkts += other.duplicate_pkts;
        self.ooo_dropped_pkts += other.ooo_dropped_pkts;
        self.received_bytes += other.received_bytes;
    }
}
