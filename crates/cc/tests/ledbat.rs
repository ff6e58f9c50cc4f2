//! LEDBAT by RFC 6817: what it takes for the path's delay and for the queue's, and what the window does with it.

use crate::common::load;
use dumbbell_cc::{AckSample, CaEvent, Flow};

const BASE_RTT_US: i32 = 40_000;
const TARGET_US: i32 = 100_000;
const MINUTE_US: u64 = 60_000_000;

/// A flow that knows its base RTT, with a window that is in use.
fn started(params: &[(&str, i64)], cwnd_pkts: u32) -> Flow {
    let mut flow = load("ledbat", params).new_flow();
    flow.sock.tcp_mstamp = MINUTE_US;
    flow.sock.snd_cwnd = 10;
    flow.init();
    flow.sock.snd_cwnd = cwnd_pkts;
    flow.sock.snd_ssthresh = cwnd_pkts;
    flow.sock.max_packets_out = cwnd_pkts;
    flow.sock.set_cwnd_limited(true);
    sample(&mut flow, BASE_RTT_US);
    flow
}

fn sample(flow: &mut Flow, rtt_us: i32) {
    flow.pkts_acked(&AckSample {
        pkts_acked: 1,
        rtt_us,
        in_flight: 0,
    });
}

/// A window of ACKs, one for each packet, with this RTT.
fn round(flow: &mut Flow, rtt_us: i32) {
    for _ in 0..flow.sock.snd_cwnd {
        sample(flow, rtt_us);
        let ack = flow.sock.snd_una;
        flow.cong_avoid(ack, 1);
    }
}

fn series(flow: &Flow, name: &str) -> u64 {
    let mut found = None;
    flow.read_series(|index, raw| {
        if flow.instance().series()[index].name == name {
            found = Some(raw);
        }
    });
    found.expect("the series is declared")
}

/// §2.5: INIT_CWND is 2, without slow start.
#[test]
fn it_begins_with_two_packets_and_grows_by_one_per_round_trip() {
    let mut flow = load("ledbat", &[]).new_flow();
    flow.sock.snd_cwnd = 10;
    flow.init();
    assert_eq!(flow.sock.snd_cwnd, 2);
    flow.sock.set_cwnd_limited(true);
    for cwnd_pkts in 3..10 {
        // The window grows while its ACKs come in, so each is worth a little less than one of the first.
        round(&mut flow, BASE_RTT_US);
        round(&mut flow, BASE_RTT_US);
        assert!(flow.sock.snd_cwnd >= cwnd_pkts && flow.sock.snd_cwnd <= 2 + 2 * (cwnd_pkts - 2));
    }
}

/// §2.4.2: off_target decides. At a window of 1000 packets a round of 1000 ACKs is worth gain·off_target packets.
#[test]
fn the_window_moves_by_the_distance_from_the_target() {
    for (queueing_us, change_pkts) in [
        (0, 1.0),
        (TARGET_US / 2, 0.5),
        (TARGET_US, 0.0),
        (3 * TARGET_US / 2, -0.5),
        (3 * TARGET_US, -2.0),
    ] {
        let mut flow = started(&[("gain_pct", 1000)], 1000);
        for _ in 0..4 {
            sample(&mut flow, BASE_RTT_US + queueing_us);
        }
        for _ in 0..1000 {
            let ack = flow.sock.snd_una;
            flow.cong_avoid(ack, 1);
        }
        assert_eq!(series(&flow, "queueing_us"), queueing_us as u64);
        let moved_pkts = f64::from(flow.sock.snd_cwnd) - 1000.0;
        // The fraction is not seen, and the window that divides changes by a hundredth.
        let expected = 10.0 * change_pkts;
        assert!(
            (moved_pkts - expected).abs() <= 1.0 + 0.01 * expected.abs(),
            "{queueing_us} us: {moved_pkts} packets"
        );
    }
}

#[test]
fn target_and_gain_are_parameters() {
    for (params, queueing_us, expected) in [
        (&[("target_us", 5000), ("gain_pct", 1000)][..], 0, 10),
        (&[("target_us", 5000), ("gain_pct", 1000)], 2500, 5),
        (&[("target_us", 5000), ("gain_pct", 1000)], 10_000, -10),
        (&[("gain_pct", 50)], 0, 0),
        (&[("gain_pct", 250)], 0, 2),
    ] {
        let mut flow = started(params, 1000);
        for _ in 0..4 {
            sample(&mut flow, BASE_RTT_US + queueing_us);
        }
        let ack = flow.sock.snd_una;
        flow.cong_avoid(ack, 1000);
        assert_eq!(flow.sock.snd_cwnd as i32 - 1000, expected, "{params:?}");
    }
}

/// §2.4.2: the base delay is the smallest of the last ten minutes.
#[test]
fn the_base_delay_is_forgotten_after_its_history() {
    for (params, minutes) in [(&[][..], 10), (&[("base_history", 3)], 3)] {
        let mut flow = started(params, 10);
        for minute in 1..=12 {
            flow.sock.tcp_mstamp += MINUTE_US;
            sample(&mut flow, 2 * BASE_RTT_US);
            let base_us = if minute < minutes {
                BASE_RTT_US
            } else {
                2 * BASE_RTT_US
            };
            assert_eq!(
                series(&flow, "base_delay_us"),
                base_us as u64,
                "{minute} min"
            );
        }
        // A shorter one counts at once.
        sample(&mut flow, BASE_RTT_US / 2);
        assert_eq!(series(&flow, "base_delay_us"), BASE_RTT_US as u64 / 2);
    }
}

/// §2.5: four samples at least in a round trip; the smallest counts, so that spikes do not.
#[test]
fn the_smallest_of_the_last_four_is_the_current_delay() {
    let mut flow = started(&[], 100);
    for (rtt_us, queueing_us) in [
        (60_000, 0),
        (70_000, 0),
        (80_000, 0),
        (90_000, 20_000),
        (90_000, 30_000),
        (50_000, 10_000),
    ] {
        sample(&mut flow, rtt_us);
        assert_eq!(series(&flow, "queueing_us"), queueing_us);
    }
    let mut flow = started(&[("current_filter", 1)], 100);
    sample(&mut flow, 60_000);
    assert_eq!(series(&flow, "queueing_us"), 20_000);
}

/// §2.5: not of delays older than a round trip. With delayed ACKs a window of four has two samples.
#[test]
fn a_small_window_has_fewer_samples_in_a_round_trip() {
    for (cwnd_pkts, queueing_us) in [(2, 40_000), (4, 30_000), (8, 0)] {
        let mut flow = started(&[], cwnd_pkts);
        for rtt_us in [60_000, 70_000, 80_000] {
            sample(&mut flow, rtt_us);
        }
        assert_eq!(
            series(&flow, "queueing_us"),
            queueing_us,
            "{cwnd_pkts} packets"
        );
    }
}

#[test]
fn after_an_idle_period_the_last_delays_are_forgotten() {
    let mut flow = started(&[], 100);
    flow.cwnd_event(CaEvent::TxStart);
    sample(&mut flow, 90_000);
    assert_eq!(series(&flow, "queueing_us"), 50_000);
    assert_eq!(series(&flow, "base_delay_us"), BASE_RTT_US as u64);
}

/// §2.4.2: a loss halves the window, down to MIN_CWND; undoing it gives it back.
#[test]
fn a_loss_halves_the_window() {
    for (cwnd_pkts, ssthresh_pkts) in [(100, 50), (5, 2), (3, 2), (2, 2)] {
        let mut flow = started(&[], cwnd_pkts);
        assert_eq!(flow.ssthresh(), ssthresh_pkts);
    }
    let mut flow = started(&[], 100);
    flow.sock.prior_cwnd = 100;
    flow.sock.snd_cwnd = 50;
    assert_eq!(flow.undo_cwnd(), 100);
}

/// No growth without need (ALLOWED_INCREASE), no shrinking below two packets, no passing of the clamp.
#[test]
fn the_window_stays_within_its_bounds() {
    let mut flow = started(&[], 100);
    flow.sock.set_cwnd_limited(false);
    round(&mut flow, BASE_RTT_US);
    assert_eq!(flow.sock.snd_cwnd, 100);
    let mut flow = started(&[("gain_pct", 10_000)], 100);
    for _ in 0..10 {
        round(&mut flow, 100 * TARGET_US);
    }
    assert_eq!(flow.sock.snd_cwnd, 2);
    let mut flow = started(&[], 100);
    flow.sock.snd_cwnd_clamp = 100;
    round(&mut flow, BASE_RTT_US);
    assert_eq!(flow.sock.snd_cwnd, 100);
    sample(&mut flow, -1);
    assert_eq!(series(&flow, "base_delay_us"), BASE_RTT_US as u64);
}
