//! Frames to put into captures, built byte by byte.

use dumbbell_capture::TcpFlags;

pub(crate) const ETHERNET: u32 = 1;

/// A TCP segment.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Back from 10.0.0.2 to 10.0.0.1.
    pub(crate) is_reply: bool,
    pub(crate) flags: u16,
    pub(crate) options: Vec<u8>,
    pub(crate) payload_bytes: usize,
}

impl Default for Segment {
    fn default() -> Self {
        Self {
            seq: 1000,
            ack: 77,
            is_reply: false,
            flags: TcpFlags::ACK,
            options: Vec::new(),
            payload_bytes: 0,
        }
    }
}

impl Segment {
    /// From port 40000 to port 443 with a window of 512.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let header_words = 5 + self.options.len().div_ceil(4) as u8;
        let [flags_high, flags_low] = self.flags.to_be_bytes();
        let mut bytes = Vec::new();
        let (source_port, destination_port) = match self.is_reply {
            true => (443_u16, 40_000_u16),
            false => (40_000, 443),
        };
        bytes.extend(source_port.to_be_bytes());
        bytes.extend(destination_port.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend([header_words << 4 | flags_high, flags_low]);
        bytes.extend(512_u16.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(&self.options);
        bytes.resize(usize::from(header_words) * 4, 0);
        bytes.resize(bytes.len() + self.payload_bytes, 0x5a);
        bytes
    }

    pub(crate) fn ipv4(&self) -> Vec<u8> {
        let mut packet = ipv4(6, &[], &self.bytes());
        if self.is_reply {
            packet[12..20].rotate_left(4);
        }
        packet
    }

    pub(crate) fn ethernet(&self) -> Vec<u8> {
        ethernet(0x0800, &self.ipv4())
    }
}

/// A data segment of this many bytes in an Ethernet frame.
pub(crate) fn data(seq: u32, payload_bytes: usize) -> Vec<u8> {
    let segment = Segment {
        seq,
        payload_bytes,
        ..Segment::default()
    };
    segment.ethernet()
}

/// From 10.0.0.1 to 10.0.0.2, identification 0x1234, TTL 63, ECT(0).
pub(crate) fn ipv4(protocol: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header_words = 5 + options.len().div_ceil(4) as u8;
    let header_bytes = usize::from(header_words) * 4;
    let total_bytes = (header_bytes + payload.len()) as u16;
    let mut bytes = vec![0x40 | header_words, 0b10];
    bytes.extend(total_bytes.to_be_bytes());
    bytes.extend([0x12, 0x34, 0x40, 0, 63, protocol, 0, 0]);
    bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(options);
    bytes.resize(header_bytes, 0);
    bytes.extend(payload);
    bytes
}

/// From 2001:db8::1 to 2001:db8::2, hop limit 62, CE; `payload` begins with a header of kind `next_header`.
pub(crate) fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0x30, 0, 0];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next_header, 62]);
    for last in [1, 2] {
        bytes.extend([
            0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last,
        ]);
    }
    bytes.extend(payload);
    bytes
}

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(payload);
    bytes
}
