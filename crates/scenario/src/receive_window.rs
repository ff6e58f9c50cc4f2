//! Receive windows that are not set, in both engines.
//!
//! A host tunes its window by what arrives: Linux offers about twice what the application got in the last round trip
//! (`tcp_rcv_space_adjust`). So a window has an end, and a flow whose oldest packet is lost over and over stops there, its queue drains,
//! and the retransmission arrives. Without an end it might go on for ever.

use crate::{Group, Scenario};

/// A receive window or send buffer of this size or more (a group's default) is not set. It is also the largest window that TCP can
/// advertise (RFC 7323 §2.3).
pub const UNLIMITED_BYTES: u64 = 1 << 30;

/// The window of a group that has none of its own, as a multiple of what its path holds. Once is enough to keep the path full; a
/// recovery whose retransmissions are lost again adds what is sent in every round trip until then.
const PATHS: u64 = 4;

/// A smaller limit would affect the first round trips.
const SMALLEST_BYTES: u64 = 1 << 20;

impl Scenario {
    /// The receive window of a group's hosts that would not limit its flows, bytes: four times what its path and the queues on it
    /// hold.
    pub fn ample_window_bytes(&self, group: &Group) -> u64 {
        let held_bytes = self.path_bytes(group).saturating_mul(PATHS);
        held_bytes.max(SMALLEST_BYTES)
    }

    /// The scenario, with that window in groups that have none of their own.
    #[must_use]
    pub fn with_ample_windows(self) -> Self {
        self.with_windows_reduced(UNLIMITED_BYTES)
    }

    /// The scenario, with no receive window of `from_bytes` or more that is larger than that.
    #[must_use]
    pub fn with_windows_reduced(mut self, from_bytes: u64) -> Self {
        let ample_bytes: Vec<u64> = (self.groups.iter())
            .map(|group| self.ample_window_bytes(group))
            .collect();
        for (group, ample_bytes) in self.groups.iter_mut().zip(ample_bytes) {
            // Programs have windows of their own.
            if group.program.is_none() && group.rwnd_bytes >= from_bytes {
                group.rwnd_bytes = group.rwnd_bytes.min(ample_bytes);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_net::impair::{ImpairmentConfig, jitter};

    use crate::{Group, Limit, Link, Queue, RateStep};

    use super::*;

    const MS: u64 = 1_000_000;

    /// 50 Mbit/s, one group of 40 ms.
    fn scenario(rwnd_bytes: u64, limit_bytes: u64) -> Scenario {
        Scenario {
            seed: 1,
            duration_ns: 100 * MS,
            sample_interval_ns: 0,
            groups: vec![Group {
                cc: "reno".into(),
                base_rtt_ns: 40 * MS,
                rwnd_bytes,
                ..Group::default()
            }],
            ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(limit_bytes)))
        }
    }

    fn window_bytes(rwnd_bytes: u64, limit_bytes: u64) -> u64 {
        let scenario = scenario(rwnd_bytes, limit_bytes).with_ample_windows();
        scenario.groups[0].rwnd_bytes
    }

    #[test]
    fn a_window_that_is_not_set_is_four_times_the_path_and_a_mebibyte_at_least() {
        assert_eq!(window_bytes(1 << 30, 500_000), 4 * (250_000 + 500_000));
        assert_eq!(window_bytes(1 << 30, 10_000), 1 << 20);
        assert_eq!(window_bytes(1 << 40, u64::MAX), 1 << 40);
    }

    #[test]
    fn a_window_that_is_set_stays_where_windows_can_be_any() {
        assert_eq!(window_bytes(64_000, 500_000), 64_000);
        assert_eq!(window_bytes(8 << 20, 500_000), 8 << 20);
        let reduced = scenario(8 << 20, 500_000).with_windows_reduced(0);
        assert_eq!(reduced.groups[0].rwnd_bytes, 3_000_000);
    }

    #[test]
    fn each_group_has_the_window_of_its_own_path() {
        let mut lot = scenario(1 << 30, 500_000);
        let far = Group {
            base_rtt_ns: 200 * MS,
            ..lot.groups[0].clone()
        };
        lot.groups.push(far);
        lot = lot.with_ample_windows();
        assert_eq!(lot.groups[0].rwnd_bytes, 4 * (250_000 + 500_000));
        assert_eq!(lot.groups[1].rwnd_bytes, 4 * (1_250_000 + 500_000));
    }

    #[test]
    fn the_slowest_link_at_its_highest_rate_and_all_queues_count() {
        let mut lot = scenario(1 << 30, 500_000);
        let first = lot.links[0].clone();
        lot.links.push(Link {
            name: "second".into(),
            link_rate_bps: 20_000_000,
            rate_steps: vec![RateStep {
                at_ns: MS,
                link_rate_bps: 40_000_000,
            }],
            ..first.clone()
        });
        lot.groups[0].route = vec![first.name, "second".into()];
        let window_bytes = lot.with_ample_windows().groups[0].rwnd_bytes;
        assert_eq!(window_bytes, 4 * (200_000 + 2 * 500_000));
    }

    /// A bufferbloated uplink: each ACK that waits there is of a segment.
    #[test]
    fn acks_that_wait_on_the_way_back_are_segments() {
        let mut lot = scenario(1 << 30, 500_000);
        let first = lot.links[0].clone();
        lot.links.push(Link {
            name: "up".into(),
            queue: Queue::drop_tail(Limit::Bytes(54 * 1000)),
            ..first.clone()
        });
        lot.groups[0].route = vec![first.name];
        lot.groups[0].back = vec!["up".into()];
        let window_bytes = lot.with_ample_windows().groups[0].rwnd_bytes;
        assert_eq!(window_bytes, 4 * (250_000 + 500_000 + 1000 * 1514));
    }

    #[test]
    fn what_an_impairment_adds_to_the_rtt_counts() {
        let mut late = scenario(1 << 30, 500_000);
        late.links[0].impairments = vec![ImpairmentConfig::from(jitter::Config {
            delay_ns: 200 * MS,
            uniform_ns: Some(10 * MS),
            ..jitter::Config::default()
        })];
        let window_bytes = late.with_ample_windows().groups[0].rwnd_bytes;
        assert_eq!(window_bytes, 4 * (250_000 + 500_000 + 210 * 6_250));
    }
}
