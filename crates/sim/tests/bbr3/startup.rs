//! How STARTUP and DRAIN end.

use crate::bbr3::bed::{App, Bed, Fate, NO_BOUND};
use crate::bbr3::{assert_near, assert_within, deep, interval_ns, shallow};

/// The draft's Inflight(1.0): a BDP, but room for 3 bursts of at least 2 packets at any rate.
fn target_pkts(bed: &Bed) -> f64 {
    let quantum_pkts =
        (bed.sock().sk_pacing_rate / 1000 / u64::from(crate::bbr3::bed::MSS_BYTES)).max(2);
    bed.estimated_bdp_pkts().max(3.0 * quantum_pkts as f64)
}

/// "Exiting STARTUP on Bandwidth Plateau"
#[test]
fn startup_ends_on_a_plateau() {
    let mut bed = deep();
    let (mut baseline_bps, mut baseline_round, mut round) = (0.0, 0, 0);
    assert!(bed.run(3.0, |bed| {
        if bed.series("round") > round {
            round = bed.series("round");
            let rate_bps =
                f64::from(bed.sock().rate_delivered) * f64::from(crate::bbr3::bed::MSS_BYTES) * 8e6
                    / f64::from(bed.sock().rate_interval_us.max(1));
            if rate_bps >= 1.25 * baseline_bps {
                (baseline_bps, baseline_round) = (rate_bps, round);
            }
        }
        bed.state() != "startup"
    }));
    assert_eq!(bed.state(), "drain");
    assert_eq!(bed.series("full_bw_count"), 3);
    assert_eq!(bed.series("round"), baseline_round + 3);
    assert_eq!(
        (bed.series("full_bw_now"), bed.series("full_bw_reached")),
        (1, 1)
    );
    assert_eq!(bed.lost_pkts(), 0);
    let max_bw_bps = bed.series("max_bw_bps") as f64;
    assert_near("max_bw", max_bw_bps, bed.link_payload_bps(), 0.02);
}

/// The same buffer-limited: STARTUP ends by loss, too, when it overflows a shallow buffer.
#[test]
fn startup_ends_when_it_overflows_a_buffer() {
    let mut bed = shallow();
    bed.run_to("drain", 3.0);
    assert!(bed.series("full_bw_count") < 3 && bed.lost_pkts() > 0);
    // What it found safe: a BDP, or what was delivered in a round.
    let longterm_pkts = bed.series("inflight_longterm_pkts") as f64;
    assert_within(
        "inflight_longterm, BDP",
        longterm_pkts / bed.bdp_pkts(),
        0.98..=1.35,
    );
}

/// "Exiting STARTUP on Loss When Application-Limited"
#[test]
fn startup_ends_on_loss_when_application_limited() {
    let mut bed = deep();
    bed.run(0.05, |_| false);
    bed.set_app(App::Trickle(interval_ns(30e6)));
    bed.run(2.0, |_| false);
    assert_eq!(bed.state(), "startup");
    assert_eq!(bed.series("full_bw_count"), 0);

    // 10 % of 104 packets per round: ten discontiguous ones.
    bed.decide_fate(|number| {
        if number % 10 == 0 {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let from_round = bed.series("round");
    let mut was_limited = true;
    assert!(bed.run(2.0, |bed| {
        was_limited &= bed.sock().app_limited != 0;
        bed.state() != "startup"
    }));
    assert!(was_limited);
    // DRAIN is over with the same ACK: an application-limited flow has no queue to drain.
    assert!(
        matches!(bed.state(), "drain" | "down" | "cruise"),
        "{}",
        bed.state()
    );
    assert_eq!(
        (bed.series("full_bw_now"), bed.series("full_bw_reached")),
        (1, 1)
    );
    // Not by a plateau; after at least a round of recovery, which the first loss starts.
    assert!(bed.series("full_bw_count") < 3);
    let rounds = (bed.series("round") - from_round) as f64;
    assert_within("rounds to the end of STARTUP", rounds, 2.0..=5.0);
}

/// "Exiting DRAIN Based on Inflight"
#[test]
fn drain_ends_when_inflight_is_the_bdp() {
    let mut bed = deep();
    bed.run_to("drain", 3.0);
    assert_eq!(bed.series("pacing_gain_pct"), 50);
    let from_round = bed.series("round");
    let mut inflight_pkts = f64::INFINITY;
    assert!(bed.run(1.0, |bed| {
        if bed.state() != "drain" {
            return true;
        }
        // Time may pass between an ACK and what it lets out.
        inflight_pkts = f64::from(bed.sock().packets_in_flight());
        false
    }));
    assert!(matches!(bed.state(), "down" | "cruise"), "{}", bed.state());
    // The ACK before, two packets earlier, it was still above.
    assert!(inflight_pkts > target_pkts(&bed), "{inflight_pkts}");
    assert_near("inflight", inflight_pkts, target_pkts(&bed), 0.03);
    assert!(bed.series("round") - from_round <= 3);
}

/// "Exiting DRAIN Based on Time". The draft has the bandwidth fall by 10 % to keep inflight above
/// the BDP for 3 rounds. Drain's pacing of 50 % empties the queue of a lone flow all the same, so
/// here it falls below that. With 10 % DRAIN ends by inflight, which the second half shows.
#[test]
fn drain_ends_after_three_rounds() {
    for (left_pct, by_time) in [(45, true), (90, false)] {
        let mut bed = deep();
        bed.run_to("drain", 3.0);
        let drain_start_round = bed.series("round");
        bed.set_link_rate(crate::bbr3::LINK_RATE_BPS * left_pct / 100);
        let mut inflight_pkts = 0.0;
        assert!(bed.run(3.0, |bed| {
            inflight_pkts = f64::from(bed.sock().packets_in_flight());
            bed.state() != "drain"
        }));
        assert!(matches!(bed.state(), "down" | "cruise"), "{}", bed.state());
        let rounds = bed.series("round") - drain_start_round;
        if by_time {
            assert!(inflight_pkts > target_pkts(&bed));
            assert_eq!(rounds, 4, "the round after the third");
        } else {
            assert!(rounds <= 3);
        }
        assert_eq!(bed.series("inflight_longterm_pkts"), NO_BOUND);
    }
}
