//! Properties of any transfer over any path that eventually delivers.

use dumbbell_cc::Flow;
use dumbbell_tcp::{Behaviour, DataHeader, Detection, Half, Pacing, RackWindow, SenderConfig};
use proptest::prelude::*;

use crate::script::{Fate, MSS_BYTES, NS_PER_MS, Pair, Path, load};

/// A transfer and what its path does to the first packets each way; later ones are delivered.
#[derive(Clone, Debug)]
struct Case {
    cc: &'static str,
    config: SenderConfig,
    /// The receiver permits SACK.
    has_sack: bool,
    path: Path,
    data: Vec<Fate>,
    acks: Vec<Fate>,
    /// Packets of handshake and close.
    control: Vec<Fate>,
}

fn fate() -> impl Strategy<Value = Fate> {
    // Delays of up to 60 ms are within and beyond what RACK calls reordering.
    let delay_ns = 0..60 * NS_PER_MS;
    prop_oneof![
        12 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => delay_ns.clone().prop_map(Fate::Delay),
        1 => delay_ns.prop_map(Fate::Duplicate),
    ]
}

/// Rules of different releases of Linux, in half of the cases.
fn behaviour() -> impl Strategy<Value = Behaviour> {
    let detection = prop::sample::select(vec![Detection::Rack, Detection::DupthreshAndRack]);
    let windows = [
        RackWindow::Rfc8985,
        RackWindow::UntilRecovery,
        RackWindow::UntilLoss,
    ];
    let pacing = prop::sample::select(vec![Pacing::DepartureTime, Pacing::Timer, Pacing::None]);
    let rules = (
        detection,
        prop::sample::select(windows.to_vec()),
        pacing,
        any::<[bool; 9]>(),
    );
    let mixed = rules.prop_map(|(detection, rack_window, pacing, on)| Behaviour {
        detection,
        rack_window,
        rto_marks_all: on[0],
        rto_cwnd_one: on[1],
        undoes_on_any_sack: on[2],
        has_hint_defect: on[3],
        conserves_packets: on[4],
        probes_in_open_only: on[5],
        pacing,
        defers_half_rtt: on[6],
        pushes_writes_only: on[7],
        doubles_syn_timeouts: on[8],
    });
    prop_oneof![Just(Behaviour::default()), mixed]
}

fn case() -> impl Strategy<Value = Case> {
    let rules = (behaviour(), prop_oneof![3 => Just(0), 1 => 0..NS_PER_MS]);
    let transfer = (
        prop::sample::select(vec!["reno", "cubic", "bbr", "bbr3", "copa"]),
        1_u64..300 * u64::from(MSS_BYTES),
        prop_oneof![Just(1_u32 << 20), 2_u32..60],
        any::<bool>(),
        any::<bool>(),
        rules,
    );
    let path = (
        1_u64..200,
        prop::option::of((1_000_000_u64..50_000_000, 2_u64..60)),
        prop_oneof![Just(1_u32 << 20), 2_u32..60],
        any::<bool>(),
    );
    let fates = || prop::collection::vec(fate(), 0..400);
    let control = prop::collection::vec(fate(), 0..12);
    let has_sack = prop::bool::weighted(0.8);
    let all = (transfer, has_sack, path, fates(), fates(), control);
    all.prop_map(|(transfer, has_sack, path, data, acks, control)| Case {
        cc: transfer.0,
        has_sack,
        config: SenderConfig {
            size_bytes: Some(transfer.1),
            closes: transfer.4,
            sndbuf_pkts: transfer.2,
            tso: transfer.3,
            behaviour: transfer.5.0,
            timer_lateness_ns: transfer.5.1,
            ..SenderConfig::new(7, MSS_BYTES, None)
        },
        path: Path {
            rtt_ns: path.0 * NS_PER_MS,
            bottleneck: path.1,
            back: None,
            rwnd_pkts: path.2,
            delayed_ack: path.3,
        },
        data,
        acks,
        control,
    })
}

fn pair(case: &Case, cc: Flow) -> Pair<'_> {
    let fate =
        |fates: &[Fate], number: u64| fates.get(number as usize).copied().unwrap_or(Fate::Deliver);
    let mut pair = Pair::new(case.config, cc, case.path);
    if !case.has_sack {
        pair.sender.disable_sack();
    }
    pair.on_data(move |number, _| fate(&case.data, number))
        .on_acks(move |number, _| fate(&case.acks, number))
        .on_control(move |number| fate(&case.control, number))
}

/// Runs a case to its end, checked after every event, and returns what was sent.
fn run(case: &Case) -> Vec<(u64, DataHeader)> {
    let mut pair = pair(case, load(case.cc));
    let mut events = 0;
    let mut last_received_bytes = 0;
    // 10,000 s of virtual time: more than any backoff of the losses above adds up to.
    let is_over = |pair: &Pair<'_>| {
        pair.sender.is_finished()
            && (!case.config.closes || pair.sender.is_closed() && pair.receiver.is_closed())
    };
    while !is_over(&pair) && pair.step(10_000_000 * NS_PER_MS) {
        events += 1;
        assert!(events < 100_000, "no end: {:?}", pair.sender);
        pair.sender.check_invariants();
        pair.check_sacks();
        let received_bytes = pair.receiver.counters().received_bytes;
        assert!(received_bytes >= last_received_bytes);
        last_received_bytes = received_bytes;
        // Only a probe or a timeout's retransmission may exceed cwnd.
        let sock = pair.sender.sock();
        assert!(
            pair.sent_by_event <= 1 || sock.packets_in_flight() <= sock.snd_cwnd,
            "{} sent, {} in flight, cwnd {}",
            pair.sent_by_event,
            sock.packets_in_flight(),
            sock.snd_cwnd
        );
    }
    assert!(is_over(&pair), "{:?}", pair.sender);
    // Exactly once: the receiver counts each segment's bytes when it is next in order.
    assert_eq!(Some(last_received_bytes), case.config.size_bytes);
    assert_eq!(pair.sender.outstanding_pkts(), 0);
    assert_eq!(pair.sender.sock().packets_in_flight(), 0);
    let counters = pair.sender.counters();
    let data = pair.sent.iter().filter(|(_, header)| header.is_data());
    assert_eq!(counters.sent_pkts, data.count() as u64);
    let ip_ids = pair.sent.iter().map(|(_, header)| header.ip_id());
    assert!(ip_ids.zip(1..).all(|(ip_id, number)| ip_id == number));
    assert_eq!(
        counters.retransmitted_pkts,
        pair.retransmitted().len() as u64
    );
    pair.sent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any losses, delays and duplicates: everything arrives, once, and the counters are right.
    #[test]
    fn every_transfer_finishes_and_delivers_exactly_once(case in case()) {
        run(&case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same events make the same packets.
    #[test]
    fn the_same_events_make_the_same_packets(case in case()) {
        prop_assert_eq!(run(&case), run(&case));
    }
}

/// An application that writes as it goes along, and closes: when, ns, and how much.
#[derive(Clone, Debug)]
struct Writes {
    gaps: Vec<(u64, u64)>,
    half: Half,
    nagle: bool,
}

fn writes() -> impl Strategy<Value = Writes> {
    let gap_ns = prop_oneof![Just(0), 0..100 * NS_PER_MS, 0..2_000 * NS_PER_MS];
    let bytes = prop_oneof![1_u64..2_000, 1_u64..20_000, Just(u64::from(MSS_BYTES))];
    (
        prop::collection::vec((gap_ns, bytes), 1..25),
        prop::sample::select(vec![Half::Only, Half::Forward, Half::Reverse]),
        any::<bool>(),
    )
        .prop_map(|(gaps, half, nagle)| Writes { gaps, half, nagle })
}

/// Writes, closes, and runs until both sides have closed; checked after every event.
fn run_writes(case: &Case, writes: &Writes) {
    let case = Case {
        config: SenderConfig {
            size_bytes: Some(0),
            closes: false,
            half: writes.half,
            nagle: writes.nagle,
            ..case.config
        },
        ..case.clone()
    };
    let mut pair = pair(&case, load(case.cc));
    let check = |pair: &Pair<'_>| {
        pair.sender.check_invariants();
        let (sender, received_bytes) = (&pair.sender, pair.receiver.counters().received_bytes);
        assert!(received_bytes <= sender.sock().bytes_sent);
        assert!(sender.acknowledged_bytes() <= received_bytes);
        assert!(sender.sock().bytes_sent <= sender.written_bytes());
    };
    let mut at_ns = 0;
    for &(gap_ns, bytes) in &writes.gaps {
        at_ns += gap_ns;
        while pair.step(at_ns) {
            check(&pair);
        }
        pair.run_until(at_ns);
        pair.write(bytes);
        check(&pair);
    }
    pair.close();
    let mut events = 0;
    while !(pair.sender.is_closed() && pair.receiver.is_closed()) {
        assert!(pair.step(10_000_000 * NS_PER_MS), "{:?}", pair.sender);
        check(&pair);
        events += 1;
        assert!(events < 100_000, "no end: {:?}", pair.sender);
    }
    let written_bytes: u64 = writes.gaps.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(pair.sender.acknowledged_bytes(), written_bytes);
    assert_eq!(pair.receiver.counters().received_bytes, written_bytes);
    assert_eq!(pair.sender.sock().bytes_sent, written_bytes);
    assert_eq!(pair.sender.sock().packets_in_flight(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any writes, losses, delays and duplicates: every byte arrives once, and is acknowledged.
    #[test]
    fn every_byte_written_arrives_once(case in case(), writes in writes()) {
        run_writes(&case, &writes);
    }
}

/// A clean path needs no repair, no probe and no timeout.
#[test]
fn a_clean_path_sees_each_segment_once() {
    for cc in ["reno", "cubic", "bbr", "bbr3", "copa"] {
        let config = SenderConfig::new(0, MSS_BYTES, Some(5_000_000));
        let path = Path {
            rtt_ns: 40 * NS_PER_MS,
            bottleneck: Some((50_000_000, 10_000)),
            back: None,
            rwnd_pkts: 1 << 20,
            delayed_ack: true,
        };
        let mut pair = Pair::new(config, load(cc), path);
        pair.run_to_end(60_000 * NS_PER_MS);
        let counters = pair.sender.counters();
        assert_eq!(
            (
                counters.retransmitted_pkts,
                counters.tlp_count,
                counters.rto_count
            ),
            (0, 0, 0),
            "{cc}"
        );
        assert_eq!(pair.watch.dropped_pkts, 0);
    }
}
