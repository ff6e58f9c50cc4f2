//! Any bytes as a capture file: flows of UDP are read without a panic, within their limits, and add up.

#![no_main]

use std::io::Cursor;

use dumbbell_capture::{DatagramOptions, Reader, datagrams};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    // Small limits, so that wider bins and flows given up are tested too.
    let options = DatagramOptions {
        series_bins: if choice & 1 != 0 { 4 } else { 4096 },
        max_flows: if choice & 2 != 0 { 3 } else { 1000 },
        max_bytes: if choice & 4 != 0 { 1 << 10 } else { 1 << 28 },
        min_pkts: 1,
        points: None,
    };
    let Ok(mut reader) = Reader::new(Box::new(Cursor::new(bytes.to_vec()))) else {
        return;
    };
    let found = datagrams(&mut reader, &options).expect("memory can be read");
    assert!(found.flows.num_rows() <= options.max_flows);
    assert!(found.given_up_pkts <= reader.counts().packets);
});
