//! nagi's states and what moves it between them: docs/notes/nagi.md. Rounds of 40 ms; the link delivers 100 packets in one, so that
//! a window of `w` next to `other` packets of other flows has an RTT of (w + other)/100 rounds, by Little's law.

use crate::rounds::{RTT_US, Rounds};
use dumbbell_cc::CaState;

const STARTUP: u64 = 0;
const DELAY: u64 = 1;
const DRAIN: u64 = 2;
const COMPETE: u64 = 3;
const DIP: u64 = 4;
const BDP_PKTS: u32 = 100;

fn round_with_rtt(rounds: &mut Rounds, rtt_us: u32) {
    rounds.round(BDP_PKTS, 0, |rs| rs.rtt_us = i64::from(rtt_us));
}

/// A round of the path, with `other` packets of other flows in flight.
fn round_with_others(rounds: &mut Rounds, other: u32) {
    let inflight = rounds.flow.sock.snd_cwnd + other;
    round_with_rtt(rounds, RTT_US.max(inflight * (RTT_US / BDP_PKTS)));
}

/// An RTT in the middle of a round.
fn rtt_within_a_round(rounds: &mut Rounds, rtt_us: u32) {
    rounds.round(1, 0, |rs| {
        rs.prior_delivered = 0;
        rs.rtt_us = i64::from(rtt_us);
    });
}

/// Rounds until it is in this state, or not in it any more.
fn rounds_until(rounds: &mut Rounds, mode: u64, is_in: bool, mut round: impl FnMut(&mut Rounds)) {
    for _ in 0..1000 {
        if (rounds.series("mode") == mode) == is_in {
            return;
        }
        round(rounds);
    }
    panic!("in state {} after 1000 rounds", rounds.series("mode"));
}

/// A flow whose start is over.
fn settled() -> Rounds {
    let mut rounds = Rounds::start("nagi", &[]);
    for _ in 0..60 {
        round_with_others(&mut rounds, 0);
    }
    assert_eq!(rounds.series("mode"), DELAY);
    rounds
}

/// RFC 9406 §4.2 takes the least of eight samples; five milliseconds are an eighth of the base.
#[test]
fn the_start_ends_with_eight_long_rtts_in_a_row() {
    let mut rounds = Rounds::start("nagi", &[]);
    round_with_rtt(&mut rounds, RTT_US);
    for _ in 0..3 {
        for _ in 0..7 {
            round_with_rtt(&mut rounds, RTT_US + 6000);
        }
        round_with_rtt(&mut rounds, RTT_US + 1000);
    }
    assert_eq!(rounds.series("mode"), STARTUP);
    for _ in 0..8 {
        round_with_rtt(&mut rounds, RTT_US + 6000);
    }
    assert_eq!(rounds.series("mode"), DRAIN);
}

/// 2,500 packets per second: c √(rate T₀) = 0.28 √100, 2.8 packets, 1.1 ms. Windows are whole packets.
#[test]
fn alone_it_keeps_the_packets_of_the_law_in_the_queue() {
    let mut rounds = settled();
    for _ in 0..100 {
        round_with_others(&mut rounds, 0);
    }
    let queued = rounds.flow.sock.snd_cwnd - BDP_PKTS;
    assert!((1..=4).contains(&queued), "{queued} packets");
}

/// For 0.2 s the path is 5 ms shorter and then what it was: not believed. If the RTT comes back by 1 ms a round a queue had
/// been drained, and after half a second it is another path.
#[test]
fn a_base_rtt_of_a_moment_is_not_believed() {
    for (rounds_low, comes_back, is_believed) in [
        (5, &[][..], false),
        (5, &[4000, 3000, 2000, 1000], true),
        (20, &[], true),
    ] {
        let mut rounds = settled();
        let base_us = rounds.series("base_us");
        for _ in 0..rounds_low {
            round_with_rtt(&mut rounds, RTT_US - 5000);
        }
        for lower_us in comes_back {
            round_with_rtt(&mut rounds, RTT_US - lower_us);
        }
        for _ in 0..5 {
            round_with_rtt(&mut rounds, RTT_US + 900);
        }
        assert_eq!(rounds.series("base_us") < base_us, is_believed);
    }
}

/// Every other round 8 ms later: the median of what an RTT differs from the mean of its neighbours is 8 ms, and 6 times what exceeds
/// own flows' 1.5 ms is more than the 20 ms that a path is believed at most.
#[test]
fn an_rtt_that_moves_to_and_fro_is_the_paths() {
    let mut rounds = settled();
    assert_eq!(rounds.series("margin_us"), 0);
    for _ in 0..60 {
        round_with_rtt(&mut rounds, RTT_US);
        round_with_rtt(&mut rounds, RTT_US + 8000);
    }
    assert_eq!(rounds.series("margin_us"), 20_000);
    assert!(rounds.flow.sock.snd_cwnd > BDP_PKTS / 2);
}

/// The mean of a round's RTTs, the n-th with weight n.
#[test]
fn later_rtts_of_a_round_weigh_more() {
    let mut rounds = settled();
    rtt_within_a_round(&mut rounds, 40_000);
    round_with_rtt(&mut rounds, 50_000);
    assert_eq!(rounds.series("round_rtt_us"), (40_000 + 2 * 50_000) / 3);
}

/// As where ACKs wait for slots: 60, 50 and 40 ms in each round, so that every round is like the one before.
#[test]
fn an_rtt_that_moves_within_rounds_is_the_paths() {
    let mut rounds = settled();
    for _ in 0..60 {
        rtt_within_a_round(&mut rounds, RTT_US + 20_000);
        rtt_within_a_round(&mut rounds, RTT_US + 10_000);
        round_with_rtt(&mut rounds, RTT_US);
    }
    assert_eq!(rounds.series("margin_us"), 20_000);
}

/// A flow that has drained once, 5 s after its start.
fn drained() -> Rounds {
    let mut rounds = settled();
    rounds_until(&mut rounds, DRAIN, true, |rounds| {
        round_with_rtt(rounds, RTT_US + 1500)
    });
    rounds_until(&mut rounds, DRAIN, false, |rounds| {
        round_with_rtt(rounds, RTT_US)
    });
    rounds
}

/// How many rounds with this queue and loss it takes to compete; 60 if more.
fn rounds_until_it_competes(mut rounds: Rounds, queue_us: u32, lost_pkts: u32) -> u32 {
    for count in 0..60 {
        if rounds.series("mode") == COMPETE {
            return count;
        }
        rounds.round(BDP_PKTS, lost_pkts, |rs| {
            rs.rtt_us = i64::from(RTT_US + queue_us);
        });
    }
    60
}

/// Eight rounds and half a second above 13.5 ms; less than that can be its own kind's. Two seconds for a flow that has not drained yet, as
/// the starts of its kind queue too.
#[test]
fn a_queue_that_stays_above_the_ceiling_belongs_to_other_flows() {
    assert_eq!(rounds_until_it_competes(drained(), 9000, 0), 60);
    assert!((13..=16).contains(&rounds_until_it_competes(drained(), 20_000, 0)));
    assert!((51..=54).contains(&rounds_until_it_competes(settled(), 20_000, 0)));
}

/// A buffer that overflows at a queue of more than half of the ceiling is not full of own flows' queue.
#[test]
fn where_packets_are_lost_half_of_the_ceiling_is_enough() {
    assert_eq!(rounds_until_it_competes(drained(), 6000, 4), 60);
    assert!((13..=17).contains(&rounds_until_it_competes(drained(), 9000, 4)));
}

/// BBR queues less than the ceiling next to a flow that yields: its ProbeRTT, every 10 s, gives it away. Falls that come sooner are a path's, or
/// other flows' drains.
#[test]
fn two_probe_rtts_of_bbr_are_enough_to_compete() {
    let next_to = |every_s: f64| {
        let mut rounds = drained();
        for _ in 0..3 {
            for _ in 0..(every_s * 1e6 / f64::from(RTT_US)) as u32 - 5 {
                let queue_us = u32::from(rounds.series("mode") != DRAIN) * 6000;
                round_with_rtt(&mut rounds, RTT_US + queue_us);
            }
            for _ in 0..5 {
                round_with_rtt(&mut rounds, RTT_US);
            }
        }
        for _ in 0..5 {
            round_with_rtt(&mut rounds, RTT_US + 6000);
        }
        rounds.series("mode") == COMPETE
    };
    assert!(next_to(10.2));
    assert!(!next_to(7.0));
}

/// What it had when a queue was above the ceiling for a moment is not what it had when BBR's ProbeRTT gave it away.
#[test]
fn an_earlier_stay_above_the_ceiling_says_nothing_of_the_rate_next_to_bbr() {
    let mut rounds = drained();
    let mut count = 0;
    let mut next_to = |rounds: &mut Rounds, times: u32, queue_us: u32| {
        for _ in 0..times {
            round_with_rtt(rounds, RTT_US + queue_us);
        }
        count += times;
        count
    };
    next_to(&mut rounds, 50, 6000);
    let first = next_to(&mut rounds, 5, 0);
    while rounds.series("mode") == DELAY {
        next_to(&mut rounds, 1, 6000);
    }
    while rounds.series("mode") == DRAIN {
        next_to(&mut rounds, 1, 0);
    }
    // The link is free for a second.
    next_to(&mut rounds, 25, 0);
    let earlier = rounds.series("w_pkts");
    let now = next_to(&mut rounds, 2, 16_000);
    next_to(&mut rounds, first + 250 - now, 6000);
    next_to(&mut rounds, 5, 0);
    while rounds.series("mode") == DELAY {
        next_to(&mut rounds, 1, 6000);
    }
    assert_eq!(rounds.series("mode"), COMPETE);
    let begins = rounds.series("w_pkts");
    assert!(begins < earlier / 2, "{begins} packets, {earlier} earlier");
}

/// A competitor's queue that grows by 1 ms a round takes most of the window before it is one.
#[test]
fn it_competes_with_the_rate_that_it_had() {
    let mut rounds = settled();
    for _ in 0..300 {
        round_with_others(&mut rounds, 0);
    }
    let before = rounds.flow.sock.snd_cwnd;
    for queue_ms in 1..=13 {
        round_with_rtt(&mut rounds, RTT_US + queue_ms * 1000);
    }
    assert!(rounds.flow.sock.snd_cwnd < before / 2);
    rounds_until(&mut rounds, COMPETE, true, |rounds| {
        round_with_rtt(rounds, 2 * RTT_US)
    });
    // Half of the RTT is the queue now, so the same rate is twice the window.
    let (cwnd, same) = (rounds.flow.sock.snd_cwnd, 2 * before);
    assert!(
        cwnd > same - same / 20 && cwnd < same + same / 20,
        "{cwnd} packets for {same}"
    );
}

/// One part in ten of what is in flight: CUBIC's w_max becomes twice the window, and of the way there seven eighths are made in half
/// of K = ∛(w/C). From a w_max of w one eighth would be (RFC 9438 §4.2), or about a third by Reno's estimate (§4.3).
#[test]
fn with_a_small_share_it_aims_at_twice_its_window() {
    let mut rounds = settled();
    rounds_until(&mut rounds, COMPETE, true, |rounds| {
        round_with_rtt(rounds, RTT_US + 15_000)
    });
    let others = 9 * rounds.flow.sock.snd_cwnd;
    rounds_until(&mut rounds, DIP, true, |rounds| {
        round_with_others(rounds, others)
    });
    let w = rounds.series("w_pkts");
    rounds_until(&mut rounds, DIP, false, |rounds| {
        round_with_others(rounds, others)
    });
    assert!((5..=20).contains(&rounds.series("own_share_pct")));
    assert!(rounds.series("w_pkts") < w + w / 10);
    let half_k_s = (w as f64 / 0.4).cbrt() / 2.0;
    for _ in 0..(half_k_s * 1e6 / f64::from(RTT_US)) as u32 {
        round_with_others(&mut rounds, others);
    }
    let grown = rounds.series("w_pkts");
    assert!(grown > w * 8 / 5, "{grown} packets from {w}");
}

/// Above 16 times the base a queue of others passes a level within each dip: it grows for eight rounds before the next.
#[test]
fn in_a_deep_queue_it_grows_between_dips() {
    let dips_next_to = |queue_us: u32| {
        let mut rounds = settled();
        rounds_until(&mut rounds, COMPETE, true, |rounds| {
            round_with_rtt(rounds, RTT_US + queue_us)
        });
        (0..60).any(|count| {
            round_with_rtt(&mut rounds, RTT_US + queue_us + queue_us / 50 * count);
            rounds.series("mode") == DIP
        })
    };
    assert!(dips_next_to(8 * RTT_US));
    assert!(!dips_next_to(17 * RTT_US));
}

/// What the RTT does after a loss or a timeout is not the dip's doing.
#[test]
fn losses_and_timeouts_end_a_dip() {
    for is_timeout in [false, true] {
        let mut rounds = settled();
        rounds_until(&mut rounds, DIP, true, |rounds| {
            round_with_rtt(rounds, 2 * RTT_US)
        });
        let w = rounds.series("w_pkts");
        if is_timeout {
            rounds.flow.set_state(CaState::Loss);
        } else {
            rounds.round(1, 1, |rs| {
                rs.prior_delivered = 0;
                rs.rtt_us = i64::from(2 * RTT_US);
            });
        }
        assert_eq!(rounds.series("mode"), COMPETE);
        assert!(rounds.series("w_pkts") < w);
    }
}

/// An RTT a little above the base after a drain is a queue of others' that has not gone; far above, another path.
#[test]
fn a_dip_does_not_forget_a_base_that_was_right() {
    for (longer_us, is_kept) in [(5000, true), (15_000, false)] {
        let mut rounds = settled();
        let base_us = rounds.series("base_us");
        for _ in 0..200 {
            round_with_others(&mut rounds, 2 * BDP_PKTS);
        }
        rounds_until(&mut rounds, DRAIN, true, |rounds| {
            round_with_others(rounds, 0)
        });
        rounds_until(&mut rounds, DRAIN, false, |rounds| {
            round_with_rtt(rounds, RTT_US + longer_us)
        });
        assert_eq!(rounds.series("base_us") == base_us, is_kept);
    }
}

/// A flow that keeps the same number of packets in flight for any queue, as BBR does: half of all is enough.
#[test]
fn next_to_a_flow_that_does_not_grow_it_stops_at_half() {
    let mut rounds = settled();
    for _ in 0..3000 {
        round_with_others(&mut rounds, 2 * BDP_PKTS);
    }
    let most = (0..100).map(|_| {
        round_with_others(&mut rounds, 2 * BDP_PKTS);
        rounds.flow.sock.snd_cwnd
    });
    let most = most.max().unwrap();
    assert!((100..=400).contains(&most), "{most} packets next to 200");
}

/// When the others have half as many as before, it goes down to as many as they.
#[test]
fn it_gives_back_what_is_above_a_half() {
    let mut rounds = settled();
    for _ in 0..3000 {
        round_with_others(&mut rounds, 2 * BDP_PKTS);
    }
    let before = rounds.series("w_pkts");
    for _ in 0..1000 {
        round_with_others(&mut rounds, BDP_PKTS);
    }
    let after = rounds.series("w_pkts");
    assert!(after < before * 3 / 4, "{after} packets of {before}");
    assert!((u64::from(BDP_PKTS) * 3 / 4..=u64::from(BDP_PKTS) * 3 / 2).contains(&after));
}

/// By Little's law the RTT then moves with its own window.
#[test]
fn when_the_others_have_gone_a_dip_finds_out_and_the_queue_drains() {
    let mut rounds = settled();
    for _ in 0..200 {
        round_with_others(&mut rounds, 2 * BDP_PKTS);
    }
    assert_ne!(rounds.series("mode"), DELAY);
    for _ in 0..1000 {
        round_with_others(&mut rounds, 0);
    }
    assert_eq!(rounds.series("mode"), DELAY);
    assert!(rounds.flow.sock.snd_cwnd <= BDP_PKTS + 4);
}

const QUEUE_US: u32 = 30_000;

/// A round next to a queue of another kind: an RTT, at any window of this flow, and a loss in a hundred if `is_lossy`.
fn round_next_to_others(rounds: &mut Rounds, queue_us: u32, is_lossy: bool) {
    rounds.round(BDP_PKTS, u32::from(is_lossy), |rs| {
        rs.rtt_us = i64::from(RTT_US + queue_us);
        rs.prior_in_flight = BDP_PKTS;
    });
}

/// How the queue goes and comes back: how often, for how many rounds, to what queue, and in how many rounds.
#[derive(Clone, Copy)]
struct Fall(f64, u32, u32, u32);

/// ProbeRTT of BBR: 200 ms are five rounds.
const BBR: Fall = Fall(10.2, 5, 0, 3);

/// A flow in `compete` that has seen these.
fn after_falls(falls: &[Fall]) -> Rounds {
    let mut rounds = settled();
    rounds_until(&mut rounds, COMPETE, true, |rounds| {
        round_with_rtt(rounds, RTT_US + 15_000)
    });
    for &Fall(every_s, low_rounds, low_queue_us, back_rounds) in falls {
        let rounds_each = (every_s * 1e6 / f64::from(RTT_US)) as u32;
        for _ in 0..rounds_each - low_rounds - back_rounds - 1 {
            round_next_to_others(&mut rounds, QUEUE_US, false);
        }
        // Losses end a dip.
        round_next_to_others(&mut rounds, QUEUE_US, true);
        for _ in 0..low_rounds {
            round_next_to_others(&mut rounds, low_queue_us, false);
        }
        for step in 1..=back_rounds {
            round_next_to_others(&mut rounds, QUEUE_US * step / back_rounds, false);
        }
    }
    rounds
}

/// Whether a loss takes nothing off the window.
fn ignores_losses(rounds: &mut Rounds) -> bool {
    assert!([COMPETE, DIP].contains(&rounds.series("mode")));
    let w = rounds.series("w_pkts");
    round_next_to_others(rounds, QUEUE_US, true);
    rounds.series("w_pkts") >= w
}

/// Once it knows BBR it neither dips nor grows until its next ProbeRTT has room: then by an eighth, twice in five rounds.
#[test]
fn next_to_bbr_it_takes_in_probe_rtt_what_is_unused() {
    let mut rounds = after_falls(&[BBR; 3]);
    let w = rounds.series("w_pkts");
    for _ in 0..150 {
        round_next_to_others(&mut rounds, QUEUE_US, false);
        assert_eq!(rounds.series("mode"), COMPETE);
    }
    assert_eq!(rounds.series("w_pkts"), w);
    for _ in 0..5 {
        round_next_to_others(&mut rounds, 0, false);
    }
    let grown = rounds.series("w_pkts");
    assert!(
        grown >= w * 5 / 4 - 1 && grown <= w * 13 / 10,
        "{grown} packets from {w}"
    );
}

/// Where BBR loses packets the buffer is short: there it grows as CUBIC does.
#[test]
fn next_to_bbr_that_loses_packets_it_grows() {
    let mut rounds = after_falls(&[BBR; 3]);
    let w = rounds.series("w_pkts");
    for _ in 0..150 {
        rounds.round(BDP_PKTS, 5, |rs| {
            rs.rtt_us = i64::from(RTT_US + QUEUE_US);
            rs.prior_in_flight = BDP_PKTS;
        });
        assert_eq!(rounds.series("mode"), COMPETE);
    }
    let grown = rounds.series("w_pkts");
    // C t³ = 86 packets in 6 s.
    assert!(grown > w + 60, "{grown} packets from {w}");
}

/// With much of its own in flight it does not see each of them.
#[test]
fn one_of_bbrs_may_be_missed() {
    let missed = Fall(20.4, 5, 0, 3);
    assert!(ignores_losses(&mut after_falls(&[BBR, BBR, missed])));
    assert!(!ignores_losses(&mut after_falls(&[BBR, missed])));
}

/// draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5: 200 ms every 10 s; BBRv3's come every 5 s.
#[test]
fn it_ignores_losses_when_a_queue_goes_and_comes_as_bbrs_does() {
    for every_s in [10.2, 5.0] {
        let falls = [Fall(every_s, 5, 0, 3); 3];
        assert!(
            ignores_losses(&mut after_falls(&falls)),
            "every {every_s} s"
        );
    }
}

#[test]
fn a_queue_that_goes_otherwise_is_not_bbrs() {
    let often = Fall(3.0, 5, 0, 3);
    for (what, falls) in [
        ("once", &[BBR][..]),
        ("back as slowly as CUBIC", &[Fall(10.2, 5, 0, 40); 3]),
        ("for 80 ms", &[Fall(10.2, 2, 0, 3); 3]),
        (
            "for 0.8 s, as a source that pauses",
            &[Fall(10.2, 20, 0, 3); 3],
        ),
        ("not to the base", &[Fall(10.2, 5, 4000, 3); 3]),
        ("too often", &[often; 6]),
        ("too rarely", &[Fall(15.0, 5, 0, 3); 3]),
        ("too soon after some that were", &[BBR, BBR, BBR, often]),
        (
            "too late after some that were",
            &[BBR, BBR, BBR, Fall(30.0, 5, 0, 3)],
        ),
    ] {
        assert!(!ignores_losses(&mut after_falls(falls)), "{what}");
    }
}

/// BBR probes with 1.25 times its rate, so it loses up to a fifth; its next ProbeRTT is due after 10 s.
#[test]
fn it_ignores_neither_timeouts_nor_more_losses_than_bbr_nor_those_long_after() {
    let mut long_after = after_falls(&[BBR; 3]);
    for _ in 0..12_000_000 / RTT_US {
        round_next_to_others(&mut long_after, QUEUE_US, false);
    }
    assert!(!ignores_losses(&mut long_after));
    let mut many = after_falls(&[BBR; 3]);
    let w = many.series("w_pkts");
    for _ in 0..20 {
        many.round(70, 30, |rs| {
            rs.rtt_us = i64::from(RTT_US + QUEUE_US);
            rs.prior_in_flight = BDP_PKTS;
        });
    }
    assert!(many.series("w_pkts") < w * 8 / 10);
    let mut timeout = after_falls(&[BBR; 3]);
    let w = timeout.series("w_pkts");
    timeout.flow.set_state(CaState::Loss);
    assert!(timeout.series("w_pkts") < w * 8 / 10);
}
