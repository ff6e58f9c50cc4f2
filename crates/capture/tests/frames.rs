//! Frames read back: by etherparse's parser, and their checksums by RFC 1071's sum itself.

use std::net::{Ipv4Addr, SocketAddrV4};

use dumbbell_capture::{AccEcnBytes, FrameFacts, SackBlocks, TcpFlags};
use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TcpSlice, TransportSlice};
use proptest::prelude::*;

/// RFC 1071: the complement of the sum in ones' complement; 0 over data that includes its right
/// checksum.
fn checksum(bytes: impl Iterator<Item = u8>) -> u16 {
    let bytes: Vec<u8> = bytes.collect();
    let sum: u64 = bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)))
        .sum();
    let mut folded = sum;
    while folded > 0xffff {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    !folded as u16
}

/// The frame with its payload.
fn whole_frame(facts: &FrameFacts) -> Vec<u8> {
    let mut frame = vec![0xee; 7];
    facts.write_headers(&mut frame);
    frame.resize(frame.len() + usize::from(facts.payload_bytes), 0);
    frame
}

fn check_checksums(frame: &[u8]) {
    let (ip_header, tcp) = frame[14..].split_at(20);
    assert_eq!(checksum(ip_header.iter().copied()), 0, "IPv4");
    let tcp_bytes = u16::try_from(tcp.len()).expect("fits").to_be_bytes();
    let pseudo_header = ip_header[12..20]
        .iter()
        .copied()
        .chain([0, 6])
        .chain(tcp_bytes);
    assert_eq!(checksum(pseudo_header.chain(tcp.iter().copied())), 0, "TCP");
}

fn sack_of(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut sack = SackBlocks::default();
    for &(start, end) in blocks {
        sack.push(start, end);
    }
    sack
}

fn flags_of(tcp: &TcpSlice<'_>) -> u16 {
    let flags = [
        (tcp.fin(), TcpFlags::FIN),
        (tcp.syn(), TcpFlags::SYN),
        (tcp.rst(), TcpFlags::RST),
        (tcp.psh(), TcpFlags::PSH),
        (tcp.ack(), TcpFlags::ACK),
        (tcp.urg(), TcpFlags::URG),
        (tcp.ece(), TcpFlags::ECE),
        (tcp.cwr(), TcpFlags::CWR),
        (tcp.ns(), TcpFlags::AE),
    ];
    let set = flags.iter().filter(|(is_set, _)| *is_set);
    set.map(|(_, flag)| flag).sum()
}

/// The header fields of a frame.
fn read_back(frame: &[u8]) -> FrameFacts {
    let packet = SlicedPacket::from_ethernet(frame).expect("a whole frame");
    let Some(NetSlice::Ipv4(ip)) = &packet.net else {
        panic!("no IPv4");
    };
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else {
        panic!("no TCP");
    };
    assert!(ip.header().dont_fragment());
    let mut facts = FrameFacts {
        source: SocketAddrV4::new(ip.header().source_addr(), tcp.source_port()),
        destination: SocketAddrV4::new(ip.header().destination_addr(), tcp.destination_port()),
        ip_id: ip.header().identification(),
        dscp: ip.header().dcp().value(),
        ecn: ip.header().ecn().value(),
        seq: tcp.sequence_number(),
        ack: tcp.acknowledgment_number(),
        flags: TcpFlags(flags_of(tcp)),
        window: tcp.window_size(),
        mss: None,
        sack_permitted: false,
        timestamps: None,
        window_scale: None,
        sack: SackBlocks::default(),
        accecn: None,
        payload_bytes: tcp.payload().len() as u16,
    };
    for option in tcp.options_iterator() {
        match option.expect("a sound option") {
            TcpOptionElement::Noop => {}
            TcpOptionElement::MaximumSegmentSize(mss) => facts.mss = Some(mss),
            TcpOptionElement::WindowScale(shift) => facts.window_scale = Some(shift),
            TcpOptionElement::SelectiveAcknowledgementPermitted => facts.sack_permitted = true,
            TcpOptionElement::Timestamp(value, echo) => facts.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                facts.sack.push(first.0, first.1);
                for (start, end) in rest.into_iter().flatten() {
                    facts.sack.push(start, end);
                }
            }
        }
    }
    facts
}

/// Blocks that fit next to the other options.
fn sack_room(facts: &FrameFacts) -> usize {
    let mss = if facts.mss.is_some() { 4 } else { 0 };
    let pair = match (facts.sack_permitted, facts.timestamps.is_some()) {
        (_, true) => 12,
        (true, false) => 4,
        (false, false) => 0,
    };
    let scale = if facts.window_scale.is_some() { 4 } else { 0 };
    (40 - mss - pair - scale - 4) / 8
}

fn facts() -> impl Strategy<Value = FrameFacts> {
    let endpoint = || (any::<u32>(), any::<u16>());
    let endpoint =
        || endpoint().prop_map(|(address, port)| SocketAddrV4::new(Ipv4Addr::from(address), port));
    let numbers = (any::<u32>(), any::<u32>(), 0_u16..512, any::<u16>());
    let ip = (any::<u16>(), 0_u8..64, 0_u8..4);
    let options = (
        any::<Option<u16>>(),
        any::<bool>(),
        any::<Option<(u32, u32)>>(),
        prop::option::of(0_u8..15),
        prop::collection::vec(any::<(u32, u32)>(), 0..5),
    );
    (endpoint(), endpoint(), numbers, ip, options, 0_u16..9000).prop_map(
        |(
            source,
            destination,
            (seq, ack, flags, window),
            (ip_id, dscp, ecn),
            options,
            payload_bytes,
        )| {
            let (mss, sack_permitted, timestamps, window_scale, blocks) = options;
            FrameFacts {
                source,
                destination,
                ip_id,
                dscp,
                ecn,
                seq,
                ack,
                flags: TcpFlags(flags),
                window,
                mss,
                sack_permitted,
                timestamps,
                window_scale,
                sack: sack_of(&blocks),
                accecn: None,
                payload_bytes,
            }
        },
    )
}

/// RFC 9768 §3.2.3: kind 174, length 2 and 3 for each counter; no-operations align it, and those in front of SACK have
/// room for its end.
#[test]
fn the_accecn_option_has_counters_as_there_is_room() {
    let all = [1, 0x01_02_03, 0xff_fe_fd];
    let block = [0, 0, 0, 7, 0, 0, 0, 9];
    let alone = [174, 11, 0, 0, 1, 1, 2, 3, 0xff, 0xfe, 0xfd, 1].to_vec();
    let next_to_two = [&[174, 8, 0, 0, 1, 1, 2, 3, 1, 1, 5, 18][..], &block, &block].concat();
    let next_to_three = [&[174, 2, 5, 26][..], &block, &block, &block].concat();
    for (count, blocks, expected) in [(3, 0, alone), (2, 2, next_to_two), (0, 3, next_to_three)] {
        let facts = FrameFacts {
            flags: TcpFlags(TcpFlags::ACK | TcpFlags::AE),
            accecn: Some(AccEcnBytes::first(count, all)),
            sack: sack_of(&vec![(7, 9); blocks]),
            ..ack()
        };
        let frame = whole_frame(&facts);
        check_checksums(&frame);
        let packet = SlicedPacket::from_ethernet(&frame).expect("a whole frame");
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else {
            panic!("no TCP");
        };
        assert!(tcp.ns(), "AE");
        assert_eq!(tcp.options()[12..], expected);
    }
}

proptest! {
    #[test]
    fn any_facts_are_read_back_with_right_checksums(facts in facts()) {
        let frame = whole_frame(&facts);
        check_checksums(&frame);
        let room = sack_room(&facts).min(facts.sack.as_slice().len());
        let expected = FrameFacts { sack: sack_of(&facts.sack.as_slice()[..room]), ..facts };
        prop_assert_eq!(read_back(&frame), expected);
    }
}

fn ack() -> FrameFacts {
    FrameFacts {
        source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 5001),
        destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 10_000),
        ip_id: 1,
        dscp: 0,
        ecn: 0,
        seq: 1,
        ack: 2,
        flags: TcpFlags(TcpFlags::ACK),
        window: 512,
        mss: None,
        sack_permitted: false,
        timestamps: Some((3, 4)),
        window_scale: None,
        sack: SackBlocks::default(),
        accecn: None,
        payload_bytes: 0,
    }
}

#[test]
fn options_lie_as_linux_lays_them() {
    let options = |facts: FrameFacts| whole_frame(&facts)[54..].to_vec();
    assert_eq!(options(ack()), [1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4]);
    let syn = FrameFacts {
        flags: TcpFlags(TcpFlags::SYN),
        mss: Some(1460),
        sack_permitted: true,
        window_scale: Some(7),
        ..ack()
    };
    assert_eq!(
        options(syn),
        [
            2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4, 1, 3, 3, 7
        ]
    );
    let with_sack = FrameFacts {
        sack: sack_of(&[(5, 6), (7, 8), (9, 10), (11, 12)]),
        ..ack()
    };
    assert_eq!(
        options(with_sack)[12..],
        [
            1, 1, 5, 26, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10
        ],
        "three blocks fit next to timestamps"
    );
}

#[test]
fn hosts_have_locally_administered_addresses() {
    let frame = whole_frame(&ack());
    assert_eq!(frame[..6], [2, 0, 10, 0, 0, 1], "destination first");
    assert_eq!(frame[6..12], [2, 0, 10, 0, 0, 2]);
    assert_eq!(frame[12..14], [8, 0]);
}

#[test]
fn a_payload_beyond_an_ipv4_packet_is_cut() {
    let facts = FrameFacts {
        payload_bytes: u16::MAX,
        ..ack()
    };
    let mut frame = Vec::new();
    facts.write_headers(&mut frame);
    assert_eq!(frame[16..18], [0xff, 0xff], "the largest packet there is");
    frame.resize(14 + usize::from(u16::MAX), 0);
    check_checksums(&frame);
}
