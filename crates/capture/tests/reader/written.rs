//! The reader reads what the writer writes.

use std::net::{IpAddr, SocketAddrV4};

use dumbbell_capture::{
    CaptureConfig, CapturePoint, CaptureWriter, Checksum, DROPPED_COMMENT, Endpoint, FrameFacts,
    SackBlocks, TcpFlags, TcpPacket,
};
use proptest::prelude::*;

use crate::reader::{open, read};

fn endpoint(address: SocketAddrV4) -> Endpoint {
    Endpoint {
        address: IpAddr::V4(*address.ip()),
        port: address.port(),
    }
}

/// The packet expected back, from the third of six capture points.
fn expected(facts: &FrameFacts, time_ns: u64, wire_bytes: u32) -> TcpPacket {
    TcpPacket {
        interface: 2,
        time_ns,
        wire_bytes,
        source: endpoint(facts.source),
        destination: endpoint(facts.destination),
        seq: facts.seq,
        ack: facts.ack,
        flags: facts.flags,
        window: facts.window,
        payload_bytes: u32::from(facts.payload_bytes),
        ecn: facts.ecn,
        ip_id: Some(facts.ip_id),
        ttl: 64,
        mss: facts.mss,
        window_scale: facts.window_scale,
        sack_permitted: facts.sack_permitted,
        timestamps: facts.timestamps,
        sack: facts.sack,
        is_marked_dropped: false,
        has_cut_options: false,
        network: dumbbell_capture::NetworkId::NONE,
        checksum: Checksum::Unknown,
    }
}

fn config(snap_bytes: Option<u32>) -> CaptureConfig {
    CaptureConfig {
        path: "unused".into(),
        snap_bytes,
        senders: true,
        receivers: true,
        links: true,
    }
}

/// A capture of one packet, kept whole or only its headers, possibly marked as dropped.
fn capture(facts: &FrameFacts, time_ns: u64, keeps_payload: bool, is_dropped: bool) -> Vec<u8> {
    let mut frame = Vec::new();
    facts.write_headers(&mut frame);
    let wire_bytes = frame.len() + usize::from(facts.payload_bytes);
    if keeps_payload {
        frame.resize(wire_bytes, 0);
    }
    let mut writer = CaptureWriter::new(Vec::new(), 2, &["bottleneck"], "a test", &config(None))
        .expect("memory");
    writer
        .record(
            CapturePoint::Sender(1),
            time_ns,
            &frame,
            wire_bytes as u32,
            is_dropped.then_some(DROPPED_COMMENT),
        )
        .expect("memory");
    writer.finish().expect("memory")
}

fn facts() -> impl Strategy<Value = FrameFacts> {
    let addresses = (any::<(u32, u16)>(), any::<(u32, u16)>());
    let ip = (any::<u16>(), 0..4_u8);
    let tcp = (any::<u32>(), any::<u32>(), 0..0x200_u16, any::<u16>());
    // Options of a SYN, or SACK blocks that fit next to time stamps.
    let options = (
        any::<Option<(u32, u32)>>(),
        prop_oneof![
            (
                any::<Option<u16>>(),
                any::<bool>(),
                prop::option::of(0..15_u8)
            )
                .prop_map(|syn| (syn, Vec::new())),
            prop::collection::vec(any::<(u32, u32)>(), 0..4)
                .prop_map(|sack| ((None, false, None), sack)),
        ],
    );
    (addresses, ip, tcp, options, 0..9000_u16).prop_map(
        |((from, to), (ip_id, ecn), (seq, ack, flags, window), options, payload_bytes)| {
            let (timestamps, ((mss, sack_permitted, window_scale), blocks)) = options;
            let mut sack = SackBlocks::default();
            blocks
                .iter()
                .for_each(|&(start, end)| sack.push(start, end));
            FrameFacts {
                source: SocketAddrV4::new(from.0.into(), from.1),
                destination: SocketAddrV4::new(to.0.into(), to.1),
                ip_id,
                dscp: ip_id as u8 % 64,
                ecn,
                seq,
                ack,
                flags: TcpFlags(flags),
                window,
                mss,
                sack_permitted,
                timestamps,
                window_scale,
                sack,
                accecn: None,
                payload_bytes,
            }
        },
    )
}

proptest! {
    #[test]
    fn every_fact_of_a_written_packet_comes_back(
        facts in facts(),
        time_ns in any::<u64>(),
        keeps_payload in any::<bool>(),
        is_dropped in any::<bool>(),
    ) {
        let file = capture(&facts, time_ns, keeps_payload, is_dropped);
        let (packets, counts) = read(&file);
        prop_assert_eq!(counts.damage, None);
        let wire_bytes = packets[0].wire_bytes;
        let expected = TcpPacket {
            is_marked_dropped: is_dropped,
            ..expected(&facts, time_ns, wire_bytes)
        };
        prop_assert_eq!(&packets, &[expected]);

        let mut reader = open(&file);
        reader.check_checksums(true);
        let checksum = reader.next().expect("memory").map(|packet| packet.checksum);
        let is_whole = keeps_payload || facts.payload_bytes == 0;
        let judged = if is_whole { Checksum::Good } else { Checksum::Unknown };
        prop_assert_eq!(checksum, Some(judged));
    }
}

#[test]
fn capture_points_come_back_by_name() {
    let writer = CaptureWriter::new(Vec::new(), 2, &["bottleneck"], "a test", &config(None))
        .expect("memory");
    let mut reader = open(&writer.finish().expect("memory"));
    assert_eq!(reader.next().expect("memory"), None);
    let interfaces = reader.interfaces().iter();
    let names: Vec<_> = interfaces.filter_map(|i| i.name.as_deref()).collect();
    let expected = [
        "sender-0",
        "receiver-0",
        "sender-1",
        "receiver-1",
        "bottleneck-in",
        "bottleneck-out",
    ];
    assert_eq!(names, expected);
}
