//! PROBE_RTT: entered, left and skipped.

use super::bed::App;
use super::{Outcome, RTT_MS, deep, interval_ns, near, run_to, within};

const RTT_S: f64 = RTT_MS as f64 / 1e3;
/// The receiver may delay an ACK of a single packet by this much, s (RFC 9000 §18.2).
const ACK_DELAY_S: f64 = 0.025;

pub(super) fn entered_and_left(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to(&mut bed, "cruise", 5.0)?;
    let mut ended_s = 0.0;
    for probe in 0..4 {
        run_to(&mut bed, "probe_rtt", 6.0)?;
        let entered_s = bed.now_s();
        if probe > 0 {
            within("time between two, s", entered_s - ended_s, 4.7..=5.05)?;
        }
        let view = bed.view();
        within("PROBE_RTT's cwnd gain", view.cwnd_gain, 0.49..=0.51)?;
        within("PROBE_RTT's pacing gain", view.pacing_gain, 0.99..=1.01)?;
        let half_bdp = view.bdp() / 2.0 + 2.0 * f64::from(super::bed::PAYLOAD_BYTES);
        let mut low_s = None;
        let left = bed.run(1.0, |view, bed| {
            if view.state == "probe_rtt" && view.inflight <= half_bdp {
                low_s.get_or_insert(bed.now_s());
            }
            view.state != "probe_rtt"
        });
        require!(left, "still in PROBE_RTT after 1 s");
        ended_s = bed.now_s();
        let Some(low_s) = low_s else {
            return Err("inflight does not come down to half a BDP".to_owned());
        };
        within("draining, s", low_s - entered_s, 0.0..=RTT_S + ACK_DELAY_S)?;
        within(
            "PROBE_RTT at half a BDP, s",
            ended_s - low_s,
            0.195..=0.2 + 1.5 * RTT_S,
        )?;
        within("min_rtt, s", bed.view().min_rtt_s, 0.04..=0.041)?;
        let received_bytes = bed.received_bytes();
        bed.run(1.0, |_, _| false);
        let used = (bed.received_bytes() - received_bytes) as f64 / bed.link_bw();
        within("a second's use of the link after it", used, 0.90..=1.0)?;
    }
    Ok(())
}

pub(super) fn skipped_when_idle(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to(&mut bed, "cruise", 5.0)?;
    bed.set_app(App::Silent);
    bed.run(6.0, |_, _| false);
    let left_pkts = bed.view().inflight / f64::from(super::bed::PAYLOAD_BYTES);
    require!(
        left_pkts < 2.0,
        "{left_pkts:.1} packets are in flight while idle"
    );
    bed.set_app(App::Bulk);
    let view = bed.view();
    require!(view.idle_restart, "idle_restart is not set");
    require!(view.state != "probe_rtt", "PROBE_RTT although idle for 6 s");
    let rate = view.pacing_rate / bed.link_bw();
    within(
        "pacing rate over the link's at the restart",
        rate,
        0.95..=1.02,
    )?;
    let from_s = bed.now_s();
    let came = bed.run(4.8, |view, _| view.state == "probe_rtt");
    require!(
        !came,
        "PROBE_RTT comes {:.1} s after the idle time",
        bed.now_s() - from_s
    );
    run_to(&mut bed, "probe_rtt", 6.0)
}

pub(super) fn in_startup(name: &str) -> Outcome {
    let mut bed = deep(name);
    bed.set_app(App::Trickle(interval_ns(1e6)));
    let left = bed.run(6.0, |view, _| view.state != "startup");
    let view = bed.view();
    require!(
        left && view.state == "probe_rtt",
        "in {} after 6 s",
        view.state
    );
    require!(!view.full_bw_reached, "full_bw_reached is set");
    within("its time, s", bed.now_s(), 5.0..=5.3)?;
    let left = bed.run(1.0, |view, _| view.state != "probe_rtt");
    let view = bed.view();
    require!(
        left && view.state == "startup",
        "in {} after it",
        view.state
    );
    bed.set_app(App::Bulk);
    run_to(&mut bed, "drain", 3.0)?;
    near(
        "max_bw over the link's rate",
        bed.view().max_bw,
        bed.link_bw(),
        0.02,
    )
}
