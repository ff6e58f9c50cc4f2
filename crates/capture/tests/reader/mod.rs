//! The reader on captures of every kind, intact and damaged.

mod compression;
mod conversation;
mod damage;
mod datagrams;
mod files;
mod formats;
mod frames;
mod headers;
mod link_layers;
mod properties;
mod seeds;
mod written;

use std::io::Cursor;

use dumbbell_capture::{ReadCounts, Reader, TcpPacket};

/// Opens a capture in memory.
fn open(file: &[u8]) -> Reader {
    Reader::new(Box::new(Cursor::new(file.to_vec()))).expect("a capture")
}

/// All packets of a capture, and the counts at its end.
fn read(file: &[u8]) -> (Vec<TcpPacket>, ReadCounts) {
    let mut reader = open(file);
    let mut packets = Vec::new();
    while let Some(packet) = reader.next().expect("memory can be read") {
        packets.push(packet);
    }
    let counts = reader.counts().clone();
    assert_eq!(counts.tcp_pkts, packets.len() as u64);
    assert_eq!(
        counts.packets,
        counts.tcp_pkts
            + counts.not_ip
            + counts.not_tcp
            + counts.fragments
            + counts.joined_fragments
            + counts.cut_headers
            + counts.bad_lengths
            + counts.unknown_link_type,
        "each packet is counted once: {counts:?}"
    );
    (packets, counts)
}
