//! Headers before IP.

use dumbbell_capture::Endpoint;

use crate::reader::files::pcap;
use crate::reader::frames::{ETHERNET, Segment, ethernet, ipv4, ipv6};
use crate::reader::read;

/// IPv4 or IPv6 with the same segment.
fn packets() -> [Vec<u8>; 2] {
    let segment = Segment {
        payload_bytes: 10,
        ..Segment::default()
    };
    [segment.ipv4(), ipv6(6, &segment.bytes())]
}

fn after(head: &[u8], packet: &[u8]) -> Vec<u8> {
    [head, packet].concat()
}

fn endpoint(address: &str, port: u16) -> Endpoint {
    Endpoint {
        address: address.parse().expect("an address"),
        port,
    }
}

/// The frame of link type `link_type` carries a segment of 10 bytes in IPv4 or IPv6.
#[track_caller]
fn assert_carries(link_type: u32, frame: Vec<u8>, is_ipv6: bool) {
    let (packets, counts) = read(&pcap(link_type, &[frame]));
    let [packet] = packets[..] else {
        panic!("link type {link_type}: {counts:?}")
    };
    let (source, destination) = if is_ipv6 {
        ("2001:db8::1", "2001:db8::2")
    } else {
        ("10.0.0.1", "10.0.0.2")
    };
    assert_eq!(packet.source, endpoint(source, 40_000));
    assert_eq!(packet.destination, endpoint(destination, 443));
    assert_eq!((packet.seq, packet.payload_bytes), (1000, 10));
    if is_ipv6 {
        assert_eq!((packet.ecn, packet.ip_id, packet.ttl), (3, None, 62));
    } else {
        assert_eq!(
            (packet.ecn, packet.ip_id, packet.ttl),
            (2, Some(0x1234), 63)
        );
    }
}

#[test]
fn ethernet_with_tags() {
    let [v4, v6] = packets();
    for (packet, ether_type, is_ipv6) in [(v4, [0x08, 0x00], false), (v6, [0x86, 0xdd], true)] {
        let tags: [(u16, &[u8]); 4] = [
            (0x8100, &[0x20, 0x05]),
            (0x88a8, &[0, 7, 0x81, 0x00, 0, 5]),
            (0x9100, &[0, 7, 0x81, 0x00, 0, 5]),
            (0x88a8, &[0, 7, 0x88, 0xa8, 0, 6, 0x81, 0x00, 0, 5]),
        ];
        assert_carries(
            ETHERNET,
            ethernet(u16::from_be_bytes(ether_type), &packet),
            is_ipv6,
        );
        for (outer, tags) in tags {
            let tagged = [tags, &ether_type, &packet].concat();
            assert_carries(ETHERNET, ethernet(outer, &tagged), is_ipv6);
        }
    }
}

#[test]
fn raw_ip() {
    let [v4, v6] = packets();
    for link_type in [101, 12, 14] {
        assert_carries(link_type, v4.clone(), false);
        assert_carries(link_type, v6.clone(), true);
    }
    assert_carries(228, v4, false);
    assert_carries(229, v6, true);
}

#[test]
fn linux_cooked() {
    let [v4, v6] = packets();
    for (packet, ether_type, is_ipv6) in [(v4, [0x08, 0x00], false), (v6, [0x86, 0xdd], true)] {
        let v1 = [[0; 14].as_slice(), &ether_type].concat();
        assert_carries(113, after(&v1, &packet), is_ipv6);
        let v2 = [ether_type.as_slice(), &[9; 18]].concat();
        assert_carries(276, after(&v2, &packet), is_ipv6);
        let tagged = [[0; 14].as_slice(), &[0x81, 0, 0, 5], &ether_type].concat();
        assert_carries(113, after(&tagged, &packet), is_ipv6);
    }
}

#[test]
fn loopback_of_either_byte_order_and_every_system() {
    let [v4, v6] = packets();
    for link_type in [0, 108] {
        for family in [[2, 0, 0, 0], [0, 0, 0, 2]] {
            assert_carries(link_type, after(&family, &v4), false);
        }
        for number in [10, 24, 28, 30] {
            assert_carries(link_type, after(&[number, 0, 0, 0], &v6), true);
            assert_carries(link_type, after(&[0, 0, 0, number], &v6), true);
        }
    }
}

#[test]
fn what_is_not_tcp_over_ip_is_counted() {
    let udp = ipv4(17, &[], &[0; 8]);
    let frames = vec![
        ethernet(0x0806, &[0; 28]),
        ethernet(0x0026, &[0x42; 38]),
        ethernet(0x0800, &[0x70; 40]),
        ethernet(0x0800, &udp),
        ethernet(0x86dd, &ipv6(58, &[0; 8])),
        ethernet(0x86dd, &ipv6(59, &[])),
        Segment::default().ethernet(),
    ];
    let (packets, counts) = read(&pcap(ETHERNET, &frames));
    assert_eq!(packets.len(), 1);
    assert_eq!((counts.not_ip, counts.not_tcp), (3, 3));

    let (_, counts) = read(&pcap(0, &[vec![7, 0, 0, 0, 0x45], vec![1, 2, 3, 4, 0x45]]));
    assert_eq!(counts.not_ip, 2);
    let (_, counts) = read(&pcap(147, &[Segment::default().ethernet()]));
    assert_eq!(counts.unknown_link_type, 1);
}

#[test]
fn the_kind_of_link_is_apart_from_what_the_file_says_of_check_sequences() {
    let frame_check_sequence_of_32_bits = 0x4400_0000;
    let file = pcap(
        frame_check_sequence_of_32_bits | ETHERNET,
        &[Segment::default().ethernet()],
    );
    assert_eq!(read(&file).0.len(), 1);
}
