//! nagi's states and what moves it between them: docs/nagi.md. Rounds of 40 ms; the link delivers 100 packets in one, so that a
//! window of `w` next to `other` packets of other flows has an RTT of (w + other)/100 rounds, by Little's law.

mod ack_clock;
mod common;
mod rounds;

use rounds::{RTT_US, Rounds};

const STARTUP: u64 = 0;
const DELAY: u64 = 1;
const DRAIN: u64 = 2;
const COMPETE: u64 = 3;
const BDP_PKTS: u32 = 100;

fn round_with_rtt(rounds: &mut Rounds, rtt_us: u32) {
    rounds.round(BDP_PKTS, 0, |rs| rs.rtt_us = i64::from(rtt_us));
}

/// A round of the path, with `other` packets of other flows in flight.
fn round_with_others(rounds: &mut Rounds, other: u32) {
    let inflight = rounds.flow.sock.snd_cwnd + other;
    round_with_rtt(rounds, RTT_US.max(inflight * (RTT_US / BDP_PKTS)));
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

/// 2,500 packets per second: c √(rate T₀) = 0.225 √100, 2.25 packets, 0.9 ms. Windows are whole packets.
#[test]
fn alone_it_keeps_the_packets_of_the_law_in_the_queue() {
    let mut rounds = settled();
    for _ in 0..100 {
        round_with_others(&mut rounds, 0);
    }
    let queued = rounds.flow.sock.snd_cwnd - BDP_PKTS;
    assert!((1..=4).contains(&queued), "{queued} packets");
}

/// Half a second, and 4.5 ms at most: own flows' queue falls by less, and a longer fall is another path.
#[test]
fn a_base_rtt_of_a_moment_is_not_believed() {
    for (rounds_low, is_believed) in [(5, false), (20, true)] {
        let mut rounds = settled();
        let base_us = rounds.series("base_us");
        for _ in 0..rounds_low {
            round_with_rtt(&mut rounds, RTT_US - 5000);
        }
        for _ in 0..5 {
            round_with_others(&mut rounds, 0);
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

/// Eight rounds and half a second above 10 ms; less than that can be its own kind's.
#[test]
fn a_queue_that_stays_above_the_ceiling_belongs_to_other_flows() {
    let mut rounds = settled();
    for _ in 0..40 {
        round_with_rtt(&mut rounds, RTT_US + 9000);
    }
    assert_ne!(rounds.series("mode"), COMPETE);
    let mut rounds = settled();
    for _ in 0..12 {
        round_with_rtt(&mut rounds, RTT_US + 20_000);
    }
    assert_eq!(rounds.series("mode"), DELAY);
    for _ in 0..3 {
        round_with_rtt(&mut rounds, RTT_US + 20_000);
    }
    assert_eq!(rounds.series("mode"), COMPETE);
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
