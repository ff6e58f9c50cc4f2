//! A capture read back by tests, without any of the code that wrote it.

use std::path::Path;

use dumbbell_net::ETHERNET_HEADER_BYTES;

use crate::hosts::host::{FIRST_FLOW_PORT, RECEIVER_PORT};
use crate::packet::segment::{Segment, is_before};

/// A packet in the file.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) point: String,
    /// Since the Unix epoch.
    pub(crate) time_ns: u64,
    frame: Vec<u8>,
    pub(crate) wire_bytes: usize,
    pub(crate) is_dropped: bool,
}

impl Captured {
    pub(crate) fn packet(&self) -> &[u8] {
        &self.frame[ETHERNET_HEADER_BYTES as usize..]
    }

    /// The packet with the payload that was cut off.
    pub(crate) fn whole_packet(&self) -> Vec<u8> {
        let mut packet = self.packet().to_vec();
        packet.resize(self.wire_bytes - ETHERNET_HEADER_BYTES as usize, 0);
        packet
    }

    pub(crate) fn segment(&self) -> Segment {
        Segment::parse(&self.whole_packet()).expect("nothing but TCP is captured")
    }

    /// The flow that it belongs to, of two in each group.
    pub(crate) fn flow(&self) -> usize {
        let segment = self.segment();
        let port = segment.source_port.max(segment.destination_port);
        usize::from(self.packet()[14]) * 2 + usize::from(port - FIRST_FLOW_PORT)
    }

    pub(crate) fn is_from_sender(&self) -> bool {
        self.segment().destination_port == RECEIVER_PORT
    }

    pub(crate) fn is_data(&self) -> bool {
        self.segment().payload_bytes > 0
    }
}

/// The packets of a file with one section, little-endian.
pub(crate) fn read(path: &Path) -> Vec<Captured> {
    const INTERFACE: u32 = 1;
    const PACKET: u32 = 6;
    let file = std::fs::read(path).expect("there is a file");
    let (mut points, mut packets) = (Vec::new(), Vec::new());
    let mut rest = &file[..];
    while !rest.is_empty() {
        let (block, after) = rest.split_at(u32_at(rest, 4) as usize);
        let body = &block[8..block.len() - 4];
        match u32_at(block, 0) {
            INTERFACE => {
                let name = option(&body[8..], 2).expect("interfaces have names");
                points.push(String::from_utf8(name.to_vec()).expect("a name"));
            }
            PACKET => {
                let kept_bytes = u32_at(body, 12) as usize;
                let options = &body[20 + kept_bytes.next_multiple_of(4)..];
                packets.push(Captured {
                    point: points[u32_at(body, 0) as usize].clone(),
                    time_ns: u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)),
                    frame: body[20..20 + kept_bytes].to_vec(),
                    wire_bytes: u32_at(body, 16) as usize,
                    is_dropped: option(options, 1)
                        .is_some_and(|comment| comment.starts_with(b"dropped by ")),
                });
            }
            _ => {}
        }
        rest = after;
    }
    packets
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn option(mut options: &[u8], code: u16) -> Option<&[u8]> {
    while options.len() >= 4 {
        let found = u16::from_le_bytes([options[0], options[1]]);
        let bytes = usize::from(u16::from_le_bytes([options[2], options[3]]));
        if found == code {
            return options.get(4..4 + bytes);
        }
        options = options.get(4 + bytes.next_multiple_of(4)..)?;
    }
    None
}

/// RTT samples of a flow as its sender's host shows them: of each ACK, the age of the newest packet
/// that it newly acknowledges, cumulatively or by SACK, and that was sent once.
pub(crate) fn rtts_us(at_sender: &[&Captured]) -> Vec<u64> {
    struct Sent {
        sequence: u32,
        end_sequence: u32,
        time_ns: u64,
        is_sacked: bool,
        is_sent_again: bool,
    }
    let mut in_flight: Vec<Sent> = Vec::new();
    // After the highest byte sent. What is sent again may be acknowledged already, when the machine stood still.
    let mut next_sequence = None;
    let mut rtts_us = Vec::new();
    for packet in at_sender {
        let segment = packet.segment();
        let (sequence, end_sequence) = (
            segment.sequence,
            segment.sequence.wrapping_add(segment.payload_bytes),
        );
        if packet.is_data() {
            let is_new = next_sequence.is_none_or(|next| !is_before(sequence, next));
            for sent in &mut in_flight {
                if is_before(sequence, sent.end_sequence) && is_before(sent.sequence, end_sequence)
                {
                    sent.is_sent_again = true;
                }
            }
            if is_new {
                next_sequence = Some(end_sequence);
                in_flight.push(Sent {
                    sequence,
                    end_sequence,
                    time_ns: packet.time_ns,
                    is_sacked: false,
                    is_sent_again: false,
                });
            }
        } else if !packet.is_from_sender() {
            let mut newest_ns = None;
            for sent in &mut in_flight {
                let is_acknowledged = !is_before(segment.acknowledgment, sent.end_sequence);
                let is_sacked = segment.sack.as_slice().iter().any(|&(left, right)| {
                    !is_before(sent.sequence, left) && !is_before(right, sent.end_sequence)
                });
                if (is_acknowledged || is_sacked) && !sent.is_sacked && !sent.is_sent_again {
                    newest_ns = newest_ns.max(Some(sent.time_ns));
                }
                sent.is_sacked |= is_sacked;
            }
            in_flight.retain(|sent| is_before(segment.acknowledgment, sent.end_sequence));
            rtts_us.extend(newest_ns.map(|sent_ns| (packet.time_ns - sent_ns) / 1000));
        }
    }
    rtts_us
}
