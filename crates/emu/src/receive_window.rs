//! Receive windows that do not limit the congestion control, and that Linux reaches.

use dumbbell_net::DATA_HEADER_BYTES;
use dumbbell_scenario::Scenario;

/// The largest window, as a multiple of what the path holds. Once is enough to keep it full; a
/// recovery whose retransmissions are lost again adds what is sent in every round trip until then.
const PATHS: u64 = 4;

/// A smaller limit would affect the first round trips.
const SMALLEST_BYTES: u64 = 1 << 20;

/// The scenario, with no receive window larger than the path could ever fill. While its window
/// still grows, Linux acknowledges every packet at once (measured: 1.00 ACKs per packet with a
/// window of 1 GiB, for minutes), and its own tuning of the window would slow the start of a flow.
pub(crate) fn with_reachable_windows(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    let path_bytes = path_bytes(&scenario);
    let most_bytes = (PATHS * path_bytes).max(SMALLEST_BYTES);
    // Programs have windows of their own.
    for group in (scenario.groups.iter_mut()).filter(|group| group.program.is_none()) {
        group.rwnd_bytes = group.rwnd_bytes.min(most_bytes);
    }
    scenario
}

/// The largest amount on the path and in the queue, of all flows together.
fn path_bytes(scenario: &Scenario) -> u64 {
    let longest_ns = u128::from(scenario.longest_base_rtt_ns());
    let rates_bps = (scenario.links.iter()).map(|link| link.highest_rate_bps(scenario.duration_ns));
    let bdp_bytes = u128::from(rates_bps.max().unwrap_or(0)) * longest_ns / (8 * 1_000_000_000);
    let mss_bytes = scenario.groups.iter().map(|group| group.mss_bytes).max();
    let packet_bytes = u64::from(mss_bytes.unwrap_or(0) + DATA_HEADER_BYTES);
    let queues_bytes = (scenario.links.iter()).map(|link| link.queue.limit().bytes(packet_bytes));
    let queue_bytes = queues_bytes.fold(0, u64::saturating_add);
    // Four of these fit in 64 bits for any scenario.
    u64::try_from(bdp_bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(queue_bytes)
        .min(u64::MAX / PATHS)
}

#[cfg(test)]
mod tests {
    use dumbbell_scenario::{Group, Limit, Queue};

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

    #[test]
    fn a_window_without_limit_is_four_times_the_path() {
        let reachable = with_reachable_windows(&scenario(1 << 30, 500_000));
        assert_eq!(reachable.groups[0].rwnd_bytes, 4 * (250_000 + 500_000));
    }

    #[test]
    fn a_window_that_binds_stays() {
        let reachable = with_reachable_windows(&scenario(64_000, 500_000));
        assert_eq!(reachable.groups[0].rwnd_bytes, 64_000);
        let huge = with_reachable_windows(&scenario(1 << 40, u64::MAX));
        assert_eq!(huge.groups[0].rwnd_bytes, 1 << 40);
    }
}
