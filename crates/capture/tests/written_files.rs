//! Written files, read back by another parser.

use std::io::{self, Write};
use std::path::PathBuf;

use dumbbell_capture::{
    CaptureConfig, CapturePoint, CaptureWriter, DROPPED_COMMENT, dropped_comment,
};
use pcap_parser::pcapng::{Block, OptionCode, PcapNGOption};
use pcap_parser::{Linktype, PcapBlock, PcapNGCapture};

fn config(snap_bytes: Option<u32>) -> CaptureConfig {
    CaptureConfig {
        path: PathBuf::from("unused"),
        snap_bytes,
        senders: true,
        receivers: false,
        links: true,
    }
}

fn blocks<'a>(capture: &'a PcapNGCapture<'a>) -> Vec<&'a Block<'a>> {
    let blocks = capture.iter().map(|block| match block {
        PcapBlock::NG(block) => block,
        _ => panic!("not pcapng"),
    });
    blocks.collect()
}

/// Texts of the options with `code`.
fn texts<'a>(options: &'a [PcapNGOption<'_>], code: OptionCode) -> Vec<&'a str> {
    let with_code = options.iter().filter(|option| option.code == code);
    with_code
        .map(|option| option.as_str().expect("UTF-8"))
        .collect()
}

#[test]
fn the_section_names_program_and_scenario_and_each_interface_its_point() {
    let writer = CaptureWriter::new(
        Vec::new(),
        2,
        &["bottleneck"],
        "2 copa, 50 Mbit/s",
        &config(None),
    );
    let bytes = writer.and_then(CaptureWriter::finish).expect("memory");
    let capture = PcapNGCapture::from_file(&bytes).expect("pcapng");
    let blocks = blocks(&capture);
    let Block::SectionHeader(section) = blocks[0] else {
        panic!("no section header first");
    };
    assert_eq!(
        texts(&section.options, OptionCode::Comment),
        ["2 copa, 50 Mbit/s"]
    );
    let application = format!("dumbbell {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(section.shb_userappl(), Some(Ok(application.as_str())));

    let interfaces = blocks[1..].iter().map(|block| match block {
        Block::InterfaceDescription(interface) => interface,
        other => panic!("{other:?} among the interfaces"),
    });
    let mut names = Vec::new();
    for interface in interfaces {
        assert_eq!(interface.linktype, Linktype::ETHERNET);
        assert_eq!(interface.ts_resolution(), Some(1_000_000_000));
        assert_eq!(interface.snaplen, 134, "headers only");
        names.push(interface.if_name().expect("a name").expect("UTF-8"));
    }
    assert_eq!(
        names,
        ["sender-0", "sender-1", "bottleneck-in", "bottleneck-out"]
    );
}

#[test]
fn packets_keep_their_point_time_length_and_comment() {
    let mut writer =
        CaptureWriter::new(Vec::new(), 2, &["bottleneck"], "", &config(Some(96))).expect("memory");
    let late_ns = 1_700_000_000_123_456_789;
    let records = [
        (CapturePoint::Sender(1), 5, &b"abcde"[..], None),
        (
            CapturePoint::LinkIn(0),
            late_ns,
            b"abcdefgh",
            Some(DROPPED_COMMENT),
        ),
        (CapturePoint::LinkOut(0), late_ns + 1, b"", Some("xyz")),
    ];
    for (point, time_ns, captured, comment) in records {
        assert!(writer.wants(point));
        writer
            .record(point, time_ns, captured, 1514, comment)
            .expect("memory");
    }
    assert!(!writer.wants(CapturePoint::Receiver(0)));
    writer
        .record(CapturePoint::Receiver(0), 9, b"unwanted", 1514, None)
        .expect("memory");
    let bytes = writer.finish().expect("memory");

    let capture = PcapNGCapture::from_file(&bytes).expect("pcapng");
    let blocks = blocks(&capture);
    let packets = blocks.iter().filter_map(|block| match block {
        Block::EnhancedPacket(packet) => Some(packet),
        _ => None,
    });
    let interfaces = [1, 2, 3];
    let mut count = 0;
    for ((packet, record), interface) in packets.zip(records).zip(interfaces) {
        let (_, time_ns, captured, comment) = record;
        assert_eq!(packet.if_id, interface);
        assert_eq!(
            u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
            time_ns
        );
        assert_eq!(&packet.data[..packet.caplen as usize], captured);
        assert_eq!(packet.origlen, 1514);
        let comments = texts(&packet.options, OptionCode::Comment);
        assert_eq!(comments, comment.into_iter().collect::<Vec<_>>());
        count += 1;
    }
    assert_eq!(count, 3, "and none of what is not wanted");
}

#[test]
fn what_a_packet_keeps_follows_the_snap_length() {
    let kept = |snap_bytes, header_bytes, frame_bytes| {
        config(snap_bytes).kept_bytes(header_bytes, frame_bytes)
    };
    assert_eq!(kept(None, 66, 1514), 66);
    assert_eq!(kept(Some(96), 66, 1514), 96);
    assert_eq!(kept(Some(40), 66, 1514), 40);
    assert_eq!(kept(Some(96), 66, 66), 66);
    assert_eq!(kept(Some(u32::MAX), 66, 1514), 1514);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let config = CaptureConfig {
        path: PathBuf::from("/nonexistent/directory/capture.pcapng"),
        ..config(None)
    };
    let error =
        CaptureWriter::create(&config, 1, &["bottleneck"], "").expect_err("no such directory");
    let message = error.to_string();
    assert!(
        message.contains("/nonexistent/directory/capture.pcapng") && message.contains("No such"),
        "{message}"
    );
}

/// Accepts this many bytes and no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported() {
    let mut writer = CaptureWriter::new(Full(1000), 1, &["bottleneck"], "", &config(None))
        .expect("room for these");
    let mut record = || writer.record(CapturePoint::Sender(0), 0, &[0; 66], 1514, None);
    let error = (0..100).find_map(|_| record().err()).expect("it is full");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_drop_names_the_link_and_why() {
    assert_eq!(dropped_comment("bottleneck", ""), DROPPED_COMMENT);
    let comment = dropped_comment("uplink", "lost at random");
    assert_eq!(comment, "dropped by uplink: lost at random");
}
