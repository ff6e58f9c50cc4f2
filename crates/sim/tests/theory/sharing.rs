//! How flows of one congestion control algorithm share the link.

use dumbbell_sim::{Group, Host, Output, Scenario};

use crate::common::{NS_PER_MS, assert_within, bdp_bytes, bulk, dumbbell, mean, simulate};

const LINK_RATE_BPS: u64 = 50_000_000;
const DURATION_S: u64 = 300;

fn compete(groups: Vec<Group>, limit_bytes: f64, seed: u64) -> Output {
    let jittered = |group: Group| Group {
        start_jitter_ns: 100 * NS_PER_MS,
        ..group
    };
    let groups = groups.into_iter().map(jittered).collect();
    simulate(&Scenario {
        seed,
        sample_interval_ns: 0,
        ..dumbbell(LINK_RATE_BPS, limit_bytes, DURATION_S, groups)
    })
}

/// RFC 9438 §5.1 and Ha et al. 2008: flows of equal RTT converge to equal shares. Over five minutes
/// neither has more than 60 %; drop-tail picks who loses, so runs differ.
#[test]
fn two_equal_flows_share_equally() {
    for cc in ["reno", "cubic"] {
        for seed in 1..=3 {
            let limit_bytes = bdp_bytes(LINK_RATE_BPS, 40);
            let output = compete(vec![bulk(cc, 2, 40)], limit_bytes, seed);
            let goodputs = output.summary.flows.iter().map(|flow| flow.goodput_bps);
            let goodputs: Vec<f64> = goodputs.collect();
            let share = goodputs[0] / (goodputs[0] + goodputs[1]);
            assert_within(&format!("the share of a {cc} flow"), share, 0.4..=0.6);
        }
    }
}

/// a where goodput falls with RTT^−a: four flows of 20 ms against four of the longer RTT, which send
/// packet by packet, as the theory's do.
fn rtt_exponent(cc: &str, longer_rtt_ms: u64) -> f64 {
    let smooth = |rtt_ms| Group {
        host: Host {
            tso: false,
            ..Host::default()
        },
        ..bulk(cc, 4, rtt_ms)
    };
    let groups = vec![smooth(20), smooth(longer_rtt_ms)];
    let flows = compete(groups, 0.5 * bdp_bytes(LINK_RATE_BPS, 20), 1)
        .summary
        .flows;
    let (short, long) = flows.split_at(4);
    let goodput_ratio = mean(short.iter().map(|flow| flow.goodput_bps))
        / mean(long.iter().map(|flow| flow.goodput_bps));
    let rtt_ratio = mean(long.iter().map(|flow| flow.rtt_mean_us))
        / mean(short.iter().map(|flow| flow.rtt_mean_us));
    goodput_ratio.ln() / rtt_ratio.ln()
}

/// Lakshman & Madhow, "The performance of TCP/IP for networks with high bandwidth-delay
/// products and random loss" (1997): Reno's goodput falls with RTT^−a, 1 ≤ a ≤ 2. CUBIC's
/// window does not depend on the RTT (RFC 9438 §5.1), so its goodput falls less, unless it is
/// in its Reno-friendly region.
#[test]
fn short_rtts_win_with_an_exponent_between_one_and_two() {
    for longer_rtt_ms in [40, 80, 160] {
        let reno = rtt_exponent("reno", longer_rtt_ms);
        let cubic = rtt_exponent("cubic", longer_rtt_ms);
        println!(
            "20 ms against {longer_rtt_ms} ms: exponent {reno:.2} of Reno, {cubic:.2} of CUBIC"
        );
        assert_within("Reno's exponent", reno, 1.0..=2.0);
        assert!(
            cubic < reno,
            "CUBIC's exponent is {cubic:.2}, Reno's {reno:.2}"
        );
    }
}
