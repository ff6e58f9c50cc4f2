//! Damaged captures: what precedes the damage is read, and the damage is reported.

use std::io::{Cursor, Read};

use dumbbell_capture::{Damage, Error, Reader};

use crate::reader::files::{MICROSECONDS, ORDERS, Order, Pcap, Pcapng, pcap};
use crate::reader::frames::{ETHERNET, data};
use crate::reader::read;

/// A small file of each format, and where its packets end.
fn small_files() -> Vec<(&'static str, Vec<u8>, Vec<usize>)> {
    let frames: Vec<_> = (0..4).map(|n| data(n, n as usize * 7)).collect();
    let mut small = Vec::new();
    for order in ORDERS {
        let mut file = Pcap::new(order, MICROSECONDS, ETHERNET);
        let mut ends = Vec::new();
        for frame in &frames {
            file = file.packet(1, 2, frame);
            ends.push(file.bytes.len());
        }
        small.push(("pcap", file.bytes, ends));

        let mut file = Pcapng::new(order).interface(1, 0, &[(2, b"eth0"), (9, &[9])]);
        let mut ends = Vec::new();
        for (n, frame) in frames.iter().enumerate() {
            file = match n {
                0 => file.packet(0, 1, frame, &[(1, b"a comment")]),
                1 => file.old_packet(0, 1, frame),
                2 => file.simple_packet(frame.len() as u32, frame),
                _ => file.packet(0, 1, frame, &[]),
            };
            ends.push(file.bytes.len());
        }
        small.push(("pcapng", file.bytes, ends));
    }
    small
}

#[test]
fn a_file_cut_anywhere_is_read_up_to_the_cut() {
    for (format, file, packet_ends) in small_files() {
        for cut in 4..=file.len() {
            let (packets, counts) = read(&file[..cut]);
            let whole = packet_ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(packets.len(), whole, "{format} cut at {cut}");
            let Some(damage) = counts.damage else {
                continue;
            };
            assert!(damage.what.contains("ends within"), "{damage:?}");
            assert!(
                damage.offset < cut as u64,
                "{format} cut at {cut}: {damage:?}"
            );
            let last_end = packet_ends[..whole].last().copied().unwrap_or_default();
            assert!(
                damage.offset >= last_end as u64,
                "{format} cut at {cut}: {damage:?}"
            );
        }
    }
}

#[test]
fn a_file_is_damaged_unless_the_cut_is_between_records() {
    for (format, file, packet_ends) in small_files() {
        let undamaged: Vec<_> = (4..=file.len())
            .filter(|cut| read(&file[..*cut]).1.damage.is_none())
            .filter(|cut| *cut >= packet_ends[0])
            .collect();
        assert_eq!(undamaged, packet_ends, "{format}");
    }
}

#[test]
fn absurd_lengths_are_damage_where_they_stand() {
    for length in [
        0x1000_0001,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX - 3,
        u32::MAX,
    ] {
        let mut file = Pcap::new(Order::Little, MICROSECONDS, ETHERNET).packet(1, 0, &data(1, 5));
        let offset = file.bytes.len() as u64;
        file.record([1, 0, length, length], &data(2, 0));
        let (packets, counts) = read(&file.bytes);
        assert_eq!(packets.len(), 1);
        let what = format!("a packet of {length} bytes, more than any capture holds");
        assert_eq!(counts.damage, Some(Damage { offset, what }));
    }
    for length in [0, 4, 11, 0x1000_0001, 0x8000_0000, u32::MAX] {
        let mut file =
            Pcapng::new(Order::Little)
                .interface(1, 0, &[])
                .packet(0, 1, &data(1, 5), &[]);
        let offset = file.bytes.len() as u64;
        file.bytes.extend(6_u32.to_le_bytes());
        file.bytes.extend(length.to_le_bytes());
        file.bytes.extend([0; 400]);
        let (packets, counts) = read(&file.bytes);
        assert_eq!(packets.len(), 1);
        let damage = counts.damage.expect("damage");
        assert_eq!(damage.offset, offset);
        let what = format!("a block of {length} bytes; a block has 12 to 268435456");
        assert_eq!(damage.what, what);
    }
}

#[test]
fn a_promise_of_much_is_damage_when_the_file_ends_before() {
    let mut file = Pcap::new(Order::Little, MICROSECONDS, ETHERNET).packet(1, 0, &data(1, 5));
    let offset = file.bytes.len() as u64;
    file.record([1, 0, 200 << 20, 200 << 20], &data(2, 0));
    for behind_bytes in [0, 2 << 20] {
        let mut bytes = file.bytes.clone();
        bytes.resize(bytes.len() + behind_bytes, 0);
        let (_, counts) = read(&bytes);
        let damage = counts.damage.expect("damage");
        assert_eq!(damage.what, "the file ends within a packet");
        assert!(damage.offset >= offset);
    }
}

#[test]
fn the_offset_of_damage_counts_what_was_passed_over() {
    let megabytes = vec![7; 3 << 20];
    let before = Pcapng::new(Order::Little)
        .interface(1, 0, &[])
        .block(0x0bad, &megabytes)
        .packet(0, 1, &data(1, 0), &[]);
    let offset = before.bytes.len() as u64;
    let mut file = before.packet(0, 1, &data(2, 0), &[]);
    file.bytes.truncate(file.bytes.len() - 1);
    let what = "the file ends within a block".to_owned();
    assert_eq!(read(&file.bytes).1.damage, Some(Damage { offset, what }));
}

#[test]
fn blocks_whose_lengths_disagree_are_damage() {
    let before = Pcapng::new(Order::Big)
        .interface(1, 0, &[])
        .packet(0, 1, &data(1, 5), &[]);
    let offset = before.bytes.len() as u64;
    let mut file = before.packet(0, 1, &data(2, 5), &[]);
    *file.bytes.last_mut().expect("bytes") ^= 4;
    let (packets, counts) = read(&file.bytes);
    assert_eq!(packets.len(), 1);
    let damage = counts.damage.expect("damage");
    assert_eq!(damage.offset, offset);
    assert!(
        damage.what.contains("says otherwise at its end"),
        "{damage:?}"
    );
}

#[test]
fn sections_that_cannot_be_are_damage() {
    let good = Pcapng::new(Order::Little).interface(1, 0, &[]).bytes;
    let table = [
        ("without its byte-order magic", 8, 0x4e),
        ("of pcapng version 2", 12, 2),
    ];
    for (expected, at, value) in table {
        let mut bytes = good.clone();
        bytes[at] = value;
        let damage = read(&bytes).1.damage.expect("damage");
        assert_eq!(damage.offset, 0);
        assert!(damage.what.contains(expected), "{damage:?}");
    }
    let mut short = Pcapng::new(Order::Little);
    short.bytes.clear();
    let damage = read(&short.block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a]).bytes)
        .1
        .damage;
    assert_eq!(
        damage.expect("damage").what,
        "a section without its version"
    );
}

#[test]
fn packet_blocks_that_contradict_themselves_are_counted_and_passed_over() {
    let frame = data(1, 100);
    let packet = |interface: u32, captured_bytes: u32, frame: &[u8]| {
        let words = [interface, 0, 1, captured_bytes, captured_bytes].map(u32::to_le_bytes);
        [words.as_flattened(), frame].concat()
    };
    let table = [
        ("captured beyond the block", 6, packet(0, 1000, &frame)),
        ("captured far beyond", 6, packet(0, u32::MAX, &frame)),
        ("an interface not described", 6, packet(1, 154, &frame)),
        ("an interface far beyond", 6, packet(u32::MAX, 154, &frame)),
        ("no room for the fields", 6, vec![0; 16]),
        ("an obsolete packet without room", 2, vec![0; 16]),
        ("an obsolete packet without a frame", 2, packet(0, 4, &[])),
        ("a simple packet of nothing", 3, Vec::new()),
    ];
    for (story, kind, body) in table {
        let file = Pcapng::new(Order::Little)
            .interface(1, 0, &[])
            .block(kind, &body)
            .packet(0, 1, &frame, &[]);
        let (packets, counts) = read(&file.bytes);
        assert_eq!(packets.len(), 1, "{story}");
        assert_eq!((counts.bad_lengths, counts.damage), (1, None), "{story}");
    }
    let file = Pcapng::new(Order::Little).simple_packet(4, &frame).bytes;
    assert_eq!(
        read(&file).1.bad_lengths,
        1,
        "a simple packet without an interface"
    );
}

#[test]
fn options_that_run_over_are_left_out_and_the_packet_is_not() {
    let frame = data(1, 2);
    let overruns: [&[u8]; 4] = [&[1, 0, 200, 0], &[1, 0, 255, 255], &[1, 0, 1, 0], &[1]];
    for overrun in overruns {
        let length = frame.len() as u32;
        let words = [0, 0, 1, length, length].map(u32::to_le_bytes);
        let body = [words.as_flattened(), &frame, overrun].concat();
        let file = Pcapng::new(Order::Little)
            .interface(1, 0, &[])
            .block(6, &body);
        let (packets, counts) = read(&file.bytes);
        assert_eq!((packets.len(), counts.damage), (1, None), "{overrun:?}");
        assert!(!packets[0].is_marked_dropped);

        let interface = [
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, b'e', b'0', 0, 0],
            overrun,
        ]
        .concat();
        let file = Pcapng::new(Order::Little)
            .block(1, &interface)
            .packet(0, 1, &frame, &[]);
        assert_eq!(read(&file.bytes).0.len(), 1, "{overrun:?}");
    }
}

#[test]
fn what_stands_behind_the_end_of_options_is_none() {
    let frame = data(1, 2);
    let length = frame.len() as u32;
    let words = [0, 0, 1, length, length].map(u32::to_le_bytes);
    let comment = b"dropped by the bottleneck\0\0\0";
    for (end, is_marked) in [(&[0; 4][..], false), (&[], true)] {
        let options = [end, &[1, 0, 25, 0], comment].concat();
        let body = [words.as_flattened(), &frame, &options].concat();
        let file = Pcapng::new(Order::Little)
            .interface(1, 0, &[])
            .block(6, &body);
        assert_eq!(read(&file.bytes).0[0].is_marked_dropped, is_marked);
    }
}

#[test]
fn a_length_on_the_wire_below_the_captured_one_is_none() {
    let frame = data(1, 2);
    let length = frame.len() as u32;
    let mut file = Pcap::new(Order::Little, MICROSECONDS, ETHERNET);
    file.record([1, 0, length, 0], &frame);
    assert_eq!(read(&file.bytes).0[0].wire_bytes, length);
    let words = [0, 0, 1, length, 0].map(u32::to_le_bytes);
    let body = [words.as_flattened(), &frame].concat();
    let file = Pcapng::new(Order::Little)
        .interface(1, 0, &[])
        .block(6, &body);
    assert_eq!(read(&file.bytes).0[0].wire_bytes, length);
}

#[test]
fn an_interface_without_its_fields_is_damage() {
    let file = Pcapng::new(Order::Little).block(1, &[1, 0, 0, 0]);
    let damage = read(&file.bytes).1.damage.expect("damage");
    assert_eq!(damage.what, "an interface without its link type");
}

#[test]
fn interfaces_without_end_are_damage_and_their_names_are_cut() {
    let name = vec![b'x'; 60_000];
    let mut file = Pcapng::new(Order::Little).interface(1, 0, &[(2, &name)]);
    let interface = Pcapng::new(Order::Little).interface(1, 0, &[]).bytes;
    let header = Pcapng::new(Order::Little).bytes.len();
    for _ in 0..70_000 {
        file.bytes.extend(&interface[header..]);
    }
    let mut reader = Reader::new(Box::new(Cursor::new(file.bytes))).expect("a capture");
    assert_eq!(reader.next().expect("memory can be read"), None);
    assert_eq!(reader.interfaces().len(), 65_536);
    let name = reader.interfaces()[0].name.as_ref().expect("a name");
    assert_eq!(name.len(), 128);
    let damage = reader.counts().damage.as_ref().expect("damage");
    assert_eq!(damage.what, "more than 65536 interfaces");
}

#[test]
fn records_of_nothing_are_counted() {
    let (packets, counts) = read(&pcap(ETHERNET, &[vec![], vec![], data(1, 0)]));
    assert_eq!((packets.len(), counts.cut_headers), (1, 2));
    let file = Pcapng::new(Order::Little)
        .interface(1, 0, &[])
        .packet(0, 1, &[], &[])
        .simple_packet(0, &[]);
    assert_eq!(read(&file.bytes).1.cut_headers, 2);
}

#[test]
fn what_is_not_a_capture_is_rejected_in_one_line() {
    let table: [(&[u8], &str); 4] = [
        (b"", "the input is empty; use a capture in pcap or pcapng"),
        (b"\x7fELF", "it begins with 7f 45 4c 46;"),
        (b"\xa1\xb2", "it begins with a1 b2;"),
        (&[0xa1, 0xb2, 0xc3, 0xd5, 0], "it begins with a1 b2 c3 d5;"),
    ];
    for (bytes, expected) in table {
        let error = Reader::new(Box::new(Cursor::new(bytes)))
            .err()
            .expect("an error");
        let line = error.to_string();
        assert!(line.contains(expected), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
    let error = Reader::open("/no/such/file".as_ref())
        .err()
        .expect("an error");
    assert!(
        error
            .to_string()
            .starts_with("cannot open `/no/such/file`: "),
        "{error}"
    );
}

/// A source that gives one byte at a time, and then an error.
struct Failing {
    bytes: Cursor<Vec<u8>>,
}

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.bytes.read(&mut buffer[..1])? {
            0 => Err(std::io::Error::other("the disk is gone")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_source_that_fails_is_an_error_after_the_packets_before() {
    let bytes = Cursor::new(pcap(ETHERNET, &[data(1, 0), data(2, 0)]));
    let mut reader = Reader::new(Box::new(Failing { bytes })).expect("a capture");
    for seq in [1, 2] {
        let packet = reader.next().expect("still there").expect("a packet");
        assert_eq!(packet.seq, seq);
    }
    let error = reader.next().expect_err("the source fails");
    assert!(matches!(error, Error::Read { .. }));
    assert_eq!(error.to_string(), "cannot read the input: the disk is gone");
    assert_eq!(reader.next().expect("it is over"), None);
}
