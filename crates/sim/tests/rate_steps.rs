//! A link whose rate changes while a run goes on.

use crate::common::{
    NS_PER_S, PACKET_BYTES, US_PER_S, assert_near, bdp_bytes, bulk, column, dumbbell, simulate,
};
use dumbbell_sim::{Control, RateStep, Scenario, run};

const RTT_MS: u64 = 40;

/// 50 Mbit/s, 5 from 10 s on, 20 from 20 s on, to 30 s; the buffer is a BDP at first.
fn stepped(cc: &str) -> Scenario {
    let buffer_bytes = bdp_bytes(50_000_000, RTT_MS);
    let mut scenario = dumbbell(50_000_000, buffer_bytes, 30, vec![bulk(cc, 1, RTT_MS)]);
    scenario.links[0].rate_steps = [(10, 5_000_000), (20, 20_000_000)]
        .map(|(at_s, link_rate_bps)| RateStep {
            at_ns: at_s * NS_PER_S,
            link_rate_bps,
        })
        .to_vec();
    scenario
}

#[test]
fn the_link_carries_each_rate_in_its_time() {
    let output = simulate(&stepped("cubic"));
    let time_us = column(&output, "queue", "time_us");
    let forwarded_pkts = column(&output, "queue", "forwarded_pkts");
    let at = |second: f64| {
        let row = time_us.iter().position(|&us| us >= second * US_PER_S);
        forwarded_pkts[row.expect("it was sampled")]
    };
    for (from_s, to_s, rate_bps) in [(5.0, 10.0, 50e6), (11.0, 20.0, 5e6), (24.0, 30.0, 20e6)] {
        let bits = (at(to_s) - at(from_s)) * PACKET_BYTES * 8.0;
        assert_near("rate, bit/s", bits / (to_s - from_s), rate_bps, 0.01);
    }
}

#[test]
fn the_summary_knows_what_the_link_could_carry() {
    let bottleneck = simulate(&stepped("cubic")).summary.bottleneck;
    assert_eq!(bottleneck.link_rate_bps, 50_000_000);
    // 10 s of each rate.
    let capacity_bytes = bottleneck.capacity_bytes.expect("the rate changes");
    assert_near("capacity, bytes", capacity_bytes, 750e6 / 8.0, 1e-12);
    let forwarded_bytes = bottleneck.forwarded_bytes as f64;
    assert_near(
        "utilization",
        bottleneck.utilization,
        forwarded_bytes / capacity_bytes,
        1e-12,
    );
    // While it was busy it carried all it could, but for the packet on the wire at the end and those
    // at the steps: from 5 to 20 Mbit/s one takes the time of four.
    let busy_bytes = bottleneck.busy_capacity_bytes.expect("the rate changes");
    let idle_bytes = busy_bytes - forwarded_bytes;
    assert!(idle_bytes.abs() <= 5.0 * PACKET_BYTES, "{idle_bytes}");
    // The queue, full at 50 Mbit/s, takes ten times as long at 5.
    assert!(bottleneck.queue_delay_max_us > 350_000);
}

#[test]
fn without_steps_nothing_changes() {
    let mut plain = stepped("cubic");
    plain.links[0].rate_steps.clear();
    let json = serde_json::to_string(&plain).expect("it serialises");
    assert!(!json.contains("rate_steps"), "{json}");
    assert_eq!(serde_json::from_str::<Scenario>(&json).unwrap(), plain);
    let mut after_the_end = plain.clone();
    after_the_end.links[0].rate_steps = vec![RateStep {
        at_ns: 30 * NS_PER_S + 1,
        link_rate_bps: 1,
    }];
    let [plain, mut after_the_end] =
        [plain, after_the_end].map(|scenario| simulate(&scenario).summary);
    assert_eq!(plain.bottleneck.capacity_bytes, None);
    for link in [&mut after_the_end.bottleneck, &mut after_the_end.links[0]] {
        link.capacity_bytes = None;
        link.busy_capacity_bytes = None;
    }
    let [plain, after_the_end] = [plain, after_the_end]
        .map(|summary| serde_json::to_string(&summary).expect("it serialises"));
    assert_eq!(plain, after_the_end);
}

#[test]
fn steps_out_of_order_and_to_nothing_are_refused() {
    let mut backwards = stepped("cubic");
    backwards.links[0].rate_steps.reverse();
    let mut to_nothing = stepped("cubic");
    to_nothing.links[0].rate_steps[0].link_rate_bps = 0;
    for (scenario, says) in [
        (backwards, "give each a later time"),
        (to_nothing, "above 0"),
    ] {
        let refusal = run(&scenario, &Control::default(), None).err();
        let refusal = refusal.expect("it is refused").to_string();
        assert!(refusal.contains(says), "{refusal}");
    }
}

/// The draft's two cases of changing bandwidth, by a scenario: `tests/bbr3/path.rs` has them by the
/// algorithm's state, this by what the link carries.
#[test]
fn bbr3_finds_ten_times_the_bandwidth_and_a_tenth() {
    for (before_bps, after_bps) in [(10_000_000_u64, 100_000_000_u64), (100_000_000, 10_000_000)] {
        let buffer_bytes = bdp_bytes(before_bps.max(after_bps), RTT_MS);
        let group = bulk("bbr3", 1, RTT_MS);
        let mut scenario = dumbbell(before_bps, buffer_bytes, 40, vec![group]);
        scenario.links[0].rate_steps = vec![RateStep {
            at_ns: 10 * NS_PER_S,
            link_rate_bps: after_bps,
        }];
        let output = simulate(&scenario);
        let time_us = column(&output, "state-0-bbr3", "time_us");
        let max_bw_bps = column(&output, "state-0-bbr3", "max_bw_bps");
        let payload = 1448.0 / PACKET_BYTES;
        let (mut before, mut after) = (0.0, 0.0);
        for (&us, &bps) in time_us.iter().zip(&max_bw_bps) {
            if us < 10.0 * US_PER_S {
                before = bps;
            }
            // Two cycles of up to 3 s, and what precedes the first probe.
            if us > 20.0 * US_PER_S && after == 0.0 {
                after = bps;
            }
        }
        assert_near("max_bw before", before, before_bps as f64 * payload, 0.02);
        assert_near("max_bw after", after, after_bps as f64 * payload, 0.02);
    }
}
