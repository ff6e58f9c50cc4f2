//! Accurate ECN (RFC 9768), clause by clause, and that the sender counts marks exactly.

use dumbbell_net::{Ecn, Packet};
use dumbbell_tcp::{
    AccEcn, AccEcnCounters, AccEcnFeedback, AccEcnOption, AckHeader, AckInfo, AckKind,
    DATA_HEADER_BYTES, DataHeader, DataInfo, EcnMode, Offload, Receiver, ReceiverConfig,
    SackBlocks, SackSlot, SackStore, Segment, SegmentKind, Sender, SenderConfig,
};
use proptest::prelude::*;

use crate::script::{MSS_BYTES, NS_PER_MS, bulk, linux_receiver, load};

const L4S: AccEcn = AccEcn {
    ect: Ecn::Ect1,
    ect_on_syn: true,
    option: true,
};

/// A sender whose SYN has left, and its fields.
fn connecting(config: AccEcn) -> (Sender, Ecn, u8) {
    let config = SenderConfig {
        ecn: EcnMode::AccEcn(config),
        ..bulk()
    };
    let mut sender = Sender::new(config, load("reno"));
    sender.start(0);
    let (ecn, ace, _) = sent(&mut sender, 0)[0];
    (sender, ecn, ace)
}

/// ECN field, ACE and kind of what leaves now.
fn sent(sender: &mut Sender, now_ns: u64) -> Vec<(Ecn, u8, SegmentKind)> {
    let packets = sender.poll_transmit(now_ns);
    packets
        .iter()
        .map(|packet| match packet.header {
            Segment::Data(header) => (packet.ecn, header.ace(), header.kind()),
            _ => panic!("a sender sends data"),
        })
        .collect()
}

fn ack(kind: AckKind, ack: u32, now_ms: u32) -> AckHeader {
    AckHeader {
        ack,
        rwnd_bytes: 1000 * MSS_BYTES,
        ts_val_ms: now_ms,
        ts_ecr_ms: 0,
        sack: SackSlot::NONE,
        info: AckInfo::new(kind, 0),
    }
}

fn saying(ace: u8, option: Option<AccEcnOption>) -> SackBlocks {
    SackBlocks::default().with_accecn(AccEcnFeedback { ace, option })
}

/// A sender whose SYN-ACK, with this ACE, comes at 100 ms; and what it then sends.
fn answered(config: AccEcn, ace: u8) -> (Sender, Vec<(Ecn, u8, SegmentKind)>) {
    let (mut sender, ..) = connecting(config);
    sender.on_ack(
        100 * NS_PER_MS,
        &ack(AckKind::SynAck, 0, 100),
        &saying(ace, None),
    );
    let packets = sent(&mut sender, 100 * NS_PER_MS);
    (sender, packets)
}

/// RFC 9768 §3.1.1, §3.1.2 table 2: the SYN asks with 111, and the SYN-ACK's flags decide.
#[test]
fn rfc9768_the_syn_ack_decides_the_mode() {
    let (_, ecn, ace) = connecting(AccEcn::default());
    assert_eq!((ecn, ace), (Ecn::NotEct, 0b111));
    let accurate = EcnMode::AccEcn(AccEcn::default());
    for (ace, mode) in [
        (0b000, EcnMode::Off),
        (0b001, EcnMode::Classic),
        (0b010, accurate),
        (0b101, accurate),     // reserved: for later versions
        (0b111, EcnMode::Off), // a server that reflects the flags
    ] {
        let (sender, packets) = answered(AccEcn::default(), ace);
        assert_eq!(sender.agreed_ecn(), mode, "{ace:03b}");
        let ect = if mode == EcnMode::Off {
            Ecn::NotEct
        } else {
            Ecn::Ect0
        };
        assert_eq!(packets[1].0, ect, "data after {ace:03b}");
        let is_counting = packets[1].1 == 5;
        assert_eq!(is_counting, mode == accurate, "§3.2.1: counters start at 5");
    }
}

/// RFC 9768 §3.1.1 table 3, §3.2.2.1 table 4: SYN-ACK and last packet of the handshake say with which
/// field the packet before them came; an L4S sender has ECT(1) from the SYN on.
#[test]
fn rfc9768_the_handshake_says_which_fields_arrived() {
    for (arrived, ace) in [
        (Ecn::NotEct, 0b010),
        (Ecn::Ect1, 0b011),
        (Ecn::Ect0, 0b100),
        (Ecn::Ce, 0b110),
    ] {
        let mut path = Joined::new(L4S);
        let syn = path
            .sender
            .poll_transmit(0)
            .first()
            .copied()
            .expect("a SYN");
        assert_eq!(syn.ecn, Ecn::Ect1);
        path.arrive(0, syn.header, syn.wire_bytes, arrived);
        let (ecn, answer, sack) = path.take_acks().remove(0);
        let feedback = *sack.accecn().expect("Accurate ECN");
        assert_eq!((ecn, feedback.ace), (Ecn::Ect1, ace));
        assert!(feedback.option.is_some(), "§3.2.3.2: SHOULD on the SYN-ACK");

        path.sender.note_field(&answer, arrived);
        path.sender.on_ack(NS_PER_MS, &answer, &sack);
        let reply = sent(&mut path.sender, NS_PER_MS)[0];
        assert_eq!((reply.1, reply.2), (ace, SegmentKind::HandshakeAck));
        let marked = u8::from(arrived == Ecn::Ce);
        assert_eq!(
            path.sender_ace(),
            5 + marked,
            "§3.2.2.1: a marked SYN-ACK counts"
        );
    }
}

/// RFC 9768 §3.1.4.1: a lost SYN asks once more, without ECT; the third does not.
#[test]
fn rfc9768_the_third_syn_asks_for_nothing() {
    let (mut sender, ..) = connecting(L4S);
    let mut syns = Vec::new();
    for _ in 0..2 {
        let now_ns = sender.next_timer_ns();
        sender.on_timer(now_ns);
        syns.extend(sent(&mut sender, now_ns));
    }
    let syn = SegmentKind::Syn;
    assert_eq!(syns, [(Ecn::NotEct, 0b111, syn), (Ecn::NotEct, 0, syn)]);
}

/// RFC 9768 §3.2.2.3: a SYN whose field was cleared or set on the way ends ECN for what is sent, while
/// the receiver's counters are read on.
#[test]
fn rfc9768_a_bleached_syn_ends_ect() {
    for (ace, ect) in [
        (0b010, Ecn::NotEct),
        (0b011, Ecn::Ect1),
        (0b100, Ecn::Ect1), // remarked, but still capable
        (0b110, Ecn::Ect1),
    ] {
        let (sender, packets) = answered(L4S, ace);
        assert!(packets.iter().all(|packet| packet.0 == ect), "{ace:03b}");
        assert_eq!(sender.is_ecn_bleached(), ect == Ecn::NotEct);
        assert_eq!(sender.agreed_ecn(), EcnMode::AccEcn(L4S));
    }
    let without_ect = answered(AccEcn::default(), 0b010).0;
    assert!(!without_ect.is_ecn_bleached(), "it was sent so");
}

/// RFC 9768 §3.2.2.3: counters that stay where they began while ten packets with ECT arrived show a path
/// that clears the field; the handshake had no ECT to show it.
#[test]
fn counters_that_do_not_count_end_ect() {
    for (ect0_bytes, is_bleached) in [(1, true), (1 + 10 * MSS_BYTES, false)] {
        let (mut sender, _) = answered(AccEcn::default(), 0b010);
        let option = AccEcnOption {
            counters: AccEcnCounters::All,
            ect0_bytes,
            ce_bytes: 0,
            ect1_bytes: 1,
        };
        sender.on_ack(
            200 * NS_PER_MS,
            &ack(AckKind::Ack, 10, 200),
            &saying(5, Some(option)),
        );
        assert_eq!(sender.is_ecn_bleached(), is_bleached);
        let ect = if is_bleached { Ecn::NotEct } else { Ecn::Ect0 };
        assert_eq!(sent(&mut sender, 200 * NS_PER_MS)[0].0, ect);
    }
}

/// RFC 9768 §3.2.2.4: a first ACK with flags of zero is a path that clears them: no ECT, no response.
#[test]
fn rfc9768_a_zeroed_field_ends_ecn() {
    let (mut sender, _) = answered(AccEcn::default(), 0b010);
    sender.on_ack(
        200 * NS_PER_MS,
        &ack(AckKind::Ack, 2, 200),
        &saying(0, None),
    );
    sender.on_ack(
        201 * NS_PER_MS,
        &ack(AckKind::Ack, 4, 201),
        &saying(2, None),
    );
    assert_eq!(sender.sock().delivered_ce, 0);
    assert!(sender.is_ecn_bleached());
}

/// RFC 9768 §3.2.3.2.1: an option whose counters were cleared is not used; the flags are.
#[test]
fn rfc9768_a_cleared_option_is_ignored() {
    let (mut sender, _) = answered(AccEcn::default(), 0b010);
    let cleared = AccEcnOption {
        counters: AccEcnCounters::All,
        ect0_bytes: 0,
        ce_bytes: 0,
        ect1_bytes: 0,
    };
    sender.on_ack(
        200 * NS_PER_MS,
        &ack(AckKind::Ack, 2, 200),
        &saying(6, Some(cleared)),
    );
    assert_eq!(sender.sock().delivered_ce, 1);
    assert!(!sender.is_ecn_bleached());
}

/// RFC 9768 §3.2.2.5, appendix A.2.1: the field counts modulo 8. An ACK of more packets than that may
/// hide a turn, unless ACKs usually acknowledge many (Linux), or the option shows that there was none.
#[test]
fn rfc9768_a_possible_turn_of_the_field_is_assumed() {
    let option = |marked: u32| AccEcnOption {
        counters: AccEcnCounters::All,
        ect0_bytes: 1 + 10 * MSS_BYTES,
        ce_bytes: marked * MSS_BYTES,
        ect1_bytes: 1,
    };
    for (acks, counted) in [
        (vec![(2, 5, None), (10, 6, None)], 1), // 8 packets, 1 mod 8: 1, and no more packets
        (vec![(1, 5, None), (10, 5, None)], 8), // 9 packets, 0 mod 8
        (vec![(10, 5, None)], 0),               // the first ACK: ACKs acknowledge many
        (vec![(1, 5, None), (10, 5, Some(option(0)))], 0),
        (vec![(1, 5, None), (10, 5, Some(option(8)))], 8),
    ] {
        let (mut sender, _) = answered(AccEcn::default(), 0b010);
        for (index, &(acked, ace, option)) in acks.iter().enumerate() {
            let now_ms = 200 + index as u32;
            sender.on_ack(
                u64::from(now_ms) * NS_PER_MS,
                &ack(AckKind::Ack, acked, now_ms),
                &saying(ace, option),
            );
        }
        assert_eq!(sender.sock().delivered_ce, counted, "{acks:?}");
    }
}

/// RFC 9768 §3.2.2.5.2: an ACK that is not newer and acknowledges nothing may be old.
#[test]
fn rfc9768_an_old_ack_is_not_read() {
    let (mut sender, _) = answered(AccEcn::default(), 0b010);
    sender.on_ack(
        200 * NS_PER_MS,
        &ack(AckKind::Ack, 4, 200),
        &saying(7, None),
    );
    sender.on_ack(
        201 * NS_PER_MS,
        &ack(AckKind::Ack, 2, 199),
        &saying(6, None),
    );
    assert_eq!(sender.sock().delivered_ce, 2);
}

/// RFC 9768 §3.2.2: a mark reduces the window as an echo does, once per round trip, and no CWR follows:
/// in an open connection the flags are the counter.
#[test]
fn a_mark_reduces_the_window_once_and_asks_for_no_cwr() {
    let (mut sender, _) = answered(AccEcn::default(), 0b010);
    for (acked, ace) in [(2, 6), (4, 7), (10, 7)] {
        let now_ms = 200 + acked;
        sender.on_ack(
            u64::from(now_ms) * NS_PER_MS,
            &ack(AckKind::Ack, acked, now_ms),
            &saying(ace, None),
        );
        let packets = sent(&mut sender, u64::from(now_ms) * NS_PER_MS);
        assert!(
            packets.iter().all(|packet| packet.1 == 5),
            "no CE came back"
        );
    }
    assert_eq!(sender.sock().snd_ssthresh, 5);
    assert_eq!(sender.counters().ecn_reduction_count, 1);
    assert_eq!(sender.sock().delivered_ce, 2);
}

/// Linux's `tcp_ecn_option` of 2: each ACK has the option. If a duplicate that was reported with it comes again, the
/// option may be why the ACK was lost, and no more are sent.
#[test]
fn every_ack_has_the_option_until_it_is_found_to_be_lost() {
    let mut path = Joined::opened(0b010);
    let has_option = |path: &mut Joined, seq| {
        path.say(SegmentKind::Data, seq, 5);
        let (_, _, sack) = path.take_acks().pop().expect("an ACK");
        sack.accecn().expect("Accurate ECN").option.is_some()
    };
    assert!((0..9).all(|seq| has_option(&mut path, seq)));
    assert!(has_option(&mut path, 8), "a first duplicate");
    assert!(!has_option(&mut path, 8), "a second");
    assert!(!has_option(&mut path, 9));
}

/// RFC 9768 §3.2.2.1: a path that clears the flags is known by the third packet; then nothing is ECN-capable.
#[test]
fn rfc9768_a_third_packet_without_flags_ends_ect() {
    for (ace, ect) in [(0b010, Ecn::Ect0), (0b000, Ecn::NotEct)] {
        let mut path = Joined::opened(ace);
        path.say(SegmentKind::Data, 0, 5);
        assert_eq!(path.take_acks()[0].0, ect, "{ace:03b}");
        let EcnMode::AccEcn(agreed) = path.receiver.agreed_ecn() else {
            panic!("Accurate ECN");
        };
        assert_eq!(agreed.ect, ect, "what its other half sends");
    }
}

/// A sender and its receiver; the test is the path.
struct Joined {
    sender: Sender,
    receiver: Receiver,
    sacks: SackStore,
    /// ACE of the first ACK that arrived, and whether it had the option.
    first_ack: Option<(u8, bool)>,
}

impl Joined {
    fn new(config: AccEcn) -> Self {
        let ecn = EcnMode::AccEcn(config);
        let mut sender = Sender::new(SenderConfig { ecn, ..bulk() }, load("reno"));
        sender.start(0);
        let receiver = Receiver::new(ReceiverConfig {
            rtt_ns: 40 * NS_PER_MS,
            ecn,
            ..linux_receiver()
        });
        Self {
            sender,
            receiver,
            sacks: SackStore::new(),
            first_ack: None,
        }
    }

    /// An open connection whose last packet of the handshake had this ACE; nothing is marked.
    fn opened(ace: u8) -> Self {
        let mut path = Self::new(AccEcn::default());
        path.say(SegmentKind::Syn, 0, 0b111);
        path.take_acks();
        path.say(SegmentKind::HandshakeAck, 0, ace);
        path
    }

    /// The receiver gets a packet that the test made.
    fn say(&mut self, kind: SegmentKind, seq: u32, ace: u8) {
        let header = DataHeader {
            seq,
            ts_val_ms: 0,
            ts_ecr_ms: 0,
            info: DataInfo::new(kind, 0).ace(ace),
            offload: Offload::NONE,
        };
        let payload_bytes = if header.is_data() { MSS_BYTES } else { 0 };
        let wire_bytes = DATA_HEADER_BYTES + payload_bytes;
        self.arrive(0, Segment::Data(header), wire_bytes, Ecn::NotEct);
    }

    fn arrive(&mut self, now_ns: u64, header: Segment, wire_bytes: u32, ecn: Ecn) {
        let Segment::Data(header) = header else {
            panic!("a sender sends data");
        };
        self.receiver.on_packet(now_ns, &header, wire_bytes, ecn);
    }

    /// ECN field, header and SACK slot's content of each ACK that leaves.
    fn take_acks(&mut self) -> Vec<(Ecn, AckHeader, SackBlocks)> {
        let packets: Vec<_> = self.receiver.poll_transmit(&mut self.sacks).to_vec();
        let acks = packets.into_iter().map(|packet| {
            let Segment::Ack(header) = packet.header else {
                panic!("a receiver sends ACKs");
            };
            let blocks = *self.sacks.get(header.sack);
            self.sacks.free(header.sack);
            (packet.ecn, header, blocks)
        });
        acks.collect()
    }

    /// ACE of the next data.
    fn sender_ace(&mut self) -> u8 {
        let (now_ns, mut ace) = (2 * NS_PER_MS, None);
        self.sender
            .on_ack(now_ns, &ack(AckKind::Ack, 1, 2), &saying(5, None));
        ace = sent(&mut self.sender, now_ns)
            .last()
            .map(|packet| packet.1)
            .or(ace);
        ace.expect("new data")
    }

    /// Runs for `rounds` round trips of 40 ms; in each, `mark` decides on data, `loses_ack` on ACKs.
    fn run(
        &mut self,
        rounds: u64,
        mut mark: impl FnMut(u64) -> bool,
        mut loses_ack: impl FnMut(u64) -> bool,
    ) {
        const WAY_NS: u64 = 20 * NS_PER_MS;
        let mut there: Vec<(u64, Packet<Segment>)> = Vec::new();
        let mut back: Vec<(u64, (Ecn, AckHeader, SackBlocks))> = Vec::new();
        for now_ms in 0..rounds * 40 {
            let now_ns = now_ms * NS_PER_MS;
            let due = |leaves_ns: &u64| leaves_ns + WAY_NS <= now_ns;
            while there.first().is_some_and(|(leaves_ns, ..)| due(leaves_ns)) {
                let (_, packet) = there.remove(0);
                let is_data = packet.wire_bytes > MSS_BYTES;
                let ecn = if is_data && packet.ecn.is_capable() && mark(now_ms / 40) {
                    Ecn::Ce
                } else {
                    packet.ecn
                };
                self.arrive(now_ns, packet.header, packet.wire_bytes, ecn);
            }
            if self.receiver.next_timer_ns() <= now_ns {
                self.receiver.on_timer(now_ns);
            }
            for answer in self.take_acks() {
                if answer.1.kind() == AckKind::SynAck || !loses_ack(now_ms / 40) {
                    back.push((now_ns, answer));
                }
            }
            while back.first().is_some_and(|(leaves_ns, ..)| due(leaves_ns)) {
                let (_, (ecn, header, blocks)) = back.remove(0);
                if let (AckKind::Ack, Some(feedback)) = (header.kind(), blocks.accecn()) {
                    let has_option = feedback.option.is_some();
                    self.first_ack.get_or_insert((feedback.ace, has_option));
                }
                self.sender.note_field(&header, ecn);
                self.sender.on_ack(now_ns, &header, &blocks);
            }
            if self.sender.next_timer_ns() <= now_ns {
                self.sender.on_timer(now_ns);
            }
            there.extend(
                self.sender
                    .poll_transmit(now_ns)
                    .iter()
                    .map(|&packet| (now_ns, packet)),
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The sender counts every packet that arrived with CE, none more, with ACKs lost, up to
    /// nineteen of twenty, once a last ACK has arrived: the option restores what the field's
    /// eight values lost. If the first one that arrives has a field of 0 after three marks, and no option, the sender must not
    /// trust the path (RFC 9768 §3.2.2.4), and counts none.
    #[test]
    fn marks_are_counted_exactly_whatever_acks_are_lost(
        marks in prop::collection::vec(0_u32..100, 64),
        losses in prop::collection::vec(0_u32..100, 64),
        mark_pct in 0_u32..60,
        loss_pct in 0_u32..80,
    ) {
        let mut path = Joined::new(L4S);
        let (mut drawn, mut acks_drawn) = (0_usize, 0_usize);
        path.run(
            120,
            |round| {
                drawn += 1;
                round < 30 && marks[drawn * 7 % 64] < mark_pct
            },
            |round| {
                acks_drawn += 1;
                acks_drawn % 20 != 0 && round < 35 && losses[acks_drawn * 5 % 64] < loss_pct
            },
        );
        let arrived = path.receiver.accecn_ce_pkts();
        let looks_bleached = path.first_ack == Some((0, false));
        prop_assert_eq!(path.sender.is_ecn_bleached(), looks_bleached);
        prop_assert!(!looks_bleached || arrived >= 3);
        let counted = if looks_bleached { 0 } else { arrived };
        prop_assert_eq!(path.sender.sock().delivered_ce, counted);
        // A packet that had arrived before is not acceptable (RFC 9293 §3.10.7.4), and not counted.
        let counters = path.receiver.counters();
        let marked_pkts = u64::from(arrived);
        prop_assert!(marked_pkts <= counters.ce_pkts);
        prop_assert!(marked_pkts + counters.duplicate_pkts >= counters.ce_pkts);
    }
}
