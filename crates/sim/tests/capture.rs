//! A run's capture: the same bytes every time, nothing changed by it, and in it what the run counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::capture_file::{Record, read_frames, read_records};
use crate::common::{MSS_BYTES, NS_PER_MS, NS_PER_S, bulk, dumbbell};
use dumbbell_app::Distribution;
use dumbbell_app::traffic::{datagram, poisson, rpc};
use dumbbell_capture::{DROPPED_COMMENT, TcpFlags};
use dumbbell_net::queue::{codel, fq_codel};
use dumbbell_sim::{
    Amount, CaptureConfig, Control, Error, FlowSummary, Group, Host, Output, Queue, Scenario, run,
};
use etherparse::{SlicedPacket, TransportSlice};
use tempfile::TempDir;

/// Bulk, sized and stopped flows on paths of two base RTTs, through a buffer that overflows.
fn scenario() -> Scenario {
    let groups = vec![
        Group {
            start_jitter_ns: 20 * NS_PER_MS,
            ..bulk("cubic", 2, 20)
        },
        Group {
            size_bytes: Some(300_001),
            ..bulk("reno", 1, 40)
        },
        Group {
            stop_ns: Some(2 * NS_PER_S),
            host: Host {
                delayed_ack: false,
                ..Host::default()
            },
            ..bulk("copa", 1, 20)
        },
    ];
    dumbbell(10_000_000, 30_000.0, 5, groups)
}

fn everything(path: &Path) -> CaptureConfig {
    CaptureConfig {
        path: path.to_owned(),
        snap_bytes: None,
        senders: true,
        receivers: true,
        links: true,
    }
}

fn simulate(scenario: &Scenario, capture: Option<&CaptureConfig>) -> Output {
    run(scenario, &Control::default(), capture).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `scenario` and reads its capture.
fn captured(scenario: &Scenario, snap_bytes: Option<u32>) -> (Output, Vec<Record>) {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("capture.pcapng");
    let config = CaptureConfig {
        snap_bytes,
        ..everything(&path)
    };
    let output = simulate(scenario, Some(&config));
    let records = read_records(&fs::read(&path).expect("it was written"));
    (output, records)
}

fn at<'a>(records: &'a [Record], point: &'a str) -> impl Iterator<Item = &'a Record> {
    records.iter().filter(move |record| record.point == point)
}

#[test]
fn a_repeat_gives_the_same_bytes() {
    let directory = TempDir::new().expect("a directory");
    let files = ["first", "second"].map(|name| {
        let path = directory.path().join(name);
        simulate(&scenario(), Some(&everything(&path)));
        fs::read(path).expect("it was written")
    });
    assert!(files[0] == files[1]);
    let path = directory.path().join("other");
    let other = Scenario {
        seed: 2,
        ..scenario()
    };
    simulate(&other, Some(&everything(&path)));
    assert!(files[0] != fs::read(path).expect("it was written"));
}

#[test]
fn a_capture_does_not_change_the_run() {
    let plain = simulate(&scenario(), None);
    let (output, _) = captured(&scenario(), Some(u32::MAX));
    let json = |output: &Output| serde_json::to_string(&output.summary).expect("JSON");
    assert_eq!(json(&plain), json(&output));
    for (plain, table) in plain.tables.iter().zip(&output.tables) {
        assert!(plain.batch == table.batch, "{}", plain.name);
    }
}

#[test]
fn records_are_in_order_of_time_from_2000_on() {
    let (_, records) = captured(&scenario(), None);
    let times_ns: Vec<u64> = records.iter().map(|record| record.time_ns).collect();
    assert!(times_ns.is_sorted());
    assert_eq!(times_ns[0], 946_684_800_000_000_000, "the SYN of group 1");
}

#[test]
fn the_bottleneck_shows_what_it_counted_and_marks_its_drops() {
    let (output, records) = captured(&scenario(), None);
    let bottleneck = &output.summary.bottleneck;
    let marked = |record: &&Record| record.comment.as_deref() == Some(DROPPED_COMMENT);
    assert!(bottleneck.dropped_pkts > 0, "the buffer overflows");
    let count = |point| at(&records, point).count() as u64;
    assert_eq!(count("bottleneck-in"), bottleneck.offered_pkts);
    assert_eq!(count("bottleneck-out"), bottleneck.forwarded_pkts);
    let drops = at(&records, "bottleneck-in").filter(marked).count() as u64;
    assert_eq!(drops, bottleneck.dropped_pkts);
    assert_eq!(
        records.iter().filter(marked).count() as u64,
        drops,
        "and nowhere else"
    );
}

/// CoDel drops at dequeue, FQ-CoDel from another flow when it is full: these packets were recorded
/// when they arrived, and are again when they are dropped.
#[test]
fn packets_that_are_dropped_after_they_waited_are_shown_twice_with_the_reason() {
    let codel = codel::Config {
        interval_ns: 20 * NS_PER_MS,
        target_ns: NS_PER_MS,
        ..codel::Config::default()
    };
    let fq_codel = fq_codel::Config {
        limit_pkts: 25,
        ..fq_codel::Config::default()
    };
    let by_codel = "dropped by the bottleneck: active queue management";
    let queues = [
        (Queue::from(codel), by_codel),
        (Queue::from(fq_codel), DROPPED_COMMENT),
    ];
    for (queue, usual_comment) in queues {
        let mut scenario = scenario();
        scenario.links[0].queue = queue;
        let (output, records) = captured(&scenario, None);
        let bottleneck = &output.summary.bottleneck;
        let (arrivals, drops): (Vec<_>, Vec<_>) =
            at(&records, "bottleneck-in").partition(|record| record.comment.is_none());
        assert_eq!(drops.len() as u64, bottleneck.dropped_pkts);
        assert_eq!(arrivals.len() as u64, bottleneck.offered_pkts);
        let out = at(&records, "bottleneck-out").count() as u64;
        assert_eq!(out, bottleneck.forwarded_pkts);
        let usual = |record: &&&Record| record.comment.as_deref() == Some(usual_comment);
        assert!(drops.iter().filter(usual).count() > 10);
        let identity = |record: &Record| (record.source_port, record.ip_id, record.seq);
        let arrived: BTreeMap<_, _> = arrivals
            .iter()
            .map(|record| (identity(record), record.time_ns))
            .collect();
        assert!(
            drops
                .iter()
                .all(|drop| arrived[&identity(drop)] < drop.time_ns)
        );
    }
}

/// Data packets of a flow, and those of them that begin below the highest byte sent before.
fn sent_and_retransmitted<'a>(segments: impl Iterator<Item = &'a Record>) -> (u64, u64) {
    let (mut sent, mut retransmitted) = (0, 0);
    let mut highest: Option<u32> = None;
    for segment in segments.filter(|record| record.payload_bytes > 0) {
        sent += 1;
        let is_below = |highest: u32| (segment.seq.wrapping_sub(highest) as i32) < 0;
        if highest.is_some_and(is_below) {
            retransmitted += 1;
        } else {
            highest = Some(segment.seq.wrapping_add(segment.payload_bytes));
        }
    }
    (sent, retransmitted)
}

/// Group and sender's port of each flow.
fn flow_ports(flows: &[FlowSummary]) -> BTreeMap<u32, (u32, u16)> {
    let mut next_port = BTreeMap::new();
    let port_of = |flow: &FlowSummary| {
        let port = next_port.entry(flow.group).or_insert(10_000);
        *port += 1;
        (flow.flow, (flow.group, *port - 1))
    };
    flows.iter().map(port_of).collect()
}

#[test]
fn hosts_show_both_directions_as_the_flows_counted_them() {
    let (output, records) = captured(&scenario(), None);
    let ports = flow_ports(&output.summary.flows);
    for flow in &output.summary.flows {
        let (group, port) = ports[&flow.flow];
        let (sender, receiver) = (format!("sender-{group}"), format!("receiver-{group}"));
        let sent = at(&records, &sender).filter(|record| record.source_port == port);
        assert_eq!(
            sent_and_retransmitted(sent),
            (flow.sent_pkts, flow.retransmitted_pkts)
        );
        let arrived = at(&records, &receiver).filter(|record| record.source_port == port);
        let arrived_data = arrived.filter(|record| record.payload_bytes > 0).count();
        assert_eq!(arrived_data as u64, flow.arrived_pkts);
        let acks = |point| {
            let acks = at(&records, point).filter(|record| record.destination_port == port);
            acks.map(|ack| (ack.ack, ack.ip_id)).collect::<Vec<_>>()
        };
        let (left, came) = (acks(&receiver), acks(&sender));
        assert!(came.len() > 100 && left.starts_with(&came));
    }
}

/// The flags of a connection's packets at its sender, without those of plain data and its ACKs.
fn handshake_and_close(records: &[Record], group: u32) -> Vec<(bool, u16)> {
    let point = format!("sender-{group}");
    let all: Vec<&Record> = at(records, &point).collect();
    let is_special = |(index, record): &(usize, &&Record)| {
        *index == 2
            || *index == all.len() - 1
            || record.flags & (TcpFlags::SYN | TcpFlags::FIN) != 0
    };
    let special = all.iter().enumerate().filter(is_special);
    special
        .map(|(_, record)| (record.source_port != 5001, record.flags))
        .collect()
}

#[test]
fn a_sized_flow_begins_with_a_handshake_and_ends_with_a_close() {
    const ACK: u16 = TcpFlags::ACK;
    const SYN: u16 = TcpFlags::SYN;
    const FIN: u16 = TcpFlags::FIN;
    let sized = |size_bytes| {
        let group = Group {
            size_bytes: Some(size_bytes),
            ..bulk("reno", 1, 20)
        };
        captured(&dumbbell(10_000_000, 200_000.0, 2, vec![group]), None).1
    };
    // The last segment takes the FIN along: data waited for cwnd when the application closed.
    assert_eq!(
        handshake_and_close(&sized(300_001), 0),
        [
            (true, SYN),
            (false, SYN | ACK),
            (true, ACK),
            (true, FIN | ACK | TcpFlags::PSH),
            (false, FIN | ACK),
            (true, ACK)
        ]
    );
    // All was out already: the FIN follows alone.
    let short = sized(5000);
    assert_eq!(handshake_and_close(&short, 0)[3], (true, FIN | ACK));
    for (records, size_bytes) in [(short, 5000_u32), (sized(300_001), 300_001)] {
        let isn = records[0].seq;
        let of_receiver = at(&records, "receiver-0").filter(|record| record.source_port == 5001);
        let last_ack = of_receiver.last().expect("ACKs").ack;
        assert_eq!(
            last_ack.wrapping_sub(isn),
            1 + size_bytes + 1,
            "SYN, payload and FIN"
        );
    }
}

#[test]
fn a_stopped_flow_closes_after_its_last_byte() {
    let (output, records) = captured(&scenario(), None);
    let flow = &output.summary.flows[3];
    assert!(flow.finished);
    let first = at(&records, "sender-2").next().expect("a SYN");
    let fin = at(&records, "sender-2")
        .find(|record| record.source_port != 5001 && record.flags & TcpFlags::FIN != 0);
    let fin = fin.expect("a FIN");
    assert_eq!(fin.payload_bytes, 0);
    assert_eq!(
        u64::from(fin.seq.wrapping_sub(first.seq) - 1),
        flow.received_bytes
    );
}

/// Connections that an application opened have ports of their own: each has its handshake, its bytes and
/// its close.
#[test]
fn short_flows_are_connections_of_their_own() {
    const SIZE_BYTES: u64 = 30_001;
    let traffic = poisson::Config {
        gap_ns: 30 * NS_PER_MS,
        size_bytes: Distribution::Constant(SIZE_BYTES),
        strata: 1,
        count: Some(50),
    };
    let short = Group {
        traffic: traffic.into(),
        ..bulk("cubic", 2, 20)
    };
    let mut scenario = dumbbell(10_000_000, 60_000.0, 10, vec![bulk("reno", 1, 20), short]);
    scenario.links[0].random_loss_ppb = 10_000_000;
    let (output, records) = captured(&scenario, None);
    assert!(output.summary.flows[1].retransmitted_pkts > 0);
    let mut connections: BTreeMap<u16, Vec<&Record>> = BTreeMap::new();
    for record in at(&records, "sender-1") {
        let port = record.source_port.max(record.destination_port);
        connections.entry(port).or_default().push(record);
    }
    assert_eq!(connections.len(), 100);
    for records in connections.values() {
        let first = records[0];
        assert_eq!(first.flags, TcpFlags::SYN);
        let with = |flag: u16, to: u16| {
            let sent = records.iter().filter(|it| it.destination_port == to);
            sent.filter(|it| it.flags & flag != 0).count()
        };
        for flag in [TcpFlags::SYN, TcpFlags::FIN] {
            assert!(with(flag, first.destination_port) > 0 && with(flag, first.source_port) > 0);
        }
        let last = records
            .iter()
            .rfind(|it| it.destination_port == first.source_port);
        let acked_bytes = last.expect("ACKs").ack.wrapping_sub(first.seq);
        assert_eq!(u64::from(acked_bytes), SIZE_BYTES + 2, "SYN, payload, FIN");
    }
}

/// Where both ends send data, each frame acknowledges what its host has received, and both FINs are there
/// once: the client opens and closes, the server answers.
#[test]
fn requests_and_responses_are_one_connection() {
    const REQUEST_BYTES: u32 = 300;
    const RESPONSE_BYTES: u32 = 5_000;
    let traffic = rpc::Config {
        request_bytes: Distribution::Constant(REQUEST_BYTES.into()),
        response_bytes: Distribution::Constant(RESPONSE_BYTES.into()),
        count: Some(10),
        ..rpc::Config::default()
    };
    let group = Group {
        traffic: traffic.into(),
        ..bulk("cubic", 1, 20)
    };
    let (output, records) = captured(&dumbbell(10_000_000, 60_000.0, 5, vec![group]), None);
    assert!(output.summary.flows[0].finished);
    let of_client = |record: &&Record| record.destination_port == 5001;
    for point in ["sender-0", "receiver-0"] {
        let (requests, responses): (Vec<&Record>, Vec<&Record>) =
            at(&records, point).partition(of_client);
        assert_eq!(requests[0].flags, TcpFlags::SYN);
        assert_eq!(responses[0].flags, TcpFlags::SYN | TcpFlags::ACK);
        for (own, other, bytes) in [
            (&requests, &responses, 10 * REQUEST_BYTES),
            (&responses, &requests, 10 * RESPONSE_BYTES),
        ] {
            let fins = own.iter().filter(|it| it.flags & TcpFlags::FIN != 0);
            assert_eq!(fins.count(), 1, "{point}");
            let acks = other.iter().filter(|it| it.flags & TcpFlags::ACK != 0);
            let acked: Vec<u32> = acks.map(|it| it.ack.wrapping_sub(own[0].seq)).collect();
            assert!(acked.is_sorted(), "{point}: nothing is lost or overtaken");
            assert_eq!(acked.last(), Some(&(bytes + 2)), "SYN, payload and FIN");
        }
        let first = responses.iter().find(|it| it.payload_bytes > 0);
        let acked_bytes = first.expect("data").ack.wrapping_sub(requests[0].seq);
        assert_eq!(
            acked_bytes,
            1 + REQUEST_BYTES,
            "the response acknowledges the request"
        );
    }
}

#[test]
fn datagrams_are_frames_of_udp() {
    let traffic = datagram::Config {
        interval_ns: Some(20 * NS_PER_MS),
        ..datagram::Config::default()
    };
    let group = Group {
        traffic: traffic.into(),
        ..bulk("cubic", 1, 20)
    };
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("capture.pcapng");
    let scenario = dumbbell(10_000_000, 60_000.0, 1, vec![group]);
    let output = simulate(&scenario, Some(&everything(&path)));
    assert_eq!(output.summary.flows[0].sent_pkts, 51);
    let frames = read_frames(&fs::read(&path).expect("it was written"));
    // At the sender, before and behind the link, at the receiver; the last is still on its way there.
    assert_eq!(frames.len(), 51 + 51 + 50 + 50);
    for frame in frames {
        let read = SlicedPacket::from_ethernet(&frame).expect("a frame");
        let Some(TransportSlice::Udp(udp)) = read.transport else {
            panic!("{read:?}");
        };
        assert_eq!((udp.source_port(), udp.destination_port()), (10_000, 5001));
    }
}

#[test]
fn frames_are_whole_with_right_checksums() {
    for snap_bytes in [Some(u32::MAX), Some(96), None] {
        let (_, records) = captured(&scenario(), snap_bytes);
        for record in &records {
            let kept_bytes = match snap_bytes {
                Some(snap_bytes) => record.original_bytes.min(snap_bytes),
                None => record.header_bytes,
            };
            assert_eq!(record.captured_bytes, kept_bytes);
            record.assert_checksums();
        }
        let data = at(&records, "sender-0").find(|record| record.payload_bytes > 0);
        assert_eq!(data.expect("data").original_bytes, MSS_BYTES + 66);
    }
}

#[test]
fn syns_say_what_the_hosts_can_do() {
    let (_, records) = captured(&scenario(), None);
    for record in records
        .iter()
        .filter(|record| record.flags & TcpFlags::SYN != 0)
    {
        let options = &record.options;
        assert_eq!(options.mss, Some(1460), "with the timestamps' 12 bytes");
        assert!(options.sack_permitted && options.timestamps.is_some());
        let is_senders = record.flags & TcpFlags::ACK == 0;
        let scale = if is_senders { 7 } else { 5 }; // 1 MiB has 21 bits, the field 16
        assert_eq!(options.window_scale, Some(scale));
    }
    let ack = at(&records, "sender-0")
        .find(|record| record.source_port == 5001 && record.flags == TcpFlags::ACK);
    let window_bytes = u64::from(ack.expect("an ACK").window) << 5;
    assert_eq!(window_bytes, 1 << 20, "four times the path are less");
}

#[test]
fn acks_report_holes_by_sack() {
    let (_, records) = captured(&scenario(), None);
    let acks = at(&records, "receiver-0").filter(|record| record.source_port == 5001);
    let with_sack: Vec<&Record> = acks.filter(|ack| !ack.options.sack.is_empty()).collect();
    assert!(!with_sack.is_empty(), "losses leave holes");
    for ack in with_sack {
        for &(start, end) in &ack.options.sack {
            assert!((end.wrapping_sub(start) as i32) > 0);
            assert_eq!(
                end.wrapping_sub(start) % MSS_BYTES,
                0,
                "bulk: whole segments"
            );
        }
    }
}

#[test]
fn only_the_points_that_are_asked_for_are_in_the_file() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("capture.pcapng");
    let config = CaptureConfig {
        senders: false,
        links: false,
        ..everything(&path)
    };
    simulate(&scenario(), Some(&config));
    let records = read_records(&fs::read(&path).expect("it was written"));
    let mut points: Vec<&str> = records.iter().map(|record| record.point.as_str()).collect();
    points.sort_unstable();
    points.dedup();
    assert_eq!(points, ["receiver-0", "receiver-1", "receiver-2"]);
}

#[test]
fn a_cancelled_run_leaves_what_was_captured() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("capture.pcapng");
    let control = Control::default();
    control.cancel();
    let result = run(&scenario(), &control, Some(&everything(&path)));
    assert!(matches!(result, Err(Error::Cancelled)));
    let records = read_records(&fs::read(&path).expect("it was written"));
    assert!(records.len() > 1000, "8192 events until the run looks");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_the_run_with_a_line() {
    let config = everything(Path::new("/dev/full"));
    let error = run(&scenario(), &Control::default(), Some(&config)).expect_err("it is full");
    let message = error.to_string();
    assert!(
        message.contains("/dev/full") && message.contains("No space left"),
        "{message}"
    );
}

/// RFC 3168: the handshake's flags, the IP headers' ECN fields, ECE and CWR are as they were exchanged;
/// CE is where the bottleneck counted it.
#[test]
fn ecn_shows_as_it_was_exchanged() {
    const CE: u8 = 0b11;
    const ECT0: u8 = 0b10;
    let classic = Group {
        host: Host {
            ecn: true.into(),
            ..Host::default()
        },
        ..bulk("reno", 1, 20)
    };
    let groups = vec![classic, bulk("dctcp", 1, 20), bulk("cubic", 1, 20)];
    let mut scenario = dumbbell(10_000_000, 100_000.0, 5, groups);
    let threshold = Amount::Pkts(10);
    scenario.links[0].queue = scenario.links[0].queue.marking_above(threshold);
    let (output, records) = captured(&scenario, None);
    let ecn_flags = TcpFlags::ECE | TcpFlags::CWR;
    let of = |group: usize, is_sent: bool| -> Vec<&Record> {
        let point = format!("sender-{group}");
        let records = records.iter().filter(|record| record.point == point);
        records
            .filter(|record| (record.destination_port == 5001) == is_sent)
            .collect()
    };
    for (group, handshake, syn_ecn, data_ecn) in [
        (0, [ecn_flags, TcpFlags::ECE], 0, ECT0),
        (1, [ecn_flags, TcpFlags::ECE], ECT0, ECT0),
        (2, [0, 0], 0, 0),
    ] {
        let (sent, heard) = (of(group, true), of(group, false));
        let flags = [sent[0].flags & ecn_flags, heard[0].flags & ecn_flags];
        assert_eq!(flags, handshake, "group {group}");
        assert_eq!(sent[0].ecn, syn_ecn);
        let new_data = |record: &&&Record| record.payload_bytes > 0;
        assert!(
            sent.iter()
                .filter(new_data)
                .any(|record| record.ecn == data_ecn)
        );
        assert!(
            sent.iter().all(|record| record.ecn != CE),
            "no host sends CE"
        );
        let echoes = heard[1..]
            .iter()
            .any(|record| record.flags & TcpFlags::ECE != 0);
        let reduced = sent[1..]
            .iter()
            .any(|record| record.flags & TcpFlags::CWR != 0);
        assert_eq!((echoes, reduced), (data_ecn == ECT0, data_ecn == ECT0));
    }
    let marked = at(&records, "bottleneck-out").filter(|record| record.ecn == CE);
    let marked_pkts = output.summary.bottleneck.marked_pkts.expect("it marks");
    assert!(marked_pkts > 0);
    // A packet is marked when it arrives: those that wait at the end, a full buffer at most, are counted and not yet through.
    let waiting_pkts = marked_pkts - marked.count() as u64;
    assert!(waiting_pkts <= 100_000 / 1514, "{waiting_pkts}");
    assert!(at(&records, "bottleneck-in").all(|record| record.ecn != CE));
}

/// What is lost or copied behind a link, and what comes late: the file stays in order of time, and every packet
/// that left the link is in it when its last bit had left.
#[test]
fn packets_behind_a_link_are_recorded_as_they_leave_it_and_again_when_lost() {
    use dumbbell_net::ImpairmentConfig;
    use dumbbell_net::impair::{Side, corrupt, duplicate, jitter};

    for place in [Side::before, Side::behind] {
        let mut scenario = scenario();
        scenario.links[0].impairments = vec![
            ImpairmentConfig::from(duplicate::Config {
                probability_ppb: 30_000_000,
                place,
            }),
            ImpairmentConfig::from(corrupt::Config {
                probability_ppb: 20_000_000,
                ..corrupt::Config::default()
            }),
            ImpairmentConfig::from(jitter::Config {
                normal_ns: Some(5 * NS_PER_MS),
                reorder: true,
                ..jitter::Config::default()
            }),
        ];
        let (output, records) = captured(&scenario, None);
        assert!(records.is_sorted_by_key(|record| record.time_ns));
        let link = &output.summary.links[0];
        let [copies, lost] = [link.duplicated_pkts, link.lost_behind_pkts].map(|pkts| {
            let pkts = pkts.unwrap_or(0);
            assert!(pkts > 20, "{pkts}");
            pkts
        });
        // A drop-tail queue refuses what comes, so that each arrival is recorded once.
        let arrived = at(&records, "bottleneck-in").count() as u64;
        assert_eq!(arrived, link.offered_pkts);
        let behind: Vec<_> = at(&records, "bottleneck-out").collect();
        let commented = behind
            .iter()
            .filter(|record| record.comment.is_some())
            .count() as u64;
        let copied_behind = if place == Side::behind { copies } else { 0 };
        // The packet on the wire at the end may be one that is copied, or lost.
        let recorded = behind.len() as u64 - commented;
        assert!(lost - commented <= 1, "{commented} of {lost}");
        assert!(
            link.forwarded_pkts + copied_behind - recorded <= 1,
            "{recorded}"
        );
    }
}

/// A medium that delivers an aggregate at one time leaves out none of its packets.
#[test]
fn packets_of_an_aggregate_are_all_recorded() {
    let mut scenario = scenario();
    let medium = r#"{"kind": "wifi"}"#;
    scenario.links[0].medium = Some(serde_json::from_str(medium).expect("it is declared"));
    let (output, records) = captured(&scenario, None);
    assert!(records.is_sorted_by_key(|record| record.time_ns));
    let behind = at(&records, "bottleneck-out").filter(|record| record.comment.is_none());
    let (recorded, link) = (behind.count() as u64, &output.summary.links[0]);
    assert!(link.forwarded_pkts > 1_000);
    // What it has in hand at the end counts as left.
    assert_eq!(recorded, link.forwarded_pkts);
}
