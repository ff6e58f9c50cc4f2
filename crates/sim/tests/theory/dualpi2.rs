//! DualPI2 against RFC 9332: flows of both kinds get about as much, and those of L4S hardly wait.
//!
//! DCTCP with ECT(0) stands for a scalable congestion control algorithm: `any_ect` takes it to the L4S queue.

use dumbbell_net::queue::dualpi2;

use crate::common::{assert_within, bulk, dumbbell, simulate};

/// RFC 9332 §C.2: r_L/r_C = (1.64/k)·(R_C/R_L) with k = 2, R_C the base RTT and the classic queue's 15 ms,
/// R_L the base RTT and half a millisecond. The square root of the PI controller's probability
/// makes it hold at every rate; Reno is what the formula is of.
#[test]
fn a_scalable_and_a_classic_flow_share_as_the_coupling_says() {
    for (rtt_ms, expected) in [(10, 1.95), (20, 1.40), (50, 1.06), (100, 0.94)] {
        let groups = vec![bulk("dctcp", 1, rtt_ms), bulk("reno", 1, rtt_ms)];
        let mut scenario = dumbbell(40_000_000, 0.0, 120, groups);
        scenario.sample_interval_ns = 0;
        scenario.links[0].queue = dualpi2::Config {
            any_ect: true,
            ..dualpi2::Config::default()
        }
        .into();
        let summary = simulate(&scenario).summary;
        let [scalable, classic] = [0, 1].map(|flow| &summary.flows[flow]);
        let ratio = scalable.goodput_bps / classic.goodput_bps;
        let wait_ms = scalable.rtt_p95_us as f64 / 1e3 - rtt_ms as f64;
        println!(
            "RTT {rtt_ms} ms: {:.1} and {:.1} Mbit/s, ratio {ratio:.2} of {expected}; the scalable flow's \
             p95 RTT is {wait_ms:.2} ms above the base",
            scalable.goodput_bps / 1e6,
            classic.goodput_bps / 1e6
        );
        assert_within("the ratio", ratio / expected, 0.6..=1.67);
        assert_within("the scalable flow's wait, ms", wait_ms, 0.0..=3.0);
    }
}
