//! BBRv1's state machine and filters. Numbers are Linux's (tcp_bbr.c) unless another source is
//! given; the path is 48 Mbit/s and 40 ms, a BDP of 168 packets, with an unlimited queue.

use crate::ack_clock::{AckClock, MSS_BYTES, assert_near, series};
use crate::common::{load, request};
use crate::rounds::{RTT_US, Rounds, bps};
use dumbbell_cc::{CaEvent, CaState, Instance, RateSample, SK_PACING_NEEDED};

const STARTUP: u64 = 0;
const DRAIN: u64 = 1;
const PROBE_BW: u64 = 2;
const PROBE_RTT: u64 = 3;

/// Time the link takes for a packet, µs.
const PACKET_US: u64 = 240;

fn start(params: &[(&str, i64)]) -> AckClock {
    AckClock::start(load("bbr", params).new_flow(), PACKET_US, RTT_US)
}

/// A flow that has filled the pipe and drained it.
fn start_in_probe_bw(params: &[(&str, i64)]) -> AckClock {
    let mut clock = start(params);
    assert!(clock.run(2.0, |clock| clock.series("mode") == PROBE_BW));
    clock
}

#[test]
fn startup_doubles_every_round() {
    // Cardwell et al. 2016: a gain of 2/ln2 doubles the sending rate each round.
    let mut clock = start(&[]);
    let (mut round, mut inflight_pkts) = (0, 0);
    let mut growth = Vec::new();
    clock.run(0.3, |clock| {
        if clock.series("round") > round {
            round = clock.series("round");
            if inflight_pkts > 0 {
                growth.push(f64::from(clock.flow.sock.packets_out) / f64::from(inflight_pkts));
            }
            inflight_pkts = clock.flow.sock.packets_out;
        }
        f64::from(inflight_pkts) > clock.bdp_pkts()
    });
    assert!(growth.len() >= 4, "{growth:?}");
    let mean = growth
        .iter()
        .product::<f64>()
        .powf(1.0 / growth.len() as f64);
    assert_near(mean, 2.0, 0.1);
}

#[test]
fn startup_ends_after_three_rounds_without_growth() {
    // bbr_full_bw_thresh, bbr_full_bw_cnt: three rounds with less than 25 % more bandwidth.
    let mut clock = start(&[]);
    let (mut full_bw_bps, mut full_round, mut round) = (0.0, 0, 0);
    let stopped = clock.run(2.0, |clock| {
        let bw_bps = clock.series("bw_bps") as f64;
        if clock.series("round") > round {
            round = clock.series("round");
            if bw_bps >= 1.25 * full_bw_bps {
                (full_bw_bps, full_round) = (bw_bps, round);
            }
        }
        clock.series("full_bw_reached") == 1
    });
    assert!(stopped);
    assert_eq!(clock.series("round"), full_round + 3);
    assert_eq!(clock.series("mode"), DRAIN);
    assert_near(clock.series("bw_bps") as f64, clock.link_rate_bps(), 0.02);
}

#[test]
fn drain_empties_the_queue() {
    // Until inflight at the next departure is the BDP with the burst budget: 3 bursts of 4.
    let mut clock = start(&[]);
    assert!(clock.run(2.0, |clock| clock.series("mode") == DRAIN));
    let from_ns = clock.now_ns;
    let queued_pkts = f64::from(clock.flow.sock.packets_out) - clock.bdp_pkts();
    assert!(queued_pkts > 100.0, "{queued_pkts}");
    assert_eq!(
        (clock.series("pacing_gain"), clock.series("cwnd_gain")),
        (88, 739)
    );

    assert!(clock.run(1.0, |clock| clock.series("mode") == PROBE_BW));
    let inflight_pkts = f64::from(clock.flow.sock.packets_out);
    assert_near(inflight_pkts, clock.bdp_pkts() + 12.0, 0.03);
    // The queue drains at 1 - ln2/2 of the link's rate.
    let expected_s = queued_pkts * PACKET_US as f64 * 1e-6 / (1.0 - 1.0 / 2.885);
    let drain_s = (clock.now_ns - from_ns) as f64 * 1e-9;
    assert_near(drain_s, expected_s, 0.2);
}

#[test]
fn probe_bw_uses_the_link_and_keeps_the_queue_small() {
    let mut clock = start_in_probe_bw(&[]);
    clock.run(1.0, |_| false);
    let (delivered, from_ns) = (clock.flow.sock.delivered, clock.now_ns);
    let mut rtt_max_us = 0;
    clock.run(5.0, |clock| {
        rtt_max_us = rtt_max_us.max(clock.rtt_us);
        assert_near(clock.series("bw_bps") as f64, clock.link_rate_bps(), 0.01);
        false
    });
    let pkts = f64::from(clock.flow.sock.delivered - delivered);
    let link_pkts = (clock.now_ns - from_ns) as f64 / clock.packet_ns as f64;
    assert!(pkts / link_pkts > 0.98, "{pkts} of {link_pkts}");
    // Probing at 5/4 for a round leaves a quarter of a BDP in the queue, 10 ms, and before that
    // the burst budget of 12 to 15 packets may be there, 3.6 ms.
    assert!(rtt_max_us < 54_000, "{rtt_max_us}");
}

#[test]
fn gains_cycle() {
    // Eight phases of a min_rtt each: 5/4, 3/4 (that, or until drained), and six at 1.
    let mut clock = start_in_probe_bw(&[]);
    let mut phases: Vec<(u64, u64, u64)> = Vec::new();
    clock.run(2.0, |clock| {
        let phase = clock.series("cycle_phase");
        if phases.last().is_none_or(|last| last.0 != phase) {
            phases.push((phase, clock.series("pacing_gain"), clock.now_ns));
        }
        false
    });
    assert!(phases.len() > 24);
    let min_rtt_ns = 1000 * clock.series("min_rtt_us");
    for pair in phases[1..].windows(2) {
        let [(phase, gain, from_ns), (next, _, to_ns)] = [pair[0], pair[1]];
        assert_eq!(next, (phase + 1) % 8);
        assert_eq!(
            gain,
            [320, 192, 256, 256, 256, 256, 256, 256][phase as usize]
        );
        let lasted_ns = to_ns - from_ns;
        let longest_ns = if phase == 0 {
            2 * min_rtt_ns
        } else {
            min_rtt_ns + 2_000_000
        };
        assert!(lasted_ns <= longest_ns, "phase {phase}: {lasted_ns} ns");
        assert!(
            phase == 1 || lasted_ns >= min_rtt_ns,
            "phase {phase}: {lasted_ns} ns"
        );
    }
}

#[test]
fn the_first_phase_is_random_but_never_the_draining_one() {
    // bbr_cycle_rand: any of the other seven, so that flows do not probe in step.
    let mut seen = [0; 8];
    for seed in 0..100 {
        let instance = Instance::load(&request("bbr", &[]), seed).expect("bbr loads");
        let mut clock = AckClock::start(instance.new_flow(), PACKET_US, RTT_US);
        assert!(clock.run(2.0, |clock| clock.series("mode") == PROBE_BW));
        seen[clock.series("cycle_phase") as usize] += 1;
    }
    assert_eq!(seen[1], 0, "{seen:?}");
    assert!(
        seen.iter().filter(|&&times| times > 0).count() == 7,
        "{seen:?}"
    );
}

#[test]
fn cwnd_is_two_bdp_and_the_burst_budget() {
    // ceil(2 bw min_rtt) + 3 bursts, even, and 2 more in the probing phase. A burst is 1/1024 s
    // of the pacing rate in segments. Without what ACK aggregation would add.
    let mut clock = start_in_probe_bw(&[("extra_acked_gain", 0)]);
    clock.run(1.0, |_| false);
    clock.run(1.0, |clock| {
        let bw_pps = clock.series("bw_bps") as f64 / (8.0 * f64::from(MSS_BYTES));
        let bdp_pkts = bw_pps * clock.series("min_rtt_us") as f64 * 1e-6;
        let burst_pkts = (clock.flow.sock.sk_pacing_rate >> 10) / u64::from(MSS_BYTES);
        let target = (2.0 * bdp_pkts).ceil() as u64 + 3 * burst_pkts.max(2);
        let target = target.next_multiple_of(2) + 2 * u64::from(clock.series("cycle_phase") == 0);
        let cwnd = u64::from(clock.flow.sock.snd_cwnd);
        // It grows to the target by what is acked, a packet per ACK; the probing phase raises
        // the target by 2 and three times a packet more per burst.
        assert!(
            cwnd <= target && cwnd + 6 >= target,
            "{cwnd}, target {target}"
        );
        false
    });
}

#[test]
fn pacing_is_one_percent_below_bandwidth_times_gain() {
    let mut clock = start_in_probe_bw(&[]);
    assert_eq!(clock.flow.sock.sk_pacing_status, SK_PACING_NEEDED);
    clock.run(1.0, |clock| {
        let gain = clock.series("pacing_gain") as f64 / 256.0;
        let expected_bps = 0.99 * gain * clock.series("bw_bps") as f64;
        assert_near(
            clock.flow.sock.sk_pacing_rate as f64 * 8.0,
            expected_bps,
            1e-3,
        );
        false
    });
}

#[test]
fn probe_rtt_comes_when_min_rtt_is_ten_seconds_old() {
    // 4 packets for 200 ms and at least a round, counted from when inflight is down to 4. The
    // path is shorter by 1 ms for a while, and that minimum is never seen again.
    let mut clock = start_in_probe_bw(&[]);
    let mut seen_ns = 0;
    let mut probes_rtt = |clock: &AckClock| {
        if clock.series("mode") != PROBE_RTT
            && u64::from(clock.rtt_us) == clock.series("min_rtt_us")
        {
            seen_ns = clock.now_ns;
        }
        clock.series("mode") == PROBE_RTT
    };
    clock.rtt_ns -= 1_000_000;
    assert!(!clock.run(1.0, &mut probes_rtt));
    clock.rtt_ns += 1_000_000;
    assert!(clock.run(11.0, &mut probes_rtt));
    assert_near((clock.now_ns - seen_ns) as f64 * 1e-9, 10.0, 0.001);
    // It took the RTT of the ACK at hand for a start.
    assert_eq!(clock.series("min_rtt_us"), u64::from(clock.rtt_us));

    let (entered_ns, bw_bps) = (clock.now_ns, clock.series("bw_bps"));
    let mut low_ns = 0;
    assert!(clock.run(1.0, |clock| {
        let in_probe_rtt = clock.series("mode") == PROBE_RTT;
        assert!(!in_probe_rtt || clock.flow.sock.snd_cwnd == 4);
        if low_ns == 0 && clock.flow.sock.packets_out <= 4 {
            low_ns = clock.now_ns;
        }
        !in_probe_rtt
    }));
    let low_s = (clock.now_ns - low_ns) as f64 * 1e-9;
    assert!((0.2..0.25).contains(&low_s), "{low_s}");
    assert!(low_ns - entered_ns < 100_000_000);
    assert_eq!(clock.series("mode"), PROBE_BW);
    // 40 ms and the link's 240 µs for the packet itself.
    assert_eq!(clock.series("min_rtt_us"), 40_240);
    assert!(f64::from(clock.flow.sock.snd_cwnd) > 1.5 * clock.bdp_pkts());

    // Its low rate is not the path's, although it lasted many rounds.
    clock.run(1.0, |_| false);
    assert_near(clock.series("bw_bps") as f64, bw_bps as f64, 0.01);
}

#[test]
fn probe_rtt_can_be_turned_off() {
    let mut clock = start_in_probe_bw(&[("probe_rtt_ms", 0)]);
    clock.rtt_ns += 1_000_000;
    assert!(!clock.run(25.0, |clock| clock.series("mode") == PROBE_RTT));
}

#[test]
fn a_faster_link_is_found_within_a_few_cycles() {
    // Cardwell et al. 2016, figure 3: three cycles of 25 % for twice the rate. A phase may find
    // more, because it lasts until inflight is 5/4 of the BDP at the bandwidth it finds.
    let mut clock = start_in_probe_bw(&[]);
    let from_ns = clock.now_ns;
    clock.packet_ns /= 2;
    assert!(clock.run(5.0, |clock| {
        clock.series("bw_bps") as f64 > 0.98 * clock.link_rate_bps()
    }));
    let cycles = (clock.now_ns - from_ns) as f64 / (8.0 * clock.rtt_ns as f64);
    assert!(cycles < 4.5, "{cycles}");
}

#[test]
fn a_slower_link_is_believed_when_the_filter_has_forgotten() {
    let mut clock = start_in_probe_bw(&[]);
    clock.packet_ns *= 2;
    let round = clock.series("round");
    assert!(clock.run(5.0, |clock| {
        (clock.series("bw_bps") as f64) < 1.05 * clock.link_rate_bps()
    }));
    let rounds = clock.series("round") - round;
    assert!((10..=13).contains(&rounds), "{rounds}");
}

#[test]
fn bandwidth_is_the_best_of_ten_rounds() {
    let mut rounds = Rounds::start("bbr", &[]);
    rounds.round(100, 0, |_| ());
    for _ in 0..10 {
        rounds.round(50, 0, |_| ());
        assert_near(rounds.series("bw_bps") as f64, bps(100), 1e-4);
    }
    rounds.round(50, 0, |_| ());
    assert_near(rounds.series("bw_bps") as f64, bps(50), 1e-4);
}

#[test]
fn application_limited_samples_count_only_if_higher() {
    let mut rounds = Rounds::start("bbr", &[]);
    rounds.round(100, 0, |_| ());
    for _ in 0..30 {
        rounds.round(50, 0, |rs| rs.is_app_limited = true);
    }
    assert_near(rounds.series("bw_bps") as f64, bps(100), 1e-4);
    assert_eq!(rounds.series("full_bw_reached"), 0);
    rounds.round(120, 0, |rs| rs.is_app_limited = true);
    assert_near(rounds.series("bw_bps") as f64, bps(120), 1e-4);
}

#[test]
fn a_delayed_ack_lowers_min_rtt_but_does_not_renew_it() {
    let mut rounds = Rounds::start("bbr", &[("probe_rtt_ms", 0)]);
    rounds.round(50, 0, |rs| (rs.rtt_us, rs.is_ack_delayed) = (39_000, true));
    assert_eq!(rounds.series("min_rtt_us"), 39_000);
    rounds.advance(10_001_000);
    rounds.round(50, 0, |rs| (rs.rtt_us, rs.is_ack_delayed) = (45_000, true));
    assert_eq!(rounds.series("min_rtt_us"), 39_000);
    rounds.round(50, 0, |rs| rs.rtt_us = 45_000);
    assert_eq!(rounds.series("min_rtt_us"), 45_000);
}

#[test]
fn a_policer_is_recognised_and_later_forgotten() {
    // bbr_lt_*: sampling starts with a loss; an interval is 4 rounds or more and ends with a loss
    // at 20 % or more lost; two intervals within 1/8 of each other are a policer, for 48 rounds.
    let mut rounds = Rounds::start("bbr", &[]);
    for _ in 0..5 {
        rounds.round(100, 0, |_| ());
    }
    // The round of the first loss is the first interval's first.
    rounds.round(40, 10, |_| ());
    for round in 2..=8 {
        assert_eq!(rounds.series("lt_use_bw"), 0, "round {round}");
        let policed = if round <= 4 { 40 } else { 42 };
        rounds.round(policed, 10, |_| ());
    }
    assert_eq!(rounds.series("lt_use_bw"), 1);
    // The mean of both intervals.
    assert_near(rounds.series("lt_bw_bps") as f64, bps(41), 0.01);
    // It paces at that rate, without probing.
    assert_eq!(rounds.series("mode"), PROBE_BW);
    for round in 1..48 {
        rounds.round(40, 0, |_| ());
        assert_eq!(rounds.series("lt_use_bw"), 1, "round {round}");
        assert_eq!(rounds.series("pacing_gain"), 256);
        let pacing_bps = rounds.flow.sock.sk_pacing_rate as f64 * 8.0;
        assert_near(pacing_bps, 0.99 * bps(41), 0.01);
    }
    rounds.round(40, 0, |_| ());
    assert_eq!(rounds.series("lt_use_bw"), 0);
}

#[test]
fn what_is_not_a_policer_is_not_taken_for_one() {
    let policed = |params: &[(&str, i64)], lost: u32, other: u32, app_limited: bool| {
        let mut rounds = Rounds::start("bbr", params);
        (0..40).any(|round| {
            let delivered = if round / 4 % 2 == 0 { 40 } else { other };
            rounds.round(delivered, lost, |rs| rs.is_app_limited = app_limited);
            rounds.series("lt_use_bw") == 1
        })
    };
    assert!(policed(&[], 10, 40, false));
    // Less than 50/256 lost; rates that differ by more than 1/8; an application that pauses.
    assert!(!policed(&[], 7, 40, false));
    assert!(!policed(&[], 15, 60, false));
    assert!(!policed(&[], 10, 40, true));
    assert!(!policed(&[("lt_bw_enable", 0)], 10, 40, false));
}

#[test]
fn recovery_conserves_packets_for_a_round_and_then_restores_cwnd() {
    let mut rounds = Rounds::start("bbr", &[]);
    for _ in 0..6 {
        rounds.round(100, 0, |_| ());
    }
    assert_eq!(rounds.series("mode"), PROBE_BW);
    let cwnd = rounds.flow.sock.snd_cwnd;
    assert!(cwnd > 200);

    // ssthresh is untouched; cwnd becomes what is in flight and what was acked.
    let ssthresh = rounds.flow.sock.snd_ssthresh;
    assert_eq!(rounds.flow.ssthresh(), ssthresh);
    assert_eq!(rounds.series("prior_cwnd_pkts"), u64::from(cwnd));
    rounds.flow.set_state(CaState::Recovery);
    rounds.flow.sock.packets_out = 150;
    let in_round = |rs: &mut RateSample| (rs.prior_delivered, rs.acked_sacked) = (0, 3);
    rounds.round(3, 5, in_round);
    assert_eq!(rounds.flow.sock.snd_cwnd, 153);
    rounds.round(3, 2, in_round);
    assert_eq!(rounds.flow.sock.snd_cwnd, 153);
    // A round later it grows by what is acked, after the losses are taken off.
    rounds.round(100, 4, |rs| rs.acked_sacked = 3);
    assert_eq!(rounds.flow.sock.snd_cwnd, 152);

    rounds.flow.set_state(CaState::Open);
    rounds.round(100, 0, |_| ());
    assert!(rounds.flow.sock.snd_cwnd.abs_diff(cwnd) <= 2);
}

#[test]
fn a_timeout_restores_cwnd_too() {
    let mut rounds = Rounds::start("bbr", &[]);
    for _ in 0..6 {
        rounds.round(100, 0, |_| ());
    }
    let cwnd = rounds.flow.sock.snd_cwnd;
    rounds.flow.ssthresh();
    rounds.flow.set_state(CaState::Loss);
    (rounds.flow.sock.snd_cwnd, rounds.flow.sock.packets_out) = (1, 0);
    rounds.round(1, 0, |_| ());
    assert_eq!(rounds.flow.sock.snd_cwnd, 4);
    rounds.flow.set_state(CaState::Open);
    rounds.round(1, 0, |_| ());
    assert!(rounds.flow.sock.snd_cwnd.abs_diff(cwnd) <= 2);
}

#[test]
fn cwnd_allows_for_acks_that_come_in_bursts() {
    // The most acked beyond bw in 5 to 10 rounds, at most 100 ms of bw; only after STARTUP.
    let cwnd_with = |params: &[(&str, i64)]| {
        let mut rounds = Rounds::start("bbr", params);
        for _ in 0..12 {
            rounds.round(100, 0, |_| ());
            // 30 packets more at once: not a higher rate, but more than bw explains.
            rounds.advance(1_000);
            rounds.round(30, 0, |rs| {
                (rs.interval_us, rs.prior_delivered) = (41_000, 0)
            });
        }
        rounds.flow.sock.snd_cwnd
    };
    let extra_pkts = cwnd_with(&[]) - cwnd_with(&[("extra_acked_gain", 0)]);
    assert!((28..=132).contains(&extra_pkts), "{extra_pkts}");
}

#[test]
fn sending_resumes_at_the_estimated_bandwidth() {
    // After the application paused: no probing gain, and no PROBE_RTT at once.
    let mut clock = start_in_probe_bw(&[]);
    assert!(clock.run(2.0, |clock| clock.series("cycle_phase") == 0));
    clock.flow.sock.app_limited = clock.flow.sock.delivered + clock.flow.sock.packets_out;
    clock.flow.cwnd_event(CaEvent::TxStart);
    let pacing_bps = clock.flow.sock.sk_pacing_rate as f64 * 8.0;
    assert_near(pacing_bps, 0.99 * clock.series("bw_bps") as f64, 1e-3);
}

#[test]
fn the_first_pacing_rate_comes_from_the_handshake() {
    // high_gain × 10 packets per RTT, or per 1 ms without one.
    let clock = start(&[]);
    let expected = 0.99 * 739.0 / 256.0 * 10.0 * f64::from(MSS_BYTES);
    assert_near(clock.flow.sock.sk_pacing_rate as f64, expected / 0.04, 1e-3);

    let mut flow = load("bbr", &[]).new_flow();
    flow.sock.mss_cache = MSS_BYTES;
    flow.sock.snd_cwnd = 10;
    flow.init();
    assert_near(flow.sock.sk_pacing_rate as f64, expected / 0.001, 1e-3);
    assert_eq!(series(&flow, "mode"), STARTUP);
}

#[test]
fn bursts_are_single_segments_below_1200_kbit() {
    let mut flow = load("bbr", &[]).new_flow();
    flow.sock.sk_pacing_rate = 149_999;
    assert_eq!(flow.min_tso_segs(), Some(1));
    flow.sock.sk_pacing_rate = 150_000;
    assert_eq!(flow.min_tso_segs(), Some(2));
    assert_eq!(flow.sndbuf_expand(), Some(3));
}
