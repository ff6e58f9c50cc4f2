//! CUBIC alone at a drop-tail bottleneck (RFC 9438): W(t) = C·(t − K)³ + W_max,
//! K = ∛((1 − β)·W_max/C), C = 0.4, β = 0.7.

use dumbbell_sim::{Output, Scenario};

use crate::common::{
    US_PER_S, assert_near, assert_within, bdp_bytes, bulk, column, dumbbell, labels, mean,
    simulate, stretches, with_params,
};

const C: f64 = 0.4;
/// 1 − β.
const DECREASE: f64 = 0.3;
/// First losses (HyStart's end, the first epoch) are over.
const SETTLED_S: f64 = 40.0;
const DURATION_S: u64 = 200;

/// Link, base RTT and buffer where the cubic curve grows several times faster than Reno
/// would, so that §4.3's friendly region is not entered: K/RTT ≫ 1.
const PATHS: [(u64, u64, f64); 3] = [
    (100_000_000, 100, 0.5),
    (100_000_000, 100, 1.0),
    (200_000_000, 50, 1.0),
];

/// Loss epochs of one run.
struct Epochs {
    lasted_s: Vec<f64>,
    w_max_pkts: f64,
    mean_cwnd_pkts: f64,
}

fn epochs((link_rate_bps, rtt_ms, buffer_bdp): (u64, u64, f64), fast_convergence: i64) -> Epochs {
    let group = with_params(
        bulk("cubic", 1, rtt_ms),
        &[("fast_convergence", fast_convergence)],
    );
    let limit_bytes = buffer_bdp * bdp_bytes(link_rate_bps, rtt_ms);
    let scenario: Scenario = dumbbell(link_rate_bps, limit_bytes, DURATION_S, vec![group]);
    let output: Output = simulate(&scenario);
    let time_us = column(&output, "flows", "time_us");
    let cwnd_pkts = column(&output, "flows", "cwnd_pkts");
    let losses_s: Vec<f64> = stretches(&time_us, &labels(&output, "flows", "ca_state"))
        .into_iter()
        .filter(|(state, begin_s, _)| state == "recovery" && *begin_s > SETTLED_S)
        .map(|(_, begin_s, _)| begin_s)
        .collect();
    let span_us = losses_s[0] * US_PER_S..losses_s[losses_s.len() - 1] * US_PER_S;
    let in_epochs: Vec<f64> = time_us
        .iter()
        .zip(&cwnd_pkts)
        .filter(|(time_us, _)| span_us.contains(time_us))
        .map(|(_, &cwnd_pkts)| cwnd_pkts)
        .collect();
    Epochs {
        lasted_s: losses_s.windows(2).map(|pair| pair[1] - pair[0]).collect(),
        w_max_pkts: in_epochs.iter().copied().fold(0.0, f64::max),
        mean_cwnd_pkts: mean(in_epochs),
    }
}

/// The epoch ends where the curve is back at W_max, after K. Windows are whole packets, so the
/// curve is within one packet of W_max, and the queue full, ∛(1/C) = 1.36 s earlier; then the
/// loss takes a round trip to be seen, and the next epoch begins after a recovery of one or
/// two.
#[test]
fn a_loss_epoch_lasts_the_cube_root_of_three_quarters_of_w_max() {
    for path in PATHS {
        let (_, rtt_ms, buffer_bdp) = path;
        let found = epochs(path, 0);
        let k_s = (DECREASE * found.w_max_pkts / C).cbrt();
        let full_rtt_s = rtt_ms as f64 / 1e3 * (1.0 + buffer_bdp);
        let earliest_s = k_s - (1.0 / C).cbrt();
        for &lasted_s in &found.lasted_s {
            assert_within(
                "a loss epoch",
                lasted_s,
                earliest_s..=earliest_s + 3.0 * full_rtt_s,
            );
        }
        println!(
            "{path:?}: epoch {:.2} s, K {k_s:.2} s",
            mean(found.lasted_s)
        );
    }
}

/// The mean of the curve over 0..K is W_max·(1 − 0.3/4) = 0.925·W_max. 2.5 %: the epoch lacks
/// the flat end (see above), and recovery.
#[test]
fn mean_cwnd_is_0_925_of_w_max() {
    for path in PATHS {
        let found = epochs(path, 0);
        let share = found.mean_cwnd_pkts / found.w_max_pkts;
        println!("{path:?}: mean cwnd {share:.3} W_max");
        assert_near("mean cwnd over W_max", share, 0.925, 0.025);
    }
}

/// §4.7, on by default: a loss below the last W_max makes the next plateau 0.85 of the
/// window. A lone flow then alternates: the curve passes that plateau and takes 2·∛(0.15·W/C)
/// until it overflows the buffer, a few packets too high; the next loss comes that much below.
/// 4 %: recovery. The mean window lies between 0.85 and 0.925.
#[test]
fn with_fast_convergence_every_second_epoch_passes_a_lower_plateau() {
    for path in PATHS {
        let found = epochs(path, 1);
        let long_s = 2.0 * (0.15 * found.w_max_pkts / C).cbrt();
        let (long, short): (Vec<f64>, Vec<f64>) = found
            .lasted_s
            .iter()
            .partition(|&&lasted_s| lasted_s > 0.75 * long_s);
        assert!(long.len().abs_diff(short.len()) <= 1, "they alternate");
        assert_near("a long epoch", mean(long), long_s, 0.04);
        assert_within(
            "mean cwnd over W_max",
            found.mean_cwnd_pkts / found.w_max_pkts,
            0.85..=0.925,
        );
    }
}
