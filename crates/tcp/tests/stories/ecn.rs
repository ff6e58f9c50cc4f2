//! Explicit congestion notification: classic (RFC 3168) and as required by DCTCP (RFC 8257).

use dumbbell_cc::{CaState, TCP_INFINITE_SSTHRESH};
use dumbbell_net::Ecn;
use dumbbell_tcp::{EcnMode, SenderConfig};

use crate::script::{ReceiverScript, SenderScript, bulk, load, load_with};

/// A bulk sender whose SYN-ACK came at 100 ms and agreed to ECN; its initial window leaves then.
fn sender(cc: &str, mode: EcnMode) -> SenderScript {
    SenderScript::established(config(mode), load(cc), 100)
}

fn config(mode: EcnMode) -> SenderConfig {
    SenderConfig {
        ecn: mode,
        ..bulk()
    }
}

/// RFC 3168 §6.1.1: ECN is used when the SYN requested it and the SYN-ACK agreed. Pure ACKs are not
/// ECN-capable (§6.1.4), new data is (§6.1.2).
#[test]
fn rfc3168_both_ends_have_to_agree() {
    for (answer, data) in [("synack ece", Ecn::Ect0), ("synack", Ecn::NotEct)] {
        let mut s = SenderScript::connecting(config(EcnMode::Classic), load("reno"), 1000);
        s.run_until(100_000_000);
        s.feed(&answer.split(' ').collect::<Vec<_>>());
        let fields = s.ecn_fields();
        assert_eq!(
            fields[..2],
            [Ecn::NotEct; 2],
            "SYN and the SYN-ACK's answer"
        );
        assert_eq!(fields[2..], [data; 10], "after `{answer}`");
        s.play(
            "0 > syn ecn
             100 > ack
             100 > 0:10",
        );
    }
}

/// RFC 3168 §6.1.1.1: a SYN that is sent again does not request it.
#[test]
fn rfc3168_a_syn_sent_again_asks_for_no_ecn() {
    let mut s = SenderScript::connecting(config(EcnMode::Classic), load("reno"), 1000);
    s.play(
        "0 > syn ecn
         1000 > syn",
    );
}

/// RFC 3168 §6.1.2: the response to a mark is that to a loss, half with Reno, but nothing is sent
/// again; the first new data reports it with CWR. It happens once per round trip, for any number of
/// marks. The reduction is spread over the round trip (RFC 9937, as Linux).
#[test]
fn rfc3168_the_window_is_halved_once_per_round_trip() {
    let mut s = sender("reno", EcnMode::Classic);
    s.play(
        "100 > 0:10
         200 < ack 1 ece        // ⌈1·5/10⌉ − 0 = 1
         200 > 10 cwr
         201 < ack 2 ece        // ⌈2·5/10⌉ − 1 = 0
         202 < ack 3 ece        // ⌈3·5/10⌉ − 1 = 1
         202 > 11
         203 < ack 4
         204 < ack 5 ece
         204 > 12
         205 < ack 6
         206 < ack 7
         206 > 13
         207 < ack 8
         208 < ack 9            // in flight 5 = ssthresh: not one more
         209 < ack 10           // CWR is not acknowledged yet
         209 > 14",
    );
    assert_eq!((s.state(), s.cwnd()), (CaState::Cwr, 5));
    assert_eq!(s.sock().snd_ssthresh, 5);
    s.play(
        "300 < ack 11
         300 > 15",
    );
    assert_eq!((s.state(), s.cwnd()), (CaState::Open, 5));
    assert_eq!(s.sender.counters().ecn_reduction_count, 1);
    assert_eq!(s.sender.counters().retransmitted_pkts, 0);
    // The next round trip's mark is a new congestion event.
    s.play(
        "301 < ack 12 ece
         301 > 16 cwr",
    );
    assert_eq!((s.state(), s.sock().snd_ssthresh), (CaState::Cwr, 2));
}

/// RFC 3168 §6.1.2: without ECN on the connection the flag means nothing.
#[test]
fn an_echo_without_agreement_is_ignored() {
    let mut s = SenderScript::reno(100);
    s.play(
        "100 > 0:10
         200 < ack 1 ece
         200 > 10:12",
    );
    assert_eq!((s.state(), s.cwnd()), (CaState::Open, 11));
    assert_eq!(s.sock().delivered_ce, 0);
}

/// RFC 3168 §6.1.5: what is sent again is not ECN-capable. §6.1.2: a reduction because of a loss is
/// reported with CWR too, and a mark within the same round trip reduces no further.
#[test]
fn rfc3168_a_loss_is_reported_and_its_repair_is_not_capable() {
    let mut s = sender("reno", EcnMode::Classic);
    s.hear(
        "200 < ack 1
         201 < ack 1 sack 2
         202 < ack 1 sack 2:4",
    );
    s.hear("202 .");
    s.run_until(203_000_000);
    s.feed(&["ack", "1", "sack", "2:5"]);
    assert_eq!(s.ecn_fields(), [Ecn::NotEct]);
    s.play("203 > 1 rtx");
    let ssthresh = s.sock().snd_ssthresh;
    assert!(s.sock().prior_ssthresh > 0, "what an undo would restore");
    s.play(
        "204 < ack 1 sack 2:6 ece
         205 < ack 1 sack 2:7 ece
         205 > 14 cwr",
    );
    assert_eq!(s.state(), CaState::Recovery);
    assert_eq!(s.sock().snd_ssthresh, ssthresh);
    assert_eq!(s.sock().prior_ssthresh, 0, "a mark proves the congestion");
}

/// Linux: a reduction proven by a mark is not undone, although the loss turns out to be spurious.
#[test]
fn a_recovery_with_marks_is_not_undone() {
    for (ece, ssthresh) in [(" ece", 5), ("", TCP_INFINITE_SSTHRESH)] {
        let mut s = sender("reno", EcnMode::Classic);
        s.hear(
            "200 < ack 1
             201 < ack 1 sack 2
             202 < ack 1 sack 2:4",
        );
        s.hear(&format!("203 < ack 1 sack 2:5{ece}"));
        // The original had been late: its ACK echoes a time before the retransmission.
        s.hear("204 < ack 14 ecr 100");
        assert_eq!(s.state(), CaState::Open);
        assert_eq!(s.sock().snd_ssthresh, ssthresh, "with `{ece}`");
    }
}

/// RFC 3168 §6.1.3: ECE stays on all ACKs until CWR arrives. Linux does not delay the first two,
/// because the sender's window may be small, nor the answer to CWR.
#[test]
fn rfc3168_a_mark_is_echoed_until_cwr_arrives() {
    let mut r = ReceiverScript::with_ecn(EcnMode::Classic);
    r.play(
        "10 < 16 is ce
         10 > ack 17 ece
         11 < 17 is ect
         11 > ack 18 ece
         12 < 18 is ect
         13 < 19 is ect
         13 > ack 20 ece
         14 < 20 is ect is cwr
         14 > ack 21
         15 < 21 is ect
         16 < 22 is ect
         16 > ack 23",
    );
}

/// RFC 3168 §6.1.3, erratum 3639: for a packet with both, CWR is processed first: its mark is a new
/// one.
#[test]
fn rfc3168_cwr_ends_the_echo_before_the_packets_own_mark_begins_it() {
    let mut r = ReceiverScript::with_ecn(EcnMode::Classic);
    r.play(
        "10 < 16 is ce
         10 > ack 17 ece
         11 < 17 is ce is cwr
         11 > ack 18 ece",
    );
}

/// RFC 3168 §6.1.1: the SYN-ACK agrees only when the SYN requested it and the host uses ECN.
#[test]
fn rfc3168_a_receiver_without_ecn_echoes_nothing() {
    let mut r = ReceiverScript::past_quickacks();
    r.play(
        "10 < 16 is ce
         11 < 17 is ce
         11 > ack 18",
    );
    let mut declines = ReceiverScript::new();
    declines.play("0 < syn ecn\n0 > synack");
    let mut agrees = ReceiverScript::with_ecn(EcnMode::Classic);
    agrees.play("10 < syn ecn\n10 > ack 16");
}

/// RFC 8257 §3.2: ECE is the mark of the last packet, and a change of it is reported at once.
/// Packets that wait for a delayed ACK are acknowledged before, with their own mark, so that the
/// sender can count.
#[test]
fn rfc8257_a_change_of_the_mark_is_acknowledged_at_once() {
    let mut r = ReceiverScript::with_ecn(EcnMode::Dctcp);
    r.play(
        "10 < 16 is ect
         11 < 17 is ce
         11 > ack 17
         11 > ack 18 ece
         12 < 18 is ce
         13 < 19 is ce
         13 > ack 20 ece
         14 < 20 is ce
         15 < 21 is ect
         15 > ack 21 ece
         15 > ack 22
         16 < 22 is ce          // nothing waited
         16 > ack 23 ece
         17 < 23 is ect is cwr  // CWR changes nothing more
         17 > ack 24
         18 < 24 is ect
         19 < 25 is ect
         19 > ack 26",
    );
}

/// Linux: CWR does not clear the mark of packets that wait for their ACK, nor does it make a marked
/// packet after a marked one a change.
#[test]
fn rfc8257_cwr_does_not_hide_the_marks_of_packets_that_wait() {
    let mut r = ReceiverScript::with_ecn(EcnMode::Dctcp);
    r.play(
        "10 < 16 is ce
         10 > ack 17 ece
         11 < 17 is ce
         12 < 18 is ect is cwr
         12 > ack 18 ece
         12 > ack 19
         13 < 19 is ce
         13 > ack 20 ece
         14 < 20 is ce
         15 < 21 is ce is cwr
         15 > ack 22 ece",
    );
}

/// RFC 8257 §3.2 with a gap: out-of-order packets have marks as well.
#[test]
fn rfc8257_marks_of_packets_out_of_order_count() {
    let mut r = ReceiverScript::with_ecn(EcnMode::Dctcp);
    r.play(
        "10 < 17 is ce
         10 > ack 16 ece sack 17
         11 < 16 is ect
         11 > ack 18",
    );
}

/// Linux, for congestion control algorithms that need ECN: everything they send is ECN-capable, so that a
/// switch that marks does not drop it (RFC 8257 §5).
#[test]
fn with_dctcp_every_packet_is_ecn_capable() {
    let mut s = sender("reno", EcnMode::Dctcp);
    s.hear(
        "200 < ack 1
         201 < ack 1 sack 2
         202 < ack 1 sack 2:4",
    );
    s.run_until(203_000_000);
    s.feed(&["ack", "1", "sack", "2:5"]);
    assert_eq!(s.ecn_fields(), [Ecn::Ect0], "the retransmission");
    for (mode, ecn) in [(EcnMode::Dctcp, Ecn::Ect0), (EcnMode::Classic, Ecn::NotEct)] {
        let mut r = ReceiverScript::with_ecn(mode);
        r.feed(&["16:18", "is", "ect"]);
        let acks = r.take_acks();
        assert!(!acks.is_empty() && acks.iter().all(|ack| ack.ecn == ecn));
    }
}

/// RFC 8257 §3.3: the sender knows how many of the delivered packets were marked: those that an ACK
/// with ECE acknowledges, cumulatively or selectively.
#[test]
fn rfc8257_delivered_ce_counts_what_acks_with_ece_acknowledge() {
    let mut s = sender("reno", EcnMode::Dctcp);
    s.hear(
        "200 < ack 2
         201 < ack 4 ece
         202 < ack 4 sack 5:7 ece
         203 < ack 7",
    );
    // The SYN counts as delivered.
    assert_eq!((s.sock().delivered, s.sock().delivered_ce), (1 + 7, 2 + 2));
}

/// RFC 8257 §3.3: cwnd × (1 − α/2), where α is 1 until a window has passed.
#[test]
fn rfc8257_the_reduction_is_in_proportion_to_alpha() {
    let mut s = sender("dctcp", EcnMode::Dctcp);
    s.hear("200 < ack 1 ece");
    assert_eq!(
        (s.state(), s.sock().snd_ssthresh),
        (CaState::Cwr, 5),
        "α is still 1"
    );
}

/// RFC 8511 §3: with ABE a reduction that answers marks alone keeps 0.8 of cwnd with Reno and 0.85 with
/// CUBIC; one that answers a loss, with marks or without, keeps what it always did. Without the
/// parameter marks count as losses do.
#[test]
fn rfc8511_marks_reduce_less_than_losses() {
    let marked = "200 < ack 1 ece";
    let lost = "200 < ack 1
                201 < ack 1 sack 2
                202 < ack 1 sack 2:4
                203 < ack 1 sack 2:5";
    let lost_and_marked = "200 < ack 1
                           201 < ack 1 sack 2
                           202 < ack 1 sack 2:4
                           203 < ack 1 sack 2:5 ece";
    // Of 11 packets, 10 if the first ACK brings the mark.
    for (cc, abe, after_mark, after_loss) in [
        ("reno", 1, 7, 5), // ⌊10·819/1024⌋, ⌊11/2⌋
        ("reno", 0, 5, 5),
        ("cubic", 1, 8, 7), // ⌊10·870/1024⌋, ⌊11·717/1024⌋
        ("cubic", 0, 7, 7),
    ] {
        for (story, ssthresh) in [
            (marked, after_mark),
            (lost, after_loss),
            (lost_and_marked, after_loss),
        ] {
            let cc_flow = load_with(cc, &[("abe", abe)]);
            let mut s = SenderScript::established(config(EcnMode::Classic), cc_flow, 100);
            s.hear(story);
            let taken = s.sock().snd_ssthresh;
            assert_eq!(taken, ssthresh, "{cc}:abe={abe} after {story}");
        }
    }
}

/// RFC 8511 §3: a loss in a later round trip counts as one, also after marks.
#[test]
fn rfc8511_a_later_loss_counts_in_full() {
    let cc = load_with("reno", &[("abe", 1)]);
    let mut s = SenderScript::established(config(EcnMode::Classic), cc, 100);
    s.hear("200 < ack 10 ece");
    let after_mark = s.sock().snd_ssthresh;
    s.hear(
        "300 < ack 12
         301 < ack 12 sack 13
         302 < ack 12 sack 13:15
         303 < ack 12 sack 13:16",
    );
    assert_eq!(after_mark, 7);
    assert!(s.sock().snd_ssthresh <= s.sock().prior_cwnd / 2 + 1);
    assert_eq!(s.state(), CaState::Recovery);
}
