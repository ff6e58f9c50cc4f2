//! TCP headers as they are on the wire (RFC 9293), and the Internet's checksum.

use dumbbell_capture::SackBlocks;

use crate::packet::ip::{Ip, PROTOCOL_TCP};

/// UDP's header, bytes (RFC 768).
pub(crate) const UDP_HEADER_BYTES: usize = 8;

/// Smallest TCP header, bytes.
const MIN_HEADER_BYTES: usize = 20;

/// TCP's flag bits.
pub(crate) mod tcp_flag {
    pub(crate) const FIN: u8 = 0x01;
    pub(crate) const SYN: u8 = 0x02;
    pub(crate) const RST: u8 = 0x04;
    pub(crate) const PSH: u8 = 0x08;
    pub(crate) const ACK: u8 = 0x10;
    pub(crate) const ECE: u8 = 0x40;
    pub(crate) const CWR: u8 = 0x80;
}

/// The parts of a TCP segment that the path needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: u8,
    /// Bytes of the IP header, where TCP's begins.
    pub(crate) ip_header_bytes: usize,
    /// IP and TCP headers, bytes.
    pub(crate) header_bytes: usize,
    pub(crate) payload_bytes: u32,
    /// Of the SACK option (RFC 2018).
    pub(crate) sack: SackBlocks,
}

impl Segment {
    /// Reads the TCP header of `packet`, an IP packet; `None` if it is not complete.
    #[inline]
    pub(crate) fn parse(packet: &[u8]) -> Option<Self> {
        Self::behind(&Ip::parse(packet)?, packet)
    }

    /// Reads the TCP header behind the IP header `ip` of `packet`.
    #[inline]
    pub(crate) fn behind(ip: &Ip, packet: &[u8]) -> Option<Self> {
        if ip.protocol != PROTOCOL_TCP || ip.is_later_fragment {
            return None;
        }
        let tcp = &packet[ip.header_bytes..];
        if tcp.len() < MIN_HEADER_BYTES {
            return None;
        }
        let tcp_header_bytes = usize::from(tcp[12] >> 4) * 4;
        if tcp_header_bytes < MIN_HEADER_BYTES || tcp_header_bytes > tcp.len() {
            return None;
        }
        Some(Self {
            source_port: read_u16(tcp, 0),
            destination_port: read_u16(tcp, 2),
            sequence: read_u32(tcp, 4),
            acknowledgment: read_u32(tcp, 8),
            flags: tcp[13],
            ip_header_bytes: ip.header_bytes,
            header_bytes: ip.header_bytes + tcp_header_bytes,
            payload_bytes: (tcp.len() - tcp_header_bytes) as u32,
            sack: sack_blocks(&tcp[MIN_HEADER_BYTES..tcp_header_bytes]),
        })
    }
}

/// The blocks of the SACK option among `options`.
#[inline]
fn sack_blocks(mut options: &[u8]) -> SackBlocks {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const SACK: u8 = 5;
    let mut blocks = SackBlocks::default();
    loop {
        match *options {
            [] | [END, ..] | [_] => return blocks,
            [NO_OPERATION, ref rest @ ..] => options = rest,
            [kind, bytes, ..] => {
                let bytes = usize::from(bytes);
                if bytes < 2 || bytes > options.len() {
                    return blocks;
                }
                if kind == SACK {
                    for block in options[2..bytes].chunks_exact(8) {
                        blocks.push(read_u32(block, 0), read_u32(block, 4));
                    }
                }
                options = &options[bytes..];
            }
        }
    }
}

/// Whether sequence number `a` comes before `b` (RFC 9293 §3.4: modulo 2³²).
#[inline]
pub(crate) fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Checksum of an IPv4 header whose checksum field is left out.
#[inline]
pub(crate) fn ipv4_header_checksum(header: &[u8]) -> u16 {
    const CHECKSUM: usize = 10;
    internet_checksum([&header[..CHECKSUM], &header[CHECKSUM + 2..]])
}

/// The Internet's checksum (RFC 1071) of parts that follow one another; all but the last have an even
/// number of bytes, 64 kB at most together.
#[inline]
pub(crate) fn internet_checksum<const PARTS: usize>(parts: [&[u8]; PARTS]) -> u16 {
    let mut sum = 0_u32;
    for part in parts {
        let (words, odd) = part.as_chunks();
        sum += (words.iter())
            .map(|&word| u32::from(u16::from_be_bytes(word)))
            .sum::<u32>();
        // An odd byte counts as if a zero followed it.
        sum += odd.first().map_or(0, |&byte| u32::from(byte) << 8);
    }
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// The big-endian number at `offset`.
#[inline]
pub(crate) fn read_u16(bytes: &[u8], offset: usize) -> u16 {
    u16::from_be_bytes([bytes[offset], bytes[offset + 1]])
}

/// The big-endian number at `offset`.
#[inline]
pub(crate) fn read_u32(bytes: &[u8], offset: usize) -> u32 {
    u32::from_be_bytes([
        bytes[offset],
        bytes[offset + 1],
        bytes[offset + 2],
        bytes[offset + 3],
    ])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An ACK with options NOP NOP timestamps NOP NOP SACK(2 blocks), and 3 bytes of payload.
    fn ack_with_sack() -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 75, 0, 1, 0x40, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 2, 10, 0, 0, 1]);
        packet.extend([0x13, 0x89, 0x27, 0x10]);
        packet.extend(100_u32.to_be_bytes());
        packet.extend(0xffff_fff0_u32.to_be_bytes());
        packet.extend([13 << 4, tcp_flag::ACK, 0, 1, 0, 0, 0, 0]);
        packet.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 18]);
        for edge in [5000_u32, 6448, 1000, 2448] {
            packet.extend(edge.to_be_bytes());
        }
        packet.extend([7, 8, 9]);
        packet
    }

    #[test]
    fn reads_ports_numbers_and_sack_blocks() {
        let segment = Segment::parse(&ack_with_sack()).expect("a whole segment");
        let mut sack = SackBlocks::default();
        sack.push(5000, 6448);
        sack.push(1000, 2448);
        assert_eq!(
            segment,
            Segment {
                source_port: 5001,
                destination_port: 10_000,
                sequence: 100,
                acknowledgment: 0xffff_fff0,
                flags: tcp_flag::ACK,
                ip_header_bytes: 20,
                header_bytes: 72,
                payload_bytes: 3,
                sack,
            }
        );
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = ack_with_sack();
        packet[7] = 1;
        assert_eq!(Segment::parse(&packet), None);
    }

    #[test]
    fn a_segment_over_ipv6_says_the_same() {
        let v4 = ack_with_sack();
        let mut v6 = crate::packet::ip::tests::v6_header(0, PROTOCOL_TCP, 55);
        v6.extend(&v4[20..]);
        let expected = Segment {
            ip_header_bytes: 40,
            header_bytes: 92,
            ..Segment::parse(&v4).expect("a whole segment")
        };
        assert_eq!(Segment::parse(&v6), Some(expected));
        assert_eq!(Segment::parse(&v6[..91]), None, "cut");
    }

    #[test]
    fn sequence_numbers_wrap_around() {
        assert!(is_before(0xffff_fff0, 5));
        assert!(!is_before(5, 0xffff_fff0));
        assert!(!is_before(7, 7));
    }

    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xde, 0xad, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(ipv4_header_checksum(&header), 0xb861);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(packet in prop::collection::vec(any::<u8>(), 0..120)) {
            if let Some(segment) = Segment::parse(&packet) {
                prop_assert_eq!(
                    segment.header_bytes + segment.payload_bytes as usize,
                    packet.len()
                );
            }
        }

        #[test]
        fn a_truncated_segment_is_none_or_shorter(bytes in 0_usize..75) {
            let whole = ack_with_sack();
            let segment = Segment::parse(&whole[..bytes]);
            prop_assert_eq!(segment.is_some(), bytes >= 72);
        }

        #[test]
        fn damaged_options_never_panic(options in prop::collection::vec(any::<u8>(), 0..40)) {
            sack_blocks(&options);
        }
    }
}
