//! When Linux's sender let packets leave, and its receiver sent ACKs, in earlier releases, each rule next to today's.

use dumbbell_tcp::{Behaviour, Pacing, ReceiverConfig, ReceiverRules, SenderConfig};

use crate::earlier_linux::config;
use crate::script::{MSS_BYTES, ReceiverScript, SenderScript, linux_receiver, load};

const NS_PER_S: u64 = 1_000_000_000;

/// When each packet left from the `first` on, ns.
fn departures(s: &SenderScript, first: usize) -> Vec<u64> {
    s.packets[first..]
        .iter()
        .map(|&(time_ns, _)| time_ns)
        .collect()
}

/// The timer of 4.13 to 4.18 paced from the first packet on and charged 32 bytes of TCP header; up to 4.12 TCP did not pace.
#[test]
fn pacing_by_a_timer_charged_the_tcp_header_and_spared_no_packet() {
    let leaves = |pacing| {
        let behaviour = Behaviour {
            pacing,
            ..Behaviour::default()
        };
        let mut s = SenderScript::established(config(behaviour), load("bbr"), 100);
        s.run_until(190_000_000);
        let rate = s.sock().sk_pacing_rate;
        (departures(&s, 0), rate)
    };
    let (times, rate) = leaves(Pacing::Timer);
    let gap_ns = u64::from(MSS_BYTES + 32) * NS_PER_S / rate;
    assert!(times.len() == 10 && times[0] == 100_000_000);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == gap_ns));
    for pacing in [Pacing::DepartureTime, Pacing::None] {
        assert_eq!(leaves(pacing).0, [100_000_000; 10]);
    }
}

/// A late timer costs its lateness at each gap; by departure times half a gap of it is made up for.
#[test]
fn late_timers_cost_what_is_not_made_up_for() {
    let gaps = |pacing, timer_lateness_ns| {
        let behaviour = Behaviour {
            pacing,
            ..Behaviour::default()
        };
        let config = SenderConfig {
            timer_lateness_ns,
            ..config(behaviour)
        };
        let mut s = SenderScript::established(config, load("bbr"), 100);
        s.run_until(200_000_000);
        let first = s.packets.len();
        s.feed(&["ack", "10"]);
        let rate = s.sock().sk_pacing_rate;
        s.run_until(290_000_000);
        let times = departures(&s, first + 2);
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 10 && gaps.iter().all(|gap| *gap == gaps[0]));
        (gaps[0], rate)
    };
    let late_ns = 50_000;
    let (exact_ns, rate) = gaps(Pacing::DepartureTime, 0);
    assert_eq!(exact_ns, u64::from(MSS_BYTES) * NS_PER_S / rate);
    assert_eq!(gaps(Pacing::DepartureTime, late_ns).0, exact_ns);
    let half_ns = exact_ns - exact_ns / 2;
    assert_eq!(gaps(Pacing::DepartureTime, exact_ns).0, half_ns + exact_ns);
    let (timer_ns, rate) = gaps(Pacing::Timer, 0);
    assert_eq!(timer_ns, u64::from(MSS_BYTES + 32) * NS_PER_S / rate);
    assert_eq!(gaps(Pacing::Timer, late_ns).0, timer_ns + late_ns);
}

/// Up to 6.17 a burst waited for an ACK expected within half a round trip.
#[test]
fn a_burst_waited_for_an_ack_half_a_round_trip_away() {
    for (defers_half_rtt, last) in [(false, "300.5 > 66"), (true, "300.5 .")] {
        let config = SenderConfig {
            tso: true,
            ..config(Behaviour {
                defers_half_rtt,
                ..Behaviour::default()
            })
        };
        let mut s = SenderScript::established(config, load("reno"), 100);
        s.play(&format!(
            "100 > 0:10
             200 < ack 9
             200 > 10:28
             202 < ack 10
             202 > 28:30
             300 < ack 28
             300 > 30:66
             300.5 < ack 28 sack 29
             {last}"
        ));
    }
}

/// SACK compression came with 4.18: before, every segment above a hole was acknowledged at once.
#[test]
fn every_segment_above_a_hole_was_acknowledged_at_once() {
    let receiver = |rules| {
        let mut script = ReceiverScript::with(ReceiverConfig {
            rules,
            ..linux_receiver()
        });
        script.hear("0 < 0:16");
        script
    };
    receiver(ReceiverRules::Linux).play(
        "10 < 17:20
         10 > ack 16 sack 17
         10 > ack 16 sack 17:19
         10 > ack 16 sack 17:20
         10.5 < 20
         10.7 < 21
         11.6 > ack 16 sack 17:22",
    );
    receiver(ReceiverRules::LinuxBefore418).play(
        "10 < 17:20
         10 > ack 16 sack 17
         10 > ack 16 sack 17:19
         10 > ack 16 sack 17:20
         10.5 < 20
         10.5 > ack 16 sack 17:21
         10.7 < 21
         10.7 > ack 16 sack 17:22",
    );
}
