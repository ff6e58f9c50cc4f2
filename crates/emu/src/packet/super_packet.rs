//! The result of one read of a TUN device: a packet, or a super-packet that stands for several.
//!
//! With segmentation offload the kernel passes up to 64 kB of payload with one header, and the size
//! of its segments in a virtio-net header. The path does not have such packets: a super-packet is
//! split where it enters, as the network card would do.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use dumbbell_wire::bytes::{put_u16, put_u32, read_u16, read_u32};
use dumbbell_wire::checksum::Changes;
use dumbbell_wire::ip::{Ip, PROTOCOL_TCP, PROTOCOL_UDP, Version, set_packet_bytes};
use dumbbell_wire::tcp::TcpFlags;
use dumbbell_wire::{ipv4, ipv6, tcp, transport, udp};

use crate::packet::segment::Segment;

/// Size of the virtio-net header in front of every packet of the device
/// (Virtual I/O Device 1.2 §5.1.6, without `num_buffers`).
pub(crate) const VNET_HEADER_BYTES: usize = 10;

/// Largest read: the largest packet, IPv6's header and the 64 kB that may follow it, after its virtio-net header.
pub(crate) const MAX_READ_BYTES: usize = VNET_HEADER_BYTES + ipv6::HEADER_BYTES + 65_535;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the transport checksum is still to be filled in. On a packet that
/// the kernel receives it means that it need not be verified.
pub(crate) const NEEDS_CSUM: u8 = 1;

/// `VIRTIO_NET_HDR_GSO_NONE`, `…_TCPV4`, `…_TCPV6` and `…_UDP_L4`; the top bit: CWR is set.
const GSO_NONE: u8 = 0;
pub(super) const GSO_TCPV4: u8 = 1;
pub(super) const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

/// A virtio-net header of a packet with a header of `ip_bytes` whose transport's checksum is not filled in. A
/// super-packet's kind is `gso`, and it has headers of `header_bytes` and payloads of `each`.
#[inline]
pub(super) fn vnet_header(
    gso: u8,
    [header_bytes, each, ip_bytes]: [usize; 3],
    checksum_offset: usize,
) -> [u8; VNET_HEADER_BYTES] {
    let word = |value: usize| (value as u16).to_ne_bytes();
    let ([h0, h1], [e0, e1]) = (word(header_bytes), word(each));
    let ([i0, i1], [c0, c1]) = (word(ip_bytes), word(checksum_offset));
    [NEEDS_CSUM, gso, h0, h1, e0, e1, i0, i1, c0, c1]
}

/// A read that does not belong on the path: not for the other host, of a protocol that it does not take,
/// truncated, or an offload that was not requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign;

/// What a host takes from the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) address: Ipv4Addr,
    /// Where it has one.
    pub(crate) address6: Option<Ipv6Addr>,
    /// Packets of any protocol, and not only of TCP and UDP.
    pub(crate) any_protocol: bool,
    /// Packets for others, too, which it passes on.
    pub(crate) for_others: bool,
}

impl Taken {
    #[inline]
    fn has(&self, ip: &Ip, packet: &[u8]) -> bool {
        let is_for_it = match ip.version {
            Version::V4 => ip.destination(packet) == self.address.octets(),
            Version::V6 => self
                .address6
                .is_some_and(|address| ip.destination(packet) == address.octets()),
        };
        let is_for_it = is_for_it || (self.for_others && is_unicast(ip, packet));
        is_for_it && (self.any_protocol || matches!(ip.protocol, PROTOCOL_TCP | PROTOCOL_UDP))
    }
}

/// Whether a packet is for one host: not for a group of them (RFC 5771, RFC 4291), nor for all.
fn is_unicast(ip: &Ip, packet: &[u8]) -> bool {
    let first = ip.destination(packet).first().copied();
    first.is_some_and(|first| match ip.version {
        Version::V4 => first < 224,
        Version::V6 => first != 0xff,
    })
}

/// One read, ready to be split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperPacket<'a> {
    vnet_header: &'a [u8],
    /// The IP packet.
    bytes: &'a [u8],
    pub(crate) ip: Ip,
    /// The packet's TCP header, if it is TCP.
    pub(crate) segment: Option<Segment>,
    /// Bytes of the headers that every packet has.
    header_bytes: usize,
    /// Payload of each packet except the last, bytes; 0 when there is nothing to split.
    payload_bytes_each: usize,
    packets: usize,
}

impl<'a> SuperPacket<'a> {
    /// Parses `read`, a virtio-net header followed by an IP packet for a host that takes what is `taken`, or anything.
    #[inline]
    pub(crate) fn parse<'t>(
        read: &'a [u8],
        taken: impl Into<Option<&'t Taken>>,
    ) -> Result<Self, Foreign> {
        let (vnet_header, bytes) = read.split_at_checked(VNET_HEADER_BYTES).ok_or(Foreign)?;
        let ip = Ip::parse(bytes).ok_or(Foreign)?;
        if taken.into().is_some_and(|taken| !taken.has(&ip, bytes)) {
            return Err(Foreign);
        }
        let segment = Segment::behind(&ip, bytes);
        let is_datagram = ip.protocol == PROTOCOL_UDP && !ip.is_fragment;
        let gso = vnet_header[1] & !GSO_ECN;
        let header_bytes = match (gso, ip.version, segment) {
            (GSO_NONE, ..) => 0,
            (GSO_TCPV4, Version::V4, Some(segment)) | (GSO_TCPV6, Version::V6, Some(segment)) => {
                segment.header_bytes
            }
            (GSO_UDP_L4, _, None) if is_datagram => ip.header_bytes + udp::HEADER_BYTES,
            _ => return Err(Foreign),
        };
        let (payload_bytes_each, packets) = if gso == GSO_NONE {
            (0, 1)
        } else {
            let each = usize::from(u16::from_ne_bytes([vnet_header[4], vnet_header[5]]));
            let payload_bytes = bytes.len().checked_sub(header_bytes).ok_or(Foreign)?;
            if each == 0 {
                return Err(Foreign);
            }
            (each, payload_bytes.div_ceil(each).max(1))
        };
        Ok(Self {
            vnet_header,
            bytes,
            ip,
            segment,
            header_bytes,
            payload_bytes_each,
            packets,
        })
    }

    /// Source and destination.
    pub(crate) fn hosts(&self) -> Option<(IpAddr, IpAddr)> {
        self.ip.hosts(self.bytes)
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
        let has_ports = self.ip.protocol == PROTOCOL_UDP && !self.ip.is_later_fragment;
        let transport = &self.bytes[self.ip.header_bytes..];
        has_ports.then(|| transport::ports(transport)).flatten()
    }

    /// Whether it is one or several whole datagrams of UDP with payload.
    #[inline]
    pub(crate) fn has_datagrams(&self) -> bool {
        let header_bytes = self.ip.header_bytes + udp::HEADER_BYTES;
        self.ip.protocol == PROTOCOL_UDP && !self.ip.is_fragment && self.bytes.len() > header_bytes
    }

    /// The segment of packet `index`, with its own sequence number and payload.
    #[inline]
    pub(crate) fn segment_of(&self, index: usize) -> Option<Segment> {
        let mut segment = self.segment?;
        if self.packets > 1 {
            let (start, end) = self.payload_range(index);
            segment.sequence = segment.sequence.wrapping_add(start as u32);
            segment.payload_bytes = (end - start) as u32;
        }
        Some(segment)
    }

    /// Writes packet `index`, preceded by its virtio-net header, to the start of `out`; returns the
    /// number of bytes, or `None` if `out` is too small.
    #[inline]
    pub(crate) fn write(&self, index: usize, out: &mut [u8]) -> Option<usize> {
        if self.payload_bytes_each > 0 {
            return self.write_split(index, out);
        }
        let total = VNET_HEADER_BYTES + self.bytes.len();
        let out = out.get_mut(..total)?;
        out[..VNET_HEADER_BYTES].copy_from_slice(self.vnet_header);
        out[VNET_HEADER_BYTES..].copy_from_slice(self.bytes);
        Some(total)
    }

    #[inline]
    fn payload_range(&self, index: usize) -> (usize, usize) {
        let start = index * self.payload_bytes_each;
        let payload_bytes = self.bytes.len() - self.header_bytes;
        (start, (start + self.payload_bytes_each).min(payload_bytes))
    }

    #[inline]
    fn write_split(&self, index: usize, out: &mut [u8]) -> Option<usize> {
        let (start, end) = self.payload_range(index);
        let (header_bytes, ip_bytes) = (self.header_bytes, self.ip.header_bytes);
        let packet_bytes = header_bytes + end - start;
        let out = out.get_mut(..VNET_HEADER_BYTES + packet_bytes)?;
        let (vnet_header, packet) = out.split_at_mut(VNET_HEADER_BYTES);

        let checksum_offset = match self.segment {
            Some(_) => tcp::CHECKSUM,
            None => udp::CHECKSUM,
        };
        let offsets = [0, 0, ip_bytes];
        vnet_header.copy_from_slice(&self::vnet_header(GSO_NONE, offsets, checksum_offset));

        packet[..header_bytes].copy_from_slice(&self.bytes[..header_bytes]);
        packet[header_bytes..]
            .copy_from_slice(&self.bytes[header_bytes + start..header_bytes + end]);

        let (ip, transport) = packet.split_at_mut(ip_bytes);
        if self.ip.version == Version::V4 {
            let identification = read_u16(ip, ipv4::IDENTIFICATION).wrapping_add(index as u16);
            put_u16(ip, ipv4::IDENTIFICATION, identification);
        }
        set_packet_bytes(self.ip.version, ip, packet_bytes);
        match self.segment {
            Some(_) => self.place_segment(index, start, transport),
            None => self.place_datagram(transport),
        }
        Some(VNET_HEADER_BYTES + packet_bytes)
    }

    /// What TCP's header says of the place of packet `index`, whose payload begins at `start`.
    #[inline]
    fn place_segment(&self, index: usize, start: usize, header: &mut [u8]) {
        let sequence = read_u32(header, tcp::SEQUENCE).wrapping_add(start as u32);
        put_u32(header, tcp::SEQUENCE, sequence);
        if index > 0 {
            header[tcp::FLAGS] &= !(TcpFlags::CWR as u8);
        }
        if index + 1 < self.packets {
            header[tcp::FLAGS] &= !((TcpFlags::FIN | TcpFlags::PSH) as u8);
        }
    }

    /// The length of a datagram, and the sum over the pseudo-header with it, which the kernel left in place of the
    /// checksum: a receiver takes one of 0 for none, which IPv6 does not allow (RFC 8200 §8.1).
    fn place_datagram(&self, datagram: &mut [u8]) {
        let before = (self.bytes.len() - self.ip.header_bytes) as u16;
        let length = datagram.len() as u16;
        put_u16(datagram, udp::LENGTH, length);
        let mut changes = Changes::default();
        changes.note(before, length);
        changes.apply_to_sum(datagram, udp::CHECKSUM);
    }
}

#[cfg(test)]
pub(super) mod tests;
