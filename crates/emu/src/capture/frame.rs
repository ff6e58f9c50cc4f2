//! The frame written for a packet: Ethernet, with TCP's checksum.
//!
//! A TUN device has no Ethernet header, and hosts leave TCP's checksum to their network card, so it
//! is not filled in when a packet enters the path.

use std::net::{IpAddr, Ipv4Addr};

use dumbbell_capture::ethernet_header;

use crate::packet::ip::{Ip, PROTOCOL_TCP, PROTOCOL_UDP};
use crate::packet::wire::internet_checksum;

/// Where TCP's checksum is in its header, and the last byte of the header's fixed part.
const TCP_CHECKSUM: usize = 16;
const TCP_FIXED_BYTES: usize = 20;

/// Where UDP's checksum is in its header.
const UDP_CHECKSUM: std::ops::Range<usize> = 6..8;

/// Replaces the content of `frame` by the frame of `packet`, an IP packet of a flow with at least
/// its headers. The whole packet has `packet_bytes`. Unless it already `has_checksum` the missing part is zeros, because
/// our senders send zeros.
pub(crate) fn write_frame(
    frame: &mut Vec<u8>,
    packet: &[u8],
    packet_bytes: usize,
    has_checksum: bool,
) {
    frame.clear();
    let Some(ip) = Ip::parse(packet) else {
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        frame.extend(ethernet_header(nobody, nobody));
        frame.extend(packet);
        return;
    };
    let (source, destination) = ip.host_addresses(packet);
    frame.extend(ethernet_header(source, destination));
    let ip_starts = frame.len();
    frame.extend(packet);
    if has_checksum {
        return;
    }
    let (ip_header, transport) = frame[ip_starts..].split_at_mut(ip.header_bytes);
    if ip.protocol == PROTOCOL_TCP {
        fill_tcp_checksum(ip_header, transport, packet_bytes - ip.header_bytes);
    } else if let Some(checksum) = transport.get_mut(UDP_CHECKSUM) {
        // None (RFC 768): a datagram does not consist of zeros, and may be cut.
        checksum.fill(0);
    }
}

/// Fills in the checksum of TCP or UDP that a host leaves to its network card, in `kept`, the beginning of the packet
/// `whole` with its headers.
pub(crate) fn fill_checksum(kept: &mut [u8], whole: &[u8]) {
    let Some(ip) = Ip::parse(whole) else {
        return;
    };
    let field = match ip.protocol {
        PROTOCOL_TCP => ip.header_bytes + TCP_CHECKSUM..ip.header_bytes + TCP_CHECKSUM + 2,
        PROTOCOL_UDP => ip.header_bytes + UDP_CHECKSUM.start..ip.header_bytes + UDP_CHECKSUM.end,
        _ => return,
    };
    if field.end > kept.len() {
        return;
    }
    let [high, low] = ((whole.len() - ip.header_bytes) as u16).to_be_bytes();
    let checksum = internet_checksum([
        ip.addresses(whole),
        &[0, ip.protocol, high, low],
        &whole[ip.header_bytes..field.start],
        &whole[field.end..],
    ]);
    // UDP's 0 says that there is none (RFC 768).
    let checksum = match (ip.protocol, checksum) {
        (PROTOCOL_UDP, 0) => 0xffff,
        _ => checksum,
    };
    kept[field].copy_from_slice(&checksum.to_be_bytes());
}

/// Fills in the checksum (RFC 9293 §3.1) of a segment of `segment_bytes`, which begins with `tcp`
/// and continues with zeros.
fn fill_tcp_checksum(ip_header: &[u8], tcp: &mut [u8], segment_bytes: usize) {
    if tcp.len() < TCP_FIXED_BYTES {
        return;
    }
    let mut pseudo_header = [0; 12];
    pseudo_header[..8].copy_from_slice(&ip_header[12..20]);
    pseudo_header[9] = ip_header[9];
    pseudo_header[10..].copy_from_slice(&(segment_bytes as u16).to_be_bytes());
    let field = TCP_CHECKSUM..TCP_CHECKSUM + 2;
    tcp[field.clone()].fill(0);
    let checksum = internet_checksum([&pseudo_header, tcp]);
    tcp[field].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IPv4 and TCP headers of a data packet with timestamps: a partial checksum.
    fn headers(payload_bytes: u16) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend((52 + payload_bytes).to_be_bytes());
        packet.extend([0, 7, 0x40, 0, 64, 6, 0xab, 0xcd]);
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend([0x27, 0x10, 0x13, 0x89, 1, 2, 3, 4, 5, 6, 7, 8]);
        packet.extend([8 << 4, 0x18, 1, 0, 0x14, 0x2d, 0, 0]);
        packet.extend([1, 1, 8, 10, 9, 9, 9, 9, 8, 8, 8, 8]);
        packet
    }

    /// RFC 1071: the sum over a segment with its checksum and the pseudo-header is all ones.
    fn is_right(segment: &[u8]) -> bool {
        let mut bytes = vec![10, 0, 0, 1, 10, 0, 0, 2, 0, 6];
        bytes.extend((segment.len() as u16).to_be_bytes());
        bytes.extend(segment);
        internet_checksum([&bytes]) == 0
    }

    #[test]
    fn the_checksum_is_that_of_the_whole_packet_wherever_it_is_cut() {
        for payload_bytes in [0, 1, 1447, 1448] {
            let whole: Vec<u8> = (headers(payload_bytes).into_iter())
                .chain(std::iter::repeat_n(0, usize::from(payload_bytes)))
                .collect();
            for kept_bytes in [52, 53, whole.len()] {
                let mut frame = vec![0xff; 3];
                let kept = &whole[..kept_bytes.min(whole.len())];
                write_frame(&mut frame, kept, whole.len(), false);
                assert_eq!(frame.len(), 14 + kept.len());
                frame.resize(14 + whole.len(), 0);
                assert!(is_right(&frame[34..]), "{payload_bytes} {kept_bytes}");
            }
        }
    }

    #[test]
    fn a_datagram_goes_without_a_checksum() {
        let mut packet = vec![0x45, 0, 0, 32, 0, 7, 0x40, 0, 64, 17, 0xab, 0xcd];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend([0x27, 0x10, 0x13, 0x89, 0, 12, 0x12, 0x34, 1, 2, 3, 4]);
        let mut frame = Vec::new();
        write_frame(&mut frame, &packet, packet.len(), false);
        assert_eq!(frame[34..40], packet[20..26]);
        assert_eq!(frame[40..], [0, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_program_has_the_checksum_of_its_payload() {
        let whole = |protocol, transport_header: &[u8], payload: &[u8]| {
            let bytes = (transport_header.len() + payload.len()) as u16;
            let mut packet = crate::packet::ip::tests::v6_header(0, protocol, bytes);
            packet.extend(transport_header);
            packet.extend(payload);
            packet
        };
        let udp = [0x27, 0x10, 0x13, 0x89, 0, 11, 0x12, 0x34];
        let packets = [
            (whole(PROTOCOL_UDP, &udp, b"abc"), 48),
            (whole(PROTOCOL_TCP, &headers(0)[20..], b"another"), 72),
        ];
        for (packet, header_bytes) in packets {
            for kept_bytes in [header_bytes, packet.len()] {
                let mut kept = packet[..kept_bytes].to_vec();
                fill_checksum(&mut kept, &packet);
                let mut frame = vec![0xff];
                write_frame(&mut frame, &kept, packet.len(), true);
                assert_eq!(frame[14..], kept);
                assert_eq!(
                    frame[..14],
                    [2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 1, 0x86, 0xdd]
                );
                let transport = [&kept[40..], &packet[kept_bytes..]].concat();
                let pseudo = [0, packet[6], 0, transport.len() as u8];
                let sum = internet_checksum([&packet[8..40], &pseudo, &transport]);
                assert_eq!(sum, 0, "{header_bytes} {kept_bytes}");
            }
        }
    }

    #[test]
    fn hosts_have_addresses_of_their_own() {
        let mut frame = Vec::new();
        write_frame(&mut frame, &headers(0), 52, false);
        assert_eq!(
            frame[..14],
            [2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 1, 0x08, 0x00]
        );
    }
}
