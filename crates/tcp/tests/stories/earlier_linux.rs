//! How Linux's sender recovered losses in earlier releases, each rule next to today's, in the same story.

use dumbbell_cc::CaState;
use dumbbell_tcp::{Behaviour, Detection, EcnMode, RackWindow, SenderConfig};

use crate::script::{SenderScript, bulk, load};

fn counting() -> Behaviour {
    Behaviour {
        detection: Detection::DupthreshAndRack,
        ..Behaviour::default()
    }
}

/// A bulk sender that behaves so.
pub(crate) fn config(behaviour: Behaviour) -> SenderConfig {
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
        s.first_ack().play(
            "200.5 < ack 1 sack 2
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
        s.lost_one().play(&format!(
            "206 < ack 1 sack 6:8 2:5
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
