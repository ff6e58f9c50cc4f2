//! Departure times and burst sizes.

use dumbbell_tcp::SenderConfig;

use crate::script::{MSS_BYTES, SenderScript, bulk, load};

const NS_PER_S: u64 = 1_000_000_000;

/// Departure times, and the number of packets at each.
fn departures(s: &SenderScript) -> Vec<(u64, u64)> {
    let mut bursts: Vec<(u64, u64)> = Vec::new();
    for &(time_ns, _) in &s.packets {
        match bursts.last_mut() {
            Some((last_ns, count)) if *last_ns == time_ns => *count += 1,
            _ => bursts.push((time_ns, 1)),
        }
    }
    bursts
}

fn take_ns(s: &SenderScript, pkts: u64) -> u64 {
    pkts * u64::from(MSS_BYTES) * NS_PER_S / s.sock().sk_pacing_rate
}

/// Linux paces no flow's first ten packets; then each departs payload/rate after the one before.
/// Time lost before the first is made up for by half a packet's time at most.
#[test]
fn departures_are_spaced_by_the_pacing_rate() {
    let mut s = SenderScript::established(bulk(), load("bbr"), 100);
    s.play("100 > 0:10");
    s.run_until(200_000_000);
    s.feed(&["ack", "10"]);
    let take_ns = take_ns(&s, 1);
    s.run_until(280_000_000);
    let bursts = departures(&s);
    assert_eq!(bursts.len(), 20, "cwnd doubled");
    assert!(bursts.iter().all(|&(_, count)| count == 1));
    assert_eq!(bursts[0].0, 200_000_000, "the first at once");
    assert_eq!(bursts[1].0 - bursts[0].0, take_ns - take_ns / 2);
    for pair in bursts[1..].windows(2) {
        assert_eq!(pair[1].0 - pair[0].0, take_ns);
    }
}

/// Bursts take what the rate moves in 1/1024 s, two segments at least where BBR wants so (from
/// 1.2 Mbit/s on), and the next waits for the whole burst's time.
#[test]
fn bursts_are_a_millisecond_at_the_pacing_rate() {
    let config = SenderConfig {
        tso: true,
        ..bulk()
    };
    for (rtt_ms, want) in [(4, 7), (100, 2)] {
        let mut s = SenderScript::established(config, load("bbr"), rtt_ms);
        s.skip();
        s.run_until(2 * rtt_ms * 1_000_000);
        s.feed(&["ack", "10"]);
        let take_ns = take_ns(&s, want);
        // On short paths 64 kB halved per 512 µs of RTT comes on top (`tcp_tso_rtt_log`).
        let by_rtt = 65_215_u64.checked_shr((rtt_ms * 1000) as u32 >> 9);
        let bytes = s.sock().sk_pacing_rate / 1024 + by_rtt.unwrap_or(0);
        assert_eq!((bytes / u64::from(MSS_BYTES)).max(2), want);
        s.run_until((2 * rtt_ms + rtt_ms - 1) * 1_000_000);
        let bursts = departures(&s);
        assert_eq!(bursts.iter().map(|&(_, count)| count).sum::<u64>(), 20);
        let (_, full) = bursts.split_last().expect("bursts");
        assert!(full.iter().all(|&(_, count)| count == want), "{bursts:?}");
        assert_eq!(bursts[1].0 - bursts[0].0, take_ns - take_ns / 2);
        assert!(
            bursts[1..]
                .windows(2)
                .all(|pair| pair[1].0 - pair[0].0 == take_ns)
        );
    }
}

/// Below 1.2 Mbit/s BBR's `min_tso_segs` is one.
#[test]
fn slow_bbr_sends_single_segments() {
    let config = SenderConfig {
        tso: true,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("bbr"), 1990);
    s.skip();
    s.run_until(4_000_000_000);
    s.feed(&["ack", "5"]);
    assert!(s.sock().sk_pacing_rate * 8 < 1_200_000);
    s.run_until(4_100_000_000);
    assert!(departures(&s).len() > 1);
    assert!(departures(&s).iter().all(|&(_, count)| count == 1));
}

/// The probe and retransmission timers count from the departure that pacing allows.
#[test]
fn timers_start_when_pacing_lets_the_segment_go() {
    let mut s = SenderScript::established(bulk(), load("bbr"), 100);
    // The tenth packet is the first that is paced: the next may leave that much later.
    let next_departure_ns = 100_000_000 + take_ns(&s, 1);
    assert_eq!(s.sender.next_timer_ns(), next_departure_ns);
    s.run_until(110_000_000);
    assert_eq!(s.sender.next_timer_ns(), next_departure_ns + 202_000_000);
}

/// Without offload a sender never waits to fill a burst; with it, right after another burst, it
/// does when the next ACK is near, and calls that cwnd-limited.
#[test]
fn offload_defers_a_burst_until_it_is_full() {
    for (tso, last) in [(false, "300.5 > 32"), (true, "300.5 .")] {
        let config = SenderConfig { tso, ..bulk() };
        let mut s = SenderScript::established(config, load("reno"), 100);
        s.play(&format!(
            "100 > 0:10
             200 < ack 10
             200 > 10:30
             300 < ack 11
             300 > 30:32
             300.5 < ack 11 sack 12
             {last}"
        ));
        assert!(s.sock().is_cwnd_limited());
    }
}

/// An ACK that is more than 1 ms away is not waited for: on a link where packets are further apart
/// a window that has grown by one packet sends it at once.
#[test]
fn offload_does_not_wait_for_an_ack_that_is_far() {
    let config = SenderConfig {
        tso: true,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("reno"), 100);
    s.play(
        "100 > 0:10
         200 < ack 9
         200 > 10:28
         202 < ack 10
         202 > 28:30
         300 < ack 28
         300 > 30:66
         300.5 < ack 28 sack 29
         300.5 > 66",
    );
}

/// Linux's default rate: 200 % of cwnd/srtt below half of ssthresh, 120 % above.
#[test]
fn the_default_pacing_rate_is_200_or_120_per_cent() {
    let mut s = SenderScript::reno(100);
    s.hear("200 < ack 10");
    assert_eq!(s.sock().sk_pacing_rate, 2 * 20 * u64::from(MSS_BYTES) * 10);
    s.hear(
        "300 < ack 10 sack 11:14
         400 < ack 30",
    );
    let sock = s.sock();
    assert!(sock.snd_cwnd >= sock.snd_ssthresh);
    let window = u64::from(sock.snd_cwnd.max(sock.packets_out));
    let rate = u64::from(MSS_BYTES) * window * 8 * 12 * 100_000 / u64::from(sock.srtt_us);
    assert_eq!(sock.sk_pacing_rate, rate);
}

/// Linux sends at most half of cwnd as one burst, so that ACKs keep clocking.
#[test]
fn a_burst_is_half_of_cwnd_at_most() {
    let config = SenderConfig {
        tso: true,
        ..bulk()
    };
    let mut s = SenderScript::established(config, load("bbr"), 1);
    s.skip();
    s.run_until(2_000_000);
    s.feed(&["ack", "10"]);
    assert_eq!(s.cwnd(), 20);
    s.run_until(3_000_000);
    let sizes: Vec<u64> = departures(&s).iter().map(|&(_, count)| count).collect();
    assert_eq!(sizes, [10, 10], "the pacing rate would allow more than 20");
}

/// Segments that left as one burst of two and are lost together are sent again as one, at once; those of two bursts are paced
/// (Linux's `tcp_xmit_retransmit_queue` sends an `sk_buff` again).
#[test]
fn what_left_as_a_burst_is_sent_again_as_one() {
    let config = SenderConfig {
        tso: true,
        ..bulk()
    };
    for (sack, departures) in [("ack 2 sack 4:10", 1), ("ack 3 sack 5:10", 2)] {
        let mut s = SenderScript::established(config, load("bbr"), 100);
        s.skip();
        s.run_until(200_000_000);
        s.feed(&sack.split(' ').collect::<Vec<_>>());
        s.run_until(205_000_000);
        let again = s
            .packets
            .iter()
            .filter(|(_, packet)| packet.header.is_retransmission());
        let mut times: Vec<u64> = again.map(|&(time_ns, _)| time_ns).collect();
        assert_eq!(times.len(), 2, "{sack}");
        times.dedup();
        assert_eq!(times.len(), departures, "{sack}");
    }
}
