//! Response functions: mean window against loss rate, with a loss every 1/p packets, as the
//! standards tabulate them.

use dumbbell_net::Packet;
use dumbbell_tcp::{DataHeader, SenderConfig};

use crate::script::{Fate, MSS_BYTES, NS_PER_MS, Pair, Path, load};

const RTT_NS: u64 = 100 * NS_PER_MS;

/// Mean window, packets, over `epochs` losses, one per `period` packets: packets delivered per
/// round trip, the path being infinitely fast. The first loss, of packet `first`, ends slow
/// start with about half as many packets of cwnd; four more losses pass before it counts.
fn mean_window_pkts(cc: &str, period: u64, first: u64, epochs: u64) -> f64 {
    let config = SenderConfig {
        closes: false,
        sndbuf_pkts: 1 << 24,
        tso: false,
        ..SenderConfig::new(0, MSS_BYTES, None)
    };
    let path = Path {
        rtt_ns: RTT_NS,
        bottleneck: None,
        back: None,
        rwnd_pkts: 1 << 24,
        delayed_ack: true,
    };
    let every = move |number: u64, _: &Packet<DataHeader>| {
        if number >= first && (number - first).is_multiple_of(period) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    };
    let mut pair = Pair::new(config, load(cc), path)
        .on_data(every)
        .without_log();
    let mut delivered_after = |losses: u64| {
        while pair.sender.counters().sent_pkts < first + losses * period {
            assert!(pair.step(u64::MAX - 1));
        }
        (pair.sender.sock().delivered, pair.now_ns)
    };
    let (from_pkts, from_ns) = delivered_after(4);
    let (to_pkts, to_ns) = delivered_after(4 + epochs);
    assert_eq!(pair.sender.counters().rto_count, 0, "{cc}, 1/p = {period}");
    f64::from(to_pkts - from_pkts) * RTT_NS as f64 / (to_ns - from_ns) as f64
}

/// Losses to average over: fewer where each is a million packets.
fn epochs(period: u64) -> u64 {
    (1_000_000 / period).clamp(3, 100)
}

/// RFC 9438 Table 1 (RTT 100 ms, C = 0.4), from below and from above.
///
/// Tolerance 15 %. The table is the model's own fixed point; a loss exactly every 1/p packets has a
/// band of them. The cubic is within one packet of `W_max` for cbrt(1/C) = 1.36 s on either side of
/// K, cwnd is whole packets, so any `W_max` whose epoch ends in that time reproduces itself: means
/// of 157 to 229 for p = 1e-4, 951 to 1178 for 1e-5. At p = 1e-3 the Reno-friendly region
/// dominates, and Linux's `W_est` (15/8 windows per packet for 1/α = 1.89) runs on top of the
/// cubic. That Linux's β is 717/1024 has no visible effect.
#[test]
fn rfc9438_table_1_cubic() {
    for (period, want_pkts) in [
        (1_000, 38),
        (10_000, 187),
        (100_000, 1054),
        (1_000_000, 5926),
    ] {
        for first in [want_pkts, 2 * want_pkts] {
            let mean_pkts = mean_window_pkts("cubic", period, first, epochs(period));
            let error = mean_pkts / want_pkts as f64 - 1.0;
            assert!(
                error.abs() < 0.15,
                "1/p = {period}, first loss at {first}: {mean_pkts:.1}, not {want_pkts}"
            );
        }
    }
}

/// Mathis et al. (1997): W = sqrt(3/2)/√p for a Reno that grows by one packet per round trip,
/// 5 % less for what recovery costs. Delayed ACKs do not lower it (by √2, as in the original
/// with b = 2): Linux counts packets acknowledged, not ACKs (RFC 3465).
#[test]
fn mathis_reno() {
    for period in [1_000, 10_000, 100_000] {
        let want_pkts = (1.5 * period as f64).sqrt();
        let mean_pkts = mean_window_pkts("reno", period, want_pkts as u64, epochs(period));
        let error = mean_pkts / want_pkts - 1.0;
        assert!(
            error.abs() < 0.05,
            "1/p = {period}: {mean_pkts:.1}, not {want_pkts:.1}"
        );
    }
}
