//! Writes frames of datagrams: Ethernet, IPv4 and UDP headers.

use std::net::SocketAddrV4;

use dumbbell_wire::ip::PROTOCOL_UDP;
use dumbbell_wire::ipv4::Ipv4Fields;
use dumbbell_wire::udp;

use crate::frame::{packet_payload, write_packet};

/// A UDP datagram (RFC 768) in an IPv4 packet in an Ethernet frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramFacts {
    /// Where it comes from.
    pub source: SocketAddrV4,
    /// Where it goes.
    pub destination: SocketAddrV4,
    /// Identification of the IP packet.
    pub ip_id: u16,
    /// Differentiated services codepoint of the IP header: 6 bits (RFC 2474).
    pub dscp: u8,
    /// ECN field of the IP header, its two lowest bits.
    pub ecn: u8,
    /// The payload's first byte, if it is known; zeros follow.
    pub first_byte: Option<u8>,
    /// The payload; at most what an IPv4 packet holds.
    pub payload_bytes: u16,
}

impl DatagramFacts {
    /// Replaces the content of `frame` by the headers and the first byte, as
    /// [`FrameFacts::write_headers`](crate::FrameFacts::write_headers) does.
    pub fn write_headers(&self, frame: &mut Vec<u8>) {
        let payload_bytes = packet_payload(udp::HEADER_BYTES, self.payload_bytes);
        let ports = [self.source.port(), self.destination.port()];
        let header = udp::header(ports, payload_bytes - udp::HEADER_BYTES as u16);
        let mut shown = [0; udp::HEADER_BYTES + 1];
        shown[..udp::HEADER_BYTES].copy_from_slice(&header);
        let mut shown_bytes = udp::HEADER_BYTES;
        if let Some(byte) = self.shown() {
            shown[udp::HEADER_BYTES] = byte;
            shown_bytes += 1;
        }
        let ip = Ipv4Fields {
            source: *self.source.ip(),
            destination: *self.destination.ip(),
            tos: self.dscp << 2 | self.ecn & 0b11,
            identification: self.ip_id,
            protocol: PROTOCOL_UDP,
            payload_bytes,
        };
        write_packet(frame, &ip, &shown[..shown_bytes]);
    }

    /// Payload behind the first byte, or all of it.
    pub fn zero_bytes(&self) -> u16 {
        self.payload_bytes - u16::from(self.shown().is_some())
    }

    fn shown(&self) -> Option<u8> {
        self.first_byte.filter(|_| self.payload_bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_reads_back_with_right_checksums() {
        let facts = DatagramFacts {
            source: SocketAddrV4::new([10, 0, 0, 1].into(), 10_000),
            destination: SocketAddrV4::new([10, 0, 0, 2].into(), 5001),
            ip_id: 7,
            dscp: 46,
            ecn: 0,
            first_byte: Some(0x60),
            payload_bytes: 160,
        };
        let mut frame = Vec::new();
        facts.write_headers(&mut frame);
        assert_eq!(frame.len(), 14 + 20 + 8 + 1);
        frame.resize(frame.len() + usize::from(facts.zero_bytes()), 0);
        let read = etherparse::SlicedPacket::from_ethernet(&frame).expect("a frame");
        let Some(etherparse::NetSlice::Ipv4(ip)) = &read.net else {
            panic!("{read:?}");
        };
        assert_eq!(ip.header().dcp().value(), 46);
        let Some(etherparse::TransportSlice::Udp(udp)) = read.transport else {
            panic!("{read:?}");
        };
        assert_eq!((udp.source_port(), udp.destination_port()), (10_000, 5001));
        assert_eq!((udp.payload().len(), udp.payload()[0]), (160, 0x60));
        let expected = udp.to_header().calc_checksum_ipv4_raw(
            facts.source.ip().octets(),
            facts.destination.ip().octets(),
            udp.payload(),
        );
        assert_eq!(Ok(udp.checksum()), expected);
    }
}
