//! Paths that aggregate, change their rate or police.

use dumbbell_net::Policer;

use crate::bbr3::bed::{Bed, MSS_BYTES, NO_BOUND, NS_PER_MS, PACKET_BYTES};
use crate::bbr3::{DEEP_PKTS, LINK_RATE_BPS, assert_near, assert_within, deep};

/// ACKs come together every so often: as a wireless link grants its turns.
const ACK_SLOT_NS: u64 = 20 * NS_PER_MS;

/// Payload received, bit/s, over the next `seconds`.
fn goodput_bps(bed: &mut Bed, seconds: f64) -> f64 {
    let received_bytes = bed.receiver.counters().received_bytes;
    bed.run(seconds, |_| false);
    (bed.receiver.counters().received_bytes - received_bytes) as f64 * 8.0 / seconds
}

/// Rounds until max_bw is 90 % of the link's rate, and the bed at the end of STARTUP.
fn startup(ack_slot_ns: u64) -> (u64, f64, Bed) {
    let mut bed = deep();
    bed.ack_slot_ns = ack_slot_ns;
    assert!(bed.run(3.0, |bed| {
        bed.series("max_bw_bps") as f64 > 0.9 * bed.link_payload_bps()
    }));
    let rounds = bed.series("round");
    let mut most_bdp = 0.0_f64;
    assert!(bed.run(3.0, |bed| {
        if bed.state() == "startup" {
            most_bdp = most_bdp.max(f64::from(bed.sock().snd_cwnd) / bed.estimated_bdp_pkts());
        }
        bed.state() != "startup"
    }));
    (rounds, most_bdp, bed)
}

/// "Achieving Expected STARTUP Bandwidth on a Link With Aggregation"
#[test]
fn startup_finds_the_bandwidth_of_an_aggregating_link() {
    let (rounds_without, ..) = startup(0);
    let (rounds, most_bdp, bed) = startup(ACK_SLOT_NS);
    println!("{rounds} rounds, {rounds_without} without aggregation; cwnd {most_bdp:.2} BDP");
    // It nearly doubles per round all the same.
    assert!(rounds <= rounds_without + 2, "{rounds} of {rounds_without}");
    assert!(bed.series("extra_acked_pkts") > 20);
    assert!(most_bdp > 2.2, "{most_bdp}");
    // A packet that leaves amid the ACKs of a slot has the slot's rest delivered to it in no time.
    // STARTUP sends too fast for the send rate to cap that: a slot more in the 3 of a round trip.
    let found = bed.series("max_bw_bps") as f64 / bed.link_payload_bps();
    assert_within("max_bw over the link's rate", found, 0.98..=4.0 / 3.0);
}

/// "Achieving Expected Cruise Bandwidth on a Link With Aggregation"
#[test]
fn cruise_uses_an_aggregating_link() {
    let mut bed = deep();
    bed.run_to("cruise", 5.0);
    let before_pkts = bed.series("extra_acked_pkts");
    bed.ack_slot_ns = ACK_SLOT_NS;
    bed.run(0.2, |_| false);
    // A slot's worth of packets comes at once: 20 ms of 41 packets per 10 ms.
    let slot_pkts = bed.link_payload_bps() * 0.02 / 8.0 / f64::from(MSS_BYTES);
    let extra_pkts = bed.series("extra_acked_pkts") as f64;
    assert!(extra_pkts > before_pkts as f64);
    assert_within("extra_acked, slots", extra_pkts / slot_pkts, 0.5..=1.5);
    assert_eq!(bed.state(), "cruise");
    let cwnd_pkts = f64::from(bed.sock().snd_cwnd);
    assert_near(
        "cwnd",
        cwnd_pkts,
        2.0 * bed.estimated_bdp_pkts() + extra_pkts,
        0.02,
    );
    let used = goodput_bps(&mut bed, 1.0) / bed.link_payload_bps();
    assert_within("use of the link", used, 0.97..=1.0);
    assert_eq!(bed.state(), "cruise");
    // It is forgotten ExtraAckedFilterLen rounds after an interval begins again, which is when the
    // ACKs have fallen behind bw: 1 % of a BDP per round, by the pacing margin.
    bed.ack_slot_ns = 0;
    let round = bed.series("round");
    assert!(bed.run(5.0, |bed| {
        bed.series("extra_acked_pkts") as f64 <= 0.25 * extra_pkts
    }));
    let rounds = (bed.series("round") - round) as f64;
    let surplus_rounds = extra_pkts / (0.01 * bed.bdp_pkts());
    println!("forgotten after {rounds} rounds, {surplus_rounds:.0} of surplus");
    assert_within("rounds to forget", rounds, 10.0..=surplus_rounds + 11.0);
}

/// "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached". The buffer of 0.3 BDP makes
/// the first probes lose, so that there is an inflight_longterm to grow.
#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut bed = Bed::new(10_000_000, 40, 10, &[]);
    bed.run(10.0, |_| false);
    let longterm_pkts = bed.series("inflight_longterm_pkts");
    assert!(longterm_pkts < NO_BOUND);
    bed.run_to("cruise", 10.0);
    bed.set_link_rate(100_000_000);
    // Growth of inflight_longterm in each round of the probe that finds it.
    let (mut round, mut at_round, mut growth) = (0, 0, Vec::new());
    let (mut up_rounds, mut was_up) = (0, false);
    let found = bed.run(20.0, |bed| {
        let is_up = bed.state() == "up";
        if is_up && !was_up {
            (round, at_round) = (bed.series("round"), bed.series("inflight_longterm_pkts"));
            growth.clear();
        }
        was_up = is_up;
        if is_up && bed.series("round") > round {
            round = bed.series("round");
            let now_pkts = bed.series("inflight_longterm_pkts");
            growth.push(now_pkts - at_round);
            at_round = now_pkts;
            up_rounds += 1;
        }
        bed.series("max_bw_bps") as f64 > 0.95 * bed.link_payload_bps()
    });
    assert!(found, "{:.1} Mbit/s", bed.series("max_bw_bps") as f64 / 1e6);
    println!("{up_rounds} rounds of UP, inflight_longterm grew by {growth:?}");
    // From 43 packets to 330 by 1, 2, 4, ...: ten rounds, and no more than as many again.
    assert!(up_rounds <= 20, "{up_rounds}");
    // By 1, 2, 4, ... packets in the rounds in which cwnd was the limit and not pacing.
    let grown: Vec<u64> = growth.into_iter().filter(|&pkts| pkts > 0).collect();
    let (first, last) = grown.split_at(grown.len() / 2);
    let (first, last): (u64, u64) = (first.iter().sum(), last.iter().sum());
    assert!(grown.len() >= 6 && last >= 4 * first, "{grown:?}");
}

/// "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down"
#[test]
fn a_tenth_of_the_bandwidth_is_believed() {
    // Half a BDP of buffer before, five after.
    let mut bed = Bed::new(100_000_000, 40, 165, &[]);
    bed.run(3.0, |_| false);
    bed.run_to("cruise", 10.0);
    bed.set_link_rate(10_000_000);
    let (from_s, lost_pkts) = (bed.now_s(), bed.lost_pkts());
    let from_round = bed.series("round");
    // By 0.7 per round with losses: ln 4 / -ln 0.7 = 4 rounds for a quarter. It stops where losses
    // do, when inflight_shortterm fits into the buffer.
    assert!(bed.run(10.0, |bed| bed.series("bw_shortterm_bps") < 24_000_000));
    assert!(bed.lost_pkts() > lost_pkts);
    let rounds = bed.series("round") - from_round;
    println!(
        "bw_shortterm: {rounds} rounds, {:.2} s",
        bed.now_s() - from_s
    );
    assert!(rounds <= 10, "{rounds}");
    // Two cycles of ProbeBW, each of 3 s and a few rounds at most.
    let mut cycles = 0;
    let mut was_up = false;
    assert!(bed.run(20.0, |bed| {
        let is_up = bed.state() == "up";
        cycles += u32::from(was_up && !is_up);
        was_up = is_up;
        (bed.series("max_bw_bps") as f64) < 1.02 * bed.link_payload_bps()
    }));
    println!("max_bw: {cycles} cycles, {:.2} s", bed.now_s() - from_s);
    assert!(cycles <= 2, "{cycles}");
    // And matches it from then on.
    bed.run(10.0, |_| false);
    let max_bw_bps = bed.series("max_bw_bps") as f64;
    assert_near("max_bw", max_bw_bps, bed.link_payload_bps(), 0.02);
}

/// "Handling Token Bucket Policers"
#[test]
fn a_policers_rate_is_used_without_much_loss() {
    let token_rate_bps = 10_000_000;
    let mut bed = Bed::new(2 * LINK_RATE_BPS, 40, DEEP_PKTS, &[]);
    // A bucket of a BDP at its rate.
    bed.add_policer(Policer::new(token_rate_bps, 50_000));
    bed.run_to("cruise", 30.0);
    let mut adapted = false;
    bed.run(10.0, |bed| {
        adapted |= bed.series("bw_shortterm_bps") < bed.series("max_bw_bps")
            && bed.series("inflight_shortterm_pkts") < NO_BOUND;
        false
    });
    assert!(adapted);
    let (sent_pkts, lost_pkts) = (bed.sent_pkts, bed.lost_pkts());
    let goodput_bps = goodput_bps(&mut bed, 60.0);
    let payload_bps = token_rate_bps as f64 * f64::from(MSS_BYTES) / PACKET_BYTES as f64;
    let lost = (bed.lost_pkts() - lost_pkts) as f64 / (bed.sent_pkts - sent_pkts) as f64;
    println!(
        "{:.1} % of the tokens' rate, {:.2} % lost",
        100.0 * goodput_bps / payload_bps,
        100.0 * lost
    );
    assert_within("share of the rate", goodput_bps / payload_bps, 0.85..=1.0);
    // LossThresh is what it tolerates.
    assert_within("lost", lost, 0.0..=0.02);
}
