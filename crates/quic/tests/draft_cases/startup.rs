//! How STARTUP and DRAIN end.

use super::bed::{App, Fate};
use super::{Outcome, RATE_BPS, deep, interval_ns, near, run_to, within};

pub(super) fn plateau(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to(&mut bed, "drain", 3.0)?;
    let view = bed.view();
    require!(
        view.full_bw_now && view.full_bw_reached,
        "full_bw_now and full_bw_reached are not set"
    );
    require!(bed.lost_pkts == 0, "{} packets lost", bed.lost_pkts);
    near(
        "max_bw over the link's rate",
        view.max_bw,
        bed.link_bw(),
        0.02,
    )
}

pub(super) fn loss_when_limited(name: &str) -> Outcome {
    let mut bed = deep(name);
    bed.run(0.15, |_, _| false);
    bed.set_app(App::Trickle(interval_ns(30e6)));
    bed.run(2.0, |_, _| false);
    let view = bed.view();
    require!(view.state == "startup", "{} before any loss", view.state);
    bed.decide_fate(|number| {
        if number % 10 == 0 {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let from_round = view.round;
    let left = bed.run(2.0, |view, _| view.state != "startup");
    require!(left, "still in STARTUP after 2 s with 10 % lost");
    let view = bed.view();
    require!(view.full_bw_reached, "full_bw_reached is not set");
    within(
        "rounds to the end of STARTUP",
        (view.round - from_round) as f64,
        1.0..=5.0,
    )
}

pub(super) fn drain_by_inflight(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to(&mut bed, "drain", 3.0)?;
    let view = bed.view();
    within("DRAIN's pacing gain", view.pacing_gain, 0.49..=0.51)?;
    let (from_round, mut inflight) = (view.round, f64::INFINITY);
    let left = bed.run(1.0, |view, _| {
        if view.state == "drain" {
            inflight = view.inflight;
        }
        view.state != "drain"
    });
    require!(left, "still in DRAIN after 1 s");
    let view = bed.view();
    within(
        "inflight at the end of DRAIN over the BDP",
        inflight / view.bdp(),
        0.95..=1.05,
    )?;
    require!(
        view.round - from_round <= 3,
        "{} rounds of DRAIN",
        view.round - from_round
    );
    Ok(())
}

/// The rate falls by 55 %: by the draft's 10 % DRAIN ends by inflight, which is the second half.
pub(super) fn drain_by_time(name: &str) -> Outcome {
    for (left_pct, by_time) in [(45, true), (90, false)] {
        let mut bed = deep(name);
        run_to(&mut bed, "drain", 3.0)?;
        let from_round = bed.view().round;
        bed.set_rate(RATE_BPS * left_pct / 100);
        let mut inflight = 0.0;
        let left = bed.run(3.0, |view, _| {
            if view.state == "drain" {
                inflight = view.inflight;
            }
            view.state != "drain"
        });
        require!(left, "still in DRAIN after 3 s");
        let view = bed.view();
        let rounds = view.round - from_round;
        if by_time {
            require!(inflight > view.bdp(), "it ended by inflight");
            require!((3..=4).contains(&rounds), "{rounds} rounds of DRAIN");
        } else {
            require!(rounds <= 3, "{rounds} rounds of DRAIN");
        }
        require!(
            view.inflight_longterm.is_infinite(),
            "inflight_longterm is set"
        );
    }
    Ok(())
}
