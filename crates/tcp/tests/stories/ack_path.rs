//! ACKs are packets like others: on a link of the way back they wait, are marked and are lost.

use dumbbell_tcp::{EcnMode, SenderConfig};

use crate::script::{BackLink, Fate, MSS_BYTES, NS_PER_MS, Pair, Path, bulk, load};

/// 1 Mbit/s: a byte takes 8 µs.
const NARROW: BackLink = BackLink {
    rate_bps: 1_000_000,
    limit_pkts: 100,
    marks: false,
};

fn transfer<'a>(segments: u64, back: BackLink, ecn: EcnMode) -> Pair<'a> {
    let config = SenderConfig {
        size_bytes: Some(segments * u64::from(MSS_BYTES)),
        ecn,
        ..bulk()
    };
    let path = Path {
        rtt_ns: 100 * NS_PER_MS,
        bottleneck: None,
        back: Some(back),
        rwnd_pkts: 1 << 20,
        delayed_ack: true,
    };
    Pair::new(config, load("reno"), path)
}

/// The RTT has what the ACK took on the link: its 66 bytes, 0.528 ms.
#[test]
fn an_ack_is_serialised() {
    let mut pair = transfer(1, NARROW, EcnMode::Off);
    pair.run_to_end(1000 * NS_PER_MS);
    assert_eq!(pair.sender.latest_rtt_us(), 100_000 + 528);
    // SYN-ACK, 74 bytes, ACK and propagation twice.
    assert_eq!(pair.now_ns, 200 * NS_PER_MS + 592_000 + 528_000);
}

/// Two-way traffic: the ACK waits for the packet that entered before it, and the RTT says so.
#[test]
fn an_ack_waits_behind_data_of_another_flow() {
    let mut pair = transfer(1, NARROW, EcnMode::Off);
    pair.run_until(150 * NS_PER_MS).cross(1514);
    pair.run_to_end(1000 * NS_PER_MS);
    // The segment arrives at 150.592 ms; the link is taken until 162.112.
    let waited_us = 162_112 - 150_592;
    assert_eq!(
        pair.sender.latest_rtt_us(),
        100_000 + waited_us + 528,
        "{:?}",
        pair.sender
    );
}

/// RFC 3168 §6.1.4, §6.1.5: pure ACKs of classic ECN are not capable, so a queue cannot mark them;
/// DCTCP's are (RFC 8257), but a mark on an ACK says nothing of the way there: Linux looks at marks
/// of segments with data only.
#[test]
fn marks_on_acks_do_not_reduce_the_window() {
    for (ecn, are_marked) in [(EcnMode::Classic, false), (EcnMode::Dctcp, true)] {
        let sent = |marks| {
            let mut pair = transfer(500, BackLink { marks, ..NARROW }, ecn);
            pair.run_to_end(60_000 * NS_PER_MS);
            assert_eq!(pair.watch.marked_acks > 0, marks && are_marked, "{ecn:?}");
            assert_eq!(pair.sender.sock().delivered_ce, 0, "{ecn:?}");
            pair.sent
        };
        assert_eq!(sent(true), sent(false), "{ecn:?}");
    }
}

/// A queue that overflows with ACKs thins them: they are cumulative, so only what was lost is sent
/// again (RFC 9293 §3.4, RFC 2018 §4: blocks are repeated), and their blocks are not kept for ever.
#[test]
fn a_queue_that_drops_acks_costs_no_retransmission() {
    let narrower = BackLink {
        rate_bps: 100_000,
        limit_pkts: 3,
        marks: false,
    };
    let lost = [100, 101, 150, 300];
    let mut pair = transfer(1000, narrower, EcnMode::Off).on_data(|_, packet| {
        if lost.contains(&packet.header.seq) && !packet.header.is_retransmission() {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    while !pair.sender.is_finished() {
        assert!(pair.step(60_000 * NS_PER_MS), "{:?}", pair.sender);
        pair.check_sacks();
    }
    assert!(pair.watch.dropped_acks > 0);
    assert_eq!(pair.retransmitted(), lost);
    assert_eq!(pair.receiver.counters().duplicate_pkts, 0);
    pair.run_until(pair.now_ns + 1000 * NS_PER_MS);
    pair.check_sacks();
}
