//! The log of a capture: what happened to every packet at every link.

use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use dumbbell_capture::{
    CaptureConfig, CapturePoint, CaptureWriter, FrameFacts, PacketLog, Reader, SackBlocks,
    TcpFlags, dropped_comment, packet_log,
};
use dumbbell_table::Batch;

/// A packet at a point: time, µs; sequence number; ECN field; why it was dropped.
type Record = (CapturePoint, u64, u32, u8, Option<&'static str>);

const PAYLOAD_BYTES: u16 = 1000;
/// With Ethernet, IPv4 and TCP headers without options.
const WIRE_BYTES: u64 = 1054;
const IN: CapturePoint = CapturePoint::LinkIn(0);
const OUT: CapturePoint = CapturePoint::LinkOut(0);

fn log_of(records: &[Record], max_rows: usize) -> PacketLog {
    let config = CaptureConfig {
        path: PathBuf::from("unused"),
        snap_bytes: None,
        senders: true,
        receivers: true,
        links: true,
    };
    let links = ["bottleneck", "up"];
    let mut writer = CaptureWriter::new(Vec::new(), 1, &links, "", &config).expect("memory");
    for &(point, time_us, seq, ecn, reason) in records {
        let facts = FrameFacts {
            source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 10_000),
            destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 5001),
            ip_id: 7,
            dscp: 0,
            ecn,
            seq,
            ack: 1,
            flags: TcpFlags(TcpFlags::ACK),
            window: 1000,
            mss: None,
            sack_permitted: false,
            timestamps: None,
            window_scale: None,
            sack: SackBlocks::default(),
            accecn: None,
            payload_bytes: PAYLOAD_BYTES,
        };
        let mut frame = Vec::new();
        facts.write_headers(&mut frame);
        let comment = reason.map(|reason| dropped_comment("bottleneck", reason));
        let time_ns = 5_000_000_000 + time_us * 1000;
        writer
            .record(
                point,
                time_ns,
                &frame,
                WIRE_BYTES as u32,
                comment.as_deref(),
            )
            .expect("memory");
    }
    let file = writer.finish().expect("memory");
    let mut reader = Reader::new(Box::new(Cursor::new(file))).expect("a capture");
    packet_log(&mut reader, max_rows).expect("a log")
}

fn texts(batch: &Batch, name: &str) -> Vec<String> {
    let text = |row| batch[name].text(row).unwrap_or("–").to_owned();
    (0..batch.num_rows()).map(text).collect()
}

fn floats(batch: &Batch, name: &str) -> Vec<Option<f64>> {
    let rows = 0..batch.num_rows();
    rows.map(|row| batch[name].number(row)).collect()
}

fn counts(batch: &Batch, name: &str) -> Vec<u64> {
    batch[name].numbers().to_vec()
}

fn schema(batch: &Batch) -> Vec<(&str, String)> {
    let columns = batch.columns();
    columns
        .map(|(name, column)| (name, column.type_name()))
        .collect()
}

#[test]
fn each_packet_is_queued_sent_marked_or_dropped_with_the_backlog_it_leaves() {
    let aqm = Some("active queue management");
    let log = log_of(
        &[
            (CapturePoint::Sender(0), 90, 0, 2, None),
            (IN, 100, 0, 2, None),
            (IN, 110, 1000, 2, None),
            (IN, 120, 2000, 2, None),
            (IN, 130, 3000, 2, Some("")),
            (OUT, 150, 0, 2, None),
            (IN, 160, 1000, 2, aqm),
            (OUT, 170, 2000, 3, None),
            (OUT, 170, 2000, 3, Some("impairment")),
            (IN, 180, 4000, 2, Some("impairment")),
            (CapturePoint::Receiver(0), 190, 0, 2, None),
        ],
        100,
    );
    let [batch] = &log.packets[..] else {
        panic!("{} batches", log.packets.len());
    };
    assert_eq!(
        texts(batch, "event"),
        [
            "enqueue", "enqueue", "enqueue", "drop", "dequeue", "drop", "dequeue", "loss", "drop"
        ]
    );
    assert_eq!(
        texts(batch, "reason"),
        [
            "–",
            "–",
            "–",
            "full queue",
            "–",
            "active queue management",
            "–",
            "impairment",
            "impairment"
        ]
    );
    let times = [0., 10., 20., 30., 50., 60., 70., 70., 80.].map(Some);
    assert_eq!(floats(batch, "time_us"), times);
    let in_link = [
        None,
        None,
        None,
        None,
        Some(50.),
        Some(50.),
        Some(50.),
        None,
        None,
    ];
    assert_eq!(floats(batch, "in_link_us"), in_link);
    assert_eq!(counts(batch, "backlog_pkts"), [1, 2, 3, 3, 2, 1, 0, 0, 0]);
    let bytes = [1, 2, 3, 3, 2, 1, 0, 0, 0].map(|pkts| pkts * WIRE_BYTES);
    assert_eq!(counts(batch, "backlog_bytes"), bytes);
    let marked = floats(batch, "marked")
        .into_iter()
        .map(Option::unwrap_or_default);
    assert!(marked.eq([0., 0., 0., 0., 0., 0., 1., 0., 0.]));
    assert_eq!(
        texts(batch, "ecn")[6..8],
        ["ECT(0)", "CE"],
        "as it arrived; behind the link"
    );
    assert!(texts(batch, "link").iter().all(|link| link == "bottleneck"));
    assert_eq!(log.totals.first_ns, Some(5_000_100_000));
    assert_eq!((log.totals.unmatched_pkts, log.totals.dropped_rows), (0, 0));
}

#[test]
fn a_flow_is_a_direction_between_two_ports() {
    let up = CapturePoint::LinkIn(1);
    let log = log_of(&[(IN, 0, 0, 2, None), (up, 1, 0, 2, None)], 100);
    assert_eq!(texts(&log.packets[0], "link"), ["bottleneck", "up"]);
    let flows = &log.flows;
    assert_eq!(flows.num_rows(), 1);
    assert_eq!(texts(flows, "protocol"), ["TCP"]);
    assert_eq!(texts(flows, "source"), ["10.0.0.1"]);
    assert_eq!(texts(flows, "destination"), ["10.0.0.2"]);
    let port = |name| flows[name].number(0);
    assert_eq!(
        (port("source_port"), port("destination_port")),
        (Some(10_000.), Some(5001.))
    );
    assert_eq!(flows["flow"].numbers::<u32>(), [0]);
}

#[test]
fn equal_packets_leave_in_the_order_in_which_they_came() {
    let log = log_of(
        &[
            (IN, 0, 0, 2, None),
            (IN, 5, 0, 2, None),
            (OUT, 7, 0, 2, None),
            (OUT, 9, 0, 2, None),
        ],
        100,
    );
    assert_eq!(
        floats(&log.packets[0], "in_link_us"),
        [None, None, Some(7.), Some(4.)]
    );
}

#[test]
fn what_left_without_having_arrived_is_counted() {
    let log = log_of(&[(OUT, 0, 0, 2, None), (IN, 5, 1000, 2, None)], 100);
    assert_eq!(log.totals.unmatched_pkts, 1);
    assert_eq!(counts(&log.packets[0], "backlog_pkts"), [0, 1]);
    assert_eq!(floats(&log.packets[0], "in_link_us"), [None, None]);
}

#[test]
fn rows_beyond_the_limit_are_counted_and_an_empty_log_has_its_columns() {
    let log = log_of(&[(IN, 0, 0, 2, None), (IN, 5, 1000, 2, None)], 1);
    assert_eq!((log.packets[0].num_rows(), log.totals.dropped_rows), (1, 1));
    let empty = log_of(&[], 1);
    assert_eq!(empty.packets[0].num_rows(), 0);
    assert_eq!(schema(&empty.packets[0]), schema(&log.packets[0]));
}
