//! Reno's sawtooth alone on a link.

use dumbbell_sim::{Output, Scenario};

use crate::common::{
    PACKET_BYTES, US_PER_S, assert_near, bdp_bytes, bulk, column, dumbbell, labels, mean, simulate,
    stretches,
};

const LINK_RATE_BPS: u64 = 20_000_000;
const BASE_RTT_MS: u64 = 50;
/// Slow start and its losses are over.
const SETTLED_S: f64 = 50.0;

fn alone(buffer_bdp: f64) -> Output {
    let limit_bytes = buffer_bdp * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    let scenario: Scenario = dumbbell(
        LINK_RATE_BPS,
        limit_bytes,
        200,
        vec![bulk("reno", 1, BASE_RTT_MS)],
    );
    simulate(&scenario)
}

/// cwnd over whole epochs, from one loss to another.
struct Sawtooth {
    /// From loss to loss, s.
    epoch_s: f64,
    highest_pkts: f64,
    /// Outside recovery, where proportional rate reduction moves it.
    lowest_pkts: f64,
    mean_pkts: f64,
}

fn sawtooth(output: &Output) -> Sawtooth {
    let time_us = column(output, "flows", "time_us");
    let cwnd_pkts = column(output, "flows", "cwnd_pkts");
    let ca_state = labels(output, "flows", "ca_state");
    let losses_s: Vec<f64> = stretches(&time_us, &ca_state)
        .into_iter()
        .filter(|(state, begin_s, _)| state == "recovery" && *begin_s > SETTLED_S)
        .map(|(_, begin_s, _)| begin_s)
        .collect();
    let (first_s, last_s) = (losses_s[0], losses_s[losses_s.len() - 1]);
    let rows: Vec<usize> = (0..time_us.len())
        .filter(|&row| (first_s * US_PER_S..last_s * US_PER_S).contains(&time_us[row]))
        .collect();
    let open = rows.iter().filter(|&&row| ca_state[row] == "open");
    Sawtooth {
        epoch_s: (last_s - first_s) / (losses_s.len() - 1) as f64,
        highest_pkts: rows.iter().map(|&row| cwnd_pkts[row]).fold(0.0, f64::max),
        lowest_pkts: open.map(|&row| cwnd_pkts[row]).fold(f64::MAX, f64::min),
        mean_pkts: mean(rows.iter().map(|&row| cwnd_pkts[row])),
    }
}

/// RFC 5681 §3.1: one packet more per round trip, half after a loss. Loss comes when link and
/// buffer are full, so W = BDP + buffer (and what a round trip adds until the loss is seen).
#[test]
fn cwnd_runs_from_half_of_link_and_buffer_to_all_of_it() {
    for buffer_bdp in [0.5, 1.0, 2.0] {
        let saw = sawtooth(&alone(buffer_bdp));
        let pipe_pkts = bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS) * (1.0 + buffer_bdp) / PACKET_BYTES;
        assert_near("the highest cwnd", saw.highest_pkts, pipe_pkts, 0.02);
        assert_near(
            "the lowest cwnd",
            saw.lowest_pkts,
            saw.highest_pkts / 2.0,
            0.02,
        );
    }
}

/// Mathis et al., "The macroscopic behavior of the TCP congestion avoidance algorithm" (1997):
/// an epoch carries 3/8·W² packets. 5 %: the loss is seen a round trip late, and recovery takes
/// another.
#[test]
fn an_epoch_carries_three_eighths_of_w_squared() {
    for buffer_bdp in [1.0, 2.0] {
        let saw = sawtooth(&alone(buffer_bdp));
        let carried_pkts = saw.epoch_s * LINK_RATE_BPS as f64 / 8.0 / PACKET_BYTES;
        let expected_pkts = 0.375 * saw.highest_pkts.powi(2);
        assert_near("an epoch", carried_pkts, expected_pkts, 0.05);
    }
}

/// The mean over time is 3/4·W while the RTT is constant. With a queue that never empties the
/// RTT grows with cwnd, which weighs the high windows more:
/// ∫w² dw / ∫w dw over W/2..W = 7/9·W. 2.5 %: recovery.
#[test]
fn mean_cwnd_is_three_quarters_of_w_or_seven_ninths_with_a_standing_queue() {
    for (buffer_bdp, share) in [(0.05, 0.75), (1.0, 7.0 / 9.0), (2.0, 7.0 / 9.0)] {
        let saw = sawtooth(&alone(buffer_bdp));
        let found = saw.mean_pkts / saw.highest_pkts;
        println!("buffer {buffer_bdp} BDP: mean cwnd {found:.3} W, expected {share:.3}");
        assert_near("mean cwnd over W", found, share, 0.025);
    }
}
