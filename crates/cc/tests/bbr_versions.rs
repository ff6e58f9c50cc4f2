//! What BBR did before Linux changed it, parameter by parameter (docs/bbr.md, "Earlier versions"). Each
//! test has both: what the parameter does, and that it is otherwise today's. The path is 40 ms.

use std::collections::BTreeMap;

use crate::ack_clock::{AckClock, MSS_BYTES, assert_near};
use crate::common::{load, request};
use crate::rounds::{RTT_US, Rounds, bps};
use dumbbell_cc::{CaEvent, Instance, RateSample, SK_PACING_NEEDED};

const DRAIN: u64 = 1;
const PROBE_BW: u64 = 2;
const PROBE_RTT: u64 = 3;

/// 48 Mbit/s of packets of 1440 bytes and headers: time the link takes for one, µs.
const PACKET_US: u64 = 240;

/// A flow that has filled the pipe and drained it, with bursts of up to `gso_segs` segments.
fn in_probe_bw(params: &[(&str, i64)], packet_us: u64, gso_segs: u16) -> AckClock {
    let mut flow = load("bbr", params).new_flow();
    flow.sock.sk_gso_max_segs = gso_segs;
    let mut clock = AckClock::start(flow, packet_us, RTT_US);
    assert!(clock.run(2.0, |clock| clock.series("mode") == PROBE_BW));
    clock
}

/// Pacing rate over bandwidth while it cruises, both in payload.
fn cruising_pace(params: &[(&str, i64)], packet_us: u64, gso_segs: u16) -> f64 {
    let mut clock = in_probe_bw(params, packet_us, gso_segs);
    assert!(clock.run(2.0, |clock| clock.series("cycle_phase") == 5));
    clock.flow.sock.sk_pacing_rate as f64 * 8.0 / clock.series("bw_bps") as f64
}

/// Before Linux 4.19 a packet counts as 1500 bytes in the rate, and TCP's timer charges a burst of
/// k segments as 1448 k + 32.
#[test]
fn internal_pacing_was_too_fast() {
    let params = [
        ("pacing_margin_pct", 0),
        ("rate_header_bytes", 52),
        ("timer_burst_bytes", 32),
    ];
    for (packet_us, gso_segs, k) in [(240, 1, 1.0), (480, 65_535, 2.0), (240, 65_535, 4.0)] {
        let expected = 1500.0 * k / (1448.0 * k + 32.0);
        let pace = cruising_pace(&params, packet_us, gso_segs);
        assert_near(pace, expected, 1e-3);
        assert_near(cruising_pace(&[], packet_us, gso_segs), 0.99, 1e-3);
    }
}

/// fq charged a packet of 1500 bytes as 1514: the margin of 1 % that was implicit.
#[test]
fn fq_paced_below_the_bandwidth() {
    let params = [
        ("pacing_margin_pct", 0),
        ("rate_header_bytes", 52),
        ("timer_packet_bytes", 66),
    ];
    for gso_segs in [1, 65_535] {
        let pace = cruising_pace(&params, PACKET_US, gso_segs);
        assert_near(pace, 1500.0 / 1514.0, 1e-3);
    }
}

#[test]
fn unpaced_it_asks_for_no_pacing() {
    for (unpaced, status) in [(0, SK_PACING_NEEDED), (1, 0)] {
        let rounds = Rounds::start("bbr", &[("unpaced", unpaced)]);
        assert_eq!(rounds.flow.sock.sk_pacing_status, status);
        // The rate still sizes bursts.
        assert!(rounds.flow.sock.sk_pacing_rate > 0);
    }
}

/// PROBE_RTT before the pipe was full: a gain of 1 instead of STARTUP's.
#[test]
fn pacing_fell_outside_startup() {
    for (cut, falls) in [(0, false), (1, true)] {
        let mut rounds = Rounds::start("bbr", &[("cut_after_startup", cut)]);
        let app_limited = |rs: &mut RateSample| rs.is_app_limited = true;
        rounds.round(100, 0, app_limited);
        let before = rounds.flow.sock.sk_pacing_rate;
        rounds.advance(10_001_000);
        rounds.round(100, 0, |rs| {
            app_limited(rs);
            rs.rtt_us = 50_000;
        });
        assert_eq!(rounds.series("mode"), PROBE_RTT);
        assert_eq!(rounds.series("full_bw_reached"), 0);
        assert_eq!(rounds.flow.sock.sk_pacing_rate < before, falls);
    }
}

/// A handshake without an RTT: high_gain × 10 packets per ms, until there is one.
#[test]
fn the_first_rtt_left_the_initial_rate_alone() {
    for (ignored, per_s) in [(0, 25.0), (1, 1000.0)] {
        let mut flow = load("bbr", &[("first_rtt_ignored", ignored)]).new_flow();
        flow.sock.mss_cache = MSS_BYTES;
        flow.sock.snd_cwnd = 10;
        flow.init();
        flow.sock.srtt_us = RTT_US << 3;
        flow.cong_control(0, 0, &crate::ack_clock::no_sample());
        let expected = 0.99 * 739.0 / 256.0 * 10.0 * f64::from(MSS_BYTES) * per_s;
        assert_near(flow.sock.sk_pacing_rate as f64, expected, 1e-3);
    }
}

/// Two rounds without growth, an undo: STARTUP ends after one more, or after three.
#[test]
fn an_undo_kept_the_model() {
    for (keeps, rounds_left) in [(0, 4), (1, 1)] {
        let mut rounds = Rounds::start("bbr", &[("undo_keeps_model", keeps)]);
        for _ in 0..3 {
            rounds.round(100, 0, |_| ());
        }
        rounds.flow.undo_cwnd();
        let mut left = 0;
        while rounds.series("full_bw_reached") == 0 {
            rounds.round(100, 0, |_| ());
            left += 1;
        }
        // Without full_bw the first round is growth.
        assert_eq!(left, rounds_left, "undo_keeps_model={keeps}");
    }
}

#[test]
fn a_delayed_ack_renewed_min_rtt() {
    for (renews, min_rtt_us) in [(0, 40_000), (1, 45_000)] {
        let params = [("probe_rtt_ms", 0), ("delayed_ack_renews", renews)];
        let mut rounds = Rounds::start("bbr", &params);
        rounds.round(50, 0, |_| ());
        rounds.advance(10_001_000);
        rounds.round(50, 0, |rs| (rs.rtt_us, rs.is_ack_delayed) = (45_000, true));
        assert_eq!(rounds.series("min_rtt_us"), min_rtt_us);
    }
}

/// 1 in the phase in which the policer is found, and then the cycle: losses at 5/4.
#[test]
fn gains_cycled_at_a_policer_s_rate() {
    for cycles in [0, 1] {
        let mut rounds = Rounds::start("bbr", &[("lt_bw_cycles", cycles)]);
        for _ in 0..5 {
            rounds.round(100, 0, |_| ());
        }
        while rounds.series("lt_use_bw") == 0 {
            rounds.round(40, 10, |_| ());
        }
        let found_in = rounds.series("cycle_phase");
        assert_eq!(rounds.series("pacing_gain"), 256);
        let mut gains = BTreeMap::new();
        let mut moved = false;
        while rounds.series("lt_use_bw") == 1 {
            let (phase, gain) = (rounds.series("cycle_phase"), rounds.series("pacing_gain"));
            moved |= phase != found_in;
            assert!(moved || gain == 256);
            gains.insert(phase, gain);
            let pacing_bps = rounds.flow.sock.sk_pacing_rate as f64 * 8.0;
            assert_near(pacing_bps, 0.99 * bps(40) * gain as f64 / 256.0, 0.01);
            rounds.round(40, 0, |_| ());
        }
        let expected = if cycles == 1 { (320, 192) } else { (256, 256) };
        assert_eq!((gains[&0], gains[&1]), expected);
    }
}

/// After a pause PROBE_RTT waits for an ACK of something new; any ACK would do.
#[test]
fn any_ack_ended_the_restart() {
    for (any, mode) in [(0, PROBE_BW), (1, PROBE_RTT)] {
        let mut rounds = Rounds::start("bbr", &[("any_ack_ends_idle", any)]);
        for _ in 0..6 {
            rounds.round(100, 0, |_| ());
        }
        rounds.advance(10_001_000);
        rounds.flow.sock.app_limited = 1;
        rounds.flow.cwnd_event(CaEvent::TxStart);
        for _ in 0..2 {
            assert_eq!(rounds.series("mode"), PROBE_BW);
            rounds.round(0, 0, |rs| rs.rtt_us = -1);
        }
        assert_eq!(rounds.series("mode"), mode);
    }
}

/// Most that cwnd is above 2 BDP and three bursts of `burst_pkts`, made even.
fn cwnd_above(params: &[(&str, i64)], burst_pkts: u64, gso_segs: u16) -> i64 {
    let mut all = vec![("extra_acked_gain", 0)];
    all.extend(params);
    let mut clock = in_probe_bw(&all, PACKET_US, gso_segs);
    clock.run(1.0, |_| false);
    let mut most = i64::MIN;
    clock.run(1.0, |clock| {
        let bw_pps = clock.series("bw_bps") as f64 / (8.0 * f64::from(MSS_BYTES));
        let bdp_pkts = bw_pps * clock.series("min_rtt_us") as f64 * 1e-6;
        let paced_pkts = (clock.flow.sock.sk_pacing_rate >> 10) / u64::from(MSS_BYTES);
        let target = (2.0 * bdp_pkts).ceil() as u64 + 3 * burst_pkts.min(paced_pkts);
        let above = i64::from(clock.flow.sock.snd_cwnd) - target.next_multiple_of(2) as i64;
        most = most.max(above);
        false
    });
    most
}

#[test]
fn the_probing_phase_had_no_two_packets_more() {
    assert_eq!(cwnd_above(&[], 127, 65_535), 2);
    assert_eq!(cwnd_above(&[("no_probe_budget", 1)], 127, 65_535), 0);
}

#[test]
fn the_burst_budget_obeyed_the_device() {
    // Without segmentation offload a burst is one segment.
    assert_eq!(cwnd_above(&[("tso_goal_of_device", 1)], 1, 1), 2);
    // Now the budget does not ask: three bursts of 5 in the probing phase.
    assert!(cwnd_above(&[], 1, 1) >= 2 + 3 * 4);
}

/// An ACK of nothing new begins and ends PROBE_RTT; cwnd follows at once, or with new data.
#[test]
fn probe_rtt_cut_and_restored_cwnd_on_acks_of_data() {
    for needs in [0, 1] {
        let mut rounds = Rounds::start("bbr", &[("probe_rtt_needs_acked", needs)]);
        for _ in 0..6 {
            rounds.round(100, 0, |_| ());
        }
        let cwnd = rounds.flow.sock.snd_cwnd;
        let nothing_new = |rs: &mut RateSample| {
            (rs.delivered, rs.acked_sacked, rs.rtt_us) = (-1, 0, 50_000);
        };
        rounds.advance(10_001_000);
        rounds.round(0, 0, nothing_new);
        assert_eq!(rounds.series("mode"), PROBE_RTT);
        let if_new = |then: u32, now: u32| if needs == 1 { then } else { now };
        assert_eq!(rounds.flow.sock.snd_cwnd, if_new(cwnd, 4));
        rounds.round(2, 0, |rs| rs.rtt_us = 50_000);
        assert_eq!(rounds.flow.sock.snd_cwnd, 4);

        rounds.flow.sock.packets_out = 4;
        for _ in 0..2 {
            rounds.round(4, 0, |rs| rs.rtt_us = 50_000);
        }
        rounds.advance(200_000);
        rounds.round(0, 0, nothing_new);
        assert_eq!(rounds.series("mode"), PROBE_BW);
        assert_eq!(rounds.flow.sock.snd_cwnd, if_new(4, cwnd));
        rounds.round(4, 0, |_| ());
        assert!(rounds.flow.sock.snd_cwnd >= 200);
    }
}

/// A restart in PROBE_RTT ends it if its time is over; before Linux 4.19 only an ACK did.
#[test]
fn a_restart_did_not_end_probe_rtt() {
    for (needs, mode) in [(0, PROBE_BW), (1, PROBE_RTT)] {
        let mut rounds = Rounds::start("bbr", &[("probe_rtt_needs_acked", needs)]);
        for _ in 0..6 {
            rounds.round(100, 0, |_| ());
        }
        rounds.advance(10_001_000);
        rounds.flow.sock.packets_out = 4;
        rounds.round(4, 0, |rs| rs.rtt_us = 50_000);
        assert_eq!(rounds.series("mode"), PROBE_RTT);
        rounds.advance(1_000_000);
        rounds.flow.sock.app_limited = 1;
        rounds.flow.cwnd_event(CaEvent::TxStart);
        assert_eq!(rounds.series("mode"), mode);
    }
}

/// 150 packets in flight, of which half will have arrived when the next burst leaves in 30 ms: less
/// than the BDP of 100 and the burst budget.
#[test]
fn inflight_was_that_of_the_ack() {
    for (at_ack, mode) in [(0, PROBE_BW), (1, DRAIN)] {
        let mut rounds = Rounds::start("bbr", &[("inflight_at_ack", at_ack)]);
        rounds.flow.sock.packets_out = 150;
        for _ in 0..4 {
            rounds.flow.sock.tcp_wstamp_ns = rounds.flow.sock.tcp_clock_cache + 70_000_000;
            rounds.round(100, 0, |_| ());
        }
        assert_eq!(rounds.series("full_bw_reached"), 1);
        assert_eq!(rounds.series("mode"), mode);
    }
}

/// The sets of docs/bbr.md load, and switch on what they name.
#[test]
fn the_documented_versions_load() {
    const DOC: &str = include_str!("../../../docs/bbr.md");
    let sets: Vec<Vec<(&str, i64)>> = DOC
        .lines()
        .filter_map(|line| line.strip_prefix("bbr:"))
        .map(|set| {
            let named = set
                .split(',')
                .map(|one| one.split_once('=').expect("name=value"));
            named
                .map(|(name, value)| (name, value.parse().expect("an integer")))
                .collect()
        })
        .collect();
    assert_eq!(sets.len(), 3, "4.15, 4.12 with fq, 4.12 without");
    for set in sets {
        let instance = Instance::load(&request("bbr", &set), 1).expect("the set loads");
        for (name, value) in set {
            assert_eq!(instance.params()[name], value, "{name}");
        }
    }
}
