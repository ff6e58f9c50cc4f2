//! Flows of UDP, counted by hand, and captures that no one should trust.

use std::io::Cursor;

use dumbbell_capture::{DatagramOptions, Datagrams, Reader, datagrams};

use crate::reader::files::{MICROSECONDS, Order, Pcap};
use crate::reader::frames::{ETHERNET, ethernet, ipv4};

/// A frame of UDP between port 40000 of 10.0.0.1 and port 443 of 10.0.0.2; the payload is zeros.
fn frame(is_reply: bool, payload_bytes: usize) -> Vec<u8> {
    let mut ports = [40_000_u16, 443];
    let mut datagram = Vec::new();
    if is_reply {
        ports.reverse();
    }
    for word in [ports[0], ports[1], 8 + payload_bytes as u16, 0] {
        datagram.extend(word.to_be_bytes());
    }
    datagram.resize(8 + payload_bytes, 0);
    let mut packet = ipv4(17, &[], &datagram);
    if is_reply {
        packet[12..20].rotate_left(4);
    }
    ethernet(0x0800, &packet)
}

/// A download over a path of 40 ms, captured at the client: a request, then packets of data, and an ACK for every second.
pub(super) fn download(data_pkts: u32) -> Vec<u8> {
    let mut packets = vec![(0, frame(false, 1200))];
    for number in 0..data_pkts {
        let time_us = 40_000 + number * 5_000;
        packets.push((time_us, frame(true, 1200)));
        if number % 2 == 1 {
            packets.push((time_us, frame(false, 33)));
        }
    }
    let file = Pcap::new(Order::Little, MICROSECONDS, ETHERNET);
    let packets = packets.iter();
    packets
        .fold(file, |file, (time_us, frame)| {
            file.packet(1, *time_us, frame)
        })
        .bytes
}

fn read(bytes: Vec<u8>, options: &DatagramOptions) -> Option<Datagrams> {
    let mut reader = Reader::new(Box::new(Cursor::new(bytes))).ok()?;
    Some(datagrams(&mut reader, options).expect("memory can be read"))
}

#[test]
fn a_download_is_counted_in_the_direction_of_its_data() {
    let found = read(download(40), &DatagramOptions::default()).expect("a capture");
    let number = |name: &str| {
        let column = found.flows.column(name).expect("a column");
        column.number(0).expect("a value")
    };
    assert_eq!(found.flows.num_rows(), 1);
    assert_eq!(
        (number("source_port"), number("destination_port")),
        (443.0, 40_000.0)
    );
    assert_eq!(
        (number("data_pkts"), number("payload_bytes")),
        (40.0, 48_000.0)
    );
    assert_eq!(
        (number("ack_pkts"), number("ack_bytes")),
        (21.0, 1200.0 + 20.0 * 33.0)
    );
    // To the sender and back: from the request to the first data. To the receiver: its first ACK.
    assert_eq!(
        (number("near_rtt_us"), number("far_rtt_us")),
        (40_000.0, 5_000.0)
    );
    let data = found.series.column("data_pkts").expect("a column");
    let total: f64 = (0..data.len()).filter_map(|row| data.number(row)).sum();
    assert_eq!(total, 40.0);
}

#[test]
fn damaged_captures_are_read_within_limits() {
    let whole = download(40);
    let small = DatagramOptions {
        series_bins: 4,
        max_flows: 2,
        max_bytes: 1 << 10,
        min_pkts: 1,
        points: None,
    };
    let mut state = 43_u64;
    let mut next = move |below: usize| {
        // Knuth's generator (MMIX).
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..300 {
        let mut damaged = whole.clone();
        damaged.truncate(24 + next(whole.len() - 24));
        for _ in 0..next(40) {
            let at = next(damaged.len());
            damaged[at] = next(256) as u8;
        }
        if let Some(found) = read(damaged, &small) {
            assert!(found.flows.num_rows() <= 2);
        }
    }
}
