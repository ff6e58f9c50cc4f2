//! Copa flows alone behind one queue: how deep it swings, how fast, and whether it empties.

use crate::copa::one_queue::OneQueue;
use crate::copa::script::{BASE_US, DEFAULT_MODE_ONLY, copa, state};
use crate::copa::settings::paper;

const LINKS: [(usize, u64); 3] = [(4, 50_000_000), (16, 200_000_000), (64, 1_000_000_000)];

fn path(flows: usize, link_bps: u64, params: &[(&str, i64)]) -> OneQueue {
    OneQueue::new(
        (0..flows).map(|_| copa(params)).collect(),
        link_bps,
        BASE_US,
    )
}

/// The queue from 20 s to 40 s.
struct Swing {
    lowest_pkts: u64,
    highest_pkts: u64,
    period_rtts: f64,
}

fn swing(path: &mut OneQueue) -> Swing {
    path.run_until(20_000_000, |_| {});
    let mut swing = Swing {
        lowest_pkts: u64::MAX,
        highest_pkts: 0,
        period_rtts: 0.0,
    };
    path.run_until(30_000_000, |path| {
        swing.lowest_pkts = swing.lowest_pkts.min(path.backlog_pkts());
        swing.highest_pkts = swing.highest_pkts.max(path.backlog_pkts());
    });

    // A cycle is a rise above 3/4 of the highest after a fall below 1/4 of it.
    let (high, low) = (swing.highest_pkts * 3 / 4, swing.highest_pkts / 4);
    let (mut is_high, mut rises_us) = (true, Vec::new());
    path.run_until(40_000_000, |path| {
        let backlog_pkts = path.backlog_pkts();
        if !is_high && backlog_pkts > high {
            rises_us.push(path.now_us());
        }
        is_high = if is_high {
            backlog_pkts >= low
        } else {
            backlog_pkts > high
        };
    });
    let (first, last) = (rises_us[0], rises_us[rises_us.len() - 1]);
    swing.period_rtts = (last - first) as f64 / (rises_us.len() - 1) as f64 / BASE_US as f64;
    swing
}

#[test]
fn the_paper_s_copa_swings_the_queue_between_0_and_2_5_over_delta_in_5_rtts() {
    // Paper §3: δ of all flows together is 0.5/N. Packets and mixed phases: ±20 %.
    let settings = paper();
    let mut params: Vec<_> = settings
        .iter()
        .map(|(name, &value)| (name.as_str(), value))
        .collect();
    params.push(DEFAULT_MODE_ONLY);
    for (flows, link_bps) in LINKS {
        let swing = swing(&mut path(flows, link_bps, &params));
        let highest = swing.highest_pkts as f64 / (2.5 * 2.0 * flows as f64);
        assert!(
            swing.lowest_pkts <= 1,
            "{flows} flows: {} packets at least",
            swing.lowest_pkts
        );
        assert!(
            (0.8..=1.2).contains(&highest),
            "{flows} flows: {highest} of 2.5 N/δ"
        );
        let period = swing.period_rtts;
        assert!(
            (4.0..=6.0).contains(&period),
            "{flows} flows: a period of {period} RTTs"
        );
    }
}

#[test]
fn ccp_copa_swings_it_further_because_its_decisions_come_later() {
    // Up to half an RTT later, at either end of a cycle of 5 RTTs: up to 1.5 times as far, and
    // 1 to 2 RTTs longer.
    for (flows, link_bps) in LINKS {
        let swing = swing(&mut path(flows, link_bps, &[DEFAULT_MODE_ONLY]));
        let highest = swing.highest_pkts as f64 / (2.5 * 2.0 * flows as f64);
        assert!(
            swing.lowest_pkts <= 1,
            "{flows} flows: {} packets at least",
            swing.lowest_pkts
        );
        assert!(
            (1.0..=1.5).contains(&highest),
            "{flows} flows: {highest} of 2.5 N/δ"
        );
        let period = swing.period_rtts;
        assert!(
            (5.0..=7.0).contains(&period),
            "{flows} flows: a period of {period} RTTs"
        );
    }
}

#[test]
fn the_swing_is_in_proportion_to_one_over_delta() {
    let swings = [2, 4, 8].map(|inv_delta| {
        let params = [DEFAULT_MODE_ONLY, ("default_inv_delta", inv_delta)];
        swing(&mut path(8, 200_000_000, &params)).highest_pkts as f64
    });
    for pair in swings.windows(2) {
        let ratio = pair[1] / pair[0];
        assert!(
            (1.6..=2.4).contains(&ratio),
            "twice 1/δ: {ratio} times the queue"
        );
    }
}

#[test]
fn the_link_stays_busy_and_rtt_min_is_found() {
    let mut path = path(16, 200_000_000, &[]);
    path.run_until(10_000_000, |_| {});
    let (mut idle, mut events) = (0u32, 0u32);
    path.run_until(20_000_000, |path| {
        idle += u32::from(path.backlog_pkts() == 0);
        events += 1;
    });
    // 16 flows at δ = 0.5 leave 1/(2N + 1) of an M/M/1 link idle (paper §3): 3 %.
    assert!(
        f64::from(idle) <= 0.03 * f64::from(events),
        "idle at {idle} of {events} events"
    );
    for flow in &path.flows {
        let rtt_min_us = crate::copa::script::series(flow, "rtt_min_us");
        // A packet's own service is part of every RTT: 61 µs.
        assert!(
            (40_000.0..=40_200.0).contains(&rtt_min_us),
            "{rtt_min_us} µs"
        );
    }
}

#[test]
fn few_copas_return_to_default_mode_and_many_compete_with_each_other() {
    // Saito et al. 2022: at 1 Gbit/s and 40 ms, 16 flows do and 128 flows do not.
    for (flows, mode) in [(16, "default"), (128, "competitive")] {
        let mut path = path(flows, 1_000_000_000, &[]);
        path.run_until(15_000_000, |_| {});
        let mut lowest_pkts = u64::MAX;
        path.run_until(16_000_000, |path| {
            lowest_pkts = lowest_pkts.min(path.backlog_pkts());
            assert_eq!(
                state(&path.flows[0], "mode"),
                mode,
                "{flows} flows at {} µs",
                path.now_us()
            );
        });
        // 3303 packets are one BDP.
        assert_eq!(
            lowest_pkts > 3303,
            mode == "competitive",
            "{flows} flows: {lowest_pkts} packets"
        );
    }
}
