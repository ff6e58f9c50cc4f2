//! IP and TCP headers: their content, and contradictions.

use dumbbell_capture::dissect::dissect;
use dumbbell_capture::{Checksum, LinkType, TcpFlags, TcpPacket, Unread};

use crate::reader::frames::{Segment, data, ethernet, ipv4, ipv6};

fn dissect_whole(frame: &[u8]) -> Result<TcpPacket, Unread> {
    dissect(LinkType::ETHERNET, frame, frame.len() as u32, true)
}

fn dissect_ip(packet: &[u8]) -> Result<TcpPacket, Unread> {
    dissect(LinkType::RAW, packet, packet.len() as u32, false)
}

fn with_options(options: &[u8]) -> TcpPacket {
    let segment = Segment {
        options: options.to_vec(),
        payload_bytes: 3,
        ..Segment::default()
    };
    let packet = dissect_ip(&segment.ipv4()).expect("a TCP packet");
    assert_eq!(packet.payload_bytes, 3, "{options:?}");
    packet
}

#[test]
fn fixed_fields() {
    let segment = Segment {
        seq: 0xfffe_fdfc,
        flags: TcpFlags::AE | TcpFlags::CWR | TcpFlags::ECE | TcpFlags::SYN,
        ..Segment::default()
    };
    let packet = dissect_ip(&segment.ipv4()).expect("a TCP packet");
    assert_eq!(
        (packet.seq, packet.ack, packet.window),
        (0xfffe_fdfc, 77, 512)
    );
    assert_eq!(packet.flags, TcpFlags(0x1c2));
    assert_eq!(
        (packet.ecn, packet.ttl, packet.ip_id),
        (2, 63, Some(0x1234))
    );
}

#[test]
fn padding_after_the_ip_packet_is_not_payload() {
    for payload_bytes in [0, 1, 5] {
        let mut frame = data(1, payload_bytes);
        frame.resize(60 + 4, 0xee);
        let packet = dissect_whole(&frame).expect("a TCP packet");
        assert_eq!(packet.payload_bytes, payload_bytes as u32);
    }
}

#[test]
fn where_offload_left_the_ip_length_0_the_record_counts() {
    let mut v4 = data(1, 70_000);
    v4[16..18].fill(0);
    let mut v6 = ethernet(0x86dd, &ipv6(6, &v4[34..]));
    v6[18..20].fill(0);
    for (frame, whole_bytes) in [(v4, 70_054), (v6, 70_074)] {
        assert_eq!(frame.len(), whole_bytes);
        for captured in [&frame[..], &frame[..100]] {
            let packet = dissect(LinkType::ETHERNET, captured, whole_bytes as u32, false);
            assert_eq!(packet.map(|packet| packet.payload_bytes), Ok(70_000));
        }
    }
}

#[test]
fn options_of_ip_are_passed_over() {
    for options in [&[][..], &[1; 4], &[1; 40]] {
        let segment = Segment {
            payload_bytes: 9,
            ..Segment::default()
        };
        let packet = dissect_ip(&ipv4(6, options, &segment.bytes())).expect("a TCP packet");
        assert_eq!((packet.payload_bytes, packet.seq), (9, 1000));
    }
}

#[test]
fn options_of_tcp() {
    let syn = with_options(&[
        2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 7,
    ]);
    assert_eq!(
        (syn.mss, syn.window_scale, syn.sack_permitted),
        (Some(1460), Some(7), true)
    );
    assert_eq!(syn.timestamps, Some((7, 0)));

    let usual = with_options(&[1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9]);
    assert_eq!(usual.timestamps, Some((7, 9)));

    let mut sack = vec![1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 1, 5, 26];
    for edge in [10_u32, 20, 30, 40, u32::MAX, 5] {
        sack.extend(edge.to_be_bytes());
    }
    let sack = with_options(&sack);
    assert_eq!(sack.sack.as_slice(), [(10, 20), (30, 40), (u32::MAX, 5)]);
    assert_eq!(sack.timestamps, Some((7, 9)));

    let none = with_options(&[]);
    assert_eq!(
        (none.mss, none.window_scale, none.timestamps),
        (None, None, None)
    );
    assert!(!none.sack_permitted && none.sack.as_slice().is_empty());
}

#[test]
fn options_that_contradict_themselves_are_left_out() {
    let table: [(&str, &[u8]); 8] = [
        ("length 0", &[8, 0, 2, 4, 5, 180, 0, 0]),
        ("length 1", &[8, 1, 2, 4, 5, 180, 0, 0]),
        ("beyond the header", &[8, 10, 0, 0]),
        ("far beyond", &[5, 255, 0, 0]),
        ("behind the end", &[0, 0, 2, 4, 5, 180, 0, 0]),
        ("an MSS of three bytes", &[2, 5, 5, 180, 0, 1, 1, 1]),
        ("a time stamp of two bytes", &[8, 4, 0, 1]),
        ("SACK without a whole block", &[5, 6, 0, 0, 0, 1, 0, 0]),
    ];
    for (story, options) in table {
        let packet = with_options(options);
        assert_eq!((packet.mss, packet.timestamps), (None, None), "{story}");
        assert!(packet.sack.as_slice().is_empty(), "{story}");
    }
    // What precedes the contradiction is used.
    assert_eq!(with_options(&[2, 4, 5, 180, 8, 200, 0, 0]).mss, Some(1460));
    // A window-scale above 14 counts as 14 (RFC 7323 §2.3).
    assert_eq!(with_options(&[3, 3, 255, 0]).window_scale, Some(14));
}

#[test]
fn a_cut_within_the_options_leaves_the_rest() {
    let segment = Segment {
        options: vec![2, 4, 5, 180, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 1],
        payload_bytes: 1000,
        ..Segment::default()
    };
    let frame = segment.ethernet();
    for captured_bytes in 0..frame.len() {
        let packet = dissect(
            LinkType::ETHERNET,
            &frame[..captured_bytes],
            frame.len() as u32,
            true,
        );
        let Ok(packet) = packet else {
            assert_eq!(packet, Err(Unread::CutHeader));
            assert!(captured_bytes < 54, "{captured_bytes}");
            continue;
        };
        assert!(captured_bytes >= 54, "{captured_bytes}");
        assert_eq!(packet.payload_bytes, 1000);
        assert_eq!(packet.mss.is_some(), captured_bytes >= 58);
        assert_eq!(packet.timestamps.is_some(), captured_bytes >= 68);
        assert_eq!(packet.checksum, Checksum::Unknown);
    }
}

#[test]
fn lengths_that_cannot_be() {
    let good = Segment::default().ipv4();
    let with = |at: usize, value: u8| {
        let mut packet = good.clone();
        packet[at] = value;
        packet
    };
    let table = [
        ("an IP header of 16 bytes", with(0, 0x44), Unread::BadLength),
        (
            "an IP packet shorter than its header",
            with(3, 19),
            Unread::BadLength,
        ),
        (
            "an IP packet without room for TCP",
            with(3, 39),
            Unread::BadLength,
        ),
        (
            "an IP header longer than the packet",
            with(0, 0x4f),
            Unread::BadLength,
        ),
        (
            "a TCP header of 16 bytes",
            with(32, 0x40),
            Unread::BadLength,
        ),
        (
            "a TCP header longer than the packet",
            with(32, 0x60),
            Unread::BadLength,
        ),
        ("neither version 4 nor 6", with(0, 0x55), Unread::NotIp(0)),
        ("nothing", Vec::new(), Unread::CutHeader),
        ("one byte", vec![0x45], Unread::CutHeader),
        ("half an IPv6 header", vec![0x60; 20], Unread::CutHeader),
    ];
    for (story, packet, expected) in table {
        assert_eq!(dissect_ip(&packet), Err(expected), "{story}");
    }
}

#[test]
fn extension_headers_of_ipv6() {
    let segment = Segment {
        payload_bytes: 6,
        ..Segment::default()
    };
    let behind = |extensions: &[u8]| [extensions, &segment.bytes()].concat();
    let table: [(&str, u8, Vec<u8>); 6] = [
        ("hop-by-hop", 0, behind(&[6, 0, 1, 4, 0, 0, 0, 0])),
        (
            "routing, 24 bytes",
            43,
            behind(&[&[6, 2], [0; 22].as_slice()].concat()),
        ),
        (
            "authentication, 12 bytes",
            51,
            behind(&[6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ),
        (
            "fragment header of a whole packet",
            44,
            behind(&[6, 0, 0, 0, 1, 2, 3, 4]),
        ),
        (
            "hop-by-hop, destination, fragment",
            0,
            behind(&[
                60, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 6, 1, 2, 3, 4,
            ]),
        ),
        (
            "mobility, HIP, shim6",
            135,
            behind(&[
                139, 0, 0, 0, 0, 0, 0, 0, 140, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
            ]),
        ),
    ];
    for (story, first, payload) in table {
        let packet = dissect_ip(&ipv6(first, &payload)).expect(story);
        assert_eq!((packet.seq, packet.payload_bytes), (1000, 6), "{story}");
    }
    let unread: [(&str, u8, &[u8], Unread); 6] = [
        (
            "a first fragment",
            44,
            &[6, 0, 0, 1, 0, 0, 0, 0],
            Unread::Fragment,
        ),
        (
            "a later fragment",
            44,
            &[6, 0, 5, 0, 0, 0, 0, 0],
            Unread::Fragment,
        ),
        ("ESP", 50, &[6, 0, 0, 0, 0, 0, 0, 0], Unread::NotTcp(50)),
        ("cut before its length", 0, &[6], Unread::CutHeader),
        (
            "longer than the packet",
            0,
            &[6, 200, 0, 0, 0, 0, 0, 0],
            Unread::BadLength,
        ),
        (
            "a loop that never comes to TCP",
            0,
            &[0; 800],
            Unread::CutHeader,
        ),
    ];
    for (story, first, payload, expected) in unread {
        assert_eq!(dissect_ip(&ipv6(first, payload)), Err(expected), "{story}");
    }
}

#[test]
fn fragments_are_counted_and_not_read() {
    for (flags_and_offset, expected) in [
        ([0x40, 0], Ok(1000)),
        ([0x80, 0], Ok(1000)),
        ([0x20, 0], Err(Unread::Fragment)),
        ([0, 5], Err(Unread::Fragment)),
        ([0x1f, 0xff], Err(Unread::Fragment)),
    ] {
        let mut packet = Segment::default().ipv4();
        packet[6..8].copy_from_slice(&flags_and_offset);
        let seq = dissect_ip(&packet).map(|packet| packet.seq);
        assert_eq!(seq, expected, "{flags_and_offset:x?}");
    }
}

/// The checksum that makes the sum of all 16-bit words a multiple of 65,535, which is how RFC 1071 can be
/// read too. `pseudo_header` is that sum over the addresses, the protocol and the length.
fn fill_checksum(segment: &mut [u8], pseudo_header: u64) {
    segment[16..18].fill(0);
    let words = segment.chunks(2).map(|word| match *word {
        [high, low] => u64::from(high) * 256 + u64::from(low),
        [high] => u64::from(high) * 256,
        _ => unreachable!(),
    });
    let sum = words.sum::<u64>() + pseudo_header;
    let checksum = (65_535 - sum % 65_535) as u16;
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
}

#[test]
fn checksums_are_judged_when_asked() {
    for payload_bytes in [0, 1, 100, 1447] {
        let segment = Segment {
            payload_bytes,
            ..Segment::default()
        };
        let mut bytes = segment.bytes();
        let length = bytes.len() as u64;
        let pseudo_header_v4 = 2 * 0x0a00 + 1 + 2 + 6 + length;
        let pseudo_header_v6 = 2 * (0x2001 + 0x0db8) + 1 + 2 + 6 + length;

        fill_checksum(&mut bytes, pseudo_header_v4);
        let frame = ethernet(0x0800, &ipv4(6, &[], &bytes));
        let checksum = |frame: &[u8]| dissect_whole(frame).map(|packet| packet.checksum);
        assert_eq!(checksum(&frame), Ok(Checksum::Good));

        let padded = [frame.as_slice(), &[0xee; 9]].concat();
        assert_eq!(checksum(&padded), Ok(Checksum::Good));

        let mut bad = frame.clone();
        bad[50] ^= 1;
        assert_eq!(checksum(&bad), Ok(Checksum::Bad));

        let mut offloaded = frame.clone();
        offloaded[50..52].copy_from_slice(&(pseudo_header_v4 as u16).to_be_bytes());
        assert_eq!(checksum(&offloaded), Ok(Checksum::NotFilled));

        fill_checksum(&mut bytes, pseudo_header_v6);
        let v6 = ethernet(0x86dd, &ipv6(6, &bytes));
        assert_eq!(checksum(&v6), Ok(Checksum::Good));

        let unasked = dissect(LinkType::ETHERNET, &frame, frame.len() as u32, false);
        assert_eq!(unasked.map(|packet| packet.checksum), Ok(Checksum::Unknown));
    }
}
