//! BBRv1 against CUBIC, compared with what Linux hosts did on a public testbed.
#![allow(clippy::print_stdout, reason = "--nocapture shows the comparison")]

use crate::common::{NS_PER_MS, bdp_bytes, bulk, dumbbell, goodput_bps, mean, simulate};
use dumbbell_sim::{Group, Scenario};

/// The testbed's bottleneck: drop-tail, 1 BDP = 50,000 bytes.
const LINK_RATE_BPS: u64 = 10_000_000;
const BASE_RTT_MS: u64 = 40;
const DURATION_S: u64 = 600;
/// BBR flows against one CUBIC flow.
const BBR_FLOWS: [u32; 3] = [1, 2, 4];

/// Buffer in BDP, then the goodput of all BBR flows together in Mbit/s for each of
/// [`BBR_FLOWS`]: means of 3 trials that spread less than 0.2, but for 64 BDP.
const MEASURED_MBIT: [(u32, [f64; 3]); 7] = [
    (1, [8.14, 9.08, 9.18]),
    (2, [5.73, 7.95, 9.19]),
    (4, [4.81, 5.59, 7.30]),
    (8, [4.45, 5.13, 6.03]),
    (16, [3.96, 4.79, 5.33]),
    (32, [3.31, 3.66, 4.20]),
    (64, [1.89, 2.36, 2.77]),
];

/// Mean absolute deviation allowed, share of the link rate.
const TOLERANCE: f64 = 0.06;

fn competition(buffer_bdp: u32, bbr_flows: u32, seed: u64) -> Scenario {
    let jittered = |group: Group| Group {
        start_jitter_ns: 100 * NS_PER_MS,
        ..group
    };
    let groups = vec![
        jittered(bulk("bbr", bbr_flows, BASE_RTT_MS)),
        jittered(bulk("cubic", 1, BASE_RTT_MS)),
    ];
    let limit_bytes = f64::from(buffer_bdp) * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    Scenario {
        seed,
        sample_interval_ns: 0,
        ..dumbbell(LINK_RATE_BPS, limit_bytes, DURATION_S, groups)
    }
}

/// Goodput of all BBR flows together, Mbit/s, mean of three seeds.
fn simulated_mbit(buffer_bdp: u32, bbr_flows: u32) -> f64 {
    mean(
        (1..=3).map(|seed| {
            goodput_bps(&simulate(&competition(buffer_bdp, bbr_flows, seed)), "bbr") / 1e6
        }),
    )
}

#[test]
fn bbr_takes_from_cubic_what_it_took_on_the_testbed() {
    // One thread per number of flows: a result does not depend on threads.
    let columns: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let columns = BBR_FLOWS.map(|flows| {
            scope.spawn(move || {
                MEASURED_MBIT
                    .iter()
                    .map(|&(buffer_bdp, _)| simulated_mbit(buffer_bdp, flows))
                    .collect()
            })
        });
        columns
            .map(|column| column.join().expect("the runs end"))
            .into()
    });

    println!("Goodput of N BBR flows against one CUBIC flow, Mbit/s: simulated (measured)");
    println!("| buffer, BDP | N = 1 | N = 2 | N = 4 |\n|---|---|---|---|");
    let mut deviations = Vec::new();
    for (row, (buffer_bdp, measured)) in MEASURED_MBIT.iter().enumerate() {
        let ours = [0, 1, 2].map(|column| columns[column][row]);
        let cells =
            [0, 1, 2].map(|column| format!("{:.2} ({:.2})", ours[column], measured[column]));
        println!("| {buffer_bdp} | {} |", cells.join(" | "));
        deviations.extend([0, 1, 2].map(|column| (ours[column] - measured[column]).abs()));
        assert!(
            ours.is_sorted(),
            "more BBR flows take more, at {buffer_bdp} BDP"
        );
    }
    for column in &columns {
        // From 2 BDP on; four flows take all but nothing more at 1 BDP, measured or simulated.
        assert!(
            column[1..].iter().rev().is_sorted(),
            "BBR takes less of a deeper buffer"
        );
    }
    let deviation = mean(deviations) * 1e6 / LINK_RATE_BPS as f64;
    println!(
        "mean absolute deviation: {:.2} % of the link",
        deviation * 100.0
    );
    assert!(
        deviation <= TOLERANCE,
        "mean absolute deviation is {:.2} % of the link",
        deviation * 100.0
    );
}
