//! Receive windows that nothing was said about, in both engines.
//!
//! A host tunes its window by what arrives: Linux offers about twice what the application got in the last round trip
//! (`tcp_rcv_space_adjust`). So a window has an end, and a flow whose oldest packet is lost over and over stops there, its queue drains,
//! and the retransmission arrives. Without an end it might go on for ever.

use dumbbell_net::DATA_HEADER_BYTES;

use crate::Scenario;

/// A receive window or send buffer of this size or more (a group's default) is not a limit. It is also the largest window that TCP can
/// advertise (RFC 7323 §2.3).
pub const UNLIMITED_BYTES: u64 = 1 << 30;

/// A window that is no limit, as a multiple of what the path holds. Once is enough to keep the path full; a
/// recovery whose retransmissions are lost again adds what is sent in every round trip until then.
const PATHS: u64 = 4;

/// A smaller limit would affect the first round trips.
const SMALLEST_BYTES: u64 = 1 << 20;

impl Scenario {
    /// The receive window of a host that would not limit a flow, bytes: four times what the path and its queues hold.
    pub fn ample_window_bytes(&self) -> u64 {
        (PATHS * self.path_bytes()).max(SMALLEST_BYTES)
    }

    /// The scenario, with that window in groups that have no other.
    #[must_use]
    pub fn with_ample_windows(mut self) -> Self {
        let ample_bytes = self.ample_window_bytes();
        // Programs have windows of their own.
        for group in (self.groups.iter_mut()).filter(|group| group.program.is_none()) {
            if group.rwnd_bytes >= UNLIMITED_BYTES {
                group.rwnd_bytes = group.rwnd_bytes.min(ample_bytes);
            }
        }
        self
    }

    /// The largest amount on the path and in the queues, of all flows together.
    fn path_bytes(&self) -> u64 {
        let longest_ns = u128::from(self.longest_base_rtt_ns());
        let rates_bps = (self.links.iter()).map(|link| link.highest_rate_bps(self.duration_ns));
        let bdp_bytes = u128::from(rates_bps.max().unwrap_or(0)) * longest_ns / (8 * 1_000_000_000);
        let mss_bytes = self.groups.iter().map(|group| group.mss_bytes).max();
        let packet_bytes = u64::from(mss_bytes.unwrap_or(0) + DATA_HEADER_BYTES);
        let queues_bytes = (self.links.iter()).map(|link| link.queue.limit().bytes(packet_bytes));
        let queue_bytes = queues_bytes.fold(0, u64::saturating_add);
        // Four of these fit in 64 bits for any scenario.
        u64::try_from(bdp_bytes)
            .unwrap_or(u64::MAX)
            .saturating_add(queue_bytes)
            .min(u64::MAX / PATHS)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Group, Limit, Queue};

    use super::*;

    fn scenario(rwnd_bytes: u64, limit_bytes: u64) -> Scenario {
        Scenario {
            seed: 1,
            duration_ns: 1,
            sample_interval_ns: 0,
            groups: vec![Group {
                cc: "reno".into(),
                base_rtt_ns: 40_000_000,
                rwnd_bytes,
                ..Group::default()
            }],
            ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(limit_bytes)))
        }
    }

    fn window_bytes(rwnd_bytes: u64, limit_bytes: u64) -> u64 {
        scenario(rwnd_bytes, limit_bytes)
            .with_ample_windows()
            .groups[0]
            .rwnd_bytes
    }

    #[test]
    fn a_window_without_limit_is_four_times_the_path_and_a_mebibyte_at_least() {
        assert_eq!(window_bytes(1 << 30, 500_000), 4 * (250_000 + 500_000));
        assert_eq!(window_bytes(1 << 30, 10_000), 1 << 20);
        assert_eq!(window_bytes(1 << 40, u64::MAX), 1 << 40);
    }

    #[test]
    fn a_window_that_was_asked_for_stays() {
        assert_eq!(window_bytes(64_000, 500_000), 64_000);
        assert_eq!(window_bytes(8 << 20, 500_000), 8 << 20);
    }
}
