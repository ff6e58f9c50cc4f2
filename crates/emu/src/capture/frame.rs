//! The frame written for a packet: Ethernet, with TCP's checksum.
//!
//! A TUN device has no Ethernet header, and hosts leave TCP's checksum to their network card, so it
//! is not filled in when a packet enters the path.

use std::net::{IpAddr, Ipv4Addr};

use dumbbell_wire::bytes::put_u16;
use dumbbell_wire::ip::{Ip, PROTOCOL_TCP};
use dumbbell_wire::{ethernet, transport, udp};

/// Replaces the content of `frame` by the frame of `packet`, an IP packet of a flow with at least
/// its headers. The whole packet has `packet_bytes`. Unless it already `has_checksum` the missing part is zeros, because
/// our senders send zeros.
pub(crate) fn write_frame(
    frame: &mut Vec<u8>,
    packet: &[u8],
    packet_bytes: usize,
    has_checksum: bool,
) {
    let ip = Ip::parse(packet);
    let hosts = ip.and_then(|ip| ip.hosts(packet));
    let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let (source, destination) = hosts.unwrap_or((unknown, unknown));
    frame.clear();
    frame.extend(ethernet::header_of_hosts(source, destination));
    frame.extend(packet);
    let packet = &mut frame[ethernet::HEADER_BYTES..];
    match ip {
        Some(ip) if !has_checksum && ip.protocol == PROTOCOL_TCP => {
            transport::fill_checksum(&ip, packet, packet_bytes);
        }
        Some(ip) if !has_checksum => {
            // None (RFC 768): a datagram does not consist of zeros, and may be cut.
            let checksum = packet.get_mut(ip.header_bytes + udp::CHECKSUM..);
            if let Some([high, low, ..]) = checksum {
                (*high, *low) = (0, 0);
            }
        }
        _ => {}
    }
}

/// Fills in the checksum of TCP or UDP that a host leaves to its network card, in `kept`, the beginning of the packet
/// `whole` with its headers.
pub(crate) fn fill_checksum(kept: &mut [u8], whole: &[u8]) {
    let Some(ip) = Ip::parse(whole) else {
        return;
    };
    if let (Some(at), Some(checksum)) = (
        transport::checksum_at(&ip),
        transport::checksum(&ip, whole, whole.len()),
    ) && at + 2 <= kept.len()
    {
        put_u16(kept, at, checksum);
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_wire::checksum::internet_checksum;
    use dumbbell_wire::ip::PROTOCOL_UDP;
    use dumbbell_wire::tcp::{self, TcpFlags};

    use super::*;
    use crate::packet::test_packets::{segment, v6_header};

    /// IPv4 and TCP headers of a data packet with timestamps: a partial checksum.
    fn headers(payload_bytes: u16) -> Vec<u8> {
        let times = [1, 1, 8, 10, 9, 9, 9, 9, 8, 8, 8, 8];
        let flags = TcpFlags::ACK | TcpFlags::PSH;
        let mut packet = segment(flags, &times, &vec![0; usize::from(payload_bytes)]);
        put_u16(&mut packet, 20 + tcp::CHECKSUM, 0x142d);
        packet.truncate(52);
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
            let mut packet = v6_header(0, protocol, bytes);
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
