//! The TCP header of a packet on the path.

use dumbbell_wire::ip::{Ip, PROTOCOL_TCP};
use dumbbell_wire::tcp::{HEADER_BYTES, Tcp, TcpFlags};
use dumbbell_wire::tcp_options::SackBlocks;

/// The parts of a TCP segment that the path needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: TcpFlags,
    /// Bytes of the IP header, where TCP's begins.
    pub(crate) ip_header_bytes: usize,
    /// IP and TCP headers, bytes.
    pub(crate) header_bytes: usize,
    pub(crate) payload_bytes: u32,
    /// Blocks of the SACK option (RFC 2018).
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
        let segment = &packet[ip.header_bytes..];
        let tcp = Tcp::new(segment)?;
        let tcp_header_bytes = tcp.header_bytes();
        if tcp_header_bytes < HEADER_BYTES || tcp_header_bytes > segment.len() {
            return None;
        }
        Some(Self {
            source_port: tcp.source_port(),
            destination_port: tcp.destination_port(),
            sequence: tcp.sequence(),
            acknowledgment: tcp.acknowledgment(),
            flags: tcp.flags(),
            ip_header_bytes: ip.header_bytes,
            header_bytes: ip.header_bytes + tcp_header_bytes,
            payload_bytes: (segment.len() - tcp_header_bytes) as u32,
            sack: tcp.options().sack_blocks(),
        })
    }
}

/// Whether sequence number `a` comes before `b` (RFC 9293 §3.4: modulo 2³²).
#[inline]
pub(crate) fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::test_packets::{segment, v6_header};

    /// An ACK with options NOP NOP timestamps NOP NOP SACK(2 blocks), and 3 bytes of payload.
    fn ack_with_sack() -> Vec<u8> {
        let mut options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 18];
        for edge in [5000_u32, 6448, 1000, 2448] {
            options.extend(edge.to_be_bytes());
        }
        segment(TcpFlags::ACK, &options, &[7, 8, 9])
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
                source_port: 10_000,
                destination_port: 5001,
                sequence: 0x0102_0304,
                acknowledgment: 0x0506_0708,
                flags: TcpFlags(TcpFlags::ACK),
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
        let mut v6 = v6_header(0, PROTOCOL_TCP, 55);
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
    }
}
