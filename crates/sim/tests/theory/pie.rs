//! PIE (RFC 8033), FQ-PIE and adaptive RED against what their authors say of them.

use dumbbell_net::queue::{fq_pie, pie, red};
use dumbbell_sim::{LinkSummary, Queue};

use crate::common::{assert_within, bulk, dumbbell, simulate};

/// A minute of CUBIC flows at 40 ms over a queue.
fn over(queue: Queue, link_rate_bps: u64, flows: u32) -> LinkSummary {
    let mut scenario = dumbbell(link_rate_bps, 0.0, 60, vec![bulk("cubic", flows, 40)]);
    scenario.sample_interval_ns = 0;
    scenario.links[0].queue = queue;
    simulate(&scenario).summary.bottleneck
}

/// RFC 8033 §4: the delay is held at the target, 15 ms, at every rate and the number of flows;
/// RFC 9332 §1.1 says 5 to 15 ms in the mean of such queues, and 20 to 30 ms in the 99th percentile.
#[test]
fn the_mean_delay_of_long_flows_is_the_target() {
    for (rate_mbps, flows) in [(20, 4), (50, 5), (100, 20)] {
        for queue in [
            pie::Config::default().into(),
            pie::Config {
                dq_rate_estimator: true, // §5.2
                ..pie::Config::default()
            }
            .into(),
            fq_pie::Config::default().into(),
        ] {
            let link = over(queue, rate_mbps * 1_000_000, flows);
            let mean_ms = link.queue_delay_mean_us / 1e3;
            println!(
                "{flows} flows at {rate_mbps} Mbit/s: mean {mean_ms:.1} ms, used {:.3}",
                link.utilization
            );
            assert_within("the mean delay, ms", mean_ms, 9.0..=21.0);
            assert_within("the link's use", link.utilization, 0.95..=1.0);
        }
    }
}

/// Floyd, Gummadi and Shenker 2001: from 5 to 100 flows the average queue of adaptive RED stays
/// between 0.4 and 0.6 of the way from `min` to `max`, and that of RED with the same parameters
/// follows the number of flows.
#[test]
fn adaptive_red_holds_the_queue_where_red_lets_it_follow_the_flows() {
    // `min` is 40 kB and `max` 120 kB.
    let mean_bytes = |adaptive, flows| {
        let config = red::Config {
            limit_bytes: 480_000,
            adaptive,
            ..red::Config::default()
        };
        over(config.into(), 50_000_000, flows).backlog_mean_bytes
    };
    let spread = |adaptive| {
        let means = [5, 25, 100].map(|flows| mean_bytes(adaptive, flows));
        println!("adaptive {adaptive}: {means:.0?} bytes with 5, 25 and 100 flows");
        means[2] - means[0]
    };
    let (fixed, adaptive) = (spread(false), spread(true));
    assert_within(
        "the mean queue of 100 flows, bytes",
        mean_bytes(true, 100),
        72e3..=88e3,
    );
    assert!(
        adaptive < 0.6 * fixed,
        "{adaptive} and not much less than {fixed}"
    );
}
