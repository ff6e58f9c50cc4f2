//! Paths that aggregate, change their rate or police.

use super::bed::{Bed, NS_PER_MS, PAYLOAD_BYTES};
use super::{DEEP_PKTS, Outcome, RATE_BPS, deep, near, run_to, within};

/// ACKs come together every so often: as a wireless link grants its turns.
const ACK_SLOT_NS: u64 = 20 * NS_PER_MS;

/// Stream bytes received over the next `seconds`, per second.
fn goodput(bed: &mut Bed, seconds: f64) -> f64 {
    let received_bytes = bed.received_bytes();
    bed.run(seconds, |_, _| false);
    (bed.received_bytes() - received_bytes) as f64 / seconds
}

/// Rounds until max_bw is 90 % of the link's rate, and the bed at the end of STARTUP.
fn startup(name: &str, ack_slot_ns: u64) -> Result<(u64, f64, Bed), String> {
    let mut bed = deep(name);
    bed.ack_slot_ns = ack_slot_ns;
    let found = bed.run(3.0, |view, bed| view.max_bw > 0.9 * bed.link_bw());
    require!(
        found,
        "max_bw is {:.2} of the link's rate after 3 s",
        bed.view().max_bw / bed.link_bw()
    );
    let rounds = bed.view().round;
    let mut most_bdp = 0.0_f64;
    let left = bed.run(3.0, |view, _| {
        if view.state == "startup" {
            most_bdp = most_bdp.max(view.cwnd / view.bdp());
        }
        view.state != "startup"
    });
    require!(left, "still in STARTUP");
    Ok((rounds, most_bdp, bed))
}

pub(super) fn aggregation_in_startup(name: &str) -> Outcome {
    let (rounds_without, ..) = startup(name, 0)?;
    let (rounds, most_bdp, mut bed) = startup(name, ACK_SLOT_NS)?;
    require!(
        rounds <= rounds_without + 2,
        "{rounds} rounds to 90 % of the rate, {rounds_without} without aggregation"
    );
    let view = bed.view();
    require!(
        view.extra_acked > 20.0 * f64::from(PAYLOAD_BYTES),
        "extra_acked is {:.0} bytes",
        view.extra_acked
    );
    within("most cwnd in STARTUP, BDP", most_bdp, 2.2..=f64::INFINITY)?;
    within(
        "max_bw over the link's rate",
        view.max_bw / bed.link_bw(),
        0.98..=4.0 / 3.0,
    )
}

pub(super) fn aggregation_in_cruise(name: &str) -> Outcome {
    let mut bed = deep(name);
    run_to(&mut bed, "cruise", 5.0)?;
    bed.ack_slot_ns = ACK_SLOT_NS;
    bed.run(0.2, |_, _| false);
    let view = bed.view();
    let slot = bed.link_bw() * 0.02;
    within("extra_acked, slots", view.extra_acked / slot, 0.5..=1.5)?;
    require!(view.state == "cruise", "in {}", view.state);
    near(
        "cwnd over 2 BDP and extra_acked",
        view.cwnd,
        2.0 * view.bdp() + view.extra_acked,
        0.05,
    )?;
    let used = goodput(&mut bed, 1.0) / bed.link_bw();
    // Frames and tags take 3 % of a packet.
    within("use of the link", used, 0.94..=1.0)
}

pub(super) fn ten_times(name: &str) -> Outcome {
    let mut bed = Bed::new(name, 10_000_000, 40, 10);
    bed.run(10.0, |_, _| false);
    require!(
        bed.view().inflight_longterm.is_finite(),
        "a buffer of 0.3 BDP sets no inflight_longterm"
    );
    run_to(&mut bed, "cruise", 10.0)?;
    bed.set_rate(100_000_000);
    let (mut up_rounds, mut round) = (0, 0);
    let found = bed.run(20.0, |view, bed| {
        if view.state == "up" && view.round > round {
            up_rounds += 1;
        }
        round = view.round;
        view.max_bw > 0.95 * bed.link_bw()
    });
    require!(
        found,
        "max_bw is {:.2} of the new rate after 20 s",
        bed.view().max_bw / bed.link_bw()
    );
    require!(up_rounds <= 20, "{up_rounds} rounds of UP to the new rate");
    Ok(())
}

pub(super) fn a_tenth(name: &str) -> Outcome {
    let mut bed = Bed::new(name, 100_000_000, 40, 165);
    bed.run(3.0, |_, _| false);
    run_to(&mut bed, "cruise", 10.0)?;
    bed.set_rate(10_000_000);
    let (lost_pkts, from_round) = (bed.lost_pkts, bed.view().round);
    let fell = bed.run(10.0, |view, _| view.bw_shortterm < 24e6 / 8.0);
    require!(
        fell,
        "bw_shortterm is {:.1} Mbit/s after 10 s",
        bed.view().bw_shortterm * 8e-6
    );
    require!(bed.lost_pkts > lost_pkts, "nothing is lost");
    let rounds = bed.view().round - from_round;
    require!(
        rounds <= 10,
        "{rounds} rounds until bw_shortterm is a quarter of the old rate"
    );
    let (mut cycles, mut was_up) = (0, false);
    let adapted = bed.run(20.0, |view, bed| {
        let is_up = view.state == "up";
        cycles += u32::from(was_up && !is_up);
        was_up = is_up;
        view.max_bw < 1.02 * bed.link_bw()
    });
    require!(
        adapted,
        "max_bw is {:.1} of the new rate after 20 s",
        bed.view().max_bw / bed.link_bw()
    );
    require!(cycles <= 2, "{cycles} cycles until max_bw is the new rate");
    bed.run(10.0, |_, _| false);
    near(
        "max_bw over the new rate",
        bed.view().max_bw,
        bed.link_bw(),
        0.03,
    )
}

pub(super) fn policer(name: &str) -> Outcome {
    let token_bps = 10_000_000;
    let mut bed = Bed::new(name, 2 * RATE_BPS, 40, DEEP_PKTS);
    bed.add_policer(token_bps, 50_000);
    run_to(&mut bed, "cruise", 30.0)?;
    let mut adapted = false;
    bed.run(10.0, |view, _| {
        adapted |= view.bw_shortterm < view.max_bw && view.inflight_shortterm.is_finite();
        false
    });
    require!(adapted, "the short-term model is not used");
    let (sent_pkts, lost_pkts) = (bed.sent_pkts, bed.lost_pkts);
    let bw = goodput(&mut bed, 30.0);
    let tokens = token_bps as f64 / 8.0 * f64::from(PAYLOAD_BYTES) / 1494.0;
    let lost = (bed.lost_pkts - lost_pkts) as f64 / (bed.sent_pkts - sent_pkts) as f64;
    within("share of the tokens' rate", bw / tokens, 0.82..=1.0)?;
    within("share that is lost", lost, 0.0..=0.02)
}
