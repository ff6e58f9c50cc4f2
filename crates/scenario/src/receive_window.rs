//! Receive windows that are not set, in both engines.
//!
//! A host tunes its window by what arrives: Linux offers about twice what the application got in the last round trip
//! (`tcp_rcv_space_adjust`). So a window has an end, and a flow whose oldest packet is lost over and over stops there, its queue drains,
//! and the retransmission arrives. Without an end it might go on for ever.

use crate::{Group, Scenario};

/// A receive window or send buffer of this size or more counts as not set; it is a group's default, and the largest window that TCP
/// can advertise (RFC 7323 §2.3).
pub const UNLIMITED_BYTES: u64 = 1 << 30;

/// The window of a group that has none of its own, as a multiple of what its path holds. Once is enough to keep the path full; a
/// recovery whose retransmissions are lost again adds what is sent in every round trip until then.
const PATHS: u64 = 4;

/// A smaller limit would affect the first round trips.
const SMALLEST_BYTES: u64 = 1 << 20;

impl Scenario {
    /// The receive window of a group's hosts that would not limit its flows, bytes: four times what its path and the queues on it
    /// hold, 1 MiB at least and 1 GiB at most.
    pub fn ample_window_bytes(&self, group: &Group) -> u64 {
        let held_bytes = self.path_bytes(group).saturating_mul(PATHS);
        held_bytes.clamp(SMALLEST_BYTES, UNLIMITED_BYTES)
    }

    /// The scenario, with that window in groups that have none of their own.
    #[must_use]
    pub fn with_ample_windows(self) -> Self {
        self.with_windows_reduced(UNLIMITED_BYTES)
    }

    /// The scenario, with receive windows of `from_bytes` or more reduced to [`Self::ample_window_bytes`].
    #[must_use]
    pub fn with_windows_reduced(mut self, from_bytes: u64) -> Self {
        let ample_bytes: Vec<u64> = (self.groups.iter())
            .map(|group| self.ample_window_bytes(group))
            .collect();
        for (group, ample_bytes) in self.groups.iter_mut().zip(ample_bytes) {
            // Programs have windows of their own.
            if group.program.is_none() && group.host.rwnd_bytes >= from_bytes {
                group.host.rwnd_bytes = group.host.rwnd_bytes.min(ample_bytes);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_net::impair::{ImpairmentConfig, jitter, reorder, route_change};

    use crate::{Group, Host, Limit, Link, Program, Queue, RateStep};

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
                host: Host {
                    rwnd_bytes,
                    ..Host::default()
                },
                ..Group::default()
            }],
            ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(limit_bytes)))
        }
    }

    fn window_bytes(rwnd_bytes: u64, limit_bytes: u64) -> u64 {
        let scenario = scenario(rwnd_bytes, limit_bytes).with_ample_windows();
        scenario.groups[0].host.rwnd_bytes
    }

    #[test]
    fn a_window_that_is_not_set_is_four_times_the_path_and_a_mebibyte_at_least() {
        assert_eq!(window_bytes(1 << 30, 500_000), 4 * (250_000 + 500_000));
        assert_eq!(window_bytes(1 << 30, 10_000), 1 << 20);
        assert_eq!(window_bytes(1 << 40, u64::MAX), 1 << 30);
    }

    #[test]
    fn a_window_that_is_set_stays_where_windows_can_be_any() {
        assert_eq!(window_bytes(64_000, 500_000), 64_000);
        assert_eq!(window_bytes(8 << 20, 500_000), 8 << 20);
        let reduced = scenario(8 << 20, 500_000).with_windows_reduced(0);
        assert_eq!(reduced.groups[0].host.rwnd_bytes, 3_000_000);
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
        assert_eq!(lot.groups[0].host.rwnd_bytes, 4 * (250_000 + 500_000));
        assert_eq!(lot.groups[1].host.rwnd_bytes, 4 * (1_250_000 + 500_000));
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
        let window_bytes = lot.with_ample_windows().groups[0].host.rwnd_bytes;
        assert_eq!(window_bytes, 4 * (200_000 + 2 * 500_000));
    }

    fn link(name: &str, link_rate_bps: u64, limit_bytes: u64) -> Link {
        Link {
            name: name.into(),
            link_rate_bps,
            queue: Queue::drop_tail(Limit::Bytes(limit_bytes)),
            ..scenario(0, 0).links[0].clone()
        }
    }

    /// The window of a group of 50 Mbit/s, 40 ms and 500 kB there, and this link back.
    fn window_with_back_bytes(back: Link) -> u64 {
        let mut lot = scenario(1 << 30, 500_000);
        lot.groups[0].route = vec![lot.links[0].name.clone()];
        lot.groups[0].back = vec![back.name.clone()];
        lot.links.push(back);
        lot.with_ample_windows().groups[0].host.rwnd_bytes
    }

    #[test]
    fn what_arrives_while_acks_wait_on_the_way_back_counts() {
        // 100 kB at 10 Mbit/s are 80 ms, in which 500 kB arrive.
        let up = window_with_back_bytes(link("up", 10_000_000, 100_000));
        assert_eq!(up, 4 * (250_000 + 500_000 + 500_000));
        // 0.8 s, but 1851 ACKs.
        let slow = window_with_back_bytes(link("up", 1_000_000, 100_000));
        assert_eq!(slow, 4 * (250_000 + 500_000 + 1851 * 1514));
        // A queue that data fill, of 16 MB.
        let both_ways = window_with_back_bytes(link("up", 50_000_000, 16_000_000));
        assert_eq!(both_ways, 4 * (250_000 + 500_000 + 16_000_000));
    }

    #[test]
    fn what_impairments_add_to_the_rtt_counts() {
        let jitter = jitter::Config {
            delay_ns: 200 * MS,
            uniform_ns: Some(10 * MS),
            ..jitter::Config::default()
        };
        let reorder = reorder::Config {
            early_ns: Some(30 * MS),
            ..reorder::Config::default()
        };
        let detour = route_change::Config {
            late_ns: 50 * MS,
            ..route_change::Config::default()
        };
        for (impairment, late_ms) in [
            (ImpairmentConfig::from(jitter), 210),
            (reorder.into(), 30),
            (detour.into(), 50),
        ] {
            let mut late = scenario(1 << 30, 500_000);
            late.links[0].impairments = vec![impairment.clone()];
            let window_bytes = late.with_ample_windows().groups[0].host.rwnd_bytes;
            assert_eq!(window_bytes, 4 * (250_000 + 500_000 + late_ms * 6_250));
            // On the way back, too.
            let mut up = link("up", 50_000_000, 0);
            up.impairments = vec![impairment];
            let window_bytes = window_with_back_bytes(up);
            assert_eq!(window_bytes, 4 * (250_000 + 500_000 + late_ms * 6_250));
        }
    }

    #[test]
    fn programs_keep_the_windows_of_their_own() {
        let mut own = scenario(1 << 30, 500_000);
        own.groups[0].program = Some(Program::default());
        assert_eq!(
            own.with_windows_reduced(0).groups[0].host.rwnd_bytes,
            1 << 30
        );
    }
}
