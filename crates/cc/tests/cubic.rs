//! CUBIC's arithmetic against RFC 9438, and HyStart's decisions.

use crate::ack_clock::{AckClock, MSS_BYTES, assert_near, series};
use crate::common::load;
use dumbbell_cc::{AckSample, CaEvent, CaState, Flow};

/// C of RFC 9438 §5, as Linux has it: bic_scale = 41 is 410/1024 packets/s³.
const C: f64 = 410.0 / 1024.0;

/// A started flow in its first second, cwnd-limited, whose minimum RTT is known to be `rtt_us`.
fn flow_with(params: &[(&str, i64)], cwnd_pkts: u32, rtt_us: i32) -> Flow {
    let mut flow = load("cubic", params).new_flow();
    flow.sock.mss_cache = MSS_BYTES;
    flow.sock.snd_cwnd = cwnd_pkts;
    flow.sock.max_packets_out = cwnd_pkts;
    flow.sock.set_cwnd_limited(true);
    set_time(&mut flow, 1_000_000);
    flow.init();
    sample_rtt(&mut flow, rtt_us);
    flow
}

fn set_time(flow: &mut Flow, now_us: u64) {
    flow.sock.tcp_mstamp = now_us;
    flow.sock.tcp_clock_cache = now_us * 1000;
}

fn sample_rtt(flow: &mut Flow, rtt_us: i32) {
    flow.pkts_acked(&AckSample {
        pkts_acked: 1,
        rtt_us,
        in_flight: 1,
    });
}

/// A fast recovery that is over: ssthresh from the congestion control algorithm, and cwnd with it.
fn lose(flow: &mut Flow) {
    let ssthresh = flow.ssthresh();
    flow.sock.prior_cwnd = flow.sock.snd_cwnd;
    flow.sock.snd_ssthresh = ssthresh;
    flow.sock.snd_cwnd = ssthresh;
    flow.sock.snd_cwnd_cnt = 0;
}

/// Acknowledges packet by packet, a window per `rtt_us`, for `seconds`.
fn acknowledge_for(flow: &mut Flow, rtt_us: u64, seconds: f64) {
    let mut now_ns = flow.sock.tcp_mstamp * 1000;
    let end_ns = now_ns + (seconds * 1e9) as u64;
    while now_ns < end_ns {
        now_ns += rtt_us * 1000 / u64::from(flow.sock.snd_cwnd);
        set_time(flow, now_ns / 1000);
        flow.cong_avoid(0, 1);
    }
}

#[test]
fn k_is_the_cube_root_for_every_window() {
    // RFC 9438 §4.2, figure 2: K = cbrt((W_max - cwnd_epoch) / C). Linux's root is off by
    // 0.195 % on average; ours by its unit of 1/1024 s, and as much in showing it in ms.
    let mut flow = flow_with(&[("fast_convergence", 0)], 10, 40_000);
    flow.sock.snd_ssthresh = 2;
    let mut deficit_pkts = 1;
    while deficit_pkts < 4_000_000 {
        let now_us = flow.sock.tcp_mstamp + 40_000;
        set_time(&mut flow, now_us);
        flow.sock.snd_cwnd = deficit_pkts + 2;
        flow.ssthresh();
        flow.sock.snd_cwnd = 2;
        flow.sock.snd_cwnd_cnt = 0;
        flow.cong_avoid(0, 1);
        let exact_ms = 1000.0 * (f64::from(deficit_pkts) / C).cbrt();
        let k_ms = series(&flow, "k_ms") as f64;
        assert!(
            k_ms <= exact_ms && exact_ms - k_ms < 2.0,
            "{deficit_pkts}: {k_ms} ms instead of {exact_ms} ms"
        );
        deficit_pkts += 1 + deficit_pkts / 50;
    }
}

#[test]
fn without_a_deficit_k_is_zero() {
    // RFC 9438 §4.8: the first epoch after slow start begins on the plateau.
    let mut flow = flow_with(&[], 100, 40_000);
    flow.sock.snd_ssthresh = 100;
    flow.cong_avoid(0, 1);
    assert_eq!(series(&flow, "k_ms"), 0);
    assert_eq!(series(&flow, "w_est_pkts"), 100);
    // No w_max yet: Linux grows by at least 5 % per round trip.
    assert_eq!(series(&flow, "acks_per_increment"), 20);
}

#[test]
fn a_loss_keeps_seventy_percent() {
    // RFC 9438 §4.6: beta = 0.7; Linux: 717/1024. Never below 2 packets.
    let mut flow = flow_with(&[], 1000, 40_000);
    assert_eq!(flow.ssthresh(), 700);
    assert_eq!(series(&flow, "w_max_pkts"), 1000);
    flow.sock.snd_cwnd = 2;
    assert_eq!(flow.ssthresh(), 2);
}

#[test]
fn fast_convergence_releases_bandwidth() {
    // RFC 9438 §4.7: W_max = cwnd (1 + beta) / 2 when a loss comes below the last W_max.
    let mut flow = flow_with(&[], 1000, 40_000);
    flow.ssthresh();
    flow.sock.snd_cwnd = 800;
    flow.ssthresh();
    assert_eq!(series(&flow, "w_max_pkts"), 680);

    let mut flow = flow_with(&[("fast_convergence", 0)], 1000, 40_000);
    flow.ssthresh();
    flow.sock.snd_cwnd = 800;
    flow.ssthresh();
    assert_eq!(series(&flow, "w_max_pkts"), 800);
}

#[test]
fn cwnd_is_back_at_w_max_after_k() {
    // RFC 9438 §4.2, figure 1: W_cubic(t) = C (t - K)³ + W_max; cwnd trails it by the time
    // that the last increment takes.
    let mut flow = flow_with(&[("tcp_friendliness", 0)], 1000, 40_000);
    lose(&mut flow);
    let k_s = (300.0 / C).cbrt();
    let at = |t_s: f64| 1000.0 + C * (t_s - k_s).powi(3);

    acknowledge_for(&mut flow, 40_000, k_s / 2.0);
    assert_near(f64::from(flow.sock.snd_cwnd), at(k_s / 2.0), 0.005);
    acknowledge_for(&mut flow, 40_000, k_s / 2.0);
    assert_near(f64::from(flow.sock.snd_cwnd), 1000.0, 0.005);
    acknowledge_for(&mut flow, 40_000, k_s);
    assert_near(f64::from(flow.sock.snd_cwnd), at(2.0 * k_s), 0.005);
}

#[test]
fn growth_does_not_depend_on_how_acks_come() {
    // Appropriate byte counting: an ACK of four counts as four.
    let mut single = flow_with(&[("tcp_friendliness", 0)], 1000, 40_000);
    let mut stretched = flow_with(&[("tcp_friendliness", 0)], 1000, 40_000);
    lose(&mut single);
    lose(&mut stretched);
    for quarter_window in 0..20_000_u64 {
        let now_us = 1_000_000 + quarter_window * 230;
        set_time(&mut single, now_us);
        set_time(&mut stretched, now_us);
        for _ in 0..4 {
            single.cong_avoid(0, 1);
        }
        stretched.cong_avoid(0, 4);
    }
    assert!(single.sock.snd_cwnd > 900);
    assert!(single.sock.snd_cwnd.abs_diff(stretched.sock.snd_cwnd) <= 1);
}

#[test]
fn small_windows_grow_like_reno() {
    // RFC 9438 §4.3: alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.529 packets per round trip; Linux
    // rounds it to 8/15 = 0.533. K is 2.5 s here, and after 1 s CUBIC alone has 18.7 packets.
    let mut flow = flow_with(&[], 20, 10_000);
    lose(&mut flow);
    acknowledge_for(&mut flow, 10_000, 1.0);
    assert_near(
        f64::from(flow.sock.snd_cwnd) - 14.0,
        100.0 * 8.0 / 15.0,
        0.08,
    );
}

#[test]
fn cwnd_grows_by_half_of_what_is_acknowledged_at_most() {
    // RFC 9438 §4.2: the target is at most 1.5 cwnd. A huge deficit right at the plateau's foot.
    let mut flow = flow_with(&[], 100_000, 1_000_000);
    lose(&mut flow);
    flow.sock.snd_cwnd = 100;
    flow.sock.snd_ssthresh = 100;
    flow.cong_avoid(0, 1);
    set_time(&mut flow, 30_000_000);
    flow.cong_avoid(0, 1);
    assert_eq!(series(&flow, "acks_per_increment"), 2);
}

#[test]
fn the_curve_is_followed_every_thirty_second_of_a_second() {
    // Linux: HZ/32 if cwnd has not changed, however many ACKs come.
    let mut flow = flow_with(&[], 10_000, 40_000);
    lose(&mut flow);
    flow.cong_avoid(0, 1);
    let first = series(&flow, "w_cubic_pkts");
    set_time(&mut flow, 1_031_250);
    flow.cong_avoid(0, 1);
    assert_eq!(series(&flow, "w_cubic_pkts"), first);
    set_time(&mut flow, 1_031_251);
    flow.cong_avoid(0, 1);
    assert!(series(&flow, "w_cubic_pkts") > first);
}

#[test]
fn an_epoch_does_not_include_idle_time() {
    // RFC 9438 §4.2: t excludes the time in which nothing was sent.
    let mut flow = flow_with(&[], 1000, 40_000);
    lose(&mut flow);
    flow.cong_avoid(0, 1);
    let start_us = series(&flow, "epoch_start_us");
    flow.sock.delivered_mstamp = 3_000_000;
    set_time(&mut flow, 8_000_000);
    flow.cwnd_event(CaEvent::TxStart);
    assert_eq!(series(&flow, "epoch_start_us"), start_us + 5_000_000);

    // The epoch never starts in the future.
    flow.sock.delivered_mstamp = 0;
    flow.cwnd_event(CaEvent::TxStart);
    assert_eq!(series(&flow, "epoch_start_us"), 8_000_000);
}

#[test]
fn a_timeout_forgets_everything() {
    // RFC 9438 §4.8, and Linux: HyStart may search again.
    let mut flow = flow_with(&[], 1000, 40_000);
    lose(&mut flow);
    flow.cong_avoid(0, 1);
    flow.set_state(CaState::Loss);
    for name in [
        "w_max_pkts",
        "k_ms",
        "epoch_start_us",
        "w_est_pkts",
        "min_rtt_us",
        "hystart_exit",
    ] {
        assert_eq!(series(&flow, name), 0, "{name}");
    }
}

#[test]
fn undo_restores_cwnd() {
    let mut flow = flow_with(&[], 1000, 40_000);
    lose(&mut flow);
    assert_eq!(flow.undo_cwnd(), 1000);
}

#[test]
fn rtts_right_after_a_loss_do_not_count() {
    // Linux: for one second from the start of the epoch.
    let mut flow = flow_with(&[], 1000, 40_000);
    lose(&mut flow);
    flow.cong_avoid(0, 1);
    set_time(&mut flow, 1_999_999);
    sample_rtt(&mut flow, 30_000);
    assert_eq!(series(&flow, "min_rtt_us"), 40_000);
    set_time(&mut flow, 2_000_000);
    sample_rtt(&mut flow, 30_000);
    assert_eq!(series(&flow, "min_rtt_us"), 30_000);
}

/// Slow start in which a round of `min_rtt_us` is followed by one of `rtt_us`; returns the number
/// of samples of the latter after which HyStart left slow start, if it did within 20.
fn samples_until_exit(min_rtt_us: i32, rtt_us: i32) -> Option<u32> {
    let mut flow = flow_with(&[("hystart_detect", 2)], 20, min_rtt_us);
    for _ in 0..20 {
        sample_rtt(&mut flow, min_rtt_us);
    }
    flow.sock.snd_nxt = 20 * MSS_BYTES;
    flow.sock.snd_una = MSS_BYTES;
    for sample in 1..=20 {
        sample_rtt(&mut flow, rtt_us);
        if series(&flow, "hystart_exit") == 2 {
            assert_eq!(flow.sock.snd_ssthresh, flow.sock.snd_cwnd);
            return Some(sample);
        }
    }
    None
}

#[test]
fn hystart_leaves_when_the_rtt_has_risen() {
    // Linux (and RFC 9406 §4.2): a rise by clamp(min_rtt / 8, 4 ms, 16 ms), after 8 samples.
    for (min_rtt_us, rise_us) in [(8_000, 4_000), (40_000, 5_000), (400_000, 16_000)] {
        assert_eq!(samples_until_exit(min_rtt_us, min_rtt_us + rise_us), None);
        assert_eq!(
            samples_until_exit(min_rtt_us, min_rtt_us + rise_us + 1),
            Some(9)
        );
    }
}

#[test]
fn hystart_does_not_look_below_its_low_window() {
    let mut flow = flow_with(&[], 15, 40_000);
    for _ in 0..20 {
        sample_rtt(&mut flow, 80_000);
    }
    assert_eq!(series(&flow, "hystart_exit"), 0);
    flow.sock.snd_cwnd = 16;
    for _ in 0..20 {
        sample_rtt(&mut flow, 80_000);
    }
    assert_eq!(series(&flow, "hystart_exit"), 2);
}

#[test]
fn hystart_measures_the_ack_train() {
    // Linux: ACKs at most 2 ms apart, for more than half of the minimum RTT unless paced.
    let mut flow = flow_with(&[("hystart_detect", 1)], 20, 40_000);
    for step in 1..=11_u64 {
        set_time(&mut flow, 1_000_000 + 2_000 * step);
        sample_rtt(&mut flow, 40_000);
        let is_long = 2_000 * step > 20_000;
        assert_eq!(series(&flow, "hystart_exit"), u64::from(is_long));
    }
    assert_eq!(flow.sock.snd_ssthresh, 20);

    // A gap ends the train for this round.
    let mut flow = flow_with(&[("hystart_detect", 1)], 20, 40_000);
    set_time(&mut flow, 1_002_001);
    for _ in 0..100 {
        let now_us = flow.sock.tcp_mstamp;
        sample_rtt(&mut flow, 40_000);
        set_time(&mut flow, now_us + 1_000);
    }
    assert_eq!(series(&flow, "hystart_exit"), 0);
}

#[test]
fn hystart_waits_longer_for_a_paced_train() {
    // Linux: the whole minimum RTT, and four 64 kB bursts at the pacing rate, 1 ms at most.
    let mut flow = flow_with(&[("hystart_detect", 1)], 20, 40_000);
    flow.sock.sk_pacing_status = dumbbell_cc::SK_PACING_NEEDED;
    flow.sock.sk_pacing_rate = 1_000_000_000;
    let limit_us = 40_000 + 4 * 65_536 / 1000;
    for now_us in (1_000..=limit_us).step_by(1) {
        set_time(&mut flow, 1_000_000 + now_us);
        sample_rtt(&mut flow, 40_000);
    }
    assert_eq!(series(&flow, "hystart_exit"), 0);
    set_time(&mut flow, 1_000_000 + limit_us + 1);
    sample_rtt(&mut flow, 40_000);
    assert_eq!(series(&flow, "hystart_exit"), 1);
}

/// Slow start on 48 Mbit/s and 40 ms, that is a BDP of 168 packets; cwnd at the end of it.
fn slow_start_ends_at(params: &[(&str, i64)]) -> Option<f64> {
    let flow = load("cubic", params).new_flow();
    let mut clock = AckClock::start(flow, 240, 40_000);
    clock
        .run(0.6, |clock| !clock.flow.sock.in_slow_start())
        .then(|| f64::from(clock.flow.sock.snd_cwnd) / clock.bdp_pkts())
}

#[test]
fn hystart_ends_slow_start_near_the_bdp() {
    // cwnd doubles per round. The train is as long as the path in the first round that fills it,
    // so ssthresh is 1 to 2 BDP (Ha & Rhee 2011 §3). All RTTs of a round are higher only in the
    // round after the one that first left a queue behind: 2 to 4 BDP.
    for (detect, expected) in [(1, 1.0..2.0), (2, 2.0..4.0), (3, 1.0..2.0)] {
        let cwnd_bdp = slow_start_ends_at(&[("hystart_detect", detect)]).expect("an exit");
        assert!(expected.contains(&cwnd_bdp), "{detect}: {cwnd_bdp} BDP");
    }
    assert_eq!(slow_start_ends_at(&[("hystart", 0)]), None);
}

#[test]
fn initial_ssthresh_replaces_hystart() {
    let cwnd_bdp = slow_start_ends_at(&[("hystart", 0), ("initial_ssthresh", 100)]);
    assert_near(cwnd_bdp.expect("an exit"), 100.0 / 167.7, 0.01);
}
