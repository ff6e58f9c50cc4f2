//! BBRv3's state machine and model, op by op. Numbers are draft-ietf-ccwg-bbr's unless another
//! source is given; the path is 48 Mbit/s and 40 ms, a BDP of 168 packets, with an unlimited
//! queue. The draft's own test cases are in `crates/sim/tests/bbr3`.

use std::collections::BTreeSet;

use crate::ack_clock::{AckClock, MSS_BYTES, assert_near, no_sample, series};
use crate::common::{load, request};
use dumbbell_cc::{CaEvent, CaState, Flow, Instance, RateSample, SK_PACING_NEEDED, describe};

const DOC: &str = include_str!("../../../docs/bbr3.md");

const STARTUP: u64 = 0;
const DRAIN: u64 = 1;
const DOWN: u64 = 2;
const CRUISE: u64 = 3;
const REFILL: u64 = 4;
const UP: u64 = 5;
const PROBE_RTT: u64 = 6;

/// inflight_longterm and similar bounds when not set.
const NO_BOUND: u64 = u32::MAX as u64;

/// Time the link takes for a packet, µs.
const PACKET_US: u64 = 240;
const RTT_US: u32 = 40_000;

fn start(params: &[(&str, i64)]) -> AckClock {
    AckClock::start(load("bbr3", params).new_flow(), PACKET_US, RTT_US)
}

#[test]
fn the_states_come_in_the_drafts_order_with_its_gains() {
    // The table "Summary of Control Behavior in the State Machine".
    let gains = |state| match state {
        STARTUP => (277, 200),
        DRAIN => (50, 200),
        DOWN => (90, 200),
        CRUISE | REFILL => (100, 200),
        UP => (125, 225),
        PROBE_RTT => (100, 50),
        _ => unreachable!("there is no state {state}"),
    };
    let mut clock = start(&[]);
    let mut states = Vec::new();
    clock.run(13.0, |clock| {
        let state = clock.series("state");
        assert_eq!(
            (
                clock.series("pacing_gain_pct"),
                clock.series("cwnd_gain_pct")
            ),
            gains(state)
        );
        if states.last() != Some(&state) {
            states.push(state);
        }
        false
    });
    // DRAIN ends where DOWN does, with an ACK. min_rtt renews itself no more after the start.
    let cycle = [REFILL, UP, DOWN, CRUISE];
    let expected = [
        [STARTUP, DRAIN, CRUISE].as_slice(),
        &cycle,
        &[PROBE_RTT, CRUISE],
        &cycle,
        &[PROBE_RTT, CRUISE],
    ]
    .concat();
    assert_eq!(states[..expected.len()], expected);
}

#[test]
fn pacing_is_one_percent_below_bandwidth_times_gain() {
    let mut clock = start(&[]);
    assert!(clock.run(2.0, |clock| clock.series("state") == CRUISE));
    assert_eq!(clock.flow.sock.sk_pacing_status, SK_PACING_NEEDED);
    clock.run(4.0, |clock| {
        let gain = clock.series("pacing_gain_pct") as f64 / 100.0;
        let expected_bps = 0.99 * gain * clock.series("bw_bps") as f64;
        let pacing_bps = clock.flow.sock.sk_pacing_rate as f64 * 8.0;
        assert_near(pacing_bps, expected_bps, 1e-3);
        false
    });
}

#[test]
fn cwnd_is_the_gain_times_bdp_and_aggregation() {
    // UpdateMaxInflight(): two packets more in UP, and never below 3 quanta of 1 ms.
    let mut clock = start(&[]);
    assert!(clock.run(2.0, |clock| clock.series("state") == CRUISE));
    clock.run(1.0, |_| false);
    clock.run(4.0, |clock| {
        let bw_pps = clock.series("bw_bps") as f64 / (8.0 * f64::from(MSS_BYTES));
        let bdp_pkts = bw_pps * clock.series("min_rtt_us") as f64 * 1e-6;
        let gain = clock.series("cwnd_gain_pct") as f64 / 100.0;
        let target = gain * bdp_pkts + clock.series("extra_acked_pkts") as f64;
        let target = target
            + if clock.series("state") == UP {
                2.0
            } else {
                0.0
            };
        let cwnd = f64::from(clock.flow.sock.snd_cwnd);
        // It grows by what is acked: a quarter of a BDP takes UP a quarter of a round.
        assert!(cwnd <= target + 1.0, "{cwnd}, target {target}");
        if clock.series("state") == CRUISE {
            assert_near(cwnd, target, 0.01);
        }
        false
    });
}

#[test]
fn the_least_in_flight_is_three_quanta_of_a_millisecond() {
    // 4 µs per packet and 100 µs: a BDP of 26 packets, but quanta of 45 (64 kB), 3 of them.
    let flow = load("bbr3", &[]).new_flow();
    let mut clock = AckClock::start(flow, 4, 100);
    assert!(clock.run(1.0, |clock| clock.series("state") == CRUISE));
    let quantum_pkts = 65_536 / MSS_BYTES;
    clock.run(0.1, |_| false);
    assert_eq!(clock.flow.sock.snd_cwnd, 3 * quantum_pkts);
}

#[test]
fn the_next_probe_comes_after_two_to_three_seconds_at_random() {
    // PickProbeWait(), with so many rounds that Reno's share does not matter.
    let mut waits_ms = BTreeSet::new();
    for seed in 0..40 {
        let params = [("probe_wait_rounds", 10_000), ("probe_rtt_ms", 0)];
        let instance = Instance::load(&request("bbr3", &params), seed).expect("it loads");
        // A BDP of 1000 packets, for which Reno would take 40 s.
        let mut clock = AckClock::start(instance.new_flow(), 40, RTT_US);
        assert!(clock.run(2.0, |clock| clock.series("state") == CRUISE));
        let from_ns = clock.now_ns;
        assert!(clock.run(4.0, |clock| clock.series("state") == REFILL));
        let wait_ms = (clock.now_ns - from_ns) / 1_000_000;
        assert!((2000..=3001).contains(&wait_ms), "{wait_ms}");
        waits_ms.insert(wait_ms);
    }
    assert!(waits_ms.len() > 30, "{waits_ms:?}");
    let spread_ms = waits_ms.last().unwrap() - waits_ms.first().unwrap();
    assert!(spread_ms > 800, "{waits_ms:?}");
}

#[test]
fn a_small_bdp_is_probed_as_often_as_reno_would() {
    // IsRenoCoexistenceProbeTime(): a BDP of 20 packets is probed every 19 or 20 rounds.
    let mut clock = start(&[("probe_rtt_ms", 0)]);
    clock.packet_ns = 2_000_000;
    clock.rtt_ns = 38_000_000;
    assert!(clock.run(5.0, |clock| clock.series("state") == CRUISE));
    assert!(clock.run(5.0, |clock| clock.series("state") == UP));
    for _ in 0..5 {
        assert!(clock.run(5.0, |clock| clock.series("state") == CRUISE));
        let round = clock.series("round");
        assert!(clock.run(5.0, |clock| clock.series("state") == REFILL));
        // DOWN took a few of them.
        let rounds = clock.series("round") - round;
        assert!((10..=21).contains(&rounds), "{rounds}");
        assert!(clock.run(5.0, |clock| clock.series("state") == UP));
    }
}

/// Google's values, in the form in which docs/bbr3.md gives them.
fn google() -> Vec<(&'static str, i64)> {
    let line = DOC.lines().find_map(|line| line.strip_prefix("bbr3:"));
    let settings = line.expect("docs/bbr3.md has Google's settings").split(',');
    settings
        .map(|setting| {
            let (name, value) = setting.split_once('=').expect("name=value");
            (name, value.parse().expect("an integer"))
        })
        .collect()
}

#[test]
fn google_has_its_own_set() {
    let mut clock = start(&google());
    assert!(clock.run(2.0, |clock| clock.series("state") == DRAIN));
    assert_eq!(clock.series("pacing_gain_pct"), 34);
    assert!(clock.run(5.0, |clock| clock.series("state") == UP));
    assert!(clock.run(1.0, |clock| clock.series("state") == DOWN));
    assert_eq!(clock.series("pacing_gain_pct"), 91);
}

#[test]
fn every_parameter_and_series_is_documented() {
    let described = describe("bbr3").unwrap_or_else(|error| panic!("{error}"));
    for param in &described.params {
        let row = DOC
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", param.name)))
            .unwrap_or_else(|| panic!("docs/bbr3.md has no row for {}", param.name));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[2], param.default.to_string(), "{}", param.name);
        let google = google().into_iter().find(|(name, _)| *name == param.name);
        let google = google.map_or(param.default, |(_, value)| value);
        assert_eq!(cells[3], google.to_string(), "{}", param.name);
    }
    for series in &described.series {
        assert!(
            DOC.contains(&format!("`{}`", series.name)),
            "{}",
            series.name
        );
    }
}

/// A flow fed with hand-made samples, one ACK per round of `RTT_US`.
struct Rounds {
    flow: Flow,
}

impl Rounds {
    /// 100 packets per round, and so on for 10 rounds: STARTUP is over, and so is DRAIN. PROBE_RTT
    /// never comes: nothing would drain.
    fn start() -> Self {
        let mut flow = load("bbr3", &[("probe_rtt_ms", 0)]).new_flow();
        flow.sock.mss_cache = MSS_BYTES;
        flow.sock.snd_cwnd = 100;
        flow.sock.srtt_us = RTT_US << 3;
        flow.sock.rtt_min.samples = [(0, RTT_US); 3];
        flow.sock.packets_out = 100;
        flow.sock.set_cwnd_limited(true);
        let mut rounds = Self { flow };
        rounds.advance(1_000_000);
        rounds.flow.init();
        for _ in 0..10 {
            rounds.round(100, 0, |_| {});
        }
        assert_eq!(rounds.series("state"), CRUISE);
        rounds
    }

    fn advance(&mut self, us: u64) {
        self.flow.sock.tcp_mstamp += us;
        self.flow.sock.tcp_clock_cache += 1000 * us;
        self.flow.sock.delivered_mstamp = self.flow.sock.tcp_mstamp;
    }

    /// A round in which `delivered` packets arrive and `lost` do not; `edit` can change the sample.
    fn round(&mut self, delivered: u32, lost: u32, edit: impl FnOnce(&mut RateSample)) {
        self.advance(u64::from(RTT_US));
        let sock = &mut self.flow.sock;
        let prior_delivered = sock.delivered;
        sock.delivered += delivered;
        sock.lost += lost;
        let mut rs = RateSample {
            prior_delivered,
            delivered: delivered as i32,
            interval_us: i64::from(RTT_US),
            rtt_us: i64::from(RTT_US),
            losses: lost as i32,
            acked_sacked: delivered,
            prior_in_flight: sock.packets_out,
            ..no_sample()
        };
        edit(&mut rs);
        self.flow.cong_control(0, 0, &rs);
    }

    /// Rounds without events until the state is `state`.
    fn run_to(&mut self, state: u64) {
        for _ in 0..200 {
            if self.series("state") == state {
                return;
            }
            self.round(100, 0, |_| {});
        }
        panic!("still in {}", self.series("state"));
    }

    fn series(&self, name: &str) -> u64 {
        series(&self.flow, name)
    }
}

#[test]
fn losses_between_probes_leave_seven_tenths_or_what_is_delivered() {
    // LossLowerBounds(), once per round with losses.
    let mut rounds = Rounds::start();
    let max_bw_bps = rounds.series("max_bw_bps") as f64;
    let cwnd_pkts = f64::from(rounds.flow.sock.snd_cwnd);
    assert_eq!(rounds.series("inflight_shortterm_pkts"), NO_BOUND);
    // The most that was delivered in the previous round counts, too.
    rounds.round(50, 0, |_| {});
    rounds.round(50, 10, |_| {});
    rounds.round(50, 0, |_| {});
    assert_near(rounds.series("bw_bps") as f64, 0.7 * max_bw_bps, 0.001);
    let shortterm_pkts = rounds.series("inflight_shortterm_pkts") as f64;
    assert_near(shortterm_pkts, 0.7 * cwnd_pkts, 0.01);
    assert!(f64::from(rounds.flow.sock.snd_cwnd) <= shortterm_pkts);
    // Again 0.7, which is below what 60 packets per round are: those hold it.
    rounds.round(60, 10, |_| {});
    rounds.round(60, 0, |_| {});
    assert_near(rounds.series("bw_bps") as f64, 0.6 * max_bw_bps, 0.001);
    assert_eq!(rounds.series("max_bw_bps") as f64, max_bw_bps);
    // The next probe forgets them.
    rounds.run_to(REFILL);
    assert_eq!(rounds.series("inflight_shortterm_pkts"), NO_BOUND);
    assert_eq!(rounds.series("bw_bps"), rounds.series("max_bw_bps"));
}

#[test]
fn inflight_longterm_is_where_the_losses_crossed_two_percent() {
    // InflightAtLoss(): of 200 packets in flight 20 are lost in a burst. 180 were before it, of
    // which 2 % are 3.6: (180 + x) 2 % = x at x = 3.67.
    let mut rounds = Rounds::start();
    rounds.run_to(UP);
    rounds.flow.sock.packets_out = 200;
    rounds.round(100, 20, |_| {});
    assert_eq!(rounds.series("state"), DOWN);
    assert_eq!(rounds.series("inflight_longterm_pkts"), 183);
    // CRUISE and ProbeRTT leave 15 % of it free.
    rounds.flow.sock.packets_out = 90;
    rounds.round(100, 0, |_| {});
    assert_eq!(rounds.series("state"), CRUISE);
    assert!(rounds.flow.sock.snd_cwnd <= 183 - 27);
}

#[test]
fn two_percent_are_tolerated_while_probing() {
    for (lost, ends) in [(2, false), (3, true)] {
        let mut rounds = Rounds::start();
        rounds.run_to(UP);
        rounds.round(100, lost, |_| {});
        assert_eq!(rounds.series("state") != UP, ends, "{lost} of 100");
    }
}

#[test]
fn inflight_longterm_is_never_cut_below_seven_tenths_of_the_target() {
    // HandleInflightTooHigh(): the target is the BDP of 100 packets.
    let mut rounds = Rounds::start();
    rounds.run_to(UP);
    rounds.flow.sock.packets_out = 10;
    rounds.round(100, 5, |_| {});
    let target_pkts = rounds.series("inflight_longterm_pkts");
    assert!((70..=71).contains(&target_pkts), "{target_pkts}");
}

/// The probe after one that lost too much is precautionary: at inflight_longterm it ends at once.
/// Nothing was lost by that, so it goes up again without a CRUISE between, and now it may stay.
fn probe_twice() -> Rounds {
    let mut rounds = Rounds::start();
    rounds.run_to(UP);
    rounds.flow.sock.packets_out = 120;
    rounds.round(100, 10, |_| {});
    rounds.flow.sock.packets_out = 80;
    rounds.run_to(CRUISE);
    rounds.run_to(UP);
    rounds.flow.sock.packets_out = rounds.series("inflight_longterm_pkts") as u32;
    for state in [DOWN, REFILL, UP] {
        rounds.round(100, 0, |_| {});
        assert_eq!(rounds.series("state"), state);
    }
    rounds
}

#[test]
fn the_probe_after_one_that_lost_too_much_is_precautionary() {
    let mut rounds = probe_twice();
    rounds.round(100, 0, |_| {});
    assert_eq!(rounds.series("state"), UP);
}

#[test]
fn inflight_longterm_grows_by_1_2_4_8_per_round() {
    // RaiseInflightLongtermSlope(): a packet per cwnd that is acked, then per half of it, ...
    let mut rounds = probe_twice();
    let mut growth = Vec::new();
    let mut longterm_pkts = rounds.series("inflight_longterm_pkts");
    for _ in 0..6 {
        let cwnd_pkts = rounds.flow.sock.snd_cwnd;
        rounds.flow.sock.packets_out = cwnd_pkts;
        // Application-limited, so that three rounds without more bandwidth do not end it.
        rounds.round(cwnd_pkts, 0, |rs| rs.is_app_limited = true);
        let now_pkts = rounds.series("inflight_longterm_pkts");
        growth.push(now_pkts - longterm_pkts);
        longterm_pkts = now_pkts;
    }
    assert_eq!(rounds.series("state"), UP);
    // A cwnd that is not a multiple moves a packet to the next round, or from it.
    for (power, &pkts) in growth.iter().enumerate() {
        assert!(
            pkts.abs_diff(1 << power) <= 1 + (1 << power) / 8,
            "{growth:?}"
        );
    }
}

#[test]
fn max_bw_forgets_the_cycle_before_the_last() {
    // MaxBwFilterLen: two ProbeBW cycles, which end a round after UP does.
    let mut rounds = Rounds::start();
    let first_bps = rounds.series("max_bw_bps");
    let mut cycles = Vec::new();
    rounds.flow.sock.packets_out = 40;
    for _ in 0..2 {
        for state in [REFILL, UP, CRUISE] {
            for _ in 0..200 {
                if rounds.series("state") == state {
                    break;
                }
                rounds.round(50, 0, |_| {});
            }
            assert_eq!(rounds.series("state"), state);
        }
        rounds.round(50, 0, |_| {});
        cycles.push(rounds.series("max_bw_bps"));
    }
    assert_eq!(cycles[0], first_bps);
    assert_near(cycles[1] as f64, 0.5 * first_bps as f64, 0.001);
}

#[test]
fn application_limited_samples_count_only_if_they_are_higher() {
    let mut rounds = Rounds::start();
    let max_bw_bps = rounds.series("max_bw_bps");
    rounds.round(50, 0, |rs| rs.is_app_limited = true);
    assert_eq!(rounds.series("max_bw_bps"), max_bw_bps);
    rounds.round(200, 0, |rs| rs.is_app_limited = true);
    assert_near(
        rounds.series("max_bw_bps") as f64,
        2.0 * max_bw_bps as f64,
        0.001,
    );
}

#[test]
fn a_timeout_saves_the_cwnd_and_recovery_restores_it() {
    let mut rounds = Rounds::start();
    let cwnd_pkts = rounds.flow.sock.snd_cwnd;
    rounds.flow.ssthresh();
    rounds.flow.set_state(CaState::Loss);
    rounds.flow.sock.snd_cwnd = 1;
    rounds.round(1, 0, |_| {});
    // By what is acked, but never below MinPipeCwnd.
    assert_eq!(rounds.flow.sock.snd_cwnd, 4);
    rounds.flow.set_state(CaState::Open);
    rounds.round(1, 0, |_| {});
    assert!(rounds.flow.sock.snd_cwnd >= cwnd_pkts - 1);
}

#[test]
fn what_a_spurious_loss_taught_is_void() {
    // HandleSpuriousLossDetection(), for a loss that ended UP.
    let mut rounds = Rounds::start();
    rounds.run_to(UP);
    rounds.flow.sock.packets_out = 200;
    rounds.flow.ssthresh();
    rounds.flow.set_state(CaState::Recovery);
    rounds.round(100, 20, |_| {});
    assert_eq!(rounds.series("state"), DOWN);
    assert_eq!(rounds.series("inflight_longterm_pkts"), 183);
    rounds.flow.sock.snd_cwnd = rounds.flow.undo_cwnd();
    assert_eq!(rounds.series("state"), REFILL);
    assert_eq!(rounds.series("inflight_longterm_pkts"), NO_BOUND);
    assert_eq!(rounds.series("inflight_shortterm_pkts"), NO_BOUND);
}

#[test]
fn a_loss_that_a_timeout_declared_and_undo_cancelled_is_not_reported_later() {
    // The stack undoes a spurious timeout before it passes on the ACK that proved it.
    let mut rounds = Rounds::start();
    rounds.run_to(UP);
    rounds.flow.ssthresh();
    rounds.flow.sock.lost += 50;
    rounds.flow.set_state(CaState::Loss);
    rounds.flow.sock.snd_cwnd = rounds.flow.undo_cwnd();
    rounds.flow.set_state(CaState::Open);
    rounds.round(100, 0, |_| {});
    assert_eq!(rounds.series("inflight_longterm_pkts"), NO_BOUND);
    assert!(matches!(rounds.series("state"), UP | REFILL));
}

#[test]
fn an_idle_restart_paces_at_bw_and_spares_probe_rtt() {
    let mut rounds = Rounds::start();
    rounds.flow.sock.packets_out = 0;
    rounds.flow.sock.app_limited = rounds.flow.sock.delivered;
    rounds.advance(6_000_000);
    rounds.flow.cwnd_event(CaEvent::TxStart);
    assert_eq!(rounds.series("idle_restart"), 1);
    let pacing_bps = rounds.flow.sock.sk_pacing_rate as f64 * 8.0;
    assert_near(pacing_bps, 0.99 * rounds.series("bw_bps") as f64, 0.001);
    rounds.round(10, 0, |rs| rs.is_app_limited = true);
    assert_eq!(rounds.series("idle_restart"), 0);
    assert_ne!(rounds.series("state"), PROBE_RTT);
}

#[test]
fn what_left_with_a_packet_is_found_whatever_the_window() {
    // flight_history.h, seen through inflight_longterm: the packet that the ACK is about left 10
    // ACKs ago, when more was in flight than since.
    for window in [120, 300, 3000] {
        let mut rounds = Rounds::start();
        rounds.run_to(UP);
        let per_ack = window / 30;
        rounds.flow.sock.snd_cwnd = window;
        let mut left_when = 0;
        for ack in 0..20 {
            if ack == 10 {
                left_when = rounds.flow.sock.delivered;
            }
            // It had reached the window when the ACK after the 10th came.
            rounds.flow.sock.packets_out = if ack == 10 { window } else { window / 2 };
            let delivered = rounds.flow.sock.delivered;
            rounds.round(per_ack, 0, |rs| {
                rs.prior_delivered = delivered - 1;
                rs.is_app_limited = true;
            });
        }
        rounds.flow.sock.packets_out = window / 2;
        rounds.round(per_ack, window / 10, |rs| rs.prior_delivered = left_when);
        // 90 % of the window, of which 2 %, and that again: 90 (1 + 2/98 ...) = 91.8.
        let found = rounds.series("inflight_longterm_pkts") as f64 / f64::from(window);
        assert_near(found, 0.918, 0.05);
    }
}
