//! Any packets, as a capture or as header fields: the analysis ends without a panic, and adds up.

#![no_main]

use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr};

use dumbbell_capture::{
    AnalysisOptions, Checksum, Endpoint, NetworkId, PacketList, PacketSource, Reader, SackBlocks, TcpFlags,
    TcpPacket, analyze,
};
use libfuzzer_sys::fuzz_target;

/// Bytes of a packet's fields; a change of one byte changes one field.
const FACTS_BYTES: usize = 16;

/// Positions of the directions of eight connections: numbers are mostly near the last ones.
#[derive(Default)]
struct Connections {
    time_ns: u64,
    seq: [[u32; 2]; 8],
}

impl Connections {
    fn packet(&mut self, facts: [u8; FACTS_BYTES]) -> TcpPacket {
        let [
            flags,
            kind,
            place,
            options,
            s0,
            s1,
            a0,
            a1,
            p0,
            p1,
            window,
            t0,
            t1,
            v0,
            v1,
            id,
        ] = facts;
        let side = usize::from(kind & 1);
        let number = usize::from(place & 7);
        let is_absolute = kind & 2 != 0;
        let offset = |high, low| i32::from(i16::from_be_bytes([high, low])) as u32;
        let seq = match is_absolute {
            true => u32::from_be_bytes([s0, s1, 0xff, 0xf0]),
            false => self.seq[number][side].wrapping_add(offset(s0, s1)),
        };
        let payload_bytes = u32::from(u16::from_be_bytes([p0, p1])) << (kind >> 2 & 3);
        self.seq[number][side] = seq.wrapping_add(payload_bytes);
        let ack = self.seq[number][1 - side].wrapping_add(offset(a0, a1));
        // Most captures go forward; some do not.
        let step_ns = u64::from(u16::from_be_bytes([t0, t1])) << (kind >> 4 & 7) << 8;
        self.time_ns = match kind >> 7 {
            0 => self.time_ns.saturating_add(step_ns),
            _ => self.time_ns.saturating_sub(step_ns),
        };
        let mut sack = SackBlocks::default();
        for block in 0..u32::from(options & 3) {
            let start = ack.wrapping_add(offset(v0, v1)).wrapping_add(block * 3000);
            sack.push(start, start.wrapping_add(u32::from(window) * 16));
        }
        let has = |bit: u8| options & bit != 0;
        let value = u32::from_be_bytes([v0, 0xff, v1, s1]);
        let ends = [endpoint(1, number), endpoint(2, 0)];
        TcpPacket {
            interface: u32::from(place >> 3 & 3),
            time_ns: self.time_ns,
            wire_bytes: payload_bytes.saturating_add(66),
            network: NetworkId::NONE,
            source: ends[side],
            destination: ends[1 - side],
            seq,
            ack,
            flags: TcpFlags(u16::from(flags) | u16::from(place >> 7) << 8),
            window: u16::from(window) << 8,
            payload_bytes,
            ecn: place >> 5 & 3,
            ip_id: has(4).then_some(id.into()),
            ttl: id,
            mss: has(8).then_some(u16::from_be_bytes([v0, v1])),
            window_scale: has(16).then_some(v0 & 15).filter(|shift| *shift <= 14),
            sack_permitted: has(32),
            timestamps: has(64).then_some((value, value.wrapping_sub(u32::from(t1)))),
            sack,
            is_marked_dropped: has(128) && id == 0,
            has_cut_options: false,
            checksum: Checksum::Unknown,
        }
    }
}

fn endpoint(host: u8, number: usize) -> Endpoint {
    Endpoint {
        address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)),
        port: 5000 + number as u16,
    }
}

fn check<S: PacketSource>(mut source: S, options: &AnalysisOptions)
where
    S::Error: std::fmt::Debug,
{
    let analysis = analyze(&mut source, options).expect("memory can be read");
    assert!(analysis.connections.num_rows() <= 2 * options.max_views);
    let rows: usize = analysis.segments.iter().map(|batch| batch.num_rows()).sum();
    assert!(rows <= options.max_segment_rows);
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    // Small limits, so that giving up views and rows is tested too.
    let options = AnalysisOptions {
        interval_ns: (choice & 1 != 0).then_some(1_000_000),
        series_bins: 8,
        segments: vec![0, 1, 2],
        max_segment_rows: 100,
        points: None,
        max_views: if choice & 2 != 0 { 3 } else { 1000 },
        max_view_bytes: if choice & 4 != 0 { 1 << 14 } else { 1 << 28 },
        ..AnalysisOptions::default()
    };
    match Reader::new(Box::new(Cursor::new(bytes.to_vec()))) {
        Ok(reader) => check(reader, &options),
        Err(_) => {
            let mut connections = Connections::default();
            let (facts, _) = bytes.as_chunks::<FACTS_BYTES>();
            let packets = facts.iter().map(|facts| connections.packet(*facts));
            check(PacketList(packets), &options);
        }
    }
});
