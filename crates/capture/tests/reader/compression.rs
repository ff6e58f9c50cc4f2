//! Compressed captures: read as if uncompressed, and damaged like others.

use std::io::Write;

use flate2::write::GzEncoder;

use crate::reader::files::{Order, Pcapng, pcap};
use crate::reader::frames::{ETHERNET, data};
use crate::reader::read;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// With a checksum, as the command line's.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("memory");
    encoder.include_checksum(true).expect("memory");
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn capture() -> Vec<u8> {
    let frames: Vec<_> = (0..200).map(|n| data(n * 9973, n as usize)).collect();
    pcap(ETHERNET, &frames)
}

#[test]
pub(crate) fn gzip_and_zstd_are_read_by_their_magic() {
    let pcapng = Pcapng::new(Order::Big)
        .interface(1, 0, &[])
        .packet(0, 1, &data(1, 0), &[]);
    for file in [capture(), pcapng.bytes] {
        let plain = read(&file);
        assert_eq!(read(&gzip(&file)), plain);
        assert_eq!(read(&zstd(&file)), plain);
    }
}

#[test]
fn members_and_frames_are_read_one_after_the_other() {
    let file = capture();
    let (front, back) = file.split_at(1234);
    assert_eq!(read(&[gzip(front), gzip(back)].concat()), read(&file));
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let frames = [&skippable[..], &zstd(front), &skippable, &zstd(back)].concat();
    assert_eq!(read(&frames), read(&file));
}

#[test]
fn compressed_data_cut_anywhere_never_panics_and_is_reported() {
    for (name, file) in [("gzip", gzip(&capture())), ("zstd", zstd(&capture()))] {
        let mut most_packets = 0;
        for cut in (20..file.len()).step_by(7) {
            let Ok(mut reader) =
                dumbbell_capture::Reader::new(Box::new(std::io::Cursor::new(file[..cut].to_vec())))
            else {
                continue;
            };
            while reader.next().expect("damage is not an error").is_some() {}
            let damage = reader.counts().damage.as_ref().expect("damage");
            assert!(
                damage.what.starts_with(&format!("the {name} data: ")),
                "{damage:?}"
            );
            assert!(reader.counts().tcp_pkts >= most_packets);
            most_packets = reader.counts().tcp_pkts;
        }
    }
}

#[test]
fn what_stands_before_damaged_compressed_data_is_read() {
    // Several blocks of zstd, which hold up to 128 KiB.
    let frames: Vec<_> = (0..4000)
        .map(|n| data(n * 9973, n as usize % 200))
        .collect();
    let file = pcap(ETHERNET, &frames);
    for compressed in [gzip(&file), zstd(&file)] {
        for tenths in 5..10 {
            let at = compressed.len() * tenths / 10;
            let mut damaged = compressed.clone();
            damaged[at..at + 50].fill(0xff);
            let (packets, counts) = read(&damaged);
            assert!(counts.damage.is_some());
            // A decompressor's last 4 KiB may be lost.
            let before_cut = read(&compressed[..at]).0.len();
            assert!(
                packets.len() + 60 > before_cut,
                "{} of {before_cut}",
                packets.len()
            );
        }
    }
}

#[test]
fn a_decompressor_that_finds_damage_at_once_takes_little_with_it() {
    let frames: Vec<_> = (0..4000).map(|n| data(n, 9)).collect();
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&pcap(ETHERNET, &frames)).expect("memory");
    encoder.flush().expect("memory");
    // After a flush a block begins with a byte; there is no kind of block like this (RFC 1951 §3.2.3).
    let damaged = [encoder.get_ref().as_slice(), &[0xff; 8]].concat();
    let (packets, counts) = read(&damaged);
    assert!(packets.len() > 3900, "{counts:?}");
    assert!(counts.damage.is_some());
}

#[test]
fn what_is_compressed_and_no_capture_is_refused() {
    let error = dumbbell_capture::Reader::new(Box::new(std::io::Cursor::new(gzip(b"GIF89a"))));
    let line = error.err().expect("an error").to_string();
    assert!(
        line.contains("uncompressed, it begins with 47 49 46 38"),
        "{line}"
    );
}

#[test]
fn a_zstd_frame_that_wants_gigabytes_is_refused() {
    // A frame header (RFC 8878 §3.1.1) with a window of 2^41 bytes.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0, 0, 0];
    let error = dumbbell_capture::Reader::new(Box::new(std::io::Cursor::new(frame)));
    let line = error.err().expect("an error").to_string();
    assert!(line.starts_with("cannot read the input: "), "{line}");
}
