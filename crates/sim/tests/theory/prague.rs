//! Prague against the laws of its draft and of RFC 9332, on DualPI2 with its defaults.

use dumbbell_net::queue::{dualpi2, fq_codel, pie, red};
use dumbbell_scenario::GroupEcn;
use dumbbell_sim::Queue;

use crate::common::{assert_within, bulk, dumbbell, simulate, with_params};

/// Payload of a packet, bits.
const PACKET_BITS: f64 = 8.0 * 1448.0;
const VIRTUAL_RTT_S: f64 = 0.025;

/// How much further apart reductions are than a round, where marks are random: a round passes, and then the time to
/// the next mark, which is 1/x of a round at x marks per round. Growth of 1 − p per round and a reduction by p/2 then
/// balance at x/2 = 1 + 1/x, so x = 1 + √3 instead of the law's 2.
const RANDOM_MARKS: f64 = 1.366;

/// The classic flow's mean window is what its sawtooth of Reno says, R_C with DualPI2's 15 ms.
const CLASSIC_QUEUE_S: f64 = 0.015;

/// Two laws at once, with marks that DualPI2's coupling makes at random.
///
/// The draft's: r = (1/p − 1)·25 ms/max(RTT, 25 ms) Mbit/s; here in packets, and with what random marks add. RFC 9332
/// §C.2: r_L/r_C = (1.64/k)·(R_C/R_L), k = 2, R_L the virtual RTT where it is the larger one; again with what random
/// marks add. A third either way: it is a mean-field law of one flow of each kind.
#[test]
fn a_flow_next_to_reno_gets_what_its_marks_and_the_coupling_say() {
    for rtt_ms in [5, 10, 20, 50] {
        let groups = vec![bulk("prague", 1, rtt_ms), bulk("reno", 1, rtt_ms)];
        let mut scenario = dumbbell(50_000_000, 0.0, 120, groups);
        scenario.sample_interval_ns = 0;
        scenario.links[0].queue = dualpi2::Config::default().into();
        let summary = simulate(&scenario).summary;
        let [prague, reno] = [0, 1].map(|flow| &summary.flows[flow]);
        // The end of slow start overshoots by up to 3 packets, depending on the seed.
        assert!(
            prague.dropped_pkts <= 3,
            "L4S loses nothing after its start"
        );

        let rtt_s = rtt_ms as f64 / 1e3;
        let virtual_s = (rtt_s + 0.0005).max(VIRTUAL_RTT_S);
        let p = prague.marked_pkts.unwrap_or(0) as f64 / prague.arrived_pkts as f64;
        let by_marks_bps = RANDOM_MARKS * 2.0 * (1.0 / p - 1.0) * PACKET_BITS / virtual_s;
        let ratio = prague.goodput_bps / reno.goodput_bps;
        let by_coupling = RANDOM_MARKS * 0.82 * (rtt_s + CLASSIC_QUEUE_S) / virtual_s;
        let wait_ms = prague.rtt_mean_us / 1e3 - rtt_ms as f64;
        println!(
            "RTT {rtt_ms} ms: {:.1} Mbit/s at {:.2} % marks, {:.1} by them; {ratio:.2} of Reno's, {by_coupling:.2} by \
             the coupling; {wait_ms:.2} ms above the base RTT",
            prague.goodput_bps / 1e6,
            100.0 * p,
            by_marks_bps / 1e6,
        );
        assert_within(
            "rate by marks",
            prague.goodput_bps / by_marks_bps,
            0.75..=1.33,
        );
        assert_within("ratio by coupling", ratio / by_coupling, 0.67..=1.5);
        // RFC 9332 §1.4: less than 1 ms of queue; the rest is a packet on the wire.
        assert_within("wait, ms", wait_ms, 0.0..=1.3);
    }
}

/// RTT independence: flows of 5 and 20 ms both behave as if theirs were 25 ms, where DCTCP's shares are about
/// inverse to their RTTs, 4:1. At 10 and 160 ms the law of windows alone would give 160/25 = 6.4.
#[test]
fn short_rtts_get_the_same_rate() {
    let ratio = |cc: &str, rtts_ms: [u64; 2]| {
        let groups = rtts_ms.map(|rtt_ms| bulk(cc, 1, rtt_ms)).to_vec();
        let mut scenario = dumbbell(50_000_000, 0.0, 60, groups);
        scenario.sample_interval_ns = 0;
        scenario.links[0].queue = dualpi2::Config {
            any_ect: true,
            ..dualpi2::Config::default()
        }
        .into();
        let summary = simulate(&scenario).summary;
        summary.flows[0].goodput_bps / summary.flows[1].goodput_bps
    };
    let (prague, dctcp) = (ratio("prague", [5, 20]), ratio("dctcp", [5, 20]));
    println!("5:20 ms: prague {prague:.2}, dctcp {dctcp:.2}");
    assert_within("prague, 5:20 ms", prague, 0.67..=1.5);
    assert!(dctcp > 1.5 * prague);
}

/// Fewer than two packets per round trip for each flow: pacing keeps the queue short where windows of two packets
/// would fill it (RFC 9331 §4.3: below the minimum window). Eight flows at 4 Mbit/s and 5 ms: 16 packets of windows
/// alone would wait 8·2·3 ms − 5 ms = 43 ms. The step of 1 ms marks all that finds a packet, so a fifth may be unused.
#[test]
fn windows_below_two_packets_make_no_queue() {
    let mut scenario = dumbbell(4_000_000, 0.0, 60, vec![bulk("prague", 8, 5)]);
    scenario.sample_interval_ns = 0;
    scenario.links[0].queue = dualpi2::Config::default().into();
    let summary = simulate(&scenario).summary;
    let link = &summary.bottleneck;
    println!(
        "queue mean {:.1} ms, used {:.3}",
        link.queue_delay_mean_us / 1e3,
        link.utilization
    );
    assert_within("queue, ms", link.queue_delay_mean_us / 1e3, 0.0..=15.0);
    assert!(link.utilization > 0.8);
}

/// RFC 9331 §4.3, item 3: in one queue of RFC 3168 a scalable sender takes the link, unless it finds out what marks
/// and answers as a classic one. The classic flow's rate is within 5:1 then; DualPI2 is not taken for such a queue.
#[test]
fn the_fallback_leaves_the_classic_flow_its_share_where_a_classic_aqm_marks() {
    let ratio = |queue: &Queue, classic: &str, fallback: i64| {
        let prague = with_params(bulk("prague", 1, 20), &[("classic_fallback", fallback)]);
        let mut other = bulk(classic, 1, 20);
        other.host.ecn = GroupEcn::On;
        let mut scenario = dumbbell(50_000_000, 0.0, 60, vec![prague, other]);
        scenario.sample_interval_ns = 0;
        scenario.links[0].queue = queue.clone();
        let flows = simulate(&scenario).summary.flows;
        flows[0].goodput_bps / flows[1].goodput_bps
    };
    let classic_queues: [Queue; 3] = [
        fq_codel::Config {
            flows: 1,
            ..fq_codel::Config::default()
        }
        .into(),
        pie::Config {
            ecn: true,
            ..pie::Config::default()
        }
        .into(),
        red::Config {
            limit_bytes: 600_000,
            max_bytes: Some(150_000),
            ecn: true,
            ..red::Config::default()
        }
        .into(),
    ];
    for queue in &classic_queues {
        for classic in ["cubic", "reno"] {
            let (with, without) = (ratio(queue, classic, 1), ratio(queue, classic, 0));
            println!("{queue:?}, {classic}: {with:.2}:1, {without:.1}:1 without fallback");
            assert_within("ratio with the fallback", with, 0.2..=5.0);
            assert!(without > 7.0, "{without}");
        }
    }
    let dualpi2 = dualpi2::Config::default().into();
    let (with, without) = (ratio(&dualpi2, "cubic", 1), ratio(&dualpi2, "cubic", 0));
    println!("dualpi2: {with:.2}:1, {without:.2}:1 without");
    assert_eq!(with, without, "the score never leaves L4S's side");
}
