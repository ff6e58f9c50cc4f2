//! A base RTT that changes while a run goes on.

use crate::common::{
    NS_PER_MS, NS_PER_S, US_PER_S, assert_near, bdp_bytes, bulk, column, dumbbell, simulate,
};
use dumbbell_sim::{Control, Group, Host, RttStep, Scenario, run};

const RATE_BPS: u64 = 10_000_000;

fn steps(steps: &[(u64, u64)]) -> Vec<RttStep> {
    let step = |&(at_s, rtt_ms)| RttStep {
        at_ns: at_s * NS_PER_S,
        base_rtt_ns: rtt_ms * NS_PER_MS,
    };
    steps.iter().map(step).collect()
}

/// 30 s of groups on a link with a buffer of two BDPs at 40 ms.
fn of(groups: Vec<Group>) -> Scenario {
    dumbbell(RATE_BPS, 2.0 * bdp_bytes(RATE_BPS, 40), 30, groups)
}

/// Groups with a window that leaves the queue empty: the RTT is the path's.
fn without_queue(rtt_ms: u64, rtt_steps: &[(u64, u64)]) -> Group {
    Group {
        rtt_steps: steps(rtt_steps),
        host: Host {
            rwnd_bytes: 10 * 1448,
            tso: false,
            delayed_ack: false,
            ..Host::default()
        },
        ..bulk("reno", 1, rtt_ms)
    }
}

/// A flow's RTT samples in ms by the second they are of.
fn rtts_ms(scenario: &Scenario, flow: f64) -> Vec<(f64, f64)> {
    let output = simulate(scenario);
    let (time_us, flows, rtt_us) = (
        column(&output, "flows", "time_us"),
        column(&output, "flows", "flow"),
        column(&output, "flows", "rtt_us"),
    );
    (time_us.iter().zip(&rtt_us).zip(&flows))
        .filter(|&((_, rtt_us), &of)| of == flow && rtt_us.is_finite())
        .map(|((us, rtt_us), _)| (us / US_PER_S, rtt_us / 1000.0))
        .collect()
}

/// Asserts the samples from one second to another to be the base RTT and the time on the link of one
/// packet at least, 1.2 ms, and at most of the window's ten, which a step can bring together.
#[track_caller]
fn assert_rtt(samples: &[(f64, f64)], from_s: f64, to_s: f64, base_ms: f64) {
    let within: Vec<f64> = (samples.iter())
        .filter(|&&(at_s, _)| at_s >= from_s && at_s < to_s)
        .map(|&(_, rtt_ms)| rtt_ms)
        .collect();
    assert!(!within.is_empty(), "no samples from {from_s} s to {to_s} s");
    for rtt_ms in within {
        let on_link_ms = rtt_ms - base_ms;
        assert!(
            (1.2..12.2).contains(&on_link_ms),
            "from {from_s} s to {to_s} s the RTT is {rtt_ms} ms, the path's {base_ms} ms"
        );
    }
}

#[test]
fn the_rtt_is_each_step_s_a_round_trip_later() {
    let samples = rtts_ms(&of(vec![without_queue(40, &[(10, 80), (20, 40)])]), 0.0);
    assert_rtt(&samples, 1.0, 10.0, 40.0);
    assert_rtt(&samples, 10.1, 20.0, 80.0);
    assert_rtt(&samples, 20.2, 30.0, 40.0);
}

#[test]
fn a_step_below_the_first_rtt_is_reached_too() {
    let samples = rtts_ms(&of(vec![without_queue(80, &[(10, 20)])]), 0.0);
    assert_rtt(&samples, 1.0, 10.0, 80.0);
    assert_rtt(&samples, 10.2, 30.0, 20.0);
}

#[test]
fn a_group_of_another_rtt_keeps_it() {
    let groups = || {
        vec![
            without_queue(40, &[(10, 20), (20, 80)]),
            without_queue(50, &[]),
        ]
    };
    let scenario = of(groups());
    assert_rtt(&rtts_ms(&scenario, 1.0), 1.0, 30.0, 50.0);
    let changing = rtts_ms(&scenario, 0.0);
    assert_rtt(&changing, 1.0, 10.0, 40.0);
    assert_rtt(&changing, 10.2, 20.0, 20.0);
    assert_rtt(&changing, 20.2, 30.0, 80.0);
    let flows = simulate(&scenario).summary.flows;
    assert_eq!(
        [flows[0].base_rtt_us, flows[1].base_rtt_us],
        [20_000, 50_000]
    );
}

/// Nothing is reordered where the RTT falls: no packet is taken for lost that was not dropped.
#[test]
fn a_fall_reorders_nothing() {
    let group = Group {
        rtt_steps: steps(&[(10, 10), (20, 100), (25, 2)]),
        ..bulk("cubic", 2, 100)
    };
    let mut scenario = of(vec![group]);
    // Room for all that may be in flight: nothing is dropped.
    scenario.groups[0].host.rwnd_bytes = 50 * 1448;
    scenario.links[0].queue = dumbbell_sim::Queue::drop_tail(dumbbell_sim::Limit::Packets(200));
    let summary = simulate(&scenario).summary;
    assert_eq!(summary.bottleneck.dropped_pkts, 0);
    for flow in &summary.flows {
        assert_eq!((flow.lost_pkts, flow.duplicate_pkts), (Some(0), Some(0)));
        assert_eq!((flow.retransmitted_pkts, flow.rto_count), (0, Some(0)));
    }
}

/// CUBIC in a buffer of a BDP at the longer RTT keeps the link busy across both steps.
#[test]
fn cubic_fills_the_longer_path() {
    let group = Group {
        rtt_steps: steps(&[(10, 80), (20, 40)]),
        ..bulk("cubic", 1, 40)
    };
    let output = simulate(&of(vec![group]));
    assert_near(
        "utilization",
        output.summary.bottleneck.utilization,
        1.0,
        0.05,
    );
}

/// Its receiver too, which holds SACKs back by a share of the RTT.
#[test]
fn a_flow_that_starts_after_a_step_knows_the_later_rtt_alone() {
    let summary = |rtt_ms, rtt_steps: &[(u64, u64)]| {
        let group = Group {
            rtt_steps: steps(rtt_steps),
            start_ns: 2 * NS_PER_S,
            ..bulk("cubic", 1, rtt_ms)
        };
        let summary = simulate(&of(vec![group])).summary;
        assert!(summary.bottleneck.dropped_pkts > 0);
        serde_json::to_string(&summary).unwrap()
    };
    assert_eq!(summary(2, &[]), summary(200, &[(1, 2)]));
}

#[test]
fn without_steps_nothing_changes() {
    let plain = of(vec![bulk("cubic", 1, 40), bulk("bbr", 1, 70)]);
    let json = serde_json::to_string(&plain).expect("it serialises");
    assert!(!json.contains("rtt_steps"), "{json}");
    // Below the smallest RTT, above the largest, and at the very end.
    let summary = |at_s, rtt_ms| {
        let mut scenario = plain.clone();
        scenario.groups[0].rtt_steps = steps(&[(at_s, rtt_ms)]);
        serde_json::to_string(&simulate(&scenario).summary).unwrap()
    };
    let plain_summary = serde_json::to_string(&simulate(&plain).summary).unwrap();
    for (at_s, rtt_ms) in [(31, 10), (31, 90), (30, 10)] {
        assert_eq!(
            plain_summary,
            summary(at_s, rtt_ms),
            "{at_s} s: {rtt_ms} ms"
        );
    }
}

#[test]
fn steps_out_of_order_and_below_the_smallest_are_refused() {
    for (rtt_steps, says) in [
        (steps(&[(20, 80), (10, 40)]), "give each a later time"),
        (steps(&[(10, 0)]), "use at least `2us`"),
    ] {
        let group = Group {
            rtt_steps,
            ..bulk("cubic", 1, 40)
        };
        let refusal = run(&of(vec![group]), &Control::default(), None).err();
        let refusal = refusal.expect("it is refused").to_string();
        assert!(refusal.contains(says), "{refusal}");
    }
}
