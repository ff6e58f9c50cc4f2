//! How PROBE_UP, PROBE_DOWN and PROBE_REFILL end.

use super::bed::{App, Bed, Fate, NS_PER_MS, PAYLOAD_BYTES};
use super::{
    DEEP_PKTS, Outcome, RATE_BPS, RTT_MS, deep, interval_ns, near, run_to, run_to_up, shallow,
    within,
};

pub(super) fn plateau(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to_up(&mut bed)?;
    let view = bed.view();
    within("UP's pacing gain", view.pacing_gain, 1.24..=1.26)?;
    within("UP's cwnd gain", view.cwnd_gain, 2.24..=2.26)?;
    require!(
        !view.full_bw_now && view.full_bw_count == 0,
        "the search for full_bw goes on from the last one"
    );
    let from_round = view.round;
    let left = bed.run(2.0, |view, _| view.state != "up");
    let view = bed.view();
    require!(left && view.state == "down", "in {} after 2 s", view.state);
    require!(view.full_bw_now, "full_bw_now is not set");
    within("rounds of UP", (view.round - from_round) as f64, 3.0..=4.0)?;
    require!(bed.lost_pkts == 0, "{} packets lost", bed.lost_pkts);
    require!(
        view.inflight > 1.25 * bed.bdp(),
        "inflight is {:.2} BDP",
        view.inflight / bed.bdp()
    );
    Ok(())
}

pub(super) fn loss_when_limited(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to_up(&mut bed)?;
    bed.set_app(App::Trickle(interval_ns(40e6)));
    bed.run(0.25, |_, _| false);
    let view = bed.view();
    require!(view.state == "up", "in {} before any loss", view.state);
    bed.decide_fate(|number| {
        if number % 20 == 0 {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let from_round = view.round;
    let left = bed.run(1.0, |view, _| view.state != "up");
    require!(left, "still in UP after 1 s with 5 % lost");
    let view = bed.view();
    require!(matches!(view.state, "down" | "cruise"), "in {}", view.state);
    require!(
        view.inflight_longterm.is_infinite(),
        "an application-limited sample sets inflight_longterm"
    );
    require!(
        view.round - from_round <= 3,
        "after {} rounds",
        view.round - from_round
    );
    Ok(())
}

/// PROBE_RTT would come when it is due in any state: the flow has five seconds.
pub(super) fn never_when_limited(name: &str) -> Outcome {
    for state in ["up", "startup"] {
        let mut bed = deep(name);
        if state == "up" {
            run_to(&mut bed, "probe_rtt", 10.0)?;
            run_to_up(&mut bed)?;
        } else {
            bed.run(0.15, |_, _| false);
        }
        bed.set_app(App::Trickle(interval_ns(20e6)));
        let from_round = bed.view().round;
        let seconds = if state == "up" { 1.5 } else { 4.5 };
        bed.run(seconds, |view, _| view.state != state);
        let view = bed.view();
        require!(
            view.state == state,
            "{state} ended at {:.1} s in {}",
            bed.now_s(),
            view.state
        );
        require!(
            view.round - from_round > 30,
            "{} rounds",
            view.round - from_round
        );
        require!(bed.lost_pkts == 0, "{} packets lost", bed.lost_pkts);
    }
    Ok(())
}

pub(super) fn down_by_inflight(name: &str) -> Outcome {
    for mut bed in [deep(name), shallow(name)] {
        let mut exits = 0;
        for _ in 0..10 {
            run_to_up(&mut bed)?;
            bed.run(1.0, |view, _| view.state != "up");
            let (mut before, mut gain) = (0.0, 0.9);
            bed.run(3.0, |view, _| {
                if view.state == "down" {
                    (before, gain) = (view.inflight, view.pacing_gain);
                }
                view.state != "down"
            });
            within("DOWN's pacing gain", gain, 0.89..=0.91)?;
            let view = bed.view();
            if before == 0.0 || view.state != "cruise" {
                continue;
            }
            exits += 1;
            let mss = f64::from(PAYLOAD_BYTES);
            let with_headroom = view.inflight_longterm.min(0.85 * view.inflight_longterm);
            let bound = view.bdp().min(with_headroom.max(4.0 * mss));
            within(
                "packets of inflight over its bound at the end of DOWN",
                (before - bound) / mss,
                -1.0..=6.0,
            )?;
        }
        require!(exits >= 3, "CRUISE came {exits} times of 10");
    }
    Ok(())
}

/// The rate falls by 10 % when DOWN begins, so that inflight stays above the BDP. PROBE_RTT would come when it is due in any
/// state, five seconds after the last; so the case is begun with several seeds.
pub(super) fn down_by_time(name: &str) -> Outcome {
    for seed in 1..=12 {
        let mut bed = Bed::with_seed(name, RATE_BPS, RTT_MS, DEEP_PKTS, seed);
        run_to(&mut bed, "probe_rtt", 10.0)?;
        run_to_up(&mut bed)?;
        run_to(&mut bed, "down", 1.0)?;
        bed.set_rate(RATE_BPS * 9 / 10);
        let (from_s, from_round) = (bed.now_s(), bed.view().round);
        let left = bed.run(10.0, |view, _| view.state != "down");
        let view = bed.view();
        if view.state == "probe_rtt" {
            continue;
        }
        let lasted_s = bed.now_s() - from_s;
        require!(
            left && view.state == "refill",
            "in {} after {lasted_s:.1} s",
            view.state
        );
        within("DOWN, s", lasted_s, 1.0..=3.05)?;
        require!(
            view.round - from_round <= 63,
            "{} rounds",
            view.round - from_round
        );
        require!(view.inflight > view.bdp(), "it ended by inflight");
        return Ok(());
    }
    Err("PROBE_RTT came first with each of 12 seeds".to_owned())
}

pub(super) fn below_a_packet(name: &str) -> Outcome {
    let mut bed = Bed::new(name, 1_000_000, 1, 1000);
    run_to(&mut bed, "cruise", 20.0)?;
    let (from_ns, received_bytes) = (bed.now_ns, bed.received_bytes());
    let mut least = f64::INFINITY;
    bed.run(20.0, |view, _| {
        least = least.min(view.cwnd);
        false
    });
    within(
        "least cwnd, packets",
        least / f64::from(PAYLOAD_BYTES),
        3.9..=4.1,
    )?;
    let bytes = (bed.received_bytes() - received_bytes) as f64;
    let bw = bytes * 1e9 / (bed.now_ns - from_ns) as f64;
    // Frames and tags take 40 of a packet's 1452 bytes.
    within(
        "goodput over the link's rate",
        bw / bed.link_bw(),
        0.94..=0.98,
    )?;
    run_to(&mut bed, "cruise", 10.0)?;
    let view = bed.view();
    near(
        "pacing rate over the link's",
        view.pacing_rate,
        bed.link_bw(),
        0.03,
    )
}

pub(super) fn loss_in_up(name: &str) -> Outcome {
    let mut bed = shallow(name);
    run_to(&mut bed, "cruise", 5.0)?;
    require!(
        bed.view().inflight_longterm.is_finite(),
        "a buffer of 0.3 BDP sets no inflight_longterm"
    );
    run_to_up(&mut bed)?;
    let view = bed.view();
    let (longterm, target) = (view.inflight_longterm, view.bdp().min(view.cwnd));
    let lost = (bed.bdp() / f64::from(PAYLOAD_BYTES) / 10.0) as u64;
    bed.decide_fate(move |number| {
        if number < lost {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let from_round = view.round;
    let left = bed.run(1.0, |view, _| view.state != "up");
    let view = bed.view();
    require!(
        left && view.state == "down",
        "in {} after a tenth was lost",
        view.state
    );
    require!(
        view.round - from_round <= 2,
        "after {} rounds",
        view.round - from_round
    );
    let cut = view.inflight_longterm;
    require!(cut < longterm, "inflight_longterm is not cut");
    within(
        "inflight_longterm over 0.7 of the target",
        cut / (0.7 * target),
        0.99..=f64::INFINITY,
    )
}

pub(super) fn pause_in_refill(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to(&mut bed, "refill", 10.0)?;
    let max_bw = bed.view().max_bw;
    bed.set_app(App::Trickle(5 * NS_PER_MS));
    run_to(&mut bed, "up", 1.0)?;
    near(
        "max_bw after the pause, of before",
        bed.view().max_bw,
        max_bw,
        0.02,
    )?;
    bed.run(0.2, |_, _| false);
    let view = bed.view();
    require!(
        view.state == "up",
        "in {} while application-limited",
        view.state
    );
    near(
        "max_bw after application-limited samples, of before",
        view.max_bw,
        max_bw,
        0.02,
    )?;
    bed.set_app(App::Bulk);
    run_to(&mut bed, "down", 2.0)?;
    let view = bed.view();
    near(
        "max_bw over the link's rate",
        view.max_bw,
        bed.link_bw(),
        0.02,
    )
}
