//! Copa in steady state (Arun & Balakrishnan, NSDI 2018, §3).

use dumbbell_sim::{Group, Host, Output, Scenario};

use crate::common::{
    NS_PER_MS, PACKET_BYTES, US_PER_S, assert_near, assert_within, bdp_bytes, bulk, column,
    dumbbell, simulate, with_params,
};

const LINK_RATE_BPS: u64 = 50_000_000;
const BASE_RTT_MS: u64 = 40;
/// 1/δ of default mode, packets.
const INV_DELTA_PKTS: f64 = 2.0;
/// Slow start and the velocities it leaves behind are over.
const SETTLED_S: f64 = 20.0;

/// The paper's Copa (docs/copa.md), kept in default mode, of which the analysis speaks.
const PAPER: [(&str, i64); 20] = [
    ("report_rtt_min_pct", 0),
    ("report_srtt_pct", 0),
    ("rtt_min_window_ms", 10_000),
    ("standing_window_pct", 50),
    ("competitive_start_windows", 0),
    ("mode_window_rtts", 5),
    ("mode_max_window_rtts", 4),
    ("mode_max_of_minima", 0),
    ("mode_margin_us", 0),
    ("inv_delta_per_rtt", 1),
    ("competitive_decrease_extra", 0),
    ("loss_cut_per_srtt", 1),
    ("loss_mode", 0),
    ("rto_halves_inv_delta", 1),
    ("velocity_check_rtts", 1),
    ("velocity_by_cwnd", 1),
    ("velocity_max", 1_048_576),
    ("cwnd_min_pkts", 2),
    ("pacing_on_standing", 1),
    ("mode_switching", 0),
];

/// Flows as the analysis has them: an ACK per packet, no bursts.
fn alone(flows: u32) -> Output {
    let group = Group {
        host: Host {
            tso: false,
            delayed_ack: false,
            ..Host::default()
        },
        ..with_params(bulk("copa", flows, BASE_RTT_MS), &PAPER)
    };
    let limit_bytes = 8.0 * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    simulate(&Scenario {
        sample_interval_ns: NS_PER_MS,
        ..dumbbell(LINK_RATE_BPS, limit_bytes, 60, vec![group])
    })
}

/// What the queue does once settled.
struct Swing {
    lowest_pkts: f64,
    highest_pkts: f64,
    period_rtts: f64,
}

fn swing(output: &Output) -> Swing {
    let time_us = column(output, "queue", "time_us");
    let backlog_pkts = column(output, "queue", "backlog_pkts");
    let settled: Vec<(f64, f64)> = time_us
        .into_iter()
        .zip(backlog_pkts)
        .filter(|&(time_us, _)| time_us > SETTLED_S * US_PER_S)
        .collect();
    let highest_pkts = settled.iter().map(|&(_, pkts)| pkts).fold(0.0, f64::max);
    let lowest_pkts = settled
        .iter()
        .map(|&(_, pkts)| pkts)
        .fold(f64::MAX, f64::min);
    // A cycle is a rise above 3/4 of the highest after a fall below 1/4 of it.
    let mut rises_us = Vec::new();
    let mut is_high = true;
    for (time_us, pkts) in settled {
        if !is_high && pkts > 0.75 * highest_pkts {
            is_high = true;
            rises_us.push(time_us);
        } else if pkts < 0.25 * highest_pkts {
            is_high = false;
        }
    }
    let cycles = rises_us.len() - 1;
    let period_us = (rises_us[cycles] - rises_us[0]) / cycles as f64;
    Swing {
        lowest_pkts,
        highest_pkts,
        period_rtts: period_us / (BASE_RTT_MS as f64 * 1e3),
    }
}

/// The queue swings between 0 and 2.5/δ̂ packets, δ̂ = δ/N, with a period of 5 RTT. 12 % and a
/// packet: whole packets, and phases that differ a little between flows; the same for the period.
#[test]
fn the_queue_swings_between_0_and_2_5_n_over_delta_packets_in_5_rtts() {
    for flows in [1, 2, 4, 8] {
        let output = alone(flows);
        let found = swing(&output);
        let expected_pkts = 2.5 * f64::from(flows) * INV_DELTA_PKTS;
        println!(
            "N = {flows}: {} to {} packets (0 to {expected_pkts}), period {:.2} RTT",
            found.lowest_pkts, found.highest_pkts, found.period_rtts
        );
        assert_eq!(found.lowest_pkts, 0.0);
        assert_within(
            "the highest queue",
            found.highest_pkts,
            0.88 * expected_pkts - 1.0..=1.12 * expected_pkts + 1.0,
        );
        assert_near("the period, RTT", found.period_rtts, 5.0, 0.12);
        assert_within(
            "utilization",
            settled_utilization(&output),
            0.98..=1.0 + 1e-3, // a packet more or less
        );
    }
}

/// Utilization once settled: how long the velocities of slow start last is a matter of microseconds.
fn settled_utilization(output: &Output) -> f64 {
    let samples = column(output, "queue", "time_us").into_iter().zip(column(
        output,
        "queue",
        "forwarded_pkts",
    ));
    let settled: Vec<(f64, f64)> = samples
        .filter(|&(time_us, _)| time_us > SETTLED_S * US_PER_S)
        .collect();
    let (first, last) = (settled[0], settled[settled.len() - 1]);
    let bits = (last.1 - first.1) * PACKET_BYTES * 8.0;
    bits / ((last.0 - first.0) / US_PER_S * LINK_RATE_BPS as f64)
}
