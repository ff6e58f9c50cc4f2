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

/// Every other link type that is read, and what its frames have before IP.
#[test]
fn rare_link_types() {
    let [v4, v6] = packets();
    let snap = |ether_type: [u8; 2]| [&[0xaa, 0xaa, 3, 0, 0, 0][..], &ether_type].concat();
    for (packet, ether_type, ppp, is_ipv6) in [
        (v4, [0x08, 0x00], 0x21, false),
        (v6, [0x86, 0xdd], 0x57, true),
    ] {
        let snap = snap(ether_type);
        // A data frame to the distribution system, with a QoS field or without.
        let wifi = [&[0x08, 0x01][..], &[0; 22], &snap].concat();
        let wifi_qos = [&[0x88, 0x01][..], &[0; 24], &snap].concat();
        let padded = [&[0x88, 0x01][..], &[0; 26], &snap].concat();
        let arcnet = if is_ipv6 { 196 } else { 212 };
        let heads: &[(u32, Vec<u8>)] = &[
            (6, [&[0; 14][..], &snap].concat()),
            (
                6,
                [&[0; 8][..], &[0x80, 0, 0, 0, 0, 0, 0x04, 0, 0, 0], &snap].concat(),
            ),
            (8, vec![0; 16]),
            (9, vec![0xff, 0x03, 0, ppp]),
            (9, vec![ppp]),
            (10, [&[0x50; 13][..], &snap].concat()),
            (50, vec![0xff, 0x03, 0, ppp]),
            (51, vec![0x11, 0, 0, 1, 0, 62, 0, ppp]),
            (100, snap.clone()),
            (104, [&[0x0f, 0][..], &ether_type].concat()),
            (105, wifi.clone()),
            (105, wifi_qos),
            (107, vec![0x18, 0x41, 3, if is_ipv6 { 0x8e } else { 0xcc }]),
            (107, [&[0x18, 0x41][..], &ether_type].concat()),
            (119, [&[0; 144][..], &wifi].concat()),
            (127, [&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi].concat()),
            (127, [&[0, 0, 9, 0, 2, 0, 0, 0, 0x20][..], &padded].concat()),
            (129, vec![1, 2, 0, 0, arcnet, 0, 0, 1]),
            (166, vec![1, 3, 0, ppp]),
            (
                182,
                vec![0xe0, 1, 0x18, 0x41, 3, if is_ipv6 { 0x8e } else { 0xcc }],
            ),
            (192, [&[0, 0, 8, 0, 105, 0, 0, 0][..], &wifi].concat()),
            (204, vec![0, ppp]),
            (
                239,
                [
                    &[2, 0, 0, 0][..],
                    &[6, 0, 10, 0, 0x41, 0, 0, 0],
                    &[68, 0, 9, 0],
                ]
                .concat(),
            ),
            (242, [&[0; 40][..], &ether_type, &[0, 0]].concat()),
        ];
        for (link_type, head) in heads {
            assert_carries(*link_type, after(head, &packet), is_ipv6);
        }
    }
}

/// Headers in Ethernet, and tunnels in IP.
#[test]
fn tunnels() {
    let [v4, v6] = packets();
    let inner_ethernet = |packet: &[u8], ether_type: u16| ethernet(ether_type, packet);
    for (packet, ether_type, number, is_ipv6) in
        [(v4, 0x0800_u16, 4_u8, false), (v6, 0x86dd, 41, true)]
    {
        let type_bytes = ether_type.to_be_bytes();
        let framed = inner_ethernet(&packet, ether_type);
        let mpls = after(&[0, 6, 0x40, 64, 0, 6, 0x41, 64], &packet);
        let udp = |port: u16, head: &[u8], payload: &[u8]| {
            let [high, low] = port.to_be_bytes();
            let body = [&[0xc0, 0, high, low, 0, 0, 0, 0][..], head, payload].concat();
            (17, body)
        };
        let gre = |head: &[u8], payload: &[u8]| (47, [head, payload].concat());
        let vxlan = [0x08, 0, 0, 0, 0, 0, 7, 0];
        let bodies: &[(u8, Vec<u8>)] = &[
            (number, packet.clone()),
            gre(&[&[0, 0][..], &type_bytes].concat(), &packet),
            gre(
                &[&[0xb0, 0][..], &type_bytes, &[0; 4], &[0, 0, 0, 9], &[0; 4]].concat(),
                &packet,
            ),
            gre(&[0, 0, 0x65, 0x58], &framed),
            gre(&[0, 0, 0x88, 0x47], &mpls),
            gre(&[0, 0, 0x88, 0xbe], &framed),
            gre(
                &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1][..], &[0; 8]].concat(),
                &framed,
            ),
            gre(
                &[
                    &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1][..],
                    &[0; 11],
                    &[1],
                    &[0; 8],
                ]
                .concat(),
                &framed,
            ),
            gre(
                &[
                    0x30,
                    0x81,
                    0x88,
                    0x0b,
                    0,
                    60,
                    0,
                    1,
                    0,
                    0,
                    0,
                    1,
                    0,
                    0,
                    0,
                    1,
                    if is_ipv6 { 0x57 } else { 0x21 },
                ],
                &packet,
            ),
            (97, after(&[0x30, 0], &framed)),
            (137, mpls.clone()),
            udp(4789, &vxlan, &framed),
            udp(8472, &vxlan, &framed),
            udp(4790, &[0x0c, 0, 0, 3, 0, 0, 7, 0], &framed),
            udp(
                6081,
                &[&[1, 0, 0x65, 0x58, 0, 0, 7, 0][..], &[0; 4]].concat(),
                &framed,
            ),
            udp(
                6081,
                &[&[0, 0][..], &type_bytes, &[0, 0, 7, 0]].concat(),
                &packet,
            ),
            udp(2152, &[0x30, 255, 0, 60, 0, 0, 0, 1], &packet),
            udp(
                2152,
                &[0x34, 255, 0, 60, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0],
                &packet,
            ),
            udp(6635, &[], &mpls),
            (51, [&[number, 4, 0, 0][..], &[0; 20], &packet].concat()),
        ];
        for (protocol, body) in bodies {
            assert_carries(
                ETHERNET,
                ethernet(0x0800, &ipv4(*protocol, &[], body)),
                is_ipv6,
            );
            assert_carries(ETHERNET, ethernet(0x86dd, &ipv6(*protocol, body)), is_ipv6);
        }
        for (outer, body) in [
            (0x8847, mpls.clone()),
            (
                0x8847,
                [&[0, 6, 0x41, 64, 0, 0, 0, 0][..], &framed].concat(),
            ),
            (0x88e7, after(&[0, 0, 0, 1], &framed)),
            (
                60,
                [&[0xaa, 0xaa, 3, 0, 0, 0][..], &type_bytes, &packet].concat(),
            ),
        ] {
            assert_carries(ETHERNET, ethernet(outer, &body), is_ipv6);
        }
    }
}

#[test]
fn what_was_not_read_is_named() {
    let esp = ethernet(0x0800, &ipv4(50, &[], &[0; 8]));
    let frames = [
        ethernet(0x0806, &[0; 28]),
        esp.clone(),
        esp,
        ethernet(0x0800, &ipv4(17, &[], &[0; 8])),
        ethernet(0x88b5, &[0; 28]),
    ];
    let (_, counts) = read(&pcap(ETHERNET, &frames));
    let named: Vec<_> = counts
        .unread
        .iter()
        .map(|(name, &count)| (name.as_str(), count))
        .collect();
    assert_eq!(
        named,
        [("ARP", 1), ("ESP", 2), ("EtherType 0x88b5", 1), ("UDP", 1)]
    );
    let (_, counts) = read(&pcap(147, &frames[..1]));
    assert_eq!(counts.unread.keys().collect::<Vec<_>>(), ["link type 147"]);
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
