//! Tests of how super-packets are split.

use dumbbell_wire::checksum::internet_checksum;
use proptest::prelude::*;

use super::*;
use crate::packet::test_packets::{segment, v4, v6_header};

/// What a host takes that has the addresses 10.0.0.2 and fd64:756d:6262::a00:2.
pub(in crate::packet) const RECEIVER: Taken = Taken {
    address: Ipv4Addr::new(10, 0, 0, 2),
    address6: Some(Ipv6Addr::new(0xfd64, 0x756d, 0x6262, 0, 0, 0, 0x0a00, 2)),
    any_protocol: false,
    for_others: false,
};

/// Where the checksums of TCP and UDP are, from the start of the header.
const TCP_CHECKSUM_OFFSET: u16 = 16;
const UDP_CHECKSUM_OFFSET: u16 = 6;

/// The same, of programs.
const PROGRAMS: Taken = Taken {
    any_protocol: true,
    for_others: false,
    ..RECEIVER
};

/// A super-packet of `payload_bytes` in segments of `each`, with timestamps.
pub(in crate::packet) fn super_packet(
    payload_bytes: usize,
    each: u16,
    flags: u16,
    id: u16,
    sequence: u32,
) -> Vec<u8> {
    let mut read = vec![NEEDS_CSUM, GSO_TCPV4];
    read.extend(52_u16.to_ne_bytes());
    read.extend(each.to_ne_bytes());
    read.extend(20_u16.to_ne_bytes());
    read.extend(TCP_CHECKSUM_OFFSET.to_ne_bytes());
    let payload: Vec<u8> = (0..payload_bytes).map(|byte| (byte % 251) as u8).collect();
    let times = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let mut packet = segment(flags, &times, &payload);
    put_u16(&mut packet, ipv4::IDENTIFICATION, id);
    let checksum = ipv4::checksum(&packet[..20]);
    put_u16(&mut packet, ipv4::CHECKSUM, checksum);
    put_u32(&mut packet, 20 + tcp::SEQUENCE, sequence);
    read.extend(packet);
    read
}

pub(in crate::packet) fn split(read: &[u8]) -> Vec<Vec<u8>> {
    let parsed = SuperPacket::parse(read, &RECEIVER).expect("a packet of ours");
    (0..parsed.packets())
        .map(|index| {
            let mut out = vec![0xee; VNET_HEADER_BYTES + 65_535];
            let bytes = parsed.write(index, &mut out).expect("it fits");
            out.truncate(bytes);
            out
        })
        .collect()
}

#[test]
fn a_datagram_has_ports_and_a_later_fragment_has_none() {
    let mut read = vec![0; VNET_HEADER_BYTES];
    read.extend([0x45, 0, 0, 32, 0, 7, 0, 0, 64, 17, 0, 0]);
    read.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    read.extend([0x27, 0x10, 0x13, 0x89, 0, 12, 0, 0, 1, 2, 3, 4]);
    let ports = |read: &[u8]| SuperPacket::parse(read, &RECEIVER).map(|packet| packet.ports());
    assert_eq!(ports(&read), Ok(Some([10_000, 5001])));
    assert_eq!(ports(&read[..VNET_HEADER_BYTES + 22]), Ok(None), "cut");
    read[VNET_HEADER_BYTES + 7] = 3;
    assert_eq!(ports(&read), Ok(None));
    let segment = super_packet(100, 100, 0x10, 1, 1);
    assert_eq!(ports(&segment), Ok(Some([10_000, 5001])));
}

#[test]
fn three_segments_as_a_network_card_would_send_them() {
    let flags = TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN | TcpFlags::CWR;
    let packets = split(&super_packet(2500, 1000, flags, 0xffff, 0xffff_ff00));
    let lengths: Vec<_> = packets.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1062, 1062, 562]);
    let facts: Vec<_> = packets
        .iter()
        .map(|packet| {
            let ip = &packet[VNET_HEADER_BYTES..];
            let segment = Segment::parse(ip).expect("a whole segment");
            (
                read_u16(ip, ipv4::IDENTIFICATION),
                segment.sequence,
                segment.flags.0,
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            (0xffff, 0xffff_ff00, TcpFlags::ACK | TcpFlags::CWR),
            (0, 0x0000_02e8, TcpFlags::ACK),
            (
                1,
                0x0000_06d0,
                TcpFlags::ACK | TcpFlags::PSH | TcpFlags::FIN
            ),
        ]
    );
}

#[test]
fn what_is_not_a_super_packet_passes_unchanged() {
    let mut read = super_packet(100, 0, TcpFlags::ACK, 7, 9);
    read[1] = GSO_NONE;
    assert_eq!(split(&read), [read.clone()]);
}

#[test]
fn an_offload_that_was_not_requested_is_foreign() {
    let mut read = super_packet(100, 50, TcpFlags::ACK, 7, 9);
    read[1] = 4;
    assert_eq!(SuperPacket::parse(&read, &RECEIVER).err(), Some(Foreign));
    assert_eq!(
        SuperPacket::parse(&read[..5], &RECEIVER).err(),
        Some(Foreign)
    );
    read[1] = GSO_TCPV4;
    read[4..6].fill(0);
    assert_eq!(SuperPacket::parse(&read, &RECEIVER).err(), Some(Foreign));
}

#[test]
fn what_is_for_another_host_or_neither_tcp_nor_udp_is_foreign() {
    const ICMP: u8 = 1;
    let mut read = super_packet(100, 0, TcpFlags::ACK, 7, 9);
    read[1] = GSO_NONE;
    assert!(SuperPacket::parse(&read, &RECEIVER).is_ok());
    let other = SuperPacket::parse(
        &read,
        &Taken {
            address: Ipv4Addr::new(10, 0, 0, 3),
            ..PROGRAMS
        },
    );
    assert_eq!(other.err(), Some(Foreign));
    read[VNET_HEADER_BYTES + 9] = ICMP;
    assert_eq!(SuperPacket::parse(&read, &RECEIVER).err(), Some(Foreign));
}

#[test]
fn a_gateway_takes_what_is_for_any_one_host() {
    const DESTINATION: usize = VNET_HEADER_BYTES + 16;
    let gateway = Taken {
        for_others: true,
        ..PROGRAMS
    };
    let mut read = super_packet(100, 0, TcpFlags::ACK, 7, 9);
    read[1] = GSO_NONE;
    for (destination, is_taken) in [
        ([198, 51, 100, 7], true),
        ([10, 0, 0, 2], true),
        ([224, 0, 0, 251], false),
        ([255, 255, 255, 255], false),
    ] {
        read[DESTINATION..DESTINATION + 4].copy_from_slice(&destination);
        let parsed = SuperPacket::parse(&read, &gateway);
        assert_eq!(parsed.is_ok(), is_taken, "{destination:?}");
        if let Ok(packet) = parsed {
            let hosts = ([10, 0, 0, 1].into(), destination.into());
            assert_eq!(packet.hosts(), Some(hosts));
        }
    }
}

#[test]
fn a_packet_that_does_not_fit_is_refused() {
    let read = super_packet(2500, 1000, TcpFlags::ACK, 7, 9);
    let parsed = SuperPacket::parse(&read, &RECEIVER).expect("a packet of ours");
    assert_eq!(parsed.write(0, &mut [0; 1061]), None);
}

/// The same super-packet over IPv6.
pub(in crate::packet) fn over_v6(read: &[u8]) -> Vec<u8> {
    let (vnet_header, packet) = read.split_at(VNET_HEADER_BYTES);
    let tcp = &packet[20..];
    let mut out = vnet_header.to_vec();
    if out[1] == GSO_TCPV4 {
        out[1] = GSO_TCPV6;
    }
    out[2..4].copy_from_slice(&72_u16.to_ne_bytes());
    out[6..8].copy_from_slice(&40_u16.to_ne_bytes());
    out.extend(v6_header(0, PROTOCOL_TCP, tcp.len() as u16));
    out.extend(tcp);
    out
}

#[test]
fn segments_over_ipv6_are_those_over_ipv4_behind_another_header() {
    let flags = TcpFlags::ACK | TcpFlags::PSH | TcpFlags::CWR;
    let read = super_packet(2500, 1000, flags, 7, 0xffff_ff00);
    let (v4, v6) = (split(&read), split(&over_v6(&read)));
    assert_eq!(v6.len(), 3);
    for (v4, v6) in v4.iter().zip(&v6) {
        let tcp = &v4[VNET_HEADER_BYTES + 20..];
        let mut expected = vec![NEEDS_CSUM, GSO_NONE, 0, 0, 0, 0];
        expected.extend(40_u16.to_ne_bytes());
        expected.extend(TCP_CHECKSUM_OFFSET.to_ne_bytes());
        expected.extend(v6_header(0, PROTOCOL_TCP, tcp.len() as u16));
        expected.extend(tcp);
        assert_eq!(*v6, expected);
    }
    let mut v4_only = RECEIVER;
    v4_only.address6 = None;
    let read = over_v6(&read);
    let refused = SuperPacket::parse(&read, &v4_only);
    assert_eq!(refused.err(), Some(Foreign), "a host without IPv6");
}

/// The sum over the pseudo-header and what is in place of a checksum, with this many bytes of transport.
fn pseudo_sum(ip: &Ip, packet: &[u8], transport_bytes: usize) -> u16 {
    let [high, low] = (transport_bytes as u16).to_be_bytes();
    let rest = [0, ip.protocol, high, low];
    !internet_checksum([ip.addresses(packet), &rest])
}

/// A super-packet of datagrams, as a kernel with USO sends it.
fn datagrams(ip_header: Vec<u8>, payload_bytes: usize, each: u16) -> Vec<u8> {
    let mut read = vec![NEEDS_CSUM, GSO_UDP_L4];
    read.extend(((ip_header.len() + 8) as u16).to_ne_bytes());
    read.extend(each.to_ne_bytes());
    read.extend((ip_header.len() as u16).to_ne_bytes());
    read.extend(UDP_CHECKSUM_OFFSET.to_ne_bytes());
    let ip = Ip::parse(&ip_header).expect("a header");
    let sum = pseudo_sum(&ip, &ip_header, 8 + payload_bytes);
    read.extend(ip_header);
    read.extend([0x27, 0x10, 0x13, 0x89]);
    read.extend(((8 + payload_bytes) as u16).to_be_bytes());
    read.extend(sum.to_be_bytes());
    read.extend((0..payload_bytes).map(|byte| (byte % 251) as u8));
    read
}

fn v4_udp_header(payload_bytes: usize) -> Vec<u8> {
    let mut packet = v4(PROTOCOL_UDP, &vec![0; 8 + payload_bytes]);
    packet.truncate(20);
    packet
}

#[test]
fn datagrams_have_their_own_lengths_and_sums() {
    let v6 = v6_header(0, PROTOCOL_UDP, 2508);
    for (header, ip_bytes) in [(v4_udp_header(2500), 20), (v6, 40)] {
        let read = datagrams(header, 2500, 1200);
        let parsed = SuperPacket::parse(&read, &RECEIVER).expect("for it");
        assert!(parsed.has_datagrams());
        assert_eq!(parsed.ports(), Some([10_000, 5001]));
        assert_eq!(parsed.segment_of(1), None);
        let packets = split(&read);
        let mut payload = Vec::new();
        for (index, (packet, bytes)) in packets.iter().zip([1200, 1200, 100]).enumerate() {
            let (vnet_header, packet) = packet.split_at(VNET_HEADER_BYTES);
            let offsets = [ip_bytes as u16, UDP_CHECKSUM_OFFSET]
                .map(u16::to_ne_bytes)
                .concat();
            let expected = [&[NEEDS_CSUM, GSO_NONE, 0, 0, 0, 0], &offsets[..]].concat();
            assert_eq!(vnet_header, expected);
            let ip = Ip::parse(packet).expect("a whole header");
            let datagram = &packet[ip_bytes..];
            assert_eq!(
                (datagram.len(), read_u16(datagram, udp::LENGTH)),
                (8 + bytes, 8 + bytes as u16)
            );
            assert_eq!(
                read_u16(datagram, 6),
                pseudo_sum(&ip, packet, datagram.len())
            );
            match ip.version {
                Version::V4 => {
                    assert_eq!(usize::from(read_u16(packet, 2)), packet.len());
                    assert_eq!(read_u16(packet, 4), 7 + index as u16);
                    assert_eq!(read_u16(packet, 10), ipv4::checksum(&packet[..20]));
                }
                Version::V6 => assert_eq!(usize::from(read_u16(packet, 4)), datagram.len()),
            }
            payload.extend_from_slice(&datagram[8..]);
        }
        assert_eq!(
            (packets.len(), &payload[..]),
            (3, &read[read.len() - 2500..])
        );
    }
}

#[test]
fn hosts_of_programs_take_any_protocol_and_fragments() {
    const ICMP_V6: u8 = 58;
    let mut read = vec![0; VNET_HEADER_BYTES];
    read.extend(v6_header(0, ICMP_V6, 8));
    read.extend([128, 0, 0, 0, 0, 1, 0, 1]);
    assert_eq!(SuperPacket::parse(&read, &RECEIVER).err(), Some(Foreign));
    let echo = SuperPacket::parse(&read, &PROGRAMS).expect("for it");
    assert_eq!(
        (echo.ports(), echo.has_datagrams(), echo.packets()),
        (None, false, 1)
    );
    let mut out = vec![0; read.len()];
    assert_eq!((echo.write(0, &mut out), &out), (Some(read.len()), &read));
    // All nodes: a multicast group.
    let mut to_all = read.clone();
    to_all[VNET_HEADER_BYTES + 24..VNET_HEADER_BYTES + 40].fill(0xff);
    assert_eq!(SuperPacket::parse(&to_all, &PROGRAMS).err(), Some(Foreign));
    // The first fragment of a datagram has ports, but is no whole datagram.
    let mut fragment = vec![0; VNET_HEADER_BYTES];
    fragment.extend(v4_udp_header(16));
    fragment[VNET_HEADER_BYTES + 6] = 0x20;
    fragment.extend([0; 24]);
    let first = SuperPacket::parse(&fragment, &PROGRAMS).expect("for it");
    assert!(first.ip.is_fragment && !first.has_datagrams());
}

proptest! {
    #[test]
    fn payload_numbers_and_lengths_are_conserved(
        payload_bytes in 1_usize..40_000,
        each in 1_u16..1900,
        id in any::<u16>(),
        sequence in any::<u32>(),
    ) {
        prop_assume!(payload_bytes / usize::from(each) < 2000);
        let read = super_packet(payload_bytes, each, TcpFlags::ACK | TcpFlags::PSH, id, sequence);
        let parsed = SuperPacket::parse(&read, &RECEIVER).expect("a packet of ours");
        let mut payload = Vec::new();
        for (index, packet) in split(&read).iter().enumerate() {
            let (vnet_header, ip) = packet.split_at(VNET_HEADER_BYTES);
            prop_assert_eq!(vnet_header[..2].to_vec(), vec![NEEDS_CSUM, GSO_NONE]);
            let segment = Segment::parse(ip).expect("a whole segment");
            prop_assert_eq!(Some(segment.sequence), parsed.segment_of(index).map(|s| s.sequence));
            prop_assert_eq!(segment.sequence, sequence.wrapping_add(payload.len() as u32));
            prop_assert_eq!(usize::from(read_u16(ip, ipv4::TOTAL_LENGTH)), ip.len());
            prop_assert_eq!(read_u16(ip, ipv4::IDENTIFICATION), id.wrapping_add(index as u16));
            prop_assert_eq!(read_u16(ip, ipv4::CHECKSUM), ipv4::checksum(&ip[..20]));
            prop_assert!(segment.payload_bytes <= u32::from(each));
            payload.extend_from_slice(&ip[segment.header_bytes..]);
        }
        prop_assert_eq!(&payload[..], &read[VNET_HEADER_BYTES + 52..]);
    }

    #[test]
    fn any_bytes_are_split_without_panic(
        start in prop::sample::select(vec![Vec::new(), super_packet(0, 9, 0, 1, 1), over_v6(&super_packet(0, 9, 0, 1, 1)),
            datagrams(v4_udp_header(9), 9, 3), datagrams(v6_header(0, PROTOCOL_UDP, 17), 9, 3)]),
        kept_bytes in 0_usize..100,
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let read = [&start[..kept_bytes.min(start.len())], &rest].concat();
        if let Ok(parsed) = SuperPacket::parse(&read, &RECEIVER) {
            for index in 0..parsed.packets() {
                parsed.write(index, &mut [0; 400]);
            }
        }
    }
}
