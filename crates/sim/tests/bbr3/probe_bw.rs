//! How PROBE_UP, PROBE_DOWN and PROBE_REFILL end.

use crate::bbr3::bed::{App, Bed, Fate, NO_BOUND, NS_PER_MS};
use crate::bbr3::{
    DEEP_PKTS, LINK_RATE_BPS, RTT_MS, assert_near, assert_within, deep, interval_ns, shallow,
};

/// Runs to the start of the next ProbeBW_UP.
#[track_caller]
fn run_to_up(bed: &mut Bed) {
    bed.run_to("refill", 10.0);
    bed.run_to("up", 1.0);
}

/// A deep buffer, and no PROBE_RTT, which would come when it is due in any state.
fn without_probe_rtt() -> Bed {
    Bed::new(LINK_RATE_BPS, RTT_MS, DEEP_PKTS, &[("probe_rtt_ms", 0)])
}

/// "Exiting PROBE_UP on Bandwidth Plateau"
#[test]
fn up_ends_on_a_plateau() {
    let mut bed = deep();
    run_to_up(&mut bed);
    assert_eq!(bed.series("pacing_gain_pct"), 125);
    assert_eq!(bed.series("cwnd_gain_pct"), 225);
    assert_eq!(
        (bed.series("full_bw_now"), bed.series("full_bw_count")),
        (0, 0)
    );
    let from_round = bed.series("round");
    assert!(bed.run(2.0, |bed| bed.state() != "up"));
    assert_eq!(bed.state(), "down");
    assert_eq!(
        (bed.series("full_bw_now"), bed.series("full_bw_count")),
        (1, 3)
    );
    assert_eq!(bed.series("round"), from_round + 3);
    assert_eq!(bed.lost_pkts(), 0);
    // Three rounds at 125 % have raised inflight well above the BDP.
    let inflight_pkts = f64::from(bed.sock().packets_in_flight());
    assert!(inflight_pkts > 1.25 * bed.bdp_pkts(), "{inflight_pkts}");
}

/// "Exiting PROBE_UP on Loss When Application-Limited". HandleInflightTooHigh() sets no
/// inflight_longterm by an application-limited sample: that is the update appropriate here.
#[test]
fn up_ends_on_loss_when_application_limited() {
    let mut bed = deep();
    run_to_up(&mut bed);
    bed.set_app(App::Trickle(interval_ns(40e6)));
    // Past the flight that was sent before, whose samples are not application-limited.
    bed.run(0.2, |_| false);
    assert_eq!(bed.state(), "up");
    bed.decide_fate(|number| {
        if number % 20 == 0 {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let from_round = bed.series("round");
    assert!(bed.run(1.0, |bed| bed.state() != "up"));
    // DOWN is over with the same ACK: an application-limited flow has no queue to drain.
    assert!(matches!(bed.state(), "down" | "cruise"), "{}", bed.state());
    assert_eq!(bed.series("full_bw_now"), 0);
    assert_eq!(bed.series("inflight_longterm_pkts"), NO_BOUND);
    assert!(bed.series("round") - from_round <= 3);
}

/// "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss"
#[test]
fn up_and_startup_go_on_while_application_limited() {
    for state in ["up", "startup"] {
        let mut bed = without_probe_rtt();
        if state == "up" {
            run_to_up(&mut bed);
        } else {
            bed.run(0.1, |_| false);
        }
        bed.set_app(App::Trickle(interval_ns(20e6)));
        let from_round = bed.series("round");
        assert!(
            !bed.run(60.0, |bed| bed.state() != state),
            "{}",
            bed.state()
        );
        assert!(bed.series("round") - from_round > 1000);
        assert_eq!(bed.lost_pkts(), 0);
    }
}

/// "Exiting PROBE_DOWN on Inflight"
#[test]
fn down_ends_when_there_is_headroom_and_no_queue() {
    // In the deep buffer nothing bounds inflight but the BDP; in the shallow one what is 15 %
    // below inflight_longterm does not come before that.
    for mut bed in [deep(), shallow()] {
        let mut exits = 0;
        for _ in 0..6 {
            run_to_up(&mut bed);
            let mut before_pkts = 0;
            bed.run(1.0, |bed| bed.state() != "up");
            bed.run(2.0, |bed| {
                if bed.state() == "down" {
                    assert_eq!(bed.series("pacing_gain_pct"), 90);
                    before_pkts = bed.sock().packets_in_flight();
                }
                bed.state() != "down"
            });
            if before_pkts == 0 || bed.state() != "cruise" {
                continue; // no queue to drain; or the precaution succeeded: REFILL again
            }
            exits += 1;
            let longterm_pkts = bed.series("inflight_longterm_pkts");
            let headroom_pkts = (longterm_pkts as f64 * 0.15).max(1.0);
            let with_headroom_pkts = (longterm_pkts as f64 - headroom_pkts).max(4.0);
            let bound_pkts = bed.estimated_bdp_pkts().min(with_headroom_pkts);
            // The ACK that ends it takes up to two packets, and may let two out.
            let before_pkts = f64::from(before_pkts);
            assert_within(
                "inflight over its bound",
                before_pkts - bound_pkts,
                0.0..=4.0,
            );
        }
        assert!(exits >= 3, "{exits}");
    }
}

/// "Exiting PROBE_DOWN After Max Time"
#[test]
fn down_ends_when_it_is_time_to_probe() {
    let mut bed = without_probe_rtt();
    run_to_up(&mut bed);
    bed.run_to("down", 1.0);
    bed.set_link_rate(LINK_RATE_BPS * 9 / 10);
    let (from_s, from_round) = (bed.now_s(), bed.series("round"));
    assert!(bed.run(10.0, |bed| bed.state() != "down"));
    assert_eq!(bed.state(), "refill");
    // 2 s to 3 s, or 62 or 63 rounds, whichever comes first.
    let (lasted_s, rounds) = (bed.now_s() - from_s, bed.series("round") - from_round);
    assert_within("DOWN, s", lasted_s, 2.0..=3.05);
    assert!(rounds <= 63, "{rounds}");
    assert!(f64::from(bed.sock().packets_in_flight()) > bed.estimated_bdp_pkts());
}

/// "Correctly Managing Sub-Packet BDPs"
#[test]
fn a_bdp_below_a_packet_is_used() {
    // 1 Mbit/s and 1 ms: 0.08 packets; 12 ms for each.
    let mut bed = Bed::new(1_000_000, 1, 1000, &[]);
    bed.run_to("cruise", 20.0);
    let (from_ns, received_bytes) = (bed.now_ns, bed.receiver.counters().received_bytes);
    let mut least_pkts = u32::MAX;
    bed.run(20.0, |bed| {
        least_pkts = least_pkts.min(bed.sock().snd_cwnd);
        false
    });
    // In PROBE_RTT half the BDP is less than a packet, and the floor holds.
    assert_eq!(least_pkts, 4);
    let bytes = bed.receiver.counters().received_bytes - received_bytes;
    let goodput_bps = bytes as f64 * 8e9 / (bed.now_ns - from_ns) as f64;
    assert_near("goodput", goodput_bps, bed.link_payload_bps(), 0.02);
    bed.run_to("cruise", 10.0);
    let pacing_bps = bed.sock().sk_pacing_rate as f64 * 8.0;
    assert_near("pacing rate", pacing_bps, bed.link_payload_bps(), 0.02);
}

/// "Handling Loss During PROBE_UP After inflight_longterm is Set"
#[test]
fn loss_in_up_cuts_inflight_longterm_and_ends_it() {
    let mut bed = shallow();
    bed.run_to("cruise", 5.0);
    assert!(bed.series("inflight_longterm_pkts") < NO_BOUND);
    run_to_up(&mut bed);
    let longterm_pkts = bed.series("inflight_longterm_pkts");
    let target_pkts = bed.estimated_bdp_pkts().min(f64::from(bed.sock().snd_cwnd));
    // A burst of a tenth of the flight is lost at once, long before there is a plateau.
    let lost = (bed.bdp_pkts() / 10.0) as u64;
    bed.decide_fate(move |number| {
        if number < lost {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let from_round = bed.series("round");
    assert!(bed.run(1.0, |bed| bed.state() != "up"));
    assert_eq!(bed.state(), "down");
    assert_eq!(bed.series("full_bw_now"), 0);
    assert!(bed.series("round") - from_round <= 2);
    let cut_pkts = bed.series("inflight_longterm_pkts") as f64;
    assert!(
        cut_pkts < longterm_pkts as f64,
        "{cut_pkts} of {longterm_pkts}"
    );
    assert!(
        cut_pkts >= (0.7 * target_pkts).floor(),
        "{cut_pkts} of {target_pkts}"
    );
}

/// "Handling Application-Limited Sending During PROBE_REFILL"
#[test]
fn a_pause_in_refill_does_not_lower_max_bw() {
    let mut bed = deep();
    bed.run_to("refill", 10.0);
    let max_bw_bps = bed.series("max_bw_bps");
    // A packet per 5 ms, that rounds may end: 5 % of what the link carries.
    bed.set_app(App::Trickle(5 * NS_PER_MS));
    bed.run_to("up", 1.0);
    assert_eq!(bed.series("max_bw_bps"), max_bw_bps);
    bed.run(0.2, |_| false);
    assert_eq!(
        (bed.state(), bed.series("max_bw_bps")),
        ("up", max_bw_bps),
        "its samples stay out"
    );
    bed.set_app(App::Bulk);
    bed.run_to("down", 2.0);
    assert_eq!(bed.series("full_bw_now"), 1);
    let found_bps = bed.series("max_bw_bps") as f64;
    assert_near("max_bw", found_bps, bed.link_payload_bps(), 0.02);
}
