//! A connection with everything in it, frame by frame.

use dumbbell_capture::TcpFlags;

use crate::reader::frames::Segment;

const MSS: u32 = 100;

/// What the receiver reports with an ACK: a hole, or a segment that arrived twice.
fn acknowledgment(ack: u32, sack: &[(u32, u32)]) -> Vec<u8> {
    let mut options = Vec::new();
    if !sack.is_empty() {
        options.extend([1, 1, 5, 2 + 8 * sack.len() as u8]);
        for edge in sack.iter().flat_map(|&(start, end)| [start, end]) {
            options.extend(edge.to_be_bytes());
        }
    }
    let segment = Segment {
        seq: 501,
        ack,
        is_reply: true,
        options,
        ..Segment::default()
    };
    segment.ethernet()
}

fn data(number: u32) -> Vec<u8> {
    let segment = Segment {
        seq: 1001 + number * MSS,
        ack: 501,
        payload_bytes: MSS as usize,
        ..Segment::default()
    };
    segment.ethernet()
}

fn control(flags: u16, seq: u32, ack: u32, is_reply: bool) -> Vec<u8> {
    let options = match flags & TcpFlags::SYN {
        0 => Vec::new(),
        _ => vec![2, 4, 0, MSS as u8, 4, 2, 1, 3, 3, 7],
    };
    let segment = Segment {
        seq,
        ack,
        is_reply,
        flags,
        options,
        ..Segment::default()
    };
    segment.ethernet()
}

/// Handshake, ten segments of which the fourth is lost, SACK, fast retransmission, one unnecessary
/// retransmission and the D-SACK for it, two segments in the wrong order, close.
pub(crate) fn conversation() -> Vec<Vec<u8>> {
    let start = |number: u32| 1001 + number * MSS;
    let mut frames = vec![
        control(TcpFlags::SYN, 1000, 0, false),
        control(TcpFlags::SYN | TcpFlags::ACK, 500, 1001, true),
        control(TcpFlags::ACK, 1001, 501, false),
    ];
    frames.extend((0..3).map(data));
    frames.push(acknowledgment(start(3), &[]));
    frames.extend((4..8).map(data));
    frames.extend((5..9).map(|end| acknowledgment(start(3), &[(start(4), start(end))])));
    frames.push(data(3));
    frames.push(acknowledgment(start(8), &[]));
    frames.push(data(3));
    frames.push(acknowledgment(start(8), &[(start(3), start(4))]));
    frames.extend([data(9), data(8)]);
    frames.push(acknowledgment(start(10), &[]));
    let (end, fin) = (start(10), TcpFlags::FIN | TcpFlags::ACK);
    frames.push(control(fin, end, 501, false));
    frames.push(control(fin, 501, end + 1, true));
    frames.push(control(TcpFlags::ACK, end + 1, 502, false));
    frames
}
