//! The result of one read of a TUN device: a packet, or a super-packet that stands for several.
//!
//! With segmentation offload the kernel passes up to 64 kB of payload with one header, and the size
//! of its segments in a virtio-net header. The path does not have such packets: a super-packet is
//! split where it enters, as the network card would do.

use std::net::Ipv4Addr;

use crate::packet::wire::{
    Ipv4, PROTOCOL_TCP, PROTOCOL_UDP, Segment, ipv4_header_checksum, read_u16, read_u32, tcp_flag,
};

/// Size of the virtio-net header in front of every packet of the device
/// (Virtual I/O Device 1.2 §5.1.6, without `num_buffers`).
pub(crate) const VNET_HEADER_BYTES: usize = 10;

/// Largest read: the largest IPv4 packet after its virtio-net header.
pub(crate) const MAX_READ_BYTES: usize = VNET_HEADER_BYTES + 65_535;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the transport checksum is still to be filled in. On a packet that
/// the kernel receives it means that it need not be verified.
pub(super) const NEEDS_CSUM: u8 = 1;

/// `VIRTIO_NET_HDR_GSO_NONE` and `…_TCPV4`; the top bit: CWR is set.
const GSO_NONE: u8 = 0;
pub(super) const GSO_TCPV4: u8 = 1;
const GSO_ECN: u8 = 0x80;

/// Where TCP's checksum is, from the start of its header.
pub(super) const TCP_CHECKSUM_OFFSET: u16 = 16;

/// Where fields are in an IPv4 and in a TCP header.
const IPV4_TOTAL_LENGTH: usize = 2;
const IPV4_IDENTIFICATION: usize = 4;
const IPV4_CHECKSUM: usize = 10;
const TCP_SEQUENCE: usize = 4;
const TCP_FLAGS: usize = 13;

/// A read that does not belong on the path: neither TCP nor UDP over IPv4, not for the other host,
/// truncated, or an offload that was not requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign;

/// One read, ready to be split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperPacket<'a> {
    vnet_header: &'a [u8],
    /// The IPv4 packet.
    bytes: &'a [u8],
    /// The packet's TCP header, if it is TCP.
    pub(crate) segment: Option<Segment>,
    ip_header_bytes: usize,
    /// Of each packet except the last; 0 when there is nothing to split.
    payload_bytes_each: usize,
    packets: usize,
}

impl<'a> SuperPacket<'a> {
    /// Parses `read`, a virtio-net header followed by an IPv4 packet for `destination`.
    #[inline]
    pub(crate) fn parse(read: &'a [u8], destination: Ipv4Addr) -> Result<Self, Foreign> {
        let (vnet_header, bytes) = read.split_at_checked(VNET_HEADER_BYTES).ok_or(Foreign)?;
        let ip = Ipv4::parse(bytes).ok_or(Foreign)?;
        if ip.destination != destination {
            return Err(Foreign);
        }
        let segment = match ip.protocol {
            PROTOCOL_TCP => Segment::parse(bytes),
            PROTOCOL_UDP => None,
            _ => return Err(Foreign),
        };
        let (payload_bytes_each, packets) = match (vnet_header[1] & !GSO_ECN, segment) {
            (GSO_NONE, _) => (0, 1),
            (GSO_TCPV4, Some(segment)) => {
                let each = usize::from(u16::from_ne_bytes([vnet_header[4], vnet_header[5]]));
                let payload_bytes = segment.payload_bytes as usize;
                if each == 0 {
                    return Err(Foreign);
                }
                (each, payload_bytes.div_ceil(each).max(1))
            }
            _ => return Err(Foreign),
        };
        Ok(Self {
            vnet_header,
            bytes,
            segment,
            ip_header_bytes: ip.header_bytes,
            payload_bytes_each,
            packets,
        })
    }

    /// How many packets it stands for, at least one.
    #[inline]
    pub(crate) fn packets(&self) -> usize {
        self.packets
    }

    /// Source and destination port, of TCP or UDP; `None` of a later fragment, or a truncated packet.
    #[inline]
    pub(crate) fn ports(&self) -> Option<[u16; 2]> {
        if let Some(segment) = &self.segment {
            return Some([segment.source_port, segment.destination_port]);
        }
        let is_whole = Ipv4::parse(self.bytes)
            .is_some_and(|ip| ip.protocol == PROTOCOL_UDP && !ip.is_later_fragment);
        let ports = self
            .bytes
            .get(self.ip_header_bytes..self.ip_header_bytes + 4)?;
        is_whole.then(|| [read_u16(ports, 0), read_u16(ports, 2)])
    }

    /// The segment of packet `index`, with its own sequence number and payload.
    #[inline]
    pub(crate) fn segment_of(&self, index: usize) -> Option<Segment> {
        let mut segment = self.segment?;
        if self.packets > 1 {
            let (start, end) = self.payload_range(&segment, index);
            segment.sequence = segment.sequence.wrapping_add(start as u32);
            segment.payload_bytes = (end - start) as u32;
        }
        Some(segment)
    }

    /// Writes packet `index`, preceded by its virtio-net header, to the start of `out`; returns the
    /// number of bytes, or `None` if `out` is too small.
    #[inline]
    pub(crate) fn write(&self, index: usize, out: &mut [u8]) -> Option<usize> {
        match self.segment {
            Some(segment) if self.payload_bytes_each > 0 => self.write_split(&segment, index, out),
            _ => {
                let total = VNET_HEADER_BYTES + self.bytes.len();
                let out = out.get_mut(..total)?;
                out[..VNET_HEADER_BYTES].copy_from_slice(self.vnet_header);
                out[VNET_HEADER_BYTES..].copy_from_slice(self.bytes);
                Some(total)
            }
        }
    }

    #[inline]
    fn payload_range(&self, segment: &Segment, index: usize) -> (usize, usize) {
        let start = index * self.payload_bytes_each;
        let end = (start + self.payload_bytes_each).min(segment.payload_bytes as usize);
        (start, end)
    }

    #[inline]
    fn write_split(&self, segment: &Segment, index: usize, out: &mut [u8]) -> Option<usize> {
        let (start, end) = self.payload_range(segment, index);
        let header_bytes = segment.header_bytes;
        let packet_bytes = header_bytes + end - start;
        let out = out.get_mut(..VNET_HEADER_BYTES + packet_bytes)?;
        let (vnet_header, packet) = out.split_at_mut(VNET_HEADER_BYTES);

        vnet_header.fill(0);
        vnet_header[0] = NEEDS_CSUM;
        vnet_header[6..8].copy_from_slice(&(self.ip_header_bytes as u16).to_ne_bytes());
        vnet_header[8..10].copy_from_slice(&TCP_CHECKSUM_OFFSET.to_ne_bytes());

        packet[..header_bytes].copy_from_slice(&self.bytes[..header_bytes]);
        packet[header_bytes..]
            .copy_from_slice(&self.bytes[header_bytes + start..header_bytes + end]);

        let (ip, tcp) = packet.split_at_mut(self.ip_header_bytes);
        put_u16(ip, IPV4_TOTAL_LENGTH, packet_bytes as u16);
        let identification = read_u16(ip, IPV4_IDENTIFICATION).wrapping_add(index as u16);
        put_u16(ip, IPV4_IDENTIFICATION, identification);
        let checksum = ipv4_header_checksum(ip);
        put_u16(ip, IPV4_CHECKSUM, checksum);

        let sequence = read_u32(tcp, TCP_SEQUENCE).wrapping_add(start as u32);
        tcp[TCP_SEQUENCE..TCP_SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
        if index > 0 {
            tcp[TCP_FLAGS] &= !tcp_flag::CWR;
        }
        if index + 1 < self.packets {
            tcp[TCP_FLAGS] &= !(tcp_flag::FIN | tcp_flag::PSH);
        }
        Some(VNET_HEADER_BYTES + packet_bytes)
    }
}

#[inline]
fn put_u16(bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    /// A super-packet of `payload_bytes` in segments of `each`, with timestamps.
    pub(in crate::packet) fn super_packet(
        payload_bytes: usize,
        each: u16,
        flags: u8,
        id: u16,
        sequence: u32,
    ) -> Vec<u8> {
        let mut read = vec![NEEDS_CSUM, GSO_TCPV4];
        read.extend(52_u16.to_ne_bytes());
        read.extend(each.to_ne_bytes());
        read.extend(20_u16.to_ne_bytes());
        read.extend(TCP_CHECKSUM_OFFSET.to_ne_bytes());
        let mut ip = vec![0x45, 0];
        ip.extend(((52 + payload_bytes) as u16).to_be_bytes());
        ip.extend(id.to_be_bytes());
        ip.extend([0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let checksum = ipv4_header_checksum(&ip);
        put_u16(&mut ip, IPV4_CHECKSUM, checksum);
        read.extend(ip);
        read.extend([0x27, 0x10, 0x13, 0x89]);
        read.extend(sequence.to_be_bytes());
        read.extend(1_u32.to_be_bytes());
        read.extend([8 << 4, flags, 0, 1, 0xab, 0xcd, 0, 0]);
        read.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        read.extend((0..payload_bytes).map(|byte| (byte % 251) as u8));
        read
    }

    pub(in crate::packet) fn split(read: &[u8]) -> Vec<Vec<u8>> {
        let parsed = SuperPacket::parse(read, RECEIVER).expect("a packet of ours");
        (0..parsed.packets())
            .map(|index| {
                let mut out = vec![0xee; VNET_HEADER_BYTES + 65_535];
                let bytes = parsed.write(index, &mut out).expect("it fits");
                out.truncate(bytes);
                out
            })
            .collect()
    }

    #[test]
    fn a_datagram_has_ports_and_a_later_fragment_has_none() {
        let mut read = vec![0; VNET_HEADER_BYTES];
        read.extend([0x45, 0, 0, 32, 0, 7, 0, 0, 64, 17, 0, 0]);
        read.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        read.extend([0x27, 0x10, 0x13, 0x89, 0, 12, 0, 0, 1, 2, 3, 4]);
        let ports = |read: &[u8]| SuperPacket::parse(read, RECEIVER).map(|packet| packet.ports());
        assert_eq!(ports(&read), Ok(Some([10_000, 5001])));
        assert_eq!(ports(&read[..VNET_HEADER_BYTES + 22]), Ok(None), "cut");
        read[VNET_HEADER_BYTES + 7] = 3;
        assert_eq!(ports(&read), Ok(None));
        let segment = super_packet(100, 100, 0x10, 1, 1);
        assert_eq!(ports(&segment), Ok(Some([10_000, 5001])));
    }

    #[test]
    fn three_segments_as_a_network_card_would_send_them() {
        let flags = tcp_flag::ACK | tcp_flag::PSH | tcp_flag::FIN | tcp_flag::CWR;
        let packets = split(&super_packet(2500, 1000, flags, 0xffff, 0xffff_ff00));
        let lengths: Vec<_> = packets.iter().map(Vec::len).collect();
        assert_eq!(lengths, [1062, 1062, 562]);
        let facts: Vec<_> = packets
            .iter()
            .map(|packet| {
                let ip = &packet[VNET_HEADER_BYTES..];
                let segment = Segment::parse(ip).expect("a whole segment");
                (
                    read_u16(ip, IPV4_IDENTIFICATION),
                    segment.sequence,
                    segment.flags,
                )
            })
            .collect();
        assert_eq!(
            facts,
            [
                (0xffff, 0xffff_ff00, tcp_flag::ACK | tcp_flag::CWR),
                (0, 0x0000_02e8, tcp_flag::ACK),
                (
                    1,
                    0x0000_06d0,
                    tcp_flag::ACK | tcp_flag::PSH | tcp_flag::FIN
                ),
            ]
        );
    }

    #[test]
    fn what_is_not_a_super_packet_passes_unchanged() {
        let mut read = super_packet(100, 0, tcp_flag::ACK, 7, 9);
        read[1] = GSO_NONE;
        assert_eq!(split(&read), [read.clone()]);
    }

    #[test]
    fn an_offload_that_was_not_requested_is_foreign() {
        let mut read = super_packet(100, 50, tcp_flag::ACK, 7, 9);
        read[1] = 4;
        assert_eq!(SuperPacket::parse(&read, RECEIVER).err(), Some(Foreign));
        assert_eq!(
            SuperPacket::parse(&read[..5], RECEIVER).err(),
            Some(Foreign)
        );
        read[1] = GSO_TCPV4;
        read[4..6].fill(0);
        assert_eq!(SuperPacket::parse(&read, RECEIVER).err(), Some(Foreign));
    }

    #[test]
    fn what_is_for_another_host_or_neither_tcp_nor_udp_is_foreign() {
        const ICMP: u8 = 1;
        let mut read = super_packet(100, 0, tcp_flag::ACK, 7, 9);
        read[1] = GSO_NONE;
        assert!(SuperPacket::parse(&read, RECEIVER).is_ok());
        let other = SuperPacket::parse(&read, Ipv4Addr::new(10, 0, 0, 3));
        assert_eq!(other.err(), Some(Foreign));
        read[VNET_HEADER_BYTES + 9] = ICMP;
        assert_eq!(SuperPacket::parse(&read, RECEIVER).err(), Some(Foreign));
    }

    #[test]
    fn a_packet_that_does_not_fit_is_refused() {
        let read = super_packet(2500, 1000, tcp_flag::ACK, 7, 9);
        let parsed = SuperPacket::parse(&read, RECEIVER).expect("a packet of ours");
        assert_eq!(parsed.write(0, &mut [0; 1061]), None);
    }

    proptest! {
        #[test]
        fn payload_numbers_and_lengths_are_conserved(
            payload_bytes in 1_usize..40_000,
            each in 1_u16..1900,
            id in any::<u16>(),
            sequence in any::<u32>(),
        ) {
            prop_assume!(payload_bytes / usize::from(each) < 2000);
            let read = super_packet(payload_bytes, each, tcp_flag::ACK | tcp_flag::PSH, id, sequence);
            let parsed = SuperPacket::parse(&read, RECEIVER).expect("a packet of ours");
            let mut payload = Vec::new();
            for (index, packet) in split(&read).iter().enumerate() {
                let (vnet_header, ip) = packet.split_at(VNET_HEADER_BYTES);
                prop_assert_eq!(vnet_header[..2].to_vec(), vec![NEEDS_CSUM, GSO_NONE]);
                let segment = Segment::parse(ip).expect("a whole segment");
                prop_assert_eq!(Some(segment.sequence), parsed.segment_of(index).map(|s| s.sequence));
                prop_assert_eq!(segment.sequence, sequence.wrapping_add(payload.len() as u32));
                prop_assert_eq!(usize::from(read_u16(ip, IPV4_TOTAL_LENGTH)), ip.len());
                prop_assert_eq!(read_u16(ip, IPV4_IDENTIFICATION), id.wrapping_add(index as u16));
                prop_assert_eq!(read_u16(ip, IPV4_CHECKSUM), ipv4_header_checksum(&ip[..20]));
                prop_assert!(segment.payload_bytes <= u32::from(each));
                payload.extend_from_slice(&ip[segment.header_bytes..]);
            }
            prop_assert_eq!(&payload[..], &read[VNET_HEADER_BYTES + 52..]);
        }

        #[test]
        fn any_bytes_are_split_without_panic(read in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(parsed) = SuperPacket::parse(&read, RECEIVER) {
                for index in 0..parsed.packets() {
                    parsed.write(index, &mut [0; 400]);
                }
            }
        }
    }
}
