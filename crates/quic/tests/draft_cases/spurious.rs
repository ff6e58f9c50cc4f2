//! Recoveries that prove unwarranted: nothing was lost.

use super::bed::{Fate, NS_PER_MS};
use super::{Outcome, deep, near, run_to, run_to_up, within};

pub(super) fn fast_recovery(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to_up(&mut bed)?;
    bed.run(0.02, |_, _| false);
    let max_bw = bed.view().max_bw;
    // A sixth of the flight is overtaken by what follows, for 15 ms. (With 30 ms noq reports no spurious loss: after two
    // probe timeouts it forgets what it declared lost.)
    bed.decide_fate(|number| {
        if number < 30 {
            Fate::Delay(15 * NS_PER_MS)
        } else {
            Fate::Pass
        }
    });
    let left = bed.run(1.0, |view, _| view.state != "up");
    let view = bed.view();
    require!(
        left && view.state == "down",
        "in {} after a sixth is late",
        view.state
    );
    require!(
        view.inflight_longterm.is_finite(),
        "inflight_longterm is not set"
    );
    // The originals arrive; all of it is void.
    let undone = bed.run(0.5, |view, _| view.inflight_longterm.is_infinite());
    require!(undone, "inflight_longterm stays when nothing was lost");
    let view = bed.view();
    require!(
        matches!(view.state, "refill" | "up"),
        "in {} after it is undone",
        view.state
    );
    require!(
        view.inflight_shortterm.is_infinite(),
        "inflight_shortterm stays"
    );
    near("bw over max_bw", view.bw, view.max_bw, 0.01)?;
    near("max_bw, of before", view.max_bw, max_bw, 0.02)?;
    run_to(&mut bed, "up", 1.0)?;
    require!(bed.lost_pkts == 0, "{} packets lost", bed.lost_pkts);
    Ok(())
}

/// QUIC has no timeout that reduces cwnd: a PTO sends a probe. What must hold is what holds after the undo.
pub(super) fn timeout(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to_up(&mut bed)?;
    bed.run(0.02, |_, _| false);
    let view = bed.view();
    let (cwnd, max_bw) = (view.cwnd, view.max_bw);
    // For half a second nothing arrives, then all of it does, in order.
    let rtt_ns = bed.rtt_ns();
    bed.set_rtt_ns(rtt_ns + 800 * NS_PER_MS);
    bed.run(0.35, |_, _| false);
    bed.set_rtt_ns(rtt_ns);
    bed.run(1.0, |_, _| false);
    let view = bed.view();
    require!(
        view.inflight_longterm.is_infinite(),
        "inflight_longterm is set though nothing was lost"
    );
    require!(
        view.inflight_shortterm.is_infinite(),
        "inflight_shortterm is set though nothing was lost"
    );
    near("bw over max_bw", view.bw, view.max_bw, 0.01)?;
    within("cwnd, of before", view.cwnd / cwnd, 0.85..=f64::INFINITY)?;
    near("max_bw, of before", view.max_bw, max_bw, 0.03)
}
