//! The seeds of fuzzing (`fuzz/corpus`): a small capture of each kind. `UPDATE_FUZZ_CORPUS=1 cargo
//! test --package dumbbell-capture seeds` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use dumbbell_capture::TcpFlags;

use crate::reader::compression::{gzip, zstd};
use crate::reader::conversation::conversation;
use crate::reader::datagrams::download;
use crate::reader::files::{MICROSECONDS, NANOSECONDS, ORDERS, Order, Pcap, Pcapng, pcap};
use crate::reader::frames::{ETHERNET, Segment, data, ethernet, ipv4, ipv6};
use crate::reader::read;

/// Larger seeds make fuzzing slow.
const SEED_BYTES_MAX: usize = 10_000;

fn directory(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target)
}

/// The seed as committed, or as it will be committed.
fn committed(target: &str, name: &str, bytes: &[u8]) -> Vec<u8> {
    assert!(bytes.len() < SEED_BYTES_MAX, "{name}");
    let path = directory(target).join(name);
    if std::env::var_os("UPDATE_FUZZ_CORPUS").is_some() {
        fs::create_dir_all(directory(target)).expect("a directory");
        fs::write(&path, bytes).expect("a seed");
    }
    fs::read(&path).unwrap_or_default()
}

/// The seeds of `target` are these files.
#[track_caller]
fn assert_seeds(target: &str, seeds: Vec<(String, Vec<u8>)>) {
    for (name, bytes) in seeds {
        assert!(
            committed(target, &name, &bytes) == bytes,
            "{target}/{name} is out of date"
        );
    }
}

fn seed(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> (String, Vec<u8>) {
    (name.into(), bytes.into())
}

/// Options of a SYN: MSS, SACK-permitted, time stamps, window scale.
const SYN_OPTIONS: [u8; 20] = [
    2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 0, 1, 3, 3, 7,
];

/// Time stamps and two SACK blocks.
const SACK_OPTIONS: [u8; 32] = [
    1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 1, 5, 18, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7,
    0,
];

fn with_options(flags: u16, options: &[u8]) -> Segment {
    Segment {
        flags,
        options: options.to_vec(),
        ..Segment::default()
    }
}

/// A frame of each kind, with its link type.
fn frames() -> Vec<(&'static str, u16, Vec<u8>)> {
    let syn = with_options(TcpFlags::SYN, &SYN_OPTIONS);
    let sack = with_options(TcpFlags::ACK, &SACK_OPTIONS);
    let v6 = ipv6(6, &sack.bytes());
    let mut extensions = vec![60, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 2, 3, 4];
    extensions.extend(sack.bytes());
    let tagged = [&[0, 7, 0x81, 0, 0, 5, 8, 0], syn.ipv4().as_slice()].concat();
    vec![
        ("ethernet", 1, syn.ethernet()),
        ("ethernet-ipv6", 1, ethernet(0x86dd, &v6)),
        ("ethernet-tags", 1, ethernet(0x88a8, &tagged)),
        (
            "ip-options",
            1,
            ethernet(0x0800, &ipv4(6, &[1; 8], &sack.bytes())),
        ),
        ("raw", 101, sack.ipv4()),
        ("raw-extensions", 101, ipv6(44, &extensions)),
        (
            "loopback",
            0,
            [&[2, 0, 0, 0], syn.ipv4().as_slice()].concat(),
        ),
        (
            "cooked",
            113,
            [[0; 14].as_slice(), &[8, 0], &syn.ipv4()].concat(),
        ),
        (
            "cooked2",
            276,
            [&[8, 0], [0; 18].as_slice(), &syn.ipv4()].concat(),
        ),
    ]
}

/// A pcapng file with a block of each kind and two sections.
fn pcapng(order: Order) -> Vec<u8> {
    Pcapng::new(order)
        .interface(1, 96, &[(2, b"sender-0"), (9, &[9]), (14, &order.u64(1))])
        .interface(101, 0, &[(9, &[0x80 | 20])])
        .packet(0, 1, &data(1, 5), &[(1, b"dropped by the bottleneck")])
        .packet(1, 2, &data(2, 5)[14..], &[(2, &[0; 4]), (1, b"a comment")])
        .old_packet(0, 3, &data(3, 5))
        .simple_packet(60, &data(4, 6))
        .block(4, &[1, 0, 4, 0, 10, 0, 0, 1, 0, 0, 0, 0])
        .statistics(0, &[(5, &order.u64(2))])
        .section(Order::Big)
        .interface(1, 0, &[])
        .packet(0, 4, &data(5, 5), &[])
        .bytes
}

#[test]
fn of_the_reader() {
    let mut seeds = Vec::new();
    for order in ORDERS {
        for (name, magic) in [("us", MICROSECONDS), ("ns", NANOSECONDS)] {
            let file = Pcap::new(order, magic, ETHERNET)
                .packet(1, 7, &data(1, 5))
                .packet(1, 8, &data(6, 0));
            seeds.push(seed(
                format!("pcap-{name}-{order:?}").to_lowercase(),
                file.bytes,
            ));
        }
        let name = format!("pcapng-{order:?}").to_lowercase();
        seeds.push(seed(name, pcapng(order)));
    }
    for (name, link_type, frame) in frames() {
        let file = pcap(u32::from(link_type), &[frame]);
        seeds.push(seed(format!("pcap-{name}"), file));
    }
    assert_seeds("reader", seeds);
}

/// Their compressed size depends on a library's version; their content does not.
#[test]
fn of_the_reader_compressed() {
    let file = pcap(ETHERNET, &[data(1, 5), data(6, 0)]);
    for (name, compressed) in [("pcap.gz", gzip(&file)), ("pcap.zst", zstd(&file))] {
        assert_eq!(read(&committed("reader", name, &compressed)), read(&file));
    }
}

#[test]
fn of_the_headers() {
    let seeds = frames().into_iter().map(|(name, link_type, frame)| {
        let [high, low] = link_type.to_be_bytes();
        seed(name, [&[high, low, 1], frame.as_slice()].concat())
    });
    assert_seeds("headers", seeds.collect());
}

/// A first byte chooses the limits; a capture follows.
#[test]
fn of_the_datagrams() {
    let seeds = [0, 7].map(|limits| {
        let bytes = [&[limits], download(6).as_slice()].concat();
        seed(format!("download-{limits}"), bytes)
    });
    assert_seeds("datagrams", seeds.to_vec());
}

/// A first byte chooses the options of the analysis; a capture follows, or facts of packets, 16 bytes each.
#[test]
fn of_the_analyser() {
    let frames = conversation();
    let capture = pcap(ETHERNET, &frames);
    let two_points = frames.iter().enumerate().fold(
        Pcapng::new(Order::Little)
            .interface(1, 0, &[(2, b"sender-0")])
            .interface(1, 0, &[(2, b"receiver-0")]),
        |file, (n, frame)| {
            let time_us = n as u64 * 1000;
            let file = file.packet(0, time_us, frame, &[]);
            file.packet(1, time_us + 400, frame, &[])
        },
    );
    // Data with time stamps in one direction, ACKs with SACK blocks in the other.
    let data = [0x10, 0, 0, 0x44, 0, 0, 0, 0, 5, 180, 255, 1, 0, 0, 0, 1];
    let acknowledgment = [0x10, 1, 0, 0x45, 0, 0, 0, 0, 0, 0, 255, 0, 9, 0, 0, 2];
    let facts = [data, data, acknowledgment].concat().repeat(8);
    let behind = |choice: u8, bytes: &[u8]| [&[choice], bytes].concat();
    assert_seeds(
        "analyser",
        vec![
            seed("pcap", behind(0, &capture)),
            seed("pcap-fixed-bins", behind(1, &capture)),
            seed("pcap-few-views", behind(2, &capture)),
            seed("pcapng-two-points", behind(0, &two_points.bytes)),
            seed("facts", behind(0, &facts)),
        ],
    );
}
