//! What Linux's sender did otherwise in earlier releases, each next to what it does now, in the same story.

use dumbbell_cc::CaState;
use dumbbell_tcp::{
    Behaviour, Detection, EcnMode, Half, Pacing, RackWindow, ReceiverConfig, ReceiverRules,
    SenderConfig,
};

use crate::script::{MSS_BYTES, ReceiverScript, SenderScript, bulk, load};

const NS_PER_S: u64 = 1_000_000_000;

fn counting() -> Behaviour {
    Behaviour {
        detection: Detection::DupthreshAndRack,
        ..Behaviour::default()
    }
}

fn config(behaviour: Behaviour) -> SenderConfig {
    SenderConfig {
        behaviour,
        ..bulk()
    }
}

/// A bulk Reno sender on a path of 100 ms.
fn reno(behaviour: Behaviour) -> SenderScript {
    SenderScript::established(config(behaviour), load("reno"), 100)
}

/// Once reordering was seen, RACK waits a quarter of the minimum RTT (and two jiffies) where three SACKed segments are
/// enough for RFC 6675.
#[test]
fn three_duplicates_are_enough_where_rack_still_waits() {
    let waits = Behaviour::default();
    for (behaviour, repair) in [
        (
            waits,
            "202 > 15:18
             229 > 3 rtx",
        ),
        (
            counting(),
            "202 > 3 rtx
             202 > 15",
        ),
    ] {
        let mut s = reno(behaviour);
        s.play(
            "100 > 0:10
             200 < ack 1
             200 > 10:12
             200.5 < ack 1 sack 2
             200.5 > 12
             201 < ack 3 ecr 100  // 1 was late
             201 > 13:15",
        );
        assert_eq!(s.sock().reord_seen, 1);
        s.play(&format!("202 < ack 3 sack 4:7\n{repair}"));
        assert_eq!(s.state(), CaState::Recovery);
    }
}

/// In recovery RACK of RFC 8985 waits for nothing; in 4.12 and 4.15 a millisecond (and two jiffies).
#[test]
fn the_reordering_window_in_recovery_was_a_millisecond() {
    for (rack_window, repair) in [
        (RackWindow::Rfc8985, "206 > 5 rtx"),
        (RackWindow::UntilRecovery, "206 > 13\n209 > 5 rtx"),
        (RackWindow::UntilLoss, "206 > 13\n209 > 5 rtx"),
    ] {
        let mut s = reno(Behaviour {
            rack_window,
            ..counting()
        });
        s.play(&format!(
            "100 > 0:10
             200 < ack 1
             200 > 10:12
             203 < ack 1 sack 2:5
             203 > 1 rtx
             203 > 12
             206 < ack 1 sack 6:8 2:5
             {repair}"
        ));
    }
}

/// Outside recovery, a third duplicate did not end RACK's waiting: that was for counting to do.
#[test]
fn the_reordering_window_did_not_fall_with_the_third_duplicate() {
    for (rack_window, at_once) in [
        (RackWindow::Rfc8985, 1),
        (RackWindow::UntilRecovery, 0),
        (RackWindow::UntilLoss, 0),
    ] {
        let mut s = reno(Behaviour {
            rack_window,
            ..Behaviour::default()
        });
        s.hear(
            "200 < ack 1
             203 < ack 1 sack 2:5",
        );
        assert_eq!(s.sender.counters().retransmitted_pkts, at_once);
        s.run_until(229_999_999);
        assert_eq!(s.sender.counters().retransmitted_pkts, at_once);
        s.run_until(230_000_000); // 100 / 4 ms after what arrived at 203, and two jiffies
        assert_eq!(s.sender.counters().retransmitted_pkts, 1);
        s.skip();
    }
}

/// Two segments leave 10 ms before the timeout of three that were lost: RACK does not take them for lost (RFC 8985 §6.3).
#[test]
fn a_timeout_marked_everything_lost_and_set_cwnd_to_one() {
    for (rto_marks_all, rto_cwnd_one, lost, cwnd) in [
        (false, false, 3, 3),
        (true, false, 5, 1),
        (false, true, 3, 1),
        (true, true, 5, 1),
    ] {
        let behaviour = Behaviour {
            rto_marks_all,
            rto_cwnd_one,
            ..Behaviour::default()
        };
        let mut s = SenderScript::writing(config(behaviour), 100);
        s.sender.disable_loss_probes();
        s.play(
            "100 ! write 1448
             100 > 0
             200 < ack 1
             200 ! write 4344
             200 > 1:4
             490 ! write 2896
             490 > 4:6
             500 > 1 rtx",
        );
        assert_eq!(s.state(), CaState::Loss);
        assert_eq!((s.sock().lost_out, s.cwnd()), (lost, cwnd));
    }
}

/// F-RTO has found the timeout genuine (RFC 5682 §3.1 step 3a). Then 9 is SACKed, which was sent once and before it: up
/// to 4.15.10 that undid the timeout, with all marks.
#[test]
fn any_sack_of_what_was_sent_once_undid_a_timeout() {
    for (undoes_on_any_sack, undone) in [(false, 0), (true, 1)] {
        let mut s = reno(Behaviour {
            undoes_on_any_sack,
            ..Behaviour::default()
        });
        s.play(
            "100 > 0:10
             302 > 10      // tail loss probe
             602 > 0 rtx
             702 < ack 1
             702 > 11:13
             802 < ack 1 sack 11
             802 > 1 rtx",
        );
        assert_eq!((s.state(), s.sock().snd_ssthresh), (CaState::Loss, 5));
        s.hear("803 < ack 1 sack 9 11:13");
        assert_eq!(s.sender.counters().spurious_rto_count, undone);
        if undoes_on_any_sack {
            // RACK marks them again at once, and a recovery begins from the cwnd that was restored.
            assert_eq!(s.state(), CaState::Recovery);
            assert_eq!(s.sock().prior_cwnd, 10);
        } else {
            assert_eq!((s.state(), s.sock().snd_ssthresh), (CaState::Loss, 5));
        }
    }
}

/// 10 and 11 are repaired, and retransmission would go on with 12. 15 waits for cwnd when the repair is acknowledged, 12 with
/// it, and the same ACK shows that 25 is lost. Up to Linux 5.4 retransmission went on with 25, and 15 waited for the timeout.
#[test]
fn losses_before_a_new_one_were_forgotten_when_the_hint_was_acknowledged() {
    let all = "400 > 15 rtx
               400 > 25 rtx
               400 > 30:38";
    let forgotten = "400 > 25 rtx
                     400 > 30:39";
    for (has_hint_defect, repairs, answer, timeouts) in [
        (false, all, "500 < ack 38", 0),
        (true, forgotten, "500 < ack 15 sack 16:39", 1),
    ] {
        let mut s = reno(Behaviour {
            has_hint_defect,
            ..Behaviour::default()
        });
        s.play(&format!(
            "100 > 0:10
             200 < ack 10
             200 > 10:30
             300 < ack 10 sack 12:15
             300 > 10 rtx
             300 > 11 rtx
             301 < ack 10 sack 16 12:15        // 15 is lost
             400 < ack 15 sack 26:30 16:25     // 25 too
             {repairs}"
        ));
        s.hear(answer);
        s.run_until(900_000_000);
        assert_eq!(s.sender.counters().rto_count, timeouts);
        s.skip();
    }
}

/// New losses bring the flight below ssthresh, when more was delivered than sent: now that is made up for, by conservation
/// one leaves for one that arrived.
#[test]
fn proportional_rate_reduction_conserved_packets() {
    let made_up_for = "300 > 1 rtx
                       300 > 10 rtx
                       300 > 11 rtx
                       300 > 12 rtx";
    for (conserves_packets, repairs) in [(false, made_up_for), (true, "300 > 1 rtx")] {
        let mut s = reno(Behaviour {
            conserves_packets,
            ..Behaviour::default()
        });
        s.hear(
            "200 < ack 1
             201 < ack 1 sack 2
             202 < ack 1 sack 2:4
             203 < ack 1 sack 2:5
             204 < ack 1 sack 2:6
             205 < ack 1 sack 2:7
             206 < ack 1 sack 2:8
             207 < ack 1 sack 2:9
             208 < ack 1 sack 2:10",
        );
        s.play(&format!("300 < ack 1 sack 15 2:10\n{repairs}"));
        assert_eq!(s.sock().snd_ssthresh, 5);
    }
}

/// An ACK of a retransmission that reveals a new loss: conservation grows the flight all the same.
#[test]
fn conservation_grew_the_flight_on_acks_of_retransmissions() {
    let conserved = "302 > 1 rtx
                     302 > 2 rtx";
    let grown = "302 > 1 rtx
                 302 > 2 rtx
                 302 > 3 rtx";
    for (conserves_packets, repairs) in [(false, conserved), (true, grown)] {
        let mut s = reno(Behaviour {
            conserves_packets,
            ..Behaviour::default()
        });
        s.play(&format!(
            "100 > 0:10
             200 < ack 0 sack 7
             200 > 10
             201 < ack 0 sack 7:9
             201 > 11
             202 < ack 0 sack 7:10    // 0 to 6 are lost
             202 > 0 rtx
             302 < ack 1 sack 11 7:10 // and 10
             {repairs}"
        ));
    }
}

/// In CWR, tail losses waited for the timeout up to 4.15.
#[test]
fn tail_loss_probes_were_sent_in_open_only() {
    for (probes_in_open_only, probes, timeouts) in [(false, 1, 0), (true, 0, 1)] {
        let behaviour = Behaviour {
            probes_in_open_only,
            ..Behaviour::default()
        };
        let config = SenderConfig {
            ecn: EcnMode::Classic,
            ..config(behaviour)
        };
        let mut s = SenderScript::established(config, load("reno"), 100);
        s.hear("200 < ack 8 ece");
        assert_eq!(s.state(), CaState::Cwr);
        s.run_until(401_000_000);
        let counters = s.sender.counters();
        assert_eq!((counters.tlp_count, counters.rto_count), (probes, timeouts));
        s.skip();
    }
}

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
            flow: 0,
            half: Half::Only,
            mss_bytes: MSS_BYTES,
            rwnd_bytes: 1000 * MSS_BYTES,
            delayed_ack: true,
            gro_ns: 0,
            rules,
            ooo_limit_pkts: None,
            rtt_ns: 100_000_000,
            ecn: EcnMode::Off,
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
         11.5 > ack 16 sack 17:22",
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
