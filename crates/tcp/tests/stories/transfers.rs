//! Whole transfers over a path with one disturbance.

use dumbbell_tcp::SenderConfig;

use crate::script::{Fate, MSS_BYTES, NS_PER_MS, Pair, Path, bulk, load};

const PATH: Path = Path {
    rtt_ns: 40 * NS_PER_MS,
    bottleneck: Some((50_000_000, 1000)),
    back: None,
    rwnd_pkts: 1 << 20,
    delayed_ack: true,
};

fn transfer<'a>(segments: u64, path: Path) -> Pair<'a> {
    let config = SenderConfig {
        size_bytes: Some(segments * u64::from(MSS_BYTES)),
        ..bulk()
    };
    Pair::new(config, load("reno"), path)
}

/// RFC 6675, RFC 8985: each of several scattered losses is sent again once, without a timeout.
#[test]
fn rfc6675_scattered_losses_are_each_repaired_once() {
    let lost = [40, 41, 45, 60, 61, 62];
    let mut pair = transfer(300, PATH).on_data(|number, _| {
        if lost.contains(&number) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.run_to_end(60_000 * NS_PER_MS);
    // Nothing was retransmitted before the last of them: packet and segment numbers agree.
    assert_eq!(pair.retransmitted(), lost.map(|number| number as u32));
    assert_eq!(pair.sender.counters().rto_count, 0);
    assert_eq!(pair.sender.counters().fast_recovery_count, 1);
}

/// RFC 8985 §6.2: the first packet late by less than min_rtt/4 meets three duplicate ACKs, and
/// its recovery is undone; from then on reordering is known, and costs nothing.
#[test]
fn rfc8985_only_the_first_late_packet_is_taken_for_lost() {
    let mut pair = transfer(300, PATH).on_data(|number, _| {
        if number == 2 || number == 150 || number == 200 {
            Fate::Delay(8 * NS_PER_MS)
        } else {
            Fate::Deliver
        }
    });
    pair.run_to_end(60_000 * NS_PER_MS);
    assert_eq!(pair.retransmitted(), [2]);
    let counters = pair.sender.counters();
    assert_eq!(
        (
            counters.fast_recovery_count,
            counters.spurious_recovery_count
        ),
        (1, 1)
    );
}

/// RFC 8985 §7: the last segment is lost. Two round trips later the probe repairs it; a timeout
/// would take RTO = 240 ms.
#[test]
fn rfc8985_a_lost_tail_is_repaired_by_a_probe() {
    let mut pair = transfer(100, PATH).on_data(|number, _| {
        if number == 98 || number == 99 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.run_to_end(60_000 * NS_PER_MS);
    assert_eq!(pair.retransmitted(), [99, 98]);
    let counters = pair.sender.counters();
    assert_eq!((counters.tlp_count, counters.rto_count), (1, 0));
}

/// RFC 5681 §3.1: a whole window lost, and its probe, take one timeout and slow start.
#[test]
fn rfc5681_a_blackout_takes_one_timeout() {
    // The path is dead for what leaves from 100 to 300 ms.
    let mut pair = transfer(300, PATH).on_data(|_, packet| {
        if (100..300).contains(&packet.header.ts_val_ms) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.run_to_end(60_000 * NS_PER_MS);
    let counters = pair.sender.counters();
    assert_eq!(counters.rto_count, 1);
    assert_eq!(counters.spurious_retransmits, 0);
    assert_eq!(pair.receiver.counters().duplicate_pkts, 0);
}

/// RFC 9293 §3.4: ACKs are cumulative: every second one lost costs no retransmission.
#[test]
fn rfc9293_lost_acks_cost_no_retransmission() {
    let mut pair = transfer(300, PATH).on_acks(|number, _| {
        if number % 2 == 1 && number < 150 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.run_to_end(60_000 * NS_PER_MS);
    assert_eq!(pair.receiver.counters().duplicate_pkts, 0);
}

/// RFC 8985 §6.2 step 4 with D-SACK: on a path that keeps delaying packets by half the RTT the
/// window widens until there are no spurious retransmissions.
#[test]
fn rfc8985_persistent_reordering_is_learned() {
    let mut pair = transfer(20_000, PATH).on_data(|number, _| {
        if number % 50 == 20 {
            Fate::Delay(20 * NS_PER_MS)
        } else {
            Fate::Deliver
        }
    });
    let mut spurious = 0;
    for seconds in 1..=4 {
        pair.run_until(seconds * 1000 * NS_PER_MS);
        spurious = pair.retransmitted().len();
    }
    assert!(spurious > 0, "min_rtt/4 was too short at first");
    pair.run_to_end(60_000 * NS_PER_MS);
    assert_eq!(pair.retransmitted().len(), spurious, "learned");
}

/// The bottleneck sees what the sender sends: 50 Mbit/s are filled, less headers.
#[test]
fn a_bulk_transfer_fills_the_bottleneck() {
    // BBRv3 paces 1 % below the bandwidth and gives 2 % to ProbeRTT by design (draft-ietf-ccwg-bbr,
    // "ProbeRTT Design Rationale"), and a little more to the round trips around it.
    for (cc, least_pct) in [("reno", 97), ("cubic", 97), ("bbr", 97), ("bbr3", 96)] {
        let path = Path {
            bottleneck: Some((50_000_000, 165)), // 1 BDP
            ..PATH
        };
        let mut pair = Pair::new(bulk(), load(cc), path).without_log();
        pair.run_until(2_000 * NS_PER_MS);
        let before = pair.receiver.counters().received_bytes;
        pair.run_until(12_000 * NS_PER_MS);
        let bits = (pair.receiver.counters().received_bytes - before) * 8;
        let full = 500_000_000 * 1448 / 1514;
        assert!(
            bits > full * least_pct / 100 && bits <= full + 20_000,
            "{cc}: {bits}"
        );
    }
}
