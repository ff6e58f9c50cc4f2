//! Formats of files: what is recorded is read, however it was written.

use dumbbell_capture::LinkType;

use crate::reader::files::{MICROSECONDS, NANOSECONDS, ORDERS, Order, Pcap, Pcapng};
use crate::reader::frames::{ETHERNET, Segment, data};
use crate::reader::{open, read};

const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const COMMENT: u16 = 1;

#[test]
fn every_magic_of_pcap_is_read() {
    for order in ORDERS {
        for (magic, time_ns) in [
            (MICROSECONDS, 1_700_000_000_000_007_000),
            (NANOSECONDS, 1_700_000_000_000_000_007),
        ] {
            let file = Pcap::new(order, magic, ETHERNET).packet(1_700_000_000, 7, &data(5, 100));
            let (packets, counts) = read(&file.bytes);
            assert_eq!(packets.len(), 1, "{order:?} {magic:x}");
            assert_eq!(packets[0].time_ns, time_ns, "{order:?} {magic:x}");
            assert_eq!((packets[0].seq, packets[0].payload_bytes), (5, 100));
            assert_eq!(counts.damage, None);
        }
    }
}

#[test]
fn records_of_the_patched_libpcap_have_eight_bytes_more() {
    for order in ORDERS {
        let frame = data(5, 100);
        let length = frame.len() as u32;
        let mut file = Pcap::new(order, 0xa1b2_cd34, ETHERNET);
        for _ in 0..2 {
            let frame_behind_extra = [&[9; 8], frame.as_slice()].concat();
            file.record([3, 7, length, length], &frame_behind_extra);
        }
        let (packets, counts) = read(&file.bytes);
        assert_eq!(packets.len(), 2, "{order:?} {counts:?}");
        assert_eq!(packets[1].time_ns, 3_000_007_000);
    }
}

#[test]
fn a_cut_packet_keeps_its_length() {
    let frame = data(5, 1448);
    let mut file = Pcap::new(Order::Little, MICROSECONDS, ETHERNET);
    file.record([1, 0, 54, frame.len() as u32], &frame[..54]);
    let (packets, _) = read(&file.bytes);
    assert_eq!(packets[0].wire_bytes, 14 + 20 + 20 + 1448);
    assert_eq!(packets[0].payload_bytes, 1448);
}

#[test]
fn pcapng_is_read_in_both_byte_orders() {
    for order in ORDERS {
        let file = Pcapng::new(order)
            .interface(1, 96, &[(IF_NAME, b"sender-0"), (IF_TSRESOL, &[9])])
            .interface(1, 0, &[])
            .packet(0, 1_700_000_000_000_000_007, &data(5, 99), &[])
            .packet(1, 1_700_000_000_000_007, &data(6, 100), &[]);
        let (packets, counts) = read(&file.bytes);
        let seen: Vec<_> = packets
            .iter()
            .map(|packet| (packet.interface, packet.time_ns, packet.seq))
            .collect();
        let expected = [
            (0, 1_700_000_000_000_000_007, 5),
            (1, 1_700_000_000_000_007_000, 6),
        ];
        assert_eq!(seen, expected, "{order:?}");
        assert_eq!(counts.damage, None);

        let mut reader = open(&file.bytes);
        assert_eq!(reader.interfaces().len(), 0);
        reader.next().expect("memory can be read");
        let [first, second] = reader.interfaces() else {
            panic!("two interfaces, not {:?}", reader.interfaces())
        };
        assert_eq!(first.name.as_deref(), Some("sender-0"));
        assert_eq!(
            (first.link_type, first.snap_bytes),
            (LinkType::ETHERNET, 96)
        );
        assert_eq!((second.name.as_deref(), second.snap_bytes), (None, 0));
    }
}

/// Also those of concatenated files.
#[test]
fn interfaces_of_one_name_are_distinguished() {
    let file = Pcapng::new(Order::Little)
        .interface(1, 0, &[(IF_NAME, b"eth0")])
        .interface(1, 0, &[(IF_NAME, b"eth0")])
        .section(Order::Big)
        .interface(1, 0, &[(IF_NAME, b"eth0")])
        .packet(0, 1, &data(5, 99), &[]);
    let mut reader = open(&file.bytes);
    let packet = reader.next().expect("memory can be read");
    assert_eq!(packet.map(|packet| packet.interface), Some(2));
    let names: Vec<_> = reader.interfaces().iter().map(|i| &i.name).collect();
    let want = ["eth0", "eth0#2", "eth0#3"].map(|name| Some(name.to_owned()));
    assert!(names.into_iter().eq(&want), "{:?}", reader.interfaces());
}

#[test]
fn clocks_of_interfaces_are_their_own() {
    for order in ORDERS {
        let offset_s = order.u64(100);
        let file = Pcapng::new(order)
            .interface(1, 0, &[(IF_TSRESOL, &[3]), (IF_TSOFFSET, &offset_s)])
            .interface(1, 0, &[(IF_TSRESOL, &[0x80 | 10])])
            .packet(0, 1500, &data(1, 0), &[])
            .packet(1, 1536, &data(2, 0), &[]);
        let (packets, _) = read(&file.bytes);
        let times_ns: Vec<_> = packets.iter().map(|packet| packet.time_ns).collect();
        assert_eq!(times_ns, [101_500_000_000, 1_500_000_000], "{order:?}");
    }
}

#[test]
fn simple_packets_are_cut_by_the_snap_length_and_have_the_time_before() {
    let frame = data(9, 200);
    for order in ORDERS {
        for (snap_bytes, captured_bytes) in [(96, 96), (0, 60), (0, frame.len())] {
            let file = Pcapng::new(order)
                .interface(1, snap_bytes, &[(IF_TSRESOL, &[9])])
                .packet(0, 77, &data(8, 0), &[])
                .simple_packet(frame.len() as u32, &frame[..captured_bytes]);
            let (packets, counts) = read(&file.bytes);
            assert_eq!(packets.len(), 2, "{order:?} {snap_bytes} {counts:?}");
            let simple = packets[1];
            assert_eq!((simple.seq, simple.payload_bytes), (9, 200));
            assert_eq!((simple.time_ns, simple.interface), (77, 0));
            assert_eq!(simple.wire_bytes, frame.len() as u32);
        }
    }
}

#[test]
fn padding_of_a_simple_packet_is_not_part_of_it() {
    let syn = Segment {
        options: vec![2, 4, 5, 0xb4],
        ..Segment::default()
    };
    let frame = syn.ethernet();
    // The snap length ends one byte before the MSS does.
    for (snap_bytes, mss) in [(57, None), (58, Some(1460))] {
        let file = Pcapng::new(Order::Little)
            .interface(1, snap_bytes, &[])
            .simple_packet(58, &frame[..snap_bytes as usize]);
        assert_eq!(read(&file.bytes).0[0].mss, mss);
    }
}

#[test]
fn the_obsolete_packet_block_is_read() {
    for order in ORDERS {
        let file = Pcapng::new(order)
            .interface(1, 0, &[])
            .interface(1, 0, &[])
            .old_packet(1, (1 << 32) + 5, &data(9, 200));
        let (packets, _) = read(&file.bytes);
        assert_eq!(packets.len(), 1, "{order:?}");
        assert_eq!((packets[0].interface, packets[0].seq), (1, 9));
        assert_eq!(packets[0].time_ns, ((1 << 32) + 5) * 1000);
    }
}

#[test]
fn each_section_has_its_own_byte_order_and_interfaces() {
    let file = Pcapng::new(Order::Little)
        .interface(1, 0, &[(IF_NAME, b"a")])
        .packet(0, 1, &data(1, 0), &[])
        .section(Order::Big)
        .interface(101, 0, &[(IF_NAME, b"b")])
        .packet(0, 2, &data(2, 0)[14..], &[])
        .section(Order::Little)
        .packet(0, 3, &data(3, 0), &[]);
    let (packets, counts) = read(&file.bytes);
    let seen: Vec<_> = packets
        .iter()
        .map(|packet| (packet.interface, packet.seq))
        .collect();
    assert_eq!(seen, [(0, 1), (1, 2)]);
    assert_eq!(
        counts.bad_lengths, 1,
        "the third section describes no interface"
    );
    assert_eq!(counts.damage, None);
}

#[test]
fn only_the_comment_of_ours_marks_a_packet_as_dropped() {
    let dropped: &[u8] = b"dropped by the bottleneck";
    let with_reason: &[u8] = b"dropped by uplink: lost at random";
    let table: [(&[_], bool); 7] = [
        (&[], false),
        (&[(COMMENT, with_reason)], true),
        (&[(COMMENT, dropped)], true),
        (
            &[(2, &[0; 4]), (COMMENT, b"seen"), (COMMENT, dropped)],
            true,
        ),
        (&[(COMMENT, b"dropped by")], false),
        (&[(COMMENT, b"not dropped by us")], false),
        (&[(2988, dropped)], false),
    ];
    for order in ORDERS {
        for (options, expected) in table {
            for payload_bytes in 0..4 {
                let file = Pcapng::new(order).interface(1, 0, &[]).packet(
                    0,
                    1,
                    &data(1, payload_bytes),
                    options,
                );
                let (packets, _) = read(&file.bytes);
                assert_eq!(packets[0].is_marked_dropped, expected, "{options:?}");
            }
        }
    }
}

#[test]
fn what_the_capturing_machine_missed_is_reported() {
    for order in ORDERS {
        let file = Pcapng::new(order)
            .interface(1, 0, &[])
            .interface(1, 0, &[])
            .statistics(1, &[(5, &order.u64(3))])
            .statistics(1, &[(4, &order.u64(99)), (5, &order.u64(7))])
            .statistics(2, &[(5, &order.u64(1))]);
        let mut reader = open(&file.bytes);
        assert_eq!(reader.next().expect("memory can be read"), None);
        let missed: Vec<_> = reader.interfaces().iter().map(|i| i.missed_pkts).collect();
        assert_eq!(missed, [None, Some(7)]);
    }
}

#[test]
fn blocks_of_other_kinds_are_passed_over_however_long() {
    let megabytes = vec![7; 3 << 20];
    let file = Pcapng::new(Order::Little)
        .interface(1, 0, &[])
        .block(0x0bad, &megabytes)
        .packet(0, 1, &data(1, 0), &[])
        .block(4, &[])
        .packet(0, 1, &data(2, 0), &[]);
    let (packets, counts) = read(&file.bytes);
    assert_eq!(packets.len(), 2);
    assert_eq!((counts.packets, counts.damage), (2, None));
}

#[test]
fn packets_of_megabytes_are_read_by_their_beginning() {
    let mut frame = data(1, 0);
    frame[16..18].fill(0);
    frame.resize(3 << 20, 0);
    let small = data(2, 0);
    let files = [
        crate::reader::files::pcap(ETHERNET, &[frame.clone(), small.clone(), frame.clone()]),
        Pcapng::new(Order::Little)
            .interface(1, 0, &[])
            .packet(0, 1, &frame, &[])
            .packet(0, 1, &small, &[])
            .packet(0, 1, &frame, &[])
            .bytes,
    ];
    for file in files {
        let (packets, counts) = read(&file);
        let payloads: Vec<_> = packets.iter().map(|packet| packet.payload_bytes).collect();
        assert_eq!(payloads, [(3 << 20) - 54, 0, (3 << 20) - 54]);
        assert_eq!(counts.damage, None);
    }
}

#[test]
fn a_block_length_without_the_padding_is_understood() {
    let frame = data(1, 1);
    let mut body = [0_u32, 0, 5, frame.len() as u32, frame.len() as u32]
        .map(u32::to_le_bytes)
        .concat();
    body.extend(&frame);
    let length = (body.len() as u32 + 12).to_le_bytes();
    body.resize(body.len().next_multiple_of(4), 0);
    let mut file = Pcapng::new(Order::Little).interface(1, 0, &[]);
    file.bytes
        .extend([&[6, 0, 0, 0], &length, body.as_slice(), &length].concat());
    let (packets, counts) = read(&file.packet(0, 1, &data(2, 0), &[]).bytes);
    assert_eq!(packets.len(), 2, "{counts:?}");
}
