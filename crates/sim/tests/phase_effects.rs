//! Traffic phase effects: with one RTT to the nanosecond, which packets a full drop-tail queue takes
//! depends on a fraction of a packet's time (Floyd and Jacobson, "On traffic phase effects in
//! packet-switched gateways", 1992).

use std::collections::BTreeSet;

use crate::common::{bdp_bytes, bulk, dumbbell, simulate};
use dumbbell_sim::{FlowSummary, Group, RttStep, Scenario};

const LINK_RATE_BPS: u64 = 100_000_000;
/// A full packet on that link, ns.
const PACKET_NS: u64 = 1514 * 8 * 10;

/// Five flows whose packets leave when ACKs arrive, and five paced ones, in 1 BDP.
fn scenario(longer_ns: u64, dither_ns: u64, seed: u64) -> Scenario {
    let groups = ["cubic", "bbr3"].map(|cc| {
        let group = bulk(cc, 5, 20);
        Group {
            base_rtt_ns: group.base_rtt_ns + longer_ns,
            rtt_dither_ns: dither_ns,
            ..group
        }
    });
    Scenario {
        seed,
        sample_interval_ns: 0,
        ..dumbbell(
            LINK_RATE_BPS,
            bdp_bytes(LINK_RATE_BPS, 20),
            20,
            groups.into(),
        )
    }
}

/// What CUBIC lost of what it sent, in several seeds, %.
fn lost_pct(longer_ns: u64, dither_ns: u64, seeds: std::ops::Range<u64>) -> f64 {
    let (mut sent, mut dropped) = (0, 0);
    for seed in seeds {
        let flows = simulate(&scenario(longer_ns, dither_ns, seed))
            .summary
            .flows;
        for flow in flows.iter().filter(|flow| flow.cc == "cubic") {
            sent += flow.sent_pkts;
            dropped += flow.dropped_pkts;
        }
    }
    100.0 * dropped as f64 / sent as f64
}

/// 20 ms are 165.1 packet times: ACK-clocked packets come just after a departure and get the place that it
/// left, before the paced ones. With 165.9 they come late.
#[test]
fn a_fraction_of_a_packet_s_time_decides_who_loses() {
    let (early, late) = (lost_pct(0, 0, 1..5), lost_pct(3 * PACKET_NS / 4, 0, 1..5));
    assert!(late > 1.5 * early, "{early} {late}");
}

/// With a dither of a packet's time it does not matter where the RTT stands: what is left of the difference is
/// chance.
#[test]
fn repetitions_with_a_dither_average_over_the_phases() {
    let (early, late) = (
        lost_pct(0, PACKET_NS, 1..13),
        lost_pct(3 * PACKET_NS / 4, PACKET_NS, 1..13),
    );
    assert!((late / early - 1.0).abs() < 0.25, "{early} {late}");
}

#[test]
fn each_group_and_seed_has_a_draw_of_its_own() {
    let mut rtts_ns = BTreeSet::new();
    for seed in 0..50 {
        let mut dithered = scenario(0, PACKET_NS, seed);
        dithered.groups[0].rtt_steps = vec![RttStep {
            at_ns: 1,
            base_rtt_ns: 30_000_000,
        }];
        let drawn = dithered.with_drawn_rtts();
        for group in &drawn.groups {
            assert!((20_000_000..=20_000_000 + PACKET_NS).contains(&group.base_rtt_ns));
            assert_eq!(group.rtt_dither_ns, 0);
            rtts_ns.insert(group.base_rtt_ns);
        }
        let stepped = &drawn.groups[0];
        assert_eq!(
            stepped.rtt_steps[0].base_rtt_ns - 30_000_000,
            stepped.base_rtt_ns - 20_000_000
        );
    }
    assert!(rtts_ns.len() > 95, "{}", rtts_ns.len());
    let mean_ns = rtts_ns.iter().sum::<u64>() as f64 / rtts_ns.len() as f64;
    // The mean of 100 uniform draws: four standard deviations.
    let off = (mean_ns - 20_000_000.0) / PACKET_NS as f64 - 0.5;
    assert!(off.abs() < 4.0 * 0.029, "{off}");
}

/// The base RTT of a result is the drawn one.
#[test]
fn results_have_the_rtt_that_was_drawn() {
    let dithered = scenario(0, 1_000_000, 3);
    let drawn = dithered.with_drawn_rtts();
    let base_us = |flow: &FlowSummary| flow.base_rtt_us;
    for flow in &simulate(&dithered).summary.flows {
        let group = &drawn.groups[flow.group as usize];
        assert_eq!(base_us(flow), group.base_rtt_ns / 1000);
        let rtt_min_us = flow.rtt_min_us;
        assert!(rtt_min_us >= base_us(flow), "{rtt_min_us}");
    }
}
