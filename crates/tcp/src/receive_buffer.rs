//! What a receive buffer leaves for the window, where out-of-order data are counted against it (Linux 4.15's
//! `__tcp_select_window`, with `tcp_adv_win_scale` = 1: half of the buffer is for payload).
//!
//! With one hole the buffer alone cannot limit a transfer. A window of W bytes has W/1448 packets, which take 2304/1448·W = 1.6·W
//! above a hole, and the buffer has 2·W; while the hole is open the window's right edge stands still anyway, and when it is filled
//! the application reads everything. With several holes it does: a partial ACK moves the right edge to W − 1152 bytes for each packet
//! that is still held, beyond the cumulative ACK, or not at all. With 8 MiB and 3000 packets held that is 3,400 packets, not 5,793.

use std::rc::Rc;

use crate::memory::{Share, TcpMemory, packet_memory_bytes};
use crate::receiver::Receiver;

/// The offered window under pressure, segments (`4U * tp->advmss`).
const PRESSED_SEGMENTS: u64 = 4;

#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    mss_bytes: u64,
    packet_bytes: u64,
    /// Half of the buffer, bytes.
    window_bytes: u64,
    /// What the window is limited to after pressure (`rcv_ssthresh`), bytes.
    limit_bytes: u64,
    /// Its right edge, bytes from the first on: it never shrinks.
    edge_bytes: u64,
    held_bytes: u64,
    share: Option<Share>,
}

impl ReceiveBuffer {
    pub(crate) fn new(mss_bytes: u32, rwnd_bytes: u32, share: Option<Share>) -> Self {
        Self {
            mss_bytes: u64::from(mss_bytes),
            packet_bytes: packet_memory_bytes(mss_bytes),
            window_bytes: u64::from(rwnd_bytes),
            limit_bytes: u64::from(rwnd_bytes),
            edge_bytes: 0,
            held_bytes: 0,
            share,
        }
    }

    /// A data segment arrived: the limit grows by two (`tcp_grow_window`), but not under pressure.
    pub(crate) fn on_data(&mut self) {
        if self.limit_bytes < self.window_bytes && !self.is_under_pressure() {
            self.limit_bytes = self.window_bytes.min(self.limit_bytes + 2 * self.mss_bytes);
        }
    }

    fn is_under_pressure(&self) -> bool {
        self.share.as_ref().is_some_and(Share::is_under_pressure)
    }

    /// The window to offer from `received_bytes` on while `held_pkts` are held above a hole, bytes.
    pub(crate) fn offer(&mut self, received_bytes: u64, held_pkts: u32) -> u32 {
        self.held_bytes = u64::from(held_pkts) * self.packet_bytes;
        if let Some(share) = &mut self.share {
            share.charge(self.held_bytes);
        }
        let mut free_bytes = self.window_bytes.saturating_sub(self.held_bytes / 2);
        if free_bytes < self.window_bytes / 2 {
            if self.is_under_pressure() {
                self.limit_bytes = self.limit_bytes.min(PRESSED_SEGMENTS * self.mss_bytes);
            }
            if free_bytes < (self.window_bytes / 16).max(self.mss_bytes) {
                free_bytes = 0;
            }
        }
        let offered_bytes = received_bytes + free_bytes.min(self.limit_bytes);
        self.edge_bytes = self.edge_bytes.max(offered_bytes);
        u32::try_from(self.edge_bytes - received_bytes).unwrap_or(u32::MAX)
    }
}

impl Receiver {
    /// Counts out-of-order data against the receive buffer, which is twice the window, and, if it is given, against `memory`.
    /// It must not be open yet.
    pub fn count_memory(&mut self, memory: Option<Rc<TcpMemory>>) {
        let (mss_bytes, rwnd_bytes) = (self.config.mss_bytes, self.config.rwnd_bytes);
        let buffer = ReceiveBuffer::new(mss_bytes, rwnd_bytes, memory.map(Share::new));
        self.buffer = Some(Box::new(buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS_BYTES: u32 = 1448;
    const WINDOW_BYTES: u32 = 8 << 20;

    fn in_segments(window_bytes: u32) -> u32 {
        window_bytes / MSS_BYTES
    }

    #[test]
    fn a_full_window_above_one_hole_fits_and_leaves_the_edge_where_it_was() {
        assert_eq!(packet_memory_bytes(MSS_BYTES), 2304);
        let mut buffer = ReceiveBuffer::new(MSS_BYTES, WINDOW_BYTES, None);
        assert_eq!(buffer.offer(0, 0), WINDOW_BYTES);
        assert_eq!(buffer.offer(0, in_segments(WINDOW_BYTES)), WINDOW_BYTES);
        assert!(buffer.held_bytes < 2 * u64::from(WINDOW_BYTES));
        assert_eq!(buffer.offer(u64::from(WINDOW_BYTES), 0), WINDOW_BYTES);
    }

    #[test]
    fn a_partial_ack_moves_the_edge_by_what_the_held_leave() {
        let mut buffer = ReceiveBuffer::new(MSS_BYTES, WINDOW_BYTES, None);
        buffer.offer(0, 0);
        let received_bytes = u64::from(2700 * MSS_BYTES);
        assert_eq!(in_segments(buffer.offer(received_bytes, 3000)), 3406);
    }

    #[test]
    fn under_pressure_a_receiver_that_holds_much_offers_four_segments_and_recovers_slowly() {
        let memory = TcpMemory::new(20 << 20);
        let mut other = Share::new(Rc::clone(&memory));
        other.charge(16 << 20);
        let share = Some(Share::new(Rc::clone(&memory)));
        let mut buffer = ReceiveBuffer::new(MSS_BYTES, WINDOW_BYTES, share);
        buffer.offer(0, 0);
        let received_bytes = u64::from(WINDOW_BYTES);
        let offered = buffer.offer(received_bytes, 3000);
        assert_eq!(in_segments(offered), 3406, "less than half is held");
        buffer.offer(received_bytes, 3700);
        assert_eq!(memory.pressure_count(), 1);
        buffer.on_data(); // 16 MiB are above 3/4 of 20 MiB: no growth
        assert_eq!(in_segments(buffer.offer(3 * received_bytes, 0)), 4);
        other.charge(15 << 20);
        buffer.on_data();
        assert_eq!(in_segments(buffer.offer(3 * received_bytes, 0)), 6);
    }
}
