//! Any bytes as a capture file: no panic, counts that add up, and the same packets however the bytes arrive.

#![no_main]

use std::io::{self, Cursor, Read};

use dumbbell_capture::{ReadCounts, Reader, TcpPacket};
use libfuzzer_sys::fuzz_target;

/// A source that returns few bytes at a time, in varying numbers.
struct Trickle {
    bytes: Cursor<Vec<u8>>,
    reads: usize,
}

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        let length = buffer.len().min(1 + self.reads * 7 % 300);
        self.bytes.read(&mut buffer[..length])
    }
}

/// A packet's fields hashed into one number: a capture that unpacks to gigabytes must not be kept.
fn mix(sum: u64, packet: &TcpPacket) -> u64 {
    let facts = [
        u64::from(packet.interface),
        packet.time_ns,
        u64::from(packet.seq),
        u64::from(packet.payload_bytes),
        u64::from(packet.is_marked_dropped),
    ];
    facts.iter().fold(sum, |sum, fact| {
        sum.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ fact
    })
}

fn read(source: Box<dyn Read + Send>) -> Option<(u64, ReadCounts)> {
    let mut reader = Reader::new(source).ok()?;
    reader.check_checksums(true);
    let mut sum = 0;
    while let Some(packet) = reader.next().expect("memory can be read") {
        assert!((packet.interface as usize) < reader.interfaces().len());
        sum = mix(sum, &packet);
    }
    let counts = reader.counts();
    let counted = counts.tcp_pkts
        + counts.not_ip
        + counts.not_tcp
        + counts.fragments
        + counts.cut_headers
        + counts.bad_lengths
        + counts.unknown_link_type;
    assert_eq!(counts.packets, counted);
    Some((sum, counts.clone()))
}

fuzz_target!(|bytes: &[u8]| {
    let whole = read(Box::new(Cursor::new(bytes.to_vec())));
    let trickled = read(Box::new(Trickle {
        bytes: Cursor::new(bytes.to_vec()),
        reads: 0,
    }));
    // How much a decompressor returns before it finds damage depends on how it is read.
    let is_compressed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.get(1..3) == Some(&[0xb5, 0x2f]);
    let is_damaged = |read: &Option<(u64, ReadCounts)>| {
        read.as_ref()
            .is_none_or(|(_, counts)| counts.damage.is_some())
    };
    if is_compressed && is_damaged(&whole) {
        assert!(is_damaged(&trickled));
    } else {
        assert_eq!(whole, trickled);
    }
});
