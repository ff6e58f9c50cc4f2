//! Recoveries that prove unwarranted: nothing was lost.

use crate::bbr3::bed::{Fate, NO_BOUND, NS_PER_MS};
use crate::bbr3::{assert_near, assert_within, deep};

/// "Handling Spurious Fast Recovery"
#[test]
fn a_spurious_fast_recovery_is_undone() {
    let mut bed = deep();
    bed.run_to("refill", 10.0);
    bed.run_to("up", 1.0);
    bed.run(0.02, |_| false);
    let (cwnd_pkts, max_bw_bps) = (bed.sock().snd_cwnd, bed.series("max_bw_bps"));
    // A sixth of the flight is overtaken by what follows, for 30 ms: RACK calls it lost.
    bed.decide_fate(|number| {
        if number < 30 {
            Fate::Delay(30 * NS_PER_MS)
        } else {
            Fate::Pass
        }
    });
    // That is more than 2 %: UP ends, and inflight_longterm is set.
    assert!(bed.run(1.0, |bed| bed.state() != "up"));
    assert_eq!(bed.state(), "down");
    assert!(bed.series("inflight_longterm_pkts") < NO_BOUND);
    assert_eq!(
        bed.series("prior_cwnd_pkts"),
        u64::from(bed.sock().snd_cwnd).max(u64::from(cwnd_pkts))
    );

    // The originals arrive; all of it is void and the probe goes on, by way of REFILL.
    assert!(bed.run(0.5, |bed| bed.sender.counters().spurious_recovery_count > 0));
    assert_eq!(bed.state(), "refill");
    assert_eq!(bed.series("inflight_longterm_pkts"), NO_BOUND);
    assert_eq!(bed.series("inflight_shortterm_pkts"), NO_BOUND);
    assert_eq!(bed.series("bw_bps"), bed.series("max_bw_bps"));
    assert_near(
        "max_bw",
        bed.series("max_bw_bps") as f64,
        max_bw_bps as f64,
        0.01,
    );
    // Back to what the state allows: 2 BDP, no longer 2.25.
    let cwnd_bdp = f64::from(bed.sock().snd_cwnd) / bed.estimated_bdp_pkts();
    assert_within("cwnd, BDP", cwnd_bdp, 1.98..=2.1);
    bed.run_to("up", 1.0);
    assert_eq!(bed.lost_pkts(), 0);
}

/// "Handling Spurious RTO Recovery"
#[test]
fn a_spurious_timeout_is_undone() {
    let mut bed = deep();
    bed.run_to("refill", 10.0);
    bed.run_to("up", 1.0);
    bed.run(0.02, |_| false);
    let (cwnd_pkts, max_bw_bps) = (bed.sock().snd_cwnd, bed.series("max_bw_bps"));
    // For half a second nothing arrives, then all of it does, in order.
    let rtt_ns = bed.rtt_ns();
    bed.set_rtt_ns(rtt_ns + 800 * NS_PER_MS);
    assert!(bed.run(1.0, |bed| bed.sender.counters().rto_count > 0));
    bed.set_rtt_ns(rtt_ns);
    assert_eq!(
        bed.series("prior_cwnd_pkts"),
        u64::from(cwnd_pkts).max(bed.series("prior_cwnd_pkts"))
    );
    assert!(bed.run(1.0, |bed| bed.sender.counters().spurious_rto_count > 0));
    assert_eq!(bed.series("inflight_longterm_pkts"), NO_BOUND);
    assert_eq!(bed.series("inflight_shortterm_pkts"), NO_BOUND);
    assert_eq!(bed.series("bw_bps"), bed.series("max_bw_bps"));
    assert!(
        bed.sock().snd_cwnd >= cwnd_pkts - 2,
        "{} of {cwnd_pkts}",
        bed.sock().snd_cwnd
    );
    assert!(matches!(bed.state(), "up" | "refill"), "{}", bed.state());
    assert_near(
        "max_bw",
        bed.series("max_bw_bps") as f64,
        max_bw_bps as f64,
        0.02,
    );
}
